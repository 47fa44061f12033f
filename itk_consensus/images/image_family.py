"""What the package asks of an image library; one adapter per library answers."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from itk_consensus.errors import InputError
from itk_consensus.images.geometry import ImageGeometry
from itk_consensus.images.loaded_images import Array, LoadedImages, OutputImage

WHAT_AN_INPUT_IS = "a scalar or vector image of integers or real numbers"


class ReadImage(NamedTuple):
    """One input: a read-only view per component, where it lies, and where it has a value."""

    components: list[Array]
    geometry: ImageGeometry
    annotated: Array | None = None


class ImageFamily(Protocol):
    """The methods of an adapter."""

    def recognises(self, candidate: object) -> bool:
        """Whether `candidate` is an object of this library."""

    def read(self, image: Any, where: str) -> ReadImage:
        """View the voxels; `where` opens the message of the `InputError` if that is impossible."""

    def metadata(self, image: Any) -> Any:
        """Copy the metadata dictionary."""

    def allocate(self, dtype: npt.DTypeLike, like: LoadedImages) -> OutputImage:
        """Make an output with the geometry and metadata of `like`."""

    def to_image(self, array: Array, like: LoadedImages) -> Any:
        """Turn a finished array into an image with the geometry and metadata of `like`."""

    def to_vector_image(self, components: Sequence[Array], like: LoadedImages) -> Any:
        """Turn finished arrays into one image with a component each."""


class CopyingFamily:
    """The part that libraries with images of their own share."""

    def allocate(self, dtype: npt.DTypeLike, like: LoadedImages) -> OutputImage:
        """Make an output with the geometry and metadata of `like`."""
        raise NotImplementedError

    def to_image(self, array: Array, like: LoadedImages) -> Any:
        """Copy a finished array, once, into a new image."""
        output = self.allocate(array.dtype.newbyteorder("="), like)
        output.array[...] = array
        return output.image()


class WrappingFamily:
    """The part that libraries share whose images are made around a finished array."""

    def allocate(self, dtype: npt.DTypeLike, like: LoadedImages) -> OutputImage:
        """Make an array of the shape of `like`, to be wrapped once it is written."""
        array = np.empty(like.geometry.shape, dtype)
        return OutputImage(array, lambda: self.wrap(array, like.metadata))

    def to_image(self, array: Array, like: LoadedImages) -> Any:
        """Wrap the array itself, in C order and native bytes.

        A read-only array is copied: it may be a view of a caller's input.
        """
        native = None if array.dtype.isnative else array.dtype.newbyteorder("=")
        return self.wrap(np.require(array, native, ["C", "W"]), like.metadata)

    def to_vector_image(self, components: Sequence[Array], like: LoadedImages) -> Any:
        """Stack the components on a last axis, where image libraries keep them."""
        return self.wrap(np.stack(components, axis=-1), like.metadata, vector=True)

    def wrap(self, array: Array, metadata: Any, *, vector: bool = False) -> Any:
        """An image around this array, whose last axis holds the components of a vector image."""
        raise NotImplementedError


def loaded_class(module: str, name: str) -> type[Any] | None:
    """A class of a library, or None if the caller has not imported it: then it has no objects."""
    found = getattr(sys.modules.get(module), name, None)
    return found if isinstance(found, type) else None


def real_numbers(array: Array, where: str) -> Array:
    """The array, read-only and of NumPy's own class; an `InputError` if it is not of numbers."""
    if array.dtype.kind not in "biuf" or array.ndim == 0:
        raise InputError(
            f"{where} must be an array of booleans, integers or real numbers, "
            f"got a {array.ndim}-dimensional array of {array.dtype}"
        )
    view = array.view(np.ndarray)
    view.flags.writeable = False
    return view


def split_components(view: Array, dimension: int) -> list[Array]:
    """One view per component; libraries keep components on a last axis, scalars without one."""
    if view.ndim == dimension:
        return [view]
    return [view[..., component] for component in range(view.shape[-1])]


def stored_type(dtype: npt.DTypeLike) -> np.dtype[Any]:
    """The pixel type for values of `dtype`: image libraries keep booleans as bytes."""
    wanted = np.dtype(dtype)
    return np.dtype(np.uint8) if wanted == np.bool_ else wanted
