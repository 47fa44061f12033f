"""torch tensors, which have no geometry, and MONAI's MetaTensors, which have an affine.

Neither library is ever imported here, only looked up in sys.modules.
"""

from __future__ import annotations

import sys
from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np

from itk_consensus.core.errors import InputError, Where
from itk_consensus.images.families.affine import geometry_of_affine
from itk_consensus.images.families.image_family import (
    Array,
    ReadImage,
    WrappingFamily,
    as_real_numbers,
)
from itk_consensus.images.geometry import ArrayGeometry
from itk_consensus.images.kept_metadata import Keep


class TensorFamily(WrappingFamily):
    """torch.Tensor on any device; outputs go to the device of the first input."""

    image_class = ("torch", "Tensor")

    def read(self, image: Any, where: Where) -> ReadImage:
        """View the voxels, or copy them to the host from another device."""
        array = tensor_voxels(image, where)
        return ReadImage([array], ArrayGeometry.of_shape(array.shape))

    def metadata(self, image: Any, keep: Keep) -> Any:
        """Return the device."""
        return image.device

    def wrap(self, array: Array, metadata: Any, *, vector: bool = False) -> Any:
        """Wrap the array in a tensor, or copy it to another device."""
        return as_tensor(array, metadata)


def tensor_voxels(tensor: Any, where: Where) -> Array:
    """Return the voxels of a tensor as a read-only array, detached from the graph."""
    try:
        plain = tensor.detach().cpu()
        # NumPy has no bfloat16; float32 can represent all its values.
        array = (plain.float() if str(plain.dtype) == "torch.bfloat16" else plain).numpy()
    except (TypeError, RuntimeError) as error:
        raise InputError(f"must be a dense tensor of real numbers: {error}", **where) from error
    return as_real_numbers(array, where)


def as_tensor(array: Array, device: Any) -> Any:
    """Convert an array to a tensor on a device."""
    return sys.modules["torch"].from_numpy(np.require(array, requirements=["C", "W"])).to(device)


class TensorHeader(NamedTuple):
    """All data of a MetaTensor except its voxels."""

    make: type[Any]
    meta: dict[str, Any]  #: Metadata, including the affine
    applied_operations: list[Any]
    has_channel: bool
    device: Any


class MetaTensorFamily(WrappingFamily):
    """MetaTensor with spatial axes (x, y, z), optionally preceded by a channel axis.

    A tensor with one axis more than its affine has a channel axis, whose channels are components.
    Outputs have a channel axis if the first input has one.
    """

    image_class = ("monai.data.meta_tensor", "MetaTensor")

    def read(self, image: Any, where: Where) -> ReadImage:
        """Return views of the voxels with axes reversed to ITK's (z, y, x)."""
        rank = len(image.affine) - 1
        if image.affine.ndim != 2 or image.ndim > rank + 1:
            raise InputError(
                f"must be one MetaTensor of spatial axes, with or without a channel axis "
                f"before them, got shape {tuple(image.shape)} with an affine of shape "
                f"{tuple(image.affine.shape)}; take batches apart (monai.data.decollate_batch)",
                **where,
            )
        voxels = tensor_voxels(image.as_tensor(), where)
        channels = list(voxels) if _has_channel(image) else [voxels]
        geometry = geometry_of_affine(
            image.affine.cpu().numpy(),
            image.shape[_has_channel(image) :],
            where,
            ras="LPS" not in str(image.meta.get("space", "RAS")),
        )
        return ReadImage([channel.T for channel in channels], geometry)

    def metadata(self, image: Any, keep: Keep) -> TensorHeader:
        """Copy the affine, the applied transforms, and the other metadata that may be kept."""
        space = {"space": image.meta.get("space")}  # whether the affine is RAS or LPS
        meta = {"affine": image.affine, **Keep.DESCRIPTION.of(space), **keep.of(image.meta)}
        return TensorHeader(
            type(image),
            deepcopy({key: value for key, value in meta.items() if value is not None}),
            deepcopy(image.applied_operations),
            _has_channel(image),
            image.device,
        )

    def wrap(self, array: Array, metadata: TensorHeader, *, vector: bool = False) -> Any:
        """Convert the array to a MetaTensor, with axes reversed again."""
        channels = np.moveaxis(array, -1, 0) if vector else array[None]
        turned = channels.transpose(0, *range(channels.ndim - 1, 0, -1))
        voxels = turned if vector or metadata.has_channel else turned[0]
        return metadata.make(
            as_tensor(voxels, metadata.device),
            meta=deepcopy(metadata.meta),
            applied_operations=deepcopy(metadata.applied_operations),
        )


def _has_channel(image: Any) -> bool:
    return bool(image.ndim == len(image.affine))
