"""Fusion methods and accuracy measures for the experiments with deep consensus."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus import MultiLabelSTAPLEImageFilter
from itk_consensus.calibration.reliability import ReliabilityCurve
from itk_consensus.deep.deep_consensus_filter import DeepConsensusFilter
from itk_consensus.simulation.deep_phantoms import Cohort
from itk_consensus.votes.overlap import dice

THREADS = 1

Raters = list[NDArray[Any] | None]
Fuser = Callable[[NDArray[Any], Raters], NDArray[Any]]


def mean_dice(fused: NDArray[Any], truth: NDArray[Any]) -> float:
    """Return the Dice averaged over the foreground labels of the reference."""
    return float(np.mean([dice(fused == k, truth == k) for k in range(1, int(truth.max()) + 1)]))


def raters_of(cohort: Cohort, case: int, missing: Iterable[int] = ()) -> Raters:
    """Return the raters' label maps of a case, as filter inputs."""
    drawn: Raters = [one.astype(np.uint8) for one in cohort.labels[case]]
    for rater in missing:
        drawn[rater] = None
    return drawn


def score(cohort: Cohort, fuse: Fuser, missing: Sequence[Sequence[int]] | None = None) -> float:
    """Return the mean Dice of a fuser over a cohort."""
    dices = []
    for case, truth in enumerate(cohort.truths):
        raters = raters_of(cohort, case, missing[case] if missing else ())
        dices.append(mean_dice(fuse(cohort.images[case, 0], raters), truth))
    return float(np.mean(dices))


def unanimity_or_truth(cohort: Cohort) -> float:
    """Return the mean Dice of the reference, with the raters' label at unanimous voxels."""
    dices = []
    for labels, truth in zip(cohort.labels, cohort.truths, strict=True):
        unanimous = (labels == labels[0]).all(0)
        dices.append(mean_dice(np.where(unanimous, labels[0], truth), truth))
    return float(np.mean(dices))


def vote(_image: NDArray[Any], raters: Raters) -> NDArray[Any]:
    """Return the plurality vote; ties are resolved to the smallest label."""
    present = np.stack([rater for rater in raters if rater is not None])
    votes = np.stack([(present == k).sum(0) for k in range(int(present.max()) + 1)])
    return np.asarray(votes.argmax(0))


def staple(_image: NDArray[Any], raters: Raters) -> NDArray[Any]:
    """Return the result of multi-label STAPLE."""
    return np.asarray(MultiLabelSTAPLEImageFilter().Execute(raters))


def with_noise(cohort: Cohort, seed: int) -> Cohort:
    """Return the cohort with images of noise, a control in which no gain is due to images."""
    images = np.random.default_rng([seed, 7]).standard_normal(cohort.images.shape)
    return cohort._replace(images=images.astype(np.float32))


def without_network(training: Cohort, *, with_truth: bool) -> Fuser:
    """Return a fuser that uses the training cohort's label frequencies and error rates, without
    images.

    As in DeepConsensusFilter, errors are counted label by label against the reference or, without
    references, as one accuracy per rater against the vote.
    """
    labels, cases = training.labels, range(len(training.truths))
    votes = [vote(training.images[case, 0], raters_of(training, case)) for case in cases]
    known = training.truths if with_truth else np.stack(votes)
    classes = np.arange(int(max(labels.max(), known.max())) + 1)
    frequencies = np.array([(known == k).mean() for k in classes])
    rates = []
    for drawn in labels.swapaxes(0, 1):
        counts = np.array([[((known == k) & (drawn == j)).sum() for j in classes] for k in classes])
        if not with_truth:
            right = np.trace(counts) / counts.sum()
            counts = np.where(np.eye(len(classes)) > 0, right, (1 - right) / (len(classes) - 1))
        counts = counts + 1e-6 * counts.sum()
        rates.append(np.log(counts / counts.sum(1, keepdims=True)))

    def fuse(_image: NDArray[Any], raters: Raters) -> NDArray[Any]:
        score = np.log(frequencies.clip(1e-9))
        present = [(who, drawn) for who, drawn in enumerate(raters) if drawn is not None]
        total = sum(rates[who][:, drawn] for who, drawn in present)
        return np.asarray((total + score.reshape(-1, *(1,) * present[0][1].ndim)).argmax(0))

    return fuse


def calibration_error(filter_: DeepConsensusFilter, cohort: Cohort) -> float:
    """Return the ECE of the most probable label over the disputed voxels of a cohort."""
    curves = []
    for case, truth in enumerate(cohort.truths):
        raters = raters_of(cohort, case)
        filter_.Execute(cohort.images[case, 0], raters)
        probability = np.stack([filter_.GetProbabilityImage(k) for k in filter_.GetLabels()])
        disputed = (cohort.labels[case] != cohort.labels[case][0]).any(0)
        right = (probability.argmax(0) == truth)[disputed]
        curves.append(ReliabilityCurve.of(probability.max(0)[disputed], right))
    return sum(curves[1:], curves[0]).expected_calibration_error


def fitted(
    cohort: Cohort, *, with_truth: bool, **parameters: Any
) -> tuple[DeepConsensusFilter, float]:
    """Train a filter; return it and the CPU seconds."""
    # The network is measured whether or not it is better than the vote.
    filter_ = DeepConsensusFilter(NumberOfThreads=THREADS, WithoutGain="network", **parameters)
    labels = [raters_of(cohort, case) for case in range(len(cohort.truths))]
    truths = list(cohort.truths.astype(np.uint8)) if with_truth else None
    start = time.process_time()
    filter_.Fit(list(cohort.images[:, 0]), labels, truths)
    return filter_, time.process_time() - start


def fuser(filter_: DeepConsensusFilter, rater_ids: Sequence[Any] | None = None) -> Fuser:
    """Return the filter as a function of image and raters."""
    return lambda image, raters: np.asarray(filter_.Execute(image, raters, rater_ids))
