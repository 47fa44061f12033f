"""Scores against several readers, checked by brute force."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import itk_consensus as ic
from itk_consensus.assessment.scoring.rules import (
    crps,
    energy_distance,
    plural_calibration_error,
    threshold_averaged_dice,
)
from itk_consensus.core.errors import GeometryError, InputError


def masks(rng, number, shape=(5, 6)):
    return [rng.random(shape) < rng.choice([0.0, 0.4]) for _ in range(number)]


def far(a, b):
    union = (a | b).sum()
    return 1 - (a & b).sum() / union if union else 0.0


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_the_energy_distance_is_that_of_all_pairs(seed):
    rng = np.random.default_rng(seed)
    samples, readers = masks(rng, 4), masks(rng, 3)
    brute = (
        2 * np.mean([far(s, r) for s in samples for r in readers])
        - np.mean([far(s, t) for s in samples for t in samples])
        - np.mean([far(r, q) for r in readers for q in readers])
    )
    assert energy_distance(samples, readers) == pytest.approx(brute)
    assert energy_distance(readers, readers) == pytest.approx(0)


@settings(max_examples=25, deadline=None)
@given(
    samples=st.lists(st.floats(-100, 100), min_size=1, max_size=20), observed=st.floats(-100, 100)
)
def test_crps_is_the_integral_of_the_squared_difference_of_distributions(samples, observed):
    steps = np.sort([*samples, observed])
    brute = 0.0
    for low, high in itertools.pairwise(steps):
        middle = (low + high) / 2
        below = np.mean(np.array(samples) <= middle)
        brute += (below - (observed <= middle)) ** 2 * (high - low)
    assert crps(samples, observed) == pytest.approx(brute, abs=1e-9)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_dice_is_averaged_over_nine_thresholds(seed):
    rng = np.random.default_rng(seed)
    share = np.mean(masks(rng, 10), axis=0)
    p = rng.random(share.shape).round(1)
    brute = []
    for tenth in range(1, 10):
        a = np.round(p * 10) >= tenth
        b = np.round(share * 10) >= tenth
        total = a.sum() + b.sum()
        brute.append(2 * (a & b).sum() / total if total else 1.0)
    assert threshold_averaged_dice(p, share) == pytest.approx(np.mean(brute))


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_the_calibration_error_is_that_of_bins(seed):
    rng = np.random.default_rng(seed)
    share = np.mean(masks(rng, 5, (9, 9)), axis=0)
    p = rng.random((9, 9)) * (rng.random((9, 9)) < 0.7)
    brute, number = 0.0, 0
    for low in np.arange(10) / 10:
        here = ((p >= 0.01) | (share > 0)) & (p >= low) & ((p < low + 0.1) | (low == 0.9))
        number += here.sum()
        if here.any():
            brute += here.sum() * abs(p[here].mean() - share[here].mean())
    assert plural_calibration_error(p, share) == pytest.approx(brute / number if number else 0.0)


def test_images_are_scored_as_their_arrays_and_readers_are_their_own_best_samples():
    readers = ic.sample_case()
    vote = ic.MajorityVoteFilter()
    vote.Execute(readers)
    share = vote.GetProbabilityImage(1)
    own = ic.score_against_readers(share, readers, readers)
    assert own.threshold_dice == 1
    assert own.calibration_error == pytest.approx(0, abs=1e-12)
    assert own.energy_distance == pytest.approx(0, abs=1e-12)
    consensus = ic.score_against_readers(share, readers, [vote.GetLabelImage()])
    samples = ic.score_against_readers(share, readers, ic.SampleSegmentations(vote, 16))
    # A single contour cannot represent the differences between readers; samples can.
    assert samples.energy_distance < consensus.energy_distance
    assert np.isnan(ic.score_against_readers(share, readers).energy_distance)
    with pytest.raises(InputError, match=r"probability must lie in \[0, 1\]"):
        ic.score_against_readers(2 * share, readers)
    moved = readers[0] + 0
    moved.SetOrigin((5, 5, 5))
    with pytest.raises(GeometryError, match="origin"):
        ic.score_against_readers(share, [moved])


def test_a_label_that_no_reader_has_and_what_is_no_label_are_refused():
    drawn = np.zeros((6, 7), np.uint8)
    drawn[2:4, 3:5] = 255
    with pytest.raises(
        InputError, match="readers: label 1 occurs in no input; the inputs hold 255"
    ):
        ic.score_against_readers(drawn / 255, [drawn, drawn])
    assert ic.score_against_readers(drawn / 255, [drawn, drawn], label=255).threshold_dice == 1
    for value in (0.5, np.nan):
        with pytest.raises(InputError, match="input 0 must hold whole-number labels"):
            ic.score_against_readers(drawn / 255, [np.where(drawn, value, 0)])
    nothing = np.zeros((6, 7), np.uint8)
    assert ic.score_against_readers(drawn / 255, [nothing]).threshold_dice < 1
