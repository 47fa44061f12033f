"""The voxels of a case at which raters who are asked about a label disagree about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats, Mask
from itk_consensus.fusing.fusion_case import FusionCase
from itk_consensus.methods.consensus.bands import smallest_sides
from itk_consensus.methods.consensus.shared_consensus import SharedConsensus
from itk_consensus.methods.consensus.soft_masks import soft_masks
from itk_consensus.space.boxes import Box, grown, relative_to
from itk_consensus.space.smoothing import mirrored_gaussian
from itk_consensus.space.tiles import TRUNCATE
from itk_consensus.votes.decision_patterns import DecisionPatterns

#: By which the share of votes is smoothed, in smallest voxel sides; 1 and 3 made no difference.
SIGMA = 2.0

#: Steps of the share that tables tell apart; an even number, so that one half parts two of them.
SHARE_STEPS = 12

_ROUNDING = 1e-9


class VoxelKinds(NamedTuple):
    """What can be known of disputed voxels, each kind once."""

    votes: NDArray[np.int8]  #: (R, J)
    chosen: Mask  #: (R,)
    share: NDArray[np.intp]  #: (R,)
    which: NDArray[np.intp]  #: (N,) the kind of each voxel


@dataclass(frozen=True)
class DisputedLabel:
    """Disputed voxels of a label, and what is known there."""

    #: (P', J) what each rater says in the disputed patterns: 1, -1, or 0 where he is not asked.
    votes: NDArray[np.int8]
    places: NDArray[np.intp]  #: (N,) flat indices of the voxels
    pattern: NDArray[np.intp]  #: (N,) the row of `votes`
    chosen: Mask  #: (N,) whether Consensus answers the label
    share: NDArray[np.intp]  #: (N,) step of the smoothed share, below `SHARE_STEPS`

    def kinds(self) -> VoxelKinds:
        """The voxels by what is known of them."""
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
    """The raters whom Consensus does not ask about a label index.

    Those who marked something else; all, where most left the label empty: whether a structure is
    there is a vote of its own, of which the outline tells nothing.
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
    """Where raters disagree about a label index; None: nowhere.

    Parameters
    ----------
    left_out : sequence of int
        Raters who are not asked.
    decision : (\\*shape) ndarray of int
        What Consensus answers, by label index.
    is_soft : bool
        Whether the share is the mean of the raters' probabilities, and not smoothed.
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
        wide = grown(tight, [ceil(step) for step in reach], volume_shape(patterns))
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
    """The volume's shape."""
    assert patterns.codes is not None
    return patterns.codes.shape


def share_steps(share: Floats) -> NDArray[np.intp]:
    """The step of each share: of one half the upper one."""
    steps = ((share + _ROUNDING) * SHARE_STEPS).astype(np.intp)
    return np.asarray(np.clip(steps, 0, SHARE_STEPS - 1))


def share_of_step(step: NDArray[np.intp]) -> Floats:
    """The share in the middle of a step."""
    return np.asarray((step + 0.5) / SHARE_STEPS)


def _smoothed_share(
    patterns: DecisionPatterns, votes: NDArray[np.int8], spacing: Sequence[float]
) -> Floats:
    """(\\*box) share of the votes for a label among those given, both smoothed."""
    sigmas = (SIGMA * smallest_sides(spacing)).tolist()
    given = (votes != 0).sum(axis=1).astype(np.float64)
    marks = (votes > 0).sum(axis=1).astype(np.float64)
    if patterns.number_of_voxels == prod(volume_shape(patterns)) and (given == given[0]).all():
        return mirrored_gaussian(patterns.expand(marks / max(given[0], 1)), sigmas)
    total = mirrored_gaussian(patterns.expand(given), sigmas)
    found = mirrored_gaussian(patterns.expand(marks), sigmas)
    return np.asarray(np.divide(found, total, out=np.zeros_like(total), where=total > _ROUNDING))


def _mean_probability(case: FusionCase, label: int, left_out: Sequence[int], box: Box) -> Floats:
    """(\\*box) mean of what the raters who are asked give a label; of masks the share of marks."""
    soft, asked = case.opinions, np.ones(case.votes.number_of_raters)
    asked[list(left_out)] = 0
    if soft is not None:
        return soft_masks(soft.opinions, soft.annotated, soft.mask, asked).share(label, box)
    patterns = case.patterns
    given = (patterns.present * asked).sum(axis=1)
    marks = ((patterns.patterns == label) * asked).sum(axis=1)
    return patterns.crop(box).expand(marks / np.maximum(given, 1.0))
