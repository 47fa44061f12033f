"""How probable each label is for a block of equal voxels, the rest of a map being given (eq. 26).

A block is all voxels of a pattern, or a single one. Its factors n / N are rising factorials
n (n+1) ... / N (N+1) ..., and their logarithms differences of log gamma. Blocks of one size have
these in common: of the many patterns with few voxels each needs but a sum of J rows of a table. Of
the table's numbers those of votes that nobody gave are all the same.

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
from itk_consensus.methods.direct_inference.label_evidence import (
    LabelEvidence,
    Maps,
    ParameterPosterior,
)
from itk_consensus.votes.disputed_voxels import chunks
from itk_consensus.votes.fusions import PatternShares
from itk_consensus.votes.recipes import FieldsOnly

#: Numbers that one step handles; keeps its arrays in the processor's cache.
_CHUNK = 2**17

#: Blocks of one size that are worth a table.
_FEWEST_ALIKE = 16


class _Counts(NamedTuple):
    """Counts and what is known of them."""

    values: Floats
    log_gamma: Floats

    @classmethod
    def of(cls, values: Floats) -> _Counts:
        return cls(values, scipy.special.gammaln(values))

    def at(self, cells: Any) -> _Counts:
        return _Counts(self.values[cells], self.log_gamma[cells])

    def gain(self, size: Floats | float) -> Floats:
        """By what the log of a rising factorial grows when so many voxels join each count."""
        return np.asarray(scipy.special.gammaln(self.values + size) - self.log_gamma)


class _Gains(NamedTuple):
    """What the counts gain where a block of one size joins, or leaves."""

    of_raters: Floats  #: (J, K + 1, S, K) [rater, what he said, map, label]
    of_prior: Floats  #: (S, K)


@dataclass(frozen=True)
class BlockScores(FieldsOnly):
    """Log p(t_b | D, t elsewhere), up to a constant, of blocks b."""

    model: LabelEvidence
    maps: Maps  #: (P, S)

    def best_moves(self) -> Iterator[tuple[NDArray[np.intp], Floats, Maps]]:
        """Some patterns at a time, what moving each gains at most, and the label it moves to.

        Gains and labels are (n, S).
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
        """(n, S, K) scores of a single voxel of some patterns."""
        patterns, gains = np.arange(len(self.maps))[part], self._gains_of_voxels
        parts = []
        for few in chunks(len(patterns), max(1, _CHUNK // gains.of_prior.size)):
            chosen = patterns[few]
            scores = np.repeat(gains.of_prior[None], len(chosen), axis=0)
            votes = self.model.patterns.patterns[chosen].T
            for rows, said in zip(gains.of_raters, votes, strict=True):
                scores += rows[said]
            self._leave(scores, chosen, np.ones(len(chosen)))
            parts.append(scores)
        return np.concatenate(parts)

    @cached_property
    def _gains_of_voxels(self) -> _Gains:
        return self._gains(1.0)

    def _gains(self, size: float) -> _Gains:
        """Of a block that joins or, its size being negative, leaves counts that hold it."""
        confusion = self._counts.values
        raters, labels, maps, _ = confusion.shape
        # What a missing rater says, the row beyond all labels, gains nothing.
        rows = np.zeros((raters, labels + 1, maps, labels))
        if size > 0:
            values, which = self._without_votes
            rows[:, :-1] = values.gain(size)[which]
        with np.errstate(invalid="ignore"):  # where too few could leave
            rows[self._voted] = self._with_votes.gain(size)
            rows[:, :-1] -= self._totals.gain(size)[:, None]
            return _Gains(rows, self._prior.gain(size))

    @cached_property
    def _voted(self) -> tuple[NDArray[np.intp], ...]:
        """Of (J, K, S, K) counts, those with votes: a few, where labels are many."""
        return np.nonzero(self._counts.values != self.model.concentration[:, None])

    @cached_property
    def _with_votes(self) -> _Counts:
        return self._counts.at(self._voted)

    @cached_property
    def _without_votes(self) -> tuple[_Counts, NDArray[np.intp]]:
        """Distinct counts, and which of them (K, 1, K) counts without votes have."""
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
        """Write the scores of the blocks' own labels, whose counts hold the block already."""
        (raters, said), votes = self._cells(patterns, sizes)
        own, votes, index = self.maps[patterns], -votes[..., None], np.arange(self.maps.shape[1])
        by_rater = index, own[:, None]
        left = (
            self._counts.at((raters[:, None], said[..., None], *by_rater)).gain(votes).sum(axis=1)
        )
        left -= self._gain_of_totals(self._totals.at((raters[:, None], *by_rater)), votes)
        left += self._prior.at((index, own)).gain(-sizes[:, None])
        np.put_along_axis(scores, own[..., None], -left[..., None], axis=2)

    def _gain_of_totals(self, totals: _Counts, votes: Floats) -> Floats:
        """(n, ...) what the (1 or n, J, ...) totals of all raters gain by (n, J, ...) votes."""
        if self.model.all_present:
            # Every rater voted as often as there are voxels: one of the totals serves for all.
            first = totals.at((slice(None), 0))
            return np.asarray(self.model.patterns.number_of_raters * first.gain(votes[:, 0]))
        return np.asarray(totals.gain(votes).sum(axis=1))

    def _cells(
        self, patterns: NDArray[np.intp], sizes: Floats
    ) -> tuple[tuple[NDArray[np.intp], NDArray[np.int64]], Floats]:
        """Indices (J,) and (n, J) of raters and of what they said, and (n, J) votes in each cell.

        A rater who is missing has no count that changes.
        """
        said = self.model.patterns.patterns[patterns]
        present = said != self.model.patterns.number_of_labels
        cells = np.arange(said.shape[1]), np.where(present, said, 0).astype(np.int64)
        return cells, present * sizes[:, None]

    @cached_property
    def _posterior(self) -> ParameterPosterior:
        return self.model.parameter_posterior(self.maps)

    @cached_property
    def _prior(self) -> _Counts:
        """(S, K)."""
        return _Counts.of(self._posterior.prior)

    @cached_property
    def _counts(self) -> _Counts:
        """(J, K, S, K)."""
        return _Counts.of(self._posterior.confusion)

    @cached_property
    def _totals(self) -> _Counts:
        """(J, S, K)."""
        return _Counts.of(self._posterior.confusion.sum(axis=1))


@dataclass(frozen=True)
class ConditionalShares(PatternShares):
    """Probability of each label at a single voxel of each pattern, given the rest of a map."""

    blocks: BlockScores  #: Of one map

    @classmethod
    def of(cls, model: LabelEvidence, decision: Maps) -> ConditionalShares:
        """Given a (P,) map."""
        return cls(BlockScores(model, decision[:, None]))

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.blocks.maps), self.blocks.model.patterns.number_of_labels

    def rows(self, part: slice) -> Floats:
        scores = self.blocks.of_voxels(part)[:, 0]
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))
