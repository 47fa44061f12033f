"""STAPLE as implemented in the paper's notebook, not in itk_consensus.

The prior stays at .5, although the text clamps it to the label frequency; iterations start with an
E-step for near-perfect raters; estimates and posteriors are clipped. Voxels with identical votes
have the same posterior, which is computed once per distinct vote.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

START = 0.9999
QUALITY_RANGE = (1e-4, 1 - 1e-4)
POSTERIOR_RANGE = (1e-8, 1 - 1e-8)
DAMPING = 0.4
DAMPED_BETA = (20.0, 5.0)


@dataclass(frozen=True)
class Votes:
    """Distinct votes (n, raters), number of voxels with each, and index of each voxel's vote."""

    patterns: NDArray[np.float64]
    counts: NDArray[np.int_]
    index: NDArray[np.intp]

    @classmethod
    def of(cls, raters: NDArray[np.bool_]) -> Votes:
        """Encode raters of shape (raters, \\*shape)."""
        bits = np.arange(len(raters))
        codes = np.tensordot(1 << bits, raters, axes=1)
        distinct, index, counts = np.unique(codes, return_inverse=True, return_counts=True)
        patterns = (distinct[:, np.newaxis] >> bits & 1).astype(float)
        return cls(patterns, counts, index.reshape(codes.shape))


@dataclass(frozen=True)
class NotebookResult:
    """Posterior and segmentation (\\*shape), log-likelihood of the last E-step, and raters'
    performance.
    """

    posterior: NDArray[np.float64]
    segmentation: NDArray[np.bool_]
    log_likelihood: float
    sensitivity: NDArray[np.float64]
    specificity: NDArray[np.float64]


def majority_vote(raters: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return foreground where more than half of the raters marked it."""
    majority: NDArray[np.bool_] = np.count_nonzero(raters, axis=0) > len(raters) / 2
    return majority


def notebook_staple_d(votes: Votes) -> NotebookResult:
    """Run STAPLE-D: damped, with a Beta(20, 5) prior on sensitivity and specificity."""
    return notebook_staple(votes, damping=DAMPING, beta=DAMPED_BETA)


def notebook_staple(
    votes: Votes,
    *,
    prior: float = 0.5,
    damping: float = 0.0,
    beta: tuple[float, float] = (1.0, 1.0),
    maximum_iterations: int = 50,
    tolerance: float = 1e-6,
) -> NotebookResult:
    """Run EM (section 2.2) until the log-likelihood changes by less than `tolerance`."""
    votes_for, votes_against = votes.patterns, 1 - votes.patterns
    hits, misses = beta[0] - 1, beta[1] - 1
    sensitivity = specificity = np.full(votes.patterns.shape[1], START)
    previous = -np.inf
    for _ in range(maximum_iterations):
        foreground = (
            np.log(prior) + votes_for @ np.log(sensitivity) + votes_against @ np.log1p(-sensitivity)
        )
        background = (
            np.log1p(-prior)
            + votes_for @ np.log1p(-specificity)
            + votes_against @ np.log(specificity)
        )
        evidence = np.logaddexp(foreground, background)
        posterior = np.clip(np.exp(foreground - evidence), *POSTERIOR_RANGE)
        log_likelihood = float(votes.counts @ evidence)
        if abs(log_likelihood - previous) < tolerance:
            break
        previous = log_likelihood

        in_favour, against = votes.counts * posterior, votes.counts * (1 - posterior)
        estimates = (
            (in_favour @ votes_for + hits) / (in_favour.sum() + hits + misses),
            (against @ votes_against + hits) / (against.sum() + hits + misses),
        )
        sensitivity, specificity = (
            np.clip((1 - damping) * new + damping * old, *QUALITY_RANGE)
            for new, old in zip(estimates, (sensitivity, specificity), strict=True)
        )
    volume = posterior[votes.index]
    return NotebookResult(volume, volume >= 0.5, log_likelihood, sensitivity, specificity)
