"""Images of itk, ITK's own Python package.

itk is imported inside the functions, which are called only if there is an itk object.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from itk_consensus.core.errors import InputError, Where
from itk_consensus.images.families.image_family import (
    INSTEAD_OF_COLOURS,
    WHAT_AN_INPUT_IS,
    Array,
    CopyingFamily,
    LoadedImages,
    OutputImage,
    ReadImage,
    keep_alive,
    split_components,
    stored_type,
)
from itk_consensus.images.geometry import ImageGeometry
from itk_consensus.images.kept_metadata import Keep

_INTEGERS = ("uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64")
_EXACT_RANGES = {
    **{name: (int(np.iinfo(name).min), int(np.iinfo(name).max)) for name in _INTEGERS},
    "float64": (-(2**53), 2**53),
}


class Header(NamedTuple):
    """All data of an itk image except its voxels."""

    region: Any
    spacing: tuple[float, ...]
    origin: tuple[float, ...]
    direction: Array
    dictionary: Any


class ItkFamily(CopyingFamily):
    """itk.Image and itk.VectorImage, of every pixel type and dimension that itk wraps."""

    def recognises(self, candidate: object) -> bool:
        """Whether `candidate` is an object of itk; does not import itk."""
        if isinstance(candidate, np.ndarray):  # itk's own views of images are arrays
            return False
        return any(base.__module__.split(".")[0] == "itk" for base in type(candidate).__mro__)

    def read(self, image: Any, where: Where) -> ReadImage:
        """Return views of the voxels after updating the pipeline that computes them."""
        import itk

        unreadable = InputError(f"must be {WHAT_AN_INPUT_IS}, got {type(image).__name__}", **where)
        if not isinstance(image, itk.ImageBase):
            raise unreadable
        if itk.template(image)[1][0] in (itk.RGBPixel[itk.UC], itk.RGBAPixel[itk.UC]):
            raise InputError(
                f"must hold labels, got a colour image (RGB): {INSTEAD_OF_COLOURS}", **where
            )
        source = image.GetSource()
        if source:
            source.UpdateLargestPossibleRegion()
        if 0 in tuple(image.GetBufferedRegion().GetSize()):
            raise InputError(
                "has no voxels; call Update() on the filter that makes it, and keep that filter",
                **where,
            )
        try:
            view = keep_alive(_pixels(image), image)
        except RuntimeError:
            raise unreadable from None
        geometry = _geometry(image)
        return ReadImage(split_components(view, geometry.dimension), geometry)

    def metadata(self, image: Any, keep: Keep) -> Header:
        """Copy the header, with a MetaDataDictionary of the entries to keep."""
        import itk

        dictionary = itk.MetaDataDictionary(image.GetMetaDataDictionary())
        for key in dictionary.GetKeys():
            if not keep(key, dictionary[key]):
                dictionary.Erase(key)
        return Header(
            itk.ImageRegion[image.GetImageDimension()](image.GetBufferedRegion()),
            tuple(image.GetSpacing()),
            tuple(image.GetOrigin()),
            np.asarray(image.GetDirection()).copy(),
            dictionary,
        )

    def allocate(self, dtype: npt.DTypeLike, like: LoadedImages) -> OutputImage:
        """Make an image and a writable view of its memory.

        itk owns the voxels: an image around a NumPy array (itk.image_view_from_array) loses them
        once only a filter references it. For dtypes that itk does not wrap, an array is written and
        then cast to the next wider type that itk wraps.
        """
        pixel_type = stored_type(dtype)
        image_class = _image_class(pixel_type, like.geometry.dimension)
        if image_class is None and pixel_type.kind not in "iu":
            raise InputError(f"allocate: an itk image cannot hold values of type {pixel_type}")
        if image_class is None:
            scratch = np.empty(like.geometry.shape, dtype)
            return OutputImage(scratch, lambda: self.to_image(_widen(scratch), like))
        image = image_class.New()
        _copy_header(image, like)
        memory = keep_alive(_pixels(image), image, writable=True)
        return OutputImage(memory.view(dtype), lambda: image)

    def to_vector_image(self, components: Sequence[Array], like: LoadedImages) -> Any:
        """Compose one image, and set the metadata, which composing drops."""
        import itk

        image = itk.compose_image_filter(*[self.to_image(c, like) for c in components])
        image.SetMetaDataDictionary(like.metadata.dictionary)
        return image


def _pixels(image: Any) -> Array:
    """View the voxels without keeping them alive; raise RuntimeError if they are not real."""
    import itk

    shape = tuple(image.GetBufferedRegion().GetSize())[::-1]
    if 0 in shape:
        return np.empty(shape)
    if itk.template(image)[1][0] is itk.B:  # the only scalar type itk.PyBuffer does not support
        address = ctypes.cast(int(image.GetBufferPointer()), ctypes.POINTER(ctypes.c_bool))
        return np.ctypeslib.as_array(address, shape)
    pixels: Array = itk.array_view_from_image(image, update=False)
    return pixels


def _geometry(image: Any) -> ImageGeometry:
    region = image.GetBufferedRegion()
    first_voxel = image.TransformIndexToPhysicalPoint(region.GetIndex())
    return ImageGeometry(
        tuple(int(extent) for extent in region.GetSize()),
        tuple(float(step) for step in image.GetSpacing()),
        tuple(float(coordinate) for coordinate in first_voxel),
        tuple(np.asarray(image.GetDirection()).ravel().tolist()),
    )


def _copy_header(image: Any, like: LoadedImages) -> None:
    """Give a new image the region, physical space and metadata of the first input."""
    # like.geometry is not used: a cropped image starts at a non-zero index, and itk's own filters
    # accept the output together with its input only if both start there.
    header: Header = like.metadata
    image.SetRegions(header.region)
    image.SetSpacing(header.spacing)
    image.SetOrigin(header.origin)
    image.SetDirection(header.direction)
    image.SetMetaDataDictionary(header.dictionary)
    image.Allocate()


@cache
def _image_class(pixel_type: np.dtype[Any], dimension: int) -> Any:
    """Return the itk.Image class for a pixel type; None if the installed itk does not wrap it."""
    import itk

    # itk takes 15 seconds to reject a type that is not wrapped, so look it up instead.
    for image_class, *_ in itk.PyBuffer.keys():  # noqa: SIM118 - a template, not a dict
        template, (pixel, image_dimension, *_) = itk.template(image_class)
        if (template, image_dimension) == (itk.Image, dimension):
            dtype = getattr(pixel, "dtype", None)
            # Vector pixels have no dtype, and NumPy treats None as float64.
            if dtype is not None and dtype == pixel_type:
                return image_class
    return None


def _widen(integers: Array) -> Array:
    """Cast to the next wider type that itk wraps and that can represent all of these values."""
    values = (int(integers.min()), int(integers.max()))
    for lowest, highest in (_EXACT_RANGES[integers.dtype.name], values):
        for name, (smallest, largest) in _EXACT_RANGES.items():
            if (
                np.dtype(name).itemsize >= integers.dtype.itemsize
                and smallest <= lowest
                and highest <= largest
                and _image_class(np.dtype(name), integers.ndim) is not None
            ):
                return integers.astype(name)
    raise InputError(
        f"allocate: an itk image cannot hold the {integers.dtype} values {values[0]} to {values[1]}"
    )
