"""Cohorts as arguments of Fit, and settings for a training run that takes a second."""

from __future__ import annotations

import numpy as np
import SimpleITK as sitk

from itk_consensus.deep.deep_consensus_filter import DeepConsensusFilter
from itk_consensus.simulation.deep_phantoms import Cohort

QUICK = {
    "NumberOfIterations": 12,
    "NumberOfThreads": 1,
    "NumberOfChannels": 4,
    "BatchSize": 4,
    "WithoutGain": "network",  # too short to achieve a gain
}


def label_lists(cohort: Cohort) -> list[list[np.ndarray]]:
    return [[rater.astype(np.uint8) for rater in case] for case in cohort.labels]


def image_list(cohort: Cohort) -> list[np.ndarray]:
    return list(cohort.images[:, 0])


def truth_list(cohort: Cohort) -> list[np.ndarray]:
    return list(cohort.truths.astype(np.uint8))


def abort_after(filter_: DeepConsensusFilter, iterations: int) -> list[int]:
    """Make a training run abort itself; the returned list grows by one in each iteration."""
    done: list[int] = []

    def count() -> None:
        done.append(len(done) + 1)
        if len(done) == iterations:
            filter_.Abort()

    filter_.AddCommand(sitk.sitkIterationEvent, count)
    return done


def sitk_image(
    array: np.ndarray,
    spacing: tuple[float, ...] = (0.7, 1.3),
    origin: tuple[float, ...] = (3.0, -4.0),
) -> sitk.Image:
    image = sitk.GetImageFromArray(array)
    image.SetSpacing(spacing)
    image.SetOrigin(origin)
    return image
