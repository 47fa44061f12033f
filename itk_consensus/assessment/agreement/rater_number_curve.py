"""rater_number_curve: estimate how many raters are enough."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from itk_consensus.assessment.agreement.agreement_filter import AgreementFilter
from itk_consensus.assessment.agreement.rater_number import CaseCurve, RaterNumberCurve, case_curve
from itk_consensus.core.errors import InputError
from itk_consensus.images import convert

_OWNER = "rater_number_curve"
_FEWEST = 3


def rater_number_curve(images: Any, label: int | None = None) -> RaterNumberCurve:
    """Measure the quality of the vote of k raters for every possible k; extrapolate to more raters.

    Parameters
    ----------
    images : list of label images, or list of such lists
        One case of at least three raters, or a cohort of cases with the same number of raters.
    label : int, optional
        Label value; by default the largest one of each case.

    Returns
    -------
    RaterNumberCurve
        ``.answer`` is a sentence, ``.table()`` returns the curve, ``.dice_with_another(k)`` and
        ``.moved_by_another(k)`` extrapolate it to any number of raters.
    """
    members = convert.as_list(images, _OWNER)
    is_cohort = bool(members) and all(isinstance(member, (list, tuple)) for member in members)
    curves = list(_curves(members if is_cohort else [members], label))
    if not curves:
        raise InputError("needs at least one case, got none", owner=_OWNER)
    numbers = sorted({max(curve.with_all) for curve in curves})
    if len(numbers) > 1:
        listed = ", ".join(map(str, numbers))
        raise InputError(f"cases must have equally many raters, got {listed}", owner=_OWNER)
    return RaterNumberCurve.of(curves)


def _curves(cases: list[Any], label: int | None) -> Iterator[CaseCurve]:
    for number, images in enumerate(cases):
        owner = f"{_OWNER}: case {number}"
        case = AgreementFilter().case_on(convert.as_list(images, owner), {})
        patterns, dimension = case.patterns, case.loaded.geometry.dimension
        if dimension not in (2, 3):
            raise InputError(f"images must be 2D or 3D, got {dimension}D", owner=owner)
        if patterns.number_of_raters < _FEWEST:
            raise InputError(
                f"must have at least {_FEWEST} raters, got {patterns.number_of_raters}",
                owner=owner,
            )
        labels = [int(value) for value in patterns.labels]
        wanted = labels[-1] if label is None else label
        if wanted not in labels:
            raise InputError(f"must have label {wanted}, got {labels}", owner=owner)
        yield case_curve(patterns, labels.index(wanted), case.spacing)
