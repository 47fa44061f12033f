from __future__ import annotations

import numpy as np
import pytest
import SimpleITK as sitk

from examples.simulation import noisy_organs_case, spatial_case
from itk_consensus import SpatialSTAPLEFilter
from itk_consensus.core.errors import NotExecutedError, ParameterError
from itk_consensus.core.process_object import ITERATION_EVENT, PROGRESS_EVENT


def images(arrays, spacing: tuple[float, ...]) -> list[sitk.Image]:
    converted = [sitk.GetImageFromArray(np.asarray(array, np.uint8)) for array in arrays]
    for image in converted:
        image.SetSpacing(spacing)
        image.SetOrigin([5.0] * len(spacing))
    return converted


def window_mean(values: np.ndarray, weights: np.ndarray, radii: tuple[int, int], at) -> float:
    box = tuple(slice(max(0, k - r), k + r + 1) for k, r in zip(at, radii, strict=True))
    return float((values * weights)[box].sum() / weights[box].sum())


def test_fields_are_images_on_the_grid_and_windows_are_in_mm():
    raters = spatial_case("none", 1).raters[:, 40:80, 40:90]
    filter_ = SpatialSTAPLEFilter(WindowRadius=4.0, Kappa=0.0, PseudoCounts=(0.0, 0.0))
    inputs = images(raters, (2.0, 0.5))
    filter_.Execute(inputs)
    posterior = sitk.GetArrayFromImage(filter_.GetProbabilityImage(1))
    sensitivity, specificity = filter_.GetSensitivityField(0), filter_.GetSpecificityField(0)
    assert sensitivity.GetSpacing() == inputs[0].GetSpacing()
    assert sensitivity.GetOrigin() == inputs[0].GetOrigin()
    assert sensitivity.GetPixelID() == sitk.sitkFloat32
    # 4 mm are 8 voxels of .5 mm along y, the first array axis, and 2 voxels of 2 mm along x.
    for at in [(0, 0), (20, 25), (39, 49), (20, 0)]:
        here = sitk.GetArrayFromImage(sensitivity)[at]
        assert here == pytest.approx(window_mean(raters[0], posterior, (8, 2), at), abs=1e-6)
        here = sitk.GetArrayFromImage(specificity)[at]
        assert here == pytest.approx(window_mean(~raters[0], 1 - posterior, (8, 2), at), abs=1e-6)


def test_columns_of_a_multilabel_field_sum_to_one():
    case = noisy_organs_case(0, (40, 44))
    filter_ = SpatialSTAPLEFilter(WindowRadius=5)
    filter_.Execute(list(case.raters))
    for true in (0, 3):
        column = sum(filter_.GetConfusionField(1, observed, true) for observed in range(6))
        np.testing.assert_allclose(column, 1.0, atol=1e-5)


def test_two_label_fields_refuse_more_labels():
    filter_ = SpatialSTAPLEFilter()
    filter_.Execute(list(noisy_organs_case(0, (40, 44)).raters))
    with pytest.raises(ParameterError, match="GetSensitivityField needs inputs of two labels"):
        filter_.GetSensitivityField(0)
    with pytest.raises(ParameterError, match="observed label must be one of"):
        filter_.GetConfusionField(0, 9, 0)
    with pytest.raises(IndexError, match="rater must be 0 to 2, got 3"):
        filter_.GetConfusionField(3, 0, 0)


def test_fields_are_known_only_after_execute():
    with pytest.raises(NotExecutedError):
        SpatialSTAPLEFilter().GetSensitivityField(0)


def test_a_prior_makes_the_prior_fixed_and_contradicts_any_other_mode():
    assert SpatialSTAPLEFilter().GetPriorMode() == "local"
    assert SpatialSTAPLEFilter(Prior=0.5).GetPriorMode() == "fixed"
    with pytest.raises(ParameterError, match="PriorMode must be fixed when Prior is given"):
        SpatialSTAPLEFilter(Prior=0.5, PriorMode="local").Execute([np.eye(3, dtype=int)] * 2)


def test_a_prior_of_one_number_needs_two_labels():
    raters = list(noisy_organs_case(0, (40, 44)).raters)
    with pytest.raises(ParameterError, match=r"Prior must be a \{label: probability\} dict"):
        SpatialSTAPLEFilter(Prior=0.5).Execute(raters)
    with pytest.raises(ParameterError, match="a probability > 0"):
        SpatialSTAPLEFilter(Prior={0: 0.5, 1: 0.5}).Execute(raters)


