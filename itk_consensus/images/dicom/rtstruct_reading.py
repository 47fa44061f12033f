"""Read DICOM RTSTRUCT: named contours, rasterised on the grid of their series."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from itk_consensus.core.errors import ConsensusWarning, FileError, GeometryError, InputError
from itk_consensus.images.dicom.contour_rasterisation import rasterise
from itk_consensus.images.dicom.identity import (
    describe_without_values,
    modality_of,
    silence_dicom_libraries,
)
from itk_consensus.images.dicom.series import DicomSeries, one_text, read_dicom
from itk_consensus.images.dicom.slice_contours import Contour, Points, clipping_of, group_by_slice
from itk_consensus.images.structures import Code, Structure, mask_of
from itk_consensus.storage.files import PathLike

STRUCTURE_SET = "1.2.840.10008.5.1.4.1.1.481.3"
#: Key of a structure's purpose (GTV, ORGAN, ...) in DICOM and in the details of a `Structure`.
ROI_TYPE = "RTROIInterpretedType"
_PARTS_OF_CODE = ("CodingSchemeDesignator", "CodeValue", "CodeMeaning")


def read_dicom_contours(path: PathLike, series: DicomSeries) -> list[Structure]:
    """Read every structure with contours from an RTSTRUCT.

    A voxel is inside if about half of it lies within an odd number of the contours of its slice, so
    a contour inside another one is a hole; the volume of a mask equals that of its contours,
    rounded to whole voxels (see `rasterise`). A contour that is stored twice counts once. Open
    contours (OPEN_PLANAR), points (POINT) and contours of one or two points enclose no area; the
    voxels through which they pass are marked. Contours that extend beyond the image are clipped,
    with a warning.
    """
    structures, clippings = _read(path, series)
    for clipping in clippings:
        warnings.warn(clipping, ConsensusWarning, stacklevel=2)
    return structures


@silence_dicom_libraries()
def _read(path: PathLike, series: DicomSeries) -> tuple[list[Structure], list[str]]:
    """Return the structures of a file, and a warning for each one whose contours were clipped."""
    dataset = read_dicom(path)
    if dataset.get("SOPClassUID") != STRUCTURE_SET:
        raise FileError(f"is a DICOM {modality_of(dataset) or 'file'}, not an RTSTRUCT", path=path)
    try:
        series.require_referred(_referred_series(dataset), str(path))
        names = {int(roi.ROINumber): roi for roi in dataset.StructureSetROISequence}
        kinds, types = _kinds(dataset), _types(dataset)
        structures, clippings = [], []
        for roi in dataset.get("ROIContourSequence") or ():
            defined = names[int(roi.ReferencedROINumber)]
            series.require_same_frame(defined.get("ReferencedFrameOfReferenceUID"), str(path))
            name = one_text(defined.ROIName)
            owner = f"{path}: {name}"
            contours = [_contour(one, series, owner) for one in roi.get("ContourSequence") or ()]
            slices = group_by_slice(contours, series.geometry.shape[0], owner)
            clipping = clipping_of(slices, series.geometry)
            clippings += [f"{owner}: {clipping}"] if clipping else []
            mask = mask_of(rasterise(slices, series.geometry.shape), series.grid())
            kind = kinds.get(int(roi.ReferencedROINumber))
            details = types.get(int(roi.ReferencedROINumber), {})
            structures.append(Structure(name, mask, _color(roi), kind=kind, details=details))
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        if isinstance(error, (InputError, GeometryError)):
            raise
        raise FileError(
            f"is an incomplete RTSTRUCT: {describe_without_values(error)}", path=path
        ) from None
    if not structures:
        raise FileError("holds no contours; leave it out", path=path)
    return structures, clippings


def _contour(contour: Any, series: DicomSeries, owner: str) -> Contour:
    # The type is mandatory; a contour without a type is treated as closed.
    kind = str(contour.get("ContourGeometricType") or "CLOSED_PLANAR")
    return Contour(kind, _indices(contour, series, owner))


def _indices(contour: Any, series: DicomSeries, owner: str) -> Points:
    numbers = np.asarray(contour.ContourData, np.float64)
    if numbers.size == 0 or numbers.size % 3 or not np.isfinite(numbers).all():
        raise InputError(
            f"a contour must have finite x, y and z for each point, got {numbers.size} coordinates",
            owner=owner,
        )
    return series.to_indices(numbers.reshape(-1, 3))


def _referred_series(dataset: Any) -> list[str]:
    return [
        str(series.SeriesInstanceUID)
        for frame in dataset.get("ReferencedFrameOfReferenceSequence") or ()
        for study in frame.get("RTReferencedStudySequence") or ()
        for series in study.get("RTReferencedSeriesSequence") or ()
    ]


def _kinds(dataset: Any) -> dict[int, Code]:
    """Return the anatomical codes of structures by ROI number, as far as they are present."""
    kinds = {}
    for observed in dataset.get("RTROIObservationsSequence") or ():
        for code in observed.get("RTROIIdentificationCodeSequence") or ():
            parts = (code.get(part, "") for part in _PARTS_OF_CODE)
            kinds[int(observed.ReferencedROINumber)] = Code(*map(str, parts))
    return kinds


def _types(dataset: Any) -> dict[int, dict[str, str]]:
    """Return the structures' purposes (GTV, ORGAN, EXTERNAL) by ROI number, if present."""
    return {
        int(observed.ReferencedROINumber): {ROI_TYPE: str(observed.get(ROI_TYPE))}
        for observed in dataset.get("RTROIObservationsSequence") or ()
        if observed.get(ROI_TYPE)
    }


def _color(roi: Any) -> tuple[float, float, float] | None:
    parts = roi.get("ROIDisplayColor")
    if not parts or len(parts) != 3:
        return None
    red, green, blue = (int(part) / 255 for part in parts)
    return red, green, blue
