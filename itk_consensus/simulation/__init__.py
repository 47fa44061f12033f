"""Known truths and simulated raters: everything here is a function of its seed."""

from __future__ import annotations

from itk_consensus.simulation.atlas_phantoms import AtlasCase as AtlasCase
from itk_consensus.simulation.atlas_phantoms import AtlasLabels as AtlasLabels
from itk_consensus.simulation.atlas_phantoms import atlas_case as atlas_case
from itk_consensus.simulation.atlas_phantoms import atlas_labels as atlas_labels
from itk_consensus.simulation.conformal_cohort import CohortCase as CohortCase
from itk_consensus.simulation.conformal_cohort import conformal_case as conformal_case
from itk_consensus.simulation.contour_errors import contour_error_raters as contour_error_raters
from itk_consensus.simulation.deep_phantoms import Cohort as Cohort
from itk_consensus.simulation.deep_phantoms import easy_cohort as easy_cohort
from itk_consensus.simulation.deep_phantoms import hard_cohort as hard_cohort
from itk_consensus.simulation.lesion_settings import LESION_SETTINGS as LESION_SETTINGS
from itk_consensus.simulation.level_cohort import LEVEL_FAMILIES as LEVEL_FAMILIES
from itk_consensus.simulation.level_cohort import LevelCase as LevelCase
from itk_consensus.simulation.level_cohort import level_case as level_case
from itk_consensus.simulation.phantoms import Phantom as Phantom
from itk_consensus.simulation.phantoms import disc_phantom as disc_phantom
from itk_consensus.simulation.phantoms import ellipsoid_mask as ellipsoid_mask
from itk_consensus.simulation.phantoms import ellipsoid_phantom as ellipsoid_phantom
from itk_consensus.simulation.phantoms import nested_phantom as nested_phantom
from itk_consensus.simulation.phantoms import organs_phantom as organs_phantom
from itk_consensus.simulation.practice_settings import PRACTICE_SETTINGS as PRACTICE_SETTINGS
from itk_consensus.simulation.practice_settings import SLIP_SETTINGS as SLIP_SETTINGS
from itk_consensus.simulation.practice_settings import SLIPS as SLIPS
from itk_consensus.simulation.raters import confusion_raters as confusion_raters
from itk_consensus.simulation.raters import heterogeneous_raters as heterogeneous_raters
from itk_consensus.simulation.raters import multilabel_raters as multilabel_raters
from itk_consensus.simulation.raters import paper_qualities as paper_qualities
from itk_consensus.simulation.raters import paper_raters as paper_raters
from itk_consensus.simulation.raters import random_rater as random_rater
from itk_consensus.simulation.raters import spatial_raters as spatial_raters
from itk_consensus.simulation.raters import uniform_confusion as uniform_confusion
from itk_consensus.simulation.settings import ONE_GOOD_FOUR_POOR as ONE_GOOD_FOUR_POOR
from itk_consensus.simulation.settings import ONE_RANDOM as ONE_RANDOM
from itk_consensus.simulation.settings import Case as Case
from itk_consensus.simulation.settings import Setting as Setting
from itk_consensus.simulation.settings import class_imbalance_case as class_imbalance_case
from itk_consensus.simulation.settings import heterogeneous_case as heterogeneous_case
from itk_consensus.simulation.settings import noisy_organs_case as noisy_organs_case
from itk_consensus.simulation.settings import spatial_case as spatial_case
from itk_consensus.simulation.settings import twelve_settings as twelve_settings
from itk_consensus.simulation.structure_settings import STRUCTURE_SETTINGS as STRUCTURE_SETTINGS
from itk_consensus.simulation.structure_settings import SpacedCase as SpacedCase
