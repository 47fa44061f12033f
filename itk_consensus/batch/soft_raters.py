"""Raters with probabilities: one file with all classes, one file per class, or nnU-Net's files.

Each becomes an `ImageFile` whose image is a list with one image per class and whose component is
the map of the most likely label, so that code that describes raters also works for probabilities.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.errors import FileError, InputError
from itk_consensus.fusing.label_fusion import LabelFusionFilter
from itk_consensus.images import convert
from itk_consensus.images.files import read_quietly, volumes_of
from itk_consensus.images.geometry import ImageGeometry
from itk_consensus.images.network_outputs import is_network_output, read_network_output
from itk_consensus.methods.registry import METHODS
from itk_consensus.report.image_file import ImageFile
from itk_consensus.votes.class_probabilities import has_fractions, most_probable_class, sum_to_one

#: Extensions of nnU-Net's label maps, which are stored beside the probabilities.
_LABEL_MAPS = (".nii.gz", ".nii", ".nrrd", ".mha")


def takes_probabilities(fuser: type[LabelFusionFilter]) -> bool:
    """Whether a method accepts probabilities as inputs."""
    return fuser.takes_probabilities or fuser.soft_inputs


def soft_raters(files: Sequence[ImageFile], classes: int | None) -> list[ImageFile]:
    """Group files into raters: one file with all classes each, or `classes` files each."""
    if classes is None:
        return [_of_one_file(file) for file in files]
    if len(files) % classes:
        raise InputError(
            f"--classes {classes} needs {classes} consecutive files for each rater, got "
            f"{len(files)} files"
        )
    groups = [files[at : at + classes] for at in range(0, len(files), classes)]
    return [_of_class_files(group) for group in groups]


def read_rater(path: Path, image: Any = None) -> ImageFile:
    """Read a rater's file.

    The geometry of a network's probabilities is taken from its label map in the same folder or, if
    there is none, from the image.
    """
    if not is_network_output(path):
        return ImageFile.of(path, read_quietly(path)[0])
    label_map = network_label_map(path)
    like = image if label_map is None else read_quietly(label_map)[0]
    if like is None:
        raise FileError(
            "has no geometry: put nnU-Net's label map of the same name into its folder, or give "
            "the network's input image by --images",
            path=path,
        )
    return network_rater(path, ImageFile.of(path, like))


def network_label_map(path: Path) -> Path | None:
    """Return the label map that nnU-Net wrote beside its probabilities; None if it is missing."""
    candidates = (path.with_name(f"{path.stem}{ending}") for ending in _LABEL_MAPS)
    return next((file for file in candidates if file.is_file()), None)


def network_rater(path: Path, like: ImageFile) -> ImageFile:
    """Read nnU-Net's probabilities as a rater; the geometry is taken from an image."""
    probabilities = read_network_output(path, like.geometry.shape)
    loaded = convert.load(like.image, owner=str(like.path))
    images = [convert.to_image(one, loaded) for one in probabilities]
    return _rater(replace(like, path=path, image=images), list(probabilities))


def soft_methods() -> str:
    """Return the methods that accept probabilities, formatted as a command-line option."""
    names = [name for name, one in METHODS.items() if one.takes_probabilities]
    return f"--method {', '.join(names)} or vote"


def require_labels(files: Sequence[ImageFile], method: str) -> None:
    """Raise an `InputError` that names suitable methods if a file holds probabilities."""
    for file in files:
        if any(has_fractions(array) for array in file.components):
            raise InputError(
                f"holds fractions, as probabilities do, but {method} needs labels: give "
                f"{soft_methods()}, or threshold it first",
                path=file.path,
            )


def fused_space(file: ImageFile) -> ImageGeometry:
    """Return the geometry of the fused result, without a fourth axis that holds the classes."""
    is_series = not any(has_fractions(array) for array in file.components)
    return file.geometry if is_series else file.geometry.first_axes(3)


def _of_one_file(file: ImageFile) -> ImageFile:
    arrays = file.components
    if not any(has_fractions(array) for array in arrays):
        return file
    if len(arrays) > 1:
        return _rater(file, arrays)
    if file.geometry.dimension == 4:
        images = volumes_of(file.image)
        geometry = convert.load(images[0], owner=str(file.path)).geometry
        return _rater(replace(file, image=images, geometry=geometry), list(arrays[0]))
    foreground = np.asarray(arrays[0] >= 0.5).view(np.uint8)
    return replace(file, components=(foreground,))


def _of_class_files(files: Sequence[ImageFile]) -> ImageFile:
    for file in files:
        if len(file.components) != 1:
            raise InputError(
                f"must hold one class, got {len(file.components)} components", path=file.path
            )
    opinion = [file.components[0] for file in files]
    return _rater(replace(files[0], image=[file.image for file in files]), opinion)


def _rater(file: ImageFile, opinion: Sequence[NDArray[Any]]) -> ImageFile:
    if len({array.shape for array in opinion}) > 1 or not sum_to_one(opinion):
        raise InputError(
            f"must hold probabilities of classes, but its {len(opinion)} classes do not sum to 1",
            path=file.path,
        )
    return replace(file, components=(most_probable_class(opinion),))
