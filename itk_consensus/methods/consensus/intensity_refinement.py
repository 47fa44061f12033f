"""Combine votes with intensities, learned where raters agree and validated on held-out raters.

The intensity distribution of each label is learned from voxels on which all raters agree: their
local mean and variance around a disputed voxel give the likelihood of its intensity under each
label. The exponent of the likelihood is chosen by cross-validation: each rater in turn is
predicted, where the others disagree, from the others' votes with and without intensities, and the
exponent with the largest minimum gain over raters is used. If no exponent improves the prediction
of every rater, intensities are not used. Intensities rank disputed voxels, but do not change a
label's volume, since it is the raters who decide whether the contour is at half of the contrast or
at its foot: each label keeps the volume expected from the fuser's probabilities.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from itk_consensus.fusing.estimates import Estimate
from itk_consensus.space.gaussian import smooth_volume
from itk_consensus.votes.disputed_voxels import DisputedVoxels

Floats = NDArray[np.float64]

#: Candidate exponents of the likelihood.
_WEIGHTS = (0.125, 0.25, 0.5, 1.0)
#: Pseudo-votes for every label, so that no label has probability 0 or 1.
_PSEUDO_VOTES = 0.5
#: Minimum number of disputed voxels for estimating a gain.
_FEWEST_VOXELS = 10
#: Degrees of freedom of Student's t, which is robust to outliers such as partial volumes.
_DEGREES_OF_FREEDOM = 4.0
#: Number of deviations from a label's median at which intensities are clipped.
_CLIPPED_AT = 3.0
#: Factor from median absolute deviation to standard deviation, for a Gaussian.
_MAD_TO_DEVIATION = 1.4826
#: Weight of the whole region relative to the neighbourhood of a voxel.
_REGION_WEIGHT = 0.01
#: Variance added to every label, as a fraction of the labels' mean variance.
_VARIANCE_FLOOR = 0.1
#: Number of iterations for fitting the label preferences of a rater.
_HABIT_STEPS = 10
_NOBODY = -1
#: Minimum distance of inner voxels to the border, in units of the smallest voxel side, and minimum
#: fraction of inner voxels for a label that is not a thin line.
_INSIDE = 2.2
_LEAST_INSIDE = 0.05


@dataclass(frozen=True)
class HeldOutChoice(Estimate):
    """Exponent of the intensity likelihood, chosen by predicting held-out raters."""

    #: 0 if the prediction of some rater does not improve, or if no rater can be evaluated.
    weight: float
    #: (J,) gain in the mean log likelihood of each held-out rater due to intensities; NaN if
    #: unknown.
    gains: tuple[float, ...]


@dataclass(frozen=True)
class IntensityModel:
    """Local intensity distributions of labels around disputed voxels."""

    voxels: DisputedVoxels  #: Disputed voxels, in a box with a margin
    image: Floats
    sigmas: Sequence[float]  #: Standard deviation of the neighbourhood in voxels along each axis

    def log_likelihoods(
        self, agreed: NDArray[np.int64], asked: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        """Return the (K, N) log likelihood of the voxels' intensities under each label.

        Parameters
        ----------
        agreed : (P,) ndarray of int64
            Label index of unanimous patterns, else -1.
        asked : (P,) ndarray of bool
            Selected patterns, which N voxels have.
        """
        settled = self.voxels.expand(agreed, outside=_NOBODY)
        places = np.flatnonzero(self.voxels.expand(asked))
        everything = settled != _NOBODY
        classes = []
        for label in range(self.voxels.patterns.number_of_labels):
            shown = settled == label
            # For a label without unanimous voxels, use the distribution of all unanimous voxels.
            classes.append(self._surroundings(shown if shown.any() else everything, places))
        floor = _VARIANCE_FLOOR * np.mean([spread for _, _, spread in classes])
        return np.stack(
            [_student(self.image.reshape(-1)[places], m, v + floor) for m, v, _ in classes]
        )

    def _surroundings(
        self, shown: NDArray[np.bool_], places: NDArray[np.intp]
    ) -> tuple[Floats, Floats, float]:
        """Return a label's local mean and variance at `places`, and its variance in the region."""
        values = self.image[shown]
        middle = float(np.median(values))
        spread = (_MAD_TO_DEVIATION * float(np.median(np.abs(values - middle)))) ** 2
        reach = _CLIPPED_AT * np.sqrt(spread)
        clipped = np.clip(self.image, middle - reach, middle + reach)
        weight = self._smooth(shown.astype(np.float64)) + _REGION_WEIGHT
        mean = (self._smooth(shown * clipped) + _REGION_WEIGHT * middle) / weight
        squares = self._smooth(shown * (clipped - mean) ** 2)
        variance = (squares + _REGION_WEIGHT * spread) / weight
        return mean.reshape(-1)[places], variance.reshape(-1)[places], spread

    def _smooth(self, volume: NDArray[Any]) -> Floats:
        smoothed: Floats = smooth_volume(volume, self.sigmas)
        return smoothed

    def choose_weight(self) -> HeldOutChoice:
        """Return the exponent with the largest minimum gain; 0 if this gain is not positive."""
        raters = self.voxels.patterns.number_of_raters
        if not self.has_inside():
            return HeldOutChoice(0.0, (np.nan,) * raters)
        gains = np.stack([self._gains_of(rater) for rater in range(raters)])
        known = ~np.isnan(gains[:, 0])
        worst = gains[known].min(axis=0) if known.any() else np.zeros(len(_WEIGHTS))
        best = int(worst.argmax())
        weight = _WEIGHTS[best] if worst[best] > 0 else 0.0
        return HeldOutChoice(weight, tuple(gains[:, best].tolist()))

    def has_inside(self) -> bool:
        """Return whether the unanimous voxels of some foreground label are more than a thin line.

        The intensities of thin lines are affected by partial volume effects: using them removed
        detail that raters share in real images of vessels.
        """
        agreed, _ = _agreement(self.voxels.patterns.patterns, self.voxels.patterns.number_of_labels)
        settled = self.voxels.expand(agreed, outside=_NOBODY)
        # In units of the smallest voxel side; the time axis, which is not smoothed, gets a very
        # large side.
        sides = np.array([max(self.sigmas) / max(sigma, 1e-9) for sigma in self.sigmas])
        for label in range(1, self.voxels.patterns.number_of_labels):
            shown = settled == label
            depth = scipy.ndimage.distance_transform_edt(shown, sampling=sides)
            deep = np.count_nonzero(depth >= _INSIDE)
            if deep > _LEAST_INSIDE * np.count_nonzero(shown):
                return True
        return False

    def _gains_of(self, rater: int) -> Floats:
        """Return the gain in a rater's log likelihood, by exponent, at voxels where the
        others disagree.
        """
        patterns = self.voxels.patterns
        missing = patterns.number_of_labels
        others = patterns.patterns.copy()
        others[:, rater] = missing
        drawn = patterns.patterns[:, rater].astype(np.int64)
        agreed, disputed = _agreement(others, missing)
        judged = disputed & (drawn != missing)
        rows = self._rows(judged)
        # Without unanimous voxels there are no intensities to learn from.
        if len(rows) < _FEWEST_VOXELS or not len(self._rows(agreed != _NOBODY)):
            return np.full(len(_WEIGHTS), np.nan)
        likelihoods = self.log_likelihoods(agreed, judged)
        prior = _log_shares(patterns.votes(_all_but(rater, patterns.number_of_raters)))[rows].T
        scores = [
            _prediction_score(prior + weight * likelihoods, drawn[rows])
            for weight in (0.0, *_WEIGHTS)
        ]
        return np.array(scores[1:]) - scores[0]

    def refine(self, shares: Callable[[int], NDArray[Any]], weight: float) -> Floats:
        """Return the (K, N) probabilities at the disputed voxels, given votes and intensities.

        Parameters
        ----------
        shares : callable
            Returns a fuser's (N,) probabilities of a label index. They are treated as vote shares
            with pseudo-votes added, since the image could not change probabilities of 0 and 1.
        """
        patterns = self.voxels.patterns
        agreed, disputed = _agreement(patterns.patterns, patterns.number_of_labels)
        voters = patterns.present.sum(axis=1)[self._rows(disputed)]
        votes = np.stack([shares(label) * voters for label in range(patterns.number_of_labels)])
        prior = _log_shares(votes.T).T
        log_weights = prior + weight * self.log_likelihoods(agreed, disputed)
        return np.exp(_balance(log_weights, np.exp(prior).sum(axis=1)))

    def _rows(self, asked: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return the (N,) pattern of each voxel that has one of the selected patterns."""
        rows = np.where(asked, np.arange(len(asked)), _NOBODY)
        volume = self.voxels.expand(rows, outside=_NOBODY).reshape(-1)
        return np.asarray(volume[volume != _NOBODY])


def _agreement(votes: NDArray[Any], missing: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return (P,) the label index of unanimous patterns, else -1, and (P,) whether raters
    disagree.
    """
    lowest = votes.min(axis=1).astype(np.int64)
    highest = np.where(votes == missing, 0, votes).max(axis=1)
    disputed = (lowest != missing) & (lowest != highest)
    return np.where(disputed | (lowest == missing), _NOBODY, lowest), disputed


def _all_but(rater: int, number: int) -> Floats:
    """Return weights of 1 for all raters but one, whose weight is 0."""
    weights = np.ones(number)
    weights[rater] = 0.0
    return weights


def _log_shares(votes: NDArray[Any]) -> Floats:
    """Return the (N, K) log vote shares, with pseudo-votes."""
    counted = votes + _PSEUDO_VOTES
    return np.asarray(np.log(counted / counted.sum(axis=1, keepdims=True)))


def _student(value: Floats, mean: Floats, variance: Floats) -> Floats:
    """Return the log density of Student's t distribution, up to a constant."""
    variance = np.maximum(variance, np.finfo(float).tiny)
    tail = (_DEGREES_OF_FREEDOM + 1) / 2
    distance = (value - mean) ** 2 / (variance * _DEGREES_OF_FREEDOM)
    return np.asarray(-0.5 * np.log(variance) - tail * np.log1p(distance))


def _normalise(log_weights: Floats) -> Floats:
    return np.asarray(log_weights - np.logaddexp.reduce(log_weights, axis=0))


def _prediction_score(log_weights: Floats, drawn: NDArray[np.int64]) -> float:
    """Return the mean log likelihood of a rater's labels, given fitted label frequencies.

    Frequencies are fitted so that a rater who draws too much or too little is not taken as evidence
    against the use of the image.
    """
    often = np.bincount(drawn, minlength=len(log_weights))
    return float(_log_of(_balance(log_weights, often), drawn).mean())


def _balance(log_weights: Floats, often: NDArray[Any]) -> Floats:
    """Return (K, N) log probabilities, offset for each label to fit its expected count."""
    habit = np.zeros((len(log_weights), 1))
    for _ in range(_HABIT_STEPS):
        expected = np.exp(_normalise(log_weights + habit)).sum(axis=1)
        habit += np.log((often + _PSEUDO_VOTES) / (expected + _PSEUDO_VOTES))[:, None]
    return _normalise(log_weights + habit)


def _log_of(table: Floats, chosen: NDArray[np.int64]) -> Floats:
    return np.asarray(np.take_along_axis(table, chosen[None], axis=0)[0])
