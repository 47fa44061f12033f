"""Every fuser of the package, listed once: public names, functions, CLI and docs follow."""

from __future__ import annotations

from itk_consensus.filters.consensus import ConsensusFilter
from itk_consensus.filters.direct_inference import DirectInferenceFilter
from itk_consensus.filters.label_fusion import LabelFusionFilter
from itk_consensus.filters.label_voting import LabelVotingImageFilter
from itk_consensus.filters.majority_vote import MajorityVoteFilter
from itk_consensus.filters.multilabel_staple import MultiLabelSTAPLEImageFilter
from itk_consensus.filters.shape_based_averaging import ShapeBasedAveragingFilter
from itk_consensus.filters.spatial_staple import SpatialSTAPLEFilter
from itk_consensus.filters.staple import STAPLEImageFilter

FUSERS: tuple[type[LabelFusionFilter], ...] = (
    ConsensusFilter,
    STAPLEImageFilter,
    MultiLabelSTAPLEImageFilter,
    LabelVotingImageFilter,
    MajorityVoteFilter,
    DirectInferenceFilter,
    SpatialSTAPLEFilter,
    ShapeBasedAveragingFilter,
)

METHODS: dict[str, type[LabelFusionFilter]] = {fuser.method: fuser for fuser in FUSERS}
