"""Which marks of different readers are one object.

1. Two readers' marks match if they share a good part of the smaller one; two small ones, which a
   little shift can part, if their surfaces are near.
2. Groups grow from the pairs with the most overlap on. A group takes at most one mark of a reader,
   and two groups join only if at least half of the pairs between them match.
3. Where one reader has two marks and others one around both, the majority says what it is: one
   object, which that reader split, or two, which the others joined. Equal numbers leave two.
   Readers who part it differently have one voice together: what is two parts in one place.

Ties go by size and then by place, never by the number of a reader or an object.

Marks of the same voxels match before all others, so that they are treated as one shape that several
readers have: of crowds there are few shapes, and pairs of marks would be more than memory holds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats, Mask
from itk_consensus.methods.lesions.objects import ReaderObjects, scattered
from itk_consensus.space.boxes import in_space, voxel_sides
from itk_consensus.votes.overlap import dice_of

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


class _Shapes(NamedTuple):
    """Marks with the same voxels, of whichever readers, in the order of their ranks."""

    number: int  #: S
    of: NDArray[np.int64]  #: (N,) the shape of each mark, from 0
    one: NDArray[np.int64]  #: (S,) a mark of each
    voxels: NDArray[np.int64]  #: (S,)
    marks: list[list[int]]  #: (S,) all its marks

    @classmethod
    def of_marks(cls, objects: ReaderObjects) -> _Shapes:
        """What the marks of all readers look like."""
        _, one, of = np.unique(objects.rank, return_index=True, return_inverse=True)
        of = of.reshape(-1)
        by_shape = np.split(np.argsort(of, kind="stable"), np.cumsum(np.bincount(of))[:-1])
        marks = [own.tolist() for own in by_shape] if len(one) else []
        return cls(len(one), of, one, objects.voxels[one], marks)


class _Pairs(NamedTuple):
    """Pairs of shapes, or marks of different readers, from 0."""

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
    shapes = _Shapes.of_marks(objects)
    pairs = shared_voxels(objects, shapes.of)
    smaller = np.minimum(shapes.voxels[pairs.one], shapes.voxels[pairs.other])
    total = shapes.voxels[pairs.one] + shapes.voxels[pairs.other]
    matching = pairs.shared >= LEAST_SHARED * smaller
    near = _near_pairs(objects, shapes, pairs, spacing, distance)
    one = np.concatenate([pairs.one[matching], near.one])
    other = np.concatenate([pairs.other[matching], near.other])
    overlap = (pairs.shared / (total - pairs.shared))[matching]
    order = _by_overlap(one, other, np.concatenate([overlap, near.score]))
    groups = _grown(objects, shapes, one[order].tolist(), other[order].tolist())
    return _groups(objects, shapes, pairs, _settle_splits(objects, shapes, pairs, groups))


def shared_voxels(objects: ReaderObjects, kinds: NDArray[np.int64] | None = None) -> _Pairs:
    """Voxels that every two marks share, in one pass: voxels in a row with equal marks are one.

    Parameters
    ----------
    kinds : (N,) ndarray of int, optional
        Numbers of what pairs are told of instead of marks.
    """
    columns = objects.places.reshape(objects.number_of_readers, -1)
    number = objects.number if kinds is None else int(kinds.max(initial=-1)) + 1
    total = scipy.sparse.csr_array((number, number), dtype=np.int64)
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
        kind = marks if kinds is None else kinds[marks]
        size = (len(starts), number)
        incidence = scipy.sparse.csr_array((np.ones(len(run), np.int64), (run, kind)), size)
        incidence.data[:] = 1  # However many readers have it.
        weighted = incidence.copy()
        weighted.data *= np.repeat(lengths, np.diff(incidence.indptr))
        total = total + incidence.T @ weighted
    pairs = scipy.sparse.triu(total, 1).tocoo()
    return _Pairs(pairs.row.astype(np.int64), pairs.col.astype(np.int64), pairs.data)


class _NearPairs(NamedTuple):
    one: NDArray[np.int64]
    other: NDArray[np.int64]
    score: Floats  #: Below every overlap; the nearest first


def _near_pairs(
    objects: ReaderObjects,
    shapes: _Shapes,
    pairs: _Pairs,
    spacing: Sequence[float],
    distance: float,
) -> _NearPairs:
    """Small shapes that share no voxel and are near; those of one reader never join anyway."""
    sides = voxel_sides(spacing)
    content = shapes.voxels * float(np.prod(sides))
    ball = {1: 2.0, 2: np.pi, 3: 4 / 3 * np.pi}[len(sides)]
    small = 2 * (content / ball) ** (1 / len(sides)) <= SMALL * distance
    nothing = np.zeros(0, np.int64)
    if np.count_nonzero(small) < 2 or not distance:
        return _NearPairs(nothing, nothing, np.zeros(0))
    looked_at = np.zeros(objects.number + 1, bool)
    looked_at[shapes.one[small] + 1] = True
    places = np.nonzero(looked_at[objects.places])
    marks = shapes.of[objects.places[places].astype(np.int64) - 1]
    # Nothing is near at another time.
    steps = in_space(list(spacing), 10 * distance)
    points = np.stack([axis * step for axis, step in zip(places[1:], steps, strict=True)], axis=1)
    tree = scipy.spatial.cKDTree(points)
    near = tree.query_pairs(distance * (1 + 1e-9), output_type="ndarray")
    gap = np.sqrt(np.square(points[near[:, 0]] - points[near[:, 1]]).sum(axis=1))
    both = np.sort(marks[near], axis=1)
    differ = both[:, 0] != both[:, 1]
    codes, where = np.unique(both[differ] @ [shapes.number, 1], return_inverse=True)
    nearest = np.full(len(codes), np.inf)
    np.minimum.at(nearest, where, gap[differ])
    new = ~np.isin(codes, pairs.one * shapes.number + pairs.other)
    one, other = np.divmod(codes[new], shapes.number)
    return _NearPairs(one, other, -np.rint(nearest[new] / distance * 1e6))


def _by_overlap(
    one: NDArray[np.int64], other: NDArray[np.int64], overlap: Floats
) -> NDArray[np.intp]:
    """The order of pairs of shapes: the most overlap first, then by size and place."""
    ranks = np.sort(np.stack([one, other]), axis=0)
    return np.lexsort((ranks[1], ranks[0], -overlap))


def _grown(
    objects: ReaderObjects, shapes: _Shapes, one: list[int], other: list[int]
) -> list[list[int]]:
    """Groups of shapes, in each of which a reader has at most one mark."""
    matching = set(zip(one, other, strict=True))
    group = list(range(shapes.number))
    members = {number: [number] for number in group}
    readers = {shape: set(objects.reader[own].tolist()) for shape, own in enumerate(shapes.marks)}
    for pair in zip(one, other, strict=True):
        first, second = (group[shape] for shape in pair)
        if first == second or not readers[first].isdisjoint(readers[second]):
            continue
        # Pairs of marks: a shape counts as often as it was drawn.
        known = sum(
            len(shapes.marks[a]) * len(shapes.marks[b])
            for a in members[first]
            for b in members[second]
            if (a, b) in matching or (b, a) in matching
        )
        if 2 * known < len(readers[first]) * len(readers[second]):
            continue
        moved = members.pop(second)
        readers[first] |= readers.pop(second)
        members[first] += moved
        for shape in moved:
            group[shape] = first
    return list(members.values())


def _settle_splits(
    objects: ReaderObjects, shapes: _Shapes, pairs: _Pairs, groups: list[list[int]]
) -> list[list[int]]:
    """Groups of marks. Join what one reader split; put the mark of who joined two into both."""
    group = np.zeros(shapes.number, np.int64)
    for number, members in enumerate(groups):
        group[members] = number
    covering = _covering(shapes, pairs)
    covering = covering[group[covering[:, 0]] != group[covering[:, 1]]]
    around: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for large, small in covering.tolist():
        around.setdefault((int(group[large]), int(group[small])), []).append((large, small))
    drawn, reader = shapes.marks, objects.reader.tolist()

    def place(key: tuple[int, int]) -> tuple[int, ...]:
        how_often = sum(len(drawn[large]) * len(drawn[small]) for large, small in around[key])
        return (-how_often, *sorted(shape for number in key for shape in groups[number]))

    marks = [[mark for shape in members for mark in drawn[shape]] for members in groups]
    readers = [{reader[mark] for mark in members} for members in marks]
    settled = [list(members) for members in marks]
    alike = _alike(shapes, pairs) if around else set()
    gone: set[int] = set()
    for whole, part in sorted(around, key=place):
        apart = readers[whole] & readers[part]
        if not apart or gone & {whole, part}:
            continue
        larger = {large for large, _ in around[whole, part]}
        joining = {mark for large in larger for mark in drawn[large] if reader[mark] not in apart}
        covered = sum(len(drawn[small]) for small in {small for _, small in around[whole, part]})
        if not joining or 2 * covered < len(marks[part]):
            continue
        parts = Counter(int(shapes.of[mark]) for mark in marks[part] if reader[mark] in apart)
        if len(joining) > _voices(parts, alike):
            # What joins the two may be in both already.
            settled[whole] += sorted(set(settled[part]) - set(settled[whole]))
            settled[part] = []
            gone.add(part)
        else:
            settled[part] += sorted(joining - set(settled[part]))
    return [members for members in settled if members]


def _alike(shapes: _Shapes, pairs: _Pairs) -> set[tuple[int, int]]:
    """Pairs of shapes that are nearly the same."""
    total = shapes.voxels[pairs.one] + shapes.voxels[pairs.other] - pairs.shared
    alike = pairs.shared >= ALIKE * total
    return set(zip(pairs.one[alike].tolist(), pairs.other[alike].tolist(), strict=True))


def _voices(parts: Counter[int], alike: set[tuple[int, int]]) -> int:
    """How many of some marks, counted by shape, are like one of them, itself included."""
    return max(
        sum(n for b, n in parts.items() if a == b or (min(a, b), max(a, b)) in alike) for a in parts
    )


def _covering(shapes: _Shapes, pairs: _Pairs) -> NDArray[np.int64]:
    """(P, 2) a shape, and one that it covers: smaller, or as large and further on."""
    # Their numbers are by size and then by place, and the first of a pair is the lower.
    covers = pairs.shared >= COVERING * shapes.voxels[pairs.other]
    return np.asarray(np.stack([pairs.one, pairs.other], axis=1)[covers])


def _groups(
    objects: ReaderObjects, shapes: _Shapes, pairs: _Pairs, groups: list[list[int]]
) -> LesionGroups:
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
    overlap = _mean_overlap(objects, shapes, pairs, members, marks > 0)
    return LesionGroups(members, number, marks > 0, marks, joined, voxels, middle[order], overlap)


def _mean_overlap(
    objects: ReaderObjects,
    shapes: _Shapes,
    pairs: _Pairs,
    members: NDArray[np.int64],
    found: Mask,
) -> Floats:
    """(G,) mean Dice between the marks of every two readers of a group.

    Readers who drew the same are one drawing, which counts as often as it was drawn.
    """
    number = len(found)
    shape_of = shapes.of[members[:, 1]]
    keys = members[:, 0] * objects.number_of_readers + objects.reader[members[:, 1]]
    slots, slot = np.unique(keys, return_inverse=True)
    code = np.zeros(len(slots), np.uint64)
    np.add.at(code, slot, scattered(shape_of))
    group = slots // objects.number_of_readers
    # Drawings of a group differ by their codes.
    order = np.lexsort((code, group))
    new = np.ones(len(order), bool)
    new[1:] = np.diff(group[order]) > 0
    new[1:] |= code[order][1:] != code[order][:-1]
    kept, times = order[new], np.diff(np.append(np.flatnonzero(new), len(order)))
    drawing = np.full(len(slots), -1)
    drawing[kept] = np.arange(len(kept))
    in_one = drawing[slot] >= 0
    has = scipy.sparse.csr_array(
        (np.ones(np.count_nonzero(in_one)), (drawing[slot[in_one]], shape_of[in_one])),
        (len(kept), shapes.number),
    )
    size = (shapes.number, shapes.number)
    above = scipy.sparse.coo_array((pairs.shared.astype(float), (pairs.one, pairs.other)), size)
    shared = above + above.T + scipy.sparse.diags_array(shapes.voxels.astype(float))
    both = scipy.sparse.triu(has @ shared @ has.T, 1).tocoo()
    same = group[kept][both.row] == group[kept][both.col]
    one, other = both.row[same], both.col[same]
    voxels = has @ shapes.voxels.astype(float)
    dice = dice_of(both.data[same], voxels[one] + voxels[other]) * times[one] * times[other]
    total = np.zeros(number)
    total += np.bincount(group[kept][one], dice, number)
    total += np.bincount(group[kept], times * (times - 1) / 2, number)
    finders = np.count_nonzero(found, axis=1)
    mean = np.full(number, np.nan)
    np.divide(total, finders * (finders - 1) / 2, out=mean, where=finders > 1)
    return mean
