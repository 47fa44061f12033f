"""Limits that grade the agreement of raters, and that flag a deviating rater, in one table.

Limits of agreement come from published reader studies, limits of slips from our own data:
`examples/benchmarks/findings/readers_evidence.py` prints how often they find planted slips, and
how often they raise a false alarm about raters who agree. They were chosen on the even cases of
LIDC and of BU-BIL's crowds and are reported on the odd ones.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

#: Grades of agreement, from best to worst.
Agreement = Literal["good", "moderate", "poor"]


@dataclass(frozen=True)
class AgreementLimits:
    """Limits of the findings about raters."""

    #: Mean Dice of pairs. Good: contouring uncertainty is expected to leave .8 to .9 (Brock et al.,
    #: AAPM TG-132, Med Phys 44:e43, 2017). Poor: below .6, where on the scale of kappa agreement is
    #: at most moderate (Landis & Koch, Biometrics 33:159, 1977); that Dice is graded like kappa is
    #: our choice.
    good_dice: float = 0.8
    poor_dice: float = 0.6
    #: Mean surface Dice of pairs at a tolerance in mm (the measure of Nikolov et al., J Med
    #: Internet Res 23:e26151, 2021). It is never graded poor if the Dice is not.
    good_surface_dice: float = 0.8
    poor_surface_dice: float = 0.5
    surface_tolerance: float = 2.0
    #: Standard deviation over mean of the volumes; poor is above all values of raters who agree,
    #: on the even cases of LIDC and BU-BIL.
    good_volume_variation: float = 0.2
    poor_volume_variation: float = 0.35
    #: A mask with less than this share of the others' median volume counts as empty.
    nearly_empty: float = 0.02
    #: A rater drew another extent if the volume is below this share of the others' median, or above
    #: its reciprocal; the smaller mask lies in the larger one to a share of `contained`; and the
    #: ratio is more than `times_the_spread` times that of the others among each other.
    other_volume: float = 0.5
    contained: float = 0.8
    times_the_spread: float = 1.0
    #: A rater drew something else if the mean Dice to the others is below this share of theirs.
    apart_dice: float = 0.65
    #: The same share for a single label of many, where one rater or another is always far off.
    apart_in_one_label: float = 0.25
    #: A rater's mask is compared mirrored and shifted if its distance to the others (1 - Dice) is
    #: this many times theirs among each other, and its Dice is lower by this much ...
    suspect_times: float = 1.3
    suspect_dice: float = 0.03
    #: ... and is reported as such if the remaining distance to the others is at most this many
    #: times theirs, and this share of the missing Dice is recovered, at least this much, and this
    #: share of the whole distance.
    explained_times: float = 1.5
    explained_share: float = 0.5
    least_gain: float = 0.05
    displaced_share: float = 0.35
    #: Smaller shifts, in mm, are normal variation.
    least_shift: float = 2.5


#: Names of the limits.
LIMIT_NAMES = tuple(field.name for field in fields(AgreementLimits))


def grade_agreement(value: float, good: float, poor: float) -> Agreement:
    """Grade a value; larger is better if good > poor, and worse otherwise."""
    sign = 1 if good >= poor else -1
    if sign * value >= sign * good:
        return "good"
    return "poor" if sign * value < sign * poor else "moderate"
