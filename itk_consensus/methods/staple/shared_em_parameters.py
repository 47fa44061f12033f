"""Parameters shared by the STAPLE filters: variants, starts, damping and smoothness.

Each filter declares its own tolerance, since its ITK name differs between filters.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from itk_consensus.core.constraints import Boolean, Choice, Integer, OneOf, Real, Reals
from itk_consensus.core.errors import ParameterError
from itk_consensus.core.parameters import Measurement, Parameter
from itk_consensus.core.process_object import ProcessObject
from itk_consensus.fusing.fusion_case import FusionCase
from itk_consensus.fusing.iteration import STOP_CRITERIA, StopRule
from itk_consensus.fusing.label_fusion import LabelFusionFilter
from itk_consensus.methods.staple.expectation_maximization import StartPlan
from itk_consensus.methods.staple.staple import VARIANTS, StapleSettings
from itk_consensus.methods.staple.staple_result import StartSummary
from itk_consensus.votes.decision_patterns import DecisionPatterns

if TYPE_CHECKING:
    from itk_consensus.methods.staple.markov_field import MarkovField


def from_variant(of: Callable[[StapleSettings], Any]) -> Callable[[Any], Any]:
    """Return a default that depends on the filter's Variant until the parameter is set."""
    return lambda filter_: of(filter_.defaults.for_variant(filter_.Variant))


class ExpectationMaximizationMixin(ProcessObject):
    """Parameters and measurements of EM."""

    #: Settings of the variant "basic".
    defaults: ClassVar[StapleSettings] = StapleSettings()

    Variant = Parameter(
        Choice(tuple(VARIANTS)),
        "basic",
        "basic is SimpleITK's; restricted leaves consensus voxels out; advanced estimates the "
        "prior, expects raters better than chance and starts from the vote; careful is advanced "
        "from ten starts. Parameters that are set explicitly override it.",
    )
    ExcludeConsensusVoxels = Parameter(
        Boolean(),
        from_variant(lambda settings: settings.exclude_consensus),
        "Leave voxels where all raters agree out of the estimation; they keep their label.",
        default_doc="from Variant",
    )
    EstimatePrior = Parameter(
        Boolean(),
        lambda filter_: (
            filter_._prior_is_open and filter_.defaults.for_variant(filter_.Variant).estimate_prior
        ),
        "Estimate the label prior in every iteration instead of fixing it.",
        default_doc="from Variant, unless a prior is given",
    )
    PriorPseudoCounts = Parameter(
        OneOf((Real(low=0.0), Reals(low=0.0))),
        0.0,
        "Dirichlet prior of an estimated label prior: counts added to every label, or one number "
        "per label in ascending order (background first).",
    )
    StopCriterion = Parameter(
        Choice(STOP_CRITERIA),
        "parameters",
        "Quantity that the tolerance applies to: parameters (the raters' performance) or "
        "likelihood (the log posterior, in nats).",
    )
    InitialPerformance = Parameter(
        Real(0.0, 1.0, exclusive=True),
        StartPlan.performance,
        "Initial probability of the right label with Initialization theta.",
    )
    Damping = Parameter(Real(0.0, 0.9), 0.0, "Share of the old performance kept in each iteration.")
    NumberOfInitializations = Parameter(
        Integer(1, 10_000),
        from_variant(lambda settings: settings.plan.number),
        "Starts of EM: first Initialization, then the other of mean and majority_vote, then random "
        "ones; the highest log posterior wins.",
        default_doc="1; 10 with Variant careful",
    )
    RandomSeed = Parameter(Integer(low=0), 0, "Seed of the random starts.")
    InitializationRange = Parameter(
        Reals(0.0, 1.0, length=2, increasing=True),
        (0.5, 1.0),
        "Range from which random starts draw each rater's performance.",
    )

    ElapsedIterations = Measurement(
        int,
        "Index of the last iteration: the one that met the stop rule, or the maximum.",
        "estimate.iterations",
        while_running="iterations",
    )
    Converged = Measurement(bool, "Whether the stop rule was met.", "estimate.converged")
    LogLikelihood = Measurement(
        float, "Log likelihood of the votes under the estimate.", "estimate.log_likelihood"
    )
    LogPosterior = Measurement(
        float,
        "Log likelihood plus the log prior of the parameters; the start with the highest wins.",
        "estimate.log_posterior",
    )
    LogLikelihoods = Measurement(
        tuple[float, ...],
        "Log likelihood that each start reached.",
        "estimate.starts.log_likelihood",
    )
    Starts = Measurement(
        StartSummary,
        "Likelihood, iterations, trace and overlap with the others, for each start.",
        "estimate.starts",
    )

    #: The first start; each filter declares it with its own choices.
    Initialization: Parameter[Any]

    @property
    def _prior_is_open(self) -> bool:
        """Whether no label prior is given, which allows estimating one."""
        return True

    def _reject_two_priors(self, name: str) -> None:
        if not self._prior_is_open and self.EstimatePrior:
            raise self._parameter_error(
                "EstimatePrior", f"must be False with {{{name}}}, which fixes the prior", name
            )

    def _check_prior_counts(self) -> None:
        """Raise if PriorPseudoCounts is set although the label prior is fixed."""
        if self.PriorPseudoCounts != 0 and not self.EstimatePrior:
            raise self._parameter_error(
                "PriorPseudoCounts",
                f"needs {{EstimatePrior}}, since counts cannot be added to a fixed label prior; "
                f"got {self.PriorPseudoCounts}",
                "EstimatePrior",
            )

    def _common_settings(
        self, prior: Any, labels: int, tolerance: float, most: int, **others: Any
    ) -> StapleSettings:
        """Build the settings from the parameters above and `others`."""
        low, high = self.InitializationRange
        counts = self.PriorPseudoCounts
        if isinstance(counts, tuple) and len(counts) != labels:
            raise self._parameter_error(
                "PriorPseudoCounts",
                f"must be one number, or one for each of {labels} labels, got {len(counts)}",
            )
        return replace(
            self.defaults,
            prior=prior,
            estimate_prior=self.EstimatePrior,
            prior_pseudo_counts=counts,
            stop=StopRule(tolerance, most, self.StopCriterion),
            exclude_consensus=self.ExcludeConsensusVoxels,
            damping=self.Damping,
            plan=StartPlan(
                self.Initialization,
                self.NumberOfInitializations,
                self.RandomSeed,
                low,
                high,
                self.InitialPerformance,
            ),
            **others,
        )


