"""Convert images to arrays with one geometry, and arrays back to images of the same family."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from itk_consensus.core.errors import InputError, Where
from itk_consensus.images.families.image_family import (
    INSTEAD_OF_COLOURS,
    Array,
    ImageFamily,
    ReadImage,
)
from itk_consensus.images.families.image_family import Family as Family
from itk_consensus.images.families.image_family import LoadedImages as LoadedImages
from itk_consensus.images.families.image_family import OutputImage as OutputImage
from itk_consensus.images.geometry import ArrayGeometry, check_same_space
from itk_consensus.images.kept_metadata import Keep
from itk_consensus.votes.intensities import intensity_reason

#: Library, module and class of each family's adapter, tried in this order: a MetaTensor is also a
#: tensor, and nearly everything is array-like. An adapter is imported only if its library has been
#: imported.
_ADAPTERS = {
    Family.SIMPLEITK: ("SimpleITK", "simpleitk_family", "SimpleITKFamily"),
    Family.NUMPY: ("numpy", "array_family", "ArrayFamily"),
    Family.ITK: ("itk", "itk_family", "ItkFamily"),
    Family.NIBABEL: ("nibabel", "nibabel_family", "NibabelFamily"),
    Family.XARRAY: ("xarray", "xarray_family", "XarrayFamily"),
    Family.METATENSOR: ("monai", "tensor_family", "MetaTensorFamily"),
    Family.TENSOR: ("torch", "tensor_family", "TensorFamily"),
    Family.ARRAY_LIKE: ("numpy", "array_family", "ArrayLikeFamily"),
}


@cache
def _adapter(family: Family) -> ImageFamily:
    _, module, name = _ADAPTERS[family]
    adapter: ImageFamily = getattr(import_module(f"itk_consensus.images.families.{module}"), name)()
    return adapter


#: Called with an input that looks like an intensity image although labels are expected, and with
#: the reason.
Suspect = Callable[[Where, str], None]


def load(
    images: Any,
    *,
    owner: str,
    keep: Keep | str = Keep.ALL_BUT_IDENTITY,
    suspect: Suspect | None = None,
    **tolerances: float,
) -> LoadedImages:
    """View the voxels of every input, and check that all inputs lie in the same space.

    Parameters
    ----------
    images : image, or iterable of image, ndarray or None
        Images of any `Family`; None stands for a missing rater; in a vector image, each component
        is a rater. Families may be mixed, except images with arrays, which have no geometry.
    owner : str
        Name of the filter, for error messages.
    keep : Keep
        Metadata of the first input that the outputs keep.
    suspect : callable, optional
        Called for each input that looks like an intensity image instead of labels.
    tolerances : float
        Passed to `check_same_space`.

    Raises
    ------
    InputError
        There are no images, or an input is not an image of real numbers.
    GeometryError
        Images differ in size or physical space.
    """
    loaded = load_with_gaps(images, owner=owner, keep=keep, suspect=suspect, **tolerances)
    for index, annotated in enumerate(loaded.annotated):
        _reject_gaps(annotated, Where(owner=owner, input_index=index))
    return loaded


def load_with_gaps(
    images: Any,
    *,
    owner: str,
    keep: Keep | str = Keep.ALL_BUT_IDENTITY,
    suspect: Suspect | None = None,
    **tolerances: float,
) -> LoadedImages:
    """Load inputs like `load`, but accept masked arrays: callers must use `annotated`."""
    names = tuple(map(str, images)) if isinstance(images, Mapping) else ()
    inputs = as_list(images, owner)
    present = {index: image for index, image in enumerate(inputs) if image is not None}
    if not present:
        raise InputError("needs at least one image, but every input is None (missing)", owner=owner)
    places = {i: Where(owner=owner, input_index=i) for i in present}
    families = {i: _family_of(image, places[i]) for i, image in present.items()}
    _reject_arrays_among_images(families, owner)
    read = {i: _read(image, families[i], places[i]) for i, image in present.items()}
    _reject_colours({i: image for i, image in read.items() if len(read) > 1}, owner)
    geometries = [image.geometry for image in read.values()]
    check_same_space(geometries, [f"input {i}" for i in read], owner=owner, **tolerances)
    if suspect is not None:
        for i, image in read.items():
            _report_intensities(image, places[i], suspect)
    first = next(iter(present))
    return LoadedImages(
        arrays=tuple(
            array
            for i in range(len(inputs))
            for array in (read[i].components if i in read else [None])
        ),
        geometry=read[first].geometry,
        family=families[first],
        metadata=_adapter(families[first]).metadata(present[first], Keep(keep)),
        owners=tuple(inputs),
        components=tuple(len(read[i].components) if i in read else 1 for i in range(len(inputs))),
        annotated=tuple(
            mask
            for i in range(len(inputs))
            for mask in ([read[i].annotated] * len(read[i].components) if i in read else [None])
        ),
        names=names,
    )


def load_one(
    image: Any,
    like: LoadedImages,
    *,
    owner: str,
    parameter: str,
    suspect: Suspect | None = None,
    **tolerances: float,
) -> Array:
    """View one more scalar image (a mask, a prior, an intensity image) in the space of `like`.

    Returns
    -------
    ndarray, shape ``like.geometry.shape``, read-only
        A view that keeps its image alive.
    """
    (component,) = load_channels(
        image, like, owner=owner, parameter=parameter, scalar=True, **tolerances
    )
    if suspect is not None and (why := intensity_reason(component)):
        suspect(Where(owner=owner, parameter=parameter), why)
    return component


def load_channels(
    image: Any,
    like: LoadedImages,
    *,
    owner: str,
    parameter: str,
    scalar: bool = False,
    **tolerances: float,
) -> tuple[Array, ...]:
    """View the components of one more image in the space of `like`, as `load_one` does."""
    where = Where(owner=owner, parameter=parameter)
    family = _family_of(image, where)
    if family.has_space != like.family.has_space:
        raise InputError(
            f"must be {'an image' if like.family.has_space else 'an array'} "
            f"like the inputs, got {family.value}",
            **where,
        )
    read = _read(image, family, where)
    if scalar and len(read.components) != 1:
        raise InputError(f"must be a scalar image, got {len(read.components)} components", **where)
    _reject_gaps(read.annotated, where)
    names = [f"input {like.reference_index}", parameter]
    check_same_space([like.geometry, read.geometry], names, owner=owner, **tolerances)
    return tuple(read.components)


def allocate(dtype: npt.DTypeLike, like: LoadedImages) -> OutputImage:
    """Make an output of the family, geometry and metadata of `like` that a kernel can write to."""
    return _adapter(like.family).allocate(dtype, like)


def make_image(write: Callable[[Array], Any], dtype: npt.DTypeLike, like: LoadedImages) -> Any:
    """Make an image of the family, geometry and metadata of `like`; `write` fills its voxels."""
    output = allocate(dtype, like)
    write(output.array)
    return output.image()


def to_image(array: Array, like: LoadedImages) -> Any:
    """Convert a finished array to an image of the family, geometry and metadata of `like`.

    If the values have not been computed yet, `allocate` avoids this copy.
    """
    return _adapter(like.family).to_image(array, like)


def unit_image(array: Array) -> Any:
    """Convert an array to a SimpleITK image with unit spacing, zero origin, identity direction."""
    geometry = ArrayGeometry.of_shape(array.shape)
    return to_image(array, LoadedImages((), geometry, Family.SIMPLEITK, {}, ()))


def to_vector_image(components: Sequence[Array], like: LoadedImages) -> Any:
    """Convert finished arrays to the components of one vector image; otherwise like `to_image`."""
    return _adapter(like.family).to_vector_image(components, like)


def as_list(images: Any, owner: str) -> list[Any]:
    """Normalise the inputs of a filter (an image, a list, a mapping or an iterator) to a list."""
    if isinstance(images, Mapping):
        images = list(images.values())
    if not isinstance(images, (list, tuple)):
        images = _output_of(images)
    family = None if isinstance(images, (list, tuple)) else _find_family(images)
    if family is not None and not family.has_space:
        raise InputError(
            f"needs a list of images, got one array of shape {np.shape(images)}; "
            "pass list(a) if the first axis is the rater",
            owner=owner,
        )
    # Images and strings can also be iterated, by voxel and by character, but are single inputs.
    if family is not None or isinstance(images, (str, bytes, os.PathLike)):
        return [images]
    if not isinstance(images, Iterable):
        raise InputError(f"needs a list of images, got {_describe(images)}", owner=owner)
    inputs = [_output_of(image) for image in images]
    if not inputs:
        raise InputError("needs at least one image, got none", owner=owner)
    return inputs


def _output_of(candidate: Any) -> Any:
    """Return the output image of an itk reader or filter; anything else unchanged."""
    return candidate.GetOutput() if callable(getattr(candidate, "GetOutput", None)) else candidate


def are_chunked(images: Any) -> bool:
    """Whether any input is a dask array; does not import dask."""
    lazy = getattr(sys.modules.get("dask.array"), "Array", None)
    if lazy is None:
        return False
    if isinstance(images, Mapping):
        images = list(images.values())
    return isinstance(images, lazy) or (
        isinstance(images, (list, tuple)) and any(isinstance(image, lazy) for image in images)
    )


def has_components(image: Any, where: Where) -> bool:
    """Whether images of this image's family can be vector images."""
    return _family_of(image, where) in (
        Family.SIMPLEITK,
        Family.ITK,
        Family.METATENSOR,
        Family.NIBABEL,
    )


