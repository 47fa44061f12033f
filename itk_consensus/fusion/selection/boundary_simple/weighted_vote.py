"""SIMPLE with local weights: at each voxel a rater counts as much as it resembles the consensus.

Section 2.6 of the paper, for any number of labels. The global weight is averaged over the disputed
voxels instead of the image, which would count background; patches end at the border, at the mask
and where a rater did not annotate. As printed, the edge gate multiplies all raters' weights at a
voxel alike and cancels; `edge_agreement` has the gate that acts.

A rater is part of the consensus it is compared with: in a patch where all others agree, the only
thing that varies is the one rater's noise, and it correlates with itself. On voxel noise this
method therefore loses to the plain vote; it is meant for contours.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from itk_consensus.array_types import Floats
from itk_consensus.fusion.iteration import Step, StopRule, iterate
from itk_consensus.fusion.selection.boundary_simple.patch_slabs import PatchSlab, slabs_of
from itk_consensus.fusion.voting.majority_vote import VoteResult, majority_vote
from itk_consensus.neighbourhood.marked_boxes import boxes_of_patterns
from itk_consensus.votes.disputed_voxels import DisputedVoxels, decide_voxels
from itk_consensus.votes.fusions import DisputedFusion
from itk_consensus.votes.label_weights import LabelWeights
from itk_consensus.votes.ties import SAME_PROBABILITY, TieRule
from itk_consensus.work import report, stage


@dataclass(frozen=True)
class BoundarySettings:
    """Everything that boundary SIMPLE can be told."""

    radii: tuple[int, ...]  #: Half width of the patch in voxels per array axis
    local_weight: float = 0.8  #: Alpha of section 2.6, inside (0, 1); beta is 1 - alpha
    maximum_iterations: int = 10
    tolerance: float = 1e-5  #: Mean change of the shares, over disputed voxels, at which to stop
    tie_rule: TieRule = "undecided"

    @property
    def stop(self) -> StopRule:
        """When to stop."""
        return StopRule(self.tolerance, self.maximum_iterations)


@dataclass(frozen=True)
class BoundaryResult:
    """What boundary SIMPLE makes of the disputed voxels."""

    voxels: DisputedVoxels
    vote: VoteResult  #: The answer at all other voxels
    shares: LabelWeights  #: (K, N) weighted share of each label that somebody gave a voxel
    decision: NDArray[np.int32]  #: (N,) label index, or a code of `votes.ties`
    weights: Floats  #: (J,) mean weight of each rater; they sum to 1
    trace: tuple[float, ...]  #: Mean change of the shares in each iteration
    converged: bool

    def fusion(self) -> DisputedFusion:
        """The result."""
        return DisputedFusion(
            self.voxels, self.vote, self.decision, lambda label: self.shares[label]
        )


def boundary_simple(
    voxels: DisputedVoxels,
    settings: BoundarySettings,
    *,
    gate: Floats | None = None,
) -> BoundaryResult:
    """Alternate between the consensus and the weights.

    Parameters
    ----------
    voxels : DisputedVoxels
        In a box with a margin of `settings.radii`.
    gate : (J, N) ndarray, optional
        Factor of each rater's weight at each disputed voxel.
    """
    patterns = voxels.patterns
    vote = majority_vote(patterns, ties=settings.tie_rule)
    model = _LocalWeights(voxels, settings, gate)

    def step(now: tuple[LabelWeights, Floats]) -> Step[tuple[LabelWeights, Floats], float]:
        shares, weights = model.step(now[0])
        change = _change(shares, now[0])
        return Step((shares, weights), change, settings.stop.met(change))

    most = settings.stop.most_iterations if len(voxels.places) else 0
    nobody = np.zeros(patterns.number_of_raters)
    run = iterate(step, (_voted_shares(voxels, vote), nobody), most)
    shares, weights = run.state
    decision = decide_voxels(
        shares,
        patterns.labels,
        settings.tie_rule,
        tolerance=SAME_PROBABILITY,
        prior=vote.frequencies,
    )
    converged = run.converged or not shares.number
    overall = _normalised(weights)
    return BoundaryResult(voxels, vote, shares, decision, overall, tuple(run.trace), converged)


class _LocalWeights:
    """The weights that follow from a consensus, and the consensus that follows from them."""

    def __init__(
        self, voxels: DisputedVoxels, settings: BoundarySettings, gate: Floats | None
    ) -> None:
        patterns = voxels.patterns
        self._voxels, self._radii, self._alpha = voxels, settings.radii, settings.local_weight
        self._gate = gate
        # Of two labels one is the other's complement and adds nothing to a correlation.
        number = patterns.number_of_labels
        self._labels = [1] if number == 2 else list(range(number))
        self._boxes = boxes_of_patterns(patterns) if len(voxels.places) else []

    def step(self, shares: LabelWeights) -> tuple[LabelWeights, Floats]:
        """The next consensus, and the (J,) sum of each rater's weights over all voxels."""
        local, annotated, alike = np.zeros((3, self._voxels.patterns.number_of_raters))
        votes = [np.zeros(len(members)) for members, _ in shares.of]
        for slab in slabs_of(self._voxels, self._radii):
            with stage(slab.part.start / shares.number, slab.part.stop / shares.number):
                similarity = slab.similarity(shares, self._labels, self._boxes)
            alike += similarity.sum(axis=1)
            if self._gate is not None:
                similarity *= self._gate[:, slab.part]
            local += similarity.sum(axis=1)
            _add_votes(votes, shares, slab, similarity, self._alpha)
        present = np.maximum(self._annotated, 1)
        overall = (1 - self._alpha) * _normalised(alike / present)
        total = np.zeros(shares.number)
        for slab in slabs_of(self._voxels, self._radii):
            said = slab.digits < self._voxels.patterns.number_of_labels
            common = said * overall[:, None]
            if self._gate is not None:
                common *= self._gate[:, slab.part]
            annotated += common.sum(axis=1)
            _add_votes(votes, shares, slab, common)
            report(1.0)
        new = [(members, values) for (members, _), values in zip(shares.of, votes, strict=True)]
        for members, values in new:
            total[members] += values
        for members, values in new:
            values /= total[members]
        return LabelWeights(new, shares.number), self._alpha * local + annotated

    @cached_property
    def _annotated(self) -> Floats:
        """(J,) disputed voxels that each rater annotated."""
        patterns, flags = self._voxels.patterns, self._voxels.flags
        return np.array([patterns.counts[flags & said].sum() for said in patterns.present.T], float)


