from __future__ import annotations

import numpy as np
import pytest

from itk_consensus.algorithms.near_copies import disagreements, near_copies
from itk_consensus.labels.decision_patterns import DecisionPatterns
from itk_consensus.labels.label_stack import LabelStack
from itk_consensus.simulation import STRUCTURE_SETTINGS, class_imbalance_case, multilabel_raters


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
    """Copies whose contours changed in one voxel of twenty: found in nine cases of ten."""
    groups = [near_copies(encoded(STRUCTURE_SETTINGS["colluding"](s).raters)) for s in range(20)]
    assert np.mean([group == [[0, 1, 2], [3], [4]] for group in groups]) >= 0.8


def test_copies_of_many_labels_are_found_and_two_raters_are_no_copies():
    truth = np.random.default_rng(0).integers(0, 4, (30, 30))
    raters = multilabel_raters(truth, 4, 0)
    assert near_copies(encoded(np.stack([*raters, raters[2]]))) == [[0], [1], [2, 4], [3]]
    assert near_copies(encoded(np.stack([raters[0], raters[0]]))) == [[0], [1]]


def test_errors_that_are_zero_but_for_rounding_make_no_copies():
    # d_01 + d_03 = d_13 in voxels: nobody erred, whatever shares of 15 or of 19 voxels round to.
    raters = np.array(
        [
            [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 1, 1],
            [0, 0, 0, 1, 0, 1, 1, 1, 1, 1, 0, 1, 1],
            [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 1, 1],
            [1, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 1, 1],
        ]
    )
    for width in range(1, 12):
        padded = np.pad(raters, ((0, 0), (width, width)))
        assert near_copies(encoded(padded)) == [[0], [1], [2], [3]]
