"""A mask that would fit what others drew if it were mirrored, or moved.

A header that was lost or written in another convention mirrors a mask about the middle of the
image; a wrong origin or a resampling by half moves it. Both keep the shape, so the transform that
brings it back says what happened. Masks are held in their own boxes, however far apart these are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
import scipy

from itk_consensus.core.array_types import Floats
from itk_consensus.space.boxes import Box, bounding_box, moved
from itk_consensus.votes.overlap import dice_of

#: A box is looked at in voxels so large that both together have at most so many along an axis.
MOST_VOXELS = 96

Shift = tuple[int, ...]


@dataclass(frozen=True)
class Placed:
    """Shares of a mask, 0 to 1, in a box of the volume."""

    shares: Floats
    box: Box

    @classmethod
    def of(cls, shares: Floats, box: Box, level: float = 0.5) -> Placed | None:
        """What reaches a level within an array that `box` cut out; None if nothing does."""
        tight = bounding_box(shares >= level)
        return None if tight is None else cls(shares[tight], moved(tight, box))

    def mirrored(self, axes: Sequence[int], shape: Sequence[int]) -> Placed:
        """The mask on the other side of the volume's middle."""
        box = tuple(
            slice(side - part.stop, side - part.start) if axis in axes else part
            for axis, (part, side) in enumerate(zip(self.box, shape, strict=True))
        )
        return Placed(np.flip(self.shares, tuple(axes)), box)

    def dice(self, other: Placed, shift: Shift | None = None) -> float:
        """Overlap with another mask, after this one has moved by some voxels."""
        steps = (0,) * len(self.box) if shift is None else shift
        cuts: list[tuple[slice, slice]] = []
        for mine, its, step in zip(self.box, other.box, steps, strict=True):
            low, high = max(mine.start + step, its.start), min(mine.stop + step, its.stop)
            if high <= low:
                return 0.0
            cuts.append(
                (
                    slice(low - mine.start - step, high - mine.start - step),
                    slice(low - its.start, high - its.start),
                )
            )
        here, there = zip(*cuts, strict=True)
        shared = np.vdot(self.shares[here], other.shares[there])
        return float(dice_of(shared, self.shares.sum() + other.shares.sum()))


@dataclass(frozen=True)
class Fit:
    """What brings a mask closest to what others drew."""

    dice: float
    axes: tuple[int, ...] = ()  #: Array axes along which it is mirrored
    shift: Shift = ()  #: Voxels by which it is moved


def best_mirror(mask: Placed, others: Placed, shape: Sequence[int]) -> Fit:
    """The axes along which a mirrored mask fits best; fewer axes win where they fit as well."""
    fits = [Fit(mask.mirrored(axes, shape).dice(others), axes) for axes in _sets_of(len(shape))]
    return max(fits, key=lambda fit: fit.dice)


def _sets_of(axes: int) -> Iterator[tuple[int, ...]]:
    for number in range(1, axes + 1):
        yield from combinations(range(axes), number)


def best_shift(mask: Placed, others: Placed) -> Fit:
    """The shift by whole voxels after which a mask fits best."""
    sides = [a + b for a, b in zip(mask.shares.shape, others.shares.shape, strict=True)]
    step = max(1, -(-max(sides) // MOST_VOXELS))
    small, its = _coarse(mask.shares, step), _coarse(others.shares, step)
    overlap = scipy.signal.fftconvolve(its, np.flip(small))
    best = np.unravel_index(int(overlap.argmax()), overlap.shape)
    start = tuple(
        (int(at) - side + 1) * step + theirs.start - mine.start
        for at, side, mine, theirs in zip(best, small.shape, mask.box, others.box, strict=True)
    )
    return _refined(mask, others, start, step)


def _coarse(shares: Floats, step: int) -> Floats:
    """Means of blocks of voxels."""
    if step == 1:
        return shares
    padded = np.pad(shares, [(0, -side % step) for side in shares.shape])
    blocks = [length for side in padded.shape for length in (side // step, step)]
    return np.asarray(padded.reshape(blocks).mean(axis=tuple(range(1, 2 * padded.ndim, 2))))


def _refined(mask: Placed, others: Placed, shift: Shift, step: int) -> Fit:
    """Climb from a shift that was found on large voxels."""
    best = Fit(mask.dice(others, shift), shift=shift)
    while step > 1:
        step = (step + 1) // 2
        around = product((-step, 0, step), repeat=len(shift))
        near = [tuple(a + b for a, b in zip(best.shift, by, strict=True)) for by in around]
        best = max((Fit(mask.dice(others, one), shift=one) for one in near), key=lambda f: f.dice)
    return best
