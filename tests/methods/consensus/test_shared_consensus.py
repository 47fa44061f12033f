from __future__ import annotations

import numpy as np
import pytest
from coherence_reference import probability
from hypothesis import assume, given
from stacks import drawn_stacks, encode

from examples.simulation import (
    SLIP_SETTINGS,
    STRUCTURE_SETTINGS,
    contour_error_raters,
    ellipsoid_mask,
)
from itk_consensus.core.work import working
from itk_consensus.methods.consensus.shared_consensus import shared_consensus
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.label_stack import LabelStack
from itk_consensus.votes.overlap import dice
from itk_consensus.votes.ties import UNDECIDED


def encoded(raters: np.ndarray) -> DecisionPatterns:
    return DecisionPatterns.from_stack(LabelStack.binary(list(raters.astype(np.uint8)), 1.0))


def lesions(found_by: list[int], raters: int = 5) -> np.ndarray:
    """Return one disc per entry, drawn by that many raters, in rotation."""
    stack = np.zeros((raters, 20, 20 * len(found_by)), bool)
    for index, finders in enumerate(found_by):
        disc = ellipsoid_mask(stack.shape[1:], (4, 4), (10, 20 * index + 10))
        for turn in range(finders):
            stack[(index + turn) % raters] |= disc
    return stack


def consensus_of(stack: np.ndarray, spacing=None) -> np.ndarray:
    return shared_consensus(encoded(stack), spacing or (1.0,) * (stack.ndim - 1)).decision == 1


def test_what_two_of_five_found_alike_is_added_where_raters_overlook_much():
    stack = lesions([2, 2, 3, 2, 3, 1])
    found = shared_consensus(encoded(stack), (1.0, 1.0))
    assert len(found.voters[1].rescued) == 3
    np.testing.assert_array_equal(found.decision == 1, stack.sum(axis=0) > 1)


def test_what_two_of_five_found_is_not_added_where_raters_find_all_else():
    stack = lesions([5, 5, 5, 5, 2])
    np.testing.assert_array_equal(consensus_of(stack), stack.sum(axis=0) > 2)


def test_one_object_alone_tells_nothing_about_who_overlooks():
    """An object drawn by two of five raters is absent; drawn by a third one, it is present."""
    assert not consensus_of(lesions([2])).any()
    assert consensus_of(lesions([3])).any()


def test_finders_who_drew_different_things_do_not_count():
    stack = np.zeros((5, 30, 90), bool)
    for place in (0, 30, 60):
        stack[0, 5:16, place + 5 : place + 16] = True
        stack[1, 14:25, place + 12 : place + 25] = True
    stack[2:, 1, 1] = True
    assert shared_consensus(encoded(stack), (1.0, 1.0)).voters[1].found == ()


def test_raters_who_did_not_look_did_not_overlook():
    stack = lesions([2, 2, 3, 3]).astype(np.uint8)
    stack[4, :, :50] = 9
    patterns = DecisionPatterns.from_stack(LabelStack.multilabel(list(stack), missing_label=9))
    assert shared_consensus(patterns, (1.0, 1.0)).voters[1].found == ()


@pytest.mark.parametrize(("empty", "raters"), [(3, 5), (5, 7), (2, 3)])
def test_a_structure_that_a_majority_left_empty_is_absent(empty, raters):
    """The raters who agreed that nothing is there used to be classified as copies, counted once."""
    stack = np.zeros((raters, 40, 40), bool)
    stack[empty:] = ellipsoid_mask((40, 40), (9, 7))
    found = shared_consensus(encoded(stack), (1.0, 1.0))
    assert found.voters[1].absent
    assert not (found.decision == 1).any()
    assert probability(found, 1).max() < 0.5


def test_who_left_a_structure_empty_is_not_asked_about_its_outline():
    case = SLIP_SETTINGS["2 of 5 empty"](7)
    found = consensus_of(case.raters)
    finders = case.raters[2:].mean(axis=0) > 0.5
    assert dice(found, finders) > dice(case.raters[2:].all(axis=0), finders)
    assert dice(found, finders) > 0.97


