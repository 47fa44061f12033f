"""Every finding has who, what, where and do, and no two of one assessment contradict."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import SimpleITK as sitk

import itk_consensus as ic
from itk_consensus.assessment.assessment import assess
from itk_consensus.assessment.findings import Diagnostics, Finding
from itk_consensus.assessment.sentences import SENTENCES
from itk_consensus.assessment.verdict import Verdict
from itk_consensus.fusing.label_fusion import LabelFusionFilter

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


#: What is planted, the rule that names it, and the verdict.
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

FUSERS: list[type[LabelFusionFilter]] = [
    ic.MajorityVoteFilter,
    ic.ConsensusFilter,
    ic.MultiLabelSTAPLEImageFilter,
    ic.SIMPLEFilter,
]


def found_by(fuser: type[LabelFusionFilter], plant: Callable[[Maps], None]) -> Diagnostics:
    maps = agreeing()
    plant(maps)
    images = [sitk.GetImageFromArray(one, isVector=False) for one in maps]
    for image in images:
        image.SetSpacing(SPACING)
    given = [None if one.max() == 255 else i for one, i in zip(maps, images, strict=True)]
    filter_ = fuser()
    filter_.Execute(given)
    return assess(filter_.GetResult().named(NAMES)).findings()


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
    # No finding points to another, and readers are called by their names.
    assert not re.search(r"another finding|that decides|rater \d|reader \d", named.sentence)
    for name in named.names:
        assert name in named.sentence


@pytest.mark.parametrize("slip", SLIPS)
@pytest.mark.parametrize("fuser", FUSERS)
def test_a_slip_is_told_once_by_its_cause_and_nothing_contradicts_it(
    fuser: type[LabelFusionFilter], slip: str
) -> None:
    plant, rule, word = SLIPS[slip]
    found = found_by(fuser, plant)
    verdict = Verdict.of(found)
    assert verdict.word == word, str(found)
    if not rule:
        assert not verdict.decided_by
        return
    assert verdict.decided_by[0].rule == rule
    for one in verdict.decided_by:
        assert one.what
        assert one.do
        assert one.where is not None
        assert one.where.slice is not None
        assert one.names or one.label is not None
    if slip != "half absent":
        assert verdict.decided_by[0].names == ("cem",)
    reads_well(found)


def reads_well(found: Diagnostics) -> None:
    """No sentence twice, no reader praised and blamed, no consequence without its cause."""
    said = [one.what for one in found.noted]
    assert len(said) == len(set(said))
    causes = {one.rule for one in found.causes}
    assert all(one.because in causes for one in found.noted if one.because)
    below = [two for one in found.causes for two in found.consequences(one)]
    assert sorted(map(id, below)) == sorted({id(one) for one in found.noted if one.because})
    blamed = {name for one in found.causes if one.concern for name in one.names}
    for one in found.causes:
        if one.rule == "implausible performance" and "outvote" in one.what:
            assert not blamed & set(one.names)


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
