"""STAPLE of raters who are not certain: their probabilities are fractions of a vote.

Who gives label d the probability p casts a share p of one vote for it: the voxel's likelihood given
the truth t is the product of ``theta[j, d, t] ** p`` over raters and labels, and the M-step counts
p votes for d. That is the log likelihood of votes drawn from the raters' probabilities, in the mean
over the draws. With probabilities of 0 and 1 it is the model of confusion_model.py, and so is every
step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from itk_consensus.array_types import Floats
from itk_consensus.fusion.staple.confusion_model import Maximization
from itk_consensus.fusion.staple.staple import StapleSettings, from_one_start
from itk_consensus.fusion.staple.staple_result import StapleEstimate
from itk_consensus.votes.class_probabilities import Masks, Opinions, both_classes
from itk_consensus.votes.expected_counts import VoteShares
from itk_consensus.votes.fusions import VolumeFusion
from itk_consensus.votes.ties import BACKGROUND

#: Probabilities of a vote below this are 0 on paper; their logarithm must stay a number.
_IMPOSSIBLE = 1e-300


class SoftTable(NamedTuple):
    """The votes of the voxels inside the mask, equal background ones taken together."""

    votes: Floats  #: (N, J * K) share of each rater's vote for each label; 0 for a missing rater
    counts: Floats  #: (N,) voxels that a row stands for
    rows: NDArray[np.intp]  #: (*shape) row of each voxel; -1 outside the mask
    raters: int

    @classmethod
    def of(cls, opinions: Opinions, annotated: Masks, mask: NDArray[Any] | None) -> SoftTable:
        """Lay out the probabilities of K classes that each rater gives."""
        first = next(opinion for opinion in opinions if opinion is not None)
        shape, labels = first[0].shape, max(len(first), 2)
        inside = np.ones(shape, bool) if mask is None else np.asarray(mask != 0)
        votes = np.zeros((np.count_nonzero(inside), len(opinions), labels))
        given = annotated or (None,) * len(opinions)
        for rater, (opinion, where) in enumerate(zip(opinions, given, strict=True)):
            for label, classes in enumerate(both_classes(opinion or ())):
                said = classes[inside]
                votes[:, rater, label] = said if where is None else np.where(where[inside], said, 0)
        flat = votes.reshape(len(votes), -1)
        # Most voxels are background to everybody, as the first of them is.
        common = (flat == flat[0]).all(axis=1)
        rows = np.full(shape, -1, np.intp)
        rows[inside] = np.where(common, 0, np.cumsum(~common))
        counts = np.ones(np.count_nonzero(~common) + 1)
        counts[0] = np.count_nonzero(common)
        return cls(np.concatenate([flat[:1], flat[~common]]), counts, rows, len(opinions))

    @property
    def labels(self) -> int:
        return int(self.votes.shape[1]) // self.raters

    def shares(self, kind: VoteShares, frequencies: Floats) -> Floats:
        """(N, K) what votes alone say of the truth; the frequencies where nobody annotated."""
        votes = self.votes.reshape(len(self.votes), self.raters, -1).sum(axis=1)
        if kind == "majority":
            votes = (votes >= votes.max(axis=1, keepdims=True) - 1e-12) & (votes > 0)
        total = votes.sum(axis=1, keepdims=True)
        return np.where(total > 0, votes / np.where(total > 0, total, 1), frequencies)

    def frequencies(self) -> Floats:
        """(K,) mean share of each label."""
        mass = self.counts @ self.shares("mean", np.zeros(self.labels))
        return np.asarray(mass / mass.sum())


@dataclass(frozen=True)
class SoftModel(Maximization):
    """The model of confusion_model.py on fractions of votes; one prior for all voxels."""

    table: SoftTable
    pseudo_counts: Floats
    estimate_prior: bool

    @property
    def _absent_raters(self) -> NDArray[np.int64]:
        votes = self.table.votes.reshape(len(self.table.votes), self.table.raters, -1)
        return np.flatnonzero(~votes.any(axis=(0, 2)))

    def log_joint(self, theta: Floats, prior: Floats) -> Floats:
        """(N, S, K) log of prior times likelihood."""
        known = np.log(np.maximum(np.nan_to_num(theta, nan=1.0), _IMPOSSIBLE))
        likelihood = self.table.votes @ known.reshape(self.table.votes.shape[1], -1)
        # A label that died out has no prior left; it does not come back.
        return np.asarray(
            likelihood.reshape(-1, *prior.shape) + np.log(np.maximum(prior, _IMPOSSIBLE))
        )

    def step(self, theta: Floats, prior: Floats) -> tuple[Floats, Floats, Floats]:
        joint = self.log_joint(theta, prior)
        total = scipy.special.logsumexp(joint, axis=2)
        truth = np.exp(joint - total[:, :, None])
        return *self._maximum(*self.expected(truth), prior), self.table.counts @ total

    def step_from_votes(
        self, shares: VoteShares, frequencies: Floats, prior: Floats
    ) -> tuple[Floats, Floats]:
        truth = self.table.shares(shares, frequencies)[:, None, :]
        return self._maximum(*self.expected(truth), prior)

    def expected(self, truth: Floats) -> tuple[Floats, Floats]:
        """(J, K, S, K) expected votes and (1, S, K) expected voxels, given (N, S, K) beliefs."""
        weighted = truth * self.table.counts[:, None, None]
        counts = self.table.votes.T @ weighted.reshape(len(truth), -1)
        shape = self.table.raters, self.table.labels, *truth.shape[1:]
        return counts.reshape(shape), weighted.sum(axis=0)[None]

    def truth(self, theta: Floats, prior: Floats) -> Floats:
        """(N, S, K) what parameters say of each row."""
        joint = self.log_joint(theta, prior)
        return np.asarray(np.exp(joint - scipy.special.logsumexp(joint, axis=2)[:, :, None]))


@dataclass(frozen=True, kw_only=True)
class SoftStapleResult(StapleEstimate):
    """STAPLE's answer by voxel, beside what it says of the raters."""

    fusion: VolumeFusion
    votes: Floats  #: (J, 2, 2) expected votes [rater, observed, true]

    def _expected_votes(self) -> Floats:
        return self.votes


def soft_staple(
    opinions: Opinions,
    annotated: Masks,
    mask: NDArray[Any] | None,
    settings: StapleSettings,
    *,
    owner: str = "soft_staple",
) -> SoftStapleResult:
    """Fuse probabilities of background and foreground, from the plan's first start.

    Parameters
    ----------
    opinions : Opinions
        Of background and foreground, the foreground's alone being enough.
    mask : ndarray or None
        Zero at voxels to leave out.
    settings : StapleSettings
        Binary, with one prior for all voxels.
    """
    table = SoftTable.of(opinions, annotated, mask)
    model = SoftModel(table, settings.pseudo_count_table(2), settings.estimate_prior)
    frequencies = table.frequencies()
    end, told = from_one_start(model, table.raters, frequencies, settings, owner)
    votes = model.expected(end.truth)[0][:, :, 0]
    return SoftStapleResult(fusion=_fusion(table, end.truth[:, 0]), votes=votes, **told)


def _fusion(table: SoftTable, truth: Floats) -> VolumeFusion:
    """Every voxel has what its row says; whatever is not foreground is background."""
    inside = table.rows >= 0
    decision = (truth[:, 1] >= truth[:, 0]).astype(np.int32)[table.rows]
    decision[~inside] = BACKGROUND
    return VolumeFusion(decision, lambda label: np.where(inside, truth[:, label][table.rows], 0.0))
