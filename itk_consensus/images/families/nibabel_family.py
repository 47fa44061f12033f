"""nibabel's images. nibabel is never imported here, only looked up in sys.modules."""

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
    as_real_numbers,
    stored_type,
)
from itk_consensus.images.kept_metadata import Keep

#: Fields of Analyze, NIfTI and MGH headers that describe the grid and its units.
_FIELDS = frozenset(
    {
        *("dim_info", "dim", "pixdim", "xyzt_units", "qform_code", "sform_code"),
        *("quatern_b", "quatern_c", "quatern_d", "qoffset_x", "qoffset_y", "qoffset_z"),
        *("srow_x", "srow_y", "srow_z", "dims", "goodRASFlag", "delta", "Mdc", "Pxyz_c"),
    }
)


class NibabelHeader(NamedTuple):
    """All data of a nibabel image except its voxels."""

    make: type[Any]
    affine: Any
    header: Any


class NibabelFamily(WrappingFamily):
    """NIfTI, MGH and every other SpatialImage; indices are (x, y, z), positions are RAS."""

    image_class = ("nibabel.spatialimages", "SpatialImage")

    def read(self, image: Any, where: Where) -> ReadImage:
        """Return views of the voxels, scaled as the header specifies, with axes (z, y, x)."""
        voxels = as_real_numbers(np.asanyarray(image.dataobj), where)
        affine = np.eye(4) if image.affine is None else image.affine
        return ReadImage([voxels.T], geometry_of_affine(affine, voxels.shape, where))

    def metadata(self, image: Any, keep: Keep) -> NibabelHeader:
        """Return class, affine and header; text and extensions only if everything is kept."""
        affine = None if image.affine is None else image.affine.copy()
        if keep is Keep.EVERYTHING:
            return NibabelHeader(type(image), affine, image.header.copy())
        if not hasattr(image.header, "structarr"):  # no fields that could be copied selectively
            return NibabelHeader(sys.modules["nibabel"].Nifti1Image, affine, None)
        header = type(image.header)()
        for name in _FIELDS.intersection(header.keys()):
            header[name] = image.header[name]
        return NibabelHeader(type(image), affine, header)

    def wrap(self, array: Array, metadata: NibabelHeader, *, vector: bool = False) -> Any:
        """Wrap the array with its axes reversed again; components are along the last axis."""
        turned = np.moveaxis(array.T, 0, -1) if vector else array.T
        voxels = turned.astype(stored_type(array.dtype), copy=False)
        header = None if metadata.header is None else metadata.header.copy()
        if header is not None:
            header.set_data_dtype(voxels.dtype)
        return metadata.make(voxels, metadata.affine, header)
