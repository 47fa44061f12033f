"""Is an object there, if k of J raters marked it?

True objects are found by each rater with a probability d; false ones have an author, and each of
the others marks the same with a probability e. A share p of all objects is true. None of the three
is fitted: with one object in a case there is nothing to fit them to. They are averaged over a grid
instead, under priors that say what is usual, weighted by how well they foresee all of the case's
objects. So two of five are not enough where one object is all there is, and are where raters
overlook about that many of the others, too.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import scipy
from numpy.typing import NDArray

from itk_consensus.array_types import Floats

#: Beta priors: of finding what is there, of marking what another invented, and of being there.
FINDING = (4.0, 2.0)
JOINING = (1.0, 10.0)
BEING_THERE = (3.0, 2.0)

#: Values of each on the grid.
GRID = 24


def presence(finders: NDArray[np.int64], raters: int) -> Floats:
    """(N,) probability that each object is there.

    Parameters
    ----------
    finders : (N,) ndarray of int
        How many raters marked each object, at least 1 of them.
    raters : int
        J.
    """
    often = np.bincount(finders, minlength=raters + 1)[1:]
    marked = np.arange(1, raters + 1)
    found, joined, there = _grid()
    # Binomials without their coefficients on both sides: C(J, k) and C(J - 1, k - 1) differ by J/k.
    true = (
        scipy.special.xlogy(marked, found)
        + scipy.special.xlog1py(raters - marked, -found)
        + np.log(raters / marked)
        - np.log1p(-((1 - found) ** raters))
    )
    false = scipy.special.xlogy(marked - 1, joined)
    false = false + scipy.special.xlog1py(raters - marked, -joined)
    true, false = true + np.log(there), false + np.log1p(-there)
    either = np.logaddexp(true, false)
    # Nodes are equally likely a priori.
    weights = either @ often
    weights = np.exp(weights - weights.max())
    share = (weights / weights.sum()) @ np.exp(true - either)
    return np.asarray(share[finders - 1])


@cache
def _grid() -> Floats:
    """(3, N, 1) d, e and p at the middles of parts of each Beta that are equally likely."""
    middles = [_quantiles(*prior) for prior in (FINDING, JOINING, BEING_THERE)]
    return np.stack(np.meshgrid(*middles, indexing="ij")).reshape(3, -1, 1)


def _quantiles(a: float, b: float) -> Floats:
    """Middles of parts of a Beta distribution that are equally likely."""
    at = np.linspace(0, 1, 2001)[1:-1]
    return np.interp((np.arange(GRID) + 0.5) / GRID, scipy.special.betainc(a, b, at), at)
