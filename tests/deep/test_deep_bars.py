"""The bars of the specification: a smoke version of each, and the full ones marked slow."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")


def difference(bar, better, worse):
    return np.subtract(bar.figures[better], bar.figures[worse])


# -- smoke: one seed, few cases, a short training --------------------------------------------


def test_easy_phantoms_with_truth_beat_the_vote_by_far(bars):
    bar = bars.easy_with_truth([0], train=24, test=4, NumberOfIterations=50)
    assert difference(bar, "Dice_unlocked", "vote").min() > 0.08
    assert max(bar.figures["ECE"]) <= 0.1


def test_easy_phantoms_without_truth_beat_the_vote_and_show_the_outlier(bars):
    bar = bars.easy_without_truth([0], train=24, test=4, NumberOfIterations=50)
    assert difference(bar, "Dice", "vote").min() > 0
    assert bar.figures["outlier_is_last"] == [1]


def test_hard_phantoms_with_truth_beat_the_vote(bars):
    bar = bars.hard_with_truth([0], train=40, test=4, NumberOfIterations=60)
    assert difference(bar, "Dice", "vote").min() > 0


def test_hard_phantoms_without_truth_rate_the_worst_rater_last(bars):
    bar = bars.hard_without_truth([0], train=24, test=4, NumberOfIterations=30)
    assert bar.figures["worst_is_last"] == [1]
    assert min(bar.figures["Spearman"]) >= 0.7


@pytest.mark.filterwarnings("ignore::itk_consensus.errors.ConsensusWarning")  # it is that short
def test_volumes_with_truth_beat_staple(bars):
    bar = bars.volumes_with_truth([0], (24, 24, 24), 8, NumberOfIterations=30)
    assert min(bar.figures["gain_over_STAPLE"]) > 0


def test_region_equals_full_on_disputed_voxels(bars):
    assert bars.inference((24, 80, 72)).figures["region_against_full"] == [0]


def test_rater_order_files_and_repetition_change_nothing(bars):
    assert bars.exactness().missed() == []


# -- the full bars ---------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "bar",
    [
        "easy_with_truth",
        "easy_without_truth",
        "hard_with_truth",
        "hard_without_truth",
        "volumes_with_truth",
        "inference",
    ],
)
def test_every_requirement_of_a_full_bar_is_met(bars, bar):
    assert getattr(bars, bar)().missed() == []
