"""Restrict the votes on an object's outline to the raters who found it.

A rater who missed an object provides no information about its border. Every voxel is assigned to
the cell of one object: the object that most raters marked there, or the nearest one. Raters who did
not find an object are treated as missing in its cell. A single fusion of masks, by any fuser, then
outlines all objects, and touching objects stay separate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from itk_consensus.core.array_types import Mask
from itk_consensus.methods.lesions.matching import LesionGroups
from itk_consensus.methods.lesions.objects import Numbers, RaterObjects
from itk_consensus.space.boxes import in_space

#: Spacing between time points in mm, longer than any volume, so that the nearest voxel is always in
#: the same volume.
_FAR = 1e6


@dataclass(frozen=True)
class RelabelledMaps:
    """The raters' maps, relabelled by lesion group."""

    maps: Numbers  #: (J, *shape) group + 1 at each voxel; 0 is background
    cells: Numbers  #: (*shape) group + 1 that most raters marked; 0 where no rater marked any


def relabel_maps(objects: RaterObjects, groups: LesionGroups) -> RelabelledMaps:
    """Replace each mark by its group.

    Each voxel of a mark that belongs to several groups is assigned to the group that most other
    raters marked there.
    """
    own = np.zeros(objects.number + 1, np.int32)
    number, mark = groups.members[::-1].T
    # A mark in several groups is first assigned to one of them.
    own[mark + 1] = number + 1
    several = np.bincount(mark, minlength=objects.number) > 1
    places = objects.places
    maps = own[places]
    alone = np.where(np.append(False, several)[places], 0, maps) if several.any() else maps
    cells = _majority_groups(alone, maps)
    if several.any():
        shared = np.append(False, several)[places]
        belongs = scipy.sparse.csr_array(
            (np.ones(len(mark), bool), (mark, number)), (objects.number, groups.number)
        )
        for drawn, marks, is_shared in zip(maps, places, shared, strict=True):
            where = np.nonzero(is_shared)
            seen = cells[where]
            fits = np.asarray(belongs[marks[where] - 1, np.maximum(seen, 1) - 1]).reshape(-1)
            drawn[where] = np.where(fits & (seen > 0), seen, drawn[where])
    return RelabelledMaps(maps, cells)


def _majority_groups(maps: Numbers, all_maps: Numbers) -> Numbers:
    """Return the (\\*shape) group that most maps contain at each voxel; the lowest on ties."""
    none = np.iinfo(np.int32).max
    flat = maps.reshape(len(maps), -1)
    cells: Numbers = flat.max(axis=0)
    lowest = np.where(flat > 0, flat, none).min(axis=0)
    several = np.flatnonzero(lowest < cells)
    marked = flat[:, several]
    votes = np.stack([((marked == row) & (row > 0)).sum(axis=0) for row in marked])
    cells[several] = np.where(votes == votes.max(axis=0), marked, none).min(axis=0)
    if all_maps is not maps:
        # Voxels at which every mark belongs to several groups.
        cells = np.where(cells > 0, cells, all_maps.reshape(len(maps), -1).max(axis=0))
    return cells.reshape(maps.shape[1:])


def nearest_cells(cells: Numbers, kept: Mask, spacing: Sequence[float]) -> Numbers:
    """Return a (\\*shape) map of the nearest kept group + 1; 0 if no group is kept.

    Parameters
    ----------
    cells : (\\*shape) ndarray of int
        Group + 1 at each voxel; 0 is background.
    kept : (G,) ndarray of bool
    spacing : sequence of float
        Voxel size in mm, in array order.
    """
    known = np.append(False, kept)[cells]
    if not known.any():
        return np.zeros_like(cells)
    nearest = scipy.ndimage.distance_transform_edt(
        ~known,
        sampling=in_space(list(spacing), _FAR),
        return_distances=False,
        return_indices=True,
    )
    return np.asarray(cells[tuple(nearest)])


def finder_masks(cells: Numbers, found: Mask) -> list[NDArray[np.uint8] | None]:
    """Return one mask per rater: 0 in the cells of objects that the rater missed, 1 elsewhere.

    None represents a mask of ones.

    Parameters
    ----------
    cells : (\\*shape) ndarray of int
        Result of `nearest_cells`.
    found : (G, J) ndarray of bool
        Whether each rater found each object.
    """
    occurs = np.unique(cells[cells > 0]) - 1
    asked = np.concatenate([np.ones((1, found.shape[1]), np.uint8), found.astype(np.uint8)])
    return [
        None if found[occurs, rater].all() else column[cells]
        for rater, column in enumerate(np.ascontiguousarray(asked.T))
    ]
