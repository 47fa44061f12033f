"""STAPLE with a Potts field, which encourages neighbouring voxels to share a label.

Zhang, Brady & Smith, IEEE TMI 20(1):45-57, 2001 (a hidden Markov field inside EM), with mean-field
beliefs as in Zhang, IEEE TSP 40(10):2570-2583, 1992. The field's energy is
``-weight * sum w_ij [t_i = t_j]`` over voxels that share a face, ``w_ij`` being the smallest voxel
side divided by the distance between the two.

Three design decisions, each based on measurements (docs/decisions/methods.md):

- Voxels on which two or more raters all agree are settled: they influence their neighbours but are
  not updated. Updating them changed Dice by at most 0.011 and requires passes over the whole
  volume.
- The field replaces the label prior. If a prior were estimated as well, the rarity of the
  foreground would count twice, and small structures would vanish.
- EM starts from the votes, not from the optimum without a field, which contour errors that
  several raters share have already biased.

Few labels are probable at each voxel, so beliefs are stored as sparse lists; labels with a
probability below 1e-13 given votes and neighbours are dropped.

Updating all white voxels of the chessboard, then all black ones, is exact coordinate ascent, so the
bound on the likelihood never decreases.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats, Labels
from itk_consensus.core.work import report
from itk_consensus.fusing.iteration import ConvergenceTest, Step, StopRule, iterate
from itk_consensus.methods.staple.confusion_model import ConfusionModel
from itk_consensus.methods.staple.expectation_maximization import (
    Optima,
    Starts,
    VoxelBeliefs,
    damped,
)
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.disputed_voxels import CHUNK, chunks
from itk_consensus.votes.fields.chessboard import (
    NEGLIGIBLE,
    Chessboard,
    LabelLists,
    chessboard,
    neighbour_weights,
)
from itk_consensus.votes.ties import decide

#: Pseudo-likelihood estimates range from 2.0 to 2.9 in 2D if raters err independently.
RECOMMENDED_WEIGHT = 2.0

#: Upper bound of the estimate; beliefs hardly change beyond it.
LARGEST_WEIGHT = 4.0

#: Log score of a label that the votes exclude; too low for any neighbourhood to outweigh.
_IMPOSSIBLE = -1e3

#: Initial shares below this are dropped, since they do not affect neighbours.
_NEGLIGIBLE_SHARE = 1e-10

#: Beliefs of the white and of the black voxels.
Beliefs = tuple[LabelLists, LabelLists]


class _State(NamedTuple):
    """State of EM between two iterations."""

    theta: Floats  #: (J, K, 1, K)
    beliefs: Beliefs
    counts: Floats  #: (J, K, 1, K) expected votes [rater, observed, , true]
    weight: float
    bound: float  #: Mean-field bound on the log likelihood


@dataclass(frozen=True)
class PooledTruth:
    """Mean belief over the voxels of each pattern; interface of `KnownTruth`, for one start."""

    shares: scipy.sparse.csr_matrix  #: (P, K)

    @property
    def number_of_patterns(self) -> int:
        """Number of patterns, P."""
        return int(self.shares.shape[0])

    def decisions(self, tolerance: float) -> Labels:
        """Return the (P, 1) labels with the highest share; undecided where the log shares tie."""
        labels = np.arange(self.shares.shape[1])
        decided = np.empty((self.number_of_patterns, 1), np.int64)
        for part in _blocks_of(*self.shares.shape):
            with np.errstate(divide="ignore"):
                scores = np.log(self.shares[part].toarray())
            decided[part, 0] = decide(scores, labels, tolerance=tolerance)
        return decided

    def probabilities(
        self,
        wanted: Sequence[int] | None = None,
        start: int | None = None,
        part: slice | NDArray[np.intp] = slice(None),
    ) -> Floats:
        """Return (P, 1, W) mean beliefs of the `wanted` labels, optionally for some patterns."""
        rows = self.shares[part]
        rows = rows if wanted is None else rows[:, list(wanted)]
        return np.asarray(rows.toarray()[:, None])


@dataclass(frozen=True)
class MarkovField:
    """Potts field over the voxels that are not settled."""

    patterns: DecisionPatterns  #: Patterns, which must have codes
    #: Voxel size along each array axis. In 4D the first axis indexes independent volumes.
    spacing: tuple[float, ...]
    #: Log odds contributed by the label of one nearest neighbour; None: estimated by
    #: pseudo-likelihood (Besag, The Statistician 24(3):179-195, 1975), with a Newton step after
    #: every iteration.
    weight: float | None = RECOMMENDED_WEIGHT

    @cached_property
    def settled(self) -> NDArray[np.bool_]:
        """(P,) whether a pattern is unanimous with at least min(2, raters) votes."""
        raters = int(self.patterns.present.any(axis=0).sum())
        annotators = self.patterns.present.sum(axis=1)
        return np.asarray(self.patterns.unanimous & (annotators >= min(2, raters)))

    @cached_property
    def board(self) -> Chessboard:
        """Chessboard of the voxels that are not settled."""
        return chessboard(self.patterns, self.settled, self.spacing)

    def maximize(
        self,
        model: ConfusionModel,
        starts: Starts,
        stop: StopRule,
        *,
        damping: float = 0.0,
    ) -> Optima:
        """Run EM from the first start, with one sweep of the chessboard as the E-step.

        The log likelihood returned is the mean-field bound, up to the field's normalising constant;
        a pattern's posterior is the mean belief of its voxels.
        """
        prior = starts.prior
        stillness = ConvergenceTest(stop.tolerance)

        def step(now: _State) -> Step[_State, float]:
            theta = damped(model.theta_of(now.counts), now.theta, damping)
            beliefs, bound = self._sweep(now, model, theta, prior)
            trace = float(model.log_posterior(np.array([bound]), theta, prior)[0])
            weight = self.weight
            if weight is None:
                weight = self._better_weight(beliefs, now.weight)
            believed = _fingerprint(beliefs)
            done = stillness.reached(theta, now.theta, believed, np.full((1, 1), weight))
            counts = self._counts(model, beliefs)
            return Step(_State(theta, beliefs, counts, weight, bound), trace, bool(done[0]))

        weight = RECOMMENDED_WEIGHT if self.weight is None else self.weight
        counts, shares = _first_truth(model, starts)
        initial = LabelLists(
            shares.indptr.astype(np.int64),
            shares.indices.astype(np.uint16),
            shares.data.astype(np.float32),
        )
        white, black = (initial.select(colour.pattern) for colour in self.board.colours)
        begin = _State(starts.theta[:, :, :1], (white, black), counts, weight, np.nan)
        run = iterate(step, begin, stop.most_iterations)
        end = run.state
        return Optima(
            PooledTruth(self._mean_by_pattern(end.beliefs) if run.trace else shares),
            end.theta,
            prior,
            np.array([end.bound]),
            np.array(run.trace[-1:] or [np.nan]),
            np.array([len(run.trace) - run.converged]),
            np.array([run.converged]),
            np.array(run.trace)[:, None],
            VoxelBeliefs(
                np.concatenate([colour.voxels for colour in self.board.colours]),
                ~self.settled,
                self.board.by_label(*end.beliefs),
                end.weight,
            ),
        )

    def _sweep(
        self, now: _State, model: ConfusionModel, theta: Floats, prior: Floats
    ) -> tuple[Beliefs, float]:
        """Update the white voxels given the black ones, then the black ones given the white ones.

        Returns the beliefs and the mean-field bound, up to the field's normalising constant.
        """
        rows = prior[:, 0] if prior.ndim == 3 else prior[:1]
        farthest = 2 * sum(neighbour_weights(self.spacing).values())
        candidates = self.board.candidates(
            theta[:, :, 0],
            rows,
            model.prior_rows,
            ~self.settled,
            NEGLIGIBLE + now.weight * farthest,
            _IMPOSSIBLE,
        )
        counted = model.weights / self.patterns.counts
        white = self.board.sweep(0, now.beliefs[1], candidates, counted, now.weight)
        black = self.board.sweep(1, white.beliefs, candidates, counted, now.weight)
        # Summing over black voxels counts every link between unsettled voxels once; links from
        # white voxels to settled ones must be added.
        agreement = black.agreement + white.settled
        votes = white.votes + black.votes + self._settled_votes(model, theta, rows)
        bound = votes + now.weight * agreement + white.entropy + black.entropy
        return (white.beliefs, black.beliefs), bound

    def _settled_votes(self, model: ConfusionModel, theta: Floats, prior: Floats) -> float:
        """Return the log probability of the votes of settled voxels."""
        settled, label = self.settled, self.patterns.lowest_vote[self.settled].astype(np.intp)
        rows = None if model.prior_rows is None else model.prior_rows[settled]
        with np.errstate(divide="ignore"):
            right = np.log(np.fmax(np.einsum("jkk->jk", theta[:, :, 0]), 0.0))
            score = np.log(prior[0 if rows is None else rows, label])
        for correct, present in zip(right, self.patterns.present[settled].T, strict=True):
            score = score + np.where(present, correct[label], 0.0)
        return float(model.weights[settled] @ np.maximum(score, _IMPOSSIBLE))

    def _counts(self, model: ConfusionModel, beliefs: Beliefs) -> Floats:
        """Return (J, K, 1, K) expected votes; settled voxels keep their label."""
        counted = model.weights / self.patterns.counts
        counts: Floats = np.add(
            *(self.board.counts(side, of, counted) for side, of in enumerate(beliefs))
        )
        settled = self.settled
        label, present = self.patterns.lowest_vote[settled], self.patterns.present[settled]
        every = np.arange(self.patterns.number_of_labels)
        for rater, there in enumerate(present.T):
            votes = np.bincount(label[there], model.weights[settled][there], len(every))
            counts[rater, every, every] += votes
        return counts[:, :, None]

    def _mean_by_pattern(self, beliefs: Beliefs) -> scipy.sparse.csr_matrix:
        """Return (P, K) mean beliefs of each pattern's voxels; settled voxels keep their label."""
        patterns, settled = self.patterns, np.flatnonzero(self.settled)
        shape = (len(self.settled), patterns.number_of_labels)
        agreed = patterns.counts[settled], (settled, patterns.lowest_vote[settled])
        mass = scipy.sparse.csr_matrix(agreed, shape=shape, dtype=np.float64)
        for colour, lists in zip(self.board.colours, beliefs, strict=True):
            for part in chunks(len(colour.pattern), 2 * CHUNK):
                ends = lists.ends[part.start : part.stop + 1]
                here = slice(int(ends[0]), int(ends[-1]))
                rows = np.repeat(colour.pattern[part].astype(np.int32), np.diff(ends))
                entries = lists.values[here], (rows, lists.labels[here].astype(np.int32))
                mass = mass + scipy.sparse.csr_matrix(entries, shape=shape, dtype=np.float64)
        mass.data /= np.repeat(patterns.counts, np.diff(mass.indptr))
        return mass

    def _better_weight(self, beliefs: Beliefs, weight: float) -> float:
        """Return the weight after one Newton step on the pseudo-likelihood.

        Settled voxels are assumed to have settled neighbours of their own label, so voxels outside
        the disputed region need not be visited; the exceptions at its border have little influence.
        """
        white, black = beliefs
        steps = [
            self.board.weight_slope(0, white, black, weight),
            self.board.weight_slope(1, black, white, weight),
            self._settled_slope(weight),
        ]
        slope, curvature = (sum(part) for part in zip(*steps, strict=True))
        step = slope / curvature if curvature > 0 else 0.0
        return float(np.clip(weight + step, 0.0, LARGEST_WEIGHT))

    def _settled_slope(self, weight: float) -> tuple[float, float]:
        number = float(self.patterns.counts[self.settled].sum())
        pull = 2 * sum(neighbour_weights(self.spacing).values())
        share = 1 / (1 + (self.patterns.number_of_labels - 1) * np.exp(-weight * pull))
        return number * pull * (1 - share), number * pull**2 * share * (1 - share)


