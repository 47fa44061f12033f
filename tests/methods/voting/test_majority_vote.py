from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.ndimage import gaussian_filter
from stacks import Drawn, drawn_stacks, encode

from itk_consensus.methods.voting.majority_vote import majority_vote
from itk_consensus.methods.voting.smoothed_vote import SmoothedVote, smoothed_vote
from itk_consensus.votes.ties import BACKGROUND, TIE_RULES, UNDECIDED

stacks = drawn_stacks(raters=(1, 5), most_labels=4)


def count(row: np.ndarray, labels: int, weights: list[int]) -> list[int]:
    votes = [0] * labels
    for digit, weight in zip(row, weights, strict=True):
        if digit < labels:
            votes[digit] += weight
    return votes


def vote_one(votes: list[int], rule: str, frequencies: list[int], threshold: float | None) -> int:
    """Vote by a reference implementation of the rule, with integers."""
    nobody = BACKGROUND if rule == "background" else UNDECIDED
    total = sum(votes)
    if total == 0:
        return nobody
    best = max(votes)
    if threshold is not None and not best > threshold * total:
        return nobody
    tied = [label for label, number in enumerate(votes) if number == best]
    if len(tied) == 1 or rule == "lowest":
        return tied[0]
    if rule == "highest":
        return tied[-1]
    if rule == "prior":
        return max(tied, key=lambda label: frequencies[label])
    return nobody


@given(
    stacks,
    st.sampled_from(TIE_RULES),
    st.sampled_from([None, 0.0, 0.25, 0.5, 0.75, 1.0]),
    st.lists(st.integers(0, 4), min_size=5, max_size=5),
)
def test_votes_are_counted_and_decided_voxel_by_voxel(
    drawn: Drawn, rule: str, threshold: float | None, weights: list[int]
) -> None:
    patterns = encode(drawn)
    weights = weights[: len(drawn.arrays)]
    digits = drawn.digits()
    inside = np.ones(len(digits), bool) if drawn.mask is None else (drawn.mask != 0).ravel()
    votes = [count(row, len(drawn.labels()), weights) for row in digits[inside]]
    frequencies = np.sum(votes, axis=0) if votes else np.zeros(1)
    assume(frequencies.sum() > 0)
    result = majority_vote(
        patterns, weights=np.array(weights, float), threshold=threshold, ties=rule
    )
    expected = [vote_one(row, rule, frequencies.tolist(), threshold) for row in votes]
    decision = patterns.expand(result.decision, outside=-9).ravel()[inside]
    assert decision.tolist() == expected
    np.testing.assert_allclose(result.frequencies, frequencies / frequencies.sum())
    for label in range(len(drawn.labels())):
        share = patterns.expand(result.probabilities[:, label].copy()).ravel()[inside]
        wanted = [
            row[label] / sum(row) if sum(row) else frequencies[label] / frequencies.sum()
            for row in votes
        ]
        np.testing.assert_allclose(share, wanted, rtol=1e-12)


@given(stacks)
def test_unanimous_voxels_keep_their_label_under_every_rule(drawn: Drawn) -> None:
    patterns = encode(drawn)
    assume(patterns.present.any())
    agreed = patterns.unanimous
    labels = np.where(patterns.present, patterns.patterns.astype(int), -1).max(axis=1)
    for rule in TIE_RULES:
        decision = majority_vote(patterns, ties=rule).decision
        np.testing.assert_array_equal(decision[agreed], labels[agreed])


@given(stacks, st.floats(0.01, 100))
def test_equal_weights_weigh_nothing(drawn: Drawn, weight: float) -> None:
    patterns = encode(drawn)
    assume(patterns.present.any())
    weights = np.full(patterns.number_of_raters, weight)
    plain, weighted = majority_vote(patterns), majority_vote(patterns, weights=weights)
    np.testing.assert_array_equal(plain.decision, weighted.decision)
    np.testing.assert_allclose(plain.probabilities, weighted.probabilities, rtol=1e-12)


def test_weights_that_tie_on_paper_tie() -> None:
    """0.1 + 0.2 and 0.3 are equal, but not in floating point."""
    arrays = [np.array([1]), np.array([1]), np.array([2])]
    patterns = encode(Drawn(arrays))
    result = majority_vote(patterns, weights=np.array([0.1, 0.2, 0.3]))
    assert result.decision.tolist() == [UNDECIDED]


def test_a_threshold_must_be_exceeded_not_met() -> None:
    arrays = [np.array([1, 1]), np.array([1, 0]), np.array([0, 0]), np.array([1, 1])]
    patterns = encode(Drawn(arrays))
    half = majority_vote(patterns, threshold=0.5, ties="background")
    assert patterns.expand(half.decision).tolist() == [1, BACKGROUND]
    three_quarters = majority_vote(patterns, threshold=0.75, ties="background")
    assert patterns.expand(three_quarters.decision).tolist() == [BACKGROUND, BACKGROUND]


def test_one_in_three_and_two_thirds_are_met_not_exceeded_despite_rounding() -> None:
    patterns = encode(Drawn([np.array([1]), np.array([1]), np.array([0])]))
    assert majority_vote(patterns, threshold=2 / 3).decision.tolist() == [UNDECIDED]


# -- smoothed ---------------------------------------------------------------------------------


def smooth(volume: np.ndarray, sigma: float, spacing: tuple[float, ...]) -> np.ndarray:
    sigmas = [sigma / size for size in spacing]
    if volume.ndim == 4:
        sigmas[0] = 0.0
    return gaussian_filter(volume, sigmas, mode="nearest", truncate=4.0)