def test_a_dictionary_is_the_number_it_says():
    raters = list(spatial_case("none", 0).raters[:, ::4, ::4].astype(np.uint8))
    number, table = SpatialSTAPLEFilter(Prior=0.2), SpatialSTAPLEFilter(Prior={0: 0.4, 1: 0.1})
    number.Execute(raters)
    table.Execute(raters)
    np.testing.assert_array_equal(number.GetProbabilityImage(1), table.GetProbabilityImage(1))


def test_abort_inside_an_iteration_returns_the_estimate_before_it():
    raters = list(spatial_case("after", 0).raters.astype(np.uint8))
    filter_ = SpatialSTAPLEFilter(WindowRadius=12)
    after_one = 0.5 + 0.49 / filter_.GetMaximumIterations()
    filter_.AddCommand(
        PROGRESS_EVENT, lambda: filter_.Abort() if after_one < filter_.GetProgress() < 1 else None
    )
    aborted = filter_.Execute(raters)
    assert filter_.GetElapsedIterations() == 1
    capped = SpatialSTAPLEFilter(WindowRadius=12, MaximumIterations=1, Tolerance=0)
    np.testing.assert_array_equal(aborted, capped.Execute(raters))


def test_progress_grows_and_abort_returns_the_current_estimate():
    raters = list(spatial_case("after", 0).raters.astype(np.uint8))
    filter_ = SpatialSTAPLEFilter(WindowRadius=12)
    seen: list[float] = []
    filter_.AddCommand(PROGRESS_EVENT, lambda: seen.append(filter_.GetProgress()))
    filter_.AddCommand(ITERATION_EVENT, lambda: filter_.Abort() if len(seen) > 4 else None)
    aborted = filter_.Execute(raters)
    assert seen == sorted(seen)
    assert len(set(seen)) > 4
    iterations = filter_.GetElapsedIterations()
    assert not filter_.GetConverged()
    capped = SpatialSTAPLEFilter(WindowRadius=12, MaximumIterations=iterations, Tolerance=0)
    np.testing.assert_array_equal(aborted, capped.Execute(raters))


@pytest.mark.parametrize("number", [2, 12])
def test_an_iteration_is_reported_before_and_after_the_scale_factors_of_each_part(number: int):
    planes = [rater[::4, ::4].astype(np.uint8) for rater in spatial_case("after", 0).raters]
    raters = [np.stack([plane] * 4) for plane in (planes * 4)[:number]]
    filter_ = SpatialSTAPLEFilter(WindowRadius=12, MaximumIterations=1)
    seen: list[float] = []
    filter_.AddCommand(PROGRESS_EVENT, lambda: seen.append(filter_.GetProgress()))
    filter_.Execute(raters)
    within = [share for share in seen if 0.5 < share < 0.99]
    assert within == sorted(within)
    # With twelve raters each plane is processed as a separate part, which reports progress
    # halfway and at the start of the next part.
    assert len(set(within)) == (1 if number == 2 else 7)


def test_measurements_describe_the_run():
    raters = list(spatial_case("none", 0).raters.astype(np.uint8))
    filter_ = SpatialSTAPLEFilter()
    filter_.Execute(raters)
    assert filter_.GetConverged()
    assert len(filter_.GetChangeTrace()) == filter_.GetElapsedIterations()
    assert len(filter_.GetLogLikelihoodTrace()) == filter_.GetElapsedIterations()
    tables = filter_.GetConfusionTables()
    assert tables.shape == (6, 2, 2)
    np.testing.assert_allclose(tables.sum(axis=1), 1.0)


def test_in_4d_every_volume_has_its_own_windows():
    raters = spatial_case("none", 2).raters[:, ::2, ::2].astype(np.uint8)
    stacked = [np.stack([r, r[::-1]])[:, None] for r in raters]
    fixed = {"WindowRadius": 6.0, "Tolerance": 0.0, "MaximumIterations": 4}
    together = SpatialSTAPLEFilter(**fixed).Execute(stacked)
    apart = SpatialSTAPLEFilter(**fixed).Execute([r[::-1].copy() for r in raters])
    np.testing.assert_array_equal(together[1, 0], apart)
