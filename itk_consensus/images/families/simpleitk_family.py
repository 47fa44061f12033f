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

_new_image: Any = sitk.Image  # SimpleITK annotates some of its functions, not these two
_compose: Any = sitk.Compose


#: Under this key ITK keeps what a NRRD file says its components are,
PIXEL_KIND = "NRRD_kinds[pixel]"
#: and NIfTI has types of its own for RGB and RGBA.
_COLOURS = {PIXEL_KIND: r".*-color", "datatype": r"128|2304"}


def _says_it_is_coloured(image: Any) -> bool:
    """Whether the file an image was read from says so; its type does not tell."""
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
        """View the voxels without a copy."""
        # GetArrayViewFromImage of a label map crashes, so the type is checked first.
        if image.GetPixelID() not in _READABLE_ID:
            raise InputError(
                f"must be {WHAT_AN_INPUT_IS}, got a SimpleITK image of "
                f"{image.GetPixelIDTypeAsString()}",
                **where,
            )
        if _says_it_is_coloured(image):
            raise InputError(
                f"must hold labels, got a colour image (RGB): {INSTEAD_OF_COLOURS}", **where
            )
        geometry = ImageGeometry(
            image.GetSize(), image.GetSpacing(), image.GetOrigin(), image.GetDirection()
        )
        view = keep_alive(_view_of(image), image)
        return ReadImage(split_components(view, geometry.dimension), geometry)

    def metadata(self, image: Any, keep: Keep) -> dict[str, str]:
        """Keys and values, as text."""
        return {
            _settable(key): _settable(value)
            for key in image.GetMetaDataKeys()
            # Asking for fifty values takes a while.
            if keep.asks_for(key) and keep(key, value := image.GetMetaData(key))
        }

    def allocate(self, dtype: npt.DTypeLike, like: LoadedImages) -> OutputImage:
        """Make an image and open its own memory for writing, so that no copy is needed."""
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
    """The voxels; of an image that shares them SimpleITK 2.5 would drop the metadata."""
    if image.IsUnique():
        return sitk.GetArrayViewFromImage(image)
    metadata = {key: image.GetMetaData(key) for key in image.GetMetaDataKeys()}
    image.MakeUnique()
    for key in metadata.keys() - set(image.GetMetaDataKeys()):
        image.SetMetaData(_settable(key), _settable(metadata[key]))
    return sitk.GetArrayViewFromImage(image)


def simpleitk_default(name: str) -> Any:
    """What users set for every filter of SimpleITK, such as "GlobalDefaultCoordinateTolerance"."""
    return getattr(sitk.ProcessObject, f"Get{name}")()


def _settable(text: str) -> str:
    """Text that SetMetaData takes: headers in Latin-1 are read as bytes that are not UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode(errors="surrogateescape").decode("latin-1")
    return text
