"""Held-out raters choose the rater weight of a model, without a truth."""

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

#: Rater weights to choose from; 1 treats the raters' errors as independent.
_RATER_WEIGHTS = (0.0, 0.1, 0.2, 0.35, 0.5, 0.7, 1.0)
_STANDARD_ERRORS = 2.0


class _HeldOut(NamedTuple):
    """One rater of a case, whom the others have to predict."""

    others: Tensor  #: (1, A, K, *S) votes of the others
    drawn: Tensor  #: (V,) what was drawn at the voxels that are judged
    judged: Tensor  #: (*S) voxels at which the rater and another one are present


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
    for rater in range(len(case.raters)):
        others = case.labels.copy()
        others[rater] = MISSING
        judged = (case.labels[rater] != MISSING) & (others != MISSING).any(0)
        if judged.any():
            votes = one_hot(on_device(others[None], model.device), len(model.labels))
            drawn = torch.from_numpy(case.labels[rater][judged]).long()
            yield _HeldOut(votes, drawn, torch.from_numpy(judged))


def _shown(model: ConsensusModel, case: Case, votes: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Image, votes and raters as the model takes them."""
    image, raters = (on_device(one[None], model.device) for one in (case.image, case.raters))
    return image, votes, raters
