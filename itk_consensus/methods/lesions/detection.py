"""Is an object there, given who marked it and who did not?

An object that is there is found by reader j with a probability d_j; one that is not there has an
author, and each other reader marks the same with a probability e. A share p of all objects is
there. Both d and p rise with size: what is small is overlooked and invented more often.

The rates that readers share (their usual d, e, p and the rise) are not fitted: with one object in a
case there is nothing to fit them to. They are averaged over a grid under priors that say what is
usual, weighted by how well they foresee all objects. What tells a reader from the others, how much
more it finds and how often it is the author, is estimated on top, held to the others by a prior.

Intervals of readers' rates add up what is unsure: the grid, the estimates on top of it, and the
truth of objects, part of whose doubt is the same for all.

So two of five are not enough where one object is all there is, and are where readers overlook
about that many of the others too; and who marks many alone is not believed alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats, Mask

#: Beta priors: of finding what is there, of marking what another invented, and of being there.
FINDING = (4.0, 2.0)
JOINING = (1.0, 40.0)
BEING_THERE = (3.0, 2.0)
#: How much likelier, in log-odds, an object is found and is there for each doubling of its size.
RISES = (0.0, 0.25, 0.5)
#: Spread between readers, in log-odds of finding an object.
READER_SPREAD = 0.5
#: Invented objects that each reader is given beforehand.
AUTHOR_COUNT = 1.0
#: Correlation of the truth of doubtful objects, beyond the grid. The priors doubt lone marks on
#: purpose; where they are wrong, they are so for all of these. Intervals cover with it.
SHARED_DOUBT = 0.2

#: Values of d, e and p on the grid.
GRID = (16, 6, 6)
#: Values of one reader's deviation, in spreads.
_DEVIATIONS = np.linspace(-3, 3, 13)
#: Doublings from the median size at which sizes stop to matter, and steps of size.
_LARGEST_STEP, _STEP = 3.0, 0.5
#: Rounds, and the change of a deviation at which they end.
_MOST_ROUNDS, _SMALLEST_CHANGE = 30, 1e-4
#: Below this probability a part of the grid does not count.
_LEAST_WEIGHT = 1e-4
#: Probabilities below the ends of an interval, and values at which they are looked for.
_TAILS, _INTERVAL_STEPS = (0.025, 0.975), 128

_PRIORS = (FINDING, JOINING, BEING_THERE)


class Interval(NamedTuple):
    """A rate, and where it lies with a probability of 95 %."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:.2f} ({self.low:.2f} to {self.high:.2f})"


class _Rows(NamedTuple):
    """Objects with the same finders and size."""

    found: Mask  #: (R, J)
    looked: Mask  #: (R, J)
    doublings: Floats  #: (R,) of size, from the median
    number: Floats  #: (R,) of objects


@dataclass(frozen=True)
class Detection:
    """Which objects are there, and how well readers find them."""

    there: Floats  #: (N,) probability that each object is there
    cases: int
    row: NDArray[np.intp]  #: (N,) of each object
    _rows: _Rows
    _rates: Floats  #: (4, nodes) what readers share
    _deviations: Floats  #: (J,) in log-odds
    _authors: Floats  #: (J,) share of invented objects

    @cached_property
    def sensitivity(self) -> tuple[Interval, ...]:
        """Of each reader: the share found of objects of these sizes that are there."""
        there = np.bincount(self.row, self.there, len(self._rows.number))
        weight = there if there.sum() else self._rows.number
        # Of no objects the prior is left, at one size.
        doublings, weight = (
            (self._rows.doublings, weight / weight.sum())
            if len(self.row)
            else (np.zeros(1), np.ones(1))
        )
        return tuple(
            _sensitivity(self._posterior, doublings, weight, reader)
            for reader in range(len(self._authors))
        )

    @cached_property
    def false_finds(self) -> tuple[Interval, ...]:
        """Of each reader: marks of what is not there, per case."""
        return tuple(
            _false_finds(self._posterior, reader, self.cases)
            for reader in range(len(self._authors))
        )

    @cached_property
    def _posterior(self) -> _Posterior:
        return _posterior(self._rows, self._rates, self._deviations, self._authors)


