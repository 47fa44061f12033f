"""Known truths and simulated raters: everything here is a function of its seed."""

from __future__ import annotations

from itk_consensus.simulation.atlas_phantoms import (
    AtlasCase,
    AtlasLabels,
    atlas_case,
    atlas_labels,
)
from itk_consensus.simulation.conformal_cohort import CohortCase, conformal_case
from itk_consensus.simulation.contour_errors import contour_error_raters
from itk_consensus.simulation.deep_phantoms import Cohort, easy_cohort, hard_cohort
from itk_consensus.simulation.phantoms import (
    Phantom,
    disc_phantom,
    ellipsoid_mask,
    ellipsoid_phantom,
    nested_phantom,
    organs_phantom,
)
from itk_consensus.simulation.raters import (
    confusion_raters,
    heterogeneous_raters,
    multilabel_raters,
    paper_qualities,
    paper_raters,
    random_rater,
    spatial_raters,
    uniform_confusion,
)
from itk_consensus.simulation.settings import (
    ONE_GOOD_FOUR_POOR,
    ONE_RANDOM,
    Case,
    Setting,
    class_imbalance_case,
    heterogeneous_case,
    noisy_organs_case,
    spatial_case,
    twelve_settings,
)
from itk_consensus.simulation.structure_settings import STRUCTURE_SETTINGS, SpacedCase

__all__ = [
    "ONE_GOOD_FOUR_POOR",
    "ONE_RANDOM",
    "STRUCTURE_SETTINGS",
    "AtlasCase",
    "AtlasLabels",
    "Case",
    "Cohort",
    "CohortCase",
    "Phantom",
    "Setting",
    "SpacedCase",
    "atlas_case",
    "atlas_labels",
    "class_imbalance_case",
    "conformal_case",
    "confusion_raters",
    "contour_error_raters",
    "disc_phantom",
    "easy_cohort",
    "ellipsoid_mask",
    "ellipsoid_phantom",
    "hard_cohort",
    "heterogeneous_case",
    "heterogeneous_raters",
    "multilabel_raters",
    "nested_phantom",
    "noisy_organs_case",
    "organs_phantom",
    "paper_qualities",
    "paper_raters",
    "random_rater",
    "spatial_case",
    "spatial_raters",
    "twelve_settings",
    "uniform_confusion",
]
