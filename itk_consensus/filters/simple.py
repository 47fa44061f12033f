"""SIMPLEFilter: weights from how well raters agree with the consensus, locally or altogether."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.algorithms.boundary_simple import BoundarySettings, boundary_simple
from itk_consensus.algorithms.edge_agreement import edge_agreement
from itk_consensus.algorithms.simple import selective_simple
from itk_consensus.errors import InputError, ParameterError
from itk_consensus.filters.disputed_fusion import DisputedFusion
from itk_consensus.filters.fusion import Fusion, FusionCase, PatternFusion
from itk_consensus.filters.kinds import LENGTH, Choice, ImageLike, Integer, Real, optional
from itk_consensus.filters.label_fusion import LabelFusionFilter, UndecidedLabelMixin
from itk_consensus.filters.parameters import Measurement, Parameter
from itk_consensus.filters.process_object import PROGRESS_EVENT
from itk_consensus.labels.box_sum import radii_in_voxels
from itk_consensus.labels.disputed_voxels import DisputedVoxels
from itk_consensus.labels.distance import VOLUME_AXES
from itk_consensus.labels.ties import TIE_RULES

#: The paper's patch, in smallest voxel sides.
DEFAULT_PATCH = 3.0

#: Edges are looked for this much farther than masks are compared: a contour may be more wrong
#: than a patch is wide, and what it should have followed must still be seen.
EDGE_REACH = 2.0


class SIMPLEFilter(UndecidedLabelMixin, LabelFusionFilter):
    """Vote in which raters count by their agreement with the consensus, found by iteration.

    Method "boundary" weighs raters voxel by voxel: by the correlation of their labels with the
    consensus in a patch, and, if `Image` is given, by the correlation of their contour with the
    image's edges. Method "selective" (Langerak et al. 2010) weighs whole raters by their Dice
    overlap with the vote, and drops those far below the others or without any overlap.
    """

    method = "simple"
    laws = frozenset({"rater permutation", "unanimity", "background padding"})
    summary = (
        "Assumes that whoever agrees with the others is right: here (boundary) or overall "
        "(selective). Use selective to find who drew something else, boundary with Image when "
        "the structure ends at edges of the image. Langerak et al. 2010; the paper, section 2.6."
    )

    Method: Parameter[str] = Parameter(
        Choice(("selective", "boundary")),
        lambda filter_: "selective" if filter_.Image is None else "boundary",
        "Weights per voxel (boundary), or per rater with the worst dropped (selective).",
        default_doc="selective, or boundary with Image",
        in_cli=False,  # there --method names the filter; --image chooses between the two
    )
    Image: Parameter[Any] = Parameter(
        optional(ImageLike()),
        None,
        "Boundary: intensity image whose edges raise the weight of raters who follow them.",
    )
    PatchRadius: Parameter[float | None] = Parameter(
        optional(LENGTH),
        None,
        "Boundary: half width, in mm, of the patch in which raters are compared.",
        default_doc="3 smallest voxel sides",
    )
    LocalWeight: Parameter[float] = Parameter(
        Real(0.0, 1.0, exclusive=True),
        BoundarySettings.local_weight,
        "Boundary: share of the agreement here in a weight; the rest is a rater's mean agreement.",
    )
    EdgeBoost: Parameter[float] = Parameter(
        Real(low=1.0),
        5.0,
        "Boundary: factor of the weight of a rater whose contour is the image's edge; 1: no gate.",
    )
    EdgeScale: Parameter[float | None] = Parameter(
        optional(LENGTH),
        None,
        "Boundary: standard deviation, in mm, of the smoothing of Image before its gradient.",
        default_doc="smallest voxel side",
    )
    Deviations: Parameter[float] = Parameter(
        Real(low=0.0),
        2.0,
        "Selective: standard deviations below the mean overlap at which a rater is dropped.",
    )
    MaximumIterations: Parameter[int] = Parameter(Integer(low=1), 10, "Most iterations.")
    Tolerance: Parameter[float] = Parameter(
        Real(low=0.0),
        BoundarySettings.tolerance,
        "Boundary: stop when label shares of disputed voxels change by less on average.",
    )
    TieRule: Parameter[Any] = Parameter(
        Choice(TIE_RULES), "undecided", "What a tie of the weighted votes becomes."
    )

    Weights: Measurement[tuple[float, ...]] = Measurement(
        "tuple[float, ...]",
        "Weight of each rater: mean over disputed voxels, summing to 1 (boundary), or Dice overlap "
        "with the vote (selective).",
    )
    DroppedRaters: Measurement[tuple[int, ...]] = Measurement(
        "tuple[int, ...]", "Raters that were dropped, counted from 0; none by boundary."
    )
    Trace: Measurement[tuple[float, ...]] = Measurement(
        "tuple[float, ...]", "Mean change of the label shares of disputed voxels per iteration."
    )
    Converged: Measurement[bool] = Measurement(
        "bool", "Whether the consensus (boundary) or the selection (selective) became stable."
    )

    def _check_parameters(self) -> None:
        if self.Method == "selective" and self.Image is not None:
            raise ParameterError(
                f"{self.GetName()}: Image must be None with Method selective, which has no use "
                "for it, got an image"
            )

    def _fuse(self, case: FusionCase) -> Fusion:
        self._check_undecided_label(case)
        return self._select(case) if self.Method == "selective" else self._weigh(case)

    def _select(self, case: FusionCase) -> Fusion:
        result = selective_simple(
            case.patterns,
            deviations=self.Deviations,
            maximum_iterations=self.MaximumIterations,
            ties=self.TieRule,
            observer=self._after_iteration,
        )
        self.Weights = tuple(result.weights.tolist())
        self.DroppedRaters = tuple(np.flatnonzero(result.dropped).tolist())
        self.Trace, self.Converged = result.trace, result.converged
        return PatternFusion(case.patterns, result.vote.decision, result.vote.fractions)

    def _weigh(self, case: FusionCase) -> Fusion:
        settings = BoundarySettings(
            self._radii(case),
            self.LocalWeight,
            self.MaximumIterations,
            self.Tolerance,
            self.TieRule,
        )
        voxels = DisputedVoxels(case.patterns, case.patterns.disputed_region(settings.radii))
        result = boundary_simple(
            voxels, settings, gate=self._gate(case), observer=self._after_iteration
        )
        self.Weights = tuple(result.weights.tolist())
        self.DroppedRaters = ()
        self.Trace, self.Converged = result.trace, result.converged
        return DisputedFusion(
            voxels, result.vote, result.decision, lambda label: result.shares[label]
        )

    def _radii(self, case: FusionCase) -> tuple[int, ...]:
        smallest, radius = _smallest_side(case), self.PatchRadius
        if radius is None:
            radius = DEFAULT_PATCH * smallest
        radii = radii_in_voxels(radius, case.spacing)
        if not any(radii):
            raise ParameterError(
                f"{self.GetName()}: PatchRadius must be at least the smallest voxel side "
                f"{smallest:g} mm, got {radius:g}"
            )
        return radii

    def _gate(self, case: FusionCase) -> NDArray[np.float64] | None:
        """(J, N) factor of the weights, 1 + (EdgeBoost - 1) times the agreement with edges."""
        image = self._load_one(self.Image, case.loaded, "Image")
        if image is None or self.EdgeBoost == 1:
            return None
        if not np.isfinite(image).all():
            raise InputError(f"{self.GetName()}: Image must hold finite numbers, found NaN or inf")
        radii = tuple(round(EDGE_REACH * radius) for radius in self._radii(case))
        scale = _smallest_side(case) if self.EdgeScale is None else self.EdgeScale
        voxels = DisputedVoxels(case.patterns, case.patterns.disputed_region(radii))
        agreement = edge_agreement(voxels, image, radii, case.spacing, scale)
        return 1 + (self.EdgeBoost - 1) * agreement

    def _after_iteration(self, number: int) -> bool:
        self._progress = 0.5 + 0.49 * number / self.MaximumIterations
        self._invoke(PROGRESS_EVENT)
        return super()._after_iteration(number)


def _smallest_side(case: FusionCase) -> float:
    return min(case.spacing[-VOLUME_AXES:])
