"""Every filter of the package, listed once: public names, functions, CLI and docs follow.

Names are known without loading a filter; ``FUSERS`` and ``METHODS`` load all fusers,
``OTHER_FILTERS`` the others.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from itk_consensus.filters.label_fusion import LabelFusionFilter
    from itk_consensus.filters.process_object import ProcessObject

#: Fusers in the order in which they are presented, and their modules in this folder.
FUSER_MODULES = {
    "ConsensusFilter": "consensus",
    "CoherenceVoteFilter": "coherence_vote",
    "STAPLEImageFilter": "staple",
    "MultiLabelSTAPLEImageFilter": "multilabel_staple",
    "LabelVotingImageFilter": "label_voting",
    "MajorityVoteFilter": "majority_vote",
    "CorrectedVoteFilter": "corrected_vote",
    "COLLATEFilter": "collate",
    "DirectInferenceFilter": "direct_inference",
    "SpatialSTAPLEFilter": "spatial_staple",
    "ShapeBasedAveragingFilter": "shape_based_averaging",
    "FrechetConsensusFilter": "frechet",
    "SIMPLEFilter": "simple",
    "BoundarySIMPLEFilter": "boundary_simple",
    "LogOpinionPoolFilter": "opinion_pool",
    "ProbabilityAverageFilter": "probability_average",
    "HybridFusionFilter": "hybrid",
    "InstanceConsensusFilter": "instance_consensus",
}

#: Filters whose Execute takes, or needs, something else than a list of label images.
OTHER_FILTER_MODULES = {
    "IntensityRefinementFilter": "intensity_refinement",
    "LocallyWeightedVoteFilter": "locally_weighted_vote",
    "JointLabelFusionFilter": "joint_label_fusion",
    "AtlasSelectionFilter": "atlas_selection",
    "ConformalBandFilter": "conformal_band",
    "ConformalMarginFilter": "conformal_margin",
    "CutCalibrationFilter": "cut_calibration",
    "TemperatureScalingFilter": "temperature_scaling",
    "CohortSTAPLEFilter": "cohort_staple",
    "DeepConsensusFilter": "deep_consensus",
    "AgreementFilter": "agreement",
    "ReaderBiasFilter": "reader_bias",
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
    return getattr(import_module(f"itk_consensus.filters.{module}"), name)


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
