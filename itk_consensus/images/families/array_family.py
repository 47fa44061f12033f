"""NumPy arrays, and objects that NumPy can convert to arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from itk_consensus.core.errors import InputError, Where
from itk_consensus.images.families.image_family import (
    Array,
    ReadImage,
    WrappingFamily,
    as_real_numbers,
)
from itk_consensus.images.geometry import ArrayGeometry
from itk_consensus.images.kept_metadata import Keep


class ArrayFamily(WrappingFamily):
    """numpy.ndarray and its subclasses, of any real dtype, memory order and byte order.

    Masked elements of a masked array are missing annotations. Outputs are plain arrays.
    """

    def recognises(self, candidate: object) -> bool:
        """Whether `candidate` is an array."""
        return isinstance(candidate, np.ndarray)

    def read(self, image: Array, where: Where) -> ReadImage:
        """Return a read-only view of the array."""
        geometry = ArrayGeometry.of_shape(image.shape)
        if type(image) is np.ndarray or not isinstance(image, np.ma.MaskedArray):
            return ReadImage([as_real_numbers(image, where)], geometry)
        unmasked = image.compressed()
        # Masked voxels are ignored; filling them with a value that occurs does not add a label.
        filled = image.filled(unmasked[0] if unmasked.size else 0)
        return ReadImage([as_real_numbers(filled, where)], geometry, ~np.ma.getmaskarray(image))

    def metadata(self, image: Array, keep: Keep) -> dict[str, str]:
        """Return {}: arrays have no metadata."""
        return {}

    def wrap(self, array: Array, metadata: Any, *, vector: bool = False) -> Array:
        """Return the array itself, which is the image."""
        return array


class ArrayLikeFamily(WrappingFamily):
    """Arrays of other libraries.

    Outputs are arrays of the same library and device if it follows the array API standard, NumPy
    arrays otherwise.
    """

    def recognises(self, candidate: object) -> bool:
        """Whether NumPy can convert `candidate` and it is neither a scalar nor a class."""
        if isinstance(candidate, (type, np.generic)):
            return False
        return hasattr(candidate, "__array__") or hasattr(candidate, "__dlpack__")

    def read(self, image: Any, where: Where) -> ReadImage:
        """View the voxels, or copy them if the library cannot share memory."""
        try:
            array = np.asarray(image) if hasattr(image, "__array__") else np.from_dlpack(image)
        except (TypeError, ValueError, RuntimeError, BufferError) as error:
            raise InputError(
                f"cannot be read as an array: {type(image).__name__}: {error}", **where
            ) from error
        return ReadImage([as_real_numbers(array, where)], ArrayGeometry.of_shape(array.shape))

    def metadata(self, image: Any, keep: Keep) -> dict[str, Any]:
        """Return the array namespace and device used for outputs; {} outside the standard."""
        if not hasattr(image, "__array_namespace__"):
            return {}
        device = getattr(image, "device", None)
        placed = {} if device is None else {"device": device}
        return {"namespace": image.__array_namespace__(), "placed": placed}

    def wrap(self, array: Array, metadata: dict[str, Any], *, vector: bool = False) -> Any:
        """Convert to an array of the library, or return the NumPy array."""
        if not metadata:
            return array
        return metadata["namespace"].asarray(array, **metadata["placed"])
