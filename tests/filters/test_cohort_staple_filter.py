from __future__ import annotations

import pickle

import numpy as np
import pytest
import SimpleITK as sitk

import itk_consensus
from examples.simulation import disc_phantom, heterogeneous_raters
from itk_consensus.core.errors import (
    ConsensusWarning,
    GeometryError,
    InputError,
    NotExecutedError,
    ParameterError,
)
from itk_consensus.methods.staple.cohort_staple_filter import CohortSTAPLEFilter

QUALITIES = [(0.95, 0.98), (0.8, 0.95), (0.7, 0.92)]


def case(seed: int, shape: tuple[int, ...] = (20, 24), value: int = 1) -> list[np.ndarray]:
    raters = heterogeneous_raters(disc_phantom(6, shape=shape).truth, seed, QUALITIES)
    return list(raters.astype(np.uint8) * value)


@pytest.fixture
def cases() -> list[list[np.ndarray]]:
    return [case(seed) for seed in range(4)]


@pytest.mark.parametrize("variant", ["basic", "restricted", "advanced"])
def test_one_case_gives_staples_answer(variant):
    images = case(0)
    cohort = CohortSTAPLEFilter(Variant=variant)
    staple = itk_consensus.STAPLEImageFilter(Variant=variant)
    (output,) = cohort.Execute([images])
    np.testing.assert_allclose(output, staple.Execute(images), atol=1e-12)
    np.testing.assert_allclose(cohort.GetSensitivity(), staple.GetSensitivity(), atol=1e-12)
    np.testing.assert_allclose(cohort.GetSpecificity(), staple.GetSpecificity(), atol=1e-12)
    assert cohort.GetPriors() == pytest.approx((staple.GetEstimatedPrior(),), abs=1e-12)
    assert cohort.GetElapsedIterations() == staple.GetElapsedIterations()
    (labels,) = cohort.GetLabelImages()
    np.testing.assert_array_equal(labels, staple.GetLabelImage())
    assert labels.dtype == np.uint8


def test_cases_may_differ_in_grid_family_and_missing_raters():
    flat, volume = case(1), case(2, (6, 16, 18))
    images = [sitk.GetImageFromArray(array) for array in volume]
    for image in images:
        image.SetSpacing((0.5, 0.5, 2.0))
        image.SetOrigin((1.0, 2.0, 3.0))
    cohort = CohortSTAPLEFilter(Variant="advanced")
    first, second = cohort.Execute([flat, [images[0], None, images[2]]])
    assert isinstance(first, np.ndarray)
    assert first.shape == (20, 24)
    assert second.GetSpacing() == (0.5, 0.5, 2.0)
    assert second.GetOrigin() == (1.0, 2.0, 3.0)
    assert second.GetPixelID() == sitk.sitkFloat64
    assert len(cohort.GetPriors()) == 2
    assert len(cohort.GetSensitivity()) == 3


def test_a_vector_image_is_a_case(cases):
    plain, vectors = CohortSTAPLEFilter(), CohortSTAPLEFilter()
    plain.Execute(cases)
    vectors.Execute([sitk.Compose([sitk.GetImageFromArray(a) for a in one]) for one in cases])
    assert vectors.GetSensitivity() == plain.GetSensitivity()


def test_small_structures_are_judged_together(cases):
    cohort = CohortSTAPLEFilter(Variant="advanced")
    cohort.Execute([case(seed) for seed in range(20)])
    found = np.stack([cohort.GetSensitivity(), cohort.GetSpecificity()], axis=1)
    np.testing.assert_allclose(found, QUALITIES, atol=0.03)


def test_foreground_and_missing_labels_are_the_callers(cases):
    seven = [case(seed, value=7) for seed in range(2)]
    seven[0][1][:4] = 9
    cohort = CohortSTAPLEFilter(ForegroundValue=7, MissingLabel=9)
    cohort.Execute(seven)
    cohort.SetForegroundValue(3)
    assert set(np.unique(cohort.GetLabelImages()[0])) == {0, 7}
    ones = CohortSTAPLEFilter()
    ones.Execute([[np.where(a == 9, 0, a == 7) for a in one] for one in seven])
    assert cohort.GetSensitivity() != ones.GetSensitivity()


def test_iterations_can_be_watched_and_stopped(cases):
    cohort = CohortSTAPLEFilter()
    cohort.AddCommand(sitk.sitkIterationEvent, cohort.Abort)
    cohort.Execute(cases)
    assert cohort.GetElapsedIterations() == 1
    assert not cohort.GetConverged()
    assert cohort.GetProgress() == 1


def test_inputs_are_let_go_and_never_changed(cases):
    before = [[image.copy() for image in one] for one in cases]
    cohort = CohortSTAPLEFilter()
    outputs = cohort.Execute(cases)
    for one, other in zip(cases, before, strict=True):
        np.testing.assert_array_equal(one, other)
    for one in cases:
        for image in one:
            image[:] = 0
    for image, again in zip(outputs, cohort.GetProbabilityImages(), strict=True):
        np.testing.assert_array_equal(image, again)


def test_empty_cohorts_warn_that_sensitivity_is_undefined():
    with pytest.warns(ConsensusWarning, match="CohortSTAPLEFilter: Sensitivity undefined"):
        CohortSTAPLEFilter().Execute([[np.zeros((4, 4), np.uint8)] * 3] * 2)


def test_parameters_survive_pickling_and_are_printed(cases):
    cohort = CohortSTAPLEFilter(Variant="advanced", tolerance=1e-5)
    copied = pickle.loads(pickle.dumps(cohort))
    assert copied.GetVariant() == "advanced"
    assert copied.GetTolerance() == 1e-5
    copied.Execute(cases)
    assert "Priors: [" in str(copied)


