"""MultiLabelSTAPLEImageFilter: STAPLE with any number of labels and full confusion matrices."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.constraints import (
    Choice,
    Integer,
    LabelProbabilities,
    OneOf,
    Real,
    Reals,
)
from itk_consensus.core.parameters import Measurement, Parameter
from itk_consensus.fusing.fusion_case import FusionCase
from itk_consensus.fusing.fusion_result import Fused
from itk_consensus.fusing.label_fusion import UndecidedLabelMixin
from itk_consensus.methods.staple.shared_em_parameters import (
    ExpectationMaximizationFilter,
    from_variant,
)
from itk_consensus.methods.staple.staple import MULTILABEL, StapleModel, StapleSettings, staple
from itk_consensus.methods.staple.staple_result import StapleEstimate

#: Up to this largest label, GetConfusionMatrix has the same size as in SimpleITK, which includes
#: absent labels.
_LARGEST_FLAT_LABEL = 255


class MultiLabelSTAPLEImageFilter(UndecidedLabelMixin, ExpectationMaximizationFilter):
    """Label map, label probabilities and each rater's confusion matrix, estimated by EM.

    Drop-in for ``sitk.MultiLabelSTAPLEImageFilter``; where the released wheels have a bug, it
    follows ITK's main branch.
    """

    fuses_images = True
    positional = (
        "LabelForUndecidedPixels",
        "TerminationUpdateThreshold",
        "MaximumNumberOfIterations",
        "PriorProbabilities",
    )
    defaults = MULTILABEL
    laws = frozenset({"rater permutation", "relabelling", "unanimity"})
    method = "multilabel-staple"
    summary = "Assumes raters independent given the truth, each with one confusion matrix."

    TerminationUpdateThreshold = Parameter(
        Real(low=0.0),
        MULTILABEL.stop.tolerance,
        "EM stops when no element of a confusion matrix changes by more than this; 0: until "
        "nothing changes, after 10,000 iterations at most.",
    )
    MaximumNumberOfIterations = Parameter(
        Integer(0, 2**32 - 1),
        2**32 - 1,
        "Maximum number of EM iterations.",
        default_doc="no cap",
        can_be_unset=True,
    )
    PriorProbabilities = Parameter(
        OneOf((LabelProbabilities(), Reals(0.0, 1.0))),
        (),
        "Label prior: one number per label from 0 to the largest (SimpleITK's extra last entry is "
        "ignored), or {label: probability}.",
        default_doc="label frequencies",
        can_be_unset=True,
    )
    PseudoCounts = Parameter(
        Reals(low=0.0, length=2),
        from_variant(lambda settings: settings.pseudo_counts),
        "Dirichlet prior of the confusion matrices: counts added on and off the diagonal.",
        default_doc="from Variant",
    )
    Initialization = Parameter(
        Choice(
            (
                "label_voting",
                "mean",
                "majority_vote",
                "theta",
                "label_voting_with_the_fault_of_itk_5_4",
            )
        ),
        from_variant(lambda settings: settings.plan.initialization),
        "First start: label_voting (ITK's confusion with the vote), mean, majority_vote or theta; "
        "the last one matches SimpleITK 2.5 on tied voxels, too.",
        default_doc="from Variant",
    )

    EstimatedPriorProbabilities = Measurement(
        tuple[float, ...], "Label prior at the end, in the order of GetLabels().", "estimate.prior"
    )
    ConfusionTables = Measurement(
        NDArray[np.float64],
        "(raters, labels, labels): [rater, observed, true], as GetLabels().",
        "estimate.theta",
    )

    @property
    def _prior_is_open(self) -> bool:
        return not self.PriorProbabilities

    def _check_parameters(self) -> None:
        self._reject_two_priors("PriorProbabilities")
        self._check_prior_counts()
        if self.MaximumNumberOfIterations == 0 and self.Initialization in ("mean", "majority_vote"):
            raise self._parameter_error(
                "MaximumNumberOfIterations",
                f"must be an integer >= 1 when {{Initialization}} is {self.Initialization}, "
                "which gives no confusion matrix; got 0",
                "Initialization",
            )

    def GetConfusionTable(self, rater: int) -> NDArray[np.float64]:
        """Return a rater's confusion matrix [observed, true], in the order of GetLabels()."""
        return np.array(self.ConfusionTables[self._rater(rater)])

    def GetConfusionMatrix(self, rater: int) -> tuple[float, ...]:
        """Return a rater's flat (L+1) x L matrix [observed][true], as in SimpleITK.

        L is the largest label + 1.

        With labels above 255 or negative labels this size is not meaningful; the flattened
        GetConfusionTable is returned instead.
        """
        dense = self.ConfusionTables[self._rater(rater)]
        labels = self.GetLabels()
        if labels[0] < 0 or labels[-1] > _LARGEST_FLAT_LABEL:
            return tuple(dense.ravel().tolist())
        size = labels[-1] + 1
        full = np.zeros((size + 1, size))
        full[np.ix_(labels, labels)] = dense
        return tuple(full.ravel().tolist())

    def _rater(self, rater: int) -> int:
        raters = len(self.ConfusionTables)
        if not 0 <= rater < raters:
            raise IndexError(f"{self.GetName()}: rater must be 0 to {raters - 1}, got {rater}")
        return rater

    def _fuse(self, case: FusionCase) -> Fused[StapleEstimate]:
        result = staple(
            case.patterns,
            self._settings(case),
            field=self._field(case),
        )
        self._warn_of_doubts(case.patterns, result.starts.winner_is_switched)
        return Fused(result.fusion, StapleModel.of(result))

    def _settings(self, case: FusionCase) -> StapleSettings:
        patterns = case.patterns
        prior = self._prior([int(label) for label in patterns.labels])
        needs_two = any(self.PseudoCounts) or self.NumberOfInitializations > 1 or prior is not None
        self._check_raters(patterns, needs_two)
        return self._common_settings(
            prior,
            patterns.number_of_labels,
            self.TerminationUpdateThreshold,
            self.MaximumNumberOfIterations,
            pseudo_counts=self.PseudoCounts,
        )

    def _prior(self, labels: list[int]) -> NDArray[np.float64] | None:
        """Return the normalised PriorProbabilities of the labels that occur; None if not set."""
        given = self.PriorProbabilities
        if not given:
            return None
        if isinstance(given, Mapping):
            shares = dict(given)
        else:
            size = max(labels) + 1
            if min(labels) < 0 or len(given) not in (size, size + 1):
                raise self._parameter_error(
                    "PriorProbabilities",
                    f"must be {size} numbers, one per label "
                    f"0 to {size - 1} (or {size + 1}, as SimpleITK; or a dict), got {len(given)}",
                )
            shares = dict(enumerate(given))
        missing = [label for label in labels if label not in shares]
        if missing:
            raise self._parameter_error(
                "PriorProbabilities", f"must cover the labels {labels}, missing {missing}"
            )
        prior = np.array([shares[label] for label in labels], dtype=np.float64)
        if not prior.sum() > 0:
            raise self._parameter_error(
                "PriorProbabilities", f"must leave some label possible, got {given}"
            )
        return np.asarray(prior / prior.sum())