class ExpectationMaximizationFilter(ExpectationMaximizationMixin, LabelFusionFilter):
    """Base class of the STAPLE filters that fuse one list of images."""

    SmoothnessWeight: Parameter[Any] = Parameter(
        OneOf((Real(low=0.0), Choice(("estimate",)))),
        0.0,
        "Log odds that the label of a nearest neighbour adds to a disputed voxel's (a Potts field "
        "in place of the prior); 2 is recommended, with Variant advanced; 0: no field.",
    )

    EstimatedSmoothnessWeight = Measurement(
        float,
        "Weight of the Potts field at the end; 0 without one.",
        "estimate.smoothness_weight",
    )

    @property
    def chunking_unsupported_reason(self) -> str:  # type: ignore[override]
        if self.SmoothnessWeight == 0:
            return ""
        return "with a SmoothnessWeight every voxel's probability depends on all of its neighbours"

    def _field(self, case: FusionCase) -> MarkovField | None:
        weight = self.SmoothnessWeight
        if weight == 0:
            return None
        if self.StopCriterion != "parameters" or self.PriorPseudoCounts != 0:
            raise self._parameter_error(
                "SmoothnessWeight",
                "estimates no label prior and stops by the raters' performance; "
                "leave {PriorPseudoCounts} and {StopCriterion} at their defaults",
                "PriorPseudoCounts",
                "StopCriterion",
            )
        if self.NumberOfInitializations > 1:
            raise self._parameter_error(
                "NumberOfInitializations",
                f"must be 1 with a {{SmoothnessWeight}}, got {self.NumberOfInitializations}",
                "SmoothnessWeight",
            )
        from itk_consensus.methods.staple.markov_field import MarkovField

        known = None if weight == "estimate" else weight
        return MarkovField(case.patterns, case.spacing, known)

    def _check_raters(self, patterns: DecisionPatterns, needs_two: bool) -> bool:
        """Return whether there are several raters; raise if there is one and two are needed."""
        raters = int(patterns.present.any(axis=0).sum())
        if raters == 1 and needs_two:
            raise ParameterError(
                "priors and several initializations need at least 2 raters, got 1",
                owner=self.GetName(),
            )
        return raters > 1
