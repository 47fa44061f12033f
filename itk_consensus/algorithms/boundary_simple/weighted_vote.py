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

import numpy as np
from numpy.typing import NDArray

from itk_consensus.algorithms.boundary_simple.local_correlation import (
    correlation,
    patches_of_raters,
)
from itk_consensus.algorithms.iteration import IterationObserver, Step, StopRule, iterate
from itk_consensus.algorithms.majority_vote import VoteResult, majority_vote
from itk_consensus.array_types import Floats
from itk_consensus.labels.disputed_voxels import DisputedVoxels, decide_voxels
from itk_consensus.labels.fusions import DisputedFusion
from itk_consensus.labels.ties import TieRule

#: Shares that sums in different order cannot tell apart.
TIE_TOLERANCE = 1e-9


@dataclass(frozen=True)
class BoundarySettings:
    """Everything that boundary SIMPLE can be told.

    Attributes
    ----------
    radii : tuple of int
        Half width of the patch in voxels per array axis.
    local_weight : float
        Alpha of section 2.6, inside (0, 1); beta is 1 - alpha.
    maximum_iterations : int
    tolerance : float
        Mean change of the shares, over disputed voxels, at which to stop.
    tie_rule : TieRule
    """

    radii: tuple[int, ...]
    local_weight: float = 0.8
    maximum_iterations: int = 10
    tolerance: float = 1e-5
    tie_rule: TieRule = "undecided"

    @property
    def stop(self) -> StopRule:
        """When to stop."""
        return StopRule(self.tolerance, self.maximum_iterations)


@dataclass(frozen=True)
class BoundaryResult:
    """What boundary SIMPLE makes of the disputed voxels.

    Attributes
    ----------
    voxels : DisputedVoxels
    vote : VoteResult
        The answer at all other voxels.
    shares : (K, N) ndarray
        Weighted share of each label.
    decision : (N,) ndarray of int32
        Label index, or a code of `labels.ties`.
    weights : (J,) ndarray
        Mean weight of each rater; they sum to 1.
    trace : tuple of float
        Mean change of the shares in each iteration.
    converged : bool
    """

    voxels: DisputedVoxels
    vote: VoteResult
    shares: Floats
    decision: NDArray[np.int32]
    weights: Floats
    trace: tuple[float, ...]
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
    observer: IterationObserver | None = None,
) -> BoundaryResult:
    """Alternate between the consensus and the weights.

    Parameters
    ----------
    voxels : DisputedVoxels
        In a box with a margin of `settings.radii`.
    settings : BoundarySettings
    gate : (J, N) ndarray, optional
        Factor of each rater's weight at each disputed voxel.
    observer : callable, optional
    """
    patterns = voxels.patterns
    vote = majority_vote(patterns, ties=settings.tie_rule)
    model = _LocalWeights(voxels, vote, settings, gate)

    def step(now: tuple[Floats, Floats]) -> Step[tuple[Floats, Floats], float]:
        weights = model.weights(now[0])
        shares = model.shares(weights)
        change = float(np.abs(shares - now[0]).mean())
        return Step((shares, weights), change, settings.stop.met(change))

    shares = np.stack([voxels.of_pattern(column) for column in vote.fractions.T])
    start = shares, model.present.astype(np.float64)
    most = settings.stop.most_iterations if shares.size else 0
    run = iterate(step, start, most, observer)
    shares, weights = run.state
    decision = decide_voxels(
        shares, patterns.labels, settings.tie_rule, tolerance=TIE_TOLERANCE, prior=vote.frequencies
    )
    overall = _normalised(weights.sum(axis=1))
    converged = run.converged or shares.size == 0
    return BoundaryResult(voxels, vote, shares, decision, overall, tuple(run.trace), converged)


class _LocalWeights:
    """The raters' masks in patches, and the weights that follow from a consensus."""

    def __init__(
        self,
        voxels: DisputedVoxels,
        vote: VoteResult,
        settings: BoundarySettings,
        gate: Floats | None,
    ) -> None:
        patterns = voxels.patterns
        self._voxels, self._vote, self._alpha = voxels, vote, settings.local_weight
        self._gate = 1.0 if gate is None else gate
        self._digits = np.stack([voxels.of_pattern(votes) for votes in patterns.patterns.T])
        self.present = self._digits != patterns.number_of_labels
        # Of two labels one is the other's complement and adds nothing to a correlation.
        self._labels = [1] if patterns.number_of_labels == 2 else range(patterns.number_of_labels)
        self._patches = patches_of_raters(voxels, settings.radii)
        self._means = {
            (rater, label): patches.mean(self._says(rater, label).astype(np.float64))
            for patches in self._patches
            for rater in patches.raters
            for label in self._labels
        }
        self._own_variance = np.zeros(self.present.shape)
        for (rater, _), mean in self._means.items():
            self._own_variance[rater] += mean - mean**2

    def weights(self, shares: Floats) -> Floats:
        """(J, N) weight of each rater, given the consensus."""
        weights = self._correlation(shares)
        # To [0, 1], and in place: there are as many of these as raters times disputed voxels.
        weights += 1
        weights /= 2
        weights *= self.present
        annotated = np.maximum(np.count_nonzero(self.present, axis=1), 1)
        overall = _normalised(weights.sum(axis=1) / annotated)
        weights *= self._alpha
        weights += (1 - self._alpha) * overall[:, None]
        weights *= self._gate
        weights *= self.present
        return weights

    def shares(self, weights: Floats) -> Floats:
        """(K, N) weighted share of each label."""
        labels = range(self._voxels.patterns.number_of_labels)
        votes = [np.where(self._digits == label, weights, 0.0).sum(axis=0) for label in labels]
        return np.asarray(np.stack(votes) / weights.sum(axis=0))

    def _correlation(self, shares: Floats) -> Floats:
        """(J, N) correlation of each rater's patch with the consensus, all labels together."""
        covariance = np.zeros(self.present.shape)
        variances = np.zeros((len(self._patches), shares.shape[1]))
        for label in self._labels:
            consensus = self._voxels.expand(self._vote.fractions[:, label])
            consensus.reshape(-1)[self._voxels.places] = shares[label]
            for patches, variance in zip(self._patches, variances, strict=True):
                mean, spread = patches.mean_and_variance(consensus)
                variance += spread
                for rater in patches.raters:
                    both = patches.mean(consensus * self._says(rater, label))
                    covariance[rater] += both - self._means[rater, label] * mean
        for patches, variance in zip(self._patches, variances, strict=True):
            for rater in patches.raters:
                covariance[rater] = correlation(
                    covariance[rater], self._own_variance[rater], variance
                )
        return covariance

    def _says(self, rater: int, label: int) -> NDArray[np.bool_]:
        """Where in the box a rater says a label."""
        return self._voxels.expand(self._voxels.patterns.patterns[:, rater] == label)


def _normalised(values: Floats) -> Floats:
    """Scale non-negative values to sum 1; equal shares if all are zero."""
    total = values.sum()
    return values / total if total > 0 else np.full(len(values), 1 / len(values))
