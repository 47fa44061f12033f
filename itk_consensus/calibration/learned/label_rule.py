"""Learn the rule for a label's disputed voxels from tables, and test whether it helps.

The candidates are rater weights with priors of three widths, and each single rater. Each candidate
is evaluated by cross-validation over cases; the best is adopted only if the one-sided 97.5 % lower
bound of its gain in Dice over Consensus is above 0. A cut of the vote share is not a separate
candidate: the weights include it, and their prior shrinks it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from itk_consensus.calibration.learned.rater_weights import (
    features,
    fit_weights,
    probabilities,
)
from itk_consensus.calibration.learned.vote_tables import LabelTable, StackedTables
from itk_consensus.core.array_types import Floats, Mask
from itk_consensus.fusing.paired_gain import Gain, left_out_groups

PRECISIONS = (0.1, 0.3, 1.0)

FEWEST_CASES = 5
#: Minimum number of cases for a rule that follows a single rater.
USUAL_CASES = 10
#: Fraction of the rule's gain that a single rater must reach to be considered its explanation.
_EXPLAINED = 0.75
_CALIBRATION_BINS = 10
#: Minimum Dice between a rule's result and Consensus; below it, they depict different objects.
_LEAST_DICE = 0.5


@dataclass(frozen=True, eq=False)
class Rule:
    """Weights of a voxel's features; a label is assigned if its probability is at least one
    half.
    """

    kind: str  #: "weights" and a precision, or "rater" and an index
    weights: Floats  #: (J + 3,) of `features`

    def probability(
        self, votes: NDArray[np.int8], consensus: Mask, share: NDArray[np.intp]
    ) -> Floats:
        """Return the (R,) probability of the label."""
        return probabilities(features(votes, consensus, share), self.weights)

    def choose(self, rows: Floats) -> Mask:
        """Return a mask of the rows of (R, J + 3) `features` that get the label."""
        return np.asarray(rows @ self.weights >= -_ROUNDING)


_ROUNDING = 1e-9


def is_alike(both: Any, either: Any) -> Any:
    """Return whether a result overlaps Consensus enough to depict the same object.

    Parameters
    ----------
    both, either : int or ndarray
        Numbers of voxels in the intersection and in the union of the two results.
    """
    return 2 * both >= _LEAST_DICE * (both + either)


@dataclass(frozen=True)
class Learner:
    """Learns rules for one label from subsets of the cases."""

    stack: StackedTables

    @cached_property
    def rows(self) -> Floats:
        """(R, J + 3) features."""
        return features(self.stack.votes, self.stack.consensus, self.stack.share)

    @cached_property
    def rates(self) -> Floats:
        """(R,) share of each row's voxels that truly have the label."""
        return self.stack.true / self.stack.voxels

    @cached_property
    def consensus_dice(self) -> Floats:
        """(C,) Dice of Consensus with the true segmentation."""
        return self.stack.dice(self.stack.consensus)

    def dice(self, chosen: NDArray[np.bool_]) -> Floats:
        """Return the (C, ...) Dice with the true segmentation if the (R, ...) chosen rows get the
        label.

        A result that is too different from Consensus is replaced by Consensus.
        """
        extra = (1,) * (chosen.ndim - 1)
        voxels, ours = (
            self.stack.voxels.reshape(-1, *extra),
            self.stack.consensus.reshape(-1, *extra),
        )
        agreed = self.stack.agreed.reshape(-1, *extra)
        both = agreed + self.stack.by_case((chosen & ours) * voxels)
        either = agreed + self.stack.by_case((chosen | ours) * voxels)
        kept = self.consensus_dice.reshape(-1, *extra)
        return np.asarray(np.where(is_alike(both, either), self.stack.dice(chosen), kept))

    @cached_property
    def case_weights(self) -> Floats:
        """(R,) weights of the rows in the likelihood."""
        return self.stack.case_weights()

    def candidates(self) -> Iterator[str]:
        """Yield the kinds of rules that are candidates."""
        yield from (f"weights {precision:g}" for precision in PRECISIONS)
        if self.stack.number_of_cases >= USUAL_CASES:
            yield from (f"rater {j}" for j in range(self.stack.number_of_raters))

    def learn(self, kind: str, cases: Mask, start: Floats | None = None) -> Rule:
        """Learn a rule of a kind from some cases; `start` only reduces the number of iterations."""
        name, _, which = kind.partition(" ")
        if name == "rater":
            return self._single_rater(int(which), cases)
        part = cases[self.stack.case]
        given = self.rows[part], self.rates[part], self.case_weights[part]
        return Rule(kind, fit_weights(*given, float(which), start))

    def _single_rater(self, rater: int, cases: Mask) -> Rule:
        """Return the rule that follows one rater, or Consensus where that rater has no vote."""
        votes, part = self.stack.votes[:, rater], cases[self.stack.case]
        vote_weights = self.case_weights * (votes != 0) * part
        right = vote_weights @ np.where(votes > 0, self.rates, 1 - self.rates)
        share = (right + 1) / (vote_weights.sum() + 2)
        weights = np.zeros(self.rows.shape[1])
        weights[rater] = max(float(scipy.special.logit(share)), 0.5)
        weights[-3] = 0.25
        return Rule(f"rater {rater}", weights)


