"""The margin of a case against brute force, and the guarantee for new cases by repetition."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.ndimage import distance_transform_edt
from scipy.stats import betabinom

from examples.simulation import level_case
from itk_consensus.calibration.conformal import conformal_rank, conformal_threshold
from itk_consensus.calibration.margins import (
    MarginOptions,
    label_margin,
    margin_scores,
    margin_sets,
)
from itk_consensus.calibration.probabilities import ProbabilityCase

OUTWARD = MarginOptions(0.1, "outward", 1.0, 1.0)
INWARD = replace(OUTWARD, direction="inward")
BOTH = replace(OUTWARD, direction="both")
SIDES = (3.0, 0.7, 1.1)


def masks(seed, shape=(6, 12, 13)):
    rng = np.random.default_rng(seed)
    pair = [np.zeros(shape, bool) for _ in range(2)]
    for mask in pair:
        low = [rng.integers(1, side // 2) for side in shape]
        high = [rng.integers(a + 1, side) for a, side in zip(low, shape, strict=True)]
        mask[tuple(slice(a, b) for a, b in zip(low, high, strict=True))] = True
        mask &= rng.random(shape) < 0.8
    return pair


def of_arrays(consensus, reference, spacing=SIDES):
    """Return a case with this consensus and reference."""
    return ProbabilityCase(
        (consensus.astype(float),), spacing, reference=reference.astype(np.uint16)
    )


@pytest.mark.parametrize("seed", range(8))
def test_the_margin_outward_is_the_largest_distance_of_the_reference_to_the_consensus(seed):
    consensus, reference = masks(seed)
    brute = distance_transform_edt(~consensus, sampling=SIDES)[reference].max()
    assert margin_scores(of_arrays(consensus, reference), OUTWARD).margins == (
        pytest.approx(brute, rel=1e-12),
    )


@pytest.mark.parametrize("seed", range(8))
def test_the_margin_inward_is_the_depth_of_what_is_not_in_the_reference(seed):
    consensus, reference = masks(seed)
    brute = distance_transform_edt(consensus, sampling=SIDES)[consensus & ~reference].max(initial=0)
    assert margin_scores(of_arrays(consensus, reference), INWARD).margins == (
        pytest.approx(brute, rel=1e-12),
    )
    both = margin_scores(of_arrays(consensus, reference), BOTH).margins[0]
    assert both == max(
        margin_scores(of_arrays(consensus, reference), one).margins[0] for one in (OUTWARD, INWARD)
    )


@pytest.mark.parametrize("direction", ["outward", "inward", "both"])
@pytest.mark.parametrize("share", [1.0, 0.99, 0.8])
@pytest.mark.parametrize("seed", range(4))
def test_a_case_is_covered_with_its_own_margin_and_no_smaller_one(seed, share, direction):
    """Checked on the label sets according to the definition."""
    consensus, reference = masks(seed)
    case = of_arrays(consensus, reference)
    options = replace(OUTWARD, direction=direction, covered_share=share)
    (margin,) = margin_scores(case, options).margins

    def is_covered(mm):
        background, foreground = margin_sets(case, options, [mm], (slice(None),) * 3)
        held = foreground[reference].mean() >= share - 1e-12
        wrong = (~background & ~reference).sum() / consensus.sum() <= 1 - share + 1e-12
        return (held or direction == "inward") and (wrong or direction == "outward")

    assert is_covered(margin)
    assert margin == 0 or not is_covered(np.nextafter(margin, 0))


def test_a_ratio_makes_the_margin_longer_along_the_patient():
    consensus, reference = np.zeros((2, 9, 9, 9), bool)
    consensus[4, 4, 4] = True
    reference[1, 4, 4] = True  # 3 slices away, i.e. 9 mm
    case = of_arrays(consensus, reference, (3.0, 1.0, 1.0))
    assert margin_scores(case, OUTWARD).margins == (9.0,)
    assert margin_scores(case, replace(OUTWARD, craniocaudal_ratio=2.0)).margins == (4.5,)
    turned = replace(case, craniocaudal_axis=1)
    assert margin_scores(turned, replace(OUTWARD, craniocaudal_ratio=2.0)).margins == (9.0,)
    sets = margin_sets(case, replace(OUTWARD, craniocaudal_ratio=2.0), [2.0], (slice(None),) * 3)
    # An ellipsoid with semi-axes of 2 mm and 4 mm.
    z, y, x = np.indices((9, 9, 9)) - 4
    np.testing.assert_array_equal(sets[1], (1.5 * z) ** 2 + y**2 + x**2 <= 4)


def test_nothing_covers_what_an_empty_consensus_lacks():
    nothing, something = np.zeros((2, 6, 12, 13), bool)
    something[2:4, 3:6, 3:6] = True
    assert margin_scores(of_arrays(nothing, something), OUTWARD).margins == (np.inf,)
    assert margin_scores(of_arrays(nothing, something), INWARD).margins == (0.0,)
    assert margin_scores(of_arrays(something, nothing), OUTWARD).margins == (0.0,)
    # The whole consensus is wrong: its centre is two voxels of 0.7 mm deep.
    assert margin_scores(of_arrays(something, nothing), INWARD).margins == (pytest.approx(1.4),)
    for options in (OUTWARD, INWARD, BOTH):
        assert margin_scores(of_arrays(nothing, nothing), options).margins == (0.0,)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), axis=st.integers(0, 2))
def test_margins_do_not_depend_on_where_the_image_ends_or_which_way_it_runs(seed, axis):
    consensus, reference = masks(seed)
    for options in (OUTWARD, BOTH):
        margin = label_margin(consensus, reference, SIDES, options)
        flipped = [np.flip(mask, axis) for mask in (consensus, reference)]
        assert label_margin(*flipped, SIDES, options) == margin
        padded = [np.pad(mask, 2) for mask in (consensus, reference)]
        assert label_margin(*padded, SIDES, options) == margin


# -- guarantees
# ------------------------------------------------------------------------------------

#: Families of cohorts, and the coverage that each margin guarantees.
FAMILIES = {
    "disc": ({}, OUTWARD),
    "lesions": ({"bias": 1.0}, replace(OUTWARD, covered_share=0.99)),
    "thick slices": ({}, replace(BOTH, craniocaudal_ratio=1.5)),
}
ALPHAS = (0.05, 0.1, 0.2)
SIZES = (20, 50)
TESTS = 10


def drawn_scores(family, cohorts):
    """Return (cohorts, cases) sufficient margins in repeated cohorts with seeds from 3000 on."""
    more, options = FAMILIES[family]
    scores = np.empty((cohorts, max(SIZES) + TESTS))
    for place in np.ndindex(scores.shape):
        seed = 3000 + np.ravel_multi_index(place, scores.shape)
        truth, members, spacing = level_case(seed, family, members=3, **more)
        case = ProbabilityCase((members.mean(axis=0),), spacing, reference=truth.astype(np.uint16))
        scores[place] = margin_scores(case, options).margins[0]
    return scores


@pytest.mark.parametrize(
    ("cohorts", "worth"),
    [(6, 6), pytest.param(40, 500, marks=pytest.mark.slow)],
    ids=["fast", "full"],
)
@pytest.mark.parametrize("family", FAMILIES)
def test_cases_are_covered_as_often_as_exchangeable_ones_are(family, cohorts, worth):
    """The number of covered cases among 10 others follows BetaBinomial(10, k, n + 1 - k).

    Each group of ten among a cohort's sixty cases in turn serves as the others. For exchangeable
    scores, the variance of the mean over these groups is 1/14 (n = 20, alpha = .05) to 1/80 of the
    variance for a single group, so 40 cohorts are as informative as 500 with a single group each.
    The mean over cohorts must be within 3.3 standard errors for 500 cohorts; any of the 18 means
    of the full test would exceed this limit by chance in one of 50 runs of the test.
    """
    scores = drawn_scores(family, cohorts)
    for alpha in ALPHAS:
        for n in SIZES:
            rank = conformal_rank(alpha, n)
            law = betabinom(TESTS, rank, n + 1 - rank)
            turns = [np.roll(scores, by, axis=1) for by in range(0, scores.shape[1], TESTS)]
            covered = [
                np.count_nonzero(row[-TESTS:] <= conformal_threshold(row[:n].tolist(), alpha))
                for row in np.concatenate(turns)
            ]
            error = law.std() / worth**0.5
            assert abs(np.mean(covered) - law.mean()) <= 3.3 * error, (alpha, n)


def test_the_law_would_notice_a_margin_that_promises_too_much():
    """Control: with a rank that is too low by two cases, the mean exceeds the limits."""
    rng = np.random.default_rng(0)
    n, alpha, cohorts = 50, 0.1, 500
    rank = conformal_rank(alpha, n)
    scores = np.sort(rng.random((cohorts, n)), axis=1)
    covered = (rng.random((cohorts, TESTS)) <= scores[:, [rank - 3]]).sum(axis=1)
    law = betabinom(TESTS, rank, n + 1 - rank)
    assert law.mean() - covered.mean() > 3.3 * law.std() / cohorts**0.5