def test_nothing_is_known_before_execute(cases):
    cohort = CohortSTAPLEFilter()
    for ask in (cohort.GetLabelImages, cohort.GetProbabilityImages, cohort.GetPriors):
        with pytest.raises(NotExecutedError, match="CohortSTAPLEFilter"):
            ask()
    cohort.Execute(cases)
    with pytest.raises(InputError):
        cohort.Execute([])
    with pytest.raises(NotExecutedError):
        cohort.GetLabelImages()


@pytest.mark.parametrize("nothing", [None, 3, "cases", []])
def test_what_is_no_list_of_cases_is_refused(nothing):
    with pytest.raises(InputError, match=r"CohortSTAPLEFilter: needs .*case.*, got"):
        CohortSTAPLEFilter().Execute(nothing)


def test_a_bad_case_is_named_by_its_number(cases):
    with pytest.raises(InputError, match="case 1: needs at least one image"):
        CohortSTAPLEFilter().Execute([cases[0], [None, None, None]])
    with pytest.raises(GeometryError, match="case 2"):
        CohortSTAPLEFilter().Execute([*cases[:2], [cases[2][0], cases[2][1][:-1], cases[2][2]]])
    with pytest.raises(InputError, match="case 0 has 3, case 1 has 2"):
        CohortSTAPLEFilter().Execute([cases[0], cases[1][:2]])


def test_a_foreground_that_never_occurs_is_refused(cases):
    with pytest.raises(InputError, match="ForegroundValue 5 occurs in no input"):
        CohortSTAPLEFilter(ForegroundValue=5).Execute(cases)


def test_impossible_combinations_are_refused(cases):
    with pytest.raises(ParameterError, match=r"ConfidenceWeight .* it must stay 1, got 2"):
        CohortSTAPLEFilter(Variant="advanced", ConfidenceWeight=2.0).Execute(cases)
    with pytest.raises(ParameterError, match="Prior must be one number, or one for each of the 4"):
        CohortSTAPLEFilter(Prior=[0.1, 0.2]).Execute(cases)
    with pytest.raises(ParameterError, match="there is no parameter 'SmoothnessWeight'"):
        CohortSTAPLEFilter(SmoothnessWeight=1.0)


# -- known segmentations
# ---------------------------------------------------------------------------


def known_case(seed: int) -> tuple[list[np.ndarray], np.ndarray]:
    """Return a case in which two of three raters make the same errors, which votes alone cannot
    reveal.
    """
    rng = np.random.default_rng([52, seed])
    truth = np.zeros((24, 26), np.uint8)
    truth[6:18, 7:19] = 1
    wide = np.zeros_like(truth)
    wide[4:20, 5:21] = 1
    noise = [(rng.random(truth.shape) < share).astype(np.uint8) for share in (0.02, 0.04, 0.06)]
    return [truth ^ noise[0], wide ^ noise[1], wide ^ noise[2]], truth


def test_truths_of_some_cases_judge_the_raters_of_all():
    drawn = [known_case(seed) for seed in range(8)]
    cases, truths = [raters for raters, _ in drawn], [truth for _, truth in drawn]
    alone, taught = CohortSTAPLEFilter(), CohortSTAPLEFilter()
    alone.Execute(cases)
    taught.Execute(cases, [*truths[:7], None])
    ours, theirs = (
        itk_consensus.dice(one.GetLabelImages()[7] == 1, truths[7] == 1) for one in (taught, alone)
    )
    assert ours > theirs + 0.05
    assert taught.GetTruthGain().low > 0.05
    assert np.isnan(alone.GetTruthGain().mean)
    np.testing.assert_array_equal(taught.GetLabelImages()[0], truths[0])
    assert taught.GetPriors()[0] == pytest.approx(truths[0].mean())


def test_with_all_truths_known_performance_is_what_is_counted():
    drawn = [known_case(seed) for seed in range(3)]
    filter_ = CohortSTAPLEFilter()
    filter_.Execute([raters for raters, _ in drawn], [truth for _, truth in drawn])
    for rater, (sensitivity, specificity) in enumerate(
        zip(filter_.GetSensitivity(), filter_.GetSpecificity(), strict=True)
    ):
        said = np.concatenate([raters[rater].ravel() for raters, _ in drawn])
        true = np.concatenate([truth.ravel() for _, truth in drawn])
        assert sensitivity == pytest.approx(said[true == 1].mean(), abs=1e-6)
        assert specificity == pytest.approx(1 - said[true == 0].mean(), abs=1e-6)


def test_truths_that_do_not_help_are_said_to():
    drawn = [known_case(seed) for seed in range(6)]
    rng = np.random.default_rng(1)
    cases = [raters for raters, _ in drawn]
    truths = [(rng.random(truth.shape) < 0.5).astype(np.uint8) for _, truth in drawn]
    with pytest.warns(ConsensusWarning, match="not shown to help"):
        CohortSTAPLEFilter().Execute(cases, truths)


def test_truths_are_as_many_as_cases_and_lie_on_their_grids(cases):
    with pytest.raises(InputError, match="one entry for each of the 4 cases"):
        CohortSTAPLEFilter().Execute(cases, [None])
    with pytest.raises(InputError, match="truth of case 1"):
        CohortSTAPLEFilter().Execute(cases, [None, np.zeros((3, 3), np.uint8), None, None])


def test_no_truth_is_as_none_given(cases):
    one, other = CohortSTAPLEFilter(), CohortSTAPLEFilter()
    for a, b in zip(one.Execute(cases), other.Execute(cases, [None] * 4), strict=True):
        np.testing.assert_array_equal(a, b)
