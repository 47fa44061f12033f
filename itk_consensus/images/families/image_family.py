"""The interface between the package and image libraries, which adapters implement."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from itk_consensus.core.errors import InputError, Where
from itk_consensus.images.geometry import ImageGeometry
from itk_consensus.images.kept_metadata import Keep

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
        """Whether its images have a geometry; arrays and plain tensors do not."""
        return self not in (Family.TENSOR, Family.NUMPY, Family.ARRAY_LIKE)


@dataclass(frozen=True)
class LoadedImages:
    """The inputs of one Execute."""

    #: One read-only view per rater, None where a rater is missing. A vector image is one rater per
    #: component.
    arrays: tuple[Array | None, ...]
    geometry: ImageGeometry  #: Of the first input that is not missing
    family: Family
    #: What its family copied of that input's header, and of its metadata what may be kept.
    metadata: Any
    owners: tuple[Any, ...]  #: The inputs as given, missing ones included
    #: For each of `arrays`, where an input that can say so has a value; None: everywhere.
    annotated: tuple[Array | None, ...] = ()
    components: tuple[int, ...] = ()  #: How many of `arrays` each input is; 1 for a missing one
    names: tuple[str, ...] = ()  #: What each input is called; () if they have no names

    @property
    def reference_index(self) -> int:
        """Index of the first input that is not missing, whose geometry outputs have.

        0 once the inputs were released.
        """
        return next((i for i, owner in enumerate(self.owners) if owner is not None), 0)

    def without_inputs(self) -> LoadedImages:
        """What outputs need, without the caller's images."""
        return replace(self, arrays=(), owners=(), annotated=())


@dataclass(frozen=True)
class OutputImage:
    """An output in the making: write every voxel of `array`, then call `image()`."""

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

    SimpleITK and itk return arrays on memory that is freed with the image; here the array's base
    holds the image, so that no slice of it can outlive the voxels.
    """
    return np.asarray(_OwnedMemory(view, owner, writable))


#: What to do with an image whose components are colours, not raters.
INSTEAD_OF_COLOURS = "its components are colours, not raters; give one label image per rater"

WHAT_AN_INPUT_IS = "a scalar or vector image of integers or real numbers"


class ReadImage(NamedTuple):
    """One input: a read-only view per component, where it lies, and where it has a value."""

    components: list[Array]
    geometry: ImageGeometry
    annotated: Array | None = None


class ImageFamily(Protocol):
    """The methods of an adapter."""

    def recognises(self, candidate: object) -> bool:
        """Whether `candidate` is an object of this library."""

    def read(self, image: Any, where: Where) -> ReadImage:
        """View the voxels; `where` is for the `InputError` if that is impossible."""

    def metadata(self, image: Any, keep: Keep) -> Any:
        """Copy what an output takes over, and of the metadata dictionary what may be kept."""

    def allocate(self, dtype: npt.DTypeLike, like: LoadedImages) -> OutputImage:
        """Make an output with the geometry and metadata of `like`."""

    def to_image(self, array: Array, like: LoadedImages) -> Any:
        """Turn a finished array into an image with the geometry and metadata of `like`."""

    def to_vector_image(self, components: Sequence[Array], like: LoadedImages) -> Any:
        """Turn finished arrays into one image with a component each."""


class CopyingFamily(ImageFamily, Protocol):
    """Base of adapters for libraries with their own image memory."""

    def to_image(self, array: Array, like: LoadedImages) -> Any:
        """Copy a finished array, once, into a new image."""
        output = self.allocate(array.dtype.newbyteorder("="), like)
        output.array[...] = array
        return output.image()


class WrappingFamily:
    """Base of adapters for libraries whose images wrap an array."""

    #: Module and name of the class of a library's images; nothing is imported for it.
    image_class: ClassVar[tuple[str, str]] = ("", "")

    def recognises(self, candidate: object) -> bool:
        """Whether `candidate` is of that class; if it was never imported, it is not."""
        module, name = self.image_class
        found = getattr(sys.modules.get(module), name, None)
        return isinstance(found, type) and isinstance(candidate, found)

    def allocate(self, dtype: npt.DTypeLike, like: LoadedImages) -> OutputImage:
        """Make an array of the shape of `like`, to be wrapped once it is written."""
        array = np.empty(like.geometry.shape, dtype)
        return OutputImage(array, lambda: self.wrap(array, like.metadata))

    def to_image(self, array: Array, like: LoadedImages) -> Any:
        """Wrap the array itself, in C order and native bytes.

        A read-only array is copied: it may be a view of a caller's input.
        """
        native = None if array.dtype.isnative else array.dtype.newbyteorder("=")
        return self.wrap(np.require(array, native, ["C", "W"]), like.metadata)

    def to_vector_image(self, components: Sequence[Array], like: LoadedImages) -> Any:
        """Stack the components on a last axis, where image libraries keep them."""
        return self.wrap(np.stack(components, axis=-1), like.metadata, vector=True)

    def wrap(self, array: Array, metadata: Any, *, vector: bool = False) -> Any:
        """An image around this array, whose last axis holds the components of a vector image."""
        raise NotImplementedError


def real_numbers(array: Array, where: Where) -> Array:
    """The array, read-only and of NumPy's own class; an `InputError` if it is not of numbers."""
    if array.dtype.kind not in "biuf" or array.ndim == 0:
        raise InputError(
            f"must be an array of booleans, integers or real numbers, "
            f"got a {array.ndim}-dimensional array of {array.dtype}",
            **where,
        )
    view = array.view(np.ndarray)
    view.flags.writeable = False
    return view


def split_components(view: Array, dimension: int) -> list[Array]:
    """One view per component; libraries keep components on a last axis, scalars without one."""
    if view.ndim == dimension:
        return [view]
    return [view[..., component] for component in range(view.shape[-1])]


def stored_type(dtype: npt.DTypeLike) -> np.dtype[Any]:
    """The pixel type for values of `dtype`: image libraries keep booleans as bytes."""
    wanted = np.dtype(dtype)
    return np.dtype(np.uint8) if wanted == np.bool_ else wanted
