"""Which labels each voxel may have, and how a label map says so."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

BACKGROUND, FOREGROUND, AMBIGUOUS, EMPTY = 0, 1, 2, 3
_BAND_OF_BITS = np.array([EMPTY, BACKGROUND, FOREGROUND, AMBIGUOUS], dtype=np.uint8)

#: Labels that fit the bits of an 8-bit and a 16-bit label map.
MOST_LABELS_IN_BITS = 16


def prediction_sets(
    scores: Sequence[NDArray[np.float64]], thresholds: Sequence[float]
) -> NDArray[np.bool_]:
    """Labels whose score does not exceed their threshold.

    Parameters
    ----------
    scores : K arrays of one shape
    thresholds : K floats, or one for all labels

    Returns
    -------
    ndarray of bool, shape (K, \\*shape)
    """
    each = list(thresholds) * (len(scores) if len(thresholds) == 1 else 1)
    return np.stack([score <= tau for score, tau in zip(scores, each, strict=True)])


def band_codes(sets: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """0 background, 1 foreground, 2 ambiguous, 3 empty, for sets of two labels."""
    codes: NDArray[np.uint8] = _BAND_OF_BITS[label_bits(sets)]
    return codes


def label_bits(sets: NDArray[np.bool_]) -> NDArray[np.unsignedinteger]:
    """Bit k set where label k is in the set; uint8 for up to 8 labels, uint16 for up to 16."""
    bits = np.zeros(sets.shape[1:], dtype=np.uint8 if len(sets) <= 8 else np.uint16)
    for label, member in enumerate(sets):
        bits |= member.astype(bits.dtype) << label
    return bits