def detect(
    found: Mask,
    voxels: NDArray[np.integer[Any]] | Floats,
    looked: Mask | None = None,
    cases: int = 1,
) -> Detection:
    """Judge objects by who marked them.

    Parameters
    ----------
    found : (N, J) ndarray of bool
        Who marked each object; somebody did. Objects of many cases of the same readers make one
        table.
    voxels : (N,) ndarray
        Size of each object, in any unit.
    looked : (N, J) ndarray of bool, optional
        Who annotated there; everybody, if it is not given.
    cases : int
        Of which the objects come.
    """
    looked = np.ones_like(found) if looked is None else looked | found
    rows, row = _rows(found, looked, np.asarray(voxels, float))
    readers = found.shape[1]
    rates, deviations, authors = _grid(), np.zeros(readers), np.full(readers, 1 / readers)
    there = np.zeros(0)
    if len(row):
        deviations, authors = _readers(rows, rates, deviations, authors)
        likelihood, _ = _log_likelihood(rows, rates, deviations, authors)
        # Where many objects leave few nodes, a grid between these tells more.
        rates = _grid(_ranges(_normalised(likelihood)))
        deviations, authors = _readers(rows, rates, deviations, authors)
        likelihood, either = _log_likelihood(rows, rates, deviations, authors)
        # Without the digits that depend on how many threads sum up.
        there = np.round(_normalised(likelihood) @ either, 10)
    return Detection(there[row], cases, row, rows, rates, deviations, authors)


def _rows(found: Mask, looked: Mask, voxels: Floats) -> tuple[_Rows, NDArray[np.intp]]:
    size = np.log2(np.maximum(voxels, 1e-300))
    away = size - np.median(size) if len(size) else size
    doublings = np.clip(np.rint(away / _STEP) * _STEP, -_LARGEST_STEP, _LARGEST_STEP)
    keys = np.concatenate([found, looked, (doublings / _STEP)[:, None]], axis=1).astype(np.int8)
    which, row, count = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
    readers = found.shape[1]
    rows = _Rows(
        which[:, :readers] > 0,
        which[:, readers:-1] > 0,
        np.asarray(which[:, -1] * _STEP, np.float64),
        count.astype(float),
    )
    return rows, row.reshape(-1)


def _readers(
    rows: _Rows, rates: Floats, deviations: Floats, authors: Floats
) -> tuple[Floats, Floats]:
    """Who finds more than others, and who invents: expectation maximisation."""
    steps = READER_SPREAD * _DEVIATIONS
    missed = rows.looked & ~rows.found
    for _ in range(_MOST_ROUNDS):
        likelihood, either = _log_likelihood(rows, rates, deviations, authors)
        node = _normalised(likelihood)
        there = (node @ either) * rows.number
        # (D, R) by the grid's mean log-odds of finding what has a row's size.
        odds = node @ _odds(rows.doublings, rates, 0.0) + steps[:, None]
        fit = scipy.special.log_expit(odds) @ (there[:, None] * rows.found)
        fit += scipy.special.log_expit(-odds) @ (there[:, None] * missed)
        weights = np.exp(fit - fit.max(axis=0) - _DEVIATIONS[:, None] ** 2 / 2)
        new = (steps @ weights) / weights.sum(axis=0)
        author = np.where(rows.found, authors, 0.0)
        author = author / author.sum(axis=1, keepdims=True)
        made = AUTHOR_COUNT + (rows.number - there) @ author
        authors = made / made.sum()
        change = np.abs(new - deviations).max()
        deviations = new
        if change < _SMALLEST_CHANGE:
            break
    return deviations, authors


def _log_likelihood(
    rows: _Rows, rates: Floats, deviations: Floats, authors: Floats
) -> tuple[Floats, Floats]:
    """(nodes,) of all objects, and (nodes, R) that each row is there."""
    _, joined, there, rise = rates
    missed = rows.looked & ~rows.found
    # Many rows differ by their finders only.
    keys = np.column_stack([rows.looked, rows.doublings])
    kinds, kind = np.unique(keys, axis=0, return_inverse=True)
    looked, doublings, kind = kinds[:, :-1], kinds[:, -1], kind.reshape(-1)
    true = np.zeros((len(there), len(rows.number)))
    nobody = np.zeros((len(there), len(kinds)))
    # Readers who found the same are one, as often as there are of them: of crowds there are few.
    columns = np.concatenate([rows.found, rows.looked, deviations[None]])
    _, first, times = np.unique(columns, axis=1, return_index=True, return_counts=True)
    for reader, number in zip(first, times, strict=True):
        odds = _odds(doublings, rates, deviations[reader])
        log_missed = number * scipy.special.log_expit(-odds)
        nobody += log_missed * looked[:, reader]
        true += log_missed[:, kind] * rows.looked[:, reader]
        true += number * odds[:, kind] * rows.found[:, reader]
    true -= np.log(-np.expm1(nobody))[:, kind]
    others = rows.found.sum(axis=1) - 1
    author = (rows.found @ authors) / (rows.looked @ authors)
    false = np.log(author) + np.outer(np.log(joined), others)
    false += np.outer(np.log1p(-joined), missed.sum(axis=1))
    prior = scipy.special.logit(there)[:, None] + np.outer(rise, doublings)
    true += scipy.special.log_expit(prior)[:, kind]
    false += scipy.special.log_expit(-prior)[:, kind]
    either = np.logaddexp(true, false)
    return either @ rows.number, np.exp(true - either)


