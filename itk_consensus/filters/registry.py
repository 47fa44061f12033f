"""Every fuser of the package, listed once: public names, functions, CLI and docs follow."""

from __future__ import annotations

from itk_consensus.filters.agreement import AgreementFilter
from itk_consensus.filters.boundary_simple import BoundarySIMPLEFilter
from itk_consensus.filters.coherence_vote import CoherenceVoteFilter
from itk_consensus.filters.cohort_staple import CohortSTAPLEFilter
from itk_consensus.filters.collate import COLLATEFilter
from itk_consensus.filters.conformal_band import ConformalBandFilter
from itk_consensus.filters.consensus import ConsensusFilter
from itk_consensus.filters.corrected_vote import CorrectedVoteFilter
from itk_consensus.filters.deep_consensus import DeepConsensusFilter
from itk_consensus.filters.direct_inference import DirectInferenceFilter
from itk_consensus.filters.frechet import FrechetConsensusFilter
from itk_consensus.filters.hybrid import HybridFusionFilter
from itk_consensus.filters.intensity_refinement import IntensityRefinementFilter
from itk_consensus.filters.joint_label_fusion import JointLabelFusionFilter
from itk_consensus.filters.label_fusion import LabelFusionFilter
from itk_consensus.filters.label_voting import LabelVotingImageFilter
from itk_consensus.filters.locally_weighted_vote import LocallyWeightedVoteFilter
from itk_consensus.filters.majority_vote import MajorityVoteFilter
from itk_consensus.filters.multilabel_staple import MultiLabelSTAPLEImageFilter
from itk_consensus.filters.opinion_pool import LogOpinionPoolFilter
from itk_consensus.filters.probability_average import ProbabilityAverageFilter
from itk_consensus.filters.process_object import ProcessObject
from itk_consensus.filters.shape_based_averaging import ShapeBasedAveragingFilter
from itk_consensus.filters.simple import SIMPLEFilter
from itk_consensus.filters.spatial_staple import SpatialSTAPLEFilter
from itk_consensus.filters.staple import STAPLEImageFilter
from itk_consensus.filters.temperature_scaling import TemperatureScalingFilter

FUSERS: tuple[type[LabelFusionFilter], ...] = (
    ConsensusFilter,
    CoherenceVoteFilter,
    STAPLEImageFilter,
    MultiLabelSTAPLEImageFilter,
    LabelVotingImageFilter,
    MajorityVoteFilter,
    CorrectedVoteFilter,
    COLLATEFilter,
    DirectInferenceFilter,
    SpatialSTAPLEFilter,
    ShapeBasedAveragingFilter,
    FrechetConsensusFilter,
    SIMPLEFilter,
    BoundarySIMPLEFilter,
    LogOpinionPoolFilter,
    ProbabilityAverageFilter,
    HybridFusionFilter,
)

#: Filters whose Execute takes, or needs, something else than a list of label images.
OTHER_FILTERS: tuple[type[ProcessObject], ...] = (
    IntensityRefinementFilter,
    LocallyWeightedVoteFilter,
    JointLabelFusionFilter,
    ConformalBandFilter,
    TemperatureScalingFilter,
    CohortSTAPLEFilter,
    DeepConsensusFilter,
    AgreementFilter,
)

METHODS: dict[str, type[LabelFusionFilter]] = {fuser.method: fuser for fuser in FUSERS}
