"""Every filter of the package, listed once: public names, functions, CLI and docs follow.

Names are known without loading a filter; ``FUSERS`` and ``METHODS`` load all fusers,
``OTHER_FILTERS`` the others.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from itk_consensus.core.process_object import ProcessObject
    from itk_consensus.fusing.label_fusion import LabelFusionFilter

#: Fusers in the order in which they are presented, and the modules they live in.
FUSER_MODULES = {
    "ConsensusFilter": "methods.consensus.consensus_filter",
    "CoherenceVoteFilter": "methods.consensus.coherence_vote_filter",
    "STAPLEImageFilter": "methods.staple.staple_filter",
    "MultiLabelSTAPLEImageFilter": "methods.staple.multilabel_staple_filter",
    "LabelVotingImageFilter": "methods.voting.label_voting_filter",
    "MajorityVoteFilter": "methods.voting.majority_vote_filter",
    "CorrectedVoteFilter": "methods.voting.corrected_vote_filter",
    "COLLATEFilter": "methods.staple.collate_filter",
    "DirectInferenceFilter": "methods.direct_inference.direct_inference_filter",
    "SpatialSTAPLEFilter": "methods.staple.spatial_staple_filter",
    "ShapeBasedAveragingFilter": "methods.shape.shape_based_averaging_filter",
    "FrechetConsensusFilter": "methods.shape.frechet_filter",
    "SIMPLEFilter": "methods.selection.simple_filter",
    "BoundarySIMPLEFilter": "methods.selection.boundary_simple.boundary_simple_filter",
    "LogOpinionPoolFilter": "methods.pooling.opinion_pool_filter",
    "ProbabilityAverageFilter": "methods.pooling.probability_average_filter",
    "HybridFusionFilter": "methods.hybrid.hybrid_filter",
    "InstanceConsensusFilter": "methods.lesions.instance_consensus_filter",
}

#: Filters whose Execute takes, or needs, something else than a list of label images.
OTHER_FILTER_MODULES = {
    "IntensityRefinementFilter": "methods.consensus.intensity_refinement_filter",
    "LocallyWeightedVoteFilter": "methods.atlas.locally_weighted_vote_filter",
    "JointLabelFusionFilter": "methods.atlas.joint_label_fusion_filter",
    "AtlasSelectionFilter": "methods.atlas.atlas_selection_filter",
    "ConformalBandFilter": "calibration.conformal_band_filter",
    "ConformalMarginFilter": "calibration.conformal_margin_filter",
    "LearnedFusionFilter": "calibration.learned.learned_fusion_filter",
    "CutCalibrationFilter": "calibration.cut_calibration_filter",
    "TemperatureScalingFilter": "calibration.temperature_scaling_filter",
    "CohortSTAPLEFilter": "methods.staple.cohort_staple_filter",
    "DeepConsensusFilter": "deep.deep_consensus_filter",
    "AgreementFilter": "assessment.agreement.agreement_filter",
    "ReaderBiasFilter": "assessment.agreement.reader_bias_filter",
}

FUSERS: tuple[type[LabelFusionFilter], ...]
OTHER_FILTERS: tuple[type[ProcessObject], ...]
METHODS: dict[str, type[LabelFusionFilter]]


def short_name(filter_name: str) -> str:
    """What a filter's function is called: STAPLEImageFilter -> STAPLE."""
    return filter_name.removesuffix("Filter").removesuffix("Image")


def load_filter(name: str) -> Any:
    """The class of a filter, by its name; its module is loaded now."""
    module = (FUSER_MODULES | OTHER_FILTER_MODULES)[name]
    return getattr(import_module(f"itk_consensus.{module}"), name)


def __getattr__(name: str) -> Any:
    if name not in ("FUSERS", "OTHER_FILTERS", "METHODS"):
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    if name == "OTHER_FILTERS":
        globals()[name] = tuple(map(load_filter, OTHER_FILTER_MODULES))
    else:
        fusers = tuple(map(load_filter, FUSER_MODULES))
        globals()["FUSERS"] = fusers
        globals()["METHODS"] = {fuser.method: fuser for fuser in fusers}
    return globals()[name]
