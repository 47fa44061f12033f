"""SIMPLE with local weights: raters are weighted at each voxel by agreement with the consensus.

This is the method of section 2.6 of "When Does Consensus Beat Voting?", for any number of labels.
The global weight is a mean over the disputed voxels instead of the whole image, which would include
background. Voxels that are outside the image or the mask, or not annotated by a rater, are excluded
from patches. The edge gate as published is the same factor for all raters and cancels out; see
`edge_agreement` for the gate used here.

Each rater contributes to the consensus with which the rater is compared: in a patch where all
others agree, only the rater's own noise varies, and it correlates with itself. With voxel noise
this method is therefore worse than the majority vote; it is intended for contour errors.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats
from itk_consensus.core.work import report
from itk_consensus.fusing.estimates import Estimate
from itk_consensus.fusing.iteration import Step, StopRule, iterate
from itk_consensus.methods.voting.majority_vote import VoteResult, majority_vote
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.disputed_voxels import CHUNK, DisputedVoxels, chunks, decide_voxels
from itk_consensus.votes.fields.window_frame import Planes, WindowFrame
from itk_consensus.votes.fusions import DisputedFusion, StoredShares
from itk_consensus.votes.label_weights import LabelWeights
from itk_consensus.votes.ties import SAME_PROBABILITY, TieRule


@dataclass(frozen=True)
class BoundarySettings:
    """Settings of boundary SIMPLE."""

    radii: tuple[int, ...]  #: Half width of the patch in voxels per array axis
    local_weight: float = 0.8  #: Alpha of section 2.6, inside (0, 1); beta is 1 - alpha
    maximum_iterations: int = 10
    #: Mean change of the shares, over disputed voxels, at which the iteration stops
    tolerance: float = 1e-5
    tie_rule: TieRule = "undecided"

    @property
    def stop(self) -> StopRule:
        """Stop rule of the iteration."""
        return StopRule(self.tolerance, self.maximum_iterations)


@dataclass(frozen=True, kw_only=True)
class BoundaryEstimate(Estimate):
    """Mean weights of the raters, and how the iteration terminated."""

    weights: Floats  #: (J,) mean weight of each rater; they sum to 1
    trace: tuple[float, ...]  #: Mean change of the shares in each iteration
    converged: bool


@dataclass(frozen=True, kw_only=True)
class BoundaryResult(BoundaryEstimate):
    """Boundary SIMPLE's result at the disputed voxels."""

    voxels: DisputedVoxels
    vote: VoteResult  #: Result at all other voxels
    shares: LabelWeights  #: (K, N) weighted share of each label for which a voxel has any vote
    decision: NDArray[np.int32]  #: (N,) label index, or a code of `votes.ties`

    @property
    def estimate(self) -> BoundaryEstimate:
        """This estimate without the shares."""
        return BoundaryEstimate.of(self)

    def fusion(self) -> DisputedFusion:
        """Return the result as a fusion."""
        return DisputedFusion(self.voxels, self.vote, self.decision, StoredShares(self.shares))


def boundary_simple(
    voxels: DisputedVoxels,
    settings: BoundarySettings,
    *,
    gate: Floats | None = None,
) -> BoundaryResult:
    """Alternate between computing the consensus and the weights.

    Parameters
    ----------
    voxels : DisputedVoxels
        Disputed voxels, whose box must have a margin of `settings.radii`.
    gate : (J, N) ndarray, optional
        Factor of each rater's weight at each disputed voxel.
    """
    patterns = voxels.patterns
    vote = majority_vote(patterns, ties=settings.tie_rule)
    model = _LocalWeights(patterns, settings, gate)

    def step(now: tuple[Floats, Floats]) -> Step[tuple[Floats, Floats], float]:
        shares, weights = model.step(now[0])
        moved = sum(
            float(np.abs(shares[part] - now[0][part]).sum()) for part in chunks(len(shares), CHUNK)
        )
        change = moved / (patterns.number_of_labels * len(model.frame))
        return Step((shares, weights), change, settings.stop.met(change))

    most = settings.stop.most_iterations if len(model.frame) else 0
    nobody = np.zeros(patterns.number_of_raters)
    run = iterate(step, (model.start(vote), nobody), most)
    shares, weights = model.frame.by_label(run.state[0]), run.state[1]
    decision = decide_voxels(
        shares,
        patterns.labels,
        settings.tie_rule,
        tolerance=SAME_PROBABILITY,
        prior=vote.frequencies,
    )
    converged = run.converged or not shares.number
    overall = _normalise(weights)
    return BoundaryResult(
        voxels=voxels,
        vote=vote,
        shares=shares,
        decision=decision,
        weights=overall,
        trace=tuple(run.trace),
        converged=converged,
    )


class _LocalWeights:
    """Iteration that derives weights from a consensus, and the next consensus from the weights.

    A consensus is represented by the (M,) shares of the frame's (voxel, label) pairs.
    """

    def __init__(
        self, patterns: DecisionPatterns, settings: BoundarySettings, gate: Floats | None
    ) -> None:
        self.frame = WindowFrame(patterns, settings.radii)
        self._patterns, self._alpha, self._gate = patterns, settings.local_weight, gate
        self._parts = self.frame.planes_in_parts(12)

    def start(self, vote: VoteResult) -> Floats:
        """Return the vote shares as the initial consensus."""
        rows = self.frame.pattern_of_voxel
        shares = np.empty(len(self.frame.mentions))
        for label, here in enumerate(self.frame.ranges):
            report(0.0)
            shares[here] = vote.of_label(label)[rows[self.frame.mentions[here]]]
        return shares

    def step(self, shares: Floats) -> tuple[Floats, Floats]:
        """Return the next consensus, and the (J,) sum of each rater's weights over voxels."""
        local, common, alike = np.zeros((3, self._patterns.number_of_raters))
        votes = np.zeros_like(shares)
        for number, planes in enumerate(self._parts):
            report(number / len(self._parts))
            similarity = self.frame.similarity(planes, shares)
            alike += similarity.sum(axis=0)
            similarity *= self._gate_of(planes)
            local += similarity.sum(axis=0)
            similarity *= self._alpha
            self.frame.add_votes(planes, similarity, votes)
            del similarity  # Free this before the next one is computed.
        overall = (1 - self._alpha) * _normalise(alike / np.maximum(self._annotated, 1))
        for planes in self._parts:
            report(1.0)
            rows = self.frame.pattern_of_voxel[self.frame.voxels_of(planes)]
            weights = self._patterns.present[rows] * overall
            weights *= self._gate_of(planes)
            common += weights.sum(axis=0)
            self.frame.add_votes(planes, weights, votes)
        total = np.zeros(len(self.frame))
        for here in self.frame.ranges:
            total[self.frame.mentions[here]] += votes[here]
        for here in self.frame.ranges:
            votes[here] /= total[self.frame.mentions[here]]
        return votes, self._alpha * local + common

    def _gate_of(self, planes: Planes) -> Any:
        """Return (n, J) factors of the weights in some planes."""
        return 1.0 if self._gate is None else self._gate[:, self.frame.voxels_of(planes)].T

    @cached_property
    def _annotated(self) -> Floats:
        """(J,) number of disputed voxels that each rater annotated."""
        patterns, flags = self._patterns, self.frame.voxels.flags
        return np.array([patterns.counts[flags & own].sum() for own in patterns.present.T], float)


def _normalise(values: Floats) -> Floats:
    """Scale non-negative values to sum to 1; equal shares if all are zero."""
    total = values.sum()
    return values / total if total > 0 else np.full(len(values), 1 / len(values))
