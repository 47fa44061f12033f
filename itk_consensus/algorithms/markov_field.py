"""STAPLE with a Potts field: neighbouring voxels tend to share a label.

Zhang, Brady & Smith, IEEE TMI 20(1):45-57, 2001 (a hidden Markov field inside EM), with mean-field
beliefs as in Zhang, IEEE TSP 40(10):2570-2583, 1992. The field's energy is
``-weight * sum w_ij [t_i = t_j]`` over voxels that share a face, ``w_ij`` being the smallest voxel
side over the distance of the two.

Three decisions, each measured (CONTRIBUTING.md):

- Voxels on which two or more raters all agree are settled: they pull their neighbours but do not
  move. Letting them move changed Dice by at most .011 and costs the whole volume.
- The field takes the place of the label prior. A prior estimated beside it counts the rarity of
  the foreground twice, and small structures vanish.
- EM starts from the votes, not from the optimum without a field, which contour errors that
  several raters share have already drawn away.

Updating all white voxels of the chessboard, then all black ones, is exact coordinate ascent, so
the bound on the likelihood never falls.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from itk_consensus.algorithms.confusion_model import ConfusionModel, KnownTruth
from itk_consensus.algorithms.expectation_maximization import Optima, Starts, VoxelBeliefs, damped
from itk_consensus.algorithms.iteration import IterationObserver, Step, Stillness, StopRule, iterate
from itk_consensus.array_types import Floats, Floats32
from itk_consensus.labels.chessboard import Colour, chessboard, neighbour_weights
from itk_consensus.labels.decision_patterns import DecisionPatterns

#: What pseudo-likelihood finds where raters err independently: 2.0 to 2.9 in two dimensions.
RECOMMENDED_WEIGHT = 2.0

#: A larger estimate only says that the map is smooth: beliefs hardly change any more.
LARGEST_WEIGHT = 4.0

#: Log score of a label that the votes exclude: less than any neighbourhood can outweigh.
_IMPOSSIBLE = -1e3

#: Beliefs of the white and of the black voxels, (K, n) and (K, m).
Beliefs = tuple[Floats32, Floats32]


class _State(NamedTuple):
    """One run between two iterations."""

    theta: Floats  #: (J, K, 1, K)
    beliefs: Beliefs
    pooled: Floats  #: (P, 1, K) mean belief of each pattern
    weight: float
    bound: float  #: on the log likelihood


@dataclass(frozen=True)
class MarkovField:
    """A Potts field over the voxels that are not settled."""

    patterns: DecisionPatterns  #: With codes
    #: Voxel size per array axis. In 4D the first axis holds independent volumes.
    spacing: tuple[float, ...]
    #: Log odds that one nearest neighbour's label adds; None: estimated by pseudo-likelihood
    #: (Besag, The Statistician 24(3):179-195, 1975), a Newton step after every iteration.
    weight: float | None = RECOMMENDED_WEIGHT

    @cached_property
    def settled(self) -> NDArray[np.bool_]:
        """(P,): patterns in which all agree, and two did if there are two raters at all."""
        raters = int(self.patterns.present.any(axis=0).sum())
        annotators = self.patterns.present.sum(axis=1)
        return np.asarray(self.patterns.unanimous & (annotators >= min(2, raters)))

    @cached_property
    def _colours(self) -> tuple[Colour, Colour]:
        return chessboard(self.patterns, self.settled, self.spacing)

    def maximize(
        self,
        model: ConfusionModel,
        starts: Starts,
        stop: StopRule,
        *,
        damping: float = 0.0,
        observer: IterationObserver | None = None,
    ) -> Optima:
        """EM from the first start; one sweep of the chessboard is the E-step.

        The log likelihood is the mean-field bound, up to the field's normalising constant, and a
        pattern's responsibility the mean belief of its voxels.
        """
        prior = starts.prior
        stillness = Stillness(stop.tolerance)

        def step(now: _State) -> Step[_State, float]:
            theta, _ = model.m_step(now.pooled, prior)
            theta = damped(theta, now.theta, damping)
            scores = np.maximum(model.e_step(theta, prior).log_joint[:, 0], _IMPOSSIBLE)
            beliefs, agreement = self._sweep(now.beliefs, scores, now.weight)
            pooled = self._pool(beliefs)
            # Mean-field bound on the log likelihood, up to the field's normalising constant.
            votes = float(model.weights @ (pooled[:, 0] * scores).sum(axis=1))
            bound = votes + now.weight * agreement + _entropy(beliefs)
            trace = float(model.log_posterior(np.array([bound]), theta)[0])
            weight = self.weight
            if weight is None:
                weight = self._better_weight(beliefs, now.weight)
            believed = [colour[:, None] for colour in beliefs]
            done = stillness.reached(theta, now.theta, *believed, np.full((1, 1), weight))
            return Step(_State(theta, beliefs, pooled, weight, bound), trace, bool(done[0]))

        pooled = starts.expectation(model).responsibilities[:, :1]
        white, black = (_by_label(pooled[colour.pattern, 0]) for colour in self._colours)
        weight = RECOMMENDED_WEIGHT if self.weight is None else self.weight
        start = _State(starts.theta[:, :, :1], (white, black), pooled, weight, np.nan)
        run = iterate(step, start, stop.most_iterations, observer)
        end = run.state
        with np.errstate(divide="ignore"):
            log_joint = np.log(end.pooled)
        return Optima(
            KnownTruth(end.pooled, log_joint),
            end.theta,
            prior,
            np.array([end.bound]),
            np.array(run.trace[-1:] or [np.nan]),
            np.array([len(run.trace) - run.converged]),
            np.array([run.converged]),
            np.array(run.trace)[:, None],
            VoxelBeliefs(
                np.concatenate([colour.voxels for colour in self._colours]),
                np.concatenate(end.beliefs, axis=1),
                end.weight,
            ),
        )

    def _sweep(self, beliefs: Beliefs, scores: Floats, weight: float) -> tuple[Beliefs, float]:
        """Update the white voxels given the black ones, then the black given the white.

        Also returns the weight of neighbours expected to agree.
        """
        by_label = _by_label(scores)
        strength = np.float32(weight)
        white_side, black_side = self._colours
        pull = white_side.pull(beliefs[1])
        white = _softmax(by_label[:, white_side.pattern] + strength * pull)
        pull = black_side.pull(white)
        black = _softmax(by_label[:, black_side.pattern] + strength * pull)
        # Black voxels see every link once; white ones add their settled neighbours.
        agreement = float(np.vdot(black, pull)) + float(np.vdot(white, white_side.anchor))
        return (white, black), agreement

    def _pool(self, beliefs: Beliefs) -> Floats:
        """(P, 1, K) mean belief of each pattern's voxels; settled ones have their label."""
        number = len(self.settled)
        white, black = self._colours
        mass = white.tally(beliefs[0], number) + black.tally(beliefs[1], number)
        agreed = (self.patterns.votes() > 0).astype(np.float64)
        means = mass / self.patterns.counts[:, None]
        return np.where(self.settled[:, None], agreed, means)[:, None, :]

    def _better_weight(self, beliefs: Beliefs, weight: float) -> float:
        """A Newton step to the weight under which neighbours predict each label best.

        Settled voxels are taken to have settled neighbours of their own label: the few beside
        open voxels hardly count, and nothing outside the disputed region need be visited.
        """
        white, black = self._colours
        alone = np.zeros((self.patterns.number_of_labels, 1), np.float32)
        alone[0] = 2 * sum(neighbour_weights(self.spacing).values())
        number = float(self.patterns.counts[self.settled].sum())
        steps = [
            _newton(white.pull(beliefs[1]), beliefs[0], 1.0, weight),
            _newton(black.pull(beliefs[0]), beliefs[1], 1.0, weight),
            _newton(alone, (alone > 0).astype(np.float32), number, weight),
        ]
        slope, curvature = (sum(part) for part in zip(*steps, strict=True))
        step = slope / curvature if curvature > 0 else 0.0
        return float(np.clip(weight + step, 0.0, LARGEST_WEIGHT))


def _newton(pull: Floats32, beliefs: Floats32, number: float, weight: float) -> tuple[float, float]:
    """Slope and negated curvature of the log pseudo-likelihood, of `number` such voxels."""
    exact = pull.astype(np.float64)
    predicted = _softmax(weight * exact)
    mean = (predicted * exact).sum(axis=0)
    spread = (predicted * exact**2).sum(axis=0) - mean**2
    return number * float(((beliefs - predicted) * exact).sum()), number * float(spread.sum())


def _entropy(beliefs: Beliefs) -> float:
    tiny = np.finfo(np.float32).tiny
    logs = (np.log(np.maximum(of, tiny)) for of in beliefs)
    pairs = zip(beliefs, logs, strict=True)
    return -sum(float((of * log).sum(dtype=np.float64)) for of, log in pairs)


def _by_label(rows: NDArray[Any]) -> Floats32:
    """(n, K) as (K, n) float32: NumPy is slow along so short an axis as the labels."""
    return np.ascontiguousarray(rows.T, dtype=np.float32)


def _softmax(scores: NDArray[Any]) -> NDArray[Any]:
    """Over the first axis, the labels."""
    odds = np.exp(scores - scores.max(axis=0))
    return np.asarray(odds / odds.sum(axis=0))
