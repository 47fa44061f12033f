from __future__ import annotations

import numpy as np
import pytest
import SimpleITK as sitk

from examples.simulation import (
    contour_error_raters,
    ellipsoid_mask,
    noisy_organs_case,
    organs_phantom,
)
from itk_consensus import MajorityVoteFilter, ShapeBasedAveragingFilter
from itk_consensus.core.errors import ParameterError, ProcessAborted
from itk_consensus.core.process_object import PROGRESS_EVENT
from itk_consensus.votes.overlap import dice


def test_image_spacing_reaches_the_distances():
    first, second = np.zeros((2, 12, 12), np.uint8)
    first[:6, :6], second[:8] = 1, 1
    fused = []
    for spacing in ((1.0, 1.0), (1.0, 5.0)):
        images = [sitk.GetImageFromArray(array) for array in (first, second)]
        for image in images:
            image.SetSpacing(spacing)
        answer = ShapeBasedAveragingFilter(TieRule="lowest").Execute(images)
        assert answer.GetSpacing() == spacing
        fused.append(sitk.GetArrayFromImage(answer))
    assert fused[1][5].sum() > fused[0][5].sum()


def test_smooth_contour_errors_average_out_better_than_they_vote_out():
    truth = ellipsoid_mask((40, 64, 64), (14, 22, 18)).astype(np.uint8)
    raters = list(contour_error_raters(truth, 5, 0))
    average = dice(ShapeBasedAveragingFilter().Execute(raters), truth)
    assert average > dice(MajorityVoteFilter().Execute(raters), truth)


def test_labels_may_have_any_values():
    case = noisy_organs_case(1, (48, 48))
    names = np.array([0, 7, 300, 5, 1000, 42])
    plain = ShapeBasedAveragingFilter(TieRule="background").Execute(list(case.raters))
    named = ShapeBasedAveragingFilter(TieRule="background").Execute(list(names[case.raters]))
    np.testing.assert_array_equal(named, names[plain])


def test_touching_organs_stay_touching():
    truth = np.zeros((30, 40), np.uint8)
    truth[5:25, 5:20], truth[5:25, 20:35] = 1, 2
    raters = list(contour_error_raters(truth, 5, 3))
    fused = ShapeBasedAveragingFilter(TieRule="lowest").Execute(raters)
    assert (fused[12:18, 12:28] > 0).all()


def test_weights_that_fit_no_rater_are_refused():
    arrays = [np.eye(4, dtype=np.uint8), np.zeros((4, 4), np.uint8)]
    with pytest.raises(ParameterError, match="RaterWeights must be 2 numbers >= 0, not all 0"):
        ShapeBasedAveragingFilter(RaterWeights=[0, 0]).Execute(arrays)


def test_a_sharper_scale_makes_probabilities_harder():
    raters = list(contour_error_raters(organs_phantom((48, 48), 3, 0).truth, 5, 0))
    filter_ = ShapeBasedAveragingFilter(ProbabilityScale=0.1)
    filter_.Execute(raters)
    hard = filter_.GetProbabilityImage(1)
    filter_.SetProbabilityScale(2.0)
    filter_.Execute(raters)
    soft = filter_.GetProbabilityImage(1)
    assert np.minimum(hard, 1 - hard).sum() < np.minimum(soft, 1 - soft).sum()


def test_progress_grows_and_abort_ends_without_an_answer():
    raters = list(noisy_organs_case(0, (48, 48)).raters)
    filter_ = ShapeBasedAveragingFilter()
    seen: list[float] = []
    filter_.AddCommand(PROGRESS_EVENT, lambda: seen.append(filter_.GetProgress()))
    filter_.Execute(raters)
    assert seen == sorted(seen)
    assert len(seen) > 5
    filter_.AddCommand(PROGRESS_EVENT, filter_.Abort)
    with pytest.raises(ProcessAborted):
        filter_.Execute(raters)
