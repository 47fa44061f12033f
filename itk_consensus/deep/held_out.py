"""Held-out raters: they evaluate a model, and choose its rater weight, without a truth."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from itk_consensus.deep.cases import MISSING, Case
from itk_consensus.deep.model import ConsensusModel, on_device
from itk_consensus.deep.network import one_hot, rater_log_likelihood

#: Pseudo-votes for every class: no vote is ever certain.
_PSEUDO_VOTES = 0.5
#: Rater weights to choose from; 1 treats the raters' errors as independent.
_RATER_WEIGHTS = (0.0, 0.1, 0.2, 0.35, 0.5, 0.7, 1.0)
_STANDARD_ERRORS = 2.0


class _HeldOut(NamedTuple):
    """One rater of a case, whom the others have to predict."""

    others: Tensor  #: (1, A, K, *S) votes of the others
    rates: Tensor  #: (K, K) the rater's own C, [true, drawn]
    drawn: Tensor  #: (V,) what was drawn at the voxels that are judged
    judged: Tensor  #: (*S) voxels at which the rater and another one are present


@torch.no_grad()
def held_out_log_likelihood(
    model: ConsensusModel, cases: Iterable[Case], rater_weight: float
) -> tuple[float, float]:
    """Mean log-probability of a rater's labels given the image and the others: ours, the vote's.

    The vote is that of the other raters, smoothed by half a vote for every class. Without two
    raters in any case both are NaN.
    """
    scores = []
    for case in cases:
        for one in _held_out(model, case):
            probability, _ = model.posterior(*_shown(model, case, one.others), rater_weight)
            counts = one.others[0].sum(0).cpu() + _PSEUDO_VOTES
            foreseen = torch.einsum("k...,kj->j...", probability[0].cpu(), one.rates)
            scores.append([_mean_log(table, one) for table in (foreseen, counts)])
    if not scores:
        return np.nan, np.nan
    ours, votes = np.mean(scores, axis=0)
    return float(ours), float(votes)


@torch.no_grad()
def chosen_rater_weight(model: ConsensusModel, cases: Iterable[Case]) -> float:
    """The largest rater weight that does not predict held-out raters clearly worse than the best.

    For networks of the image alone, as the joint mode trains them. The criterion is how often the
    label is right, as in a fusion: likelihood would also reward confidence, which changes with the
    weight. Clear is a difference of two standard errors over the cases. Voxels on which all other
    raters agree are left out.
    """
    rows = [row for case in cases if (row := _hits_of_weights(model, case)) is not None]
    if not rows:
        return _RATER_WEIGHTS[-1]
    hits = np.array(rows)
    behind = hits[:, [hits.mean(0).argmax()]] - hits
    error = behind.std(0) / np.sqrt(max(1, len(rows) - 1))
    good = behind.mean(0) <= _STANDARD_ERRORS * error
    return _RATER_WEIGHTS[int(np.flatnonzero(good)[-1])]


def _hits_of_weights(model: ConsensusModel, case: Case) -> NDArray[np.float64] | None:
    """Share of the raters' labels that each weight predicts; None if none is disputed."""
    shares = []
    for one in _held_out(model, case):
        disputed = (one.others[0].sum(0) > 0).sum(0).cpu() > 1
        where = disputed[one.judged]
        if not where.any():
            continue
        image, votes, raters = _shown(model, case, one.others)
        log_rates = on_device(model.rater_model.log_rates(), model.device)[raters]
        drawn = rater_log_likelihood(votes, log_rates)[0].cpu()[:, one.judged][:, where]
        seen, _ = model.posterior(image, votes, raters, 0.0)
        seen = torch.log(seen[0].cpu()[:, one.judged][:, where])
        hits = [(seen + weight * drawn).argmax(0) == one.drawn[where] for weight in _RATER_WEIGHTS]
        shares.append([float(hit.double().mean()) for hit in hits])
    return np.mean(shares, axis=0) if shares else None


def _held_out(model: ConsensusModel, case: Case) -> Iterator[_HeldOut]:
    """Each rater of a case in turn, if there is another one to predict it."""
    rates = torch.from_numpy(np.exp(model.rater_model.log_rates()))
    for rater, number in enumerate(case.raters):
        others = case.labels.copy()
        others[rater] = MISSING
        judged = (case.labels[rater] != MISSING) & (others != MISSING).any(0)
        if judged.any():
            votes = one_hot(on_device(others[None], model.device), len(model.labels))
            drawn = torch.from_numpy(case.labels[rater][judged]).long()
            yield _HeldOut(votes, rates[number], drawn, torch.from_numpy(judged))


def _shown(model: ConsensusModel, case: Case, votes: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Image, votes and raters as the model takes them."""
    image, raters = (on_device(one[None], model.device) for one in (case.image, case.raters))
    return image, votes, raters


def _mean_log(table: Tensor, one: _HeldOut) -> float:
    """Mean logarithm of what a table of (K, \\*S) weights gives to what was drawn."""
    inside = table[:, one.judged]
    return float(torch.log((inside / inside.sum(0)).gather(0, one.drawn[None])).mean())
