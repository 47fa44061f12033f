"""DeepConsensusFilter: fuse labels with the help of the image they were drawn on."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import distance_transform_edt

from itk_consensus.deep.cases import Case
from itk_consensus.errors import (
    ConsensusWarning,
    FileError,
    InputError,
    MissingDependencyError,
    NotExecutedError,
    ParameterError,
)
from itk_consensus.filters.deep_inputs import RaterId, RatersPerCase, load_case, rater_names
from itk_consensus.filters.kinds import (
    Boolean,
    Choice,
    Integer,
    Integers,
    Real,
    optional,
)
from itk_consensus.filters.parameters import Parameter
from itk_consensus.filters.process_object import ITERATION_EVENT, PROGRESS_EVENT, ProcessObject
from itk_consensus.images import convert
from itk_consensus.images.files import PathLike, replacing
from itk_consensus.images.loaded_images import LoadedImages
from itk_consensus.labels.label_stack import label_table
from itk_consensus.labels.label_types import common_type

if TYPE_CHECKING:
    from itk_consensus.deep.inference import Prediction
    from itk_consensus.deep.model import ConsensusModel
    from itk_consensus.deep.training import Trainer, TrainingSettings

_VOTING = "without one, itk_consensus.LabelVoting(labels) fuses labels by voting"
#: Cases on which the trained model is compared with the vote.
_CHECKED_CASES = 6
