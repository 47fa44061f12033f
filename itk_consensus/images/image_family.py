"""What the package asks of an image library; one adapter per library answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from itk_consensus.images.geometry import ImageGeometry
from itk_consensus.images.loaded_images import Array, LoadedImages, OutputImage

WHAT_AN_INPUT_IS = "a scalar or vector image of integers or real numbers"


class ReadImage(NamedTuple):
    """One input: a read-only view per component, and where it lies."""

    components: list[Array]
    geometry: ImageGeometry


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


def split_components(view: Array, dimension: int) -> list[Array]:
    """One view per component; libraries keep components on a last axis, scalars without one."""
    if view.ndim == dimension:
        return [view]
    return [view[..., component] for component in range(view.shape[-1])]


def stored_type(dtype: npt.DTypeLike) -> np.dtype[Any]:
    """The pixel type for values of `dtype`: image libraries keep booleans as bytes."""
    wanted = np.dtype(dtype)
    return np.dtype(np.uint8) if wanted == np.bool_ else wanted
