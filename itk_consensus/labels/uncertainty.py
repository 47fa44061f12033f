"""How unsure label probabilities leave each voxel, summed label by label to keep memory small."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, get_args

import numpy as np

from itk_consensus.array_types import Floats

#: entropy: - sum p ln p, in nats. disagreement: 1 - largest p. variance: sum p (1 - p) / 2, which
#: with two labels is the variance p (1 - p) of either.
UncertaintyKind = Literal["entropy", "disagreement", "variance"]
UNCERTAINTY_KINDS: tuple[UncertaintyKind, ...] = get_args(UncertaintyKind)


def uncertainty(kind: UncertaintyKind, probabilities: Iterable[Floats]) -> Floats:
    """The uncertainty of voxels whose labels' probabilities come one label after the other.

    Parameters
    ----------
    kind : str
        One of `UNCERTAINTY_KINDS`.
    probabilities : iterable of ndarray, all of one shape
        Each is used before the next is asked for, and may be the same memory. Voxels where all
        are 0, as outside a mask, are not uncertain.

    Returns
    -------
    ndarray of the probabilities' shape
    """
    if kind == "disagreement":
        return _disagreement(probabilities)
    total: Floats | None = None
    for share in probabilities:
        if total is None:
            total = np.zeros(share.shape)
        # Most voxels are certain, and logarithms are dear.
        unsure = (share > 0) & (share < 1)
        p = share[unsure]
        total[unsure] += -p * np.log(p) if kind == "entropy" else p * (1 - p) / 2
    assert total is not None, "no labels"
    return total


def _disagreement(probabilities: Iterable[Floats]) -> Floats:
    largest: Floats | None = None
    for share in probabilities:
        largest = share.copy() if largest is None else np.maximum(largest, share, out=largest)
    assert largest is not None, "no labels"
    return np.where(largest > 0, np.maximum(1 - largest, 0), 0.0)
