"""Direct inference: the most probable label map, the raters' performance being integrated out."""

from itk_consensus.algorithms.direct_inference.most_probable_map import (
    DirectInferenceResult,
    DirectInferenceSettings,
    direct_inference,
)

__all__ = ["DirectInferenceResult", "DirectInferenceSettings", "direct_inference"]
