"""The DICOM series that readers segmented: its grid, and checks of objects that reference it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import numpy as np
import SimpleITK as sitk
from numpy.typing import NDArray

from itk_consensus.core.errors import FileError, GeometryError, InputError
from itk_consensus.images.dicom.identity import (
    describe_without_values,
    dicom_library,
    modality_of,
    silence_dicom_libraries,
)
from itk_consensus.images.dicom.slice_grid import grid_of, indices_on, voxel_axes
from itk_consensus.images.geometry import ImageGeometry
from itk_consensus.storage.claims import Claim, require_no_overlap
from itk_consensus.storage.files import PathLike
from itk_consensus.storage.guards import require_regular

_new_image: Any = sitk.Image


@dataclass(frozen=True)
class DicomSeries:
    """Slices of one series, in the order of their positions."""

    #: pydicom data sets without pixels; not in the repr, since they name the patient.
    slices: tuple[Any, ...] = field(repr=False)
    geometry: ImageGeometry
    #: Name in error messages: folder, number of the series if there are several, number of slices
    #: and modality. It contains no identifying data.
    name: str = "the series"
    #: SeriesInstanceUIDs of all series in the folder, including this one, by number.
    uids_in_folder: tuple[str, ...] = field(default=(), repr=False)

    @property
    def uid(self) -> str:
        """The SeriesInstanceUID."""
        return str(self.slices[0].SeriesInstanceUID)

    @property
    def frame_of_reference(self) -> str:
        """The FrameOfReferenceUID."""
        return str(self.slices[0].FrameOfReferenceUID)

    def grid(self) -> Any:
        """Return an empty SimpleITK image of uint8 on the grid of the series."""
        image = _new_image(self.geometry.size, sitk.sitkUInt8)
        image.SetSpacing(self.geometry.spacing)
        image.SetOrigin(self.geometry.origin)
        image.SetDirection(self.geometry.direction)
        return image

    def pixels(self) -> NDArray[Any] | None:
        """Read pixels, rescaled by slope and intercept; return None if they cannot be decoded."""
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

    def image(self) -> Any:
        """Return the pixels as a SimpleITK image of float32; None if they cannot be decoded."""
        pixels = self.pixels()
        if pixels is None:
            return None
        image = sitk.GetImageFromArray(pixels)
        image.CopyInformation(self.grid())
        return image

    def to_indices(self, points: Any) -> NDArray[np.float64]:
        """Convert (n, 3) positions in mm to continuous indices (x, y, z)."""
        return indices_on(self.geometry, points)

    def to_positions(self, indices: Any) -> NDArray[np.float64]:
        """Convert (n, 3) continuous indices (x, y, z) to positions in mm."""
        axes = voxel_axes(self.geometry)
        return np.asarray(indices @ axes.T + self.geometry.origin, np.float64)

    def require_same_grid(self, found: ImageGeometry, owner: str) -> None:
        """Raise unless a geometry equals the grid of the series, within 0.001 spacings."""
        differences = self.geometry.differences(found, 1e-3, 1e-3)
        if differences:
            raise GeometryError(
                f"{owner} does not lie on the grid of {self.name}: {'; '.join(differences)}"
            )

    def require_not_replaced(self, path: Path, sources: Iterable[str | os.PathLike[str]]) -> None:
        """Raise if writing `path` would overwrite a slice or one of the sources."""
        kept = [Path(one.filename) for one in self.slices if getattr(one, "filename", None)]
        reads = [Claim("a slice of the series", one) for one in kept]
        reads += [Claim("a reader's object", Path(one)) for one in sources]
        require_no_overlap(reads, [Claim(str(path), path)])

    def require_same_frame(self, found: str | None, owner: str) -> None:
        """Raise unless an object has the same frame of reference as the series."""
        if found != self.frame_of_reference:
            raise GeometryError(
                f"has another frame of reference than {self.name}, or none, so its positions "
                "cannot be related to the series",
                owner=owner,
            )

    def require_referred(self, series: Sequence[str], owner: str) -> None:
        """Raise unless an object references this series."""
        if not series:
            raise InputError("references no series, so it is unknown what it outlines", owner=owner)
        if self.uid not in series:
            numbers = [n for n, uid in enumerate(self.uids_in_folder, start=1) if uid in series]
            remedy = f"it is number {numbers[0]} there" if numbers else "give the one it refers to"
            raise InputError(f"was made on another series than {self.name}; {remedy}", owner=owner)


@silence_dicom_libraries()
def read_dicom(path: PathLike, **settings: Any) -> Any:
    """Read a DICOM file into a pydicom dataset."""
    pydicom = dicom_library(f"{path}:")
    require_regular(Path(path))
    try:
        return pydicom.dcmread(path, **settings)
    except pydicom.errors.InvalidDicomError as error:
        raise FileError("is not a DICOM file", path=path) from error
    except OSError as error:
        raise FileError(f"{error.strerror or error}", path=path) from error
    except Exception as error:  # a damaged file may fail anywhere in the parser
        raise FileError(f"is damaged: {describe_without_values(error)}", path=path) from None


def one_text(value: Any) -> str:
    """Join a text that pydicom has split at backslashes."""
    return value if isinstance(value, str) else "\\".join(map(str, value))


@silence_dicom_libraries()
def read_dicom_series(
    source: PathLike | Sequence[PathLike], *, number: int | None = None
) -> DicomSeries:
    """Read the slices of one series, from a folder or from a list of files.

    Parameters
    ----------
    number : int, optional
        Number (from 1) of the series to read if there are several, in the order of their file
        names. ``itk-consensus info FOLDER`` lists them.
    """
    owner, found = series_within(source)
    if number is None and len(found) > 1:
        listed = "; ".join(
            f"{n}: {description_of_slices(one)}" for n, one in enumerate(found.values(), 1)
        )
        raise InputError(
            f"holds {len(found)} series ({listed}); choose one by its number (number=, "
            "--series-number)",
            owner=owner,
        )
    if number is not None and (type(number) is not int or not 1 <= number <= len(found)):
        raise InputError(f"number must be 1 to {len(found)}, got {number!r}", owner=owner)
    position = 0 if number is None else number - 1
    slices = list(found.values())[position]
    which = f"series {position + 1} of {len(found)} of {owner}" if len(found) > 1 else owner
    name = f"{which} ({description_of_slices(slices)})"
    frames = {str(one.get("FrameOfReferenceUID")) for one in slices}
    if len(frames) > 1:
        raise InputError(
            f"{name}: lies in {len(frames)} frames of reference, but a series must have one"
        )
    if frames == {"None"}:
        raise InputError(f"{name}: has no FrameOfReferenceUID")
    geometry, order = grid_of(slices, name)
    return DicomSeries(tuple(slices[place] for place in order), geometry, name, tuple(found))


@silence_dicom_libraries()
def series_within(source: PathLike | Sequence[PathLike]) -> tuple[str, dict[str, list[Any]]]:
    """Return the name of a source for error messages, and its slices by SeriesInstanceUID."""
    owner, paths = "series", source
    if isinstance(source, (str, os.PathLike)):
        owner = f"series {source}"
        try:
            paths = sorted(path for path in Path(source).iterdir() if path.is_file())
        except OSError as error:
            raise FileError(f"{error.strerror}", path=source) from error
    found: dict[str, list[Any]] = {}
    for path in cast("Sequence[PathLike]", paths):
        one = read_dicom(path, stop_before_pixels=True)
        if "SeriesInstanceUID" not in one:
            raise InputError("has no SeriesInstanceUID", path=path)
        found.setdefault(str(one.SeriesInstanceUID), []).append(one)
    if not found:
        raise FileError("holds no files", owner=owner)
    return owner, found


def description_of_slices(slices: Sequence[Any]) -> str:
    """Return the number of slices and modality, which identify a series but not the patient."""
    modality = modality_of(slices[0]) or "DICOM"
    return f"{len(slices)} {modality} " + ("slice" if len(slices) == 1 else "slices")
