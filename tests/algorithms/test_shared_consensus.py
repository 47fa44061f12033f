from __future__ import annotations

import numpy as np
import pytest
from coherence_reference import foreground_masks, probability
from hypothesis import assume, given
from scipy.stats import binom
from stacks import drawn_stacks, encode

from itk_consensus.algorithms.missed_lesions import missed_lesions, threshold_of_finders
from itk_consensus.algorithms.shared_consensus import shared_consensus
from itk_consensus.labels.decision_patterns import DecisionPatterns
from itk_consensus.labels.label_stack import LabelStack
from itk_consensus.labels.overlap import dice
from itk_consensus.labels.ties import UNDECIDED
from itk_consensus.simulation import STRUCTURE_SETTINGS, ellipsoid_mask


def encoded(raters: np.ndarray) -> DecisionPatterns:
    return DecisionPatterns.from_stack(LabelStack.binary(list(raters.astype(np.uint8)), 1.0))


@pytest.mark.parametrize(("detection", "raters"), [(0.45, 5), (0.8, 5), (0.6, 9), (0.9, 15)])
def test_the_number_of_finders_is_where_two_binomials_cross(detection, raters):
    threshold = threshold_of_finders(detection, raters)
    for finders in range(raters + 1):
        ratio = binom.pmf(finders, raters, detection) / binom.pmf(finders, raters, 1 / raters)
        assert (ratio > 1) == (finders > threshold)


def lesions(found_by: list[int], raters: int = 5) -> np.ndarray:
    """One disc per entry, drawn by that many raters who take turns."""
    stack = np.zeros((raters, 20, 20 * len(found_by)), bool)
    for index, finders in enumerate(found_by):
        disc = ellipsoid_mask(stack.shape[1:], (4, 4), (10, 20 * index + 10))
        for turn in range(finders):
            stack[(index + turn) % raters] |= disc
    return stack


def test_what_two_of_five_found_alike_is_added_where_raters_overlook_much():
    stack = lesions([2, 2, 3, 2, 3, 1])
    answer = np.zeros(stack.shape[1:], bool)
    found = missed_lesions(foreground_masks(stack), 1, answer)
    assert found.number == 5
    assert found.detection == pytest.approx(12 / 25)
    np.testing.assert_array_equal(found.mask, stack.sum(axis=0) > 1)


def test_what_two_of_five_found_is_not_added_where_raters_find_all_else():
    stack = lesions([5, 5, 5, 5, 2])
    found = missed_lesions(foreground_masks(stack), 1, stack.mean(axis=0) > 0.5)
    assert found.number == 0
    assert not found.mask.any()


def test_finders_who_drew_different_things_do_not_count():
    stack = np.zeros((5, 30, 30), bool)
    stack[0, 5:16, 5:16] = True
    stack[1, 14:25, 12:25] = True
    assert missed_lesions(foreground_masks(stack), 1, stack[4]).number == 0


def test_raters_who_did_not_look_did_not_overlook():
    stack = lesions([2, 2, 3])
    present = np.ones(stack.shape, bool)
    present[4] = False
    masks = foreground_masks(stack, present=present)
    assert missed_lesions(masks, 1, stack[4]).number == 0


def test_the_consensus_finds_what_most_overlook():
    gains = []
    for seed in range(6):
        case = STRUCTURE_SETTINGS["missed lesions .45"](seed)
        found = shared_consensus(encoded(case.raters), case.spacing)
        before = dice(found.coherence.decision == 1, case.truth)
        gains.append(dice(found.decision == 1, case.truth) - before)
        np.testing.assert_array_equal(probability(found, 1) >= 0.5, found.decision == 1)
    assert min(gains) >= 0
    assert np.mean(gains) > 0.03


def test_a_colluding_majority_counts_once():
    case = STRUCTURE_SETTINGS["colluding"](0)
    found = shared_consensus(encoded(case.raters), case.spacing)
    vote = case.raters.mean(axis=0) > 0.5
    assert found.groups == [[0, 1, 2], [3], [4]]
    assert dice(found.decision == 1, case.truth) > dice(vote, case.truth) + 0.05


@given(drawn_stacks(raters=(1, 6)))
def test_probabilities_are_probabilities_whatever_the_votes(drawn):
    patterns = encode(drawn)
    assume(patterns.number_of_voxels > 0 and patterns.present.any())
    found = shared_consensus(patterns, (1.0,) * drawn.present[0].ndim)
    shares = np.stack([probability(found, k) for k in range(patterns.number_of_labels)])
    assert ((shares >= 0) & (shares <= 1)).all()
    np.testing.assert_allclose(shares.sum(axis=0), 1, atol=1e-9)
    annotated = patterns.expand(patterns.present.any(axis=1), outside=False)
    np.testing.assert_array_equal(found.decision == UNDECIDED, ~annotated)
    if patterns.number_of_labels == 2:
        chosen = found.decision[annotated] == 1
        np.testing.assert_array_equal(probability(found, 1)[annotated] >= 0.5, chosen)


def test_quick_labels_are_reported_too():
    """A label that took less than a quarter of a second was not, nor a hundred of them."""
    rng = np.random.default_rng(7)
    patterns = DecisionPatterns.from_stack(
        LabelStack.multilabel([rng.integers(0, 9, (4, 5, 6), np.uint8) for _ in range(3)])
    )
    done = []
    shared_consensus(patterns, (1.0, 1.0, 1.0), progress=done.append)
    assert sum(share < 1 for share in done) >= 2 * patterns.number_of_labels - 1
    assert sum(share == 1 for share in done) >= patterns.number_of_labels - 1
    assert done == sorted(done)


@pytest.mark.parametrize("copies", [0, 1])
def test_reading_the_stack_changes_nothing_and_the_result_does_not_look_at_it(copies):
    rng = np.random.default_rng(5)
    truth = np.zeros((14, 24, 26), np.uint8)
    truth[3:9, 4:14, 5:20] = 3
    truth[6:12, 12:20, 8:16] = 7
    raters = [
        np.where(rng.random(truth.shape) < 0.1, np.roll(truth, shift, 1), truth)
        for shift in (-2, -1, 0, 1, 2)
    ]
    raters += [raters[0].copy() for _ in range(copies)]
    stack = LabelStack.multilabel(raters)
    patterns = DecisionPatterns.from_stack(stack)
    expected = shared_consensus(patterns, (1.0, 1.0, 1.0))
    done = []
    found = shared_consensus(patterns, (1.0, 1.0, 1.0), stack=stack, progress=done.append)
    for rater in raters:
        rater[...] = 0
    np.testing.assert_array_equal(found.decision, expected.decision)
    assert found.groups == expected.groups
    for label in range(3):
        np.testing.assert_array_equal(probability(found, label), probability(expected, label))
    assert done == sorted(done)
    assert done[-1] == 1
