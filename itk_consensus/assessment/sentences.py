"""Text templates of all findings.

A rule returns numbers (`Finding.facts`). The templates here turn them into a statement and advice
for people who do not read code: readers have names, numbers have units, and each finding can be
read by itself. ``docs/howto/findings.md`` shows all of them, made by
`wrapping/writing/write_tables.py`.

``{Who}`` stands for the readers a finding is about at the start of a sentence, ``{who}`` for the
same within it; ``{is_}``, ``{has_}`` and ``{s}`` agree with their number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from itk_consensus.assessment.findings import Finding

#: A sentence names at most this many readers or slices, followed by the number of the others.
MOST_NAMED = 3


@dataclass(frozen=True)
class Words:
    """The templates of one kind of finding."""

    what: str  #: What was found
    do: str = ""  #: What to do about it
    example: Mapping[str, Any] = field(default_factory=dict)  #: Facts for the documentation
    who: tuple[int, ...] = (2,)  #: Readers of the example
    label: int | None = None  #: Label of the example


_OUTLINE = {"before": 0.41, "after": 0.88}

#: Templates by rule and kind; the kind is "fine", without advice, where all is well.
SENTENCES: dict[tuple[str, str], Words] = {
    # -- input ------------------------------------------------------------------------------
    ("few raters", ""): Words(
        "Only {who} annotated: the result is one opinion.", "Add readers.", {"number": 1}
    ),
    ("few raters", "two"): Words(
        "Two readers annotated: where they differ there is no majority.",
        "A third reader would settle it.",
        {"number": 2},
        (),
    ),
    ("few raters", "fine"): Words("{number} readers annotated.", "", {"number": 5}, ()),
    ("no segmentation", ""): Words(
        "{Who} mark{s} {share:.0%} of the image, the others {usual:.1%}: the mask is inverted, or "
        "no segmentation of this structure.",
        "Give the right file and fuse again.",
        {"share": 0.97, "usual": 0.03},
    ),
    ("no segmentation", "fine"): Words("No reader marked most of the image.", who=()),
    ("apart", ""): Words(
        "No more than {most} of {number} readers drew in one place: what {first} drew does not "
        "touch what {second} drew.",
        "Check whether two structures, or two patients, have one name; sort the files, fuse again.",
        {"most": 2, "number": 4, "first": (0, 1), "second": (2, 3)},
        (),
    ),
    ("apart", "some"): Words(
        "{Who} drew where none of the others drew.",
        "Look at that mask: another structure, or another patient?",
    ),
    ("apart", "fine"): Words("All readers drew in the same place.", who=()),
    # -- slips of single readers --------------------------------------------------------------
    ("empty mask", ""): Words(
        "{Who} drew {drew}, the others {usual} (median).",
        "Look whether it was overlooked or the wrong file was given; if the reader never looked, "
        "leave the file out.",
        {"drew": "nothing", "usual": "23.4 ml"},
    ),
    ("empty mask", "fine"): Words("No reader missed a structure that most drew.", who=()),
    ("lone label", ""): Words(
        "Only {who} used this label ({volume}).",
        "Check whether it is another number for a structure, or something that only this reader "
        "saw.",
        {"volume": "1.2 ml"},
        label=7,
    ),
    ("lone label", "fine"): Words("No label is used by one reader alone.", who=()),
    ("swapped labels", ""): Words(
        "{Who} {has_} {used} and {meant} the other way round: if put right, Dice to the others "
        "would rise from {before:.2f} to {after:.2f}.",
        "Put the numbers right and fuse again.",
        {"used": "label 1", "meant": "label 2", **_OUTLINE},
    ),
    ("swapped labels", "circle"): Words(
        "{Who} {has_} numbers in a circle, {circle}: if put right, Dice to the others would rise "
        "from {before:.2f} to {after:.2f}.",
        "Put the numbers right and fuse again.",
        {"circle": [[1, 2], [2, 3], [3, 1]], **_OUTLINE},
    ),
    ("swapped labels", "renamed"): Words(
        "{Who} say{s} {used} where the others say {meant} (Dice {after:.2f}).",
        "Put the number right and fuse again.",
        {"used": "label 7", "meant": "label 2", "after": 0.91},
    ),
    ("swapped labels", "fine"): Words("All readers use the same label numbers.", who=()),
    ("swapped structures", ""): Words(
        "{Who} {has_} {used} and {meant} the other way round: if put right, Dice to the others "
        "would rise from {before:.2f} to {after:.2f}.",
        "Put the names right (--rename FILE) and fuse again.",
        {"used": "Parotid_L", "meant": "Parotid_R", "before": 0.0, "after": 0.84},
    ),
    ("swapped structures", "circle"): Words(
        "{Who} {has_} names in a circle, {circle}: if put right, Dice to the others would rise "
        "from {before:.2f} to {after:.2f}.",
        "Put the names right (--rename FILE) and fuse again.",
        {"circle": [["A", "B"], ["B", "C"], ["C", "A"]], "before": 0.0, "after": 0.84},
    ),
    ("swapped structures", "renamed"): Words(
        "What {who} call{s} {used} lies where the others' {meant} is (Dice {after:.2f}; "
        "{before:.2f} to their structure of that name).",
        "Look which name is meant; put it right (--rename FILE) and fuse again.",
        {"used": "Parotid_L", "meant": "Parotid_R", "before": 0.0, "after": 0.84},
    ),
    ("few drew", ""): Words(
        "Only {number} of {readers} readers drew it: that is no consensus.",
        "Ask the others whether they looked, and what they call it.",
        {"number": 2, "readers": 5},
        (),
    ),
    ("mirrored mask", ""): Words(
        "{Who} {is_} mirrored along {axes}: if mirrored back, Dice to the others would rise "
        "from {before:.2f} to {after:.2f}.",
        "Compare the direction in its header with the others', put it right and fuse again.",
        {"axes": "x", **_OUTLINE},
    ),
    ("mirrored mask", "fine"): Words("No mask fits the others better when mirrored.", who=()),
    ("shifted mask", ""): Words(
        "{Who} lie{s} {off}: if moved back, Dice to the others would rise from "
        "{before:.2f} to {after:.2f}.",
        "Compare origin and spacing in its header with the others', put them right and fuse again.",
        {"off": "5 mm too far to the patient's left and 4 mm to the feet", **_OUTLINE},
    ),
    ("shifted mask", "fine"): Words("Moving no mask would bring it to the others.", who=()),
    ("volume apart", "more"): Words(
        "{Who} drew {drew}, the others {usual}: {ratio:.2f} times their median.",
        "Check whether other tissue was drawn, too.",
        {"drew": "47.3 ml", "usual": "22.1 to 25.3 ml", "ratio": 2.01},
    ),
    ("volume apart", "less"): Words(
        "{Who} drew {drew}, the others {usual}: {ratio:.2f} times their median.",
        "Check whether slices or parts are missing.",
        {"drew": "7.9 ml", "usual": "22.1 to 25.3 ml", "ratio": 0.33},
    ),
    ("volume apart", "fine"): Words("No reader drew far more or less than the others.", who=()),
    ("gaps between slices", ""): Words(
        "{Who} drew on {own} slices from {first} to {last} along {axis} and left {number} between "
        "them empty ({slices}).",
        "If only some slices were drawn on, interpolate between them before fusing.",
        {
            "own": 9,
            "first": 12,
            "last": 28,
            "axis": "z",
            "number": 8,
            "slices": "13, 15, 17 and 5 more",
        },
    ),
    ("gaps between slices", "fine"): Words("No reader skipped slices between drawn ones.", who=()),
    ("cut at the border", ""): Words(
        "What {who} drew ends at the border of the image.",
        "What lay beyond it was cut; volumes and surfaces are those of the rest.",
        {},
        (0, 1),
    ),
    ("cut at the border", "fine"): Words("No mask ends at the border of the image.", who=()),
    ("deviating rater", ""): Words(
        "{Who} {is_} far from the others: mean Dice {own:.2f} to them, who have {among:.2f} among "
        "themselves.",
        "Look at this mask: another structure, another patient, or the only one that is right?",
        {"own": 0.52, "among": 0.88},
    ),
    ("deviating rater", "volume"): Words(
        "{Who} {is_} far from the others: mean Dice {own:.2f} to them, who have {among:.2f} among "
        "themselves, and {ratio:.2f} times their volume.",
        "Ask whether this reader meant the same.",
        {"own": 0.66, "among": 0.88, "ratio": 1.9},
    ),
    ("deviating rater", "fine"): Words(
        "{Who} {is_} farthest from the others, and not far: mean Dice {own:.2f} to them, who have "
        "{among:.2f} among themselves.",
        "",
        {"own": 0.84, "among": 0.86},
    ),
    ("deviating rater", "unknown"): Words("Fewer than three readers overlap.", who=()),
    ("deviating rater", "many"): Words(
        "{number} raters are too many to compare with each other.", "", {"number": 300}, ()
    ),
    ("counted slip", ""): Words(
        "The result counts {who} like all other readers.",
        "Compare with the result of RaterWeights {weights}, which leaves {who} out.",
        {"weights": "1 1 0 1"},
    ),
    ("one reader decides", ""): Words(
        "{Who} outvote{s} most of the others on {share:.0%} of the structure, and {is_} far from "
        "them: mean Dice {own:.2f}, where they have {among:.2f} among themselves.",
        "Look at that mask; if it is wrong, leave it out and fuse again.",
        {"share": 0.12, "own": 0.81, "among": 0.92},
    ),
    ("one reader decides", "fine"): Words("No reader outvotes the others.", who=()),
    # -- agreement --------------------------------------------------------------------------
    ("two camps", ""): Words(
        "Readers fall into two groups ({first} on one side; {second} on the other): mean Dice "
        "{within:.2f} within and {between:.2f} between them.",
        "Decide which of the two is meant; a consensus of both is neither.",
        {"first": (0, 1, 4), "second": (2, 3), "within": 0.91, "between": 0.74},
        (),
    ),
    ("two camps", "fine"): Words("Readers do not fall into two groups.", who=()),
    ("pairwise Dice", "pair"): Words(
        "Readers agree {how}: mean Dice {dice:.2f}, lowest between {who} ({lowest:.2f}).",
        "{advice}",
        {"how": "moderately", "dice": 0.74, "lowest": 0.61, "grade": "moderate"},
        (0, 2),
    ),
    ("pairwise Dice", ""): Words(
        "Readers agree {how}: mean Dice {dice:.2f}.",
        "{advice}",
        {"how": "poorly", "dice": 0.41, "grade": "poor"},
        (),
    ),
    ("surface Dice", ""): Words(
        "On average {dice:.0%} of two readers' outlines lie within {tolerance:g} {unit} of each "
        "other.",
        "{advice}",
        {"dice": 0.44, "tolerance": 2.0, "unit": "mm", "grade": "poor"},
        (),
    ),
    ("volume spread", ""): Words(
        "Readers drew between {low} and {high}: volumes vary by {variation:.0%}.",
        "{advice}",
        {"low": "12.1 ml", "high": "25.9 ml", "variation": 0.38, "grade": "poor"},
        (),
    ),
    ("near-identical raters", ""): Words(
        "{Who} are nearly copies of each other and count as several opinions.",
        "Leave the copies out.",
        {},
        (1, 3),
    ),
    ("near-identical raters", "merged"): Words(
        "{Who} are nearly copies of each other and were counted once.",
        "Check whether they are copies; if not, keep them all.",
        {},
        (1, 3),
    ),
    ("near-identical raters", "decides"): Words(
        "{Who} are nearly copies of each other and were counted once, which changes the result "
        "(Dice {dice:.2f} to the plain vote).",
        "Check whether they are copies.",
        {"dice": 0.9},
        (1, 3),
    ),
    ("near-identical raters", "fine"): Words("No reader is nearly a copy of another.", who=()),
    ("near-identical raters", "many"): Words(
        "{number} raters are too many to compare with each other.", "", {"number": 300}, ()
    ),
    ("presence", ""): Words(
        "{empty} of {number} readers drew nothing here ({who}); the result {has} it.",
        "First decide whether it is there.",
        {"empty": 2, "number": 4, "has": "does not have"},
        (1, 3),
    ),
    ("presence", "fact"): Words(
        "{empty} of {number} readers drew nothing here ({who}); the result {has} it.",
        "Ask them whether they looked.",
        {"empty": 1, "number": 4, "has": "has"},
        (2,),
    ),
    ("presence", "fine"): Words("Every reader drew every label.", who=()),
    # -- the result -------------------------------------------------------------------------
    ("empty result", ""): Words(
        "The result is {result}, though {drew} of {number} readers drew {usual} (median).",
        "Look at what each reader drew; they hardly meet.",
        {"result": "empty", "drew": 4, "number": 5, "usual": "1.3 ml"},
        (),
    ),
    ("empty result", "fine"): Words("The result has what most readers drew.", who=()),
    ("prevalence", ""): Words(
        "The result fills {share:.2%} of the image.",
        "A weight for the whole image distorts small structures; give a MaskImage around it.",
        {"share": 0.004},
        (),
    ),
    ("prevalence", "held"): Words(
        "The result fills {share:.2%} of the image, and depends on the prior that is held for all "
        "of it: with the prior estimated it would be another (Dice {dice:.2f}).",
        "Set Variant to careful, or give a MaskImage around the structure.",
        {"share": 0.02, "dice": 0.83},
        (),
    ),
    ("undecided", ""): Words(
        "{share:.2%} of the image is tied: the readers are split evenly.",
        "Decide them in a review, or set TieRule.",
        {"share": 0.0012},
        (),
    ),
    ("undecided", "fine"): Words("No voxel is tied.", who=()),
    ("volume against vote", ""): Words(
        "The result has {ratio:.2f} times the volume that a plain vote gives.",
        "Compare it with the vote.",
        {"ratio": 1.72},
        (),
    ),
    ("volume against vote", "empty vote"): Words(
        "The result has {volume}, a plain vote none.",
        "Compare what each reader drew.",
        {"volume": "0.8 ml"},
        (),
    ),
    ("beyond the raters", ""): Words(
        "{voxels} voxels of the result contradict every reader: marked by none, or left out though "
        "all marked them.",
        "Look at them; use another method if they are wrong.",
        {"voxels": 12},
        (),
    ),
    ("beyond the raters", "fine"): Words("No voxel of the result contradicts all readers.", who=()),
    ("far from the vote", ""): Words(
        "The result differs from a plain vote (Dice {dice:.2f}).",
        "Compare the two where they differ.",
        {"dice": 0.76},
        (),
    ),
    ("far from the vote", "close"): Words(
        "The result has a Dice of {dice:.2f} to a plain vote.", "", {"dice": 0.98}, ()
    ),
    ("far from the vote", "fine"): Words("The result is that of a plain vote.", who=()),
    ("far from the vote", "noise"): Words(
        "A plain vote has specks of noise that the result does not have (Dice {dice:.2f}).",
        "",
        {"dice": 0.93},
        (),
    ),
    ("far from the consensus", ""): Words(
        "The result is far from what the readers share (Dice {dice:.2f} to Consensus).",
        "Use Consensus, or compare the two where they differ.",
        {"dice": 0.7},
        (),
    ),
    ("far from the consensus", "closer"): Words(
        "The result is far from what the readers share (Dice {dice:.2f} to Consensus).",
        "Use Consensus; {closer} comes closer, too (Dice {closer_dice:.2f}).",
        {"dice": 0.7, "closer": "Variant=advanced", "closer_dice": 0.91},
        (),
    ),
    ("far from the consensus", "unchecked"): Words(
        "Not compared with Consensus: that takes as long as running it.", who=()
    ),
    # -- what the method believes -----------------------------------------------------------
    ("rater under one half", ""): Words(
        "The method believes that {who} {is_} wrong more often than right (performance "
        "{lowest:.2f}).",
        "Look at that mask; it may show something else.",
        {"lowest": 0.31},
    ),
    ("rater under one half", "fine"): Words(
        "{Who} {has_} the lowest performance, {lowest:.2f}.", "", {"lowest": 0.81}
    ),
    ("rater below chance", ""): Words(
        "The method believes that {who} {is_} worse than guessing (informedness {information:.2f}; "
        "0 is guessing), and inverts that mask.",
        "Look at that mask: exchanged labels, another place, another structure? Leave it out and "
        "fuse again.",
        {"information": -0.4},
    ),
    ("rater below chance", "fine"): Words("The method rates no reader below guessing.", who=()),
    ("implausible performance", ""): Words(
        "The method believes that {who} never {errs}, and lets that reader outvote the others.",
        "Look at that mask.",
        {"errs": "marks too much"},
        (1,),
    ),
    ("implausible performance", "several"): Words(
        "The method believes that {who} never make errors of one kind, and lets them outvote the "
        "others.",
        "Look at their masks.",
        {},
        (0, 1),
    ),
    ("implausible performance", "everybody"): Words(
        "The method believes that no reader ever makes errors of one kind.",
        "Set Variant to careful.",
        {},
        (),
    ),
    ("implausible performance", "guesses"): Words(
        "The method believes that {who} hardly know{s} anything (informedness {information:.2f}; "
        "0 is guessing).",
        "Look at that mask.",
        {"information": 0.12},
    ),
    ("implausible performance", "fine"): Words(
        "The method rates no reader as guessing or infallible.", who=()
    ),
    ("correlated raters", ""): Words(
        "{Who} make the same errors ({beyond:.0%} of their agreement is more than chance); count "
        "them as less than two opinions.",
        "Check whether one copied from the other.",
        {"beyond": 0.4},
        (0, 1),
    ),
    ("correlated raters", "fine"): Words("No two readers share errors.", who=()),
    ("correlated raters", "many"): Words(
        "{number} raters are too many to compare with each other.", "", {"number": 300}, ()
    ),
    ("background size", ""): Words(
        "With {times:g} times the background the volume would change by {change:+.0%}: the crop "
        "decides.",
        "Give a MaskImage around the structure.",
        {"times": 10.0, "change": -0.12},
        (),
    ),
    ("background size", "fine"): Words("The amount of background hardly matters.", who=()),
    ("thresholding", ""): Words(
        "This result is the vote at {implied:.2f}: the share of readers from which the model's "
        "log odds favour the structure (Dice {dice_implied:.2f} to the votes cut there).",
        "",
        {"implied": 0.32, "dice_implied": 0.99},
        (),
    ),
    ("thresholding", "differs"): Words(
        "This result is not the vote at its model's threshold, {implied:.2f} (Dice "
        "{dice_implied:.2f}); of all thresholds {threshold:.2f} comes closest (Dice {dice:.2f}).",
        "",
        {"implied": 0.32, "dice_implied": 0.81, "threshold": 0.5, "dice": 0.9},
        (),
    ),
    ("overconfidence", ""): Words(
        "{share:.0%} of the voxels on which readers differ have a probability within {near:g} of 0 "
        "or 1.",
        "Calibrate probabilities with TemperatureScalingFilter before you use them.",
        {"share": 0.8, "near": 0.01},
        (),
    ),
    ("overconfidence", "fine"): Words(
        "Most probabilities are not near 0 or 1 where readers differ.", who=()
    ),
    ("regularisation target", ""): Words(
        "Over all voxels the mean reader is worse than guessing, which cannot be the target of a "
        "regularisation; a diagonal target was used instead.",
        "Check whether foreground and background are exchanged.",
        {},
        (),
    ),
    ("regularisation target", "fine"): Words("The requested target was used.", who=()),
    ("start disagreement", ""): Words(
        "{share:.0%} of {number} starts end in worse answers, up to Dice {apart:.2f} away.",
        "The votes allow several answers; compare them, or use the plain vote.",
        {"share": 0.4, "number": 5, "apart": 0.3},
        (),
    ),
    ("start disagreement", "one"): Words(
        "Only one start was run: whether others end elsewhere is unknown.",
        "Set Variant to careful, or NumberOfInitializations to 10.",
        {},
        (),
    ),
    ("winner far from first start", ""): Words(
        "The most likely result is far from the default start's (Dice {dice:.2f}).",
        "Look at both.",
        {"dice": 0.88},
        (),
    ),
    ("label switching", ""): Words(
        "{share:.0%} of the starts ended with foreground and background exchanged, {which}.",
        "The votes do not tell foreground from background; use the plain vote.",
        {"share": 0.6, "which": "the chosen one among them"},
        (),
    ),
    # -- the network --------------------------------------------------------------------------
    ("gain", ""): Words(
        "{gain}.",
        "{instead} instead, or train on more cases: no gain is shown, and {answer}.",
        {"gain": "No gain over the vote is shown", "instead": "vote", "answer": "the vote answers"},
        (),
    ),
    ("training", ""): Words(
        "Training was still improving when TimeBudget ended it.", "Give it more time.", {}, ()
    ),
    ("training", "fine"): Words(
        "Training ended when held-out cases stopped improving, or at the requested length.",
        who=(),
    ),
    ("likeness", ""): Words(
        "The image differs from the training images in {fields}.",
        "Vote instead, or train on such images.",
        {"fields": "spacing and intensities"},
        (),
    ),
    ("likeness", "fine"): Words(
        "The image resembles the training images in spacing, field of view and intensities.",
        who=(),
    ),
}

#: What one reader did in several structures, by rule; the reader stands before it.
_IN_SHORT = {
    "no segmentation": "gave no segmentation",
    "swapped labels": "has labels the other way round",
    "swapped structures": "has names the other way round",
    "empty mask": "drew nothing, or nearly nothing,",
    "mirrored mask": "is mirrored",
    "shifted mask": "is out of place",
    "apart": "drew where nobody else drew",
    "volume apart": "drew far more or less than the others",
    "gaps between slices": "left slices empty",
    "one reader decides": "outvotes most of the others",
    "deviating rater": "is far from the others",
}

#: What to do about readers who agree so.
_AGREEMENT_ADVICE = {
    "good": "",
    "moderate": "Look where they differ most.",
    "poor": "Settle with the readers what is to be drawn before you use a consensus.",
}


def what(finding: Finding) -> str:
    """What was found, with the structure it is about if there are several."""
    words = _words(finding)
    text = words.what.format_map(_facts(finding))
    text = text[0].upper() + text[1:] if _may_be_capital(finding, words) else text
    return f"{_structure(finding)}{text}"


def advice(finding: Finding) -> str:
    """What to do; empty if all is well."""
    if finding.severity is None:
        return ""
    text = _words(finding).do.format_map(_facts(finding))
    return text[:1].upper() + text[1:]


def in_short(finding: Finding) -> str:
    """What one reader did, without numbers: "is out of place"; empty if it is about no reader."""
    return _IN_SHORT.get(finding.rule, "")


def names(finding: Finding) -> tuple[str, ...]:
    """Names of the readers of a finding."""
    return tuple(_name(rater, finding.rater_names) for rater in finding.who)


def readers(raters: Sequence[int], rater_names: Sequence[str]) -> str:
    """Name readers in a sentence: "ann and bob", or "readers 0, 1 and 2"."""
    if any(rater >= len(rater_names) for rater in raters):
        noun = "reader" if len(raters) == 1 else "readers"
        return f"{noun} {join_items(raters)}"
    return join_items(rater_names[rater] for rater in raters)


def join_items(items: Iterable[object]) -> str:
    """Join items as "1, 2 and 3"; of a long list only the first ones and "4 more"."""
    every = [str(item) for item in items]
    if len(every) > MOST_NAMED + 1:
        every = [*every[:MOST_NAMED], f"{len(every) - MOST_NAMED} more"]
    return " and ".join([", ".join(every[:-1]), every[-1]] if len(every) > 1 else every)


def label_name(label: int, label_names: Mapping[int, str]) -> str:
    """The name of a label, or "label 7"."""
    return label_names.get(label, f"label {label}")


def _words(finding: Finding) -> Words:
    found = SENTENCES.get((finding.rule, finding.kind))
    return found or SENTENCES[finding.rule, ""]


def _facts(finding: Finding) -> dict[str, Any]:
    who = readers(finding.who, finding.rater_names)
    one = len(finding.who) == 1
    groups = {
        name: readers(value, finding.rater_names)
        for name, value in finding.facts.items()
        if isinstance(value, tuple)
    }
    grade = finding.facts.get("grade", "good")
    return {
        **{"who": who, "Who": who, "is_": "is" if one else "are"},
        **{"has_": "has" if one else "have", "s": "s" if one else ""},
        **{"advice": _AGREEMENT_ADVICE[grade], "how": _HOW[grade]},
        **finding.facts,
        **groups,
        **_circle_of(finding),
        **{
            name: label_name(finding.facts[name], finding.label_names)
            for name in ("used", "meant")
            if isinstance(finding.facts.get(name), int)
        },
    }


def _circle_of(finding: Finding) -> dict[str, str]:
    """The names used and meant around a circle: "label 1 for label 2 and label 2 for label 1"."""
    pairs = finding.facts.get("circle", ())
    named = [
        [label_name(one, finding.label_names) if isinstance(one, int) else one for one in pair]
        for pair in pairs
    ]
    return {"circle": join_items(f"{used} for {meant}" for used, meant in named)} if named else {}


_HOW = {"good": "well", "moderate": "moderately", "poor": "poorly"}


def _may_be_capital(finding: Finding, words: Words) -> bool:
    """Whether the first letter may be capitalized: not if the sentence starts with a name."""
    named = all(rater < len(finding.rater_names) for rater in finding.who) and finding.who
    return not (named and words.what.startswith("{Who}"))


def _structure(finding: Finding) -> str:
    if finding.label is None:
        return ""
    name = label_name(finding.label, finding.label_names)
    return f"{re.sub('^label', 'Label', name)}: "


def _name(rater: int, rater_names: Sequence[str]) -> str:
    return rater_names[rater] if rater < len(rater_names) else f"reader {rater}"
