"""Every finding states who, what, where and what to do, and the findings of an assessment do not
contradict each other.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import SimpleITK as sitk

import itk_consensus as ic
from examples.simulation import SLIP_SETTINGS
from itk_consensus.assessment.assessment import assess
from itk_consensus.assessment.findings import GRADED_RULES, Diagnostics, Finding
from itk_consensus.assessment.sentences import SENTENCES, times_in_words
from itk_consensus.assessment.verdict import Verdict
from itk_consensus.fusing.label_fusion import LabelFusionFilter
from itk_consensus.methods.registry import METHODS

NAMES = ("ann", "bob", "cem", "dan", "eva")
SPACING = (1.0, 1.0, 2.0)

Maps = np.ndarray[Any, Any]


def ellipsoid(center: tuple[float, ...], radii: tuple[float, ...]) -> Maps:
    place = np.indices((20, 36, 44)).T - np.array(center)
    inside = ((place / np.array(radii)) ** 2).sum(axis=-1).T <= 1
    return inside & ~((place.T[1] > 3) & (place.T[2] > 3))


def agreeing() -> Maps:
    radii = [(6, 8, 9), (6, 8.5, 9), (6, 8, 9.6), (6, 8.5, 9.4), (6.5, 8, 9)]
    maps = np.array([ellipsoid((8, 13, 14), one) for one in radii], np.uint8)
    maps[:, 4:12, 24:32, 30:40] = 2
    return maps


def mirrored(maps: Maps) -> None:
    maps[2] = maps[2][:, :, ::-1].copy()


def swapped(maps: Maps) -> None:
    maps[2] = np.array([0, 2, 1], np.uint8)[maps[2]]


def empty(maps: Maps) -> None:
    maps[2] = 0


def shifted(maps: Maps) -> None:
    maps[2] = np.roll(maps[2], (2, 3), (0, 2))


def inverted(maps: Maps) -> None:
    maps[2] = maps[2] == 0


def elsewhere(maps: Maps) -> None:
    maps[2] = np.where(maps[2] == 1, 0, maps[2])
    maps[2, 14:18, 26:33, 4:12] = 1


def half_absent(maps: Maps) -> None:
    maps[2:4][maps[2:4] == 2] = 0
    maps[4] = 255


def every_second_slice(maps: Maps) -> None:
    maps[2, ::2] = 0


def nothing(maps: Maps) -> None:
    pass


#: The simulated error, the rule that detects it, and the verdict.
SLIPS: dict[str, tuple[Callable[[Maps], None], str, str]] = {
    "nothing": (nothing, "", "use"),
    "mirrored": (mirrored, "mirrored mask", "look"),
    "swapped": (swapped, "swapped labels", "look"),
    "empty": (empty, "empty mask", "look"),
    "shifted": (shifted, "shifted mask", "look"),
    "inverted": (inverted, "no segmentation", "do not use"),
    "elsewhere": (elsewhere, "apart", "look"),
    "half absent": (half_absent, "presence", "do not use"),
    "every second slice": (every_second_slice, "gaps between slices", "look"),
}

#: With these methods a mirrored mask, or swapped labels, can empty the result, which is a more
#: serious finding.
LOSING = {("shape-average", slip) for slip in ("mirrored", "swapped", "elsewhere")}

#: This method numbers instances itself, so labels have no meaning and each mask is several
#: objects.
INSTANCES = "instance-consensus"

#: Errors in the second label, which single-label filters cannot detect.
OF_TWO_LABELS = ("swapped", "half absent")


def found_by(fuser: type[LabelFusionFilter], plant: Callable[[Maps], None]) -> Diagnostics:
    maps = agreeing()
    plant(maps)
    if fuser().foreground is not None:
        maps[maps == 2] = 0
    images = [sitk.GetImageFromArray(one, isVector=False) for one in maps]
    for image in images:
        image.SetSpacing(SPACING)
    given = [None if one.max() == 255 else i for one, i in zip(maps, images, strict=True)]
    filter_ = fuser()
    filter_.Execute(given)
    return assess(filter_.GetResult().with_rater_names(NAMES)).findings()


@pytest.mark.parametrize("kind", sorted(SENTENCES), ids=" ".join)
def test_a_sentence_has_all_its_numbers_and_says_what_to_do(kind: tuple[str, str]) -> None:
    words = SENTENCES[kind]
    one = Finding(kind[0], 1.0, "look", words.who, words.label, words.example, kind=kind[1])
    named = one.named(NAMES)
    for text in (named.what, named.do, named.sentence):
        assert "{" not in text
        assert "  " not in text
    assert named.what.endswith(".")
    assert len(named.what) < 220
    if kind[1] not in ("fine", "unchecked", "many", "unknown", "one", "noise") and words.do:
        assert named.do[-1] in ".?"
    # Findings refer to readers by name and do not refer to each other.
    assert not re.search(r"another finding|that decides|rater \d|reader \d", named.sentence)
    for name in named.names:
        assert name in named.sentence


@pytest.mark.parametrize("slip", SLIPS)
@pytest.mark.parametrize("method", METHODS)
def test_a_slip_is_told_once_by_its_cause_and_nothing_contradicts_it(
    method: str, slip: str
) -> None:
    plant, rule, word = SLIPS[slip]
    if METHODS[method]().foreground is not None and slip in OF_TWO_LABELS:
        pytest.skip("fuses one label")
    found = found_by(METHODS[method], plant)
    reads_well(found)
    verdict = Verdict.of(found)
    for one in verdict.decided_by:
        assert one.what
        assert one.do
        assert one.where is not None
        assert one.where.slice is not None
        assert one.names or one.label is not None or one.rule.startswith("far from")
    if method == INSTANCES:
        return
    if not rule:
        assert not verdict.decided_by
        return
    if (method, slip) in LOSING:
        assert verdict.word == "do not use"
    else:
        assert verdict.word == word, str(found)
        assert verdict.decided_by[0].rule == rule
    (cause,) = (one for one in found.causes if one.rule == rule)
    if slip != "half absent":
        assert cause.names == ("cem",)


#: Rules about readers who made no error: nothing drawn, or a mask at the border of the image.
BLAMELESS = ("presence", "cut at the border", "near-identical raters")


def reads_well(found: Diagnostics) -> None:
    """Check that findings are neither duplicated nor contradictory, and that the cause of every
    consequential finding is listed.
    """
    said = [one.what for one in found.noted]
    assert len(said) == len(set(said))
    causes = {one.rule for one in found.causes}
    assert all(one.because in causes for one in found.noted if one.because)
    below = [two for one in found.causes for two in found.consequences(one)]
    assert sorted(map(id, below)) == sorted({id(one) for one in found.noted if one.because})
    blaming = [one for one in found.causes if one.rule not in (*BLAMELESS, *GRADED_RULES)]
    concerns = [one for one in blaming if one.concern]
    blamed = {name for one in concerns for name in one.names}
    for one in found.causes:
        if one.rule == "implausible performance" and "outvote" in one.what:
            assert not blamed & set(one.names)
        if one.rule == "near-identical raters":
            assert not blamed & set(one.names)
    # A rule with a finding must not also report a label as fine.
    noted = {(one.rule, one.label) for one in found.noted}
    assert not noted & {(one.rule, one.label) for one in found.findings if not one.severity}
    shares = [one.facts["share"] for one in found.noted if "share" in one.facts]
    assert all(0 <= share <= 1 for share in shares)


def test_swaps_decide_where_half_of_the_readers_made_them() -> None:
    def two_of_four(maps: Maps) -> None:
        for rater in (2, 3):
            maps[rater] = maps[rater][:, :, ::-1].copy()
        maps[4] = 255

    found = found_by(ic.MajorityVoteFilter, two_of_four)
    assert Verdict.of(found).word == "do not use"


def test_two_groups_of_readers_who_do_not_touch_are_no_consensus() -> None:
    def two_places(maps: Maps) -> None:
        for rater in (2, 3):
            elsewhere(maps[rater - 2 :])
        maps[4] = 255

    found = found_by(ic.MajorityVoteFilter, two_places)
    verdict = Verdict.of(found)
    assert verdict.word == "do not use"
    assert "apart" in {one.rule for one in verdict.decided_by}


@pytest.mark.parametrize(
    ("ratio", "words"),
    [
        (2.07, "about twice"),
        (1.6, "about 1.5 times"),
        (7.2, "about 7 times"),
        (0.48, "about half"),
        (0.33, "about a third of"),
        (0.01, "less than a twentieth of"),
    ],
)
def test_ratios_are_said_in_words(ratio: float, words: str) -> None:
    assert times_in_words(ratio) == words


def test_a_result_of_readers_who_agree_moderately_says_why_it_is_usable() -> None:
    facts = {"dice": 0.72, "lowest": 0.67, "grade": "moderate"}
    about = Finding("pairwise Dice", 0.72, "note", (0, 1), None, facts, "raters", "pair")
    verdict = Verdict.of(Diagnostics((about,)))
    assert verdict.agreed == about
    assert str(verdict) == (
        "Use. Readers agree moderately: mean Dice 0.72, lowest between readers 0 and 1 (0.67). "
        "Usable all the same: no slip of a reader and no fault of the result was found."
    )


def test_of_2d_images_areas_differ_by_a_factor() -> None:
    maps = np.zeros((3, 40, 40), np.uint8)
    maps[0, 5:35, 5:35] = 1
    maps[1:, 5:25, 5:20] = 1
    vote = ic.MajorityVoteFilter()
    vote.Execute([sitk.GetImageFromArray(one) for one in maps])
    said = vote.GetDiagnostics().raters["volume spread"].what
    assert said == "Readers drew areas between 300 mm² and 900 mm²: a 3.0-fold difference."


def test_two_camps_are_named() -> None:
    maps = agreeing() * (agreeing() == 1)
    for rater in (0, 2):
        maps[rater] |= ellipsoid((8, 13, 18), (6, 8, 13)).astype(np.uint8)
    filter_ = ic.MajorityVoteFilter()
    filter_.Execute(list(maps))
    camps = filter_.GetDiagnostics()["two camps"]
    assert camps.severity == "look"
    assert {camps.facts["first"], camps.facts["second"]} == {(0, 2), (1, 3, 4)}
    assert "readers 0 and 2" in camps.what


def test_two_groups_are_told_apart_in_their_sentence() -> None:
    """The names in both groups, joined by "and", could be read as one list."""
    facts = {"first": (1, 3), "second": (0, 2, 4), "within": 0.91, "between": 0.74}
    names = ("anna", "ben", "clara", "dan", "eva")
    found = Finding("two camps", 0.74, "look", facts=facts, about="raters").named(names)
    assert "(ben and dan on one side; anna, clara and eva on the other)" in found.what


@pytest.mark.parametrize("rule", ["swapped structures", "swapped labels", "mirrored mask"])
def test_a_swap_stands_before_near_copies_of_the_same_grade(rule: str) -> None:
    """A mask with swapped labels is listed before near-copies of the same severity, so that it is
    always among the two findings that decide the verdict.
    """
    copies = Finding("near-identical raters", 1, "look", (0, 1))
    swap = Finding(rule, 0.8, "look", (2,), about="raters")
    grave = Finding("empty result", 0.0, "do not use")
    found = Diagnostics((copies, swap, grave))
    assert [one.rule for one in found.causes] == ["empty result", rule, "near-identical raters"]
    assert Verdict.of(Diagnostics((copies, swap))).decided_by[0].rule == rule


def test_a_speck_is_no_consensus_of_readers_who_drew_something() -> None:
    maps = np.zeros((4, 12, 30, 30), np.uint8)
    for rater, (y, x) in enumerate([(2, 2), (2, 11), (11, 2), (11, 11)]):
        maps[rater, 2:10, y : y + 10, x : x + 10] = 1
    filter_ = ic.MajorityVoteFilter()
    filter_.Execute(list(maps))
    found = filter_.GetDiagnostics()
    assert found["empty result"].severity == "do not use"
    assert "a speck of" in found["empty result"].what
    assert Verdict.of(found).word == "do not use"


def test_verdicts_of_labels_are_apart() -> None:
    maps = agreeing()
    maps[2][maps[2] == 2] = 0
    filter_ = ic.MajorityVoteFilter()
    filter_.Execute(list(maps))
    verdicts = assess(filter_.GetResult()).verdicts()
    assert {label: one.word for label, one in verdicts.items()} == {1: "use", 2: "look"}
    assert assess(filter_.GetResult()).verdict().word == "look"


def test_a_slip_explains_why_the_result_differs_from_the_vote() -> None:
    radii = [(6, 8, 9), (6.3, 8.4, 9), (6, 7.6, 9), (6.7, 9.4, 10.4)]
    maps = np.array([ellipsoid((8, 13, 14), one) for one in radii], np.uint8)
    maps[2] = maps[2][:, :, ::-1]
    filter_ = ic.ConsensusFilter()
    filter_.Execute(list(maps))
    causes = [one.rule for one in filter_.GetDiagnostics().causes if one.concern]
    assert causes == ["mirrored mask"]


def test_a_reader_whom_staple_lets_outvote_the_others_is_named() -> None:
    """One of five readers draws three voxels too far outside, and the result of STAPLE follows
    this reader.
    """
    case = SLIP_SETTINGS["5 readers, one three wider"](0)
    maps = [reader.astype(np.uint8) for reader in case.raters]
    wide = int(np.argmax([one.sum() for one in maps]))
    staple, vote = ic.STAPLEImageFilter(), ic.MajorityVoteFilter()
    staple.Execute(maps)
    vote.Execute(maps)
    found = staple.GetDiagnostics()["one reader decides"]
    assert found.severity == "look"
    assert found.who == (wide,)
    assert f"Reader {wide} outvotes" in found.what
    result = staple.GetLabelImage() == 1
    others = np.sum(maps, axis=0) - maps[wide]
    follows = (result == (maps[wide] == 1)) & np.where(result, others < 2, others > 2)
    assert found.value == pytest.approx(follows.sum() / (result | (others > 2)).sum())
    assert vote.GetDiagnostics()["one reader decides"].severity is None


def test_a_tie_is_no_distance_from_the_vote() -> None:
    pair = [ellipsoid((8, 16, 18), (6, side, side + 1)).astype(np.uint8) for side in (8, 10)]
    readers = [pair[0], pair[0].copy(), pair[1], pair[1].copy()]
    for number, reader in enumerate(readers):
        reader[8, 16, number] ^= 1  # so that there are no copies
    for filter_ in (ic.ConsensusFilter(), ic.MajorityVoteFilter()):
        filter_.Execute(readers)
        for rule in ("far from the vote", "far from the consensus"):
            rules = {one.rule: one for one in filter_.GetDiagnostics().findings}
            assert rule not in rules or rules[rule].value == pytest.approx(1, abs=0.01)


def test_the_best_of_many_ways_to_part_readers_is_no_camp() -> None:
    """Seven readers with random differences can always be split into slightly separate groups."""
    rng = np.random.default_rng(5)
    cloud = [ellipsoid((8, 16, 18), (6, *(9 + rng.normal(0, 1.2, 2)))) for _ in range(7)]
    moved = [
        np.roll(one, int(step), 2) for one, step in zip(cloud, rng.integers(-2, 3, 7), strict=True)
    ]
    filter_ = ic.MajorityVoteFilter()
    filter_.Execute([one.astype(np.uint8) for one in moved])
    assert filter_.GetDiagnostics()["two camps"].severity is None


def test_a_mask_that_is_far_for_another_reason_is_not_called_shifted() -> None:
    """A partial mask fits better at another position, but is not a shifted file."""
    radii = [(6, 9, 12), (6, 9.2, 12), (6, 9, 12.3), (6, 9, 11.8), (6, 9, 12)]
    maps = [ellipsoid((8, 16, 18), one).astype(np.uint8) for one in radii]
    maps[4][:, :, 22:] = 0
    filter_ = ic.MajorityVoteFilter()
    filter_.Execute(maps)
    found = filter_.GetDiagnostics()
    assert found["shifted mask"].severity is None
    assert found["mirrored mask"].severity is None


def test_a_sliver_that_two_readers_have_in_common_makes_nobody_deviate() -> None:
    maps = np.stack([ellipsoid((9, 16, 18), (8, 9, 10)).astype(np.uint8) for _ in range(4)])
    maps[1, 2:5, :, 12] = 0
    maps[3, 5] = np.roll(maps[3, 5], 3, 1)
    maps[3, 6:] = 255  # the last reader annotated only a small region ...
    maps[0, :5] = 255  # ... and shares one slice with the first
    filter_ = ic.MajorityVoteFilter(MissingLabel=255)
    filter_.Execute(list(maps))
    assert not [one for one in filter_.GetDiagnostics().concerns if one.rule == "deviating rater"]


def test_a_result_that_is_the_vote_is_not_said_to_differ_from_it() -> None:
    """A page said "The result differs from a plain vote (Dice 1.00)" below a passed check."""
    said = [str(Finding("far from the vote", dice, None, facts={"dice": dice}, kind=kind))
            for dice, kind in ((1.0, "fine"), (0.97, "close"))]  # fmt: skip
    assert said == [
        "The result is that of a plain vote.", "The result has a Dice of 0.97 to a plain vote.",
    ]  # fmt: skip
    maps = [np.pad(np.ones((4, 4, 4), np.uint8), 2)] * 3
    filter_ = ic.ConsensusFilter()
    filter_.Execute(maps)
    found = filter_.GetDiagnostics()["far from the vote"]
    assert (found.kind, found.value) == ("fine", 1)
