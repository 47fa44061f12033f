"""Group the marks of different raters that belong to the same object.

1. Two raters' marks match if their intersection is a sufficient fraction of the smaller one. Two
   small marks, which a slight shift can separate, also match if they are close together.
2. Groups are grown from matching pairs, in order of decreasing overlap. A group has at most one
   mark per rater, and two groups are joined only if at least half of the pairs between them match.
3. If some raters have two marks where others have one mark that covers both, the majority decides
   between one object, which some raters split, and two objects, which the others joined. A tie
   gives two objects. If raters split the object differently, only the largest set of raters with
   similar parts is counted.

Ties are broken by size and then by position, never by the index of a rater or an object.

Marks with the same voxels always match, so they are treated as one shape shared by several raters.
Even many raters have few distinct shapes, whereas all pairs of marks would not fit into memory.
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
from itk_consensus.methods.lesions.objects import RaterObjects, hash_numbers
from itk_consensus.space.boxes import in_space, voxel_sides
from itk_consensus.votes.overlap import dice_of

#: Two marks match if they share at least this fraction of the smaller one.
LEAST_SHARED = 0.25

#: A mark covers another if it contains at least this fraction of it.
COVERING = 0.5

#: Minimum intersection over union at which two parts of a split object are considered similar.
ALIKE = 0.5

#: A mark is small if its equivalent diameter is at most this multiple of the matching distance.
SMALL = 2.0

#: Number of voxels processed at once, which bounds memory.
_VOXELS_AT_ONCE = 1 << 22


@dataclass(frozen=True)
class LesionGroups:
    """Marks grouped into objects, sorted by number of raters and then by size."""

    #: (M, 2) sorted pairs of group and mark, both counted from 0. A mark that joins two groups is
    #: listed in both.
    members: NDArray[np.int64]
    number: int  #: Number of groups, G
    found: Mask  #: (G, J) whether each rater marked the group's object
    marks: NDArray[
        np.int64
    ]  #: (G, J) number of each rater's marks; if more than 1, the rater split the object
    joined: Mask  #: (G, J) whether a rater's mark also belongs to another group
    voxels: NDArray[np.int64]  #: (G, J) voxels in each rater's marks; joined marks count fully
    middle: Floats  #: (G, axes) mean over the marks of their mean voxel index
    overlap: Floats  #: (G,) mean Dice between the marks of two raters; NaN with only one rater

    @property
    def split(self) -> Mask:
        """(G, J) whether a rater has several marks in a group."""
        return np.asarray(self.marks > 1)


class _Shapes(NamedTuple):
    """Distinct shapes of marks, in the order of their ranks."""

    number: int  #: Number of shapes, S
    of: NDArray[np.int64]  #: (N,) shape of each mark, counted from 0
    one: NDArray[np.int64]  #: (S,) index of one mark with each shape
    voxels: NDArray[np.int64]  #: (S,) size in voxels
    marks: list[list[int]]  #: (S,) indices of all marks with each shape

    @classmethod
    def of_marks(cls, objects: RaterObjects) -> _Shapes:
        """Find the distinct shapes among the marks of all raters."""
        _, one, of = np.unique(objects.rank, return_index=True, return_inverse=True)
        of = of.reshape(-1)
        by_shape = np.split(np.argsort(of, kind="stable"), np.cumsum(np.bincount(of))[:-1])
        marks = [own.tolist() for own in by_shape] if len(one) else []
        return cls(len(one), of, one, objects.voxels[one], marks)


class _Pairs(NamedTuple):
    """Pairs of overlapping shapes or marks, by index."""

    one: NDArray[np.int64]
    other: NDArray[np.int64]
    shared: NDArray[np.int64]  #: Number of shared voxels


def match_objects(
    objects: RaterObjects, spacing: Sequence[float], distance: float | None = None
) -> LesionGroups:
    """Group the marks of all raters.

    Parameters
    ----------
    spacing : sequence of float
        Voxel size in mm, in array order.
    distance : float, optional
        Maximum distance in mm between the nearest voxels of two small marks that match; by default
        the diagonal of a voxel, which means that they must touch.
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
    groups = _grow_groups(objects, shapes, one[order].tolist(), other[order].tolist())
    return _make_groups(objects, shapes, pairs, _settle_splits(objects, shapes, pairs, groups))


