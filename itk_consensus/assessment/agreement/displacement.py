"""Find the mirroring or shift that best aligns a mask with the other raters' masks.

A missing header, or one in another convention, mirrors a mask about the image centre; a wrong
origin or a resampling offset of half a voxel shifts it. Both preserve the shape, so the transform
that aligns the masks reveals the error. Masks are stored in their bounding boxes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
import scipy

from itk_consensus.core.array_types import Floats
from itk_consensus.space.boxes import Box, bounding_box, to_volume
from itk_consensus.votes.overlap import dice_of

#: Masks are downsampled until their joint bounding box has at most this many voxels along each
#: axis.
MOST_VOXELS = 96

Shift = tuple[int, ...]


@dataclass(frozen=True)
class MaskInBox:
    """A mask of fractions from 0 to 1, stored in its bounding box in the volume."""

    shares: Floats
    box: Box

    @classmethod
    def of(cls, shares: Floats, box: Box, level: float = 0.5) -> MaskInBox | None:
        """Crop an array located at `box` to the voxels that reach a level; None if there
        are none.
        """
        tight = bounding_box(shares >= level)
        return None if tight is None else cls(shares[tight], to_volume(tight, box))

    def mirror(self, axes: Sequence[int], shape: Sequence[int]) -> MaskInBox:
        """Mirror the mask about the volume's centre along some axes."""
        box = tuple(
            slice(side - part.stop, side - part.start) if axis in axes else part
            for axis, (part, side) in enumerate(zip(self.box, shape, strict=True))
        )
        return MaskInBox(np.flip(self.shares, tuple(axes)), box)

    def dice(self, other: MaskInBox, shift: Shift | None = None) -> float:
        """Return the Dice with another mask, after shifting this one by whole voxels."""
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
    """A transform that aligns a mask with the other raters' masks."""

    dice: float  #: Dice after the transform
    axes: tuple[int, ...] = ()  #: Array axes along which it is mirrored
    shift: Shift = ()  #: Shift in voxels


def best_mirror(mask: MaskInBox, others: MaskInBox, shape: Sequence[int]) -> Fit:
    """Return the axes along which a mirrored mask fits best; on ties, the fewest axes."""
    fits = [Fit(mask.mirror(axes, shape).dice(others), axes) for axes in _axis_subsets(len(shape))]
    return max(fits, key=lambda fit: fit.dice)


def _axis_subsets(axes: int) -> Iterator[tuple[int, ...]]:
    for number in range(1, axes + 1):
        yield from combinations(range(axes), number)


def best_shift(mask: MaskInBox, others: MaskInBox) -> Fit:
    """Return the shift in whole voxels that aligns a mask best, by cross-correlation."""
    sides = [a + b for a, b in zip(mask.shares.shape, others.shares.shape, strict=True)]
    step = max(1, -(-max(sides) // MOST_VOXELS))
    small, its = _downsample(mask.shares, step), _downsample(others.shares, step)
    overlap = scipy.signal.fftconvolve(its, np.flip(small))
    best = np.unravel_index(int(overlap.argmax()), overlap.shape)
    start = tuple(
        (int(at) - side + 1) * step + theirs.start - mine.start
        for at, side, mine, theirs in zip(best, small.shape, mask.box, others.box, strict=True)
    )
    return _refine_shift(mask, others, start, step)


def _downsample(shares: Floats, step: int) -> Floats:
    """Downsample by block means."""
    if step == 1:
        return shares
    padded = np.pad(shares, [(0, -side % step) for side in shares.shape])
    blocks = [length for side in padded.shape for length in (side // step, step)]
    return np.asarray(padded.reshape(blocks).mean(axis=tuple(range(1, 2 * padded.ndim, 2))))


def _refine_shift(mask: MaskInBox, others: MaskInBox, shift: Shift, step: int) -> Fit:
    """Refine, by hill climbing with decreasing steps, a shift found from downsampled masks."""
    best = Fit(mask.dice(others, shift), shift=shift)
    while step > 1:
        step = (step + 1) // 2
        around = product((-step, 0, step), repeat=len(shift))
        near = [tuple(a + b for a, b in zip(best.shift, by, strict=True)) for by in around]
        best = max((Fit(mask.dice(others, one), shift=one) for one in near), key=lambda f: f.dice)
    return best
