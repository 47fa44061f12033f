"""NumPy arrays, and objects that NumPy can view as arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from itk_consensus.core.errors import InputError, Where
from itk_consensus.images.families.image_family import (
    Array,
    ReadImage,
    WrappingFamily,
    real_numbers,
)
from itk_consensus.images.geometry import ArrayGeometry
from itk_consensus.images.kept_metadata import Keep


class ArrayFamily(WrappingFamily):
    """numpy.ndarray of any real type, order and byte order, and its subclasses.

    What a masked array masks is missing. Outputs are plain arrays.
    """

    def recognises(self, candidate: object) -> bool:
        """Whether `candidate` is an array."""
        return isinstance(candidate, np.ndarray)

    def read(self, image: Array, where: Where) -> ReadImage:
        """View the array, read-only."""
        geometry = ArrayGeometry.of_shape(image.shape)
        if type(image) is np.ndarray or not isinstance(image, np.ma.MaskedArray):
            return ReadImage([real_numbers(image, where)], geometry)
        said = image.compressed()
        # Masked voxels have no label; a value that occurs adds no label to the table.
        filled = image.filled(said[0] if said.size else 0)
        return ReadImage([real_numbers(filled, where)], geometry, ~np.ma.getmaskarray(image))

    def metadata(self, image: Array, keep: Keep) -> dict[str, str]:
        """Arrays have none."""
        return {}

    def wrap(self, array: Array, metadata: Any, *, vector: bool = False) -> Array:
        """The array is the image."""
        return array


class ArrayLikeFamily(WrappingFamily):
    """Arrays of other libraries.

    Libraries that follow the array API standard get arrays of their own back, on the device of the
    first input; others get NumPy arrays.
    """

    def recognises(self, candidate: object) -> bool:
        """Whether `candidate` is an object, no number and no class, that NumPy can read."""
        if isinstance(candidate, (type, np.generic)):
            return False
        return hasattr(candidate, "__array__") or hasattr(candidate, "__dlpack__")

    def read(self, image: Any, where: Where) -> ReadImage:
        """View the voxels, or copy them where the library cannot share them."""
        try:
            array = np.asarray(image) if hasattr(image, "__array__") else np.from_dlpack(image)
        except (TypeError, ValueError, RuntimeError, BufferError) as error:
            raise InputError(
                f"cannot be read as an array: {type(image).__name__} says {error}", **where
            ) from error
        return ReadImage([real_numbers(array, where)], ArrayGeometry.of_shape(array.shape))

    def metadata(self, image: Any, keep: Keep) -> dict[str, Any]:
        """How to make arrays of this library, if it can be asked."""
        if not hasattr(image, "__array_namespace__"):
            return {}
        device = getattr(image, "device", None)
        placed = {} if device is None else {"device": device}
        return {"namespace": image.__array_namespace__(), "placed": placed}

    def wrap(self, array: Array, metadata: dict[str, Any], *, vector: bool = False) -> Any:
        """An array of the library, or NumPy's."""
        if not metadata:
            return array
        return metadata["namespace"].asarray(array, **metadata["placed"])
