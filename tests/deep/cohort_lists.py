"""A cohort as the lists that Fit takes."""

from __future__ import annotations

import numpy as np

from itk_consensus.simulation.deep_phantoms import Cohort


def label_lists(cohort: Cohort) -> list[list[np.ndarray]]:
    return [[rater.astype(np.uint8) for rater in case] for case in cohort.labels]


def image_list(cohort: Cohort) -> list[np.ndarray]:
    return list(cohort.images[:, 0])


def truth_list(cohort: Cohort) -> list[np.ndarray]:
    return list(cohort.truths.astype(np.uint8))
