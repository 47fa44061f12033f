"""Who votes on an object's outline: those who found it, and nobody else near it.

A reader who overlooked an object says nothing about its border. Every voxel belongs to the object
that most readers see there, or to the nearest one; in an object's cell who did not find it is
silent. So one fusion of masks, by any fuser, draws all objects, and those that touch stay apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from itk_consensus.core.array_types import Mask
from itk_consensus.methods.lesions.matching import LesionGroups
from itk_consensus.methods.lesions.objects import Numbers, ReaderObjects
from itk_consensus.space.boxes import in_space

#: Longer than any volume, in mm: what lies in another time is never the nearest.
_FAR = 1e6


@dataclass(frozen=True)
class MatchedMaps:
    """The readers' maps with the numbers of groups instead of their own."""

    maps: Numbers  #: (J, *shape) group + 1; 0 is background
    cells: Numbers  #: (*shape) the group + 1 that most see there; 0 where nobody marked


def matched_maps(objects: ReaderObjects, groups: LesionGroups) -> MatchedMaps:
    """Write each mark's group; what a mark joins is divided as the others see it."""
    own = np.zeros(objects.number + 1, np.int32)
    number, mark = groups.members[::-1].T
    # A mark of several groups takes the first for now.
    own[mark + 1] = number + 1
    several = np.bincount(mark, minlength=objects.number) > 1
    places = objects.places
    maps = own[places]
    alone = np.where(np.append(False, several)[places], 0, maps) if several.any() else maps
    cells = _most_seen(alone, maps)
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
    return MatchedMaps(maps, cells)


def _most_seen(maps: Numbers, all_maps: Numbers) -> Numbers:
    """(\\*shape) the group that most maps have; of equally many the first."""
    none = np.iinfo(np.int32).max
    flat = maps.reshape(len(maps), -1)
    cells: Numbers = flat.max(axis=0)
    lowest = np.where(flat > 0, flat, none).min(axis=0)
    several = np.flatnonzero(lowest < cells)
    said = flat[:, several]
    votes = np.stack([((said == row) & (row > 0)).sum(axis=0) for row in said])
    cells[several] = np.where(votes == votes.max(axis=0), said, none).min(axis=0)
    if all_maps is not maps:
        # Where only marks of several groups lie.
        cells = np.where(cells > 0, cells, all_maps.reshape(len(maps), -1).max(axis=0))
    return cells.reshape(maps.shape[1:])


def nearest_cells(cells: Numbers, kept: Mask, spacing: Sequence[float]) -> Numbers:
    """(\\*shape) at every voxel the nearest kept group + 1; 0 if none is kept.

    Parameters
    ----------
    kept : (G,) ndarray of bool
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


def silent_readers(cells: Numbers, found: Mask) -> list[NDArray[np.uint8] | None]:
    """For each reader 1 where it is asked, 0 in cells of what it did not find; None: everywhere.

    Parameters
    ----------
    cells : (\\*shape) ndarray of int
        Of `nearest_cells`.
    found : (G, J) ndarray of bool
    """
    occurs = np.unique(cells[cells > 0]) - 1
    asked = np.concatenate([np.ones((1, found.shape[1]), np.uint8), found.astype(np.uint8)])
    return [
        None if found[occurs, reader].all() else column[cells]
        for reader, column in enumerate(np.ascontiguousarray(asked.T))
    ]
