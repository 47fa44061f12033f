from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import itk_consensus as ic
from examples.simulation import level_case
from itk_consensus.assessment.agreement.rater_number import median_variance
from itk_consensus.core.errors import InputError
from itk_consensus.votes.overlap import dice


def masks(seed, number, family="disc"):
    members = level_case(seed, family, members=number).members
    return [(member > 0).astype(np.uint8) for member in members]


def test_votes_of_odd_subsets_are_compared_with_all_and_with_those_left_out():
    readers = masks(3, 5)
    curve = ic.rater_number_curve(readers)
    everyone = np.mean(readers, axis=0) > 0.5
    with_all, left_out = [], []
    for subset in combinations(range(5), 3):
        fused = np.mean([readers[r] for r in subset], axis=0) > 0.5
        with_all.append(dice(fused, everyone))
        left_out += [dice(fused, readers[r]) for r in range(5) if r not in subset]
    point = curve.points[2]
    assert point.raters == 3
    assert point.with_all.mean == pytest.approx(np.mean(with_all))
    assert point.with_left_out.mean == pytest.approx(np.mean(left_out))
    assert curve.points[-1].with_all == (1, 1, 1)
    assert curve.points[-1].with_left_out is None
    assert point.with_all.low <= point.with_all.mean <= point.with_all.high


def test_the_curve_is_drawn_with_what_is_expected_of_twice_as_many(tmp_path):
    figures = pytest.importorskip("matplotlib.figure")
    image = pytest.importorskip("matplotlib.image")
    drawn = []
    curve = ic.rater_number_curve(masks(3, 5))
    with pytest.MonkeyPatch.context() as patch:
        save = figures.Figure.savefig
        patch.setattr(
            figures.Figure, "savefig", lambda f, *a, **k: (drawn.append(f), save(f, *a, **k))
        )
        ic.draw_rater_number(curve, tmp_path / "curve.png")
    assert image.imread(tmp_path / "curve.png").std() > 0
    overlap, movement = drawn[0].axes
    lines = {line.get_label(): line.get_xydata() for a in (overlap, movement) for line in a.lines}
    left_out = [(p.raters, p.with_left_out.mean) for p in curve.points[:-1]]
    np.testing.assert_allclose(lines["with a rater left out"], left_out)
    expected = [(k, curve.moved_by_another(k)) for k in range(5, 11)]
    np.testing.assert_allclose(lines["moved by one more rater, expected"], expected)
    assert len(lines) == 5
    assert "".join(drawn[0].get_suptitle().split()) == "".join(curve.answer.split())


@pytest.mark.parametrize(("raters", "variance"), [(1, 1), (3, 0.4487), (5, 0.2868), (9, 0.1661)])
def test_the_variance_of_a_median_is_that_of_tables(raters, variance):
    assert median_variance(raters) == pytest.approx(variance, rel=0.03)
    assert median_variance(raters + 1) == median_variance(raters)


@pytest.mark.parametrize("family", ["disc", "lesions", "thick slices"])
def test_five_raters_foretell_what_eight_are_worth(family):
    """From five raters, the Dice of a fusion of eight raters with another rater is predicted.

    It is compared with the Dice between eight of nine other raters and the ninth.
    """
    cohort = [masks(seed, 14, family) for seed in range(3000, 3030)]
    curve = ic.rater_number_curve([readers[:5] for readers in cohort])
    nine = ic.rater_number_curve([readers[5:] for readers in cohort])
    foretold = curve.dice_with_another(8)
    assert foretold == pytest.approx(nine.points[7].with_left_out.mean, abs=0.01)
    # Control: the value for four of the five raters, as if more raters had no effect.
    assert curve.points[3].with_left_out.mean < foretold
    moved = nine.points[4].moved.mean
    assert curve.moved_by_another() == pytest.approx(moved, rel=0.25)


def test_the_answer_is_a_sentence_in_mm():
    curve = ic.rater_number_curve(ic.sample_case())
    assert curve.answer.startswith("A fifth rater would move the contour by about ")
    assert f"{curve.moved_by_another():.2g} mm" in curve.answer
    rows = list(curve.table())
    assert [row["raters"] for row in rows] == [1, 2, 3, 4]
    assert rows[-1]["moved_mean"] is None


def test_raters_who_agree_need_nobody():
    mask = masks(0, 1)[0]
    curve = ic.rater_number_curve([mask] * 4)
    assert curve.moved_by_another() == 0
    assert curve.dice_with_another(8) == 1


def test_many_raters_are_looked_at_in_some_subsets():
    curve = ic.rater_number_curve(masks(1, 12))
    assert len(curve.points) == 12
    again = ic.rater_number_curve(masks(1, 12))
    assert curve == again


def test_what_has_no_curve_is_refused():
    with pytest.raises(InputError, match="case 0: must have at least 3 raters, got 2"):
        ic.rater_number_curve(masks(0, 2))
    with pytest.raises(InputError, match="equally many raters, got 3, 4"):
        ic.rater_number_curve([masks(0, 3), masks(1, 4)])
    with pytest.raises(InputError, match=r"must have label 7, got \[0, 1\]"):
        ic.rater_number_curve(masks(0, 3), label=7)
