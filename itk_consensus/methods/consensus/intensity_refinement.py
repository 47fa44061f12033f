"""What intensities add to votes: learned where raters agree, used if they predict held-out raters.

Where all raters agree, each label shows its intensities. Their mean and spread around a disputed
voxel say how likely the voxel's intensity is under each label. How much that counts is a power that
held-out raters choose: each rater in turn is foreseen, where the others disagree, by the others'
votes with and without intensities, and the power is the one that helps the rater it helps least.
If no power helps every rater, intensities count nothing. They tell disputed voxels apart, but not
how many of them belong to a label: where raters draw the line, at half the contrast or at its foot,
is theirs to say, so each label keeps the volume that the fuser expects.
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

#: Powers of the likelihood that held-out raters choose from.
_WEIGHTS = (0.125, 0.25, 0.5, 1.0)
#: Pseudo-votes for every label: no vote is ever certain.
_PSEUDO_VOTES = 0.5
#: Fewer disputed voxels cannot judge anything.
_FEWEST_VOXELS = 10
#: Of Student's t: partial volumes and vessels are outliers, not evidence.
_DEGREES_OF_FREEDOM = 4.0
#: Deviations from a label's median at which intensities are clipped.
_CLIPPED_AT = 3.0
#: Median absolute deviation to standard deviation of a Gaussian.
_MAD_TO_DEVIATION = 1.4826
#: Weight of the whole region beside the surroundings of a voxel, of which all voxels weigh 1.
_REGION_WEIGHT = 0.01
#: Share of the labels' mean variance that every variance has at least.
_VARIANCE_FLOOR = 0.1
#: Steps after which a rater's preference for some labels is known well enough.
_HABIT_STEPS = 10
_NOBODY = -1
#: Smallest voxel sides to the border from which a voxel lies inside, and the share of a label that
#: must: three voxels wide is a line.
_INSIDE = 2.2
_LEAST_INSIDE = 0.05


@dataclass(frozen=True)
class HeldOutChoice(Estimate):
    """The power that intensities get."""

    weight: float  #: 0 if some held-out rater is foreseen worse with intensities, or none can be
    #: (J,) by how much each held-out rater's mean log-likelihood rises; NaN where there is no
    #: telling.
    gains: tuple[float, ...]


@dataclass(frozen=True)
class IntensityModel:
    """Intensities around disputed voxels."""

    voxels: DisputedVoxels  #: Of a box that has room around the disputes
    image: Floats
    sigmas: Sequence[float]  #: Reach of the surroundings in voxels, per axis

    def log_likelihoods(
        self, agreed: NDArray[np.int64], asked: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        """(K, N) log-likelihood of the intensity of voxels under each label.

        Parameters
        ----------
        agreed : (P,) ndarray of int64
            The label index that raters agree on in each pattern, or -1.
        asked : (P,) ndarray of bool
            Patterns of the N voxels.
        """
        settled = self.voxels.expand(agreed, outside=_NOBODY)
        places = np.flatnonzero(self.voxels.expand(asked))
        everything = settled != _NOBODY
        classes = []
        for label in range(self.voxels.patterns.number_of_labels):
            shown = settled == label
            # A label without any agreed voxel may have any intensity.
            classes.append(self._surroundings(shown if shown.any() else everything, places))
        floor = _VARIANCE_FLOOR * np.mean([spread for _, _, spread in classes])
        return np.stack(
            [_student(self.image.reshape(-1)[places], m, v + floor) for m, v, _ in classes]
        )

    def _surroundings(
        self, shown: NDArray[np.bool_], places: NDArray[np.intp]
    ) -> tuple[Floats, Floats, float]:
        """Mean and variance of a label around voxels, and its variance in the whole region."""
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
        """The power by which every held-out rater is foreseen better, if there is one."""
        raters = self.voxels.patterns.number_of_raters
        if not self.has_inside():
            return HeldOutChoice(0.0, (np.nan,) * raters)
        gains = np.stack([self._gains_of(rater) for rater in range(raters)])
        told = ~np.isnan(gains[:, 0])
        worst = gains[told].min(axis=0) if told.any() else np.zeros(len(_WEIGHTS))
        best = int(worst.argmax())
        weight = _WEIGHTS[best] if worst[best] > 0 else 0.0
        return HeldOutChoice(weight, tuple(gains[:, best].tolist()))

    def has_inside(self) -> bool:
        """Whether some label but the first is agreed on in more than a thin line.

        A line shows its surroundings mixed with itself, and fades where it is thinnest: on real
        vessels the image took away what readers share.
        """
        agreed, _ = _agreement(self.voxels.patterns.patterns, self.voxels.patterns.number_of_labels)
        settled = self.voxels.expand(agreed, outside=_NOBODY)
        # In units of the smallest voxel side: an axis that is not smoothed, time, reaches nowhere.
        sides = np.array([max(self.sigmas) / max(sigma, 1e-9) for sigma in self.sigmas])
        for label in range(1, self.voxels.patterns.number_of_labels):
            shown = settled == label
            depth = scipy.ndimage.distance_transform_edt(shown, sampling=sides)
            deep = np.count_nonzero(depth >= _INSIDE)
            if deep > _LEAST_INSIDE * np.count_nonzero(shown):
                return True
        return False

    def _gains_of(self, rater: int) -> Floats:
        """Rise of a rater's mean log-likelihood by each power, where the others disagree."""
        patterns = self.voxels.patterns
        missing = patterns.number_of_labels
        others = patterns.patterns.copy()
        others[:, rater] = missing
        drawn = patterns.patterns[:, rater].astype(np.int64)
        agreed, disputed = _agreement(others, missing)
        judged = disputed & (drawn != missing)
        rows = self._rows(judged)
        # Where the others agree nowhere, no label shows what it looks like.
        if len(rows) < _FEWEST_VOXELS or not len(self._rows(agreed != _NOBODY)):
            return np.full(len(_WEIGHTS), np.nan)
        likelihoods = self.log_likelihoods(agreed, judged)
        prior = _log_shares(patterns.votes(_all_but(rater, patterns.number_of_raters)))[rows].T
        scores = [
            _foreseen(prior + weight * likelihoods, drawn[rows]) for weight in (0.0, *_WEIGHTS)
        ]
        return np.array(scores[1:]) - scores[0]

    def refine(self, shares: Callable[[int], NDArray[Any]], weight: float) -> Floats:
        """(K, N) probabilities at the disputed voxels, intensities counted by a power.

        Parameters
        ----------
        shares : callable
            A fuser's (N,) probabilities of a label index. They count as much as its raters' votes:
            a certainty that no number of raters can give would silence every image.
        """
        patterns = self.voxels.patterns
        agreed, disputed = _agreement(patterns.patterns, patterns.number_of_labels)
        voters = patterns.present.sum(axis=1)[self._rows(disputed)]
        votes = np.stack([shares(label) * voters for label in range(patterns.number_of_labels)])
        prior = _log_shares(votes.T).T
        log_weights = prior + weight * self.log_likelihoods(agreed, disputed)
        return np.exp(_balanced(log_weights, np.exp(prior).sum(axis=1)))

    def _rows(self, asked: NDArray[np.bool_]) -> NDArray[np.int64]:
        """(N,) pattern of each voxel that has one of the patterns asked for."""
        rows = np.where(asked, np.arange(len(asked)), _NOBODY)
        volume = self.voxels.expand(rows, outside=_NOBODY).reshape(-1)
        return np.asarray(volume[volume != _NOBODY])


