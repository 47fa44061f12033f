"""torch tensors, which have no place in space. torch is never imported here, only looked up."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from itk_consensus.errors import InputError
from itk_consensus.images.geometry import ArrayGeometry
from itk_consensus.images.image_family import (
    Array,
    ReadImage,
    WrappingFamily,
    loaded_class,
    real_numbers,
)


class TensorFamily(WrappingFamily):
    """torch.Tensor on any device; outputs go to the device of the first input."""

    def recognises(self, candidate: object) -> bool:
        """Whether `candidate` is a tensor."""
        tensor = loaded_class("torch", "Tensor")
        return tensor is not None and isinstance(candidate, tensor)

    def read(self, image: Any, where: str) -> ReadImage:
        """View the voxels, or copy them from their device."""
        array = tensor_voxels(image, where)
        return ReadImage([array], ArrayGeometry.of_shape(array.shape))

    def metadata(self, image: Any) -> Any:
        """The device."""
        return image.device

    def wrap(self, array: Array, metadata: Any, *, vector: bool = False) -> Any:
        """A tensor around the array, or a copy of it on another device."""
        return as_tensor(array, metadata)


def tensor_voxels(tensor: Any, where: str) -> Array:
    """The voxels of a tensor as a read-only array, without its gradient."""
    try:
        plain = tensor.detach().cpu()
        # NumPy has no bfloat16; every one of its values is a float32.
        array = (plain.float() if str(plain.dtype) == "torch.bfloat16" else plain).numpy()
    except (TypeError, RuntimeError) as error:
        raise InputError(f"{where} must be a dense tensor of real numbers: {error}") from error
    return real_numbers(array, where)


def as_tensor(array: Array, device: Any) -> Any:
    """The array as a tensor on a device."""
    return sys.modules["torch"].from_numpy(np.require(array, requirements=["C", "W"])).to(device)
