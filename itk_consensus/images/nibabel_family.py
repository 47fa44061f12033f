"""nibabel's images. nibabel is never imported here, only looked up."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from itk_consensus.images.affine import geometry_of_affine
from itk_consensus.images.image_family import (
    Array,
    ReadImage,
    WrappingFamily,
    real_numbers,
    stored_type,
)


class NibabelHeader(NamedTuple):
    """What a nibabel image is apart from its voxels."""

    make: type[Any]
    affine: Any
    header: Any


class NibabelFamily(WrappingFamily):
    """NIfTI, MGH and every other SpatialImage; voxels are indexed (x, y, z) and placed in RAS."""

    image_class = ("nibabel.spatialimages", "SpatialImage")

    def read(self, image: Any, where: str) -> ReadImage:
        """View the voxels, scaled as the header says, with their axes reversed as ITK has them."""
        voxels = real_numbers(np.asanyarray(image.dataobj), where)
        affine = np.eye(4) if image.affine is None else image.affine
        return ReadImage([voxels.T], geometry_of_affine(affine, voxels.shape, where))

    def metadata(self, image: Any) -> NibabelHeader:
        """Class, affine and header."""
        affine = None if image.affine is None else image.affine.copy()
        return NibabelHeader(type(image), affine, image.header.copy())

    def wrap(self, array: Array, metadata: NibabelHeader, *, vector: bool = False) -> Any:
        """An image around the array, axes reversed again; components lie on a last axis."""
        turned = np.moveaxis(array.T, 0, -1) if vector else array.T
        voxels = turned.astype(stored_type(array.dtype), copy=False)
        header = metadata.header.copy()
        header.set_data_dtype(voxels.dtype)
        return metadata.make(voxels, metadata.affine, header)
