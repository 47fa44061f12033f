"""STAPLE on votes without a pattern table: packed bits of many noisy raters, and soft votes.

Both use the EM of staple.py from one start, with one prior for all voxels.

Packed votes (eight to a byte) are used where there are nearly as many patterns as voxels. A volume
processed in chunks is still given as a table of patterns; its rows are packed, and the result is
bitwise identical.

Soft votes: a rater who assigns probability p to label d casts a fraction p of a vote for it. A
voxel's likelihood given the truth t is the product of ``theta[j, d, t] ** p`` over raters and
labels, and the M-step counts p votes for d. Its logarithm is the expected log likelihood of hard
votes drawn from the raters' probabilities. With probabilities of 0 and 1 this is the model of
confusion_model.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import scipy
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats
from itk_consensus.core.pickled_fields import FieldsOnly
from itk_consensus.methods.staple.confusion_model import Maximization
from itk_consensus.votes.class_probabilities import SoftVotes, both_classes
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.disputed_voxels import CHUNK, chunks
from itk_consensus.votes.expected_counts import ExpectedCounts, FirstTruth
from itk_consensus.votes.fusions import (
    DecisionTable,
    Fusion,
    LabelShares,
    PatternFusion,
    VolumeFusion,
)
from itk_consensus.votes.packed_votes import PackedVotes
from itk_consensus.votes.ties import BACKGROUND, SAME_VOTES
from itk_consensus.votes.uncertainty import UncertaintyKind, uncertainty

#: Lower bound of probabilities, so that their logarithms stay finite.
_IMPOSSIBLE = 1e-300


class CountedVotes(Protocol):
    """Interface that EM requires of votes."""

    @property
    def present(self) -> NDArray[np.bool_]:
        """(J,) whether each rater cast any vote."""

    def frequencies(self) -> Floats:
        """Return the (K,) mean share of each label."""

    def expectation(self, theta: Floats, prior: Floats) -> ExpectedCounts:
        """Run the E-step and return the sums required by the M-step."""

    def expectation_of_shares(self, shares: FirstTruth, frequencies: Floats) -> ExpectedCounts:
        """Return the sums for an M-step with each voxel's vote shares as its posterior."""


@dataclass(frozen=True)
class CountedModel(Maximization):
    """The model of confusion_model.py on votes without a pattern table."""

    votes: CountedVotes
    pseudo_counts: Floats
    estimate_prior: bool
    prior_counts: Floats | float = 0.0

    @cached_property
    def _absent_raters(self) -> NDArray[np.int64]:
        return np.flatnonzero(~self.votes.present)

    def step(self, theta: Floats, prior: Floats) -> tuple[Floats, Floats, Floats]:
        sums = self.votes.expectation(theta, prior)
        return *self._maximum(sums.counts, sums.mass, prior), sums.log_likelihood

    def step_from_votes(
        self, shares: FirstTruth, frequencies: Floats, prior: Floats
    ) -> tuple[Floats, Floats]:
        sums = self.votes.expectation_of_shares(shares, frequencies)
        return self._maximum(sums.counts, sums.mass, prior)

    def truth(self, theta: Floats, prior: Floats) -> None:
        """Return None, since the posterior is computed from the parameters on demand."""


@dataclass(frozen=True)
class PackedFusion(Fusion):
    """Fusion that computes each voxel's foreground probability from its packed votes."""

    packed: PackedVotes
    theta: Floats  #: (J, 2, 1, 2)
    prior: Floats  #: (1, 2)

    follows_votes = True
    has_undecided = False

    def volume(self) -> NDArray[np.int32]:
        decision = np.empty(self.packed.shape, np.int32)
        self.write_labels(np.array([0, 1, BACKGROUND, BACKGROUND], np.int32), decision)
        return decision

    def on(self, patterns: DecisionPatterns) -> PatternFusion:
        """Return the result for each pattern of the votes, bitwise identical."""
        rows = PackedVotes.from_patterns(patterns)
        foreground = np.empty(rows.shape)
        rows.write_probability(self.theta, self.prior, foreground)
        decision = (foreground >= 1 - foreground).astype(np.int64)
        return PatternFusion(patterns, decision, in_pairs(foreground))

    def as_table(self, patterns: DecisionPatterns) -> DecisionTable:
        return self.on(patterns).as_table(patterns)

    def write_labels(self, values: NDArray[Any], out: NDArray[Any]) -> None:
        for voxels, inside, foreground in self._parts():
            label = values[(foreground >= 1 - foreground).astype(np.intp)]
            out.reshape(-1)[voxels] = np.where(inside, label, values[BACKGROUND])

    def write_probability(self, label: int, out: NDArray[Any]) -> None:
        self.packed.write_probability(self.theta, self.prior, out)
        if label == 0:
            np.subtract(1, out, out=out)
            if self.packed.mask is not None:
                out.reshape(-1)[self.packed.mask == 0] = 0

    def write_uncertainty(self, kind: UncertaintyKind, labels: int, out: NDArray[Any]) -> None:
        for voxels, inside, foreground in self._parts():
            shares = in_pairs(foreground).T * inside
            uncertainty(kind, shares, out.reshape(-1)[voxels])

    def _parts(self) -> Iterator[tuple[slice, Any, Floats]]:
        """Yield chunks of voxels: their slice, whether they are in the mask, and probability."""
        for voxels in chunks(self.packed.planes.shape[1], 16 * CHUNK):
            part = self.packed.part(voxels)
            foreground = np.empty(part.shape)
            part.write_probability(self.theta, self.prior, foreground)
            yield voxels, True if part.mask is None else part.mask != 0, foreground


