"""Read DICOM SEG; frames are placed by their positions, not by their order in the file."""

from __future__ import annotations

from typing import Any

import numpy as np
import SimpleITK as sitk
from numpy.typing import NDArray

from itk_consensus.core.errors import FileError, GeometryError, InputError
from itk_consensus.images.dicom.colors import rgb_of_stored
from itk_consensus.images.dicom.identity import (
    describe_without_values,
    modality_of,
    silence_dicom_libraries,
)
from itk_consensus.images.dicom.series import DicomSeries, one_text, read_dicom
from itk_consensus.images.dicom.slice_grid import PLACE_NOISE, Plane, first_plane
from itk_consensus.images.structures import Code, Structure
from itk_consensus.storage.files import PathLike

#: Mask value of voxels that the rater did not annotate; pass it to the filter as MissingLabel.
NOT_ANNOTATED = 255
#: Ways to read slices without any frame.
ABSENT_FRAMES = ("background", "missing")
_SEGMENTATIONS = {"1.2.840.10008.5.1.4.1.1.66.4", "1.2.840.10008.5.1.4.1.1.66.7"}


@silence_dicom_libraries()
def read_dicom_segmentation(
    path: PathLike,
    series: DicomSeries,
    *,
    absent_frames: str = "background",
) -> list[Structure]:
    """Read one rater's SEG of a series, each segment as a structure on the grid of the series.

    Parameters
    ----------
    absent_frames : {"background", "missing"}
        How to read slices for which no segment has a frame: as background, or as not annotated
        (`NOT_ANNOTATED` in every mask).
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
        segments = _segments(dataset, str(path))
        volumes, has_frame = _volumes(dataset, series, list(segments), str(path))
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        if isinstance(error, (InputError, GeometryError)):
            raise
        raise FileError(
            f"is an incomplete SEG: {describe_without_values(error)}", path=path
        ) from None
    structures = []
    for number, volume in volumes.items():
        if absent_frames == "missing":
            volume[~has_frame] = NOT_ANNOTATED
        mask = sitk.GetImageFromArray(volume)
        mask.CopyInformation(series.grid())
        structures.append(_structure(segments[number], mask))
    return structures


def _segments(dataset: Any, owner: str) -> dict[int, Any]:
    """Return the items of SegmentSequence by their numbers; 0 is the background of a label map."""
    segments: dict[int, Any] = {}
    for one in dataset.SegmentSequence:
        number = int(one.SegmentNumber)
        if number == 0 and dataset.SegmentationType == "LABELMAP":
            continue
        if number < 1 or number in segments:
            raise InputError(
                f"segments must have distinct numbers from 1 on, got {number}"
                f"{' twice' if number in segments else ''}",
                owner=owner,
            )
        segments[number] = one
    if not segments:
        raise FileError("has no segments", owner=owner)
    return segments


def _require_described(frames: NDArray[Any], dataset: Any, numbers: list[int], owner: str) -> None:
    """Raise if a label map contains labels without an item in SegmentSequence."""
    background = {0, int(dataset.get("PixelPaddingValue") or 0)}
    strangers = sorted(set(np.unique(frames).tolist()) - background - set(numbers))
    if strangers:
        raise InputError(
            f"has voxels of segment {strangers[0]}, which it does not describe", owner=owner
        )


def _volumes(
    dataset: Any, series: DicomSeries, numbers: list[int], owner: str
) -> tuple[dict[int, NDArray[np.uint8]], NDArray[np.bool_]]:
    """Return each segment's volume, and for each slice whether any segment has a frame there."""
    volumes = {number: np.zeros(series.geometry.shape, np.uint8) for number in numbers}
    has_frame = np.zeros(series.geometry.shape[0], np.bool_)
    filled: set[tuple[int, int]] = set()
    is_label_map = dataset.SegmentationType == "LABELMAP"
    frames = _frames(dataset, owner)
    if is_label_map:
        _require_described(frames, dataset, numbers, owner)
    shared = dataset.SharedFunctionalGroupsSequence[0]
    for frame, own in zip(frames, dataset.PerFrameFunctionalGroupsSequence, strict=True):
        column, row, height = _corner(own, shared, frame.shape, series, owner)
        has_frame[height] = True
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
    return volumes, has_frame


def _half(dataset: Any) -> float:
    """Return the smallest pixel value that counts as inside a segment; for fractional segments, the
    value that stands for a probability of one half.
    """
    if dataset.SegmentationType == "FRACTIONAL":
        return float(dataset.MaximumFractionalValue) / 2
    return 1


def _frames(dataset: Any, owner: str) -> NDArray[Any]:
    """Return the (frames, rows, columns) pixels; raise if any are missing."""
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
    except Exception as error:  # codecs raise exceptions of any class
        raise FileError(
            f"its pixels cannot be read: {describe_without_values(error)}", owner=owner
        ) from None


def _corner(
    own: Any, shared: Any, shape: tuple[int, ...], series: DicomSeries, owner: str
) -> tuple[int, int, int]:
    """Return column, row and slice of a frame's first pixel on the grid; raise if off the grid."""
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
    offset = np.abs([first - corner, last - (end - 1)]).max()
    if offset > PLACE_NOISE or (corner < 0).any():
        raise GeometryError(
            f"a frame at {plane.position.tolist()} lies on no slice of the series", owner=owner
        )
    if (end > geometry.size).any():
        raise GeometryError(
            f"a frame at {plane.position.tolist()} reaches beyond the series", owner=owner
        )
    return int(corner[0]), int(corner[1]), int(corner[2])


def _group(own: Any, shared: Any, name: str) -> Any:
    """Return a functional group of a frame: its own one or, if absent, the shared one."""
    for groups in (own, shared):
        if name in groups:
            return groups[name][0]
    raise AttributeError(f"a frame has no {name}")


def _structure(segment: Any, mask: Any) -> Structure:
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
