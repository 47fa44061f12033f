"""Registry of all filters, from which public names, functions, command line and docs are derived.

Filters are loaded lazily: ``METHODS`` loads a fuser on access, ``FUSERS`` loads all of them and
``OTHER_FILTERS`` the other filters.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from itk_consensus.core.process_object import ProcessObject
    from itk_consensus.fusing.label_fusion import LabelFusionFilter

#: Module of each fuser, in the order in which fusers are listed.
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

#: Fuser for each method name on the command line.
FUSER_METHODS = {
    "consensus": "ConsensusFilter",
    "coherence-vote": "CoherenceVoteFilter",
    "staple": "STAPLEImageFilter",
    "multilabel-staple": "MultiLabelSTAPLEImageFilter",
    "label-voting": "LabelVotingImageFilter",
    "vote": "MajorityVoteFilter",
    "corrected-vote": "CorrectedVoteFilter",
    "collate": "COLLATEFilter",
    "direct-inference": "DirectInferenceFilter",
    "spatial-staple": "SpatialSTAPLEFilter",
    "shape-average": "ShapeBasedAveragingFilter",
    "frechet": "FrechetConsensusFilter",
    "simple": "SIMPLEFilter",
    "boundary-simple": "BoundarySIMPLEFilter",
    "log-opinion-pool": "LogOpinionPoolFilter",
    "probability-average": "ProbabilityAverageFilter",
    "hybrid": "HybridFusionFilter",
    "instance-consensus": "InstanceConsensusFilter",
}

#: Module of each filter whose Execute takes inputs other than a list of label images.
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

#: Filters that return values instead of images; their functions are `agreement` and `reader_bias`.
MEASURING_FILTERS = ("AgreementFilter", "ReaderBiasFilter")

FUSERS: tuple[type[LabelFusionFilter], ...]
OTHER_FILTERS: tuple[type[ProcessObject], ...]


class _Methods(Mapping[str, "type[LabelFusionFilter]"]):
    """Lazy mapping from method names on the command line to fusers."""

    def __getitem__(self, method: str) -> type[LabelFusionFilter]:
        fuser: type[LabelFusionFilter] = load_filter(FUSER_METHODS[method])
        return fuser

    def __contains__(self, method: object) -> bool:
        return method in FUSER_METHODS

    def __iter__(self) -> Iterator[str]:
        return iter(FUSER_METHODS)

    def __len__(self) -> int:
        return len(FUSER_METHODS)


METHODS = _Methods()


def short_name(filter_name: str) -> str:
    """Return the short name of a filter, e.g. STAPLE for STAPLEImageFilter."""
    return filter_name.removesuffix("Filter").removesuffix("Image")


def load_filter(name: str) -> Any:
    """Import the module of a filter and return its class."""
    module = (FUSER_MODULES | OTHER_FILTER_MODULES)[name]
    return getattr(import_module(f"itk_consensus.{module}"), name)


def __getattr__(name: str) -> Any:
    if name not in ("FUSERS", "OTHER_FILTERS"):
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    if name == "OTHER_FILTERS":
        globals()[name] = tuple(map(load_filter, OTHER_FILTER_MODULES))
    else:
        globals()[name] = tuple(map(load_filter, FUSER_MODULES))
    return globals()[name]