def shared_voxels(objects: RaterObjects, kinds: NDArray[np.int64] | None = None) -> _Pairs:
    """Count the voxels shared by each pair of marks.

    Runs of consecutive voxels with the same marks are processed together.

    Parameters
    ----------
    kinds : (N,) ndarray of int, optional
        Class of each mark, such as its shape; if given, voxels are counted for pairs of classes
        instead of pairs of marks.
    """
    columns = objects.places.reshape(objects.number_of_raters, -1)
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
        rater, run = np.nonzero(part[:, starts])
        marks = part[rater, starts[run]] - 1
        kind = marks if kinds is None else kinds[marks]
        size = (len(starts), number)
        incidence = scipy.sparse.csr_array((np.ones(len(run), np.int64), (run, kind)), size)
        incidence.data[:] = 1  # Count a class once per voxel, even if several raters have it.
        weighted = incidence.copy()
        weighted.data *= np.repeat(lengths, np.diff(incidence.indptr))
        total = total + incidence.T @ weighted
    pairs = scipy.sparse.triu(total, 1).tocoo()
    return _Pairs(pairs.row.astype(np.int64), pairs.col.astype(np.int64), pairs.data)


class _NearPairs(NamedTuple):
    one: NDArray[np.int64]
    other: NDArray[np.int64]
    score: Floats  #: Negative, hence below every overlap; higher means nearer


def _near_pairs(
    objects: RaterObjects,
    shapes: _Shapes,
    pairs: _Pairs,
    spacing: Sequence[float],
    distance: float,
) -> _NearPairs:
    """Return pairs of small shapes that are close but disjoint, including those of one rater."""
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
    # In 4D, points of different volumes must never be close.
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
    """Return the order of pairs of shapes: by decreasing overlap, then by size and position."""
    ranks = np.sort(np.stack([one, other]), axis=0)
    return np.lexsort((ranks[1], ranks[0], -overlap))


def _grow_groups(
    objects: RaterObjects, shapes: _Shapes, one: list[int], other: list[int]
) -> list[list[int]]:
    """Merge shapes into groups in which each rater has at most one mark."""
    matching = set(zip(one, other, strict=True))
    group = list(range(shapes.number))
    members = {number: [number] for number in group}
    raters = {shape: set(objects.rater[own].tolist()) for shape, own in enumerate(shapes.marks)}
    for pair in zip(one, other, strict=True):
        first, second = (group[shape] for shape in pair)
        if first == second or not raters[first].isdisjoint(raters[second]):
            continue
        # Count pairs of marks, not of shapes.
        known = sum(
            len(shapes.marks[a]) * len(shapes.marks[b])
            for a in members[first]
            for b in members[second]
            if (a, b) in matching or (b, a) in matching
        )
        if 2 * known < len(raters[first]) * len(raters[second]):
            continue
        moved = members.pop(second)
        raters[first] |= raters.pop(second)
        members[first] += moved
        for shape in moved:
            group[shape] = first
    return list(members.values())