def smoothed(drawn: Drawn, sigma: float, spacing: tuple[float, ...], **more) -> SmoothedVote:
    return smoothed_vote(encode(drawn), sigma, spacing, **more)


@st.composite
def blobs(draw: st.DrawFn) -> tuple[Drawn, tuple[float, ...]]:
    """Draw a few boxes of labels in a larger background, as in a clinical image."""
    dimension = draw(st.integers(1, 4))
    shape = tuple(
        draw(st.integers(3, {1: 60, 2: 24, 3: 12, 4: 6}[dimension])) for _ in range(dimension)
    )
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    arrays = []
    for _ in range(draw(st.integers(1, 4))):
        array = np.zeros(shape, np.uint8)
        for label in range(1, draw(st.integers(1, 3)) + 1):
            low = [int(rng.integers(0, size)) for size in shape]
            array[tuple(slice(a, a + int(rng.integers(1, 5))) for a in low)] = label
        arrays.append(array)
    mask = rng.random(shape) < 0.7 if draw(st.booleans()) else None
    if mask is not None:
        mask.flat[0] = True
    spacing = tuple(draw(st.sampled_from([0.4, 1.0, 2.5])) for _ in shape)
    return Drawn(list(arrays), mask=mask), spacing


@given(blobs(), st.sampled_from([0.2, 1.0, 2.3]))
def test_smoothing_the_region_equals_smoothing_everything(built: tuple, sigma: float) -> None:
    drawn, spacing = built
    vote = smoothed(drawn, sigma, spacing)
    mask = np.ones(drawn.present[0].shape) if drawn.mask is None else drawn.mask.astype(float)
    weight = smooth(mask, sigma, spacing) if drawn.mask is not None else mask
    for index, label in enumerate(drawn.labels()):
        share = np.mean([array == label for array in drawn.present], axis=0) * mask
        wanted = np.where(mask > 0, smooth(share, sigma, spacing) / np.maximum(weight, 1e-300), 0)
        np.testing.assert_allclose(vote.tiles.share(index), wanted, atol=1e-12)


@given(blobs(), st.sampled_from([0.7, 1.5]), st.sampled_from([None, 0.4]))
def test_the_smoothed_decision_is_the_largest_smoothed_share(
    built: tuple, sigma: float, threshold: float | None
) -> None:
    drawn, spacing = built
    vote = smoothed(drawn, sigma, spacing, threshold=threshold)
    shares = np.stack([vote.tiles.share(k) for k in range(len(drawn.labels()))], axis=-1)
    decision = vote.decision()
    inside = np.ones(decision.shape, bool) if drawn.mask is None else drawn.mask
    assert (decision[~inside] == BACKGROUND).all()
    ordered = np.sort(np.append(shares, np.zeros((*decision.shape, 1)), axis=-1), axis=-1)
    clear = inside & (ordered[..., -1] - ordered[..., -2] > 1e-9)
    enough = clear
    if threshold is not None:
        enough = clear & (ordered[..., -1] > threshold + 1e-9)
        below = clear & (ordered[..., -1] < threshold - 1e-9)
        assert (decision[below] == UNDECIDED).all()
    np.testing.assert_array_equal(decision[enough], shares.argmax(axis=-1)[enough])


@given(blobs(), st.sampled_from([0.2, 1.0, 2.3]))
def test_smoothed_shares_stay_probabilities(built: tuple, sigma: float) -> None:
    drawn, spacing = built
    vote = smoothed(drawn, sigma, spacing)
    shares = np.stack([vote.tiles.share(k) for k in range(len(drawn.labels()))])
    inside = np.ones(shares.shape[1:], bool) if drawn.mask is None else drawn.mask
    assert (shares >= 0).all()
    assert (shares <= 1).all()
    np.testing.assert_allclose(shares.sum(axis=0)[inside], 1, rtol=1e-12)
    assert not shares[:, ~inside].any()


def test_volumes_of_a_4d_image_are_smoothed_apart() -> None:
    array = np.zeros((3, 5, 5, 5), np.uint8)
    array[1, 2, 2, 2] = 1
    vote = smoothed(Drawn([array]), 1.0, (1.0,) * 4)
    probability = vote.tiles.share(1)
    assert probability[1].all()
    assert not probability[[0, 2]].any()


def test_anisotropic_spacing_smooths_fewer_voxels_across() -> None:
    array = np.zeros((9, 9), np.uint8)
    array[4, 4] = 1
    probability = smoothed(Drawn([array]), 1.0, (3.0, 1.0)).tiles.share(1)
    assert probability[4, 5] > 3 * probability[5, 4]


@pytest.mark.parametrize("sigma", [0.5, 2.0])
def test_a_constant_vote_is_unchanged_by_smoothing(sigma: float) -> None:
    drawn = Drawn([np.ones((4, 5), np.uint8), np.zeros((4, 5), np.uint8)])
    vote = smoothed(drawn, sigma, (1.0, 1.0))
    assert (vote.tiles.share(1) == 0.5).all()
    assert (vote.decision() == UNDECIDED).all()


def test_a_vote_of_many_raters_makes_no_real_of_every_vote():
    votes = np.random.default_rng(4).integers(0, 2, (60, 80_000)).astype(np.uint8)
    patterns = encode(Drawn(list(votes)))
    tracemalloc.start()
    try:
        majority_vote(patterns)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4 * patterns.patterns.size
