"""Find the objects in a rater's map: connected components of each label, or whole labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats, Mask
from itk_consensus.space.pieces import label_pieces

#: Definition of an object: a connected component of one label, or all voxels of one label.
ObjectKind = Literal["components", "labels"]
OBJECT_KINDS: tuple[ObjectKind, ...] = ("components", "labels")

Numbers = NDArray[np.int32]


class NumberedObjects(NamedTuple):
    """Objects of one map, numbered from 1 in the order of their first voxels."""

    places: Numbers  #: (*shape) number of the object at each voxel; 0 is background
    number: int


def number_objects(
    labels: NDArray[Any], kind: ObjectKind, marked: Mask | None = None
) -> NumberedObjects:
    """Number the objects of a map; the result does not depend on the label values.

    Parameters
    ----------
    labels : (\\*shape) ndarray
        Label map; 0 is background. Voxels are connected only along the last three axes.
    marked : (\\*shape) ndarray of bool, optional
        Voxels to consider; by default all.
    """
    if marked is not None:
        labels = np.where(marked, labels, 0)
    if kind == "labels":
        return _by_label(labels)
    pieces = label_pieces(labels)
    return NumberedObjects(pieces.places, pieces.number)


def _by_label(labels: NDArray[Any]) -> NumberedObjects:
    marked = labels != 0
    values = labels[marked]
    _, first, label = np.unique(values, return_index=True, return_inverse=True)
    number = np.empty(len(first), np.int32)
    number[np.argsort(first)] = np.arange(1, len(first) + 1)
    places = np.zeros(marked.shape, np.int32)
    places[marked] = number[label]
    return NumberedObjects(places, len(first))


@dataclass(frozen=True)
class RaterObjects:
    """The objects of all raters of one case, numbered consecutively from 1."""

    places: Numbers  #: (J, *shape) number of the object at each voxel; 0 is background
    rater: NDArray[np.int64]  #: (N,) rater of each object
    voxels: NDArray[np.int64]  #: (N,) size in voxels
    first: NDArray[np.int64]  #: (N,) flat index of each object's first voxel
    middle: Floats  #: (N, axes) mean index of each object's voxels
    #: (N,) rank by decreasing size, then by position; objects with identical voxels share a rank.
    rank: NDArray[np.int64]

    @classmethod
    def of(cls, maps: Sequence[NumberedObjects]) -> RaterObjects:
        """Number the objects of several raters consecutively."""
        shape = maps[0].places.shape
        places = np.stack([one.places for one in maps])
        facts = []
        begin = 0
        for own, (_, number) in zip(places, maps, strict=True):
            facts.append(_facts(own, number))
            own[own > 0] += begin
            begin += number
        columns = [np.concatenate(column) for column in zip(*facts, strict=True)]
        voxels, first, *sums, code = columns
        middle = np.stack(sums, axis=1) / np.maximum(voxels, 1)[:, None]
        rank = _ranks([-voxels, first, *sums, code])
        rater = np.repeat(np.arange(len(maps)), [one.number for one in maps])
        assert middle.shape[1] == len(shape)
        return cls(places, rater, voxels, first, middle, rank)

    @property
    def number(self) -> int:
        """Total number of objects over all raters, N."""
        return len(self.rater)

    @property
    def number_of_raters(self) -> int:
        """Number of raters, J."""
        return len(self.places)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the volume."""
        return self.places.shape[1:]


def _facts(places: Numbers, number: int) -> list[NDArray[Any]]:
    """Return each object's size, first voxel, sums of voxel indices, and hash.

    The 64-bit hash identifies the object's set of voxels.
    """
    flat = np.flatnonzero(places)
    own = places.reshape(-1)[flat] - 1
    first = np.zeros(number, np.int64)
    first[own[::-1]] = flat[::-1]  # In reverse order the last value written is the first voxel.
    sums = [np.bincount(own, axis, number) for axis in np.unravel_index(flat, places.shape)]
    code = np.zeros(number, np.uint64)
    np.add.at(code, own, hash_numbers(flat))
    return [np.bincount(own, minlength=number), first, *sums, code]


def hash_numbers(numbers: NDArray[np.integer[Any]]) -> NDArray[np.uint64]:
    """Hash integers with the finaliser of SplitMix64; the sum of the hashes identifies a set."""
    hashes = numbers.astype(np.uint64) + np.uint64(1)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        hashes = (hashes ^ (hashes >> np.uint64(shift))) * np.uint64(factor)
    return np.asarray(hashes ^ (hashes >> np.uint64(31)))


def _ranks(keys: Sequence[NDArray[Any]]) -> NDArray[np.int64]:
    """Return (N,) dense ranks of N key tuples; equal tuples share a rank."""
    order = np.lexsort(keys[::-1])
    differ = np.zeros(len(order), bool)
    for key in keys:
        differ[1:] |= key[order][1:] != key[order][:-1]
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.cumsum(differ)
    return ranks
