"""Simulated raters of known true segmentations; everything here is a function of its seed."""

from __future__ import annotations

from examples.simulation.conformal_cohort import CohortCase as CohortCase
from examples.simulation.conformal_cohort import conformal_case as conformal_case
from examples.simulation.contour_errors import contour_error_raters as contour_error_raters
from examples.simulation.harm_settings import HARM_SETTINGS as HARM_SETTINGS
from examples.simulation.lesion_settings import LESION_SETTINGS as LESION_SETTINGS
from examples.simulation.level_cohort import LEVEL_FAMILIES as LEVEL_FAMILIES
from examples.simulation.level_cohort import LevelCase as LevelCase
from examples.simulation.level_cohort import level_case as level_case
from examples.simulation.phantoms import Phantom as Phantom
from examples.simulation.phantoms import disc_phantom as disc_phantom
from examples.simulation.phantoms import ellipsoid_mask as ellipsoid_mask
from examples.simulation.phantoms import ellipsoid_phantom as ellipsoid_phantom
from examples.simulation.phantoms import nested_phantom as nested_phantom
from examples.simulation.phantoms import organs_phantom as organs_phantom
from examples.simulation.practice_settings import PRACTICE_SETTINGS as PRACTICE_SETTINGS
from examples.simulation.practice_settings import SLIP_SETTINGS as SLIP_SETTINGS
from examples.simulation.practice_settings import SLIPS as SLIPS
from examples.simulation.raters import confusion_raters as confusion_raters
from examples.simulation.raters import heterogeneous_raters as heterogeneous_raters
from examples.simulation.raters import multilabel_raters as multilabel_raters
from examples.simulation.raters import paper_qualities as paper_qualities
from examples.simulation.raters import paper_raters as paper_raters
from examples.simulation.raters import random_rater as random_rater
from examples.simulation.raters import spatial_raters as spatial_raters
from examples.simulation.raters import uniform_confusion as uniform_confusion
from examples.simulation.settings import ONE_GOOD_FOUR_POOR as ONE_GOOD_FOUR_POOR
from examples.simulation.settings import ONE_RANDOM as ONE_RANDOM
from examples.simulation.settings import Case as Case
from examples.simulation.settings import Setting as Setting
from examples.simulation.settings import class_imbalance_case as class_imbalance_case
from examples.simulation.settings import heterogeneous_case as heterogeneous_case
from examples.simulation.settings import noisy_organs_case as noisy_organs_case
from examples.simulation.settings import spatial_case as spatial_case
from examples.simulation.settings import twelve_settings as twelve_settings
from examples.simulation.structure_settings import STRUCTURE_SETTINGS as STRUCTURE_SETTINGS
from examples.simulation.structure_settings import SpacedCase as SpacedCase
