"""SmoothnessWeight: STAPLE with a Potts field, and the corrected vote."""

from __future__ import annotations

import numpy as np
import pytest
import SimpleITK as sitk

import itk_consensus
from examples.simulation import (
    class_imbalance_case,
    contour_error_raters,
    nested_phantom,
    paper_raters,
    spatial_case,
    twelve_settings,
)
from itk_consensus.core.errors import ParameterError
from itk_consensus.votes.overlap import dice

RECOMMENDED = {"Variant": "advanced", "SmoothnessWeight": 2.0}
TABLE_3_RADII = (39, 32, 22, 16, 10, 7, 5)
FRESH_SEEDS = range(100, 124)


def foreground(fuser, raters):
    fuser.Execute(list(raters.astype(np.uint8)))
    return np.asarray(fuser.GetLabelImage()) == 1


def mean_dice(make, cases):
    return np.mean([dice(foreground(make(), case.raters), case.truth) for case in cases])


def vote():
    return itk_consensus.MajorityVoteFilter(TieRule="background")


def smoothed_vote():
    return itk_consensus.MajorityVoteFilter(TieRule="background", SmoothingSigma=1.0)


def smooth_staple():
    return itk_consensus.STAPLEImageFilter(**RECOMMENDED)


@pytest.fixture
def raters():
    return list(class_imbalance_case(10, 1).raters[:, 40:88, 40:88].astype(np.uint8))


# -- purpose -----------------------------------------------------------------------------------


@pytest.mark.parametrize("radius", [22, 5])
def test_with_smoothness_staple_beats_the_vote_on_discs(radius):
    cases = [class_imbalance_case(radius, seed) for seed in range(200, 206)]
    assert mean_dice(smooth_staple, cases) > mean_dice(vote, cases) + 0.02


@pytest.mark.slow
@pytest.mark.parametrize("radius", TABLE_3_RADII)
def test_with_smoothness_staple_beats_the_vote_in_every_row_of_table_3(radius):
    cases = [class_imbalance_case(radius, seed) for seed in FRESH_SEEDS]
    assert mean_dice(smooth_staple, cases) > mean_dice(vote, cases)


@pytest.mark.slow
@pytest.mark.parametrize("jitter", ["after", "none", "before"])
def test_with_smoothness_staple_beats_the_vote_in_every_order_of_table_4(jitter):
    cases = [spatial_case(jitter, seed) for seed in FRESH_SEEDS]
    assert mean_dice(smooth_staple, cases) > mean_dice(vote, cases)


@pytest.mark.slow
def test_the_corrected_vote_never_loses_to_the_smoothed_vote_in_twelve_settings():
    for setting in twelve_settings(FRESH_SEEDS):
        corrected = mean_dice(itk_consensus.CorrectedVoteFilter, setting.cases)
        assert corrected >= mean_dice(smoothed_vote, setting.cases), setting.name


@pytest.mark.slow
def test_the_corrected_vote_does_not_lose_to_the_smoothed_vote_on_real_crowds(shared_data):
    gains = []
    for file in sorted((shared_data / "bubil").glob("*_crowd.nrrd")):
        raters = np.moveaxis(sitk.GetArrayFromImage(sitk.ReadImage(file)), -1, 0)
        gold = sitk.GetArrayFromImage(sitk.ReadImage(str(file).replace("_crowd", "_gold"))) != 0
        ours = dice(foreground(itk_consensus.CorrectedVoteFilter(), raters), gold)
        gains.append(ours - dice(foreground(smoothed_vote(), raters), gold))
    assert len(gains) == 165
    assert np.mean(gains) >= 0


@pytest.mark.parametrize("name", ["one good r10", "spatial none", "jitter r10"])
def test_the_corrected_vote_gains_on_the_smoothed_vote(name):
    cases = next(s.cases for s in twelve_settings(range(300, 306)) if s.name == name)
    corrected = mean_dice(itk_consensus.CorrectedVoteFilter, cases)
    assert corrected > mean_dice(smoothed_vote, cases)


# -- behaviour ---------------------------------------------------------------------------------


def test_no_smoothness_is_the_default_and_changes_nothing(raters):
    plain, off = itk_consensus.STAPLEImageFilter(), itk_consensus.STAPLEImageFilter()
    off.SetSmoothnessWeight(0)
    np.testing.assert_array_equal(plain.Execute(raters), off.Execute(raters))
    assert plain.GetSmoothnessWeight() == 0
    assert off.GetEstimatedSmoothnessWeight() == 0


def test_the_label_map_is_the_probability_at_one_half(raters):
    staple = itk_consensus.STAPLEImageFilter(**RECOMMENDED)
    probability = staple.Execute(raters)
    assert probability.dtype == np.float64
    np.testing.assert_array_equal(staple.GetLabelImage() == 1, probability >= 0.5)
    assert staple.GetEstimatedSmoothnessWeight() == 2.0


def test_agreed_voxels_keep_their_label(raters):
    probability = itk_consensus.STAPLE(raters, variant="advanced", smoothnessWeight=4.0)
    stack = np.stack(raters)
    np.testing.assert_array_equal(probability[stack.min(axis=0) == 1], 1)
    np.testing.assert_array_equal(probability[stack.max(axis=0) == 0], 0)


