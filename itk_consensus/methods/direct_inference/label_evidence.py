"""The evidence p(t, D) of a label map, with all continuous parameters integrated out.

Van Leemput & Sabuncu, MICCAI 2014; equations 22-26 of "When Does Consensus Beat Voting?". The map
enters only through integer counts, so voxels of one decision pattern are exchangeable.

There is an optimal map that assigns the same label to all voxels of a pattern: if m voxels of a
pattern move from one label to another, the log evidence is a convex function of m, so it is maximal
if none or all of them move. Proof: m enters as ln Γ(n + m) in the count of the label, and as
ln Γ(n + m) - ln Γ(n + m + c), c >= 0, in a rater's votes, where n is a vote's count and n + c the
count of all votes; both are convex, because the trigamma function is positive and decreasing. For
the label that the voxels leave, m becomes -m. In this module a map is therefore one label per
pattern.

Array layout: P patterns, J raters, S maps, K labels.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.disputed_voxels import chunks

#: Number of values in the confusion matrices of one batch of maps, which bounds memory.
_NUMBERS_AT_ONCE = 2**20

#: (P, S) integer array: the label index of each pattern in each of S maps.
Maps = NDArray[Any]


class ParameterPosterior(NamedTuple):
    """Dirichlet parameters of the label prior and the confusions, given maps (eq. 21)."""

    prior: Floats  #: (S, K) N_k + alpha_k + 1
    confusion: Floats  #: (J, K, S, K) N^j_{d,t} + alpha_{d,t} + 1


@dataclass(frozen=True)
class LabelEvidence:
    """Evidence of maps of these patterns, under Dirichlet priors on confusions and label prior."""

    patterns: DecisionPatterns
    pseudo_counts: Floats  #: (K, K) alpha[d, t] of section 2.1.5
    prior_counts: Floats | float = 0.0  #: (K,) alpha[k] of section 2.1.5

    @cached_property
    def resolution(self) -> float:
        """Rounding error of a log evidence; maps that differ by less count as equally probable."""
        size = float(scipy.special.gammaln(self.patterns.number_of_voxels + 2.0))
        return 16 * np.finfo(np.float64).eps * (self.patterns.number_of_raters + 1) * max(size, 1.0)

    @cached_property
    def all_present(self) -> bool:
        """Whether every rater annotated every voxel."""
        return bool(self.patterns.present.all())

    def parameter_posterior(self, maps: Maps) -> ParameterPosterior:
        """Return the posterior of the parameters given each map."""
        voxels, votes = self._count(maps)
        return ParameterPosterior(
            voxels + self.prior_concentration, votes + self.concentration[:, None, :]
        )

    def _count(self, maps: Maps) -> tuple[Floats, Floats]:
        """Return (S, K) voxels by label, and (J, K, S, K) votes by rater, vote and label."""
        labels, raters = self.patterns.number_of_labels, self.patterns.number_of_raters
        sizes = self.patterns.counts.astype(np.float64)
        if len(sizes) < raters:
            # With many raters one matrix product is faster; it is exact, since the counts are
            # integers.
            each = np.arange(labels)
            own = (self.patterns.patterns.T[:, None] == each[:, None]) * sizes
            chosen = (maps[:, :, None] == each).astype(np.float64)
            return np.tensordot(sizes, chosen, 1), np.tensordot(own, chosen, 1)
        voxels = np.empty((maps.shape[1], labels))
        votes = np.empty((raters, labels, maps.shape[1], labels))
        for start, chosen in enumerate(maps.T):
            voxels[start] = np.bincount(chosen, sizes, labels)
            for rater, own in enumerate(self.patterns.patterns.T):
                # The last row counts missing votes and is dropped.
                cells = own.astype(np.int64) * labels + chosen
                counts = np.bincount(cells, sizes, (labels + 1) * labels)
                votes[rater, :, start] = counts.reshape(labels + 1, labels)[:-1]
        return voxels, votes

    def log_evidence(self, maps: Maps) -> Floats:
        """Return the (S,) log p(t, D), eq. 25 with normalised priors."""
        raters = self.patterns.number_of_raters
        # Normalising constant of the priors: the integrals without any voxel.
        constant = raters * _log_beta(self.concentration, axis=0).sum()
        constant += _log_beta(self.prior_concentration, axis=0)
        return np.concatenate(
            [
                _log_beta(prior, axis=1) + _log_beta(confusion, axis=1).sum(axis=(0, 2)) - constant
                for prior, confusion in map(self.parameter_posterior, self.batches_of(maps))
            ]
        )

    def batches_of(self, maps: Maps) -> Iterator[Maps]:
        """Yield batches of maps small enough for their confusions to fit into memory."""
        labels, raters = self.patterns.number_of_labels, self.patterns.number_of_raters
        size = max(1, _NUMBERS_AT_ONCE // (raters * labels * labels))
        return (maps[:, part] for part in chunks(maps.shape[1], size))

    def agreement(self, maps: Maps) -> Floats:
        """Return the (S,) number of votes that agree with each map."""
        return np.array([np.trace(self.votes_by_label(chosen)) for chosen in maps.T])

    def votes_by_label(self, chosen: Maps) -> Floats:
        """Return the (K, K) votes of all raters, by label of a (P,) map and label voted for."""
        return np.asarray(self._count(chosen[:, None])[1][:, :, 0].sum(axis=0).T)

    @cached_property
    def concentration(self) -> Floats:
        """(K, K) Dirichlet parameters of the prior on the confusions."""
        return self.pseudo_counts + 1.0

    @cached_property
    def prior_concentration(self) -> Floats:
        """(K,) Dirichlet parameters of the prior on the label prior."""
        return np.ones(self.patterns.number_of_labels) + self.prior_counts


def _log_beta(parameters: Floats, axis: int) -> Floats:
    """Return the log of the multivariate Beta function along an axis."""
    parts = scipy.special.gammaln(parameters).sum(axis=axis)
    return np.asarray(parts - scipy.special.gammaln(parameters.sum(axis=axis)))
