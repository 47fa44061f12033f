"""DICOM RTSTRUCT in: contours by name, rasterised on the grid of their series."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from itk_consensus.core.errors import ConsensusWarning, FileError, GeometryError, InputError
from itk_consensus.images.dicom.contour_rasterisation import rasterised
from itk_consensus.images.dicom.identity import modality_of, without_remarks, without_values
from itk_consensus.images.dicom.series import DicomSeries, one_text, read_dicom
from itk_consensus.images.dicom.slice_contours import Contour, Points, by_slice, clipping_of
from itk_consensus.images.structures import Code, Structure, mask_of
from itk_consensus.storage.files import PathLike

STRUCTURE_SET = "1.2.840.10008.5.1.4.1.1.481.3"
#: Among the details of a `Structure`, and in DICOM: what it is for.
ROI_TYPE = "RTROIInterpretedType"
_PARTS_OF_CODE = ("CodingSchemeDesignator", "CodeValue", "CodeMeaning")


def read_dicom_contours(path: PathLike, series: DicomSeries) -> list[Structure]:
    """Read every structure of an RTSTRUCT that has contours.

    A voxel is inside if about half of it lies within an odd number of the contours of its slice,
    so a contour inside another is a hole; the volume of a structure is that of its contours, as
    nearly as whole voxels can have it (`rasterised` says more). A contour that is stored twice
    counts once. Open contours (OPEN_PLANAR), points (POINT) and contours of one or two points
    enclose nothing; the voxels they pass through are marked. Contours that reach beyond the image
    are cut there, with a warning.
    """
    structures, remarks = _read(path, series)
    for remark in remarks:
        warnings.warn(remark, ConsensusWarning, stacklevel=2)
    return structures


@without_remarks()
def _read(path: PathLike, series: DicomSeries) -> tuple[list[Structure], list[str]]:
    """The structures of a file, and what is to be said about them."""
    dataset = read_dicom(path)
    if dataset.get("SOPClassUID") != STRUCTURE_SET:
        raise FileError(f"is a DICOM {modality_of(dataset) or 'file'}, not an RTSTRUCT", path=path)
    try:
        series.require_referred(_referred_series(dataset), str(path))
        names = {int(roi.ROINumber): roi for roi in dataset.StructureSetROISequence}
        kinds, types = _kinds(dataset), _types(dataset)
        structures, remarks = [], []
        for roi in dataset.get("ROIContourSequence") or ():
            defined = names[int(roi.ReferencedROINumber)]
            series.require_same_frame(defined.get("ReferencedFrameOfReferenceUID"), str(path))
            name = one_text(defined.ROIName)
            owner = f"{path}: {name}"
            contours = [_contour(one, series, owner) for one in roi.get("ContourSequence") or ()]
            slices = by_slice(contours, series.geometry.shape[0], owner)
            clipping = clipping_of(slices, series.geometry)
            remarks += [f"{owner}: {clipping}"] if clipping else []
            mask = mask_of(rasterised(slices, series.geometry.shape), series.grid())
            kind = kinds.get(int(roi.ReferencedROINumber))
            kept = types.get(int(roi.ReferencedROINumber), {})
            structures.append(Structure(name, mask, _color(roi), kind=kind, details=kept))
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        if isinstance(error, (InputError, GeometryError)):
            raise
        raise FileError(f"is no complete RTSTRUCT: {without_values(error)}", path=path) from None
    if not structures:
        raise FileError("holds no contours", path=path)
    return structures, remarks


def _contour(contour: Any, series: DicomSeries, owner: str) -> Contour:
    # The type is mandatory; where it is missing all the same, areas are what is drawn.
    kind = str(contour.get("ContourGeometricType") or "CLOSED_PLANAR")
    return Contour(kind, _indices(contour, series, owner))


def _indices(contour: Any, series: DicomSeries, owner: str) -> Points:
    numbers = np.asarray(contour.ContourData, np.float64)
    if numbers.size == 0 or numbers.size % 3 or not np.isfinite(numbers).all():
        raise InputError(
            f"a contour has {numbers.size} coordinates, not x, y and z each", owner=owner
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
    """What structures are, by their numbers, where the file has a code for it."""
    kinds = {}
    for observed in dataset.get("RTROIObservationsSequence") or ():
        for code in observed.get("RTROIIdentificationCodeSequence") or ():
            parts = (code.get(part, "") for part in _PARTS_OF_CODE)
            kinds[int(observed.ReferencedROINumber)] = Code(*map(str, parts))
    return kinds


def _types(dataset: Any) -> dict[int, dict[str, str]]:
    """What structures are for (GTV, ORGAN, EXTERNAL), by their numbers, where the file says it."""
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