def test_the_estimated_weight_is_told(raters):
    staple = itk_consensus.STAPLEImageFilter(Variant="advanced", SmoothnessWeight="Estimate")
    staple.Execute(raters)
    assert staple.GetSmoothnessWeight() == "estimate"
    assert 0 < staple.GetEstimatedSmoothnessWeight() <= 4


def test_voxel_size_matters_as_it_should():
    truth = nested_phantom((8, 24, 24), 2).truth
    raters = [image.astype(np.uint8) for image in paper_raters(truth == 1, 5, 3)]

    def fuse(between_slices):
        images = [sitk.GetImageFromArray(image) for image in raters]
        for image in images:
            image.SetSpacing((1.0, 1.0, between_slices))
        return sitk.GetArrayFromImage(itk_consensus.STAPLE(images, **RECOMMENDED))

    near, far, scaled = fuse(1.0), fuse(1e6), fuse(2.0)
    assert np.abs(near - far).max() > 0.5
    assert np.abs(near - scaled).max() > 0.01
    doubled = [sitk.GetImageFromArray(image) for image in raters]
    for image in doubled:
        image.SetSpacing((3.0, 3.0, 3.0))
    np.testing.assert_array_equal(
        sitk.GetArrayFromImage(itk_consensus.STAPLE(doubled, **RECOMMENDED)), near
    )


def test_outside_the_mask_nothing_pulls(raters):
    mask = np.zeros_like(raters[0])
    mask[10:38, 10:38] = 1
    inside = itk_consensus.STAPLE(raters, maskImage=mask, **RECOMMENDED)
    cropped = itk_consensus.STAPLE([image[10:38, 10:38] for image in raters], **RECOMMENDED)
    assert not inside[mask == 0].any()
    np.testing.assert_allclose(inside[10:38, 10:38], cropped, atol=1e-6)


def test_threads_do_not_change_a_bit(raters):
    one = itk_consensus.STAPLE(raters, numberOfThreads=1, **RECOMMENDED)
    np.testing.assert_array_equal(
        one, itk_consensus.STAPLE(raters, numberOfThreads=3, **RECOMMENDED)
    )


def test_several_labels_are_smoothed_too():
    truth = nested_phantom((48, 48), 3).truth
    rng = np.random.default_rng(2)
    raters = [
        np.where(rng.random(truth.shape) < 0.3, rng.integers(0, 3, truth.shape), truth)
        for _ in range(4)
    ]
    wrong = {
        weight: np.mean(
            itk_consensus.MultiLabelSTAPLE(
                raters, variant="advanced", smoothnessWeight=weight, labelForUndecidedPixels=9
            )
            != truth
        )
        for weight in (0.0, 2.0)
    }
    assert wrong[2.0] < wrong[0.0] / 2


def test_diagnostics_know_the_smoothed_map(raters):
    staple = itk_consensus.STAPLEImageFilter(**RECOMMENDED)
    staple.Execute(raters)
    found = staple.GetDiagnostics()["prevalence"]
    assert found.value == pytest.approx((staple.GetLabelImage() != 0).mean())


def test_the_field_reports_before_its_first_iteration(raters):
    """The field is constructed from the initial posterior of every pattern, which took more
    than a second.
    """
    staple = itk_consensus.STAPLEImageFilter(**RECOMMENDED)
    heard = []
    staple.AddCommand(sitk.sitkProgressEvent, lambda: heard.append("progress"))
    staple.AddCommand(sitk.sitkIterationEvent, lambda: heard.append("iteration"))
    staple.Execute(raters)
    assert heard.index("iteration") > 1  # one report refers to the images that were read


def test_abort_returns_the_current_field(raters):
    staple = itk_consensus.STAPLEImageFilter(**RECOMMENDED)
    staple.AddCommand(sitk.sitkIterationEvent, staple.Abort)
    staple.Execute(raters)
    assert staple.GetElapsedIterations() == 1
    assert not staple.GetConverged()


def test_raters_of_contours_in_3d_are_fused_by_their_disputed_shell():
    truth = nested_phantom((24, 40, 40), 2).truth == 1
    raters = contour_error_raters(truth, 5, 0)
    agreed = np.ptp(raters.astype(int), axis=0) == 0
    fused = foreground(smooth_staple(), raters)
    np.testing.assert_array_equal(fused[agreed], raters[0][agreed])
    assert dice(fused, truth) > 0.9


# -- rejected inputs -----------------------------------------------------------------------------


@pytest.mark.parametrize("weight", [-0.1, "guess", None, np.nan, [2.0]])
def test_weights_that_are_none_are_refused(weight):
    wanted = "STAPLEImageFilter: SmoothnessWeight must be a number >= 0, or one of estimate, got"
    with pytest.raises(ParameterError, match=wanted):
        itk_consensus.STAPLEImageFilter(SmoothnessWeight=weight)


def test_a_field_has_one_start(raters):
    staple = itk_consensus.STAPLEImageFilter(SmoothnessWeight=1.0, NumberOfInitializations=3)
    with pytest.raises(ParameterError, match=r"NumberOfInitializations must be 1 with a Smooth.*3"):
        staple.Execute(raters)


def test_a_field_leaves_no_prior_to_scale(raters):
    staple = itk_consensus.STAPLEImageFilter(SmoothnessWeight=1.0, ConfidenceWeight=0.5)
    with pytest.raises(
        ParameterError, match=r"ConfidenceWeight .* SmoothnessWeight it must stay 1"
    ):
        staple.Execute(raters)
