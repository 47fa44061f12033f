"""Where agreement of readers is called good, moderate or poor, and a reader apart: one table.

Limits of agreement come from published reader studies, limits of slips from our own data:
`examples/benchmarks/findings/readers_evidence.py` prints how often they find planted slips and
how often they disturb readers who agree. They were chosen on the even cases of LIDC and of BU-BIL's
crowds and are reported on the odd ones.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

#: How far raters agree, from the best to the worst.
Agreement = Literal["good", "moderate", "poor"]


@dataclass(frozen=True)
class ReaderLimits:
    """From which numbers on readers' findings say something."""

    #: Mean Dice of pairs. Good: contouring uncertainty is expected to leave .8 to .9 (Brock et al.,
    #: AAPM TG-132, Med Phys 44:e43, 2017). Poor: below .6, where on the scale of kappa agreement is
    #: at most moderate (Landis & Koch, Biometrics 33:159, 1977); that Dice is graded like kappa is
    #: our choice.
    good_dice: float = 0.8
    poor_dice: float = 0.6
    #: Mean surface Dice of pairs at a tolerance in mm (the measure of Nikolov et al., J Med
    #: Internet Res 23:e26151, 2021). Where the Dice is not poor, contours are never called so.
    good_surface_dice: float = 0.8
    poor_surface_dice: float = 0.5
    surface_tolerance: float = 2.0
    #: Standard deviation over mean of the volumes; poor is above what was seen among readers who
    #: agree, on the even cases of LIDC and BU-BIL.
    good_volume_variation: float = 0.2
    poor_volume_variation: float = 0.35
    #: A mask with less than this share of the others' median volume is as good as empty.
    nearly_empty: float = 0.02
    #: A rater with less than this share of the others' median volume, or more than one over it,
    #: in the same place (the smaller mask lies in the larger one by `contained`), drew another
    #: extent, if that is also so many times the factor by which they differ from each other.
    other_volume: float = 0.5
    contained: float = 0.8
    times_the_spread: float = 1.0
    #: A rater whose mean Dice to the others is below this share of theirs drew something else.
    apart_dice: float = 0.65
    #: In one of many labels somebody is always far: there this share.
    apart_in_one_label: float = 0.25
    #: A rater this much farther from the others (1 - Dice) than they are from each other, and this
    #: much lower in Dice, is tried mirrored and moved ...
    suspect_times: float = 1.3
    suspect_dice: float = 0.03
    #: ... and is called so if the distance that remains to the others is at most this many times
    #: theirs, this share of the Dice that was missing came back, and at least so much.
    explained_times: float = 1.5
    explained_share: float = 0.5
    least_gain: float = 0.05
    #: Moved by less, in mm, is how people draw.
    least_shift: float = 2.5


#: What the limits are called.
LIMIT_NAMES = tuple(field.name for field in fields(ReaderLimits))


def graded(value: float, good: float, poor: float) -> Agreement:
    """What a number means, be larger better (good > poor) or worse."""
    sign = 1 if good >= poor else -1
    if sign * value >= sign * good:
        return "good"
    return "poor" if sign * value < sign * poor else "moderate"