def _odds(doublings: Floats, rates: Floats, deviation: float) -> Floats:
    """(nodes, R) log-odds that a reader finds an object that is there."""
    found, _, _, rise = rates
    return np.asarray(scipy.special.logit(found)[:, None] + deviation + np.outer(rise, doublings))


def _normalised(log_weights: Floats) -> Floats:
    weights = np.exp(log_weights - log_weights.max())
    return np.asarray(weights / weights.sum())


#: Of each prior, the part of its probability that a grid covers.
Ranges = tuple[tuple[float, float], ...]


@cache
def _grid(ranges: Ranges = ((0.0, 1.0),) * 3) -> Floats:
    """(4, nodes) d, e and p at the middles of equally likely parts of each Beta, and the rise."""
    middles = [
        scipy.special.betaincinv(*prior, low + (high - low) * (np.arange(number) + 0.5) / number)
        for prior, number, (low, high) in zip(_PRIORS, GRID, ranges, strict=True)
    ]
    return np.stack(np.meshgrid(*middles, np.array(RISES), indexing="ij")).reshape(4, -1)


def _ranges(node: Floats) -> Ranges:
    """The parts of the whole grid in which nodes count for something."""
    table = node.reshape(*GRID, -1)
    ranges = []
    for axis, number in enumerate(GRID):
        others = tuple(other for other in range(table.ndim) if other != axis)
        counts = np.flatnonzero(table.sum(axis=others) > _LEAST_WEIGHT)
        ranges.append((float(counts[0]) / number, float(counts[-1] + 1) / number))
    return tuple(ranges)


class _Posterior(NamedTuple):
    """How unsure everything is: nodes that count, and around each what tells readers apart.

    The deviations and the logarithms of authorship, 2 J numbers, were estimated; what they may be
    instead is Gaussian, by the curvature of the likelihood of all objects, whose truth is unsure.
    """

    rows: _Rows
    rates: Floats  #: (4, M)
    deviations: Floats  #: (J,)
    node: Floats  #: (M,) probability
    there: Floats  #: (M, R)
    contrast: Floats  #: (M, R, 2 J) how readers' numbers move the log-odds that a row is there
    score: Floats  #: (M, 2 J) how they move the likelihood of all objects
    covariance: Floats  #: (2 J, 2 J)

    def variance(self, values: Floats, slope: Floats) -> float:
        """Of a rate that is so at each node and moves so with readers' numbers: their part."""
        # Other numbers of readers make other nodes likely.
        slope = slope + (self.node * (values - self.node @ values)) @ self.score
        return float(slope @ self.covariance @ slope)


def _posterior(rows: _Rows, rates: Floats, deviations: Floats, authors: Floats) -> _Posterior:
    likelihood, _ = _log_likelihood(rows, rates, deviations, authors)
    node = _normalised(likelihood)
    counts = node > _LEAST_WEIGHT * node.max()
    rates, node = rates[:, counts], node[counts] / node[counts].sum()
    _, there = _log_likelihood(rows, rates, deviations, authors)
    true, true_curvature = _finding_score(rows, rates, deviations, node[:, None] * there)
    false, false_curvature = _author_score(rows, authors, node @ (1 - there))
    contrast = np.concatenate([true, np.broadcast_to(-false, true.shape)], axis=2)
    part = np.concatenate([there[:, :, None] * true, (1 - there)[:, :, None] * false], axis=2)
    score = np.einsum("mri,r->mi", part, rows.number)
    away = score - node @ score
    unsure = node[:, None] * rows.number * there * (1 - there)
    flat = contrast.reshape(-1, contrast.shape[2])
    curvature = scipy.linalg.block_diag(true_curvature, false_curvature)
    curvature -= flat.T @ (unsure.reshape(-1, 1) * flat) + away.T @ (node[:, None] * away)
    spread = np.repeat([READER_SPREAD, AUTHOR_COUNT**-0.5], len(authors))
    # In units of the prior, beside which the objects tell something or nothing.
    told, axes = np.linalg.eigh(spread[:, None] * curvature * spread)
    axes = spread[:, None] * axes
    covariance = (axes / (1 + np.maximum(told, 0))) @ axes.T
    return _Posterior(rows, rates, deviations, node, there, contrast, score, covariance)


