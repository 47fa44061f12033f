"""Plain NumPy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from itk_consensus.images.geometry import ArrayGeometry
from itk_consensus.images.image_family import Array, ReadImage, WrappingFamily, real_numbers


class ArrayFamily(WrappingFamily):
    """numpy.ndarray of any real type, order and byte order, and its subclasses.

    What a masked array masks is missing. Outputs are plain arrays.
    """

    def recognises(self, candidate: object) -> bool:
        """Whether `candidate` is an array."""
        return isinstance(candidate, np.ndarray)

    def read(self, image: Array, where: str) -> ReadImage:
        """View the array, read-only."""
        geometry = ArrayGeometry.of_shape(image.shape)
        if not isinstance(image, np.ma.MaskedArray):
            return ReadImage([real_numbers(image, where)], geometry)
        said = image.compressed()
        # What lies under the mask is no label: a value that occurs adds none to the table.
        filled = image.filled(said[0] if said.size else 0)
        return ReadImage([real_numbers(filled, where)], geometry, ~np.ma.getmaskarray(image))

    def metadata(self, image: Array) -> dict[str, str]:
        """Arrays have none."""
        return {}

    def wrap(self, array: Array, metadata: Any, *, vector: bool = False) -> Array:
        """The array is the image."""
        return array
