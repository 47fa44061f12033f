"""Named structures of one rater: masks, names, colours, codes and other fields of their files.

Unlike the labels of a label map, structures may overlap, so each has its own mask.
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

#: Maximum offset, in voxels, between a mask's grid and the grid to which it is resampled.
_LARGEST_SHIFT = 1e-2

#: Suffix of the name of a structure of undecided voxels.
UNDECIDED = "undecided"

#: Maximum length of the name of a structure in DICOM.
LONGEST_NAME = 64

_resample: Any = sitk.Resample


class Code(NamedTuple):
    """A code from a terminology, such as ("SCT", "10200004", "Liver")."""

    scheme: str
    value: str
    meaning: str


#: The default code of editors, which has no specific meaning.
TISSUE = Code("SCT", "85756007", "Tissue")


@dataclass(frozen=True)
class Structure:
    """One structure as outlined by one rater."""

    name: str
    #: SimpleITK image of uint8: 1 inside, 0 outside, and another value at voxels that the rater did
    #: not annotate.
    mask: Any = field(repr=False)
    color: tuple[float, float, float] | None = None  #: (red, green, blue) from 0 to 1, or None
    #: category and kind are codes, such as "Anatomical Structure" and "Liver".
    category: Code | None = None
    kind: Code | None = None
    #: All other fields of the file, keyed by their names there; they are preserved on writing.
    details: Mapping[str, str] = field(default_factory=dict, repr=False)


def geometry_of(image: Any) -> ImageGeometry:
    """Return the grid of a SimpleITK image."""
    return ImageGeometry(
        image.GetSize(), image.GetSpacing(), image.GetOrigin(), image.GetDirection()
    )


def voxels_of(mask: Any) -> NDArray[Any]:
    """Return a view of the voxels of a mask, which is valid as long as the mask exists."""
    return np.asarray(sitk.GetArrayViewFromImage(mask))


def mask_of(array: Any, like: Any) -> Any:
    """Make a mask on the grid of an image."""
    mask = sitk.GetImageFromArray(np.ascontiguousarray(array, np.uint8))
    mask.CopyInformation(like)
    return mask


def as_structures(given: Sequence[Structure] | Mapping[str, Any], owner: str) -> list[Structure]:
    """Convert a writer's argument (structures, or a mapping of names to images)."""
    if isinstance(given, Mapping):
        given = [Structure(name, image) for name, image in given.items()]
    if not given:
        raise InputError("there are no structures to write", owner=owner)
    for one in given:
        # Line breaks separate fields in files, backslashes separate values in DICOM.
        if not one.name.isprintable() or "\\" in one.name or not one.name.strip():
            raise InputError(
                f"{one.name!a} cannot be the name of a structure: it must be printable, without "
                "backslashes, and not blank; rename it",
                owner=owner,
            )
    return list(given)


def inside_of(structure: Structure, owner: str) -> NDArray[np.bool_]:
    """Return the mask of the voxels with value 1; raise if there are values other than 0 and 1."""
    array = sitk.GetArrayViewFromImage(structure.mask)
    inside: NDArray[np.bool_] = array == 1
    others = np.count_nonzero(~inside & (array != 0))
    if others:
        raise InputError(
            f"{structure.name} has {others} voxels that are neither inside (1) nor "
            "outside (0) but undecided or not annotated; separate_undecided makes them a separate "
            "structure, or set a TieRule that decides them",
            owner=owner,
        )
    return inside


def separate_undecided(structures: Sequence[Structure]) -> list[Structure]:
    """Move voxels that are neither 0 nor 1 to separate structures, which follow their originals.

    These are voxels that a filter left undecided or a rater did not annotate; they become
    a structure such as "liver undecided", so that a file preserves them.
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
    """Shorten names to at most `most` characters, keeping them distinct."""
    taken = {one.name for one in structures if len(one.name) <= most}
    return [
        one.name if len(one.name) <= most else _free_name(one.name, taken, most)
        for one in structures
    ]


def _free_name(name: str, taken: set[str], most: int | None = None) -> str:
    """Truncate a name to `most` characters, number it if it is taken, and add it to `taken`."""
    # The suffix that distinguishes undecided voxels from their structure must be kept.
    twin = f" {UNDECIDED}" if re.search(rf" {UNDECIDED}( \d+)?$", name) else ""
    stem = re.sub(rf" {UNDECIDED}( \d+)?$", "", name)
    for number in itertools.count(1):
        end = twin if number == 1 else f"{twin} {number}"
        # DICOM strips trailing spaces.
        found = (stem if most is None else stem[: most - len(end)].rstrip()) + end
        if found not in taken:
            taken.add(found)
            return found
    raise AssertionError("there is always another number")


def put_on_grid(structure: Structure, like: Any, owner: str) -> Structure:
    """Extend a structure to the grid of `like`, of which its own grid must be a part."""
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
        raise GeometryError(f"{structure.name} extends beyond the segmented image", owner=owner)
    return replace(structure, mask=placed)
