"""DirectInferenceFilter: the most probable label map under STAPLE's model, without EM's detour."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.constraints import Integer, Reals
from itk_consensus.filters.fusion_case import FusionCase
from itk_consensus.filters.label_fusion import LabelFusionFilter
from itk_consensus.filters.parameters import Measurement, Output, Parameter, settings_from
from itk_consensus.fusion.direct_inference.gibbs_sampling import SamplingPlan
from itk_consensus.fusion.direct_inference.most_probable_map import (
    DirectInferenceResult,
    DirectInferenceSettings,
    direct_inference,
)
from itk_consensus.fusion.staple.expectation_maximization import StartPlan
from itk_consensus.fusion.staple.staple_result import StartSummary
from itk_consensus.votes.fusions import Fusion, PatternFusion


class DirectInferenceFilter(LabelFusionFilter):
    """Label map of highest evidence p(t, D), the raters' confusions being integrated out.

    Works on label images of any labels. GetProbabilityImage gives a voxel's marginal posterior if
    NumberOfSamples is set, else its conditional posterior given the rest of the map; the label map
    is the map of highest evidence in both cases.
    """

    # Equally probable maps, common with two raters, have nothing but their order to choose by.
    laws = frozenset({"unanimity"})
    whole_because = ""
    method = "direct-inference"
    summary = (
        "STAPLE's assumptions, but the most probable map itself instead of EM's approximation to "
        "it. Use for few raters or small structures, and to compare label maps by their evidence."
    )

    PseudoCounts = Parameter(
        Reals(low=0.0, length=2),
        DirectInferenceSettings.pseudo_counts,
        "Dirichlet prior of the confusion matrices: counts added on the diagonal, and off it "
        "(shared by the other labels) in each column.",
    )
    NumberOfInitializations = Parameter(
        Integer(1, 10_000),
        DirectInferenceSettings.plan.number,
        "EM starts, basic and advanced, whose label maps are tried; the vote and its "
        "thresholds are always tried.",
    )
    NumberOfSamples = Parameter(
        Integer(0, 1_000_000),
        DirectInferenceSettings.sampling.number,
        "Gibbs samples, for marginal probabilities and performance; 0: none.",
    )
    BurnIn = Parameter(
        Integer(0, 1_000_000),
        DirectInferenceSettings.sampling.burn_in,
        "Gibbs samples discarded at the beginning.",
    )
    RandomSeed = Parameter(Integer(low=0), 0, "Seed of EM's random starts and of the samples.")

    LogEvidence = Measurement(float, "log p(t, D) of the label map.")
    LogEvidences = Measurement(tuple[float, ...], "Log evidence that each start reached.")
    StartNames = Measurement(
        tuple[str, ...], "What each start was: a vote, or the variant and number of an EM start."
    )
    WinningStart = Measurement(str, "The start that led to the label map.")
    ExactOptimum = Measurement(
        bool, "Whether all maps were tried, so that none can have a higher evidence."
    )
    Starts = Measurement(
        StartSummary, "Evidence, rounds, trace and overlap with the others, for each start."
    )
    ConfusionTables = Measurement(
        NDArray[np.float64],
        "(raters, labels, labels): posterior mean of [rater, observed, true], as GetLabels().",
    )
    PerformanceDeviations = Measurement(
        NDArray[np.float64],
        "(raters, labels): posterior standard deviation of the confusions' diagonal; without "
        "samples it is conditional on the label map, and so too small.",
    )
    PerformanceQuantiles = Measurement(
        NDArray[np.float64],
        "(raters, labels, 3): posterior quantiles .025, .5 and .975 of the confusions' diagonal.",
    )
    EstimatedPriorProbabilities = Measurement(
        tuple[float, ...], "Posterior mean of the label prior, in the order of GetLabels()."
    )
    SamplingError = Measurement(
        float, "Largest Monte-Carlo standard error of the probabilities; NaN unless sampled."
    )

    _result = Output[Any](None)

    def _fuse(self, case: FusionCase) -> Fusion:
        result = direct_inference(case.patterns, self._settings())
        self._store(result)
        self._warn_of_doubts(case, result.starts)
        return PatternFusion(case.patterns, result.decision, result.shares)

    def _settings(self) -> DirectInferenceSettings:
        return settings_from(
            self,
            DirectInferenceSettings,
            plan=settings_from(self, StartPlan, number=self.NumberOfInitializations),
            sampling=settings_from(self, SamplingPlan, number=self.NumberOfSamples),
        )

    def _store(self, result: DirectInferenceResult) -> None:
        self._result = result
        self.LogEvidence = result.log_evidence
        self.LogEvidences = tuple(result.starts.log_posterior.tolist())
        self.StartNames = result.start_names
        self.WinningStart = result.start_names[result.starts.winner]
        self.ExactOptimum = result.exact
        self.Starts = result.starts
        self.ConfusionTables = result.theta
        self.PerformanceDeviations = result.performance.deviation
        self.PerformanceQuantiles = result.performance.quantiles
        self.EstimatedPriorProbabilities = tuple(result.prior.tolist())
        samples = result.samples
        self.SamplingError = np.nan if samples is None else float(samples.marginal_errors.max())

    def _estimated(self, case: FusionCase) -> dict[str, Any]:
        unsampled = replace(self._result.settings, sampling=SamplingPlan())
        return {
            "theta": self._result.theta,
            "starts": self._result.starts,
            "fuse_again": lambda other: direct_inference(other, unsampled).decision,
        }
