"""What the rest of the package sees of images: arrays, a geometry, and a place for the answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

import numpy as np
import numpy.typing as npt

from itk_consensus.images.geometry import ImageGeometry

Array = npt.NDArray[Any]


class Family(Enum):
    """The library an image belongs to; outputs are of the family of the first input."""

    SIMPLEITK = "a SimpleITK image"
    ITK = "an itk image"
    NIBABEL = "a nibabel image"
    XARRAY = "an xarray DataArray"
    METATENSOR = "a MetaTensor"
    TENSOR = "a torch tensor"
    NUMPY = "a NumPy array"
    ARRAY_LIKE = "an array"

    @property
    def has_space(self) -> bool:
        """Whether its images know where they lie; arrays and plain tensors do not."""
        return self not in (Family.TENSOR, Family.NUMPY, Family.ARRAY_LIKE)


@dataclass(frozen=True)
class LoadedImages:
    """The inputs of one Execute."""

    #: One read-only view per rater, None where a rater is missing. A vector image is one rater per
    #: component.
    arrays: tuple[Array | None, ...]
    geometry: ImageGeometry  #: Of the first input that is not missing
    family: Family
    #: What its family copied of that input's header, the metadata dictionary included.
    metadata: Any
    owners: tuple[Any, ...]  #: The inputs as given, missing ones included
    #: For each of `arrays`, where an input that can say so has a value; None: everywhere.
    annotated: tuple[Array | None, ...] = ()
    components: tuple[int, ...] = ()  #: How many of `arrays` each input is; 1 for a missing one

    @property
    def reference_index(self) -> int:
        """Index of the first input that is not missing: outputs take after it.

        0 once the inputs were let go.
        """
        return next((i for i, owner in enumerate(self.owners) if owner is not None), 0)

    def without_inputs(self) -> LoadedImages:
        """What outputs take after, without the caller's images."""
        return replace(self, arrays=(), owners=(), annotated=())


@dataclass(frozen=True)
class OutputImage:
    """An output being made: write every voxel of `array`, then take `image()`."""

    #: Of the shape and type asked for. It is the image's own memory wherever the family can hold
    #: that type, and its contents are undefined until written.
    array: Array
    image: Callable[[], Any]  #: Returns the image


class _OwnedMemory:
    def __init__(self, view: Array, owner: object, writable: bool) -> None:
        interface = view.__array_interface__
        address, _ = interface["data"]
        self.__array_interface__ = {**interface, "data": (address, not writable)}
        self.owner = owner


def keep_alive(view: Array, owner: object, *, writable: bool = False) -> Array:
    """The memory of `view` as an array that holds `owner`.

    SimpleITK and itk hand out arrays on memory they free with the image; here the array's own
    base keeps the image, so neither it nor a slice of it can outlive its voxels.
    """
    return np.asarray(_OwnedMemory(view, owner, writable))
