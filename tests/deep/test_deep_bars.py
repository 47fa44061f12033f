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
    assert difference(bar, "unlocked", "vote").min() > 0.08
    assert max(bar.figures["ECE"]) <= 0.1


def test_easy_phantoms_without_truth_beat_the_vote_and_show_the_outlier(bars):
    bar = bars.easy_without_truth([0], train=24, test=4, NumberOfIterations=50)
    assert difference(bar, "dice", "vote").min() > 0
    assert bar.figures["outlier_last"] == [1]


def test_hard_phantoms_with_truth_beat_the_vote(bars):
    bar = bars.hard_with_truth([0], train=40, test=4, NumberOfIterations=60)
    assert difference(bar, "dice", "vote").min() > 0


def test_hard_phantoms_without_truth_rate_the_worst_rater_last(bars):
    bar = bars.hard_without_truth([0], train=24, test=4, NumberOfIterations=30)
    assert bar.figures["worst_last"] == [1]
    assert min(bar.figures["Spearman"]) >= 0.7


@pytest.mark.filterwarnings("ignore::itk_consensus.errors.ConsensusWarning")  # it is that short
def test_volumes_with_truth_beat_staple(bars):
    bar = bars.volumes_with_truth([0], (24, 24, 24), 8, NumberOfIterations=30)
    assert difference(bar, "dice", "MultiLabelSTAPLE").min() > 0


def test_region_equals_full_on_disputed_voxels(bars):
    bar = bars.inference((24, 80, 72))
    assert bar.figures["largest_difference"] == [0]


def test_rater_order_files_and_repetition_change_nothing(bars):
    bar = bars.exactness()
    assert bar.figures["rater_order"][0] <= 1e-5
    assert bar.figures["save_and_load"] == [0]
    assert bar.figures["same_seed"] == [0]


# -- the full bars ---------------------------------------------------------------------------


@pytest.mark.slow
def test_bar_1_easy_with_truth(bars):
    bar = bars.easy_with_truth()
    assert np.mean(bar.figures["unlocked"]) >= 0.995
    assert max(bar.figures["ECE"]) <= 0.06


@pytest.mark.slow
def test_bar_2_easy_without_truth(bars):
    bar = bars.easy_without_truth()
    assert min(bar.figures["dice"]) >= 0.95
    assert bar.figures["outlier_last"] == [1, 1, 1]


@pytest.mark.slow
def test_bar_3_hard_with_truth(bars):
    bar = bars.hard_with_truth()
    assert min(bar.figures["dice"]) >= 0.92
    assert difference(bar, "dice", "vote").min() >= 0.02
    assert max(bar.figures["ECE"]) <= 0.05
    assert difference(bar, "dice_two_missing", "vote_two_missing").mean() >= 0.03
    assert difference(bar, "dice_unseen", "vote_unseen").mean() >= 0.005


@pytest.mark.slow
def test_bar_4_hard_without_truth(bars):
    bar = bars.hard_without_truth()
    gain = difference(bar, "dice", "vote")
    assert gain.min() > 0
    assert gain.mean() >= 0.01
    assert max(bar.figures["ECE"]) <= 0.08
    assert min(bar.figures["Spearman"]) >= 0.7
    assert bar.figures["worst_last"] == [1, 1, 1]


@pytest.mark.slow
def test_bar_5_volumes_with_truth(bars):
    bar = bars.volumes_with_truth()
    assert difference(bar, "dice", "vote").mean() >= 0
    assert difference(bar, "dice", "MultiLabelSTAPLE").mean() >= 0.04


@pytest.mark.slow
def test_bar_6_inference_of_a_large_volume(bars):
    assert bars.inference().figures["largest_difference"] == [0]
