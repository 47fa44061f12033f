"""Disputed voxels of a label, at which the raters who vote on the label disagree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats, Mask
from itk_consensus.fusing.fusion_case import FusionCase
from itk_consensus.methods.consensus.scale_bands import smallest_sides
from itk_consensus.methods.consensus.shared_consensus import SharedConsensus
from itk_consensus.methods.consensus.soft_masks import soft_masks
from itk_consensus.space.boxes import Box, grow_box, relative_to
from itk_consensus.space.smoothing import mirrored_gaussian
from itk_consensus.space.tiles import TRUNCATE
from itk_consensus.votes.decision_patterns import DecisionPatterns

#: Sigma of the Gaussian that smooths vote shares, in units of the smallest spacing; 1 and 3 gave
#: similar results.
SIGMA = 2.0

#: Number of bins of the smoothed vote share; even, so that one half is a bin boundary.
SHARE_STEPS = 12

_ROUNDING = 1e-9


class VoxelKinds(NamedTuple):
    """The distinct combinations of features of disputed voxels ("kinds")."""

    votes: NDArray[np.int8]  #: (R, J)
    chosen: Mask  #: (R,) whether Consensus assigned the label
    share: NDArray[np.intp]  #: (R,) bin of the smoothed vote share
    which: NDArray[np.intp]  #: (N,) index of the kind of each voxel


@dataclass(frozen=True)
class DisputedLabel:
    """Disputed voxels of a label, and their features."""

    #: (P', J) vote of each rater in the disputed patterns: 1, -1, or 0 for raters without a vote.
    votes: NDArray[np.int8]
    places: NDArray[np.intp]  #: (N,) flat indices of the voxels
    pattern: NDArray[np.intp]  #: (N,) index of the row of `votes`
    chosen: Mask  #: (N,) whether Consensus assigned the label
    share: NDArray[np.intp]  #: (N,) bin of the smoothed vote share, below `SHARE_STEPS`

    def kinds(self) -> VoxelKinds:
        """Group the voxels by their features."""
        key = (self.pattern * 2 + self.chosen) * SHARE_STEPS + self.share
        counts = np.bincount(key, minlength=2 * SHARE_STEPS * len(self.votes))
        found = np.flatnonzero(counts)
        row = np.zeros(len(counts), np.intp)
        row[found] = np.arange(len(found))
        return VoxelKinds(
            self.votes[found // (2 * SHARE_STEPS)],
            found // SHARE_STEPS % 2 > 0,
            found % SHARE_STEPS,
            row[key],
        )


def raters_left_out(shared: SharedConsensus, label: int) -> list[int]:
    """Return the raters whose votes on a label (by index) Consensus ignores.

    These are raters who marked another object, or all raters if most left the label empty, since
    the presence of a structure is decided by a separate vote.
    """
    voters = shared.voters.get(label)
    if voters is None:
        return []
    away = range(len(shared.groups)) if voters.absent else voters.elsewhere
    return sorted(rater for group in away for rater in shared.groups[group])


def disputed_label(
    case: FusionCase,
    label: int,
    left_out: Sequence[int],
    decision: NDArray[Any],
    is_soft: bool,
) -> DisputedLabel | None:
    """Find the voxels at which raters disagree about a label (by index); None if there are none.

    Parameters
    ----------
    left_out : sequence of int
        Raters whose votes are ignored.
    decision : (\\*shape) ndarray of int
        Label indices of Consensus.
    is_soft : bool
        Whether the vote share is the raters' mean probability, without smoothing.
    """
    patterns = case.patterns
    votes = np.where(patterns.patterns == label, 1, -1).astype(np.int8)
    votes[~patterns.present] = 0
    votes[:, list(left_out)] = 0
    disputed = np.asarray((votes > 0).any(axis=1) & (votes < 0).any(axis=1))
    if not disputed.any():
        return None
    reach = SIGMA * TRUNCATE * smallest_sides(case.spacing)
    tight = patterns.region(disputed, [0] * len(reach))
    rows = np.full(len(disputed), -1, np.int32)
    rows[disputed] = np.arange(np.count_nonzero(disputed))
    here = patterns.crop(tight).expand(rows, outside=-1)
    inside = np.nonzero(here >= 0)
    if is_soft:
        share = _mean_probability(case, label, left_out, tight)[inside]
    else:
        wide = grow_box(tight, [ceil(step) for step in reach], volume_shape(patterns))
        smooth = _smoothed_share(patterns.crop(wide), votes, case.spacing)
        share = smooth[relative_to(tight, wide)][inside]
    moved = tuple(part.start + axis for part, axis in zip(tight, inside, strict=True))
    return DisputedLabel(
        votes[disputed],
        np.ravel_multi_index(moved, volume_shape(patterns)),
        here[inside].astype(np.intp),
        np.asarray(decision[moved] == label),
        share_steps(share),
    )


def volume_shape(patterns: DecisionPatterns) -> tuple[int, ...]:
    """Return the shape of the volume from which patterns were encoded."""
    assert patterns.codes is not None
    return patterns.codes.shape


def share_steps(share: Floats) -> NDArray[np.intp]:
    """Return the bin of each vote share; a share on a boundary belongs to the upper bin."""
    steps = ((share + _ROUNDING) * SHARE_STEPS).astype(np.intp)
    return np.asarray(np.clip(steps, 0, SHARE_STEPS - 1))


def share_of_step(step: NDArray[np.intp]) -> Floats:
    """Return the vote share at the centre of a bin."""
    return np.asarray((step + 0.5) / SHARE_STEPS)


def _smoothed_share(
    patterns: DecisionPatterns, votes: NDArray[np.int8], spacing: Sequence[float]
) -> Floats:
    """Return the (\\*box) smoothed votes for a label, divided by the smoothed number of votes."""
    sigmas = (SIGMA * smallest_sides(spacing)).tolist()
    given = (votes != 0).sum(axis=1).astype(np.float64)
    marks = (votes > 0).sum(axis=1).astype(np.float64)
    if patterns.number_of_voxels == prod(volume_shape(patterns)) and (given == given[0]).all():
        return mirrored_gaussian(patterns.expand(marks / max(given[0], 1)), sigmas)
    total = mirrored_gaussian(patterns.expand(given), sigmas)
    found = mirrored_gaussian(patterns.expand(marks), sigmas)
    return np.asarray(np.divide(found, total, out=np.zeros_like(total), where=total > _ROUNDING))


def _mean_probability(case: FusionCase, label: int, left_out: Sequence[int], box: Box) -> Floats:
    """Return a label's (\\*box) mean probability over the voting raters; for masks, their
    vote share.
    """
    soft, vote_weights = case.opinions, np.ones(case.votes.number_of_raters)
    vote_weights[list(left_out)] = 0
    if soft is not None:
        return soft_masks(soft.opinions, soft.annotated, soft.mask, vote_weights).share(label, box)
    patterns = case.patterns
    given = (patterns.present * vote_weights).sum(axis=1)
    marks = ((patterns.patterns == label) * vote_weights).sum(axis=1)
    return patterns.crop(box).expand(marks / np.maximum(given, 1.0))