def _find_family(candidate: object) -> Family | None:
    for family, (library, _, _) in _ADAPTERS.items():
        if library in sys.modules and _adapter(family).recognises(candidate):
            return family
    return None


def _family_of(image: object, where: Where) -> Family:
    family = _find_family(image)
    if family is None:
        raise InputError(
            f"must be an image of SimpleITK, itk, nibabel or xarray, a tensor or an array, "
            f"got {_describe(image)}",
            **where,
        )
    return family


def _describe(thing: object) -> str:
    if isinstance(thing, (str, bytes, os.PathLike)):
        return f"the path {os.fspath(thing)!r}; read it first, e.g. with SimpleITK.ReadImage"
    return type(thing).__name__


def _read(image: Any, family: Family, where: Where) -> ReadImage:
    read = _adapter(family).read(image, where)
    if 0 in read.geometry.size:
        raise InputError(f"has no voxels: {read.geometry.extent}", **where)
    return read


def _reject_arrays_among_images(families: dict[int, Family], owner: str) -> None:
    first, family = next(iter(families.items()))
    for index, other in families.items():
        if other.has_space != family.has_space:
            raise InputError(
                f"is {family.value} but input {index} is {other.value}; an array has no geometry "
                "to compare, so pass either images or arrays",
                owner=owner,
                input_index=first,
            )


def _reject_colours(read: dict[int, ReadImage], owner: str) -> None:
    """Raise if one of several images has three or four uint8 components: RGB(A), not raters.

    A single image of this type is interpreted as one rater per component, as every vector image.
    """
    for index, image in read.items():
        if len(image.components) in (3, 4) and image.components[0].dtype == np.uint8:
            raise InputError(
                f"must hold labels, got an image of {len(image.components)} bytes per voxel, as "
                f"RGB has: {INSTEAD_OF_COLOURS}",
                owner=owner,
                input_index=index,
            )


def _report_intensities(image: ReadImage, where: Where, suspect: Suspect) -> None:
    for component in image.components:
        if why := intensity_reason(component, spares_fractions=True):
            suspect(where, why)
            return


def _reject_gaps(annotated: Array | None, where: Where) -> None:
    if annotated is not None:
        raise InputError("must not be a masked array: pass its .filled(label)", **where)
