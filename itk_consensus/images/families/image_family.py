"""The interface of adapters for image libraries, and base classes for implementing it."""

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
    """The library to which an image belongs; outputs are of the family of the first input."""

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

    #: One read-only view per rater, None if a rater is missing. In a vector image, each component
    #: is a rater.
    arrays: tuple[Array | None, ...]
    geometry: ImageGeometry  #: Geometry of the first input that is not missing
    family: Family
    #: The family's copy of that input's header, including the metadata entries that may be kept.
    metadata: Any
    owners: tuple[Any, ...]  #: The inputs as given, including missing ones
    #: For each of `arrays`, a mask of the voxels that have a value; None stands for all voxels.
    annotated: tuple[Array | None, ...] = ()
    components: tuple[int, ...] = ()  #: Number of `arrays` per input; 1 for a missing one
    names: tuple[str, ...] = ()  #: Name of each input; () if the inputs have no names

    @property
    def reference_index(self) -> int:
        """Index of the first input that is not missing, from which outputs get their geometry.

        0 once the inputs have been released.
        """
        return next((i for i, owner in enumerate(self.owners) if owner is not None), 0)

    def without_inputs(self) -> LoadedImages:
        """Return a copy without the caller's images, with everything that outputs need."""
        return replace(self, arrays=(), owners=(), annotated=())


@dataclass(frozen=True)
class OutputImage:
    """An unfinished output: write every voxel of `array`, then call `image()`."""

    #: An uninitialised array of the requested shape and dtype. It is the image's own memory if the
    #: family supports that dtype.
    array: Array
    image: Callable[[], Any]  #: Returns the image


class _OwnedMemory:
    def __init__(self, view: Array, owner: object, writable: bool) -> None:
        interface = view.__array_interface__
        address, _ = interface["data"]
        self.__array_interface__ = {**interface, "data": (address, not writable)}
        self.owner = owner


def keep_alive(view: Array, owner: object, *, writable: bool = False) -> Array:
    """Return `view` as an array that holds a reference to `owner`.

    SimpleITK and itk return arrays on memory that is freed with the image. Here, the base of the
    array references the image, so that no slice of the array can outlive the voxels.
    """
    return np.asarray(_OwnedMemory(view, owner, writable))


#: End of the error message for an image whose components are colours.
INSTEAD_OF_COLOURS = "its components are colours, not raters; give one label image per rater"

WHAT_AN_INPUT_IS = "a scalar or vector image of integers or real numbers"


class ReadImage(NamedTuple):
    """One input: a read-only view per component, the geometry, and a mask of annotated voxels."""

    components: list[Array]
    geometry: ImageGeometry
    annotated: Array | None = None


class ImageFamily(Protocol):
    """The methods of an adapter."""

    def recognises(self, candidate: object) -> bool:
        """Whether `candidate` is an object of this library."""

    def read(self, image: Any, where: Where) -> ReadImage:
        """Return views of the voxels; raise an `InputError` about `where` if impossible."""

    def metadata(self, image: Any, keep: Keep) -> Any:
        """Copy the header for outputs, including the metadata entries that may be kept."""

    def allocate(self, dtype: npt.DTypeLike, like: LoadedImages) -> OutputImage:
        """Make an output with the geometry and metadata of `like`."""

    def to_image(self, array: Array, like: LoadedImages) -> Any:
        """Convert a finished array to an image with the geometry and metadata of `like`."""

    def to_vector_image(self, components: Sequence[Array], like: LoadedImages) -> Any:
        """Convert finished arrays to the components of one vector image."""


class CopyingFamily(ImageFamily, Protocol):
    """Base of adapters for libraries with their own image memory."""

    def to_image(self, array: Array, like: LoadedImages) -> Any:
        """Copy a finished array to a new image."""
        output = self.allocate(array.dtype.newbyteorder("="), like)
        output.array[...] = array
        return output.image()


class WrappingFamily:
    """Base of adapters for libraries whose images wrap an array."""

    #: Module and name of the library's image class; the module is not imported.
    image_class: ClassVar[tuple[str, str]] = ("", "")

    def recognises(self, candidate: object) -> bool:
        """Whether `candidate` is of that class; False if its module was never imported."""
        module, name = self.image_class
        found = getattr(sys.modules.get(module), name, None)
        return isinstance(found, type) and isinstance(candidate, found)

    def allocate(self, dtype: npt.DTypeLike, like: LoadedImages) -> OutputImage:
        """Make an array of the shape of `like`, to be wrapped after it has been written."""
        array = np.empty(like.geometry.shape, dtype)
        return OutputImage(array, lambda: self.wrap(array, like.metadata))

    def to_image(self, array: Array, like: LoadedImages) -> Any:
        """Wrap the array, converted to C order and native byte order where necessary.

        A read-only array is copied, since it may be a view of a caller's input.
        """
        native = None if array.dtype.isnative else array.dtype.newbyteorder("=")
        return self.wrap(np.require(array, native, ["C", "W"]), like.metadata)

    def to_vector_image(self, components: Sequence[Array], like: LoadedImages) -> Any:
        """Stack the components along a last axis, and wrap the result."""
        return self.wrap(np.stack(components, axis=-1), like.metadata, vector=True)

    def wrap(self, array: Array, metadata: Any, *, vector: bool = False) -> Any:
        """Wrap this array in an image; for a vector image, its last axis holds the components."""
        raise NotImplementedError


def as_real_numbers(array: Array, where: Where) -> Array:
    """Return a read-only plain ndarray; raise unless the array holds booleans or real numbers."""
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
    """Return one view per component; a vector image has an additional last axis for them."""
    if view.ndim == dimension:
        return [view]
    return [view[..., component] for component in range(view.shape[-1])]


def stored_type(dtype: npt.DTypeLike) -> np.dtype[Any]:
    """Return the pixel type for values of `dtype`; image libraries store booleans as uint8."""
    wanted = np.dtype(dtype)
    return np.dtype(np.uint8) if wanted == np.bool_ else wanted
