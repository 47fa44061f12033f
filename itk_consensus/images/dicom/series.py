"""The DICOM series that readers outlined: its grid, and what objects that belong to it refer to."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import SimpleITK as sitk
from numpy.typing import NDArray

from itk_consensus.errors import FileError, GeometryError, InputError, MissingDependencyError
from itk_consensus.images.files import PathLike
from itk_consensus.images.geometry import ImageGeometry
from itk_consensus.images.headers.header import require_regular

#: Largest difference of direction cosines, and of positions in voxels, within one grid.
DIRECTION_NOISE = 1e-3
POSITION_NOISE = 0.05

_new_image: Any = sitk.Image


def dicom_library(owner: str, name: str = "pydicom") -> Any:
    """The library, or an error that names the extra."""
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingDependencyError(
            f"{owner} needs {name}: pip install 'itk-consensus[dicom]'"
        ) from error


@dataclass(frozen=True)
class DicomSeries:
    """Slices of one series, in the order of their positions.

    Attributes
    ----------
    slices : tuple of pydicom datasets
        Without their pixels.
    geometry : ImageGeometry
    """

    slices: tuple[Any, ...] = field(repr=False)  # which know the patient
    geometry: ImageGeometry

    @property
    def uid(self) -> str:
        """SeriesInstanceUID."""
        return str(self.slices[0].SeriesInstanceUID)

    @property
    def frame_of_reference(self) -> str:
        """FrameOfReferenceUID."""
        return str(self.slices[0].FrameOfReferenceUID)

    def grid(self) -> Any:
        """An empty SimpleITK image of uint8 on the grid of the series."""
        image = _new_image(self.geometry.size, sitk.sitkUInt8)
        image.SetSpacing(self.geometry.spacing)
        image.SetOrigin(self.geometry.origin)
        image.SetDirection(self.geometry.direction)
        return image

    def pixels(self) -> NDArray[Any] | None:
        """Values of the slices, read now, with their slope and intercept; None if undecodable."""
        planes = []
        try:
            for one in self.slices:
                whole = read_dicom(one.filename)
                slope, offset = (
                    float(whole.get(keyword, default))
                    for keyword, default in (("RescaleSlope", 1), ("RescaleIntercept", 0))
                )
                planes.append(whole.pixel_array.astype(np.float32) * slope + offset)
            return np.stack(planes)
        except (AttributeError, NotImplementedError, RuntimeError, TypeError, ValueError):
            return None

    def to_indices(self, points: Any) -> NDArray[np.float64]:
        """Positions in mm, shape (n, 3), as continuous indices (x, y, z)."""
        away = np.asarray(points, np.float64) - self.geometry.origin
        return np.asarray(np.linalg.solve(self._axes, away.T).T, np.float64)

    def to_positions(self, indices: Any) -> NDArray[np.float64]:
        """Continuous indices (x, y, z), shape (n, 3), as positions in mm."""
        return np.asarray(indices @ self._axes.T + self.geometry.origin, np.float64)

    @property
    def _axes(self) -> NDArray[np.float64]:
        """Steps from voxel to voxel in mm, as columns."""
        return np.reshape(self.geometry.direction, (3, 3)) * self.geometry.spacing

    def require_same_grid(self, found: ImageGeometry, owner: str) -> None:
        """Raise unless something lies voxel by voxel on the grid of the series."""
        differences = self.geometry.differences(found, 1e-3, 1e-3)
        if differences:
            raise GeometryError(
                f"{owner} does not lie on the grid of the series: {'; '.join(differences)}"
            )

    def require_same_frame(self, found: str | None, owner: str) -> None:
        """Raise unless an object lies in the frame of reference of the series."""
        if found != self.frame_of_reference:
            raise GeometryError(
                f"{owner}: lies in another frame of reference ({found}) than the series "
                f"({self.frame_of_reference})"
            )

    def require_referred(self, series: Sequence[str], owner: str) -> None:
        """Raise unless an object says that it was made on this series."""
        if not series:
            raise InputError(f"{owner}: refers to no series, so it cannot be told what it outlines")
        if self.uid not in series:
            raise InputError(
                f"{owner}: was made on another series ({', '.join(series)}) than this ({self.uid})"
            )


def read_dicom(path: PathLike, **settings: Any) -> Any:
    """Read a DICOM file into a pydicom dataset."""
    pydicom = dicom_library(f"{path}:")
    require_regular(Path(path))
    try:
        return pydicom.dcmread(path, **settings)
    except pydicom.errors.InvalidDicomError as error:
        raise FileError(f"{path}: is not a DICOM file") from error
    except OSError as error:
        raise FileError(f"{path}: {error.strerror or error}") from error
    except Exception as error:  # a damaged file may fail anywhere in the parser
        raise FileError(f"{path}: is damaged: {without_values(error)}") from None


def without_values(error: Exception) -> str:
    """What went wrong with a data set, without what is in it: messages of values quote them."""
    names_a_tag = isinstance(error, (AttributeError, KeyError))
    return str(error) if names_a_tag else type(error).__name__


def one_text(value: Any) -> str:
    """A text; pydicom takes one with a backslash for several."""
    return value if isinstance(value, str) else "\\".join(map(str, value))


def read_dicom_series(source: PathLike | Sequence[PathLike]) -> DicomSeries:
    """Read the slices of one series, from a folder or from a list of files."""
    owner: str = "series"
    paths: Any = source
    if isinstance(source, (str, os.PathLike)):
        owner = f"series {source}"
        try:
            paths = sorted(path for path in Path(source).iterdir() if path.is_file())
        except OSError as error:
            raise FileError(f"{source}: {error.strerror}") from error
    slices = [read_dicom(path, stop_before_pixels=True) for path in paths]
    if not slices:
        raise FileError(f"{owner}: holds no files")
    for keyword, what in (
        ("SeriesInstanceUID", "series"),
        ("FrameOfReferenceUID", "frames of reference"),
    ):
        found = sorted({str(one.get(keyword)) for one in slices})
        if len(found) > 1:
            raise InputError(f"{owner}: mixes {len(found)} {what}: {', '.join(found)}")
        if found == ["None"]:
            raise InputError(f"{owner}: has no {keyword}")
    return _sorted(slices, owner)


def plane_axes(orientation: Any) -> NDArray[np.float64]:
    """Directions along rows, along columns and from slice to slice, as columns."""
    along_rows, along_columns = np.reshape(np.asarray(orientation, np.float64), (2, 3))
    return np.column_stack([along_rows, along_columns, np.cross(along_rows, along_columns)])


def _sorted(slices: list[Any], owner: str) -> DicomSeries:
    first = slices[0]
    try:
        axes = plane_axes(first.ImageOrientationPatient)
        positions = np.array([one.ImagePositionPatient for one in slices], np.float64)
        plane = (int(first.Columns), int(first.Rows))
        in_plane = (float(first.PixelSpacing[1]), float(first.PixelSpacing[0]))
        is_one_plane = all(
            np.allclose(plane_axes(one.ImageOrientationPatient), axes, atol=DIRECTION_NOISE)
            and np.allclose(one.PixelSpacing, first.PixelSpacing)
            and (int(one.Columns), int(one.Rows)) == plane
            for one in slices
        )
    except (AttributeError, TypeError, ValueError) as error:
        raise InputError(
            f"{owner}: a slice does not say where it lies: {without_values(error)}"
        ) from None
    if not is_one_plane:
        raise GeometryError(f"{owner}: slices differ in size, pixel spacing or orientation")
    heights = positions @ axes[:, 2]
    order = np.argsort(heights, kind="stable")
    steps = np.diff(heights[order])
    step = float(np.median(steps)) if len(steps) else float(first.get("SliceThickness") or 1.0)
    if len(steps) and not np.allclose(steps, step, atol=POSITION_NOISE * abs(step)):
        raise GeometryError(
            f"{owner}: slices lie {steps.min():g} to {steps.max():g} mm apart; a slice is missing, "
            "or there twice"
        )
    if step <= 0:
        raise GeometryError(f"{owner}: {len(slices)} slices lie at one position")
    geometry = ImageGeometry(
        (*plane, len(slices)),
        (*in_plane, step),
        tuple(positions[order[0]].tolist()),
        tuple(axes.ravel().tolist()),
    )
    return DicomSeries(tuple(slices[i] for i in order), geometry)
