"""Shape-based averaging against distances averaged over whole volumes, rater by rater."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.ndimage import distance_transform_edt, gaussian_filter
from scipy.stats import trim_mean
from stacks import Drawn, encode

from examples.simulation import ellipsoid_mask, noisy_organs_case
from itk_consensus.methods.shape.contour_average import (
    ShapeAverage,
    shape_based_average,
)
from itk_consensus.methods.shape.mean_distances import AveragingSettings
from itk_consensus.methods.staple.staple import MULTILABEL, staple
from itk_consensus.votes.overlap import dice
from itk_consensus.votes.ties import UNDECIDED

MODULE = "itk_consensus.methods.shape"


def distances(average: ShapeAverage, label: int) -> np.ndarray:
    """Return (N,) distances; infinite for labels that are absent or too far away to have an
    effect.
    """
    whole = np.full(len(average.decision), np.inf, np.float32)
    members, near = average.means.near(label)
    whole[members] = near
    return whole


def all_distances(average: ShapeAverage) -> np.ndarray:
    labels = range(average.voxels.patterns.number_of_labels)
    return np.array([distances(average, label) for label in labels])


def label_map(average: ShapeAverage) -> np.ndarray:
    decision = average.voxels.patterns.expand(average.vote.decision.astype(np.int32))
    average.voxels.write(average.decision, decision)
    return decision


def averaged(arrays: list, spacing: tuple[float, ...], **more) -> np.ndarray:
    return label_map(shape_based_average(encode(Drawn(arrays)), AveragingSettings(spacing, **more)))


def nearest(there: np.ndarray, spacing: tuple[float, ...]) -> np.ndarray:
    if not there.any():
        return np.full(there.shape, np.inf)
    return distance_transform_edt(~there, sampling=spacing)


def distances_over_whole_volume(drawn: Drawn, spacing: tuple[float, ...]) -> np.ndarray:
    """Return (K, *shape) mean distances, with the rule for labels that a rater did not draw."""
    shape = drawn.present[0].shape
    digits = drawn.digits().T.reshape(-1, *shape)
    inside = np.ones(shape, bool) if drawn.mask is None else drawn.mask
    labels = len(drawn.labels())
    means = []
    for label in range(labels):
        signed = []
        for said in digits:
            known = inside & (said < labels)
            says, denies = known & (said == label), known & (said != label)
            distance = np.where(says, -nearest(denies, spacing), nearest(says, spacing))
            signed.append(np.where(known, distance, np.nan))
        means.append(mean_with_bound(np.array(signed)))
    return np.array(means)


def mean_with_bound(signed: np.ndarray) -> np.ndarray:
    finite = np.where(np.isfinite(signed), np.abs(signed), -1.0).max(axis=0)
    anybody = (signed == -np.inf).any(axis=0)
    bound = np.where(finite >= 0, finite, np.where(anybody, 1.0, np.inf))
    bounded = np.where(np.isinf(signed), np.sign(signed) * bound, signed)
    count = (~np.isnan(signed)).sum(axis=0)
    total = np.where(np.isnan(bounded), 0.0, bounded).sum(axis=0)
    return np.divide(total, count, out=np.full(total.shape, np.inf), where=count > 0)


@st.composite
def blobs(draw: st.DrawFn) -> tuple[Drawn, tuple[float, ...]]:
    """Draw raters of smooth or noisy label maps, with some labels, voxels or raters missing."""
    shape = draw(st.sampled_from([(17,), (11, 14), (6, 8, 9)]))
    labels = draw(st.integers(2, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sigma = draw(st.sampled_from([0.0, 1.5, 3.0]))
    common = [gaussian_filter(rng.standard_normal(shape), sigma) for _ in range(labels)]
    common[0] = common[0] + draw(st.sampled_from([0.0, 0.3]))
    arrays: list = []
    for _ in range(draw(st.integers(2, 4))):
        own = [gaussian_filter(rng.standard_normal(shape), sigma) for _ in range(labels)]
        arrays.append(np.argmax(np.array(common) + 0.5 * np.array(own), axis=0).astype(np.uint8))
    gaps = draw(st.booleans())
    rater_masks = [(rng.random(shape) < 0.8) for _ in arrays] if gaps else None
    mask = None
    if draw(st.booleans()):
        mask = rng.random(shape) < 0.8
        mask.flat[0] = True
    spacing = tuple(draw(st.sampled_from([0.5, 1.0, 3.0])) for _ in shape)
    return Drawn(arrays, None, mask, rater_masks), spacing


def assert_equals_whole_volume(drawn: Drawn, spacing: tuple[float, ...]) -> None:
    average = shape_based_average(encode(drawn), AveragingSettings(spacing))
    whole = distances_over_whole_volume(drawn, spacing)
    expected = np.array([average.voxels.take(d[average.voxels.region]) for d in whole])
    winner = expected.min(axis=0, initial=np.inf)
    distances = all_distances(average)
    best = distances.min(axis=0, initial=np.inf)
    np.testing.assert_allclose(best, winner, rtol=1e-5, atol=1e-5)
    # Distances that are not computed exceed a margin, and are never the smallest.
    known = np.isfinite(distances)
    np.testing.assert_allclose(distances[known], expected[known], rtol=1e-5, atol=1e-5)
    clear = (expected <= winner + 1e-3).sum(axis=0) == 1
    np.testing.assert_array_equal(average.decision[clear], expected.argmin(axis=0)[clear])


@settings(max_examples=60)
@given(blobs())
def test_the_region_gives_what_the_whole_volume_gives(case):
    assert_equals_whole_volume(*case)


@settings(max_examples=40)
@given(blobs())
def test_labels_far_from_a_voxel_are_tried_when_none_is_near(case):
    with pytest.MonkeyPatch.context() as patch:
        for name in ("NEAR_SIDES", "FAR_SIDES"):
            patch.setattr(f"{MODULE}.contour_average.{name}", 0.3)
        assert_equals_whole_volume(*case)


@settings(max_examples=20)
@given(blobs())
def test_several_passes_give_what_one_pass_gives(case):
    drawn, spacing = case
    wanted = AveragingSettings(spacing, trim_fraction=0.1)
    once = shape_based_average(encode(drawn), wanted)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(f"{MODULE}.mean_distances._VOLUMES_KEPT", 1)
        again = shape_based_average(encode(drawn), wanted)
    np.testing.assert_array_equal(all_distances(once), all_distances(again))


def discs(*radii: float, shape: tuple[int, int] = (41, 41)) -> list[np.ndarray]:
    return [ellipsoid_mask(shape, (radius, radius)).astype(np.uint8) for radius in radii]


def test_the_average_of_discs_has_their_mean_radius():
    small, large = discs(6, 14)
    (between,) = discs(10)
    assert dice(averaged([small, large], (1.0, 1.0), tie_rule="lowest"), between) > 0.97


def test_one_wild_contour_moves_a_trimmed_mean_less():
    arrays = discs(10, 10.3, 9.7, 10, 20)
    plain = averaged(arrays, (1.0, 1.0))
    trimmed = averaged(arrays, (1.0, 1.0), trim_fraction=0.2)
    (truth,) = discs(10)
    assert dice(plain, truth) < 0.9 < 0.97 < dice(trimmed, truth)


def test_the_trimmed_mean_is_scipys():
    rng = np.random.default_rng(0)
    arrays = [
        (gaussian_filter(rng.standard_normal((20, 20)), 2) > 0).astype(np.uint8) for _ in range(10)
    ]
    average = shape_based_average(
        encode(Drawn(arrays)), AveragingSettings((1.0, 2.0), trim_fraction=0.2)
    )
    signed = [
        np.where(a == 1, -nearest(a == 0, (1.0, 2.0)), nearest(a == 1, (1.0, 2.0))) for a in arrays
    ]
    expected = average.voxels.take(trim_mean(signed, 0.2)[average.voxels.region])
    np.testing.assert_allclose(distances(average, 1), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("trim", [0.0, 0.25])
def test_a_rater_of_weight_two_counts_like_two_raters(trim):
    a, b, c = discs(6, 9, 13)
    doubled = averaged([a, b, c, c], (1.0, 1.5), trim_fraction=trim)
    weights = np.array([1.0, 1.0, 2.0])
    np.testing.assert_array_equal(
        averaged([a, b, c], (1.0, 1.5), weights=weights, trim_fraction=trim), doubled
    )


def test_a_rater_of_weight_zero_is_not_there():
    a, b, c = discs(6, 9, 13)
    weights = np.array([1.0, 1.0, 0.0])
    np.testing.assert_array_equal(
        averaged([a, b, c], (1.0, 1.0), weights=weights), averaged([a, b], (1.0, 1.0))
    )


def test_a_rater_who_drew_nothing_has_one_voice_of_five():
    (drawn,) = discs(6)
    nothing = np.zeros_like(drawn)
    found = averaged([drawn] * 4 + [nothing], (1.0, 1.0))
    assert dice(found, drawn) == 1.0
    assert averaged([drawn] + [nothing] * 4, (1.0, 1.0)).sum() == 0


def test_contours_move_by_mm_not_by_voxels():
    # The contours are 2 slices of 5 mm apart in one direction, and 6 columns of 1 mm in the other.
    first, second = np.zeros((2, 12, 12), np.uint8)
    first[:6, :6], second[:8] = 1, 1
    by_mm = averaged([first, second], (5.0, 1.0), tie_rule="lowest")
    by_voxels = averaged([first, second], (1.0, 1.0), tie_rule="lowest")
    # At (5, 6) the first contour is 1 mm away; the second is 3 voxels away, which are 15 mm.
    assert by_mm[5].sum() > by_voxels[5].sum() > 6


def test_two_raters_equally_far_on_both_sides_are_undecided():
    first, second = np.zeros((2, 9), np.uint8)
    first[:4], second[:5] = 1, 1
    assert averaged([first, second], (1.0,)).tolist() == [1] * 4 + [UNDECIDED] + [0] * 4
    assert averaged([first, second], (1.0,), tie_rule="background").tolist()[4] == -2


def test_in_4d_every_volume_stands_for_itself():
    rng = np.random.default_rng(5)
    fields = gaussian_filter(rng.standard_normal((3, 2, 6, 7, 8)), (0, 0, 1, 1, 1))
    arrays = [(field > 0.05).astype(np.uint8) for field in fields]
    arrays[0][1] = 0
    together = averaged(arrays, (9.0, 2.0, 1.0, 1.0))
    apart = [averaged([a[k] for a in arrays], (2.0, 1.0, 1.0)) for k in range(2)]
    np.testing.assert_array_equal(together, apart)


def test_probabilities_sum_to_one_and_the_winner_has_the_largest():
    arrays = list(noisy_organs_case(0, (48, 48)).raters)
    average = shape_based_average(encode(Drawn(arrays)), AveragingSettings((1.0, 1.0)))
    shares = np.array([average.of_label(label) for label in range(6)])
    np.testing.assert_allclose(shares.sum(axis=0), 1.0, rtol=1e-5)
    decided = average.decision >= 0
    np.testing.assert_array_equal(shares.argmax(axis=0)[decided], average.decision[decided])
    wanted = AveragingSettings((1.0, 1.0), probability_scale=0.01)
    sharp = shape_based_average(encode(Drawn(arrays)), wanted).of_label(0)
    assert np.minimum(sharp, 1 - sharp).mean() < 0.02


def test_voxels_whose_raters_all_have_weight_zero_are_undecided_with_equal_shares():
    arrays = [
        np.array([1, 0, 1], np.uint8),
        np.array([0, 1, 1], np.uint8),
        np.array([1, 1, 0], np.uint8),
    ]
    masks = [np.array([1, 1, 1]), np.array([1, 1, 1]), np.array([0, 1, 1])]
    masks[2][0] = 0
    patterns = encode(Drawn(list(arrays), None, None, list(masks)))
    wanted = AveragingSettings((1.0,), np.array([0.0, 0.0, 1.0]))
    average = shape_based_average(patterns, wanted)
    assert label_map(average)[0] == UNDECIDED
    assert average.of_label(1)[0] == 0.5


def mean_dice(found: np.ndarray, truth: np.ndarray) -> float:
    return float(np.mean([dice(found == label, truth == label) for label in range(1, 6)]))


@pytest.mark.slow
def test_it_beats_multilabel_staple_by_three_points_on_noisy_organs():
    gains = []
    for seed in range(24):
        truth, raters = noisy_organs_case(seed)
        patterns = encode(Drawn(list(raters)))
        average = label_map(shape_based_average(patterns, AveragingSettings((1.0, 1.0))))
        fused = patterns.expand(staple(patterns, MULTILABEL).decision)
        gains.append(mean_dice(average, truth) - mean_dice(fused, truth))
    assert np.mean(gains) >= 0.03
