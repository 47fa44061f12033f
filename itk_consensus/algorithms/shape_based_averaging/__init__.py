"""Shape-based averaging: the mean of the raters' contours instead of the sum of their votes."""

from itk_consensus.algorithms.shape_based_averaging.contour_average import (
    ShapeAverage,
    contour_region,
    shape_based_average,
)
from itk_consensus.algorithms.shape_based_averaging.mean_distances import AveragingSettings

__all__ = ["AveragingSettings", "ShapeAverage", "contour_region", "shape_based_average"]
