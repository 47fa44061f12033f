"""Choose the rater weight of a model by predicting held-out raters, without truths."""

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

#: Candidate rater weights; 1 treats the raters' errors as independent.
_RATER_WEIGHTS = (0.0, 0.1, 0.2, 0.35, 0.5, 0.7, 1.0)
_STANDARD_ERRORS = 2.0


class _HeldOut(NamedTuple):
    """A held-out rater of a case, to be predicted from the others."""

    others: Tensor  #: (1, A, K, *S) votes of the others
    drawn: Tensor  #: (V,) labels of the held-out rater at the judged voxels
    judged: Tensor  #: (*S) voxels annotated by the held-out rater and by at least one other rater


@torch.no_grad()
def choose_rater_weight(model: ConsensusModel, cases: Iterable[Case]) -> float:
    """Return the largest rater weight whose prediction is not significantly worse than the best.

    This is for networks that receive only the image (joint mode). The criterion is the accuracy of
    the predicted labels of held-out raters; likelihood would also depend on confidence, which
    changes with the weight. A difference is significant if it exceeds two standard errors over the
    cases. Voxels on which all other raters agree are left out.
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
    """Return the accuracy of predicted labels for each weight; None without disputed voxels."""
    shares = []
    for one in _held_out(model, case):
        disputed = (one.others[0].sum(0) > 0).sum(0).cpu() > 1
        where = disputed[one.judged]
        if not where.any():
            continue
        image, votes, raters = _model_inputs(model, case, one.others)
        log_rates = on_device(model.rater_model.log_rates(), model.device)[raters]
        drawn = rater_log_likelihood(votes, log_rates)[0].cpu()[:, one.judged][:, where]
        seen, _ = model.posterior(image, votes, raters, 0.0)
        seen = torch.log(seen[0].cpu()[:, one.judged][:, where])
        hits = [(seen + weight * drawn).argmax(0) == one.drawn[where] for weight in _RATER_WEIGHTS]
        shares.append([float(hit.double().mean()) for hit in hits])
    return np.mean(shares, axis=0) if shares else None


def _held_out(model: ConsensusModel, case: Case) -> Iterator[_HeldOut]:
    """Yield each rater of a case in turn, if another rater is available to predict from."""
    for rater in range(len(case.raters)):
        others = case.labels.copy()
        others[rater] = MISSING
        judged = (case.labels[rater] != MISSING) & (others != MISSING).any(0)
        if judged.any():
            votes = one_hot(on_device(others[None], model.device), len(model.labels))
            drawn = torch.from_numpy(case.labels[rater][judged]).long()
            yield _HeldOut(votes, drawn, torch.from_numpy(judged))


def _model_inputs(
    model: ConsensusModel, case: Case, votes: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Return image, votes and raters as the model's input tensors."""
    image, raters = (on_device(one[None], model.device) for one in (case.image, case.raters))
    return image, votes, raters
