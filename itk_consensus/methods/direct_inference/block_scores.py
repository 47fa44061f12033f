"""Conditional probability of each label for a block of equal voxels, given the others (eq. 26).

A block consists of all voxels of a pattern, or of a single voxel. The factors n / N of eq. 26 of
"When Does Consensus Beat Voting?" become rising factorials n (n+1) ... / N (N+1) ..., whose
logarithms are differences of log gamma. Blocks of the same size share a table of these differences,
so each of the many small patterns requires only a sum of J rows of the table. Most entries belong
to votes that no rater cast; they have the same value and are computed once.

Array layout as in label_evidence.py: P patterns, J raters, S maps, K labels.
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
from itk_consensus.core.pickled_fields import FieldsOnly
from itk_consensus.methods.direct_inference.label_evidence import (
    LabelEvidence,
    Maps,
    ParameterPosterior,
)
from itk_consensus.votes.disputed_voxels import chunks
from itk_consensus.votes.fusions import PatternShares

#: Number of values processed at once, so that they fit into the processor's cache.
_CHUNK = 2**17

#: Minimum number of blocks of one size for which a table is computed.
_FEWEST_ALIKE = 16


class _Counts(NamedTuple):
    """Counts and their log gamma values."""

    values: Floats
    log_gamma: Floats

    @classmethod
    def of(cls, values: Floats) -> _Counts:
        return cls(values, scipy.special.gammaln(values))

    def at(self, cells: Any) -> _Counts:
        return _Counts(self.values[cells], self.log_gamma[cells])

    def gain(self, size: Floats | float) -> Floats:
        """Return the change in log gamma when `size` voxels are added to each count."""
        return np.asarray(scipy.special.gammaln(self.values + size) - self.log_gamma)


class _Gains(NamedTuple):
    """Changes in the log evidence when a block of one size is added or removed."""

    of_raters: Floats  #: (J, K + 1, S, K) gains from the confusions [rater, vote, map, label]
    of_prior: Floats  #: (S, K) gains from the label prior


@dataclass(frozen=True)
class BlockScores(FieldsOnly):
    """Log p(t_b | D, t elsewhere) of blocks b, up to a constant."""

    model: LabelEvidence
    maps: Maps  #: (P, S) label maps

    def best_moves(self) -> Iterator[tuple[NDArray[np.intp], Floats, Maps]]:
        """Yield patterns, the (n, S) gain in log evidence of each pattern's best move, and
        its target label.
        """
        sizes = self.model.patterns.counts
        order = np.argsort(sizes, kind="stable")
        ends = np.flatnonzero(np.diff(sizes[order], append=-1)) + 1
        several = []
        for alike in np.split(order, ends[:-1]):
            if len(alike) < _FEWEST_ALIKE:
                several.append(alike)
            else:
                yield alike, *self._best_of_one_size(alike, float(sizes[alike[0]]))
        if several:
            for chosen, scores in self._of_several_sizes(np.concatenate(several)):
                own = self.maps[chosen, :, None]
                stay = np.take_along_axis(scores, own, axis=2)
                np.put_along_axis(scores, own, -np.inf, axis=2)
                yield chosen, scores.max(axis=2) - stay[..., 0], scores.argmax(axis=2)

    def _best_of_one_size(self, patterns: NDArray[np.intp], size: float) -> tuple[Floats, Maps]:
        return self.model.patterns.best_moves(
            patterns, self.maps[patterns], self._gains(size), self._gains(-size)
        )

    def of_voxels(self, part: slice) -> Floats:
        """Return (n, S, K) scores for a single voxel of some patterns."""
        patterns, gains = np.arange(len(self.maps))[part], self._gains_of_voxels
        parts = []
        for few in chunks(len(patterns), max(1, _CHUNK // gains.of_prior.size)):
            chosen = patterns[few]
            scores = np.repeat(gains.of_prior[None], len(chosen), axis=0)
            votes = self.model.patterns.patterns[chosen].T
            for rows, vote in zip(gains.of_raters, votes, strict=True):
                scores += rows[vote]
            self._leave(scores, chosen, np.ones(len(chosen)))
            parts.append(scores)
        return np.concatenate(parts)

    @cached_property
    def _gains_of_voxels(self) -> _Gains:
        return self._gains(1.0)

    def _gains(self, size: float) -> _Gains:
        """Return the gains from adding a block or, if `size` is negative, from removing it."""
        confusion = self._counts.values
        raters, labels, maps, _ = confusion.shape
        # The last row, for the vote of a missing rater, has no effect.
        rows = np.zeros((raters, labels + 1, maps, labels))
        if size > 0:
            values, which = self._without_votes
            rows[:, :-1] = values.gain(size)[which]
        with np.errstate(invalid="ignore"):  # NaN where a count is too small for the removal
            rows[self._voted] = self._with_votes.gain(size)
            rows[:, :-1] -= self._totals.gain(size)[:, None]
            return _Gains(rows, self._prior.gain(size))

    @cached_property
    def _voted(self) -> tuple[NDArray[np.intp], ...]:
        """Indices of the (J, K, S, K) counts that have votes; few if there are many labels."""
        return np.nonzero(self._counts.values != self.model.concentration[:, None])

    @cached_property
    def _with_votes(self) -> _Counts:
        return self._counts.at(self._voted)

    @cached_property
    def _without_votes(self) -> tuple[_Counts, NDArray[np.intp]]:
        """Distinct counts without votes, and the (K, 1, K) index of each count among them."""
        values, which = np.unique(self.model.concentration, return_inverse=True)
        return _Counts.of(values), which.reshape(self.model.concentration.shape)[:, None]

    def _of_several_sizes(
        self, patterns: NDArray[np.intp]
    ) -> Iterator[tuple[NDArray[np.intp], Floats]]:
        for part in chunks(len(patterns), max(1, _CHUNK // self._counts.values[:, 0].size)):
            chosen = patterns[part]
            sizes = self.model.patterns.counts[chosen].astype(np.float64)
            cells, votes = self._cells(chosen, sizes)
            votes = votes[..., None, None]
            scores = self._counts.at(cells).gain(votes).sum(axis=1)
            scores -= self._gain_of_totals(self._totals.at(None), votes)
            scores += self._prior.gain(sizes[:, None, None])
            self._leave(scores, chosen, sizes)
            yield chosen, scores

    def _leave(self, scores: Floats, patterns: NDArray[np.intp], sizes: Floats) -> None:
        """Overwrite the scores of the current labels, whose counts already include the block."""
        (raters, vote), votes = self._cells(patterns, sizes)
        own, votes, index = self.maps[patterns], -votes[..., None], np.arange(self.maps.shape[1])
        by_rater = index, own[:, None]
        left = (
            self._counts.at((raters[:, None], vote[..., None], *by_rater)).gain(votes).sum(axis=1)
        )
        left -= self._gain_of_totals(self._totals.at((raters[:, None], *by_rater)), votes)
        left += self._prior.at((index, own)).gain(-sizes[:, None])
        np.put_along_axis(scores, own[..., None], -left[..., None], axis=2)

    def _gain_of_totals(self, totals: _Counts, votes: Floats) -> Floats:
        """Return (n, ...) gains of (1 or n, J, ...) totals from (n, J, ...) votes, over raters."""
        if self.model.all_present:
            # The totals are the same for all raters.
            first = totals.at((slice(None), 0))
            return np.asarray(self.model.patterns.number_of_raters * first.gain(votes[:, 0]))
        return np.asarray(totals.gain(votes).sum(axis=1))

    def _cells(
        self, patterns: NDArray[np.intp], sizes: Floats
    ) -> tuple[tuple[NDArray[np.intp], NDArray[np.int64]], Floats]:
        """Return (J,) rater and (n, J) vote indices, and the (n, J) number of votes in each cell.

        A missing rater has 0 votes.
        """
        votes = self.model.patterns.patterns[patterns]
        present = votes != self.model.patterns.number_of_labels
        cells = np.arange(votes.shape[1]), np.where(present, votes, 0).astype(np.int64)
        return cells, present * sizes[:, None]

    @cached_property
    def _posterior(self) -> ParameterPosterior:
        return self.model.parameter_posterior(self.maps)

    @cached_property
    def _prior(self) -> _Counts:
        """(S, K) parameters of the label prior."""
        return _Counts.of(self._posterior.prior)

    @cached_property
    def _counts(self) -> _Counts:
        """(J, K, S, K) parameters of the confusions."""
        return _Counts.of(self._posterior.confusion)

    @cached_property
    def _totals(self) -> _Counts:
        """(J, S, K) sums of the parameters of the confusions over votes."""
        return _Counts.of(self._posterior.confusion.sum(axis=1))


@dataclass(frozen=True)
class ConditionalShares(PatternShares):
    """Probability of each label for a single voxel of each pattern, given the rest of a map."""

    blocks: BlockScores  #: Scores for a single map

    @classmethod
    def of(cls, model: LabelEvidence, decision: Maps) -> ConditionalShares:
        """Build the shares for a (P,) map."""
        return cls(BlockScores(model, decision[:, None]))

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.blocks.maps), self.blocks.model.patterns.number_of_labels

    def rows(self, part: slice) -> Floats:
        scores = self.blocks.of_voxels(part)[:, 0]
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))
