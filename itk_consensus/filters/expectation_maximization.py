"""What binary and multi-label STAPLE share beyond their parameters: smoothness, diagnostics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.algorithms.findings import Estimate
from itk_consensus.algorithms.markov_field import MarkovField
from itk_consensus.algorithms.staple import staple
from itk_consensus.algorithms.staple_result import StapleEstimate, StapleResult
from itk_consensus.errors import ParameterError
from itk_consensus.filters.constraints import Choice, OneOf, Real
from itk_consensus.filters.fusion_case import FusionCase
from itk_consensus.filters.label_fusion import LabelFusionFilter
from itk_consensus.filters.parameters import Measurement, Parameter
from itk_consensus.filters.staple_parameters import ExpectationMaximizationMixin
from itk_consensus.labels.decision_patterns import DecisionPatterns
from itk_consensus.labels.fusions import Fusion


class ExpectationMaximizationFilter(ExpectationMaximizationMixin, LabelFusionFilter):
    """Base of the STAPLE filters that fuse one list of images."""

    SmoothnessWeight: Parameter[Any] = Parameter(
        OneOf((Real(low=0.0), Choice(("estimate",)))),
        0.0,
        "Log odds that the label of a nearest neighbour adds to a disputed voxel's (a Potts field "
        "in place of the prior); 2 is recommended, with Variant advanced; 0: no field.",
    )

    EstimatedSmoothnessWeight = Measurement(
        float, "Weight of the Potts field at the end; 0 without one."
    )

    def _field(self, case: FusionCase) -> MarkovField | None:
        weight = self.SmoothnessWeight
        if weight == 0:
            return None
        if self.NumberOfInitializations > 1:
            raise ParameterError(
                f"{self.GetName()}: NumberOfInitializations must be 1 with a SmoothnessWeight, "
                f"got {self.NumberOfInitializations}"
            )
        return MarkovField(case.patterns, case.spacing, None if weight == "estimate" else weight)

    def _check_raters(self, patterns: DecisionPatterns, asks_for_more: bool) -> bool:
        """Whether there are raters enough to estimate anything; if not, priors are an error."""
        raters = int(patterns.present.any(axis=0).sum())
        if raters == 1 and asks_for_more:
            raise ParameterError(
                f"{self.GetName()}: priors and several initializations need at least 2 raters, "
                "got 1"
            )
        return raters > 1

    def _estimate(self, case: FusionCase, fusion: Fusion) -> Estimate:
        settings = self._result.settings
        # A mask or an exclusion of agreed voxels fixes what is analysed, whatever lies around it;
        # and no table of patterns tells what a field would do there.
        masked = case.patterns.outside_code is not None
        fixed = settings.exclude_consensus or masked or self._result.voxels is not None
        return replace(
            super()._estimate(case, fusion),
            theta=self._result.theta,
            starts=self._result.starts,
            fuse_again=None
            if fixed
            else lambda other: staple(other, settings, owner=self.GetName()).decision,
            alternatives=self._alternatives(case),
        )

    def _fusion(
        self, result: StapleResult, decide: Callable[[NDArray[np.float32]], NDArray[np.int32]]
    ) -> Fusion:
        """The answer by pattern but, where a field has (K, N) beliefs, by voxel."""
        if result.voxels is None:
            return result.fusion()
        beliefs = result.voxels.beliefs
        return result.fusion().but_at(result.voxels.voxels, decide(beliefs), beliefs)

    def _alternatives(self, case: FusionCase) -> dict[str, Callable[[], float]]:
        """Settings worth trying, and how close each comes to what the raters share."""
        if self._result.settings.estimate_prior or case.patterns.strata is not None:
            return {}

        def advanced() -> float:
            result = staple(case.patterns, self.defaults.for_variant("advanced"))
            return case.shared_consensus.overlap(result.fusion().volume(), case.patterns.labels)

        return {"Variant=advanced": advanced}

    def _store(self, result: StapleEstimate) -> None:
        super()._store(result)
        self._result = result
        self.EstimatedSmoothnessWeight = 0.0 if result.voxels is None else result.voxels.weight
