"""How unsure label probabilities leave each voxel, summed label by label to keep memory small."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats
from itk_consensus.votes.disputed_voxels import CHUNK, chunks

#: entropy: - sum p ln p, in nats. disagreement: 1 - largest p. variance: sum p (1 - p) / 2, which
#: with two labels is the variance p (1 - p) of either.
UncertaintyKind = Literal["entropy", "disagreement", "variance"]
UNCERTAINTY_KINDS: tuple[UncertaintyKind, ...] = get_args(UncertaintyKind)


def uncertainty(kind: UncertaintyKind, probabilities: Iterable[Floats], out: NDArray[Any]) -> None:
    """Write the uncertainty of voxels whose labels' probabilities come one label after the other.

    Parameters
    ----------
    kind : str
        One of `UNCERTAINTY_KINDS`.
    probabilities : iterable of ndarray, all of one shape
        Each is used before the next is asked for, and may be the same memory. Voxels where all
        are 0, as outside a mask, are not uncertain.
    out : ndarray of float, of the probabilities' shape
        All that is kept between two labels.
    """
    out.fill(1.0 if kind == "disagreement" else 0.0)
    add = {"entropy": _add_entropy, "disagreement": _lower, "variance": _add_variance}[kind]
    for share in probabilities:
        for part in _planes(out):
            add(share[part], out[part])
    if kind == "disagreement":
        # Where no label has any probability there is nothing to disagree about.
        out[out >= 1] = 0.0


def _planes(volume: NDArray[Any]) -> Iterator[slice]:
    """Parts of a volume that hold few enough voxels for temporary arrays."""
    if not volume.ndim:
        yield slice(None)
        return
    depth = max(1, CHUNK * max(1, len(volume)) // max(1, volume.size))
    yield from chunks(len(volume), depth)


def _add_entropy(share: Floats, out: NDArray[Any]) -> None:
    # Most voxels are certain, and logarithms are dear.
    unsure = (share > 0) & (share < 1)
    p = share[unsure]
    out[unsure] -= p * np.log(p)


def _add_variance(share: Floats, out: NDArray[Any]) -> None:
    # Sums of probabilities may exceed one by rounding.
    out += np.maximum(share * (1 - share), 0) / 2


def _lower(share: Floats, out: NDArray[Any]) -> None:
    np.minimum(out, np.maximum(1 - share, 0), out=out, casting="same_kind")
