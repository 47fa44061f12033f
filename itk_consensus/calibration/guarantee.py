"""What a band promises, in one plain sentence."""

from __future__ import annotations

from itk_consensus.calibration.band_calibration import BandOptions

TRUTH = "truth"
HELD_OUT_RATER = "held-out rater"
REFERENCE_KINDS = (TRUTH, HELD_OUT_RATER)

_LIMIT = "no statistic of the raters can see an error that all of them share"
#: Whose labels are meant, first and again, and the limits of the promise.
_WORDS = {
    TRUTH: ("the true", "the true", _LIMIT),
    HELD_OUT_RATER: (
        "a new rater's",
        "that rater's",
        f"this covers a new rater, not the truth: {_LIMIT}",
    ),
}


def guarantee(options: BandOptions, number: int, labels: int, reference_kind: str) -> str:
    """The sentence for a record and its users.

    Parameters
    ----------
    options : BandOptions
    number : int
        Calibration cases, or voxels.
    labels : int
        2 for a band of foreground and background.
    reference_kind : str
        One of `REFERENCE_KINDS`.
    """
    if options.unit == "voxel":
        return (
            f"Of {number} pooled voxels {_percent(1 - options.alpha)} had their label in the set, "
            "but voxels are not exchangeable: this promises nothing about any single case."
        )
    whose, again, limit = _WORDS[reference_kind]
    foreground = f"{whose} foreground" if labels == 2 else f"each of {whose} labels"
    background = f"{again} background within {options.region_margin:g} mm of the consensus"
    start = f"In a new case drawn like the {number} calibration cases"
    if options.risk == "fnr":
        most = f"at most {_percent(options.alpha)} of"
        lost = "are marked as the opposite" if labels == 2 else "lose their label"
        return f"{start}, on average {most} {foreground} and {most} {background} {lost}; {limit}."
    of_foreground, of_background = (_least(options.label_tolerance(label)) for label in (1, 0))
    kept = "are marked as such or ambiguous" if labels == 2 else "keep their label in the set"
    separately = " (each with this chance, separately)" if options.mondrian else ""
    return (
        f"{start}, the chance is at least {_percent(1 - options.alpha)} that {of_foreground} of "
        f"{foreground} and {of_background} of {background} {kept}{separately}; {limit}."
    )


def _least(tolerance: float) -> str:
    return f"at least {_percent(1 - tolerance)}" if tolerance else "all"


def _percent(share: float) -> str:
    return f"{100 * share:.6g}%"
