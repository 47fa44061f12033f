"""Compute the vote tables of a case, from which fusion is learned, using its true segmentation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from itk_consensus.calibration.learned.disputed_label import disputed_label, raters_left_out
from itk_consensus.calibration.learned.vote_tables import LabelTable
from itk_consensus.core.array_types import Mask
from itk_consensus.fusing.fusion_case import FusionCase
from itk_consensus.fusing.fusion_result import FusionResult


def case_tables(
    case: FusionCase, consensus: FusionResult[Any], truth: Mapping[int, Mask]
) -> tuple[LabelTable, ...]:
    """Compute a table for each foreground label that a rater or the true segmentation contains.

    Parameters
    ----------
    consensus : FusionResult
        Result of ConsensusFilter.
    truth : mapping
        Mask (\\*shape) of each label in the true segmentation.
    """
    decision = consensus.fusion.volume()
    nowhere = np.zeros(decision.shape, bool)
    tables = []
    for label in sorted({*consensus.labels, *truth} - {0}):
        drawn = truth.get(label, nowhere)
        if label not in consensus.labels:
            tables.append(LabelTable.without_disputes(label, drawn, nowhere))
            continue
        index = consensus.labels.index(label)
        marked = np.asarray(decision == index)
        left_out = raters_left_out(consensus.extras["shared"], index)
        is_soft = case.opinions is not None
        dispute = disputed_label(case, index, left_out, decision, is_soft)
        if dispute is None:
            tables.append(LabelTable.without_disputes(label, drawn, marked))
        else:
            tables.append(LabelTable.count(label, dispute, drawn, marked))
    return tuple(tables)
