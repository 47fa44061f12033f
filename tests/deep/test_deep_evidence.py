"""What the README says of DeepConsensusFilter: each claim in a quick version, and in full."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")


def difference(measured, better, worse):
    return np.subtract(measured.figures[better], measured.figures[worse])


# -- smoke: one seed, few cases, a short training --------------------------------------------


def test_easy_phantoms_with_truth_beat_the_vote_by_far(evidence):
    measured = evidence.easy_with_truth([0], train=24, test=4, NumberOfIterations=50)
    assert difference(measured, "Dice_unlocked", "vote").min() > 0.08
    assert max(measured.figures["ECE"]) <= 0.1


def test_easy_phantoms_without_truth_beat_the_vote_and_show_the_outlier(evidence):
    measured = evidence.easy_without_truth([0], train=24, test=4, NumberOfIterations=50)
    assert difference(measured, "Dice", "vote").min() > 0
    assert measured.figures["outlier_is_last"] == [1]


def test_hard_phantoms_with_truth_beat_the_vote(evidence):
    measured = evidence.hard_with_truth([0], train=40, test=4, NumberOfIterations=60)
    assert difference(measured, "Dice", "vote").min() > 0


def test_hard_phantoms_without_truth_rate_the_worst_rater_last(evidence):
    measured = evidence.hard_without_truth([0], train=24, test=4, NumberOfIterations=30)
    assert measured.figures["worst_is_last"] == [1]
    assert min(measured.figures["Spearman"]) >= 0.7


@pytest.mark.filterwarnings("ignore::itk_consensus.errors.ConsensusWarning")  # it is that short
def test_volumes_with_truth_beat_staple(evidence):
    measured = evidence.volumes_with_truth([0], (24, 24, 24), 8, NumberOfIterations=30)
    assert min(measured.figures["gain_over_STAPLE"]) > 0


def test_region_equals_full_on_disputed_voxels(evidence):
    assert evidence.inference((24, 80, 72)).figures["region_against_full"] == [0]


def test_rater_order_files_and_repetition_change_nothing(evidence):
    assert evidence.exactness().missed() == []


# -- everything -------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "measured",
    [
        "easy_with_truth",
        "easy_without_truth",
        "hard_with_truth",
        "hard_without_truth",
        "volumes_with_truth",
        "inference",
    ],
)
def test_every_requirement_is_met(evidence, measured):
    assert getattr(evidence, measured)().missed() == []
