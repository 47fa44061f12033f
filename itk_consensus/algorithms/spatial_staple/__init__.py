"""Spatial STAPLE: raters whose performance varies from place to place."""

from itk_consensus.algorithms.spatial_staple.confusion_field import confusion_field
from itk_consensus.algorithms.spatial_staple.performance_field import (
    REGULARIZATION_TARGETS,
    FieldSettings,
)
from itk_consensus.algorithms.spatial_staple.windowed_staple import (
    PRIOR_MODES,
    SpatialResult,
    SpatialSettings,
    spatial_staple,
)

__all__ = [
    "PRIOR_MODES",
    "REGULARIZATION_TARGETS",
    "FieldSettings",
    "SpatialResult",
    "SpatialSettings",
    "confusion_field",
    "spatial_staple",
]