@dataclass(frozen=True)
class SoftTable(FieldsOnly):
    """Soft votes of the voxels inside the mask; voxels equal to the first share one row."""

    #: (N, J * K) probability of each label according to each rater; 0 for a missing rater
    votes: Floats
    counts: Floats  #: (N,) number of voxels represented by each row
    rows: NDArray[np.intp]  #: (*shape) row of each voxel; -1 outside the mask
    raters: int

    @classmethod
    def of(cls, soft: SoftVotes) -> SoftTable:
        """Build the table from the class probabilities of each rater."""
        opinions, mask = soft.opinions, soft.mask
        first = next(opinion for opinion in opinions if opinion is not None)
        shape, labels = first[0].shape, len(soft.labels)
        inside = np.ones(shape, bool) if mask is None else np.asarray(mask != 0)
        votes = np.zeros((np.count_nonzero(inside), len(opinions), labels))
        given = soft.annotated or (None,) * len(opinions)
        for rater, (opinion, where) in enumerate(zip(opinions, given, strict=True)):
            for label, classes in enumerate(both_classes(opinion or ())):
                share = classes[inside]
                if where is not None:
                    share = np.where(where[inside], share, 0)
                votes[:, rater, label] = share
        flat = votes.reshape(len(votes), -1)
        # The first voxel is nearly always unanimous background, as are most other voxels.
        common = (flat == flat[0]).all(axis=1)
        rows = np.full(shape, -1, np.intp)
        rows[inside] = np.where(common, 0, np.cumsum(~common))
        counts = np.ones(np.count_nonzero(~common) + 1)
        counts[0] = np.count_nonzero(common)
        return cls(np.concatenate([flat[:1], flat[~common]]), counts, rows, len(opinions))

    @property
    def _by_rater(self) -> Floats:
        """(N, J, K) view of the votes."""
        return self.votes.reshape(len(self.votes), self.raters, -1)

    @cached_property
    def present(self) -> NDArray[np.bool_]:
        return np.asarray(self._by_rater.any(axis=(0, 2)))

    def expectation(self, theta: Floats, prior: Floats) -> ExpectedCounts:
        truth, total = self.truth(theta, prior)
        return ExpectedCounts(*self._expected_sums(truth), self.counts @ total)

    def expectation_of_shares(self, shares: FirstTruth, frequencies: Floats) -> ExpectedCounts:
        """Return the sums with vote shares as posterior; `frequencies` where no rater annotated."""
        truth = self._shares(shares, frequencies)[:, None]
        return ExpectedCounts(*self._expected_sums(truth), np.zeros(1))

    def frequencies(self) -> Floats:
        """Return the (K,) mean vote share of each label."""
        mass = self.counts @ self._shares("mean", np.zeros(self.votes.shape[1] // self.raters))
        return np.asarray(mass / mass.sum())

    def _shares(self, shares: FirstTruth, frequencies: Floats) -> Floats:
        """Return (N, K) vote shares (mean or majority); `frequencies` where no rater annotated."""
        votes = self._by_rater.sum(axis=1)
        if shares == "majority":
            votes = (votes >= votes.max(axis=1, keepdims=True) - SAME_VOTES) & (votes > 0)
        total = votes.sum(axis=1, keepdims=True)
        return np.where(total > 0, votes / np.where(total > 0, total, 1), frequencies)

    def truth(self, theta: Floats, prior: Floats) -> tuple[Floats, Floats]:
        """Return the (N, S, K) posterior of each row and its (N, S) log likelihood."""
        known = np.log(np.maximum(np.nan_to_num(theta, nan=1.0), _IMPOSSIBLE))
        likelihood = self.votes @ known.reshape(self.votes.shape[1], -1)
        # A label whose estimated prior has reached zero remains practically impossible.
        joint = likelihood.reshape(-1, *prior.shape) + np.log(np.maximum(prior, _IMPOSSIBLE))
        total = scipy.special.logsumexp(joint, axis=2)
        return np.exp(joint - total[:, :, None]), total

    def fusion(self, truth: Floats) -> VolumeFusion:
        """Expand the (N, 2) posterior of the rows to all voxels."""
        decision = (truth[:, 1] >= truth[:, 0]).astype(np.int32)[self.rows]
        decision[self.rows < 0] = BACKGROUND
        return VolumeFusion(decision, RowShares(truth, self.rows))

    def _expected_sums(self, truth: Floats) -> tuple[Floats, Floats]:
        """Return (J, K, S, K) expected votes and (1, S, K) voxels, given an (N, S, K) posterior."""
        weighted = truth * self.counts[:, None, None]
        counts = self.votes.T @ weighted.reshape(len(truth), -1)
        return counts.reshape(self.raters, -1, *truth.shape[1:]), weighted.sum(axis=0)[None]


@dataclass(frozen=True)
class RowShares(LabelShares):
    """Label probabilities of voxels, looked up in the rows of a table."""

    truth: Floats  #: (N, 2) posterior of each row
    rows: NDArray[np.intp]  #: (*shape) row of each voxel; -1 outside the mask

    def of_label(self, label: int) -> Floats:
        return np.where(self.rows >= 0, self.truth[:, label][self.rows], 0.0)


def in_pairs(foreground: Any) -> Floats:
    """Stack (..., 2) probabilities of background and foreground."""
    return np.stack([1 - foreground, foreground], axis=-1)
