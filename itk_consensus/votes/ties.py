"""Rule for ties and undecided voxels.

The kernels for plain and smoothed votes apply the same rule while counting (`Choice` in
`vote_shares.hpp`).
"""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

TieRule = Literal["undecided", "lowest", "highest", "background", "prior"]
TIE_RULES: tuple[TieRule, ...] = get_args(TieRule)

#: Codes used in decisions, which otherwise contain label indices.
UNDECIDED = -1
BACKGROUND = -2

# Tolerances for scores that are mathematically equal, since the order of a sum affects rounding.

#: For sums and means of votes in float64, smoothed or not, as a fraction of all votes.
SAME_VOTES = 1e-12
#: For log posteriors (ITK compares products exactly, but logarithms are rounded).
SAME_LOG_POSTERIOR = 1e-12
#: For probabilities and log odds computed from votes by weighting, division or an inverse matrix.
SAME_PROBABILITY = 1e-9
#: For beliefs of a Markov random field, which are float32.
SAME_BELIEF = 1e-6
#: For float32 sums over many voxels: posteriors in windows and, in units of the smallest voxel
#: side, mean distances.
SAME_SINGLE = 1e-5


def decide(
    scores: NDArray[np.float64],
    labels: NDArray[Any],
    rule: TieRule = "undecided",
    *,
    tolerance: float = 0.0,
    prior: NDArray[np.float64] | None = None,
) -> NDArray[np.int64]:
    """Return the label with the highest score for each pattern.

    Parameters
    ----------
    scores : (P, K) ndarray
        Votes or log posteriors; -inf means impossible. If no label is possible, the result is
        background if that is the rule, and undecided otherwise.
    labels : (K,) ndarray
        Label values, sorted.
    rule : str
        How to break a tie. "prior" selects the tied label with the highest `prior`, and the lowest
        of these labels if the priors are also tied.
    tolerance : float
        Scores within this distance of the highest are tied.
    prior : (K,) ndarray
        Overall frequency of each label, for "prior".

    Returns
    -------
    (P,) ndarray of int64
        Label indices, `UNDECIDED` or `BACKGROUND` (label value 0, which need not be in `labels`).
    """
    best = scores.max(axis=1, keepdims=True)
    possible = np.isfinite(best[:, 0])
    tied = (scores >= best - tolerance) & possible[:, None]
    winner = tied.argmax(axis=1)
    is_tie = tied.sum(axis=1) != 1
    if rule == "highest":
        answer = scores.shape[1] - 1 - tied[:, ::-1].argmax(axis=1)
    elif rule == "prior":
        if prior is None:
            raise ValueError("decide: the rule 'prior' needs the label frequencies")
        answer = np.where(tied, prior, -np.inf).argmax(axis=1)
    elif rule == "lowest":
        answer = winner
    else:
        answer = np.full(len(scores), UNDECIDED if rule == "undecided" else BACKGROUND)
    nothing = BACKGROUND if rule == "background" else UNDECIDED
    return np.where(possible, np.where(is_tie, answer, winner), nothing).astype(np.int64)
