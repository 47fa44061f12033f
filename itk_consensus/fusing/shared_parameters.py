"""Parameters that several filters share: the raters' weights and the label prior."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.constraints import LabelProbabilities, Real, Reals, optional
from itk_consensus.core.errors import ParameterError
from itk_consensus.core.parameters import Parameter
from itk_consensus.core.process_object import ProcessObject


class RaterWeightsMixin(ProcessObject):
    """One weight per rater; all weights are equal until set."""

    RaterWeights = Parameter(
        optional(Reals(low=0.0)), None, "Weight of each rater's vote.", default_doc="equal"
    )

    def weights_of(self, raters: int) -> NDArray[np.float64] | None:
        weights = self.RaterWeights
        if weights is None:
            return None
        if len(weights) != raters or not any(weights):
            raise self._parameter_error(
                "RaterWeights", f"must be {raters} numbers >= 0, not all 0, got {weights}"
            )
        return np.array(weights)


def prior_parameter(default_doc: str) -> Parameter[Any]:
    """Return the parameter Prior of a filter; `default_doc` describes its default."""
    return Parameter(
        optional(Real(0.0, 1.0, exclusive=True), LabelProbabilities()),
        None,
        "Fixed label prior: probability of the higher of two labels, or {label: probability}.",
        default_doc=default_doc,
    )


def label_prior(
    given: float | Mapping[int, float] | None, labels: Sequence[int], owner: str
) -> NDArray[np.float64]:
    """Return the (K,) prior probability of each label; the sum is one.

    `given` is the probability of the higher of two labels, or of each label; None: equal
    probabilities.
    """
    if given is None or len(labels) == 1:
        return np.full(len(labels), 1 / len(labels))
    if not isinstance(given, Mapping):
        if len(labels) != 2:
            raise ParameterError(
                f"must be a {{label: probability}} dict for the labels {labels}, got {given}",
                owner=owner,
                parameter="Prior",
            )
        return np.array([1 - given, given])
    shares = np.array([given.get(label, 0.0) for label in labels])
    if not (shares > 0).all():
        raise ParameterError(
            f"must give each of the labels {labels} a probability > 0, got {given}",
            owner=owner,
            parameter="Prior",
        )
    return np.asarray(shares / shares.sum())
