"""DICOM SEG in: frames are put where their positions say, not in the order of the file."""

from __future__ import annotations

from typing import Any

import numpy as np
import SimpleITK as sitk
from numpy.typing import NDArray

from itk_consensus.core.errors import FileError, GeometryError, InputError
from itk_consensus.images.dicom.colors import rgb_of_stored
from itk_consensus.images.dicom.identity import modality_of, without_remarks, without_values
from itk_consensus.images.dicom.series import DicomSeries, one_text, read_dicom
from itk_consensus.images.dicom.slice_grid import PLACE_NOISE, Plane, first_plane
from itk_consensus.images.structures import Code, Structure
from itk_consensus.storage.files import PathLike

#: In a mask: the reader did not annotate here. Give it to the fuser as MissingLabel.
NOT_ANNOTATED = 255
#: What slices without any frame may be.
ABSENT_FRAMES = ("background", "missing")
_SEGMENTATIONS = {"1.2.840.10008.5.1.4.1.1.66.4", "1.2.840.10008.5.1.4.1.1.66.7"}


@without_remarks()
def read_dicom_segmentation(
    path: PathLike,
    series: DicomSeries,
    *,
    absent_frames: str = "background",
) -> list[Structure]:
    """Read one reader's SEG of a series, each segment as a structure on the series' grid.

    Parameters
    ----------
    absent_frames : {"background", "missing"}
        What slices are for which the object has no frame at all: background, or not annotated
        (`NOT_ANNOTATED` in every mask). Where any segment has a frame the reader has been.
    """
    if absent_frames not in ABSENT_FRAMES:
        raise InputError(
            f"absent_frames must be 'background' or 'missing', got {absent_frames!r}", path=path
        )
    dataset = read_dicom(path)
    if dataset.get("SOPClassUID") not in _SEGMENTATIONS:
        raise FileError(f"is a DICOM {modality_of(dataset) or 'file'}, not a SEG", path=path)
    series.require_same_frame(dataset.get("FrameOfReferenceUID"), str(path))
    referred = [str(one.SeriesInstanceUID) for one in dataset.get("ReferencedSeriesSequence") or ()]
    series.require_referred(referred, str(path))
    try:
        described = _segments(dataset, str(path))
        volumes, seen = _volumes(dataset, series, list(described), str(path))
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        if isinstance(error, (InputError, GeometryError)):
            raise
        raise FileError(f"is no complete SEG: {without_values(error)}", path=path) from None
    structures = []
    for number, volume in volumes.items():
        if absent_frames == "missing":
            volume[~seen] = NOT_ANNOTATED
        mask = sitk.GetImageFromArray(volume)
        mask.CopyInformation(series.grid())
        structures.append(_described(described[number], mask))
    return structures


def _segments(dataset: Any, owner: str) -> dict[int, Any]:
    """What the file says of each segment, by its number; 0 is the background of a label map."""
    described: dict[int, Any] = {}
    for one in dataset.SegmentSequence:
        number = int(one.SegmentNumber)
        if number == 0 and dataset.SegmentationType == "LABELMAP":
            continue
        if number < 1 or number in described:
            raise InputError(
                f"segments must have numbers of their own from 1 on, got {number}"
                f"{' twice' if number in described else ''}",
                owner=owner,
            )
        described[number] = one
    if not described:
        raise FileError("has no segments", owner=owner)
    return described


def _require_described(frames: NDArray[Any], dataset: Any, numbers: list[int], owner: str) -> None:
    """Raise if a label map has labels that it does not explain."""
    background = {0, int(dataset.get("PixelPaddingValue") or 0)}
    strangers = sorted(set(np.unique(frames).tolist()) - background - set(numbers))
    if strangers:
        raise InputError(
            f"has voxels of segment {strangers[0]}, which it does not describe", owner=owner
        )


