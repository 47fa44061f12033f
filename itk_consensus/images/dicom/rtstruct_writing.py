"""Write DICOM RTSTRUCT: contours around the voxels of the consensus, slice by slice."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import itk_consensus
from itk_consensus.core.errors import ParameterError
from itk_consensus.images.dicom.contour_tracing import Smoothing, outlines
from itk_consensus.images.dicom.identity import (
    dicom_library,
    patient_and_study,
    silence_dicom_libraries,
)
from itk_consensus.images.dicom.rtstruct_reading import ROI_TYPE, STRUCTURE_SET
from itk_consensus.images.dicom.series import DicomSeries, read_dicom
from itk_consensus.images.own_outputs import PROGRAM
from itk_consensus.images.structures import (
    LONGEST_NAME,
    Code,
    Structure,
    as_structures,
    geometry_of,
    inside_of,
    short_names,
)
from itk_consensus.storage.files import PathLike
from itk_consensus.storage.replacing import atomic_write

#: Key of a structure's description in DICOM and in the details of a `Structure`.
ROI_DESCRIPTION = "ROIDescription"
#: Ways to write holes.
HOLES = ("keyhole", "separate")
#: Maximum length of a description in DICOM.
LONGEST_TEXT = 1024
#: Maximum smoothing tolerance in mm; with more, small structures would vanish.
MOST_SMOOTH = 5.0
#: If a slice normal is this close to an axis, all points of a slice share one coordinate.
_UPRIGHT = 1e-9


@silence_dicom_libraries()
def write_dicom_contours(
    structures: Sequence[Structure] | Mapping[str, Any],
    path: PathLike,
    series: DicomSeries,
    *,
    method: str,
    raters: Sequence[PathLike] = (),
    description: str = "Consensus of several readers",
    origin: str = "AUTOMATIC",
    smooth: float | None = None,
    holes: str = "keyhole",
) -> None:
    """Write structures, which may overlap, as contours of one DICOM RTSTRUCT.

    Contours follow the edges of voxels, so that `read_dicom_contours`, or any program that tests
    which voxel centres a contour encloses, restores exactly the same voxels. Contours lie in the
    planes of the slices, at exactly their positions.

    Parameters
    ----------
    structures : sequence of Structure, or mapping of name to image
        Binary masks (0 and 1) on the grid of the series; use `separate_undecided` to obtain them
        from a consensus with undecided voxels.
    method : str
        The fusion method, e.g. ``filter.GetName()``.
    raters : sequence of paths
        The raters' DICOM objects; the file references those that are structure sets.
    origin : "AUTOMATIC", "SEMIAUTOMATIC" or "MANUAL"
        How the contours were made; use "SEMIAUTOMATIC" if a person made any of the decisions.
    description : str
        Description of the file, in the field displayed by planning systems; a structure's
        description is its detail `ROI_DESCRIPTION`.
    smooth : float, optional
        Smooth contours, for easy editing, to at most this distance in mm from the voxels' edges.
    holes : "keyhole" or "separate"
        Join holes to the contour around them by a channel of zero width, or write them as separate
        contours, for systems that invert the area inside two contours.
    """
    if holes not in HOLES:
        raise ParameterError(f"holes must be one of {', '.join(HOLES)}, got {holes!a}")
    shape = _ContourStyle(_smoothing(smooth, series), holes == "keyhole")
    pydicom = dicom_library(f"{path}: writing an RTSTRUCT")
    series.require_not_replaced(Path(path), raters)
    structures = as_structures(structures, str(path))
    for one in structures:
        series.require_same_grid(geometry_of(one.mask), f"{path}: {one.name}")
    dataset = _structure_set(pydicom, series, description)
    dataset.StructureSetROISequence, dataset.ROIContourSequence = [], []
    dataset.RTROIObservationsSequence = []
    names = short_names(structures, LONGEST_NAME)
    for number, (one, name) in enumerate(zip(structures, names, strict=True), start=1):
        roi = _roi(pydicom, number, name, series, method, origin)
        if ROI_DESCRIPTION in one.details:
            roi.ROIDescription = as_text(one.details[ROI_DESCRIPTION], LONGEST_TEXT)
        dataset.StructureSetROISequence.append(roi)
        dataset.ROIContourSequence.append(
            _roi_contours(pydicom, number, one, series, str(path), shape)
        )
        dataset.RTROIObservationsSequence.append(_observation(pydicom, number, one))
    used = [read_dicom(rater, stop_before_pixels=True) for rater in raters]
    sets = [_reference(pydicom, one) for one in used if one.get("SOPClassUID") == STRUCTURE_SET]
    if sets:
        dataset.PredecessorStructureSetSequence = sets
    with atomic_write(Path(path)) as draft:
        dataset.save_as(draft, enforce_file_format=True)


def _structure_set(pydicom: Any, series: DicomSeries, description: str) -> Any:
    """Return a new RTSTRUCT data set that is complete except for the structures."""
    now, uid = datetime.datetime.now(), pydicom.uid.generate_uid
    dataset = pydicom.dataset.FileDataset("", {}, preamble=b"\0" * 128)
    dataset.file_meta = pydicom.dataset.FileMetaDataset()
    dataset.file_meta.TransferSyntaxUID = pydicom.uid.ExplicitVRLittleEndian
    for keyword, value in patient_and_study(series.slices[0]).items():
        setattr(dataset, keyword, value)
    dataset.SpecificCharacterSet = "ISO_IR 192"
    dataset.SOPClassUID, dataset.SOPInstanceUID = STRUCTURE_SET, uid()
    dataset.Modality, dataset.SeriesInstanceUID, dataset.SeriesNumber = "RTSTRUCT", uid(), 100
    dataset.OperatorsName = dataset.PositionReferenceIndicator = ""
    dataset.FrameOfReferenceUID = series.frame_of_reference
    dataset.Manufacturer = dataset.ManufacturerModelName = PROGRAM
    dataset.SoftwareVersions = itk_consensus.__version__
    dataset.StructureSetLabel = "CONSENSUS"
    dataset.StructureSetDescription = as_text(description, LONGEST_TEXT)
    dataset.StructureSetName = dataset.SeriesDescription = as_text(description, LONGEST_NAME)
    dataset.StructureSetDate, dataset.StructureSetTime = now.strftime("%Y%m%d %H%M%S").split()
    dataset.ApprovalStatus = "UNAPPROVED"
    frame, study, of_series = (pydicom.Dataset() for _ in range(3))
    of_series.SeriesInstanceUID = series.uid
    of_series.ContourImageSequence = [_reference(pydicom, one) for one in series.slices]
    study.ReferencedSOPClassUID = pydicom.uid.UID("1.2.840.10008.3.1.2.3.1")
    study.ReferencedSOPInstanceUID = dataset.StudyInstanceUID
    study.RTReferencedSeriesSequence = [of_series]
    frame.FrameOfReferenceUID = series.frame_of_reference
    frame.RTReferencedStudySequence = [study]
    dataset.ReferencedFrameOfReferenceSequence = [frame]
    return dataset


def _roi(
    pydicom: Any, number: int, name: str, series: DicomSeries, method: str, origin: str
) -> Any:
    roi = pydicom.Dataset()
    roi.ROINumber, roi.ROIName = number, name
    roi.ReferencedFrameOfReferenceUID = series.frame_of_reference
    roi.ROIGenerationAlgorithm = origin
    roi.ROIGenerationDescription = f"{PROGRAM} {itk_consensus.__version__} {method}"[:64]
    return roi


class _ContourStyle(NamedTuple):
    """Settings for drawing contours around voxels."""

    smoothing: Smoothing | None
    keyholes: bool


def _smoothing(tolerance: float | None, series: DicomSeries) -> Smoothing | None:
    if tolerance is None:
        return None
    columns, rows = series.geometry.spacing[:2]
    smoothing = Smoothing(tolerance, (rows, columns))
    if not smoothing.cut <= tolerance <= MOST_SMOOTH:
        raise ParameterError(
            f"smooth must be {smoothing.cut:.2g} (half a voxel's corner) to {MOST_SMOOTH:g} mm, "
            f"got {tolerance:g}"
        )
    return smoothing


def as_text(text: str, most: int) -> str:
    """Make a text valid for a DICOM field: printable, no backslashes, at most `most` letters."""
    plain = "".join(c if c.isprintable() and c != "\\" else " " for c in text)
    return plain if len(plain) <= most else f"{plain[: most - 3].rstrip()}..."


def _roi_contours(
    pydicom: Any, number: int, one: Structure, series: DicomSeries, owner: str, shape: _ContourStyle
) -> Any:
    drawn = pydicom.Dataset()
    drawn.ReferencedROINumber = number
    if one.color is not None:
        drawn.ROIDisplayColor = [round(255 * part) for part in one.color]
    contours = []
    upright = _upright_axis(series)
    for height, points in _contours(inside_of(one, owner), shape):
        contour = pydicom.Dataset()
        contour.ContourImageSequence = [_reference(pydicom, series.slices[height])]
        contour.ContourGeometricType = "CLOSED_PLANAR"
        contour.NumberOfContourPoints = len(points)
        places = series.to_positions(np.column_stack([points, np.full(len(points), height)]))
        # A DICOM number has at most sixteen characters; four decimals are 0.1 micrometres.
        data = [[f"{part:.4f}" for part in place] for place in places]
        if upright is not None:
            # Other software finds a contour's slice by comparing positions, so copy the slice's own
            # text.
            own = str(series.slices[height].ImagePositionPatient[upright])
            data = [[*place[:upright], own, *place[upright + 1 :]] for place in data]
        contour.ContourData = [part for place in data for part in place]
        contours.append(contour)
    if contours:
        drawn.ContourSequence = contours
    return drawn


def _contours(inside: Any, shape: _ContourStyle) -> Iterator[tuple[int, Any]]:
    """Yield slice numbers and the (n, 2) contours in each slice."""
    for height in np.flatnonzero(inside.any(axis=(1, 2))):
        for points in outlines(inside[height], shape.smoothing, keyholes=shape.keyholes):
            yield int(height), points


def _upright_axis(series: DicomSeries) -> int | None:
    """Return the coordinate (x, y or z) that is constant in a slice; None in oblique series."""
    direction = np.reshape(series.geometry.direction, (3, 3))
    axis = int(np.abs(direction[:, 2]).argmax())
    return axis if abs(abs(direction[axis, 2]) - 1) < _UPRIGHT else None


def _observation(pydicom: Any, number: int, one: Structure) -> Any:
    observed = pydicom.Dataset()
    observed.ObservationNumber = observed.ReferencedROINumber = number
    observed.RTROIInterpretedType = one.details.get(ROI_TYPE, "")
    observed.ROIInterpreter = ""
    if one.kind is not None:
        observed.RTROIIdentificationCodeSequence = [_code_item(pydicom, one.kind)]
    return observed


def _code_item(pydicom: Any, code: Code) -> Any:
    item = pydicom.Dataset()
    item.CodeValue, item.CodingSchemeDesignator, item.CodeMeaning = code.value, *code[::2]
    return item


def _reference(pydicom: Any, dataset: Any) -> Any:
    reference = pydicom.Dataset()
    reference.ReferencedSOPClassUID = dataset.SOPClassUID
    reference.ReferencedSOPInstanceUID = dataset.SOPInstanceUID
    return reference