@pytest.mark.parametrize("seed", range(3))
def test_two_good_readers_are_no_copies_where_the_third_is_inverted(seed):
    case = SLIP_SETTINGS["3 readers, one inverted"](seed)
    found = shared_consensus(encoded(case.raters), case.spacing)
    vote = case.raters.mean(axis=0) > 0.5
    assert found.groups == [[0], [1], [2]]
    assert found.voters[1].elsewhere == (0,)
    assert dice(found.decision == 1, case.truth) > dice(vote, case.truth)


def test_six_good_networks_that_agree_are_six_witnesses():
    case = SLIP_SETTINGS["ten networks"](0)
    found = shared_consensus(encoded(case.raters), case.spacing)
    assert max(map(len, found.groups)) == 1
    vote = case.raters.mean(axis=0) > 0.5
    assert dice(found.decision == 1, case.truth) > dice(vote, case.truth)


@pytest.mark.parametrize("raters", [2, 4, 10])
@pytest.mark.parametrize("seed", range(3))
def test_ties_keep_the_readers_volume(raters, seed):
    """With an even number of raters, the vote is too small if ties become background, and too large
    if they become foreground.
    """
    truth = ellipsoid_mask((24, 40, 40), (8, 13, 12))
    stack = contour_error_raters(truth, raters, seed, displacement=1.0, bias=0.5, smoothness=8.0)
    volume = np.count_nonzero(consensus_of(stack))
    votes = stack.sum(axis=0)
    assert np.count_nonzero(votes > raters / 2) < volume < np.count_nonzero(votes >= raters / 2)
    assert volume == pytest.approx(stack.sum() / raters, rel=0.06)


def test_the_consensus_finds_what_most_overlook():
    gains = []
    for seed in range(6):
        case = STRUCTURE_SETTINGS["missed lesions .45"](seed)
        found = shared_consensus(encoded(case.raters), case.spacing)
        vote = case.raters.mean(axis=0) > 0.5
        gains.append(dice(found.decision == 1, case.truth) - dice(vote, case.truth))
        np.testing.assert_array_equal(probability(found, 1) >= 0.5, found.decision == 1)
    assert min(gains) >= 0
    assert np.mean(gains) > 0.1


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
    """Labels that took less than a quarter of a second were not reported, even if there were
    hundreds.
    """
    rng = np.random.default_rng(7)
    patterns = DecisionPatterns.from_stack(
        LabelStack.multilabel([rng.integers(0, 9, (4, 5, 6), np.uint8) for _ in range(3)])
    )
    done = []
    with working(on_progress=done.append):
        shared_consensus(patterns, (1.0, 1.0, 1.0))
    # Each label is reported in four stages: raters used, disputed voxels, results and bounds.
    assert len(done) >= 4 * (patterns.number_of_labels - 1)
    assert done == sorted(done)
    assert done[-1] == 1


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
    with working(on_progress=done.append):
        found = shared_consensus(patterns, (1.0, 1.0, 1.0), stack=stack)
    for rater in raters:
        rater[...] = 0
    np.testing.assert_array_equal(found.decision, expected.decision)
    assert found.groups == expected.groups
    for label in range(3):
        np.testing.assert_array_equal(probability(found, label), probability(expected, label))
    assert done == sorted(done)
    assert done[-1] == 1


def test_raters_who_are_equally_far_go_together_or_stay():
    """Previously, the order of the raters determined which of them was used."""
    disc, other = (ellipsoid_mask((40, 80), (8, 8), (20, x)) for x in (20, 60))
    stack = np.stack([disc, disc, disc, other, other])
    for order in ([0, 1, 2, 3, 4], [3, 0, 4, 1, 2], [4, 3, 2, 1, 0]):
        found = shared_consensus(encoded(stack[order]), (1.0, 1.0))
        assert {order[j] for j in found.voters[1].elsewhere} in (set(), {3, 4})
        np.testing.assert_array_equal(found.decision == 1, disc)