def _add_votes(
    votes: list[Floats],
    shares: LabelWeights,
    slab: PatchSlab,
    weights: Floats,
    factor: float = 1.0,
) -> None:
    """Add (J, n) weights of a slab's raters, times a factor, to the sums of what they said."""
    first = slab.part.start
    for label in np.unique(slab.digits).tolist():
        if label < len(votes):
            here = shares.range_of(label, slab.part)
            members = shares.of[label][0][here] - np.uint32(first)
            said = slab.digits[:, members] == label
            found = np.where(said, weights[:, members], 0.0).sum(axis=0)
            votes[label][here] += factor * found


def _voted_shares(voxels: DisputedVoxels, vote: VoteResult) -> LabelWeights:
    """What votes say."""
    # Not the rows of `voxels`, which would keep them.
    patterns, rows = voxels.patterns, DisputedVoxels(voxels.patterns, voxels.region).rows
    of = []
    for label in range(patterns.number_of_labels):
        report(0.0)
        said = (patterns.patterns == label).any(axis=1)
        members = np.flatnonzero(said[rows]).astype(np.uint32)
        of.append((members, np.asarray(vote.of_label(label)[rows[members]])))
    return LabelWeights(of, len(rows))


def _change(new: LabelWeights, old: LabelWeights) -> float:
    """Mean change of the shares, which are of the same voxels."""
    pairs = zip(new.of, old.of, strict=True)
    return sum(float(np.abs(a - b).sum()) for (_, a), (_, b) in pairs) / (len(new) * new.number)


def _normalised(values: Floats) -> Floats:
    """Scale non-negative values to sum 1; equal shares if all are zero."""
    total = values.sum()
    return values / total if total > 0 else np.full(len(values), 1 / len(values))