def _volumes(
    dataset: Any, series: DicomSeries, numbers: list[int], owner: str
) -> tuple[dict[int, NDArray[np.uint8]], NDArray[np.bool_]]:
    """The volume of each segment, and which slices have a frame of any."""
    volumes = {number: np.zeros(series.geometry.shape, np.uint8) for number in numbers}
    seen = np.zeros(series.geometry.shape[0], np.bool_)
    filled: set[tuple[int, int]] = set()
    is_label_map = dataset.SegmentationType == "LABELMAP"
    frames = _frames(dataset, owner)
    if is_label_map:
        _require_described(frames, dataset, numbers, owner)
    shared = dataset.SharedFunctionalGroupsSequence[0]
    for frame, own in zip(frames, dataset.PerFrameFunctionalGroupsSequence, strict=True):
        column, row, height = _corner(own, shared, frame.shape, series, owner)
        seen[height] = True
        if is_label_map:
            of_segment = {number: frame == number for number in numbers}
        else:
            identification = _group(own, shared, "SegmentIdentificationSequence")
            of_segment = {int(identification.ReferencedSegmentNumber): frame >= _half(dataset)}
        for number, inside in of_segment.items():
            if (number, height) in filled:
                raise InputError(f"segment {number} has two frames in slice {height}", owner=owner)
            filled.add((number, height))
            place = np.s_[height, row : row + frame.shape[0], column : column + frame.shape[1]]
            volumes[number][place] = inside
    return volumes, seen


def _half(dataset: Any) -> float:
    """The smallest value that counts as inside; probabilities count from one half on."""
    if dataset.SegmentationType == "FRACTIONAL":
        return float(dataset.MaximumFractionalValue) / 2
    return 1


def _frames(dataset: Any, owner: str) -> NDArray[Any]:
    """Pixels, shape (frames, rows, columns), of which none may be lacking."""
    shape = (int(dataset.NumberOfFrames), int(dataset.Rows), int(dataset.Columns))
    wanted = (np.prod(shape, dtype=np.int64) * int(dataset.BitsAllocated) + 7) // 8
    if "PixelData" not in dataset:
        raise FileError("holds no pixels", owner=owner)
    if not dataset.file_meta.TransferSyntaxUID.is_compressed and len(dataset.PixelData) < wanted:
        raise FileError(
            f"is cut short: {len(dataset.PixelData)} of {wanted} bytes of pixels", owner=owner
        )
    try:
        return np.asarray(dataset.pixel_array).reshape(shape)
    except Exception as error:  # codecs raise all kinds of errors
        raise FileError(
            f"its pixels cannot be read: {without_values(error)}", owner=owner
        ) from None


def _corner(
    own: Any, shared: Any, shape: tuple[int, ...], series: DicomSeries, owner: str
) -> tuple[int, int, int]:
    """Column, row and slice of a frame's first pixel on the grid of the series."""
    geometry = series.geometry
    plane = Plane.of(
        _group(own, shared, "PlanePositionSequence").ImagePositionPatient,
        _group(own, shared, "PlaneOrientationSequence").ImageOrientationPatient,
        _group(own, shared, "PixelMeasuresSequence").PixelSpacing,
        (shape[1], shape[0]),
        owner,
    )
    if not plane.has_pixels_of(first_plane(geometry)):
        raise GeometryError(
            "frames have another orientation or spacing than the series", owner=owner
        )
    first, last = series.to_indices(plane.ends)
    corner = np.rint(first).astype(int)
    end = corner + np.array([shape[1], shape[0], 1])
    beside = np.abs([first - corner, last - (end - 1)]).max()
    if beside > PLACE_NOISE or (corner < 0).any():
        raise GeometryError(
            f"a frame at {plane.position.tolist()} lies on no slice of the series", owner=owner
        )
    if (end > geometry.size).any():
        raise GeometryError(
            f"a frame at {plane.position.tolist()} reaches beyond the series", owner=owner
        )
    return int(corner[0]), int(corner[1]), int(corner[2])


def _group(own: Any, shared: Any, name: str) -> Any:
    """A functional group of a frame, its own or the one all frames share."""
    for groups in (own, shared):
        if name in groups:
            return groups[name][0]
    raise AttributeError(f"a frame has no {name}")


def _described(segment: Any, mask: Any) -> Structure:
    color = None
    if "RecommendedDisplayCIELabValue" in segment:
        color = rgb_of_stored(segment.RecommendedDisplayCIELabValue)
    return Structure(
        one_text(segment.SegmentLabel),
        mask,
        color,
        _code(segment, "SegmentedPropertyCategoryCodeSequence"),
        _code(segment, "SegmentedPropertyTypeCodeSequence"),
    )


def _code(segment: Any, name: str) -> Code | None:
    if name not in segment or not segment[name].value:
        return None
    item = segment[name][0]
    value = item.get("CodeValue") or item.get("LongCodeValue") or item.get("URNCodeValue")
    return Code(str(item.get("CodingSchemeDesignator", "")), str(value), str(item.CodeMeaning))