def _finding_score(
    rows: _Rows, rates: Floats, deviations: Floats, weight: Floats
) -> tuple[Floats, Floats]:
    """(M, R, J) how deviations move the log-likelihood of what is there, and its curvature."""
    odds = np.stack([_odds(rows.doublings, rates, each) for each in deviations], axis=2)
    chance = scipy.special.expit(odds) * rows.looked
    nobody = np.prod(1 - chance, axis=2)
    # Of objects that somebody found.
    found = chance / (1 - nobody)[:, :, None]
    weight = weight * rows.number
    curvature = np.diag(np.einsum("mr,mrj->j", weight, found * (1 - chance)))
    flat = found.reshape(-1, found.shape[2])
    curvature -= flat.T @ ((weight * nobody).reshape(-1, 1) * flat)
    return rows.found - found, curvature


def _author_score(rows: _Rows, authors: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """(R, J) how log-authorship moves the log-likelihood of what is invented, and its curvature."""
    weight = weight * rows.number
    score, curvature = np.zeros(rows.found.shape), np.zeros((len(authors),) * 2)
    for who, sign in ((rows.found, 1), (rows.looked, -1)):
        share = who * authors / (who @ authors)[:, None]
        score += sign * share
        curvature -= sign * (np.diag(weight @ share) - share.T @ (weight[:, None] * share))
    return score, curvature


def _sensitivity(posterior: _Posterior, doublings: Floats, weight: Floats, reader: int) -> Interval:
    """Log-odds are Gaussian around those of each node."""
    odds = _odds(doublings, posterior.rates, posterior.deviations[reader])
    middle = scipy.special.logit(scipy.special.expit(odds) @ weight)
    slope = np.eye(len(posterior.covariance))[reader]
    doubt = SHARED_DOUBT * _shared_doubt(posterior, reader) ** 2
    spread = np.sqrt(posterior.variance(middle, slope) + doubt)
    at = np.linspace(middle.min() - 5 * spread, middle.max() + 5 * spread, _INTERVAL_STEPS)
    below = posterior.node @ scipy.special.ndtr((at - middle[:, None]) / spread)
    return _interval(scipy.special.expit(at), below)


def _shared_doubt(posterior: _Posterior, reader: int) -> float:
    """How far a reader's log-odds go if all doubtful objects are there, or none, a deviation each.

    What makes one lone mark real, a prior that asks too much, makes the others real as well.
    """
    rows, there = posterior.rows, posterior.node @ posterior.there
    doubt = np.sqrt(there * (1 - there)) * rows.number
    looked, found = rows.looked[:, reader], rows.found[:, reader]
    # As if one more object were found and one more overlooked.
    number, hits = (there * rows.number) @ looked + 2, (there * rows.number) @ found + 1
    share = hits / number
    return float((doubt @ (found - share * looked)) / (number * share * (1 - share)))


def _false_finds(posterior: _Posterior, reader: int, cases: int) -> Interval:
    """The rate at which a reader invents: counts are unsure by node, and by chance within one."""
    rows, node, there = posterior.rows, posterior.node, posterior.there
    marks = rows.number * rows.found[:, reader]
    mean = (1 - there) @ marks
    unsure = there * (1 - there)
    together = (np.sqrt(unsure) @ marks) ** 2
    slope = -np.einsum("mr,mri->i", node[:, None] * unsure * marks, posterior.contrast)
    # A Gamma distribution with the mean and variance of the rate behind such a count, node by node.
    expected = mean + 0.5
    doubt = SHARED_DOUBT * together + (1 - SHARED_DOUBT) * (unsure @ marks)
    variance = expected + doubt + posterior.variance(mean, slope)
    shape, scale = expected**2 / variance, variance / expected
    most = (expected + 6 * np.sqrt(variance)).max()
    rates = most * np.linspace(0, 1, _INTERVAL_STEPS) ** 2
    below = node @ scipy.special.gammainc(shape[:, None], rates / scale[:, None])
    low, high = np.interp(_TAILS, below, rates)
    return _rounded(float(node @ mean) / cases, float(low) / cases, float(high) / cases)


def _interval(values: Floats, below: Floats) -> Interval:
    """Of a distribution given by the probability below each of rising values."""
    middles = (values[1:] + values[:-1]) / 2
    low, high = np.interp(_TAILS, below, values)
    return _rounded(float(np.diff(below) @ middles), float(low), float(high))


def _rounded(*rates: float) -> Interval:
    """Without the digits that depend on how many threads sum up."""
    return Interval(*(round(rate, 8) for rate in rates))
