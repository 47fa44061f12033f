"""Calibration cases without a true segmentation: hold out one rater and fuse the others.

Such a calibration covers a *new rater* who draws like the held-out ones, not the true segmentation:
an error that all raters share cannot be distinguished from agreement.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from itk_consensus.calibration.conformal import HELD_OUT_RATER
from itk_consensus.core.errors import InputError
from itk_consensus.fusing.label_fusion import LabelFusionFilter
from itk_consensus.fusing.label_inputs import load_labels, require_label
from itk_consensus.images import convert

T = TypeVar("T")


class HeldOutCohort(NamedTuple):
    """Arguments of Calibrate, with one member per case: ``band.Calibrate(**cohort._asdict())``."""

    probabilities: list[Any]
    references: list[Any]
    raters: list[list[Any]]
    provenance: dict[str, Any]


def hold_out(raters: Sequence[T], case: int) -> tuple[T, list[T]]:
    """Split a case's two or more raters into the held-out one and the others.

    Which rater is held out depends on the case's position in its cohort, so that no single rater is
    the reference of all cases.
    """
    if len(raters) < 2:
        raise InputError(f"hold_out: case {case} must have at least 2 raters, got {len(raters)}")
    turn = case % len(raters)
    return raters[turn], [*raters[:turn], *raters[turn + 1 :]]


def hold_out_raters(
    cases: Iterable[Sequence[Any]],
    fuser: LabelFusionFilter,
    foreground: int | None = None,
    case_ids: Sequence[str] | None = None,
) -> HeldOutCohort:
    """Hold out one rater in each case and fuse the others.

    The index of the rater held out is the position of the case modulo the number of raters.

    Parameters
    ----------
    cases : iterable of lists of label images
        Each case has at least two raters, the same number in all cases.
    fuser : LabelFusionFilter
        Fuses the other raters; its probability of `foreground` is used for calibration.
    foreground : int, optional
        The label to calibrate; all others count as background. By default the only label.
    case_ids : sequence of str, optional
        Name of each case for error messages; by default its number.

    Returns
    -------
    HeldOutCohort
        Its references are the held-out raters, its raters the fused ones. A band calibrated on it
        applies to a consensus of as many raters, and covers a new rater, not the true segmentation.
    """
    cohort = HeldOutCohort([], [], [], {"reference_kind": HELD_OUT_RATER})
    for number, images in enumerate(cases):
        name = number if case_ids is None else case_ids[number]
        owner = f"hold_out_raters: case {name}"
        masks = _masks(images, foreground, owner, fuser.InputsAreLabels)
        if cohort.raters and len(masks) != len(cohort.raters[0]) + 1:
            first = 0 if case_ids is None else case_ids[0]
            raise InputError(
                f"case {name} has {len(masks)} raters, case {first} {len(cohort.raters[0]) + 1}; a "
                "calibration needs the same number of raters in each case",
                owner="hold_out_raters",
            )
        reference, others = hold_out(masks, number)
        fuser.Execute(others)
        cohort.probabilities.append(fuser.GetProbabilityImage(1))
        cohort.references.append(reference)
        cohort.raters.append(others)
    cohort.provenance["fusion_method"] = fuser.method
    return cohort


def _masks(images: Sequence[Any], foreground: int | None, owner: str, insist: bool) -> list[Any]:
    loaded, stack = load_labels(
        list(images), owner=owner, insist=insist, name="InputsAreLabels of the filter"
    )
    drawn = [int(label) for label in stack.labels if label]
    if foreground is None and len(drawn) > 1:
        raise InputError(
            f"raters drew {', '.join(map(str, drawn[:5]))}; which label is the foreground?",
            owner=owner,
            parameter="foreground",
        )
    if foreground is None:
        foreground = drawn[0] if drawn else 1
    require_label(foreground, stack, owner, "foreground")
    return [
        convert.to_image((array == foreground).astype(np.uint8), loaded)
        for array in loaded.arrays
        if array is not None
    ]
