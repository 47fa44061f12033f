from __future__ import annotations

import numpy as np
import pytest

from examples.simulation import (
    SLIP_SETTINGS,
    SLIPS,
    STRUCTURE_SETTINGS,
    class_imbalance_case,
    multilabel_raters,
)
from itk_consensus.fusing.near_copies import disagreements, near_copies
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.label_stack import LabelStack


def encoded(raters: np.ndarray) -> DecisionPatterns:
    return DecisionPatterns.from_stack(LabelStack.multilabel(list(raters.astype(np.uint8))))


def test_disagreements_are_shares_of_differing_voxels():
    raters = np.random.default_rng(0).integers(0, 3, (4, 9, 10))
    expected = [[(a != b).mean() for b in raters] for a in raters]
    np.testing.assert_allclose(disagreements(encoded(raters)), expected)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", ["15 raters", "organ 3D", "vessels 2D r1", "one inverted"])
def test_raters_who_err_on_their_own_are_not_copies(name, seed):
    raters = STRUCTURE_SETTINGS[name](seed).raters
    assert near_copies(encoded(raters)) == [[j] for j in range(len(raters))]


@pytest.mark.parametrize("number", [3, 4, 5, 8])
def test_copies_with_a_few_changed_voxels_are_found(number):
    raters = class_imbalance_case(22, 0).raters
    raters = np.concatenate([raters, class_imbalance_case(22, 1).raters])[:number]
    copy = raters[1] ^ (np.random.default_rng(0).random(raters[1].shape) < 0.0005)
    groups = near_copies(encoded(np.concatenate([raters, copy[None]])))
    assert groups == [[j, number] if j == 1 else [j] for j in range(number)]


def test_a_colluding_majority_is_one_rater():
    """Copies in which one voxel in twenty along the contour was changed are detected in nine of
    ten cases.
    """
    groups = [near_copies(encoded(STRUCTURE_SETTINGS["colluding"](s).raters)) for s in range(20)]
    assert np.mean([group == [[0, 1, 2], [3], [4]] for group in groups]) >= 0.8


def test_copies_of_many_labels_are_found():
    truth = np.random.default_rng(0).integers(0, 4, (30, 30))
    raters = multilabel_raters(truth, 4, 0)
    assert near_copies(encoded(np.stack([*raters, raters[2]]))) == [[0], [1], [2, 4], [3]]


def test_without_two_witnesses_nobody_is_a_copy():
    """With two raters, it is unknown who copied; for comparison, two others are needed who
    differ from each other.
    """
    drawn = STRUCTURE_SETTINGS["organ 3D"](0).raters
    assert near_copies(encoded(drawn[[0, 0]])) == [[0], [1]]
    assert near_copies(encoded(drawn[[0, 0, 1]])) == [[0], [1], [2]]
    assert near_copies(encoded(drawn[[0, 0, 1, 1]])) == [[0], [1], [2], [3]]
    assert near_copies(encoded(drawn[[0, 0, 1, 2]])) == [[0, 1], [2], [3]]


@pytest.mark.parametrize("slip", list(SLIPS))
def test_agreement_against_a_slip_is_no_copying(slip):
    for readers in (3, 4, 5):
        for seed in range(3):
            raters = SLIP_SETTINGS[f"{readers} readers, one {slip}"](seed).raters
            assert near_copies(encoded(raters)) == [[j] for j in range(readers)]


def test_empty_masks_are_nobodys_copies():
    raters = STRUCTURE_SETTINGS["organ 3D"](0).raters
    raters[:3] = False
    assert near_copies(encoded(raters)) == [[0], [1], [2], [3], [4]]