class Trial(NamedTuple):
    """Cross-validation of one kind of rule."""

    rule: Rule  #: Learned from all cases
    gains: Floats  #: (C,) gain in Dice over Consensus in each case, when that case is left out
    chance: Floats  #: (R,) probability for each row, from the rule learned without the row's case
    weights: Floats  #: (groups, J + 3) weights learned without each group of cases

    @property
    def gain(self) -> Gain:
        """The mean gain over cases, with its interval."""
        return Gain.of(self.gains)


def _cross_validate(learner: Learner, kind: str) -> Trial:
    every = np.ones(learner.stack.number_of_cases, bool)
    rule = learner.learn(kind, every)
    gains, chance, weights = np.zeros(len(every)), np.zeros(len(learner.rows)), []
    for out in left_out_groups(learner.stack.number_of_cases):
        without = learner.learn(kind, ~out, rule.weights)
        rows = out[learner.stack.case]
        chance[rows] = probabilities(learner.rows[rows], without.weights)
        found = learner.dice(without.choose(learner.rows))
        gains[out] = (found - learner.consensus_dice)[out]
        weights.append(without.weights)
    return Trial(rule, gains, chance, np.array(weights))


@dataclass(frozen=True, eq=False)
class LabelRule:
    """The best rule for a label, and its evaluation."""

    label: int
    number: int  #: Number of cases with the label
    rule: Rule  #: The best rule, adopted or not
    is_adopted: bool  #: Otherwise Consensus is used
    gain: Gain  #: Cross-validated gain of the rule over Consensus
    errors: Floats  #: (J + 3,) standard errors of its weights
    best_rater: int  #: The single rater with the largest gain
    best_rater_gain: Gain  #: Gain of that rater alone
    #: Mean difference between probabilities and frequencies, cross-validated
    calibration_error: float
    changed: float  #: Fraction of disputed voxels at which the rule differs from Consensus
    changed_ties: float  #: Fraction of these voxels at which votes are tied

    @property
    def explained_by_one_rater(self) -> bool:
        """Whether a single rater achieves nearly the gain of the rule."""
        alone = self.best_rater_gain
        return self.is_adopted and alone.low > 0 and alone.mean >= _EXPLAINED * self.gain.mean

    def intervals(self) -> Floats:
        """(J, 2) 95 % intervals of the raters' weights."""
        raters = len(self.errors) - 3
        reach = float(scipy.special.stdtrit(max(self.number - 1, 1), 0.975)) * self.errors[:raters]
        weights = self.rule.weights[:raters]
        return np.column_stack([weights - reach, weights + reach])


def learn_label(label: int, tables: Sequence[LabelTable], raters: int) -> LabelRule | None:
    """Learn the rule for a label; return None if the label is disputed in too few cases.

    Parameters
    ----------
    tables : sequence of LabelTable
        Tables of this label, one per case.
    """
    stack = StackedTables.of(tables, raters)
    if len(np.unique(stack.case)) < FEWEST_CASES:
        return None
    learner = Learner(stack)
    trials = {kind: _cross_validate(learner, kind) for kind in learner.candidates()}
    best = max(trials.values(), key=lambda trial: trial.gain.low)
    kinds = [f"rater {j}" for j in range(raters)]
    alone = [(trials.get(kind) or _cross_validate(learner, kind)).gain for kind in kinds]
    best_rater = max(range(raters), key=lambda j: alone[j].mean)
    groups = len(best.weights)
    spread = ((best.weights - best.weights.mean(axis=0)) ** 2).sum(axis=0)
    gain = best.gain
    changed = best.rule.choose(learner.rows) != stack.consensus
    weights = learner.case_weights
    tied = changed & (stack.votes.sum(axis=1) == 0)
    total = weights[changed].sum()
    return LabelRule(
        label,
        len(tables),
        best.rule,
        gain.is_shown,
        gain,
        np.sqrt(spread * (groups - 1) / groups),
        best_rater,
        alone[best_rater],
        _calibration_error(best.chance, learner.rates, weights),
        float(total / weights.sum()),
        float(weights[tied].sum() / total) if total else 0.0,
    )


def _calibration_error(chance: Floats, rates: Floats, weights: Floats) -> float:
    """Return the expected calibration error over the disputed voxels."""
    bins = np.minimum((chance * _CALIBRATION_BINS).astype(int), _CALIBRATION_BINS - 1)
    distance = np.bincount(bins, weights * (chance - rates))
    return float(np.abs(distance).sum() / weights.sum())
