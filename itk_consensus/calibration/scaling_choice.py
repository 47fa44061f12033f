"""A scaling only where it helps on cases that it was not fitted to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from itk_consensus.calibration.probabilities import clipped
from itk_consensus.calibration.scaling import (
    IsotonicScaling,
    LogitScaling,
    Scaling,
    ScalingTable,
    fit_scaling,
)

#: At most so many fits are cross-validated.
FOLDS = 5


class ScalingChoice(NamedTuple):
    """A scaling, and the mean log loss in nats per voxel of cases left out of the fit."""

    scaling: Scaling  #: The identity if `after` is not below `before`
    before: float  #: Without scaling; NaN with one case only, which cannot be left out
    after: float  #: With it

    @property
    def is_identity(self) -> bool:
        """Whether probabilities are kept as they are."""
        return bool(self.after >= self.before)


def choose_scaling(tables: Sequence[ScalingTable], method: str) -> ScalingChoice:
    """Fit one of `scaling.METHODS`, unless it would not help on cases left out."""
    fitted = fit_scaling(ScalingTable.joined(tables), method)
    used = [table for table in tables if len(table.counts)]
    folds = min(FOLDS, len(used))
    if folds < 2:
        return ScalingChoice(fitted, np.nan, np.nan)
    before = after = 0.0
    for fold in range(folds):
        kept = [table for number, table in enumerate(used) if number % folds != fold]
        left_out = ScalingTable.joined(used[fold::folds])
        before += log_loss(left_out, None)
        after += log_loss(left_out, fit_scaling(ScalingTable.joined(kept), method))
    voxels = sum(float(table.counts.sum()) for table in used)
    choice = ScalingChoice(fitted, before / voxels, after / voxels)
    return choice._replace(scaling=identity(fitted)) if choice.is_identity else choice


def identity(like: Scaling) -> Scaling:
    """The scaling of the same kind that changes nothing."""
    if isinstance(like, LogitScaling):
        return LogitScaling(1.0, (0.0,) * like.labels)
    return IsotonicScaling(((0.0, 1.0),) * like.labels, ((0.0, 1.0),) * like.labels)


def log_loss(table: ScalingTable, scaling: Scaling | None) -> float:
    """Nats of all voxels."""
    shares = table.probabilities
    if scaling is not None:
        shares = np.stack(scaling.apply(list(shares.T)), axis=1)
    return float(-(table.counts * np.log(clipped(shares))).sum())
