"""SpatialSTAPLEFilter: STAPLE for raters whose performance varies in space."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.constraints import LENGTH, Choice, Integer, Real, Reals
from itk_consensus.core.errors import ParameterError
from itk_consensus.core.parameters import Measurement, Parameter, settings_from
from itk_consensus.core.process_object import output_method
from itk_consensus.fusing.fusion_case import FusionCase
from itk_consensus.fusing.fusion_result import Fused
from itk_consensus.fusing.iteration import StopRule
from itk_consensus.fusing.label_fusion import LabelFusionFilter, UndecidedLabelMixin
from itk_consensus.fusing.shared_parameters import label_prior, prior_parameter
from itk_consensus.images import convert
from itk_consensus.methods.staple.spatial.performance_field import (
    REGULARIZATION_TARGETS,
    FieldSettings,
    confusion_field,
)
from itk_consensus.methods.staple.spatial.windowed_staple import (
    PRIOR_MODES,
    SpatialEstimate,
    SpatialSettings,
    spatial_staple,
)
from itk_consensus.space.box_sum import radii_in_voxels
from itk_consensus.votes.fusions import DisputedFusion, StoredShares


class SpatialSTAPLEFilter(UndecidedLabelMixin, LabelFusionFilter):
    """Label map, and each rater's confusion matrix at every voxel, estimated by EM over windows.

    Accepts label images with arbitrary label values. Performance is estimated in a box with a half
    width of `WindowRadius` mm around each voxel. Voxels at which all raters agree keep their label.
    """

    # Not invariant to relabelling (ties are initialised with the lowest label) nor to padding with
    # background (windows are cropped at the image border).
    laws = frozenset({"rater permutation", "unanimity"})
    chunking_unsupported_reason = (
        "it estimates performance in a window around every voxel, and each iteration depends on "
        "voxels one window farther away"
    )
    bytes_per_voxel = 22
    method = "spatial-staple"
    summary = (
        "Assumes raters independent given the truth, whose performance varies smoothly in space. "
        "Use when raters are good in different places. Asman & Landman 2012."
    )

    WindowRadius = Parameter(
        LENGTH, 20.0, "Half width, in mm, of the box over which performance is pooled."
    )
    Kappa = Parameter(
        Real(low=0.0),
        FieldSettings.kappa,
        "Strength of the regularisation where a rater rarely used a label: 0 uses the window "
        "alone, a very large value the target alone.",
    )
    RegularizationTarget = Parameter(
        Choice(REGULARIZATION_TARGETS),
        FieldSettings.target,
        "Performance that sparse data are pulled towards: global (the rater's over all voxels; "
        "diagonal if the mean rater is below chance there), uniform (chance) or diagonal "
        "(DiagonalTarget).",
    )
    DiagonalTarget = Parameter(
        Real(0.0, 1.0),
        FieldSettings.diagonal,
        "Probability of the right label in the regularisation target diagonal.",
    )
    PseudoCounts = Parameter(
        Reals(low=0.0, length=2),
        FieldSettings.pseudo_counts,
        "Dirichlet prior of the confusion matrices: counts added on and off the diagonal.",
    )
    PriorMode = Parameter(
        Choice(PRIOR_MODES),
        lambda filter_: "local" if filter_.Prior is None else "fixed",
        "Label prior: the mean posterior in the window (local), over all voxels (global; may lose "
        "small labels), or Prior (fixed).",
        default_doc="local, or fixed with Prior",
    )
    Prior = prior_parameter("equal shares")
    MaximumIterations = Parameter(
        Integer(low=1), SpatialSettings.stop.maximum_iterations, "Maximum number of EM iterations."
    )
    Tolerance = Parameter(
        Real(low=0.0),
        SpatialSettings.stop.tolerance,
        "EM stops when the posterior of disputed voxels changes by less than this on average.",
    )

    ElapsedIterations = Measurement(
        int, "Iterations of EM that were run.", "estimate.iterations", while_running="iterations"
    )
    Converged = Measurement(bool, "Whether the tolerance was met.", "estimate.converged")
    LogLikelihoodTrace = Measurement(
        tuple[float, ...],
        "Log likelihood of the disputed voxels' votes in each iteration.",
        "estimate.log_likelihood",
    )
    ChangeTrace = Measurement(
        tuple[float, ...],
        "Mean change of the disputed voxels' posteriors in each iteration.",
        "estimate.change",
    )
    RegularizationTargetTaken = Measurement(
        str, "RegularizationTarget; diagonal where global was invalid.", "estimate.target"
    )
    ConfusionTables = Measurement(
        NDArray[np.float64],
        "(raters, labels, labels): [rater, observed, true] over all voxels, as GetLabels().",
        "estimate.theta",
    )

    # -- fields -----------------------------------------------------------------------------

    @output_method
    def GetConfusionField(self, rater: int, observed: int, true: int) -> Any:
        """Return a float32 image of the probability that a rater votes `observed` given `true`."""
        result = self.fused
        raters = result.case.votes.number_of_raters
        if not 0 <= rater < raters:
            raise IndexError(f"{self.GetName()}: rater must be 0 to {raters - 1}, got {rater}")
        labels = self.GetLabels()
        for name, label in (("observed", observed), ("true", true)):
            if label not in labels:
                raise ParameterError(
                    f"GetConfusionField's {name} label must be one of {labels}, got {label!r}",
                    owner=self.GetName(),
                )
        spatial = result.extras["spatial"]
        field = confusion_field(spatial, rater, labels.index(observed), labels.index(true))
        return convert.to_image(field, result.like)

    def GetSensitivityField(self, rater: int) -> Any:
        """Return an image of the probability of voting the higher label where it is correct."""
        _, foreground = self._two_labels("GetSensitivityField")
        return self.GetConfusionField(rater, foreground, foreground)

    def GetSpecificityField(self, rater: int) -> Any:
        """Return an image of the probability of voting the lower label where it is correct."""
        background, _ = self._two_labels("GetSpecificityField")
        return self.GetConfusionField(rater, background, background)

    def _two_labels(self, method: str) -> tuple[int, int]:
        labels = self.GetLabels()
        if len(labels) != 2:
            raise ParameterError(
                f"{method} needs inputs of two labels, got {labels}; "
                "use GetConfusionField for any number of labels",
                owner=self.GetName(),
            )
        return labels[0], labels[1]

    # -- fusion -----------------------------------------------------------------------------

    def _check_parameters(self) -> None:
        if self.Prior is not None and self.PriorMode != "fixed":
            raise self._parameter_error(
                "PriorMode", f"must be fixed when {{Prior}} is given, got {self.PriorMode}", "Prior"
            )

    def _fuse(self, case: FusionCase) -> Fused[SpatialEstimate]:
        result = spatial_staple(case.patterns, self._settings(case))
        shares = StoredShares(result.posterior)
        fusion = DisputedFusion(result.voxels, result.vote, result.decision, shares)
        return Fused(fusion, result.estimate, {"spatial": result})

    def _settings(self, case: FusionCase) -> SpatialSettings:
        fields = settings_from(
            self,
            FieldSettings,
            radii=radii_in_voxels(self.WindowRadius, case.spacing),
            target=self.RegularizationTarget,
            diagonal=self.DiagonalTarget,
        )
        return SpatialSettings(
            fields,
            self.PriorMode,
            label_prior(self.Prior, self._label_values(case), self.GetName()),
            settings_from(self, StopRule),
        )