def _settle_splits(
    objects: RaterObjects, shapes: _Shapes, pairs: _Pairs, groups: list[list[int]]
) -> list[list[int]]:
    """Return groups of marks: merge split objects, and put a joining mark into both groups."""
    group = np.zeros(shapes.number, np.int64)
    for number, members in enumerate(groups):
        group[members] = number
    covering = _covered_pairs(shapes, pairs)
    covering = covering[group[covering[:, 0]] != group[covering[:, 1]]]
    around: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for large, small in covering.tolist():
        around.setdefault((int(group[large]), int(group[small])), []).append((large, small))
    drawn, rater = shapes.marks, objects.rater.tolist()

    def place(key: tuple[int, int]) -> tuple[int, ...]:
        how_often = sum(len(drawn[large]) * len(drawn[small]) for large, small in around[key])
        return (-how_often, *sorted(shape for number in key for shape in groups[number]))

    marks = [[mark for shape in members for mark in drawn[shape]] for members in groups]
    raters = [{rater[mark] for mark in members} for members in marks]
    settled = [list(members) for members in marks]
    alike = _similar_shapes(shapes, pairs) if around else set()
    gone: set[int] = set()
    for whole, part in sorted(around, key=place):
        apart = raters[whole] & raters[part]
        if not apart or gone & {whole, part}:
            continue
        larger = {large for large, _ in around[whole, part]}
        joining = {mark for large in larger for mark in drawn[large] if rater[mark] not in apart}
        covered = sum(len(drawn[small]) for small in {small for _, small in around[whole, part]})
        if not joining or 2 * covered < len(marks[part]):
            continue
        parts = Counter(int(shapes.of[mark]) for mark in marks[part] if rater[mark] in apart)
        if len(joining) > _largest_agreement(parts, alike):
            # A joining mark may already be in both groups.
            settled[whole] += sorted(set(settled[part]) - set(settled[whole]))
            settled[part] = []
            gone.add(part)
        else:
            settled[part] += sorted(joining - set(settled[part]))
    return [members for members in settled if members]


def _similar_shapes(shapes: _Shapes, pairs: _Pairs) -> set[tuple[int, int]]:
    """Return the pairs of shapes whose intersection over union is at least `ALIKE`."""
    total = shapes.voxels[pairs.one] + shapes.voxels[pairs.other] - pairs.shared
    alike = pairs.shared >= ALIKE * total
    return set(zip(pairs.one[alike].tolist(), pairs.other[alike].tolist(), strict=True))


def _largest_agreement(parts: Counter[int], alike: set[tuple[int, int]]) -> int:
    """Return the largest number of marks similar to any one part, given mark counts by shape."""
    return max(
        sum(n for b, n in parts.items() if a == b or (min(a, b), max(a, b)) in alike) for a in parts
    )


def _covered_pairs(shapes: _Shapes, pairs: _Pairs) -> NDArray[np.int64]:
    """Return (P, 2) pairs of a shape and another shape that it covers."""
    # Shapes are sorted by decreasing size, so the first of a pair is the larger one.
    covers = pairs.shared >= COVERING * shapes.voxels[pairs.other]
    return np.asarray(np.stack([pairs.one, pairs.other], axis=1)[covers])


def _make_groups(
    objects: RaterObjects, shapes: _Shapes, pairs: _Pairs, groups: list[list[int]]
) -> LesionGroups:
    """Number the groups and summarize each rater's marks in them."""
    number, raters = len(groups), objects.number_of_raters
    group = np.repeat(np.arange(number), [len(members) for members in groups])
    mark = np.array([mark for members in groups for mark in members], np.int64)
    rater = objects.rater[mark]
    marks = np.zeros((number, raters), np.int64)
    voxels = np.zeros((number, raters), np.int64)
    np.add.at(marks, (group, rater), 1)
    np.add.at(voxels, (group, rater), objects.voxels[mark])
    several = np.bincount(mark, minlength=objects.number) > 1
    joined = np.zeros((number, raters), bool)
    joined[group[several[mark]], rater[several[mark]]] = True
    found = marks > 0
    # Sum in positional order, so that rounding does not depend on the order of the raters.
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
    objects: RaterObjects,
    shapes: _Shapes,
    pairs: _Pairs,
    members: NDArray[np.int64],
    found: Mask,
) -> Floats:
    """Return (G,) the mean Dice between the marks of all pairs of raters in a group.

    Raters whose marks in a group are identical are treated as one drawing with a multiplicity.
    """
    number = len(found)
    shape_of = shapes.of[members[:, 1]]
    keys = members[:, 0] * objects.number_of_raters + objects.rater[members[:, 1]]
    slots, slot = np.unique(keys, return_inverse=True)
    code = np.zeros(len(slots), np.uint64)
    np.add.at(code, slot, hash_numbers(shape_of))
    group = slots // objects.number_of_raters
    # Drawings within a group are identified by the hash of their shapes.
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