def _agreement(votes: NDArray[Any], missing: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """(P,) the label index that all present raters chose, or -1; and where they disagree."""
    lowest = votes.min(axis=1).astype(np.int64)
    highest = np.where(votes == missing, 0, votes).max(axis=1)
    disputed = (lowest != missing) & (lowest != highest)
    return np.where(disputed | (lowest == missing), _NOBODY, lowest), disputed


def _all_but(rater: int, number: int) -> Floats:
    weights = np.ones(number)
    weights[rater] = 0.0
    return weights


def _log_shares(votes: NDArray[Any]) -> Floats:
    """(N, K) log of the share of votes, none of which is certain."""
    counted = votes + _PSEUDO_VOTES
    return np.asarray(np.log(counted / counted.sum(axis=1, keepdims=True)))


def _student(value: Floats, mean: Floats, variance: Floats) -> Floats:
    """Log-density of Student's t, up to what all labels share."""
    variance = np.maximum(variance, np.finfo(float).tiny)
    tail = (_DEGREES_OF_FREEDOM + 1) / 2
    distance = (value - mean) ** 2 / (variance * _DEGREES_OF_FREEDOM)
    return np.asarray(-0.5 * np.log(variance) - tail * np.log1p(distance))


def _normalised(log_weights: Floats) -> Floats:
    return np.asarray(log_weights - np.logaddexp.reduce(log_weights, axis=0))


def _foreseen(log_weights: Floats, drawn: NDArray[np.int64]) -> float:
    """Mean log-likelihood of what a rater drew, who may prefer some labels everywhere.

    The preference is fitted, so that drawing too much or too little is no evidence against the
    image: each step makes the rater draw each label as often as it was drawn.
    """
    often = np.bincount(drawn, minlength=len(log_weights))
    return float(_log_of(_balanced(log_weights, often), drawn).mean())


def _balanced(log_weights: Floats, often: NDArray[Any]) -> Floats:
    """(K, N) log-probabilities by which each label is drawn so often in all."""
    habit = np.zeros((len(log_weights), 1))
    for _ in range(_HABIT_STEPS):
        expected = np.exp(_normalised(log_weights + habit)).sum(axis=1)
        habit += np.log((often + _PSEUDO_VOTES) / (expected + _PSEUDO_VOTES))[:, None]
    return _normalised(log_weights + habit)


def _log_of(table: Floats, chosen: NDArray[np.int64]) -> Floats:
    return np.asarray(np.take_along_axis(table, chosen[None], axis=0)[0])
