"""Does the model foresee a rater it has not seen better than the other raters' vote does?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from itk_consensus.deep.cases import MISSING, Case
from itk_consensus.deep.model import ConsensusModel
from itk_consensus.deep.network import one_hot

#: Pseudo-votes for every class: no vote is ever certain.
_PSEUDO_VOTES = 0.5


def held_out_log_likelihood(
    model: ConsensusModel, cases: Sequence[Case], rater_weight: float
) -> tuple[float, float]:
    """Mean log-probability of a rater's labels given the image and the others: ours, the vote's.

    Parameters
    ----------
    rater_weight : float
        Joint mode: the power of the raters' likelihood, as in Execute.

    Returns
    -------
    ours, vote : float

    Notes
    -----
    The vote is that of the other raters, smoothed by half a vote for every class. Without two
    raters in any case both are NaN.
    """
    scores = [
        score
        for case in cases
        for rater in range(len(case.raters))
        if (score := _score_rater(model, case, rater, rater_weight)) is not None
    ]
    if not scores:
        return np.nan, np.nan
    ours, votes = np.mean(scores, axis=0)
    return float(ours), float(votes)


def _score_rater(
    model: ConsensusModel, case: Case, held: int, rater_weight: float
) -> tuple[float, float] | None:
    classes = len(model.labels)
    others = case.labels.copy()
    others[held] = MISSING
    drawn = case.labels[held]
    judged = torch.from_numpy((drawn != MISSING) & (others != MISSING).any(0))
    if not judged.any():
        return None
    device = model.device
    votes = one_hot(torch.from_numpy(others)[None].to(device), classes)
    with torch.no_grad():
        probability, _ = model.posterior(
            torch.from_numpy(case.image)[None, None].to(device),
            votes,
            torch.from_numpy(case.raters)[None].to(device),
            rater_weight,
        )
    rates = np.exp(model.rater_model.log_rates()[case.raters[held]])
    foreseen = torch.einsum("ks,kj->js", probability[0].flatten(1).cpu(), torch.from_numpy(rates))
    counts = votes[0].sum(0).flatten(1).cpu() + _PSEUDO_VOTES
    return tuple(  # type: ignore[return-value]
        _mean_log(table / table.sum(0), drawn, judged) for table in (foreseen, counts)
    )


def _mean_log(table: Tensor, drawn: np.ndarray, judged: Tensor) -> float:
    where = judged.flatten()
    chosen = torch.from_numpy(drawn).flatten()[where].long()
    return float(torch.log(table[:, where].gather(0, chosen[None])).mean())
