"""DirectInferenceFilter: search for the most probable label map under STAPLE's model."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.constraints import Integer, OneOf, Real, Reals
from itk_consensus.core.parameters import Measurement, Parameter, settings_from
from itk_consensus.fusing.fusion_case import FusionCase
from itk_consensus.fusing.fusion_result import Fused
from itk_consensus.fusing.label_fusion import LabelFusionFilter
from itk_consensus.methods.direct_inference.gibbs_sampling import SamplingPlan
from itk_consensus.methods.direct_inference.most_probable_map import (
    DirectInferenceEstimate,
    DirectInferenceSettings,
    direct_inference,
)
from itk_consensus.methods.staple.expectation_maximization import StartPlan
from itk_consensus.methods.staple.staple_result import StartSummary
from itk_consensus.votes.fusions import PatternFusion


class DirectInferenceFilter(LabelFusionFilter):
    """Find the label map with the highest evidence p(t, D), with rater confusions integrated out.

    Accepts label images with arbitrary label values. GetProbabilityImage returns a voxel's marginal
    posterior if NumberOfSamples is set, otherwise its conditional posterior given the rest of the
    map; the label map is the map with the highest evidence in both cases.
    """

    # Ties between equally probable maps, which are common with two raters, are broken by the order
    # of the raters.
    laws = frozenset({"unanimity"})
    chunking_unsupported_reason = ""
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
    PriorPseudoCounts = Parameter(
        OneOf((Real(low=0.0), Reals(low=0.0))),
        DirectInferenceSettings.prior_pseudo_counts,
        "Dirichlet prior of the label prior: counts added to every label, or one number per label "
        "in ascending order (background first).",
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

    LogEvidence = Measurement(float, "log p(t, D) of the label map.", "estimate.log_evidence")
    LogEvidences = Measurement(
        tuple[float, ...], "Log evidence that each start reached.", "estimate.starts.log_posterior"
    )
    StartNames = Measurement(
        tuple[str, ...],
        "Name of each start: a vote, or the variant and number of an EM start.",
        "estimate.start_names",
    )
    WinningStart = Measurement(
        str, "The start that led to the label map.", "estimate.winning_start"
    )
    ExactOptimum = Measurement(
        bool,
        "Whether all maps were tried, so that none can have a higher evidence.",
        "estimate.exact",
    )
    Starts = Measurement(
        StartSummary,
        "Evidence, rounds, trace and overlap with the others, for each start.",
        "estimate.starts",
    )
    ConfusionTables = Measurement(
        NDArray[np.float64],
        "(raters, labels, labels): posterior mean of [rater, observed, true], as GetLabels().",
        "estimate.theta",
    )
    PerformanceDeviations = Measurement(
        NDArray[np.float64],
        "(raters, labels): posterior standard deviation of the confusions' diagonal; without "
        "samples it is conditional on the label map, and so too small.",
        "estimate.performance.deviation",
    )
    PerformanceQuantiles = Measurement(
        NDArray[np.float64],
        "(raters, labels, 3): posterior quantiles .025, .5 and .975 of the confusions' diagonal.",
        "estimate.performance.quantiles",
    )
    EstimatedPriorProbabilities = Measurement(
        tuple[float, ...],
        "Posterior mean of the label prior, in the order of GetLabels().",
        "estimate.prior",
    )
    SamplingError = Measurement(
        float,
        "Largest Monte-Carlo standard error of the probabilities; NaN unless sampled.",
        "estimate.sampling_error",
    )

    def _fuse(self, case: FusionCase) -> Fused[DirectInferenceEstimate]:
        counts, labels = self.PriorPseudoCounts, case.patterns.number_of_labels
        if isinstance(counts, tuple) and len(counts) != labels:
            raise self._parameter_error(
                "PriorPseudoCounts",
                f"must be one number, or one for each of {labels} labels, got {len(counts)}",
            )
        result = direct_inference(case.patterns, self._settings())
        self._warn_of_doubts(case.patterns, result.starts.winner_is_switched)
        fusion = PatternFusion(case.patterns, result.decision, result.shares)
        return Fused(fusion, result.estimate)

    def _settings(self) -> DirectInferenceSettings:
        return settings_from(
            self,
            DirectInferenceSettings,
            plan=settings_from(self, StartPlan, number=self.NumberOfInitializations),
            sampling=settings_from(self, SamplingPlan, number=self.NumberOfSamples),
        )
