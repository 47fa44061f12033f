"""Probability that an object is real, given which raters marked it and which did not.

Rater j finds a real object with probability d_j. A false object originates from one rater, its
source, and every other rater also marks it with probability e. A share p of all objects is real.
Both d and p rise with size, since small objects are missed, and marked falsely, more often.

The shared rates (the mean d, e, p and the rise with size) are not fitted, since a case may have
only one object. They are integrated over a grid, under weakly informative priors, weighted by the
likelihood of all objects. Each rater's deviations (how much more often it finds real objects, and
how often it is the source of a false one) are estimated by EM, with a prior that shrinks them
towards the mean.

The intervals of the raters' rates combine three sources of uncertainty: the shared rates (the
grid), the deviations, and whether each object is real; part of the last is common to all objects.

With a single object, marks by two of five raters are not enough evidence that it is real; they are
if the raters also miss about as many of the other objects. The lone marks of a rater who makes many
of them carry little weight.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats, Mask

#: Beta priors of d (probability of finding a real object), e (probability of marking another
#: rater's false object) and p (probability of being real).
FINDING = (4.0, 2.0)
JOINING = (1.0, 40.0)
BEING_THERE = (3.0, 2.0)
#: Grid of the increase in the log odds of d and of p with each doubling of the size.
RISES = (0.0, 0.25, 0.5)
#: Prior standard deviation of the raters' log odds of finding an object.
RATER_SPREAD = 0.5
#: Pseudo-count of false objects for each rater.
AUTHOR_COUNT = 1.0
#: Correlation between the truths of uncertain objects, beyond that induced by the grid: if the
#: priors, which assign lone marks a low probability, are wrong, they are wrong for all objects at
#: once. Without it, the intervals would not reach their nominal coverage.
SHARED_DOUBT = 0.2

#: Number of grid points of d, e and p.
GRID = (16, 6, 6)
#: Grid of a rater's deviation, in units of `RATER_SPREAD`.
_DEVIATIONS = np.linspace(-3, 3, 13)
#: Sizes are clipped to this many doublings from the median, and rounded to steps of this size.
_LARGEST_STEP, _STEP = 3.0, 0.5
#: Maximum number of EM iterations, and the change in a deviation below which EM stops.
_MOST_ROUNDS, _SMALLEST_CHANGE = 30, 1e-4
#: Grid nodes with a probability below this are dropped.
_LEAST_WEIGHT = 1e-4
#: Quantiles that bound an interval, and number of points at which its distribution function is
#: evaluated.
_TAILS, _INTERVAL_STEPS = (0.025, 0.975), 128

_PRIORS = (FINDING, JOINING, BEING_THERE)


class Interval(NamedTuple):
    """Posterior mean of a rate and its 95 % interval."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:.2f} ({self.low:.2f} to {self.high:.2f})"


class _Rows(NamedTuple):
    """Table of objects; objects with the same raters and size share a row."""

    found: Mask  #: (R, J) whether each rater marked the objects
    looked: Mask  #: (R, J) whether each rater annotated their location
    doublings: Floats  #: (R,) log2 of size over median size, clipped and rounded
    number: Floats  #: (R,) number of objects in each row


