from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from scipy.ndimage import distance_transform_cdt, gaussian_filter
from stacks import drawn_stacks, encode

from examples.simulation import (
    class_imbalance_case,
    contour_error_raters,
    disc_phantom,
    heterogeneous_raters,
)
from itk_consensus.methods.voting.corrected_vote import CorrectedVote, corrected_vote
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.label_stack import LabelStack


def corrected(patterns: DecisionPatterns, sigma: float, dimension: int = 2):
    return corrected_vote(patterns, sigma, (1.0,) * dimension)


def probability(vote: CorrectedVote, label: int) -> np.ndarray:
    return vote.tiles.share(label, unmixing=vote.inverse)


def encoded(raters: np.ndarray) -> DecisionPatterns:
    return DecisionPatterns.from_stack(LabelStack.binary(list(raters.astype(np.uint8)), 1.0))


@pytest.mark.parametrize("sigma", [0.7, 1.0, 2.0])
def test_two_labels_are_cut_midway_between_the_mean_shares_far_from_the_contour(sigma):
    raters = class_imbalance_case(22, 3).raters
    share = raters.mean(axis=0)
    smooth = gaussian_filter(share, sigma, mode="nearest")
    first = smooth > 0.5
    reach = int(4 * sigma + 0.5)
    edges = [distance_transform_cdt(side, "chessboard") > reach for side in (first, ~first)]
    means = [
        (share[far].sum() + 10 * share[side].mean()) / (far.sum() + 10)
        for far, side in zip(edges, (first, ~first), strict=True)
    ]
    ours = corrected(encoded(raters), sigma).decision() == 1
    split = (share > 0) & (share < 1)
    np.testing.assert_array_equal(ours[split], (smooth > sum(means) / 2)[split])
    np.testing.assert_array_equal(ours[~split], share[~split] == 1)


def test_contours_that_differ_without_noise_are_cut_at_half_of_the_votes():
    truth = disc_phantom(25, shape=(96, 96)).truth
    raters = contour_error_raters(truth, 5, 0)
    smooth = gaussian_filter(raters.mean(axis=0), 1.0, mode="nearest")
    result = corrected(encoded(raters), 1.0)
    np.testing.assert_allclose(result.mixing, np.eye(2), atol=0.01)
    assert np.mean((result.decision() == 1) != (smooth > 0.5)) < 1e-3


def test_the_probability_is_rogan_and_gladens_prevalence():
    raters = heterogeneous_raters(disc_phantom(12, shape=(48, 48)).truth, 2, [(0.8, 0.9)] * 5)
    result = corrected(encoded(raters), 1.0)
    votes = raters.mean(axis=0)
    share = gaussian_filter(votes, 1.0, mode="nearest")
    sensitivity, false_alarms = result.mixing[1, 1], result.mixing[1, 0]
    prevalence = (share - false_alarms) / (sensitivity - false_alarms)
    wanted = np.where((votes > 0) & (votes < 1), prevalence.clip(0, 1), votes)
    np.testing.assert_allclose(probability(result, 1), wanted, atol=1e-12)
    assert sensitivity == pytest.approx(0.8, abs=0.03)
    assert false_alarms == pytest.approx(0.1, abs=0.03)


def test_perfect_raters_are_left_as_they_are():
    truth = disc_phantom(8, shape=(32, 32)).truth
    result = corrected(encoded(np.stack([truth] * 3)), 0.0)
    np.testing.assert_array_equal(result.mixing, np.eye(2))
    np.testing.assert_array_equal(result.decision(), truth)


@given(drawn_stacks(raters=(2, 5)))
def test_probabilities_are_probabilities_whatever_the_votes(drawn):
    patterns = encode(drawn)
    assume(patterns.number_of_voxels > 0 and patterns.present.any())
    result = corrected(patterns, 1.0, drawn.present[0].ndim)
    inside = patterns.expand(np.ones(len(patterns.counts), bool), outside=False)
    shares = np.stack([probability(result, k) for k in range(patterns.number_of_labels)])
    assert ((shares >= 0) & (shares <= 1)).all()
    np.testing.assert_allclose(shares.sum(axis=0)[inside], 1, atol=1e-9)
    assert not shares[:, ~inside].any()


def test_labels_that_lose_everywhere_get_nothing():
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], 200).reshape(20, 20)
    raters = [np.where(rng.random(truth.shape) < 0.1, 2, truth) for _ in range(5)]
    patterns = DecisionPatterns.from_stack(LabelStack.multilabel(raters))
    result = corrected(patterns, 1.0)
    assert np.isnan(result.mixing[:, 2]).all()
    assert not probability(result, 2).any()
    np.testing.assert_array_equal(result.decision(), truth)


def test_three_labels_are_unmixed_by_the_inverse_of_their_mean_shares():
    rng = np.random.default_rng(1)
    truth = np.repeat([0, 1, 2], 400).reshape(30, 40)
    raters = [
        np.where(rng.random(truth.shape) < 0.35, rng.integers(0, 3, truth.shape), truth)
        for _ in range(5)
    ]
    patterns = DecisionPatterns.from_stack(LabelStack.multilabel(raters))
    result = corrected(patterns, 1.0)
    np.testing.assert_allclose(result.inverse @ result.mixing, np.eye(3), atol=1e-9)
    assert np.mean(result.decision() == truth) > 0.98


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_clean_background_around_an_image_changes_nothing_inside(seed):
    rng = np.random.default_rng(seed)
    truth = np.pad(disc_phantom(9, shape=(24, 24)).truth, 4)
    raters = heterogeneous_raters(truth, seed, [(0.7, 0.8)] * 5)
    # There is noise in one region only: its estimated rate must not depend on the amount of
    # background.
    raters &= rng.random(raters.shape) < 0.95
    near = np.pad(raters, ((0, 0), (9, 9), (9, 9)))
    wide = np.pad(near, ((0, 0), (30, 0), (50, 70)))
    inner = np.s_[30:, 50:-70]
    one, other = corrected(encoded(near), 1.0), corrected(encoded(wide), 1.0)
    np.testing.assert_allclose(other.mixing, one.mixing, atol=1e-12)
    np.testing.assert_array_equal(other.decision()[inner], one.decision())
    np.testing.assert_allclose(probability(other, 1)[inner], probability(one, 1), atol=1e-12)
    assert not other.decision()[:30].any()


@pytest.mark.parametrize("number", [2, 3, 5])
def test_what_all_raters_mark_is_never_lost_however_small(number):
    truth = np.zeros((20, 20, 20), bool)
    for place in ((3, 3, 3), (9, 14, 5), (15, 6, 12)):
        truth[tuple(slice(at, at + 2) for at in place)] = True
    raters = contour_error_raters(truth, number, 0, displacement=0.6, smoothness=2.0)
    raters |= truth
    found = corrected(encoded(raters), 1.0, 3)
    assert (found.decision()[truth] == 1).all()
    assert (probability(found, 1)[truth] == 1).all()
    assert not found.decision()[~raters.any(axis=0)].any()


def test_raters_who_did_not_annotate_a_voxel_do_not_break_its_unanimity():
    raters = np.zeros((3, 9, 9), np.uint8)
    raters[:, 4, 4] = 1
    raters[2, 4, 4] = 7
    raters[2, 0, :] = 7
    stack = LabelStack.multilabel(list(raters), missing_label=7)
    found = corrected_vote(DecisionPatterns.from_stack(stack), 1.5, (1.0, 1.0))
    assert found.decision()[4, 4] == 1
    assert (found.decision() == 1).sum() == 1
