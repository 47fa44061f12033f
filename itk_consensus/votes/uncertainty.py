"""Uncertainty of each voxel from its label probabilities, accumulated label by label."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats
from itk_consensus.votes.disputed_voxels import CHUNK, chunks

#: entropy: - sum p ln p, in nats. disagreement: 1 - largest p. variance: sum p (1 - p) / 2, which
#: for two labels is the variance p (1 - p) of each.
UncertaintyKind = Literal["entropy", "disagreement", "variance"]
UNCERTAINTY_KINDS: tuple[UncertaintyKind, ...] = get_args(UncertaintyKind)


def uncertainty(kind: UncertaintyKind, probabilities: Iterable[Floats], out: NDArray[Any]) -> None:
    """Write the uncertainty of each voxel, given an iterable of each label's probabilities.

    Parameters
    ----------
    kind : str
        One of `UNCERTAINTY_KINDS`.
    probabilities : iterable of ndarray, all of one shape
        Each is consumed before the next is requested, so they may share memory. The uncertainty is
        0 where all probabilities are 0, as outside a mask.
    out : ndarray of float, of the probabilities' shape
        Receives the uncertainty, and is used as the accumulator.
    """
    out.fill(1.0 if kind == "disagreement" else 0.0)
    add = {"entropy": _add_entropy, "disagreement": _keep_lower, "variance": _add_variance}[kind]
    for share in probabilities:
        for part in _planes(out):
            add(share[part], out[part])
    if kind == "disagreement":
        # No label has a positive probability here, so the uncertainty is 0.
        out[out >= 1] = 0.0


def _planes(volume: NDArray[Any]) -> Iterator[slice]:
    """Split a volume into parts that are small enough for temporary arrays."""
    if not volume.ndim:
        yield slice(None)
        return
    depth = max(1, CHUNK * max(1, len(volume)) // max(1, volume.size))
    yield from chunks(len(volume), depth)


def _add_entropy(share: Floats, out: NDArray[Any]) -> None:
    # Skip voxels that are certain, as most are, since logarithms are expensive.
    unsure = (share > 0) & (share < 1)
    p = share[unsure]
    out[unsure] -= p * np.log(p)


def _add_variance(share: Floats, out: NDArray[Any]) -> None:
    # Rounding may make probabilities exceed one.
    out += np.maximum(share * (1 - share), 0) / 2


def _keep_lower(share: Floats, out: NDArray[Any]) -> None:
    np.minimum(out, np.maximum(1 - share, 0), out=out, casting="same_kind")
