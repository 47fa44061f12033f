"""Boundary SIMPLE: raters count, voxel by voxel, as much as they resemble the consensus there."""

from itk_consensus.algorithms.boundary_simple.edge_agreement import edge_agreement
from itk_consensus.algorithms.boundary_simple.weighted_vote import (
    BoundaryResult,
    BoundarySettings,
    boundary_simple,
)

__all__ = ["BoundaryResult", "BoundarySettings", "boundary_simple", "edge_agreement"]
