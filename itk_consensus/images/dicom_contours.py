"""DICOM RTSTRUCT in: contours by name, rasterised on the grid of their series."""

from __future__ import annotations

from typing import Any

import numpy as np
import SimpleITK as sitk
from numpy.typing import NDArray

from itk_consensus.errors import FileError, GeometryError, InputError
from itk_consensus.images.dicom_series import DicomSeries, read_dicom
from itk_consensus.images.files import PathLike
from itk_consensus.images.structures import Structure

_STRUCTURE_SET = "1.2.840.10008.5.1.4.1.1.481.3"
#: How far, in slices, a contour's points may lie from the slice it is drawn on.
_FARTHEST_FROM_SLICE = 0.4


def read_dicom_contours(path: PathLike, series: DicomSeries) -> list[Structure]:
    """Read every structure of an RTSTRUCT that has contours.

    A voxel is inside if its centre lies within an odd number of the contours of its slice, so a
    contour inside another is a hole. Contours of one or two points enclose nothing; the voxels
    they pass through are marked.
    """
    dataset = read_dicom(path)
    if dataset.get("SOPClassUID") != _STRUCTURE_SET:
        raise FileError(f"{path}: is a DICOM {dataset.get('Modality', 'file')}, not an RTSTRUCT")
    try:
        series.require_referred(_referred_series(dataset), str(path))
        names = {int(roi.ROINumber): roi for roi in dataset.StructureSetROISequence}
        structures = []
        for roi in dataset.get("ROIContourSequence") or ():
            defined = names[int(roi.ReferencedROINumber)]
            series.require_same_frame(defined.get("ReferencedFrameOfReferenceUID"), str(path))
            owner = f"{path}: {defined.ROIName}"
            contours = [_indices(one, series, owner) for one in roi.get("ContourSequence") or ()]
            mask = sitk.GetImageFromArray(rasterised(contours, series.geometry.shape, owner))
            mask.CopyInformation(series.grid())
            structures.append(Structure(str(defined.ROIName), mask, _color(roi)))
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        if isinstance(error, (InputError, GeometryError)):
            raise
        raise FileError(f"{path}: is no complete RTSTRUCT: {error}") from error
    if not structures:
        raise FileError(f"{path}: holds no contours")
    return structures


def rasterised(
    contours: list[NDArray[np.float64]], shape: tuple[int, ...], owner: str
) -> NDArray[np.uint8]:
    """Voxels whose centres the contours enclose.

    Parameters
    ----------
    contours : list of ndarray, each (n, 3)
        Continuous indices (x, y, z).
    shape : (slices, rows, columns)
    """
    slices, rows, columns = shape
    crossings = np.zeros((slices, rows, columns + 1), np.uint8)
    touched = np.zeros(shape, np.bool_)
    for points in contours:
        height = _slice_of(points, slices, owner)
        if len(points) < 3:
            touched[height] |= _passed(points[:, :2], rows, columns)
        else:
            crossings[height] ^= _crossed(points[:, :2], rows, columns)
    # A voxel is inside if an odd number of edges lies to its left.
    inside: NDArray[np.uint8] = np.bitwise_xor.accumulate(crossings, axis=-1)[..., :columns]
    inside[touched] = 1
    return inside


def _crossed(points: NDArray[np.float64], rows: int, columns: int) -> NDArray[np.uint8]:
    """Where each row crosses the polygon: the first column right of every edge, by parity."""
    crossed = np.zeros((rows, columns + 1), np.uint8)
    for (x0, y0), (x1, y1) in zip(points, np.roll(points, -1, axis=0), strict=True):
        low, high = sorted((y0, y1))
        # Half open, so that a row through a corner meets one of its two edges.
        met = np.arange(max(int(np.ceil(low)), 0), min(int(np.ceil(high)), rows))
        if len(met):
            x = x0 + (met - y0) * (x1 - x0) / (y1 - y0)
            right = np.clip(np.ceil(x), 0, columns).astype(int)
            crossed[met, right] ^= 1
    return crossed


def _passed(points: NDArray[np.float64], rows: int, columns: int) -> NDArray[np.bool_]:
    """The pixels that a line between points passes through."""
    passed = np.zeros((rows, columns), np.bool_)
    first, last = points[0], points[-1]
    steps = 2 * int(np.ceil(np.abs(last - first).max())) + 1
    nearest = np.rint(first + np.linspace(0, 1, steps + 1)[:, None] * (last - first)).astype(int)
    is_on = ((nearest >= 0) & (nearest < (columns, rows))).all(axis=1)
    passed[nearest[is_on, 1], nearest[is_on, 0]] = True
    return passed


def _slice_of(points: NDArray[np.float64], slices: int, owner: str) -> int:
    height = int(np.rint(points[:, 2].mean()))
    if np.abs(points[:, 2] - height).max() > _FARTHEST_FROM_SLICE:
        raise GeometryError(f"{owner}: a contour does not lie in a slice of the series")
    if not 0 <= height < slices:
        raise GeometryError(f"{owner}: a contour lies beyond the slices of the series")
    return height


def _indices(contour: Any, series: DicomSeries, owner: str) -> NDArray[np.float64]:
    numbers = np.asarray(contour.ContourData, np.float64)
    if numbers.size == 0 or numbers.size % 3 or not np.isfinite(numbers).all():
        raise InputError(f"{owner}: a contour has {numbers.size} coordinates, not x, y and z each")
    return series.to_indices(numbers.reshape(-1, 3))


def _referred_series(dataset: Any) -> list[str]:
    return [
        str(series.SeriesInstanceUID)
        for frame in dataset.get("ReferencedFrameOfReferenceSequence") or ()
        for study in frame.get("RTReferencedStudySequence") or ()
        for series in study.get("RTReferencedSeriesSequence") or ()
    ]


def _color(roi: Any) -> tuple[float, float, float] | None:
    parts = roi.get("ROIDisplayColor")
    if not parts or len(parts) != 3:
        return None
    red, green, blue = (int(part) / 255 for part in parts)
    return red, green, blue
