"""Calibration without a truth: one rater of each case is held out and stands in for it.

What is calibrated this way covers a *new rater*, not the truth: an error that all raters share
looks like agreement.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from itk_consensus.errors import InputError

T = TypeVar("T")


def hold_out(raters: Sequence[T], case: int) -> tuple[T, list[T]]:
    """Split a case's raters into the held-out one and the others.

    Parameters
    ----------
    raters : sequence, at least two
        Masks or images, one per rater.
    case : int
        Position of the case in its cohort. Raters take turns: ``case mod raters`` is held out, so
        no rater's habits become everybody's reference.

    Returns
    -------
    held_out, others
    """
    if len(raters) < 2:
        raise InputError(f"hold_out: case {case} must have at least 2 raters, got {len(raters)}")
    turn = case % len(raters)
    return raters[turn], [*raters[:turn], *raters[turn + 1 :]]
