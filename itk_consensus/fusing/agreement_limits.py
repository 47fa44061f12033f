"""Limits for grading the agreement of raters and for flagging a deviating rater, in one table.

The limits of agreement are taken from published reader studies. The limits for detecting gross
errors are based on our own data: `examples/benchmarks/findings/readers_evidence.py` prints how
often they detect simulated errors, and how often they raise a false alarm about raters who agree.
They were chosen on the even-numbered cases of LIDC and of the crowdsourced part of BU-BIL; results
are reported for the odd-numbered cases.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

#: Grades of agreement, from best to worst.
Agreement = Literal["good", "moderate", "poor"]


@dataclass(frozen=True)
class AgreementLimits:
    """Limits for findings about raters."""

    #: Mean Dice of pairs. Good: contouring uncertainty is expected to lead to values of 0.8 to 0.9
    #: (Brock et al., AAPM TG-132, Med Phys 44:e43, 2017). Poor: below 0.6, where on the scale of
    #: kappa agreement is at most moderate (Landis & Koch, Biometrics 33:159, 1977); grading Dice
    #: like kappa is our choice.
    good_dice: float = 0.8
    poor_dice: float = 0.6
    #: Mean surface Dice of pairs at a tolerance in mm (as in Nikolov et al., J Med Internet Res
    #: 23:e26151, 2021). It is graded poor only if the Dice is poor as well.
    good_surface_dice: float = 0.8
    poor_surface_dice: float = 0.5
    surface_tolerance: float = 2.0
    #: Standard deviation of the volumes divided by their mean; the limit for poor exceeds all
    #: values of raters who agree, on the even cases of LIDC and BU-BIL.
    good_volume_variation: float = 0.2
    poor_volume_variation: float = 0.35
    #: A mask with less than this fraction of the others' median volume counts as empty.
    nearly_empty: float = 0.02
    #: A rater drew a different extent if the rater's volume is below this fraction of the others'
    #: median, or above its reciprocal; at least the fraction `contained` of the smaller mask is in
    #: the larger one; and the ratio is more than `times_the_spread` times the ratio among the
    #: others.
    other_volume: float = 0.5
    contained: float = 0.8
    times_the_spread: float = 1.0
    #: A rater drew a different structure if the mean Dice with the others is below this fraction of
    #: the mean Dice among the others.
    apart_dice: float = 0.65
    #: The same limit when there are many labels: for some of them, one rater will usually differ
    #: greatly.
    apart_in_one_label: float = 0.25
    #: A rater's mask is tested for being mirrored or shifted if its distance to the others (1 -
    #: Dice) is at least this many times the distance among the others, and its Dice is lower by at
    #: least this much.
    suspect_times: float = 1.3
    suspect_dice: float = 0.03
    #: The mask is reported as mirrored or shifted if, after realignment, its distance to the others
    #: is at most `explained_times` times the distance among the others, and its Dice has risen by
    #: at least `explained_share` of its deficit relative to the others' Dice, by at least
    #: `least_gain`, and by at least `displaced_share` of its original distance.
    explained_times: float = 1.5
    explained_share: float = 0.5
    least_gain: float = 0.05
    displaced_share: float = 0.35
    #: Smaller shifts, in mm, are considered normal variation.
    least_shift: float = 2.5


#: Names of the limits.
LIMIT_NAMES = tuple(field.name for field in fields(AgreementLimits))


def grade_agreement(value: float, good: float, poor: float) -> Agreement:
    """Grade a value; larger is better if good > poor, and worse otherwise."""
    sign = 1 if good >= poor else -1
    if sign * value >= sign * good:
        return "good"
    return "poor" if sign * value < sign * poor else "moderate"
