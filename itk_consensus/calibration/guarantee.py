"""What a band promises, in one plain sentence."""

from __future__ import annotations

from itk_consensus.calibration.band_calibration import BandOptions

TRUTH = "truth"
HELD_OUT_RATER = "held-out rater"
REFERENCE_KINDS = (TRUTH, HELD_OUT_RATER)

_WHOSE = {TRUTH: "the true", HELD_OUT_RATER: "a new rater's (not the true)"}
_LIMIT = "no statistic of the raters can see an error that all of them share"


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
    whose = _WHOSE[reference_kind]
    of = f"{whose} foreground" if labels == 2 else f"the voxels of each of {whose} labels"
    near = f"the background within {options.region_margin:g} mm of the consensus"
    marked = "are marked as such or ambiguous" if labels == 2 else "keep their label in the set"
    separately = " (each with this chance, separately)" if options.mondrian else ""
    new_case = f"In a new case drawn like the {number} calibration cases"
    if options.risk == "fnr":
        alpha = _percent(options.alpha)
        average = f"on average at most {alpha} of {of} and at most {alpha} of {near}"
        lost = "are marked as the opposite" if labels == 2 else "lose their label"
        return f"{new_case}, {average} {lost}; {_LIMIT}."
    if options.risk == "max":
        shares = f"all of {of} and all of {near}"
    else:
        foreground, background = (_percent(1 - options.label_tolerance(k)) for k in (1, 0))
        shares = f"at least {foreground} of {of} and at least {background} of {near}"
    chance = f"the chance is at least {_percent(1 - options.alpha)} that {shares} {marked}"
    return f"{new_case}, {chance}{separately}; {_LIMIT}."


def _percent(share: float) -> str:
    return f"{100 * share:.6g}%"
