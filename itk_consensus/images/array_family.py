"""Plain NumPy arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from itk_consensus.errors import InputError
from itk_consensus.images.geometry import ArrayGeometry
from itk_consensus.images.image_family import ReadImage
from itk_consensus.images.loaded_images import Array, LoadedImages, OutputImage


class ArrayFamily:
    """numpy.ndarray of any real type, order and byte order."""

    def recognises(self, candidate: object) -> bool:
        """Whether `candidate` is an array."""
        return isinstance(candidate, np.ndarray)

    def read(self, image: Array, where: str) -> ReadImage:
        """View the array, read-only."""
        if isinstance(image, np.ma.MaskedArray):
            raise InputError(f"{where} must not be a masked array: pass its .filled(label)")
        if image.dtype.kind not in "biuf" or image.ndim == 0:
            raise InputError(
                f"{where} must be an array of booleans, integers or real numbers, "
                f"got a {image.ndim}-dimensional array of {image.dtype}"
            )
        view = image.view(np.ndarray)
        view.flags.writeable = False
        return ReadImage([view], ArrayGeometry.of_shape(image.shape))

    def metadata(self, image: Array) -> dict[str, str]:
        """Arrays have none."""
        return {}

    def allocate(self, dtype: npt.DTypeLike, like: LoadedImages) -> OutputImage:
        """Make an array of the shape of `like`."""
        array = np.empty(like.geometry.shape, dtype)
        return OutputImage(array, lambda: array)

    def to_image(self, array: Array, like: LoadedImages) -> Array:
        """Return the array itself, in C order and native bytes.

        A read-only array is copied: it may be a view of a caller's input.
        """
        native = None if array.dtype.isnative else array.dtype.newbyteorder("=")
        return np.require(array, native, ["C", "W"])

    def to_vector_image(self, components: Sequence[Array], like: LoadedImages) -> Array:
        """Stack the components on a last axis, where image libraries keep them."""
        return np.stack(components, axis=-1)
