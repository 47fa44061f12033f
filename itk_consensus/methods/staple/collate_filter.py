"""COLLATEFilter: STAPLE that distinguishes easy voxels from hard ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.constraints import Integer, Real, Reals, is_integer
from itk_consensus.core.errors import ParameterError
from itk_consensus.core.parameters import Measurement, Parameter, settings_from
from itk_consensus.core.process_object import output_method
from itk_consensus.fusing.fusion_case import FusionCase
from itk_consensus.fusing.fusion_result import Fused
from itk_consensus.fusing.iteration import StopRule
from itk_consensus.fusing.label_fusion import LabelFusionFilter, UndecidedLabelMixin
from itk_consensus.fusing.shared_parameters import label_prior, prior_parameter
from itk_consensus.methods.staple.collate import CollateEstimate, CollateSettings, collate
from itk_consensus.votes.fusions import PatternFusion


class COLLATEFilter(UndecidedLabelMixin, LabelFusionFilter):
    """Joint estimation of consensus level, labeler accuracy and truth (COLLATE), by EM.

    A voxel is either easy, so that raters rarely err there, or hard, so that each rater errs
    according to a confusion matrix. The filter estimates which voxels are easy, so the matrices
    describe only hard voxels, however large the easy background is. If raters err often, even a
    unanimous vote may be overruled.
    """

    laws = frozenset({"rater permutation", "relabelling", "unanimity"})
    chunking_unsupported_reason = ""
    method = "collate"
    summary = (
        "STAPLE's assumptions, but only at hard voxels; at easy ones raters rarely err. Use if "
        "raters agree on most of the image and differ in skill on the rest. Asman & Landman 2011."
    )

    ConsensusLevels = Parameter(
        Reals(0.0, 1.0),
        CollateSettings.ease,
        "How easy a voxel of each level is: at 0 raters err by their confusion matrices, at 1 "
        "only by ErrorRate. (0) is STAPLE, (1) the vote with ties broken by the label prior.",
    )
    ErrorRate = Parameter(
        Real(0.0, 0.5, exclusive=True),
        CollateSettings.error_rate,
        "Probability that a rater errs where a voxel is easy.",
    )
    PseudoCounts = Parameter(
        Reals(low=0.0, length=2),
        CollateSettings.pseudo_counts,
        "Dirichlet prior of the confusion matrices: counts added on and off the diagonal.",
    )
    Prior = prior_parameter("estimated")
    Tolerance = Parameter(
        Real(low=0.0),
        CollateSettings.stop.tolerance,
        "EM stops when no element of a confusion matrix changes by more than this.",
    )
    MaximumIterations = Parameter(
        Integer(1, 2**32 - 1),
        CollateSettings.stop.maximum_iterations,
        "Maximum number of EM iterations.",
    )

    ElapsedIterations = Measurement(
        int, "Iterations of EM that were run.", "estimate.iterations", while_running="iterations"
    )
    Converged = Measurement(bool, "Whether EM converged.", "estimate.converged")
    LogPosteriorTrace = Measurement(
        tuple[float, ...], "Log posterior after each iteration.", "estimate.trace"
    )
    LevelShares = Measurement(
        tuple[float, ...],
        "Estimated share of the voxels at each of ConsensusLevels.",
        "estimate.level_shares",
    )
    EstimatedPriorProbabilities = Measurement(
        tuple[float, ...], "Label prior at the end, in the order of GetLabels().", "estimate.prior"
    )
    ConfusionTables = Measurement(
        NDArray[np.float64],
        "(raters, labels, labels): [rater, observed, true] at hard voxels.",
        "estimate.theta",
    )

    @output_method
    def GetLevelImage(self, level: int = 0) -> Any:
        """Return the probability image (float64) of a voxel being at ConsensusLevels[level]."""
        result = self.fused
        number = len(result.estimate.shares)
        if not (is_integer(level) and 0 <= level < number):
            raise ParameterError(
                f"GetLevelImage's level must be 0 to {number - 1}, got {level!r}",
                owner=self.GetName(),
            )
        shares = np.ascontiguousarray(result.extras["truth"].levels()[:, level])

        def write(out: NDArray[np.float64]) -> None:
            result.case.patterns.expand(shares, out=out)

        return result.image(write)

    def _check_parameters(self) -> None:
        if not self.ConsensusLevels:
            raise self._parameter_error("ConsensusLevels", "must not be empty")

    def _fuse(self, case: FusionCase) -> Fused[CollateEstimate]:
        result = collate(case.patterns, self._settings(case))
        fusion = PatternFusion(case.patterns, result.decision, result.truth)
        return Fused(fusion, result.estimate, {"truth": result.truth})

    def _settings(self, case: FusionCase) -> CollateSettings:
        prior = None
        if self.Prior is not None:
            prior = label_prior(self.Prior, self._label_values(case), self.GetName())
        return settings_from(
            self,
            CollateSettings,
            ease=self.ConsensusLevels,
            prior=prior,
            stop=settings_from(self, StopRule),
        )
