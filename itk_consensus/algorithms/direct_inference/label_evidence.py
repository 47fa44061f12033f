"""The evidence p(t, D) of a label map, with every continuous parameter integrated out.

Van Leemput & Sabuncu, MICCAI 2014; equations 22-26 of "When Does Consensus Beat Voting?". The map
enters only through integer counts, so voxels of one decision pattern are exchangeable.

Some map that gives all voxels of a pattern the same label is the best of all maps: let m voxels of
a pattern move from one label to another, then the log evidence is a convex function of m, highest
at an end, all or none. For m enters as ln Γ(n + m) in the count of the label, and as
ln Γ(n + m) - ln Γ(n + m + c), c >= 0, in a rater's votes, where n is a vote's count and n + c the
count of all votes; both are convex, because the trigamma function is positive and falls. The label
the voxels leave has -m for m. So a map here is one label per pattern.

Array layout: P patterns, J raters, S maps, K labels. A set of maps is (P, S).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from itk_consensus.array_types import Floats, Labels
from itk_consensus.labels.decision_patterns import DecisionPatterns
from itk_consensus.labels.disputed_voxels import chunks

#: Numbers that one step of `block_scores` handles; keeps its arrays in the processor's cache.
_CHUNK = 2**17


class ParameterPosterior(NamedTuple):
    """Dirichlet parameters of the label prior and the confusions, given maps (eq. 21)."""

    prior: Floats  #: (S, K) N_k + 1
    confusion: Floats  #: (J, K, S, K) N^j_{d,t} + alpha_{d,t} + 1


@dataclass(frozen=True)
class LabelEvidence:
    """Patterns and the prior of the confusion matrices; the label prior is uniform."""

    patterns: DecisionPatterns
    pseudo_counts: Floats  #: (K, K) alpha[d, t] of section 2.1.5

    @cached_property
    def resolution(self) -> float:
        """Rounding error of a log evidence; maps closer than this are equally probable."""
        size = float(gammaln(self.patterns.number_of_voxels + 2.0))
        return 16 * np.finfo(np.float64).eps * (self.patterns.number_of_raters + 1) * max(size, 1.0)

    def parameter_posterior(self, maps: Labels) -> ParameterPosterior:
        """Count voxels by label, and votes by rater, vote and label."""
        labels, raters = self.patterns.number_of_labels, self.patterns.number_of_raters
        sizes = self.patterns.counts.astype(np.float64)
        prior = np.empty((maps.shape[1], labels))
        confusion = np.empty((raters, labels, maps.shape[1], labels))
        for start, chosen in enumerate(maps.T):
            prior[start] = np.bincount(chosen, sizes, labels)
            for rater, said in enumerate(self.patterns.patterns.T):
                # One row more than labels: what a missing rater says is dropped.
                cells = said.astype(np.int64) * labels + chosen
                votes = np.bincount(cells, sizes, (labels + 1) * labels)
                confusion[rater, :, start] = votes.reshape(labels + 1, labels)[:-1]
        return ParameterPosterior(prior + 1, confusion + self._concentration[:, None, :])

    def log_evidence(self, maps: Labels) -> Floats:
        """(S,) log p(t, D), eq. 25 with the constants of its priors."""
        prior, confusion = self.parameter_posterior(maps)
        raters = _log_beta(confusion, axis=1).sum(axis=(0, 2))
        # What the integrals are without any voxel: the constants that make the priors densities.
        constant = self.patterns.number_of_raters * _log_beta(self._concentration, axis=0).sum()
        constant += _log_beta(np.ones(self.patterns.number_of_labels), axis=0)
        return np.asarray(_log_beta(prior, axis=1) + raters - constant)

    def block_scores(self, maps: Labels, *, single_voxels: bool = False) -> Floats:
        """(P, S, K) log p(t_b | D, t elsewhere), up to a constant, of a block b of equal voxels.

        Eq. 26, its factors n / N being rising factorials n (n+1) ... / N (N+1) ... for a block: all
        voxels of a pattern, or a single one.
        """
        prior, confusion = self.parameter_posterior(maps)
        present = self.patterns.present
        total = confusion.sum(axis=1)
        if present.all():
            # Every rater voted as often as there are voxels: one column of totals serves for all.
            total, present = total[:1], present[:, :1]
        repeats = len(confusion) // len(total)
        log_prior, log_confusion, log_total = gammaln(prior), gammaln(confusion), gammaln(total)
        raters = np.arange(len(confusion))
        scores = np.empty((*maps.shape, prior.shape[1]))
        numbers_per_pattern = confusion.size // prior.shape[1]
        for part in chunks(len(maps), max(1, _CHUNK // numbers_per_pattern)):
            # Counts without the block's own voxels: they leave their label, or join another.
            sign = np.where(maps[part, :, None] == np.arange(prior.shape[1]), -1.0, 1.0)
            change = sign if single_voxels else self._sizes[part] * sign
            # A rater who is missing here has no count that changes.
            votes = change[:, None] * self.patterns.present[part, :, None, None]
            here = raters, self._digits[part]
            gained = (gammaln(confusion[here] + votes) - log_confusion[here]).sum(axis=1)
            votes = change[:, None] * present[part, :, None, None]
            gained -= repeats * (gammaln(total + votes) - log_total).sum(axis=1)
            scores[part] = sign * (gained + gammaln(prior + change) - log_prior)
        return scores

    def agreement(self, maps: Labels) -> Floats:
        """(S,) votes that agree with the map."""
        return np.asarray(np.take_along_axis(self.label_votes, maps, axis=1).sum(axis=0))

    @cached_property
    def label_votes(self) -> Floats:
        """(P, K) votes of all voxels of a pattern for each label."""
        return self.patterns.votes() * self._sizes[:, 0]

    @cached_property
    def _concentration(self) -> Floats:
        return self.pseudo_counts + 1.0

    @cached_property
    def _sizes(self) -> Floats:
        """(P, 1, 1) voxels of each pattern."""
        return self.patterns.counts.astype(np.float64)[:, None, None]

    @cached_property
    def _digits(self) -> Labels:
        """(P, J) voted label; 0, whose count is then left alone, for a missing rater."""
        return np.where(self.patterns.present, self.patterns.patterns, 0).astype(np.int64)


def _log_beta(parameters: Floats, axis: int) -> Floats:
    """Log of the multivariate Beta function along an axis."""
    parts = gammaln(parameters).sum(axis=axis)
    return np.asarray(parts - gammaln(parameters.sum(axis=axis)))