def _first_truth(model: ConfusionModel, starts: Starts) -> tuple[Floats, scipy.sparse.csr_matrix]:
    """Return the (J, K, 1, K) expected votes and (P, K) posterior of the first start."""
    counts: Floats = np.zeros((*starts.theta.shape[:2], 1, starts.theta.shape[3]))
    blocks = []
    for rows in _blocks_of(len(model.weights), starts.theta.shape[3]):
        part = _part(model, rows)
        shares = starts.expectation(part).responsibilities[:, :1]
        counts += part.patterns.tally(part.weights[:, None, None] * shares)
        shares[shares < _NEGLIGIBLE_SHARE] = 0.0
        blocks.append(scipy.sparse.csr_matrix(shares[:, 0]))
        report(0.0)
    return counts, scipy.sparse.vstack(blocks, format="csr")


def _part(model: ConfusionModel, rows: slice) -> ConfusionModel:
    """Return the model restricted to some patterns."""
    table, prior_rows = model.patterns, model.prior_rows
    return replace(
        model,
        patterns=DecisionPatterns(table.patterns[rows], table.counts[rows], table.labels),
        weights=model.weights[rows],
        prior_rows=None if prior_rows is None else prior_rows[rows],
    )


def _fingerprint(beliefs: Beliefs) -> Floats:
    """Return a (1, 16) fingerprint of the beliefs, for detecting that they no longer change."""
    digest = blake2b(digest_size=32)
    for lists in beliefs:
        for array in lists:
            digest.update(np.ascontiguousarray(array).data)
    return np.frombuffer(digest.digest(), np.uint16).astype(np.float64)[None]


def _blocks_of(patterns: int, labels: int) -> Iterator[slice]:
    """Yield chunks of patterns small enough for a dense table of all labels."""
    return chunks(patterns, max(1, 4 * CHUNK // labels))
