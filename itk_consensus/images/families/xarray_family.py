"""xarray's DataArray. xarray is never imported here, only looked up in sys.modules."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from itk_consensus.core.errors import InputError, Where
from itk_consensus.images.families.image_family import (
    Array,
    ReadImage,
    WrappingFamily,
    as_real_numbers,
)
from itk_consensus.images.geometry import ImageGeometry
from itk_consensus.images.kept_metadata import Keep

#: Tolerance of evenly spaced coordinates, as a fraction of the step; allows float32 rounding.
_UNEVEN = 1e-3


class DataArrayHeader(NamedTuple):
    """All data of a DataArray except its voxels."""

    make: type[Any]
    coordinates: dict[Any, Any]
    axes: tuple[Any, ...]
    attributes: dict[Any, Any]
    name: Any


class XarrayFamily(WrappingFamily):
    """DataArray whose axes have evenly spaced coordinates, or none, which means 0, 1, 2, ..."""

    image_class = ("xarray", "DataArray")

    def read(self, image: Any, where: Where) -> ReadImage:
        """Return views of the voxels; the first axis of the array is ITK's last."""
        voxels = as_real_numbers(np.asarray(image.data), where)
        placed = [_first_and_step(image, axis, where) for axis in reversed(image.dims)]
        geometry = ImageGeometry(
            voxels.shape[::-1],
            tuple(abs(step) for _, step in placed),
            tuple(first for first, _ in placed),
            tuple(np.diag([np.sign(step) for _, step in placed]).ravel().tolist()),
            axes=tuple(str(axis) for axis in reversed(image.dims)),
        )
        return ReadImage([voxels], geometry)

    def metadata(self, image: Any, keep: Keep) -> DataArrayHeader:
        """Copy coordinates and names of axes; also the name and other entries that may be kept."""
        coordinates = {}
        for name, values in image.coords.items():
            if name in image.dims or keep(str(name), values.values):
                coordinates[name] = values.copy()
                coordinates[name].attrs = keep.of(values.attrs)
        name = image.name if keep("name", image.name) else None
        attributes = keep.of(image.attrs)
        return DataArrayHeader(type(image), coordinates, tuple(image.dims), attributes, name)

    def wrap(self, array: Array, metadata: DataArrayHeader, *, vector: bool = False) -> Any:
        """Wrap the array in a DataArray; components get an axis named "component"."""
        return metadata.make(
            array,
            coords=metadata.coordinates,
            dims=(*metadata.axes, "component") if vector else metadata.axes,
            attrs=metadata.attributes,
            name=metadata.name,
        )


def _first_and_step(image: Any, axis: Any, where: Where) -> tuple[float, float]:
    if axis not in image.coords or image.sizes[axis] == 0:
        return 0.0, 1.0
    values = np.asarray(image.coords[axis])
    if values.dtype.kind not in "iuf":
        raise InputError(f"must have numbers along {axis!r}, got {values.dtype}", **where)
    steps = np.diff(values.astype(np.float64))
    if not steps.size:
        return float(values[0]), 1.0
    step = float(steps.mean())
    if not (step != 0 and np.abs(steps - step).max() <= _UNEVEN * abs(step)):
        raise InputError(f"must have evenly spaced coordinates along {axis!r}", **where)
    return float(values[0]), step
