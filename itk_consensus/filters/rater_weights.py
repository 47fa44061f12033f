"""RaterWeights, for the filters that can be told how much each rater counts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from itk_consensus.errors import ParameterError
from itk_consensus.filters.constraints import Reals, optional
from itk_consensus.filters.parameters import Parameter
from itk_consensus.filters.process_object import ProcessObject


class RaterWeightsMixin(ProcessObject):
    """One weight per rater, all equal until set."""

    RaterWeights = Parameter(
        optional(Reals(low=0.0)), None, "Weight of each rater's vote.", default_doc="equal"
    )

    def _weights(self, raters: int) -> NDArray[np.float64] | None:
        weights = self.RaterWeights
        if weights is None:
            return None
        if len(weights) != raters or not any(weights):
            raise ParameterError(
                f"{self.GetName()}: RaterWeights must be {raters} numbers >= 0, not all 0, "
                f"got {weights}"
            )
        return np.array(weights)
