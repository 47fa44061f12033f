"""Margins for treatment plans, reported in sentences that name the sides drawn larger."""

from __future__ import annotations

import numpy as np
import pytest

from itk_consensus.assessment.agreement.reader_bias import PADDING, ConsensusSurface
from itk_consensus.assessment.case_margin import CaseMargin, wrong_files
from itk_consensus.assessment.findings import Finding


def test_most_readers_and_all_of_them_are_told_in_whole_halves_of_a_millimetre() -> None:
    margin = CaseMargin(np.array([1.2, 2.9, 2.2, 6.8, np.inf]))
    said = "How far readers lie from the consensus: 3 of 4 within 3 mm, all within 7 mm"
    assert str(margin).startswith(said)
    assert str(CaseMargin(np.array([1.0, 2.0, np.nan]))) == ""


def test_equal_margins_of_most_readers_and_of_all_are_told_once() -> None:
    said = str(CaseMargin(np.array([1.2, 1.9, 2.0, 1.8, 1.6])))
    head = "How far readers lie from the consensus: "
    assert said == f"{head}all within 2 mm (95 % of their outlines)."


def test_a_side_is_told_where_most_readers_reach_farther() -> None:
    reach = np.array([2.0, 2.1, 2.4])
    sides = {"cranial": np.array([6.1, 5.8, 7.2]), "left": np.array([2.0, 2.5, 2.2])}
    said = str(CaseMargin(reach, sides, ("eva",)))
    assert "; 3 of 3 within 7.5 mm on the cranial side." in said
    assert "left" not in said
    assert said.endswith("Left out: eva.")


def test_only_files_that_are_known_to_be_wrong_are_left_out() -> None:
    found = [
        Finding("mirrored mask", 0.9, "look", (2,)),
        Finding("empty mask", 0.0, "look", (3,), label=2),
        Finding("deviating rater", 0.5, "look", (1,)),
    ]
    assert wrong_files(found, 1) == {2}
    assert wrong_files(found, 2) == {2, 3}


@pytest.mark.parametrize("more", [0, 3])
def test_reach_is_the_distance_on_the_side_where_a_reader_draws_more(more: int) -> None:
    consensus = np.zeros((24, 24, 24), bool)
    consensus[8:16, 8:16, 8:16] = True
    reader = consensus.copy()
    reader[16 : 16 + more, 8:16, 8:16] = True
    surface = ConsensusSurface(np.pad(consensus, PADDING), (2.0, 1.0, 1.0), np.eye(3)[::-1].copy())
    reach = surface.reach(np.pad(reader, PADDING))
    assert reach["cranial"] == pytest.approx(2.0 * more)
    assert reach["caudal"] == 0
