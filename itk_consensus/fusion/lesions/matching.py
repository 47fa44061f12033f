"""Which marks of different readers are one object.

1. Two readers' marks match if they share a good part of the smaller one; two small ones, which a
   little shift can part, if their surfaces are near.
2. Groups grow from the pairs with the most overlap on. A group takes at most one mark of a reader,
   and two groups join only if at least half of the pairs between them match.
3. Where one reader has two marks and others one around both, the majority says what it is: one
   object, which that reader split, or two, which the others joined. Equal numbers leave two.
   Readers who part it differently have one voice together: what is two parts in one place.

Ties go by size and then by place, never by the number of a reader or an object.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from itk_consensus.array_types import Floats, Mask
from itk_consensus.fusion.lesions.objects import ReaderObjects
from itk_consensus.neighbourhood.boxes import in_space, voxel_sides

#: Share of the smaller mark from which two overlap enough to be one object.
LEAST_SHARED = 0.25

#: Share of a mark from which another one covers it.
COVERING = 0.5

#: Intersection over union from which two readers part an object alike.
ALIKE = 0.5

#: A mark is small if its diameter, as of a ball, is at most so many distances at which surfaces
#: are near.
SMALL = 2.0

#: Columns of readers' marks that are compared at a time.
_VOXELS_AT_ONCE = 1 << 22


@dataclass(frozen=True)
class LesionGroups:
    """Marks that are one object, group by group; the best found first, then by size."""

    #: (M, 2) group and object number - 1 of each mark, sorted. A mark that joins two groups is in
    #: both.
    members: NDArray[np.int64]
    number: int  #: G
    found: Mask  #: (G, J) who marked it
    #: (G, J) by how many marks; more than 1: that reader split it.
    marks: NDArray[np.int64]
    joined: Mask  #: (G, J) whose mark holds another group's object too
    voxels: NDArray[np.int64]  #: (G, J) that each reader marked of it; joined ones count whole
    middle: Floats  #: (G, axes) mean index, of its readers' alike
    overlap: Floats  #: (G,) mean Dice between the marks of every two readers; NaN of one reader's

    @property
    def split(self) -> Mask:
        """(G, J) who has several marks for it."""
        return np.asarray(self.marks > 1)


class _Pairs(NamedTuple):
    """Pairs of marks of different readers, objects from 0."""

    one: NDArray[np.int64]
    other: NDArray[np.int64]
    shared: NDArray[np.int64]  #: Voxels


def match_objects(
    objects: ReaderObjects, spacing: Sequence[float], distance: float | None = None
) -> LesionGroups:
    """Group the marks of all readers.

    Parameters
    ----------
    spacing : sequence of float
        Voxel sides in mm, in array order.
    distance : float, optional
        In mm, between the nearest voxels of two small marks that are one object; the diagonal of a
        voxel, if it is not given: they touch.
    """
    if distance is None:
        distance = float(np.sqrt(np.square(voxel_sides(spacing)).sum()))
    pairs = shared_voxels(objects)
    smaller = np.minimum(objects.voxels[pairs.one], objects.voxels[pairs.other])
    total = objects.voxels[pairs.one] + objects.voxels[pairs.other]
    matching = pairs.shared >= LEAST_SHARED * smaller
    near = _near_pairs(objects, pairs, spacing, distance)
    one = np.concatenate([pairs.one[matching], near.one])
    other = np.concatenate([pairs.other[matching], near.other])
    overlap = (pairs.shared / (total - pairs.shared))[matching]
    order = _by_overlap(objects, one, other, np.concatenate([overlap, near.score]))
    groups = _grown(objects, one[order].tolist(), other[order].tolist())
    return _groups(objects, pairs, _settle_splits(objects, pairs, groups))


def shared_voxels(objects: ReaderObjects) -> _Pairs:
    """Voxels that every two marks share, in one pass: voxels in a row with equal marks are one."""
    columns = objects.places.reshape(objects.number_of_readers, -1)
    shape = (objects.number, objects.number)
    total = scipy.sparse.csr_array(shape, dtype=np.int64)
    for begin in range(0, columns.shape[1], _VOXELS_AT_ONCE):
        part = columns[:, begin : begin + _VOXELS_AT_ONCE]
        part = part[:, np.count_nonzero(part, axis=0) > 1]
        if not part.shape[1]:
            continue
        news = np.append(True, (part[:, 1:] != part[:, :-1]).any(axis=0))
        starts = np.flatnonzero(news)
        lengths = np.diff(np.append(starts, part.shape[1]))
        reader, run = np.nonzero(part[:, starts])
        marks = part[reader, starts[run]] - 1
        size = (len(starts), objects.number)
        incidence = scipy.sparse.csr_array((np.ones(len(run), np.int64), (run, marks)), size)
        weighted = scipy.sparse.csr_array((lengths[run], (run, marks)), size)
        total = total + incidence.T @ weighted
    pairs = scipy.sparse.triu(total, 1).tocoo()
    return _Pairs(pairs.row.astype(np.int64), pairs.col.astype(np.int64), pairs.data)


class _NearPairs(NamedTuple):
    one: NDArray[np.int64]
    other: NDArray[np.int64]
    score: Floats  #: Below every overlap; the nearest first


def _near_pairs(
    objects: ReaderObjects, pairs: _Pairs, spacing: Sequence[float], distance: float
) -> _NearPairs:
    """Small marks of different readers that share no voxel and are near."""
    sides = voxel_sides(spacing)
    content = objects.voxels * float(np.prod(sides))
    ball = {1: 2.0, 2: np.pi, 3: 4 / 3 * np.pi}[len(sides)]
    small = 2 * (content / ball) ** (1 / len(sides)) <= SMALL * distance
    nothing = np.zeros(0, np.int64)
    if np.count_nonzero(small) < 2 or not distance:
        return _NearPairs(nothing, nothing, np.zeros(0))
    small_marks = np.append(False, small)[objects.places] & (objects.places > 0)
    places = np.nonzero(small_marks)
    marks = objects.places[places].astype(np.int64) - 1
    # Nothing is near at another time.
    steps = in_space(list(spacing), 10 * distance)
    points = np.stack([axis * step for axis, step in zip(places[1:], steps, strict=True)], axis=1)
    tree = scipy.spatial.cKDTree(points)
    near = tree.query_pairs(distance * (1 + 1e-9), output_type="ndarray")
    gap = np.sqrt(np.square(points[near[:, 0]] - points[near[:, 1]]).sum(axis=1))
    both = np.sort(marks[near], axis=1)
    differ = objects.reader[both[:, 0]] != objects.reader[both[:, 1]]
    codes, where = np.unique(both[differ] @ [objects.number, 1], return_inverse=True)
    nearest = np.full(len(codes), np.inf)
    np.minimum.at(nearest, where, gap[differ])
    new = ~np.isin(codes, pairs.one * objects.number + pairs.other)
    one, other = np.divmod(codes[new], objects.number)
    return _NearPairs(one, other, -np.rint(nearest[new] / distance * 1e6))


def _by_overlap(
    objects: ReaderObjects,
    one: NDArray[np.int64],
    other: NDArray[np.int64],
    overlap: Floats,
) -> NDArray[np.intp]:
    """The order of pairs: the most overlap first, then by size and place."""
    ranks = np.sort(np.stack([objects.rank[one], objects.rank[other]]), axis=0)
    return np.lexsort((ranks[1], ranks[0], -overlap))


def _grown(objects: ReaderObjects, one: list[int], other: list[int]) -> list[list[int]]:
    """Groups of marks, each with at most one mark of a reader."""
    matching = set(zip(one, other, strict=True))
    reader = objects.reader.tolist()
    group = list(range(objects.number))
    members = {number: [number] for number in group}
    readers = {number: {reader[number]} for number in group}
    for pair in zip(one, other, strict=True):
        first, second = (group[mark] for mark in pair)
        if first == second or not readers[first].isdisjoint(readers[second]):
            continue
        between = [(a, b) for a in members[first] for b in members[second]]
        known = sum((a, b) in matching or (b, a) in matching for a, b in between)
        if 2 * known < len(between):
            continue
        moved = members.pop(second)
        readers[first] |= readers.pop(second)
        members[first] += moved
        for mark in moved:
            group[mark] = first
    return list(members.values())


def _settle_splits(
    objects: ReaderObjects, pairs: _Pairs, groups: list[list[int]]
) -> list[list[int]]:
    """Join what one reader split; put the mark of who joined two into both."""
    group = np.zeros(objects.number, np.int64)
    for number, members in enumerate(groups):
        group[members] = number
    covering = _covering(objects, pairs)
    covering = covering[group[covering[:, 0]] != group[covering[:, 1]]]
    around: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for large, small in covering.tolist():
        around.setdefault((int(group[large]), int(group[small])), []).append((large, small))
    rank, reader = objects.rank, objects.reader

    def place(key: tuple[int, int]) -> tuple[int, ...]:
        return tuple(sorted(int(rank[mark]) for number in key for mark in groups[number]))

    readers = [{int(reader[mark]) for mark in members} for members in groups]
    settled = [list(members) for members in groups]
    alike = _alike(objects, pairs) if around else set()
    gone: set[int] = set()
    for whole, part in sorted(around, key=lambda key: (-len(around[key]), place(key))):
        apart = readers[whole] & readers[part]
        if not apart or gone & {whole, part}:
            continue
        joining = {large for large, _ in around[whole, part] if reader[large] not in apart}
        covered = {small for _, small in around[whole, part]}
        if not joining or 2 * len(covered) < len(groups[part]):
            continue
        parts = [mark for mark in groups[part] if int(reader[mark]) in apart]
        if len(joining) > _voices(parts, alike):
            settled[whole] += settled[part]
            settled[part] = []
            gone.add(part)
        else:
            settled[part] += sorted(joining - set(settled[part]))
    return [members for members in settled if members]


def _alike(objects: ReaderObjects, pairs: _Pairs) -> set[tuple[int, int]]:
    """Pairs of marks that are nearly the same."""
    total = objects.voxels[pairs.one] + objects.voxels[pairs.other] - pairs.shared
    alike = pairs.shared >= ALIKE * total
    return set(zip(pairs.one[alike].tolist(), pairs.other[alike].tolist(), strict=True))


def _voices(marks: Sequence[int], alike: set[tuple[int, int]]) -> int:
    """How many of some marks are like one of them, itself included."""
    return max(sum(a == b or (min(a, b), max(a, b)) in alike for b in marks) for a in marks)


def _covering(objects: ReaderObjects, pairs: _Pairs) -> NDArray[np.int64]:
    """(P, 2) a mark, and a smaller one of another reader that it covers."""
    both = np.stack([pairs.one, pairs.other], axis=1)
    voxels, rank = objects.voxels[both], objects.rank[both]
    # By size and then by place. Equal ones are one group, and cover each other's parts nowhere.
    larger = np.where(rank[:, 0] <= rank[:, 1], 0, 1)
    rows = np.arange(len(both))
    covers = pairs.shared >= COVERING * voxels[rows, 1 - larger]
    return np.asarray(np.stack([both[rows, larger], both[rows, 1 - larger]], axis=1)[covers])


def _groups(objects: ReaderObjects, pairs: _Pairs, groups: list[list[int]]) -> LesionGroups:
    """Number groups and sum up who marked them."""
    number, readers = len(groups), objects.number_of_readers
    group = np.repeat(np.arange(number), [len(members) for members in groups])
    mark = np.array([mark for members in groups for mark in members], np.int64)
    reader = objects.reader[mark]
    marks = np.zeros((number, readers), np.int64)
    voxels = np.zeros((number, readers), np.int64)
    np.add.at(marks, (group, reader), 1)
    np.add.at(voxels, (group, reader), objects.voxels[mark])
    several = np.bincount(mark, minlength=objects.number) > 1
    joined = np.zeros((number, readers), bool)
    joined[group[several[mark]], reader[several[mark]]] = True
    found = marks > 0
    # Sums over readers in the order of places: the order of readers must not matter.
    by_place = np.lexsort((objects.rank[mark], group))
    middle = np.zeros((number, len(objects.shape)))
    np.add.at(middle, group[by_place], objects.middle[mark[by_place]])
    middle /= np.maximum(marks.sum(axis=1), 1)[:, None]
    first = np.full(number, objects.places[0].size)
    np.minimum.at(first, group, objects.first[mark])
    order = np.lexsort(
        (*middle.T, first, -voxels.sum(axis=1) / found.sum(axis=1), -found.sum(axis=1))
    )
    new = np.empty(number, np.int64)
    new[order] = np.arange(number)
    members = np.stack([new[group], mark], axis=1)
    members = members[np.lexsort((members[:, 1], members[:, 0]))]
    marks, voxels, joined = marks[order], voxels[order], joined[order]
    overlap = _mean_overlap(objects, pairs, members, voxels)
    return LesionGroups(members, number, marks > 0, marks, joined, voxels, middle[order], overlap)


def _mean_overlap(
    objects: ReaderObjects,
    pairs: _Pairs,
    members: NDArray[np.int64],
    voxels: NDArray[np.int64],
) -> Floats:
    """(G,) mean Dice between the marks of every two readers of a group."""
    shape = (len(voxels), objects.number)
    is_member = scipy.sparse.csr_array((np.ones(len(members)), tuple(members.T)), shape)
    links = (is_member[:, pairs.one] * is_member[:, pairs.other]).tocoo()
    group, pair = links.row, links.col
    readers = np.sort(np.stack([objects.reader[pairs.one], objects.reader[pairs.other]]), axis=0)
    code = (group * objects.number_of_readers + readers[0, pair]) * objects.number_of_readers
    code += readers[1, pair]
    codes, where = np.unique(code, return_inverse=True)
    shared = np.bincount(where, pairs.shared[pair], len(codes))
    rest, second = np.divmod(codes, objects.number_of_readers)
    own, first = np.divmod(rest, objects.number_of_readers)
    dice = 2 * shared / (voxels[own, first] + voxels[own, second])
    finders = np.count_nonzero(voxels, axis=1)
    number = finders * (finders - 1) / 2
    total = np.bincount(own, dice, len(voxels))
    mean = np.full(len(voxels), np.nan)
    np.divide(total, number, out=mean, where=number > 0)
    return mean
