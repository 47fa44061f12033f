"""nibabel's images. nibabel is never imported here, only looked up."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import numpy as np

from itk_consensus.core.errors import Where
from itk_consensus.images.families.affine import geometry_of_affine
from itk_consensus.images.families.image_family import (
    Array,
    ReadImage,
    WrappingFamily,
    real_numbers,
    stored_type,
)
from itk_consensus.images.kept_metadata import Keep

#: Fields of Analyze, NIfTI and MGH headers that say how voxels lie and are measured.
_FIELDS = frozenset(
    {
        *("dim_info", "dim", "pixdim", "xyzt_units", "qform_code", "sform_code"),
        *("quatern_b", "quatern_c", "quatern_d", "qoffset_x", "qoffset_y", "qoffset_z"),
        *("srow_x", "srow_y", "srow_z", "dims", "goodRASFlag", "delta", "Mdc", "Pxyz_c"),
    }
)


class NibabelHeader(NamedTuple):
    """What a nibabel image is apart from its voxels."""

    make: type[Any]
    affine: Any
    header: Any


class NibabelFamily(WrappingFamily):
    """NIfTI, MGH and every other SpatialImage; voxels are indexed (x, y, z) and placed in RAS."""

    image_class = ("nibabel.spatialimages", "SpatialImage")

    def read(self, image: Any, where: Where) -> ReadImage:
        """View the voxels, scaled as the header says, with their axes reversed as ITK has them."""
        voxels = real_numbers(np.asanyarray(image.dataobj), where)
        affine = np.eye(4) if image.affine is None else image.affine
        return ReadImage([voxels.T], geometry_of_affine(affine, voxels.shape, where))

    def metadata(self, image: Any, keep: Keep) -> NibabelHeader:
        """Class, affine and header; without its texts and extensions, unless all is kept."""
        affine = None if image.affine is None else image.affine.copy()
        if keep is Keep.EVERYTHING:
            return NibabelHeader(type(image), affine, image.header.copy())
        if not hasattr(image.header, "structarr"):  # others cannot be told field by field
            return NibabelHeader(sys.modules["nibabel"].Nifti1Image, affine, None)
        header = type(image.header)()
        for name in _FIELDS.intersection(header.keys()):
            header[name] = image.header[name]
        return NibabelHeader(type(image), affine, header)

    def wrap(self, array: Array, metadata: NibabelHeader, *, vector: bool = False) -> Any:
        """An image around the array, axes reversed again; components lie on a last axis."""
        turned = np.moveaxis(array.T, 0, -1) if vector else array.T
        voxels = turned.astype(stored_type(array.dtype), copy=False)
        header = None if metadata.header is None else metadata.header.copy()
        if header is not None:
            header.set_data_dtype(voxels.dtype)
        return metadata.make(voxels, metadata.affine, header)
