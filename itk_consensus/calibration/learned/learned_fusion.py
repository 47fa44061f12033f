"""Consensus in which disputed voxels are relabelled by learned rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from itk_consensus.calibration.learned.disputed_label import (
    disputed_label,
    raters_left_out,
)
from itk_consensus.calibration.learned.label_rule import LabelRule, is_alike
from itk_consensus.core.array_types import Floats, Mask
from itk_consensus.fusing.fusion_case import FusionCase
from itk_consensus.fusing.fusion_result import FusionResult
from itk_consensus.votes.fusions import Fusion, VolumeFusion, VoxelShares


@dataclass(frozen=True)
class LearnedShares(VoxelShares):
    """Learned probabilities; labels without a rule share the remainder in proportion to
    Consensus.
    """

    consensus: Fusion
    places: NDArray[np.intp]  #: (N,) flat indices of the voxels that are relabelled
    learned: NDArray[np.intp]  #: (L,) label indices with a rule
    chance: Floats  #: (L, N) probabilities of these labels; NaN where a label is not disputed
    labels: int  #: Number of labels, K
    #: Index of the label that gets the remainder if no other label is possible
    background: int

    def write(self, label: int, out: NDArray[Any]) -> None:
        self.consensus.write_probability(label, out)
        flat = out.reshape(-1)
        flat[self.places] = self._share(label, flat[self.places])

    def _share(self, label: int, before: Floats) -> Floats:
        """Return a label's (N,) probability, given `before`, its probability in Consensus."""
        taken = np.nansum(self.chance, axis=0)
        scale = np.maximum(taken, 1.0)
        at = np.flatnonzero(self.learned == label)
        own = self.chance[at[0]] if len(at) else np.full(len(before), np.nan)
        left = np.maximum(1.0 - taken, 0.0)
        if self.labels == len(self.learned) + 1 and not len(at):
            return np.asarray(left)  # the only label without a rule
        return np.asarray(np.where(np.isnan(own), self._rest(label, before, left), own / scale))

    def _rest(self, label: int, before: Floats, left: Floats) -> Floats:
        """Return the part of the remaining probability `left` that a label without a rule gets."""
        alone = float(label == self.background)
        claimed = self._unruled > _NOTHING
        share = np.divide(before, self._unruled, out=np.full(len(before), alone), where=claimed)
        return np.asarray(np.minimum(share, 1.0) * left)

    @cached_property
    def _unruled(self) -> Floats:
        """(N,) total probability in Consensus of labels without a rule."""
        unruled, volume = np.ones(len(self.places)), np.empty(self.consensus.volume().shape)
        for label, chance in zip(self.learned.tolist(), self.chance, strict=True):
            self.consensus.write_probability(label, volume)
            unruled -= np.where(np.isnan(chance), 0.0, volume.reshape(-1)[self.places])
        return unruled


_NOTHING = 1e-9


class Decided(NamedTuple):
    """A learned fusion, and the number of voxels at which it differs from Consensus."""

    fusion: Fusion
    changed_voxels: int


def learned_fusion(
    case: FusionCase, consensus: FusionResult[Any], rules: Sequence[LabelRule], is_soft: bool
) -> Decided:
    """Apply rules to the disputed voxels of their labels, and keep Consensus elsewhere."""
    known = [found for rule in rules if (found := _decide(case, consensus, rule, is_soft))]
    if not known:
        return Decided(consensus.fusion, 0)
    places = known[0].places
    if len(known) > 1:
        places = np.unique(np.concatenate([one.places for one in known]))
    chance = np.full((len(known), len(places)), np.nan)
    for row, one in enumerate(known):
        chance[row, np.searchsorted(places, one.places)] = one.chance
    learned = np.array([one.number for one in known], np.intp)
    labels, before = consensus.labels, consensus.fusion.volume()
    old = before.reshape(-1)[places]
    background = labels.index(0) if 0 in labels else 0
    open_to_background = _has_vote_for(case, background, places)
    new = _winners(chance, learned, old, background, open_to_background)
    decision = before.copy()
    decision.reshape(-1)[places] = new
    shares = LearnedShares(consensus.fusion, places, learned, chance, len(labels), background)
    return Decided(VolumeFusion(decision, shares), int(np.count_nonzero(new != old)))


class _DecidedLabel(NamedTuple):
    """Probabilities of a label according to its rule."""

    number: int  #: Index of the label
    places: NDArray[np.intp]  #: (N,) flat indices of disputed voxels
    chance: Floats  #: (N,) probability of the label


def _decide(
    case: FusionCase, consensus: FusionResult[Any], rule: LabelRule, is_soft: bool
) -> _DecidedLabel | None:
    """Apply a rule; None if no voxel is disputed or if the result differs too much from
    Consensus.
    """
    if rule.label not in consensus.labels:
        return None
    index, before = consensus.labels.index(rule.label), consensus.fusion.volume()
    left_out = raters_left_out(consensus.extras["shared"], index)
    dispute = disputed_label(case, index, left_out, before, is_soft)
    if dispute is None:
        return None
    kinds = dispute.kinds()
    found = rule.rule.probability(kinds.votes, kinds.chosen, kinds.share)
    chance = found[kinds.which]
    marked = chance >= _HALF
    agreed = np.count_nonzero(before == index) - np.count_nonzero(dispute.chosen)
    both, either = (
        agreed + np.count_nonzero(one) for one in (marked & dispute.chosen, marked | dispute.chosen)
    )
    if not is_alike(both, either):
        return None
    return _DecidedLabel(index, dispute.places, chance)


def _winners(
    chance: Floats, learned: NDArray[np.intp], old: NDArray[Any], background: int, is_open: Mask
) -> NDArray[Any]:
    """Return the (N,) label index of each voxel.

    This is the most probable label if its probability is at least one half; ties are resolved in
    favour of Consensus. Otherwise it is the label of Consensus if that has no rule, or else the
    background if any rater voted for it, or else the most probable label.
    """
    score = np.where(np.isnan(chance), -np.inf, chance)
    best = score.max(axis=0)
    own = np.full(len(old), -np.inf)
    for row, index in enumerate(learned.tolist()):
        own = np.where(old == index, score[row], own)
    keeps = np.where(best >= _HALF, own >= best, np.isneginf(own))
    largest = learned[score.argmax(axis=0)]
    falls = (best < _HALF) & is_open
    return np.where(keeps, old, np.where(falls, background, largest)).astype(old.dtype)


_HALF = 0.5 - 1e-9


def _has_vote_for(case: FusionCase, label: int, places: NDArray[np.intp]) -> Mask:
    """Return an (N,) mask of voxels at which any rater voted for a label."""
    patterns = case.patterns
    if patterns.number_of_labels == 2:
        return np.ones(len(places), bool)  # at a disputed voxel, there are votes for both labels
    has_votes = (patterns.patterns == label).any(axis=1)
    return np.asarray(patterns.expand(has_votes).reshape(-1)[places])
