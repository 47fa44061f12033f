"""Named structures of one reader: their masks, names and files' other words about them.

Structures may overlap, so each has a mask of its own; that is what tells them from label maps.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import SimpleITK as sitk
from numpy.typing import NDArray

from itk_consensus.core.errors import GeometryError, InputError
from itk_consensus.images.geometry import ImageGeometry

#: How far, in voxels, a mask's grid may lie beside the one it is put on.
_LARGEST_SHIFT = 1e-2

#: What the name of a structure of undecided voxels ends in.
UNDECIDED = "undecided"

#: Letters that DICOM has room for in the name of a structure.
LONGEST_NAME = 64

_resample: Any = sitk.Resample


class Code(NamedTuple):
    """What something is, in a coding scheme: ("SCT", "10200004", "Liver")."""

    scheme: str
    value: str
    meaning: str


#: What editors call everything that was given no meaning.
TISSUE = Code("SCT", "85756007", "Tissue")


@dataclass(frozen=True)
class Structure:
    """One structure as one rater outlined it."""

    name: str
    #: SimpleITK image of uint8; 1 inside, 0 outside; with a missing label where the reader did not
    #: annotate.
    mask: Any = field(repr=False)
    color: tuple[float, float, float] | None = None  #: (red, green, blue) from 0 to 1, or None
    #: category and kind: terminology, "Anatomical Structure" and "Liver", for example.
    category: Code | None = None
    kind: Code | None = None
    #: Whatever else the file says, by the file's own names, to be written again.
    details: Mapping[str, str] = field(default_factory=dict, repr=False)


def geometry_of(image: Any) -> ImageGeometry:
    """The grid of a SimpleITK image."""
    return ImageGeometry(
        image.GetSize(), image.GetSpacing(), image.GetOrigin(), image.GetDirection()
    )


def voxels_of(mask: Any) -> NDArray[Any]:
    """The voxels of a mask, as a view that lives as long as the mask."""
    return np.asarray(sitk.GetArrayViewFromImage(mask))


def mask_of(array: Any, like: Any) -> Any:
    """A mask on the grid of an image."""
    mask = sitk.GetImageFromArray(np.ascontiguousarray(array, np.uint8))
    mask.CopyInformation(like)
    return mask


def as_structures(given: Sequence[Structure] | Mapping[str, Any], owner: str) -> list[Structure]:
    """What writers take, structures or a mapping of name to image, as structures."""
    if isinstance(given, Mapping):
        given = [Structure(name, image) for name, image in given.items()]
    if not given:
        raise InputError("there are no structures to write", owner=owner)
    for one in given:
        # A line break ends a field of a file, a backslash a value of DICOM's.
        if not one.name.isprintable() or "\\" in one.name or not one.name.strip():
            raise InputError(
                f"{one.name!a} cannot be the name of a structure; rename it", owner=owner
            )
    return list(given)


def inside_of(structure: Structure, owner: str) -> NDArray[np.bool_]:
    """Where a mask is 1; what is neither 0 nor 1 must not become background unnoticed."""
    array = sitk.GetArrayViewFromImage(structure.mask)
    inside: NDArray[np.bool_] = array == 1
    others = np.count_nonzero(~inside & (array != 0))
    if others:
        raise InputError(
            f"{structure.name} has {others} voxels that are neither inside (1) nor "
            "outside (0), undecided or not annotated; separate_undecided makes them a structure of "
            "their own, or give the fuser a TieRule that decides",
            owner=owner,
        )
    return inside


def separate_undecided(structures: Sequence[Structure]) -> list[Structure]:
    """The same structures, each followed by its voxels that are neither 0 nor 1, if it has any.

    Those are voxels that a fuser left undecided or a reader did not annotate; they become a
    structure of their own, "liver undecided", so that a file keeps them.
    """
    separated = []
    taken = {one.name for one in structures}
    for one in structures:
        array = sitk.GetArrayViewFromImage(one.mask)
        inside = array == 1
        others = ~inside & (array != 0)
        separated.append(replace(one, mask=mask_of(inside, one.mask)))
        if others.any():
            twin = _free_name(f"{one.name} {UNDECIDED}", taken)
            separated.append(Structure(twin, mask_of(others, one.mask)))
    return separated


def short_names(structures: Sequence[Structure], most: int) -> list[str]:
    """A name of at most so many letters for each structure; no two become the same."""
    taken = {one.name for one in structures if len(one.name) <= most}
    return [
        one.name if len(one.name) <= most else _free_name(one.name, taken, most)
        for one in structures
    ]


def _free_name(name: str, taken: set[str], most: int | None = None) -> str:
    """The name cut to `most` letters, and numbered if it is taken; now it is taken, too."""
    # What tells a twin from its structure is at the end.
    twin = f" {UNDECIDED}" if re.search(rf" {UNDECIDED}( \d+)?$", name) else ""
    stem = re.sub(rf" {UNDECIDED}( \d+)?$", "", name)
    for number in itertools.count(1):
        end = twin if number == 1 else f"{twin} {number}"
        # Blanks at the end get lost in DICOM.
        found = (stem if most is None else stem[: most - len(end)].rstrip()) + end
        if found not in taken:
            taken.add(found)
            return found
    raise AssertionError("there is always another number")


def put_on_grid(structure: Structure, like: Any, owner: str) -> Structure:
    """The structure on the whole grid of `like`, of which its own grid must be a part."""
    mask = structure.mask
    here, there = geometry_of(like), geometry_of(mask)
    if not here.differences(there, 1e-6, 1e-6):
        return structure
    corner = np.array(like.TransformPhysicalPointToContinuousIndex(there.origin))
    is_part = (
        np.allclose(here.spacing, there.spacing, rtol=1e-4, atol=0)
        and np.allclose(here.direction, there.direction, atol=1e-4)
        and np.abs(corner - np.rint(corner)).max() < _LARGEST_SHIFT
    )
    if not is_part:
        raise GeometryError(
            f"{structure.name} lies on another grid (spacing {there.spacing}, origin "
            f"{there.origin}) than the image (spacing {here.spacing}, origin {here.origin})",
            owner=owner,
        )
    placed = _resample(mask, like, sitk.Transform(), sitk.sitkNearestNeighbor, 0)
    if np.count_nonzero(sitk.GetArrayViewFromImage(placed)) != np.count_nonzero(
        sitk.GetArrayViewFromImage(mask)
    ):
        raise GeometryError(f"{structure.name} reaches beyond the image it belongs to", owner=owner)
    return replace(structure, mask=placed)
