"""SoftInputsMixin: filters of label images that also count raters who are not certain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.filters.probability_inputs import ProbabilityInputsMixin
from itk_consensus.images.loaded_images import LoadedImages
from itk_consensus.labels.class_probabilities import sum_to_one

#: Voxels looked at before asking whether that was enough.
_LOOK_AT_ONCE = 1 << 20


class SoftInputsMixin(ProbabilityInputsMixin):
    """Label images of any type, and probabilities where a value can be nothing else.

    - Whole numbers are labels, whatever their type.
    - If any input has a fraction, all are foreground probabilities, and masks among them certain.
    - Vector images of a floating type whose components sum to 1, lists of one image per class and
      arrays with `ClassAxis` are class probabilities; other components are raters of their own.
    """

    takes_probabilities = False
    soft_inputs = True

    _otherwise = "whole-number labels or, as some input has fractions"

    def _components(self, loaded: LoadedImages) -> int:
        at, vectors = 0, []
        for number in loaded.components:
            opinion = [array for array in loaded.arrays[at : at + number] if array is not None]
            at += number
            if opinion:
                is_vector = number > 1 and opinion[0].dtype.kind == "f"
                vectors.append(is_vector and sum_to_one(opinion))
        return super()._components(loaded) if any(vectors) else 0

    def _hold_probabilities(self, arrays: Sequence[NDArray[Any] | None]) -> bool:
        return any(array is not None and has_fractions(array) for array in arrays)


def has_fractions(array: NDArray[Any]) -> bool:
    """Whether some value is no whole number; looks no farther than the first found."""
    if array.dtype.kind != "f":
        return False
    values = array.reshape(-1)
    for start in range(0, len(values), _LOOK_AT_ONCE):
        part = values[start : start + _LOOK_AT_ONCE]
        if (part != np.trunc(part)).any():
            return True
    return False
