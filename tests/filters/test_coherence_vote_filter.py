"""The coherence vote as a filter: weights, masks, and the resolution by label."""

from __future__ import annotations

import numpy as np
import pytest
import SimpleITK as sitk

import itk_consensus
from examples.simulation import disc_phantom, heterogeneous_raters


@pytest.fixture
def noisy():
    truth = disc_phantom(9, shape=(32, 36)).truth
    return list(heterogeneous_raters(truth, 2, [(0.85, 0.93)] * 5).astype(np.uint8))


def test_a_rater_of_weight_zero_does_not_count(noisy):
    weights = (1.0, 1.0, 0.0, 1.0, 1.0)
    fused = itk_consensus.CoherenceVote(noisy, raterWeights=weights)
    np.testing.assert_array_equal(fused, itk_consensus.CoherenceVote(noisy[:2] + noisy[3:]))


def test_outside_the_mask_is_background_without_probability(noisy):
    mask = np.zeros_like(noisy[0])
    mask[8:24, 8:28] = 1
    coherence = itk_consensus.CoherenceVoteFilter(MaskImage=mask)
    fused = coherence.Execute(noisy)
    assert fused.any()
    assert not fused[mask == 0].any()
    for label in (0, 1):
        assert not coherence.GetProbabilityImage(label)[mask == 0].any()


def test_where_nobody_annotated_the_most_frequent_label_is_taken(noisy):
    seen = np.ones_like(noisy[0])
    seen[:, :5] = 0
    coherence = itk_consensus.CoherenceVoteFilter(RaterMasks=[seen] * 5)
    fused = coherence.Execute(noisy)
    assert not fused[:, :5].any()
    assert 0 < coherence.GetProbabilityImage(1)[0, 0] < 0.5


@pytest.mark.parametrize("side", [0.25, 4.0])
def test_the_resolution_is_in_mm(noisy, side):
    unit = itk_consensus.CoherenceVoteFilter()
    unit.Execute(noisy)
    images = [sitk.GetImageFromArray(mask) for mask in noisy]
    for image in images:
        image.SetSpacing((side, side))
    scaled = itk_consensus.CoherenceVoteFilter()
    fused = scaled.Execute(images)
    np.testing.assert_array_equal(sitk.GetArrayFromImage(fused), unit.GetLabelImage())
    (one,), (other,) = unit.GetResolution().values(), scaled.GetResolution().values()
    assert other.millimetres == pytest.approx(side * one.millimetres)
    assert other.bound == one.bound
    curve = scaled.GetCoherenceCurves()[1]
    np.testing.assert_allclose(curve.scales, side * unit.GetCoherenceCurves()[1].scales)


def test_raters_who_agree_have_no_resolution(noisy):
    coherence = itk_consensus.CoherenceVoteFilter()
    coherence.Execute([noisy[0]] * 3)
    assert coherence.GetResolution() == {}


def test_the_dice_optimal_image_has_the_highest_expected_dice(noisy):
    for fuser in (itk_consensus.CoherenceVoteFilter(), itk_consensus.MajorityVoteFilter()):
        fuser.Execute(noisy)
        p = fuser.GetProbabilityImage(1)
        chosen = fuser.GetDiceOptimalImage() != 0

        def expected(mask, p=p):
            return 2 * p[mask].sum() / (mask.sum() + p.sum())

        best = max(expected(p >= level) for level in np.unique(p))
        assert expected(chosen) == pytest.approx(best)
        assert fuser.GetDiceOptimalImage().dtype == noisy[0].dtype


def test_smoothing_in_voxel_sides_does_not_depend_on_the_spacing(noisy):
    for fuser in (itk_consensus.MajorityVoteFilter, itk_consensus.CorrectedVoteFilter):
        maps = []
        for side in (0.25, 1.0, 3.0):
            images = [sitk.GetImageFromArray(mask) for mask in noisy]
            for image in images:
                image.SetSpacing((side, side))
            filter_ = fuser(SmoothingSigma=1.5)
            maps.append(sitk.GetArrayFromImage(filter_.Execute(images)))
            assert filter_.GetSmoothingSigmaInMillimetres() == pytest.approx(1.5 * side)
        np.testing.assert_array_equal(maps[0], maps[1])
        np.testing.assert_array_equal(maps[0], maps[2])


def test_the_frechet_map_has_the_highest_mean_dice_of_whole_patterns():
    rng = np.random.default_rng(4)
    raters = [(rng.random((6, 6)) < 0.4).astype(np.uint8) for _ in range(3)]
    frechet = itk_consensus.FrechetConsensusFilter()
    fused = frechet.Execute(raters)
    dices = [itk_consensus.dice(fused, rater) for rater in raters]
    assert frechet.GetMeanOverlaps()[1] == pytest.approx(np.mean(dices))
    codes = sum(rater.astype(int) << j for j, rater in enumerate(raters))
    best = 0.0
    for taken in range(2**7):
        flags = np.array([False, *(taken >> k & 1 for k in range(7))])
        mask = flags[codes]
        best = max(best, float(np.mean([itk_consensus.dice(mask, rater) for rater in raters])))
    assert frechet.GetMeanOverlaps()[1] == pytest.approx(best, abs=0.01)


@pytest.mark.parametrize("seed", [11, 84])
def test_fractions_of_a_vote_exactly_at_the_first_cut_do_not_depend_on_the_order_of_raters(
    seed: int,
) -> None:
    """For votes of 0, .1, .4 or .5 many means equal half of the largest, up to rounding errors."""
    rng = np.random.default_rng(seed)
    raters = [rng.choice([0, 0.1, 0.4, 0.5], size=(6, 7, 5)).astype(np.float32) for _ in range(5)]
    found = []
    for order in ([0, 1, 2, 3, 4], [4, 0, 1, 2, 3], [2, 4, 3, 0, 1], [1, 0, 4, 3, 2]):
        filter_ = itk_consensus.CoherenceVoteFilter()
        filter_.Execute([raters[index] for index in order])
        found.append(filter_.GetProbabilityImage())
    np.testing.assert_allclose(found[1:], [found[0]] * 3, rtol=0, atol=1e-5)
