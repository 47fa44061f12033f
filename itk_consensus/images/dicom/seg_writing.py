"""Write DICOM SEG: consensus, probabilities or band, with references to their sources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import SimpleITK as sitk

import itk_consensus
from itk_consensus.core.errors import InputError
from itk_consensus.images.dicom.colors import cielab_of_rgb
from itk_consensus.images.dicom.identity import (
    describe_without_values,
    dicom_library,
    patient_and_study,
    silence_dicom_libraries,
)
from itk_consensus.images.dicom.series import DicomSeries, read_dicom
from itk_consensus.images.own_outputs import PROGRAM
from itk_consensus.images.structures import (
    LONGEST_NAME,
    TISSUE,
    Code,
    Structure,
    as_structures,
    geometry_of,
    inside_of,
    short_names,
)
from itk_consensus.storage.files import PathLike
from itk_consensus.storage.replacing import atomic_write

_CATEGORY = Code("SCT", "123037004", "Anatomical Structure")
_FAMILY = Code("99ITKCONSENSUS", "label-fusion", "Label fusion")
#: Attributes of a slice that are passed to highdicom, which copies all attributes that it knows.
_OF_SLICE = (
    "SOPClassUID", "SOPInstanceUID", "SeriesInstanceUID",
    "FrameOfReferenceUID", "Rows", "Columns", "PixelSpacing", "SliceThickness",
    "SpacingBetweenSlices", "ImageOrientationPatient", "ImagePositionPatient",
)  # fmt: skip


def write_dicom_segmentation(
    structures: Sequence[Structure] | Mapping[str, Any],
    path: PathLike,
    series: DicomSeries,
    *,
    method: str,
    raters: Sequence[PathLike] = (),
    fractional: bool = False,
    description: str = "Consensus of several readers",
    origin: str = "AUTOMATIC",
) -> None:
    """Write structures, which may overlap, as segments of one DICOM SEG.

    Parameters
    ----------
    structures : sequence of Structure, or mapping of name to image
        Binary masks (0 and 1) on the grid of the series (use `separate_undecided` to obtain them
        from a consensus with undecided voxels); or, if `fractional`, probabilities from 0 to 1.
    method : str
        The fusion method, e.g. ``filter.GetName()``; stored in the algorithm's name, together with
        the version of this package.
    raters : sequence of paths
        The raters' SEG objects, which the file references.
    origin : "AUTOMATIC", "SEMIAUTOMATIC" or "MANUAL"
        How the segments were made; use "SEMIAUTOMATIC" if a person made any of the decisions.
    """
    hd = dicom_library(f"{path}: writing a SEG", "highdicom")
    series.require_not_replaced(Path(path), raters)
    structures = as_structures(structures, str(path))
    pixels = np.stack([_pixels(one, series, fractional, path) for one in structures], axis=-1)
    uid = dicom_library(f"{path}: writing a SEG", "pydicom.uid").generate_uid
    names = short_names(structures, LONGEST_NAME)
    descriptions = [
        _description(hd, number, replace(one, name=name), method, origin)
        for number, (one, name) in enumerate(zip(structures, names, strict=True), start=1)
    ]
    try:
        with silence_dicom_libraries():
            dataset = hd.seg.Segmentation(
                source_images=[_source(one) for one in series.slices],
                pixel_array=pixels,
                segmentation_type="FRACTIONAL" if fractional else "BINARY",
                segment_descriptions=descriptions,
                series_instance_uid=uid(),
                series_number=100,
                sop_instance_uid=uid(),
                instance_number=1,
                manufacturer=PROGRAM,
                manufacturer_model_name=PROGRAM,
                software_versions=itk_consensus.__version__,
                device_serial_number="1",
                content_description=description[:64],
                content_label="CONSENSUS",
                omit_empty_frames=bool(pixels.any()),
            )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InputError(
            "the series lacks attributes that a SEG copies from it: "
            f"{describe_without_values(error)}",
            path=path,
        ) from None
    with silence_dicom_libraries(), atomic_write(Path(path)) as draft:
        _refer_to(dataset, [read_dicom(rater, stop_before_pixels=True) for rater in raters])
        dataset.save_as(draft)


def band_structures(name: str, band: Any) -> list[Structure]:
    """Split a band of ConformalBandFilter into two structures: certainly inside, and ambiguous."""
    array = sitk.GetArrayViewFromImage(band)
    parts = []
    for value, what in ((1, "certain"), (2, "ambiguous")):
        mask = sitk.GetImageFromArray((array == value).astype(np.uint8))
        mask.CopyInformation(band)
        parts.append(Structure(f"{name} {what}", mask))
    return parts


def _pixels(structure: Structure, series: DicomSeries, fractional: bool, path: PathLike) -> Any:
    series.require_same_grid(geometry_of(structure.mask), f"{path}: {structure.name}")
    if not fractional:
        return inside_of(structure, str(path))
    array = sitk.GetArrayViewFromImage(structure.mask)
    if not ((array >= 0) & (array <= 1)).all():
        raise InputError(f"probabilities of {structure.name} must lie between 0 and 1", path=path)
    return array.astype(np.float64)


def _source(one: Any) -> Any:
    """Return a copy of a slice with only its geometry and the attributes required by its study."""
    source = dicom_library("writing a SEG").Dataset()
    source.SpecificCharacterSet = "ISO_IR 192"  # highdicom does not accept a list of several
    of_slice = {keyword: one[keyword].value for keyword in _OF_SLICE if keyword in one}
    for keyword, value in (patient_and_study(one) | of_slice).items():
        setattr(source, keyword, value)
    return source


def _description(hd: Any, number: int, structure: Structure, method: str, origin: str) -> Any:
    algorithm = hd.AlgorithmIdentificationSequence(
        name=f"{PROGRAM} {method}"[:64],
        family=_concept(hd, _FAMILY),
        version=itk_consensus.__version__,
        source=PROGRAM,
    )
    color = None if structure.color is None else cielab_of_rgb(structure.color)
    return hd.seg.SegmentDescription(
        segment_number=number,
        segment_label=structure.name,
        segmented_property_category=_concept(hd, structure.category or _CATEGORY),
        segmented_property_type=_concept(hd, structure.kind or TISSUE),
        algorithm_type=origin,
        algorithm_identification=algorithm,
        tracking_uid=hd.UID(),
        tracking_id=structure.name,
        display_color=None if color is None else hd.color.CIELabColor(*color),
    )


def _concept(hd: Any, code: Code) -> Any:
    return hd.sr.CodedConcept(value=code.value, scheme_designator=code.scheme, meaning=code.meaning)


def _refer_to(dataset: Any, raters: Sequence[Any]) -> None:
    """Add the raters' objects to the instances that the file references."""
    make = dicom_library("writing a SEG", "pydicom").Dataset
    for rater in raters:
        instance, series = make(), make()
        instance.ReferencedSOPClassUID = rater.SOPClassUID
        instance.ReferencedSOPInstanceUID = rater.SOPInstanceUID
        series.SeriesInstanceUID = rater.SeriesInstanceUID
        series.ReferencedInstanceSequence = [instance]
        if rater.StudyInstanceUID == dataset.StudyInstanceUID:
            dataset.ReferencedSeriesSequence.append(series)
            continue
        study = make()
        study.StudyInstanceUID = rater.StudyInstanceUID
        study.ReferencedSeriesSequence = [series]
        others = list(dataset.get("StudiesContainingOtherReferencedInstancesSequence") or ())
        dataset.StudiesContainingOtherReferencedInstancesSequence = [*others, study]
