"""BoundarySIMPLEFilter: vote with raters weighted by their local agreement with the consensus."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.constraints import LENGTH, Choice, ImageLike, Integer, Real, optional
from itk_consensus.core.errors import InputError
from itk_consensus.core.parameters import Measurement, Parameter, settings_from
from itk_consensus.fusing.fusion_case import FusionCase
from itk_consensus.fusing.fusion_result import Fused
from itk_consensus.fusing.label_fusion import LabelFusionFilter, UndecidedLabelMixin
from itk_consensus.methods.selection.boundary_simple.edge_agreement import edge_agreement
from itk_consensus.methods.selection.boundary_simple.weighted_vote import (
    BoundaryEstimate,
    BoundarySettings,
    boundary_simple,
)
from itk_consensus.space.box_sum import radii_in_voxels
from itk_consensus.votes.disputed_voxels import DisputedVoxels
from itk_consensus.votes.ties import TIE_RULES

#: Patch radius in "When Does Consensus Beat Voting?", in units of the smallest voxel side.
DEFAULT_PATCH = 3.0

#: Ratio between the radii of the patches for edges and for labels. It exceeds 1 so that edge
#: patches contain the true edge even if a rater's contour is far from it.
EDGE_REACH = 2.0


class BoundarySIMPLEFilter(UndecidedLabelMixin, LabelFusionFilter):
    """Vote in which raters are weighted at each voxel by their agreement with the consensus there.

    A rater's weight is the correlation of its labels with the consensus in a patch around the
    voxel and, if `Image` is given, of its contour with the image's edges.
    """

    chunking_unsupported_reason = (
        "it compares raters in a patch around every voxel and over the whole image, and each "
        "iteration depends on voxels one patch farther away"
    )
    bytes_per_voxel = 24
    method = "boundary-simple"
    # Not invariant to background padding: patches are cropped at the image border.
    laws = frozenset({"rater permutation", "unanimity"})
    summary = (
        "Assumes that raters who agree with the others locally are right there. Use with Image "
        "when the structure ends at edges of the image. The paper, section 2.6."
    )

    Image = Parameter(
        optional(ImageLike()),
        None,
        "Intensity image whose edges raise the weight of raters who follow them.",
    )
    PatchRadius = Parameter(
        optional(LENGTH),
        None,
        "Half width, in mm, of the patch in which raters are compared.",
        default_doc="3 smallest voxel sides",
    )
    LocalWeight = Parameter(
        Real(0.0, 1.0, exclusive=True),
        BoundarySettings.local_weight,
        "Share of the local agreement in a weight; the rest is the rater's mean agreement.",
    )
    EdgeBoost = Parameter(
        Real(low=1.0),
        5.0,
        "Factor on the weight of a rater whose contour follows an edge of the image; 1: off.",
    )
    EdgeScale = Parameter(
        LENGTH,
        1.0,
        "Standard deviation of the smoothing of Image before its gradient, in smallest voxel "
        "sides.",
    )
    MaximumIterations = Parameter(
        Integer(low=1), BoundarySettings.maximum_iterations, "Maximum number of iterations."
    )
    Tolerance = Parameter(
        Real(low=0.0),
        BoundarySettings.tolerance,
        "Stop when label shares of disputed voxels change by less than this on average.",
    )
    TieRule = Parameter(
        Choice(TIE_RULES), BoundarySettings.tie_rule, "What to do with tied voxels."
    )

    Weights = Measurement(
        tuple[float, ...],
        "Mean weight of each rater over disputed voxels; they sum to 1.",
        "estimate.weights",
    )
    Trace = Measurement(
        tuple[float, ...],
        "Mean change of the label shares of disputed voxels per iteration.",
        "estimate.trace",
    )
    Converged = Measurement(bool, "Whether the consensus became stable.", "estimate.converged")

    def _fuse(self, case: FusionCase) -> Fused[BoundaryEstimate]:
        settings = settings_from(self, BoundarySettings, radii=self._radii(case))
        voxels = DisputedVoxels(case.patterns, case.patterns.disputed_region(settings.radii))
        result = boundary_simple(voxels, settings, gate=self._gate(case))
        return Fused(result.fusion(), result.estimate)

    def _radii(self, case: FusionCase) -> tuple[int, ...]:
        smallest, radius = case.smallest_side, self.PatchRadius
        if radius is None:
            radius = DEFAULT_PATCH * smallest
        radii = radii_in_voxels(radius, case.spacing)
        if not any(radii):
            raise self._parameter_error(
                "PatchRadius",
                f"must be at least the smallest voxel side {smallest:g} mm, got {radius:g}",
            )
        return radii

    def _gate(self, case: FusionCase) -> NDArray[np.float64] | None:
        """Return (J, N) factors of the weights: 1 + (EdgeBoost - 1) * agreement with edges."""
        image = self._load_one(self.Image, case.loaded, "Image")
        if image is None or self.EdgeBoost == 1:
            return None
        if not np.isfinite(image).all():
            raise InputError(
                "must hold finite numbers, found NaN or inf",
                owner=self.GetName(),
                parameter="Image",
            )
        radii = tuple(round(EDGE_REACH * radius) for radius in self._radii(case))
        scale = self.EdgeScale * case.smallest_side
        voxels = DisputedVoxels(case.patterns, case.patterns.disputed_region(radii))
        agreement = edge_agreement(voxels, image, radii, case.spacing, scale)
        return 1 + (self.EdgeBoost - 1) * agreement