@dataclass(frozen=True)
class Detection:
    """Probability that each object is real, and the raters' detection rates."""

    there: Floats  #: (N,) probability that each object is real
    cases: int  #: Number of cases
    row: NDArray[np.intp]  #: (N,) row of each object in the table
    _rows: _Rows
    _rates: Floats  #: (4, nodes) shared rates d, e, p and the rise at the nodes of the grid
    _deviations: Floats  #: (J,) deviations of the raters' log odds of d
    _authors: Floats  #: (J,) share of false objects whose source is each rater

    @cached_property
    def sensitivity(self) -> tuple[Interval, ...]:
        """For each rater, the proportion of real objects of these sizes that the rater finds."""
        there = np.bincount(self.row, self.there, len(self._rows.number))
        weight = there if there.sum() else self._rows.number
        # Without objects, report the prior at the median size.
        doublings, weight = (
            (self._rows.doublings, weight / weight.sum())
            if len(self.row)
            else (np.zeros(1), np.ones(1))
        )
        return tuple(
            _sensitivity(self._posterior, doublings, weight, rater)
            for rater in range(len(self._authors))
        )

    @cached_property
    def false_finds(self) -> tuple[Interval, ...]:
        """For each rater, the number of false marks per case."""
        return tuple(
            _false_finds(self._posterior, rater, self.cases) for rater in range(len(self._authors))
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
    """Estimate the probability that each object is real, and the raters' detection rates.

    Parameters
    ----------
    found : (N, J) ndarray of bool
        Whether each rater marked each object; every object has at least one mark. Objects from
        several cases of the same raters are concatenated.
    voxels : (N,) ndarray
        Size of each object, in any unit.
    looked : (N, J) ndarray of bool, optional
        Whether each rater annotated the location of each object; by default all raters did.
    cases : int
        Number of cases from which the objects come.
    """
    looked = np.ones_like(found) if looked is None else looked | found
    rows, row = _group_rows(found, looked, np.asarray(voxels, float))
    raters = found.shape[1]
    rates, deviations, authors = _grid(), np.zeros(raters), np.full(raters, 1 / raters)
    there = np.zeros(0)
    if len(row):
        deviations, authors = _estimate_raters(rows, rates, deviations, authors)
        likelihood, _ = _log_likelihood(rows, rates, deviations, authors)
        # With many objects few nodes are probable: refine the grid over their range.
        rates = _grid(_ranges(_normalise(likelihood)))
        deviations, authors = _estimate_raters(rows, rates, deviations, authors)
        likelihood, either = _log_likelihood(rows, rates, deviations, authors)
        # Round, since the last digits depend on the number of BLAS threads.
        there = np.round(_normalise(likelihood) @ either, 10)
    return Detection(there[row], cases, row, rows, rates, deviations, authors)


def _group_rows(found: Mask, looked: Mask, voxels: Floats) -> tuple[_Rows, NDArray[np.intp]]:
    size = np.log2(np.maximum(voxels, 1e-300))
    away = size - np.median(size) if len(size) else size
    doublings = np.clip(np.rint(away / _STEP) * _STEP, -_LARGEST_STEP, _LARGEST_STEP)
    keys = np.concatenate([found, looked, (doublings / _STEP)[:, None]], axis=1).astype(np.int8)
    which, row, count = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
    raters = found.shape[1]
    rows = _Rows(
        which[:, :raters] > 0,
        which[:, raters:-1] > 0,
        np.asarray(which[:, -1] * _STEP, np.float64),
        count.astype(float),
    )
    return rows, row.reshape(-1)


def _estimate_raters(
    rows: _Rows, rates: Floats, deviations: Floats, authors: Floats
) -> tuple[Floats, Floats]:
    """Estimate each rater's deviation and share of false objects by EM."""
    steps = RATER_SPREAD * _DEVIATIONS
    missed = rows.looked & ~rows.found
    for _ in range(_MOST_ROUNDS):
        likelihood, either = _log_likelihood(rows, rates, deviations, authors)
        node = _normalise(likelihood)
        there = (node @ either) * rows.number
        # (D, R) log odds of finding an object of a row's size, at the grid's mean rates.
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
    """Return (nodes,) log likelihood of all objects, and (nodes, R) probability of being real."""
    _, joined, there, rise = rates
    missed = rows.looked & ~rows.found
    # Many rows differ only in which raters marked the object.
    keys = np.column_stack([rows.looked, rows.doublings])
    kinds, kind = np.unique(keys, axis=0, return_inverse=True)
    looked, doublings, kind = kinds[:, :-1], kinds[:, -1], kind.reshape(-1)
    true = np.zeros((len(there), len(rows.number)))
    nobody = np.zeros((len(there), len(kinds)))
    # Raters with identical marks have identical terms: compute each once and count it.
    columns = np.concatenate([rows.found, rows.looked, deviations[None]])
    _, first, times = np.unique(columns, axis=1, return_index=True, return_counts=True)
    for rater, number in zip(first, times, strict=True):
        odds = _odds(doublings, rates, deviations[rater])
        log_missed = number * scipy.special.log_expit(-odds)
        nobody += log_missed * looked[:, rater]
        true += log_missed[:, kind] * rows.looked[:, rater]
        true += number * odds[:, kind] * rows.found[:, rater]
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
    """Return the (nodes, R) log odds that a rater finds a real object."""
    found, _, _, rise = rates
    return np.asarray(scipy.special.logit(found)[:, None] + deviation + np.outer(rise, doublings))


def _normalise(log_weights: Floats) -> Floats:
    weights = np.exp(log_weights - log_weights.max())
    return np.asarray(weights / weights.sum())


#: For each prior, the range of quantiles that the grid covers.
Ranges = tuple[tuple[float, float], ...]


@cache
def _grid(ranges: Ranges = ((0.0, 1.0),) * 3) -> Floats:
    """Return (4, nodes) d, e and p at midpoints of equally probable prior intervals, and rise."""
    middles = [
        scipy.special.betaincinv(*prior, low + (high - low) * (np.arange(number) + 0.5) / number)
        for prior, number, (low, high) in zip(_PRIORS, GRID, ranges, strict=True)
    ]
    return np.stack(np.meshgrid(*middles, np.array(RISES), indexing="ij")).reshape(4, -1)


def _ranges(node: Floats) -> Ranges:
    """Return the quantile ranges of the full grid that contain the probable nodes."""
    table = node.reshape(*GRID, -1)
    ranges = []
    for axis, number in enumerate(GRID):
        others = tuple(other for other in range(table.ndim) if other != axis)
        counts = np.flatnonzero(table.sum(axis=others) > _LEAST_WEIGHT)
        ranges.append((float(counts[0]) / number, float(counts[-1] + 1) / number))
    return tuple(ranges)


class _Posterior(NamedTuple):
    """Posterior of the rates: the probable grid nodes, and a Gaussian over per-rater parameters.

    The per-rater parameters are the J deviations and the J log shares of false objects. Their
    covariance is a Laplace approximation, based on the curvature of the marginal likelihood of all
    objects.
    """

    rows: _Rows
    rates: Floats  #: (4, M) shared rates at the probable nodes
    deviations: Floats  #: (J,) deviations of the raters' log odds of d
    node: Floats  #: (M,) probability of each node
    there: Floats  #: (M, R) probability of being real
    contrast: Floats  #: (M, R, 2 J) derivative of the log odds that a row is real
    score: Floats  #: (M, 2 J) derivative of the log likelihood of all objects
    covariance: Floats  #: (2 J, 2 J)

    def variance(self, values: Floats, slope: Floats) -> float:
        """Return the variance of a rate that is due to the uncertainty of the per-rater parameters.

        `values` is the (M,) rate at each node, and `slope` its (2 J,) mean derivative with respect
        to these parameters.
        """
        # A change in the per-rater parameters also changes the probabilities of the nodes.
        slope = slope + (self.node * (values - self.node @ values)) @ self.score
        return float(slope @ self.covariance @ slope)


def _posterior(rows: _Rows, rates: Floats, deviations: Floats, authors: Floats) -> _Posterior:
    likelihood, _ = _log_likelihood(rows, rates, deviations, authors)
    node = _normalise(likelihood)
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
    spread = np.repeat([RATER_SPREAD, AUTHOR_COUNT**-0.5], len(authors))
    # In units of the prior standard deviations the prior precision is the identity, to which the
    # information from the objects is added.
    information, axes = np.linalg.eigh(spread[:, None] * curvature * spread)
    axes = spread[:, None] * axes
    covariance = (axes / (1 + np.maximum(information, 0))) @ axes.T
    return _Posterior(rows, rates, deviations, node, there, contrast, score, covariance)


def _finding_score(
    rows: _Rows, rates: Floats, deviations: Floats, weight: Floats
) -> tuple[Floats, Floats]:
    """Return the (M, R, J) score of the deviations for real objects, and its curvature.

    The score is the derivative of the log likelihood of real objects with respect to the
    deviations.
    """
    odds = np.stack([_odds(rows.doublings, rates, each) for each in deviations], axis=2)
    chance = scipy.special.expit(odds) * rows.looked
    nobody = np.prod(1 - chance, axis=2)
    # Conditional on at least one mark.
    found = chance / (1 - nobody)[:, :, None]
    weight = weight * rows.number
    curvature = np.diag(np.einsum("mr,mrj->j", weight, found * (1 - chance)))
    flat = found.reshape(-1, found.shape[2])
    curvature -= flat.T @ ((weight * nobody).reshape(-1, 1) * flat)
    return rows.found - found, curvature


def _author_score(rows: _Rows, authors: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Return the (R, J) score of the log shares for false objects, and its curvature.

    The score is the derivative of the log likelihood of false objects with respect to the log
    shares.
    """
    weight = weight * rows.number
    score, curvature = np.zeros(rows.found.shape), np.zeros((len(authors),) * 2)
    for who, sign in ((rows.found, 1), (rows.looked, -1)):
        share = who * authors / (who @ authors)[:, None]
        score += sign * share
        curvature -= sign * (np.diag(weight @ share) - share.T @ (weight[:, None] * share))
    return score, curvature


def _sensitivity(posterior: _Posterior, doublings: Floats, weight: Floats, rater: int) -> Interval:
    """Return a rater's sensitivity, modelled as a mixture over nodes of Gaussians in log odds."""
    odds = _odds(doublings, posterior.rates, posterior.deviations[rater])
    middle = scipy.special.logit(scipy.special.expit(odds) @ weight)
    slope = np.eye(len(posterior.covariance))[rater]
    doubt = SHARED_DOUBT * _shared_doubt(posterior, rater) ** 2
    spread = np.sqrt(posterior.variance(middle, slope) + doubt)
    at = np.linspace(middle.min() - 5 * spread, middle.max() + 5 * spread, _INTERVAL_STEPS)
    below = posterior.node @ scipy.special.ndtr((at - middle[:, None]) / spread)
    return _interval(scipy.special.expit(at), below)


def _shared_doubt(posterior: _Posterior, rater: int) -> float:
    """Return the change of a rater's log odds if all uncertain objects' truths shift together.

    The truth of each object shifts by one standard deviation. A prior that is wrong about one
    uncertain object is wrong about all of them, so their truths are correlated.
    """
    rows, there = posterior.rows, posterior.node @ posterior.there
    doubt = np.sqrt(there * (1 - there)) * rows.number
    looked, found = rows.looked[:, rater], rows.found[:, rater]
    # Pseudo-counts: one additional object found and one additional object missed.
    number, hits = (there * rows.number) @ looked + 2, (there * rows.number) @ found + 1
    share = hits / number
    return float((doubt @ (found - share * looked)) / (number * share * (1 - share)))


def _false_finds(posterior: _Posterior, rater: int, cases: int) -> Interval:
    """Return a rater's false marks per case, modelled as a mixture of Gamma distributions."""
    rows, node, there = posterior.rows, posterior.node, posterior.there
    marks = rows.number * rows.found[:, rater]
    mean = (1 - there) @ marks
    unsure = there * (1 - there)
    together = (np.sqrt(unsure) @ marks) ** 2
    slope = -np.einsum("mr,mri->i", node[:, None] * unsure * marks, posterior.contrast)
    # At each node, use the Gamma distribution with the mean and variance of the rate given the
    # count.
    expected = mean + 0.5
    doubt = SHARED_DOUBT * together + (1 - SHARED_DOUBT) * (unsure @ marks)
    variance = expected + doubt + posterior.variance(mean, slope)
    shape, scale = expected**2 / variance, variance / expected
    most = (expected + 6 * np.sqrt(variance)).max()
    rates = most * np.linspace(0, 1, _INTERVAL_STEPS) ** 2
    below = node @ scipy.special.gammainc(shape[:, None], rates / scale[:, None])
    low, high = np.interp(_TAILS, below, rates)
    return _round_interval(float(node @ mean) / cases, float(low) / cases, float(high) / cases)


def _interval(values: Floats, below: Floats) -> Interval:
    """Return the mean and interval of a distribution function sampled at increasing values."""
    middles = (values[1:] + values[:-1]) / 2
    low, high = np.interp(_TAILS, below, values)
    return _round_interval(float(np.diff(below) @ middles), float(low), float(high))


def _round_interval(*rates: float) -> Interval:
    """Make an interval, rounding away the digits that depend on the number of BLAS threads."""
    return Interval(*(round(rate, 8) for rate in rates))
