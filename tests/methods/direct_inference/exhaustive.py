"""Direct inference by exhaustive enumeration of all label maps."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
from hypothesis import strategies as st
from scipy.special import gammaln

from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.label_stack import LabelStack


@dataclass(frozen=True)
class TinyStack:
    """A stack with so few voxels that all label maps can be enumerated.

    `votes` contains label indices with shape (raters, voxels), -1 where a rater did not annotate;
    `alpha` is indexed by [observed, true] label.
    """

    votes: np.ndarray
    alpha: np.ndarray

    @property
    def labels(self) -> int:
        return len(self.alpha)

    @property
    def voxels(self) -> int:
        return self.votes.shape[1]

    def encode(self) -> DecisionPatterns:
        # Missing votes get an arbitrary label and are excluded by the rater's mask.
        arrays = [np.where(rater < 0, 0, rater).astype(np.uint8) for rater in self.votes]
        stack = LabelStack.multilabel(arrays, rater_masks=[rater >= 0 for rater in self.votes])
        assert len(stack.labels) == self.labels
        return DecisionPatterns.from_stack(stack)

    def all_maps(self) -> np.ndarray:
        """Return all label maps as a (maps, voxels) array."""
        return np.array(list(product(range(self.labels), repeat=self.voxels)))

    def dirichlet(self, maps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the Dirichlet parameters given each map.

        These are N_k + 1 of the prior, (maps, K), and N_dt + alpha_dt + 1 of the confusions,
        (raters, K, maps, K).
        """
        truth = maps[:, :, None] == np.arange(self.labels)
        said = self.votes[:, :, None] == np.arange(self.labels)
        counts = np.einsum("jvd,mvt->jdmt", said.astype(float), truth.astype(float))
        return truth.sum(axis=1) + 1.0, counts + self.alpha[:, None, :] + 1

    def log_evidence(self, maps: np.ndarray) -> np.ndarray:
        """Compute the log evidence (the paper's eq. 25), up to the constants of the priors."""
        prior, confusion = self.dirichlet(maps)
        raters = gammaln(confusion).sum(axis=1) - gammaln(confusion.sum(axis=1))
        return gammaln(prior).sum(axis=1) - gammaln(prior.sum(axis=1)) + raters.sum(axis=(0, 2))

    def posterior(self) -> tuple[np.ndarray, np.ndarray]:
        """Return all maps and the probability of each given the votes."""
        maps = self.all_maps()
        evidence = self.log_evidence(maps)
        weights = np.exp(evidence - evidence.max())
        return maps, weights / weights.sum()

    def evidence_by_urns(self, labels: np.ndarray) -> Fraction:
        """Compute p(t, D) as a product of conditional probabilities of each voxel's label and
        votes.

        This requires neither integrals nor Gamma functions: with Dirichlet priors, labels and votes
        are draws from Polya urns.
        """
        chance = Fraction(1)
        prior = [Fraction(1)] * self.labels
        concentration = [[Fraction(float(a)) + 1 for a in row] for row in self.alpha]
        urns = [[list(row) for row in concentration] for _ in self.votes]
        for voxel, label in enumerate(labels):
            chance *= prior[label] / sum(prior)
            prior[label] += 1
            for urn, rater in zip(urns, self.votes, strict=True):
                if rater[voxel] >= 0:
                    chance *= urn[rater[voxel]][label] / sum(row[label] for row in urn)
                    urn[rater[voxel]][label] += 1
        return chance


@st.composite
def tiny_stacks(
    draw: st.DrawFn, labels: int = 2, most_voxels: int = 12, fewest_raters: int = 2
) -> TinyStack:
    """Draw raters of different performance with some missing votes; every label occurs."""
    voxels = draw(st.integers(labels, most_voxels))
    raters = draw(st.integers(fewest_raters, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    truth = rng.integers(0, labels, voxels)
    errors = rng.random((raters, 1)) * draw(st.sampled_from([0.3, 0.7, 2.0]))
    noise = rng.random((raters, voxels)) < errors
    votes = np.where(noise, rng.integers(0, labels, noise.shape), truth)
    votes[0, :labels] = np.arange(labels)
    if draw(st.booleans()):
        absent = rng.random(votes.shape) < 0.3
        absent[0] = False
        absent[1:, 0] = False
        votes[absent] = -1
    diagonal, other = draw(st.sampled_from([(4.0, 2.0), (2.0, 0.0), (2.0, 1.0), (0.0, 0.0)]))
    alpha = np.where(np.eye(labels, dtype=bool), diagonal, other / (labels - 1))
    return TinyStack(votes, alpha)
