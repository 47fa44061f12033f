"""SimpleITK images."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import SimpleITK as sitk

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

_INTEGERS = [f"{kind}{bits}" for kind in ("UInt", "Int") for bits in (8, 16, 32, 64)]
_PIXELS = [*_INTEGERS, "Float32", "Float64"]
_PIXEL_ID = {np.dtype(name.lower()): getattr(sitk, f"sitk{name}") for name in _PIXELS}
_VECTOR_ID = {getattr(sitk, f"sitkVector{name}") for name in _PIXELS}
_READABLE_ID = {*_PIXEL_ID.values(), *_VECTOR_ID}

_new_image: Any = sitk.Image  # SimpleITK has no type annotations for these two functions
_compose: Any = sitk.Compose


#: ITK's metadata key for the kind of a NRRD file's components.
PIXEL_KIND = "NRRD_kinds[pixel]"
#: Metadata of colour images: of NRRD files, and of NIfTI files of the types RGB and RGBA.
_COLOURS = {PIXEL_KIND: r".*-color", "datatype": r"128|2304"}


def _is_marked_as_colour(image: Any) -> bool:
    """Whether metadata of the image's file mark it as RGB, which its pixel type does not show."""
    return image.GetNumberOfComponentsPerPixel() > 1 and any(
        image.HasMetaDataKey(key) and re.fullmatch(words, image.GetMetaData(key))
        for key, words in _COLOURS.items()
    )


class SimpleITKFamily(CopyingFamily):
    """SimpleITK.Image, scalar or vector."""

    def recognises(self, candidate: object) -> bool:
        """Whether `candidate` is a SimpleITK image."""
        return isinstance(candidate, sitk.Image)

    def read(self, image: Any, where: Where) -> ReadImage:
        """Return views of the voxels without copying."""
        # GetArrayViewFromImage crashes for a LabelMap image, so the type is checked first.
        if image.GetPixelID() not in _READABLE_ID:
            raise InputError(
                f"must be {WHAT_AN_INPUT_IS}, got a SimpleITK image of "
                f"{image.GetPixelIDTypeAsString()}",
                **where,
            )
        if _is_marked_as_colour(image):
            raise InputError(
                f"must hold labels, got a colour image (RGB): {INSTEAD_OF_COLOURS}", **where
            )
        geometry = ImageGeometry(
            image.GetSize(), image.GetSpacing(), image.GetOrigin(), image.GetDirection()
        )
        view = keep_alive(_view_of(image), image)
        return ReadImage(split_components(view, geometry.dimension), geometry)

    def metadata(self, image: Any, keep: Keep) -> dict[str, str]:
        """Copy the metadata entries to keep, as text."""
        return {
            _as_utf8(key): _as_utf8(value)
            for key in image.GetMetaDataKeys()
            # Reading values is slow, so it is avoided if the key alone is sufficient.
            if keep.needs_value(key) and keep(key, value := image.GetMetaData(key))
        }

    def allocate(self, dtype: npt.DTypeLike, like: LoadedImages) -> OutputImage:
        """Make an image and a writable view of its memory, so that no copy is needed."""
        pixel_type = stored_type(dtype)
        if pixel_type not in _PIXEL_ID:
            raise InputError(f"allocate: a SimpleITK image cannot hold values of type {pixel_type}")
        geometry = like.geometry
        image = _new_image(geometry.size, _PIXEL_ID[pixel_type])
        image.SetSpacing(geometry.spacing)
        image.SetOrigin(geometry.origin)
        image.SetDirection(geometry.direction)
        for key, value in like.metadata.items():
            image.SetMetaData(key, value)
        memory = keep_alive(sitk.GetArrayViewFromImage(image), image, writable=True)
        return OutputImage(memory.view(dtype), lambda: image)

    def to_vector_image(self, components: Sequence[Array], like: LoadedImages) -> Any:
        """Compose one image, and set the metadata, which composing drops."""
        image = _compose([self.to_image(component, like) for component in components])
        for key, value in like.metadata.items():
            image.SetMetaData(key, value)
        return image


def _view_of(image: Any) -> Any:
    """View the voxels, without loss of metadata.

    SimpleITK 2.5 drops metadata when it copies the voxels of an image that shares them.
    """
    if image.IsUnique():
        return sitk.GetArrayViewFromImage(image)
    metadata = {key: image.GetMetaData(key) for key in image.GetMetaDataKeys()}
    image.MakeUnique()
    for key in metadata.keys() - set(image.GetMetaDataKeys()):
        image.SetMetaData(_as_utf8(key), _as_utf8(metadata[key]))
    return sitk.GetArrayViewFromImage(image)


def simpleitk_default(name: str) -> Any:
    """Get a global default of SimpleITK's filters, such as "GlobalDefaultCoordinateTolerance"."""
    return getattr(sitk.ProcessObject, f"Get{name}")()


def _as_utf8(text: str) -> str:
    """Make a text valid UTF-8, as SetMetaData requires; Latin-1 headers yield surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode(errors="surrogateescape").decode("latin-1")
    return text
