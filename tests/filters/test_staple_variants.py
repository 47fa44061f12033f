"""STAPLE beyond SimpleITK's: variants, priors, many initialisations."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import SimpleITK as sitk
from hypothesis import given
from hypothesis import strategies as st

import itk_consensus
from examples.simulation import class_imbalance_case, disc_phantom, ellipsoid_phantom, paper_raters
from itk_consensus.core.errors import ConsensusWarning, GeometryError, ParameterError
from itk_consensus.votes.overlap import dice

TABLE_3_ADVANCED = {39: 0.933, 32: 0.914, 22: 0.873, 16: 0.826, 10: 0.711, 7: 0.577, 5: 0.568}


def fused_map(raters, **parameters):
    staple = itk_consensus.STAPLEImageFilter(**parameters)
    staple.Execute(list(raters))
    return staple, staple.GetLabelImage() != 0


@pytest.fixture
def raters():
    return paper_raters(ellipsoid_phantom((24, 24), (8, 6)).truth, 4, 3)


@pytest.mark.parametrize("radius", TABLE_3_ADVANCED)
def test_an_estimated_prior_keeps_small_structures(radius):
    overlaps, ratios = [], []
    for seed in range(10):
        truth, raters = class_imbalance_case(radius, seed)
        _, fused = fused_map(raters, Variant="advanced")
        overlaps.append(dice(fused, truth))
        ratios.append(fused.sum() / truth.sum())
    assert np.mean(overlaps) == pytest.approx(TABLE_3_ADVANCED[radius], abs=0.005)
    assert np.mean(ratios) < 1.5


def test_without_jitter_advanced_beats_the_vote_on_a_disc_of_radius_5():
    gains = []
    for seed in range(500, 524):
        truth = disc_phantom(5, seed).truth
        raters = paper_raters(truth, 5, seed, maximum_jitter=0)
        vote = itk_consensus.MajorityVote(list(raters)) != 0
        gains.append(dice(fused_map(raters, Variant="advanced")[1], truth) - dice(vote, truth))
    assert np.mean(gains) >= 0.03


@pytest.mark.parametrize("number", [3, 5, 7])
def test_twenty_starts_from_anywhere_never_return_the_mirrored_optimum(number):
    for seed in range(10):
        truth = ellipsoid_phantom(seed=seed).truth
        raters = paper_raters(truth, number, seed)
        staple, fused = fused_map(
            raters,
            Variant="advanced",
            NumberOfInitializations=20,
            InitializationRange=(0, 1),
            RandomSeed=seed,
        )
        starts = staple.GetStarts()
        assert starts.switched.any()  # the mirrored optimum was actually reached
        assert not starts.switched[starts.log_posterior.argmax()]
        assert dice(fused, truth) > 0.75


@pytest.mark.parametrize(("number", "expected"), [(3, 0.22), (5, 0.43)])
@pytest.mark.filterwarnings("ignore:.*label-switched:itk_consensus.core.errors.ConsensusWarning")
def test_restricted_staple_reports_its_real_multimodality(number, expected):
    shares = []
    for seed in range(10):
        raters = paper_raters(ellipsoid_phantom(seed=seed).truth, number, seed)
        staple, _ = fused_map(
            raters,
            Variant="restricted",
            EstimatePrior=True,
            NumberOfInitializations=20,
            InitializationRange=(0.3, 1),
            RandomSeed=seed,
        )
        shares.append(staple.GetDiagnostics()["start disagreement"].value)
    assert np.mean(shares) == pytest.approx(expected, abs=0.12)


def test_one_model_has_one_optimum_from_sensible_starts():
    for seed in range(5):
        raters = paper_raters(ellipsoid_phantom(seed=seed).truth, 5, seed)
        staple, _ = fused_map(raters, Variant="advanced", NumberOfInitializations=20)
        assert np.ptp(staple.GetStarts().log_posterior) < 1e-3


def test_start_k_does_not_depend_on_how_many_follow(raters):
    few, _ = fused_map(raters, NumberOfInitializations=5, RandomSeed=7)
    many, _ = fused_map(raters, NumberOfInitializations=12, RandomSeed=7)
    np.testing.assert_allclose(few.GetLogLikelihoods(), many.GetLogLikelihoods()[:5], rtol=1e-12)


def test_a_parameter_set_itself_wins_over_the_variant_in_any_order():
    before = itk_consensus.STAPLEImageFilter()
    before.SetEstimatePrior(False)
    before.SetVariant("advanced")
    after = itk_consensus.STAPLEImageFilter()
    after.SetVariant("advanced")
    after.SetEstimatePrior(False)
    for staple in (before, after):
        assert staple.GetEstimatePrior() is False
        assert staple.GetSensitivityPrior() == (3.0, 1.0)
        assert staple.GetInitialization() == "majority_vote"


def test_consensus_voxels_keep_their_label_when_excluded(raters):
    staple, fused = fused_map(raters, ExcludeConsensusVoxels=True)
    probability = staple.GetProbabilityImage()
    assert (probability[raters.all(axis=0)] == 1).all()
    assert (probability[~raters.any(axis=0)] == 0).all()
    assert fused.any()


def test_restricted_and_masked_runs_ignore_padding(raters):
    padded = np.pad(raters, ((0, 0), (9, 5), (3, 30)))
    inner = (slice(9, -5), slice(3, -30))
    plain = itk_consensus.STAPLE(list(raters), variant="restricted")
    np.testing.assert_array_equal(
        itk_consensus.STAPLE(list(padded), variant="restricted")[inner], plain
    )
    mask = np.ones(raters.shape[1:], np.uint8)
    wide = np.pad(mask, ((9, 5), (3, 30)))
    np.testing.assert_array_equal(
        itk_consensus.STAPLE(list(padded), maskImage=wide)[inner],
        itk_consensus.STAPLE(list(raters), maskImage=mask),
    )


def test_a_constant_prior_image_equals_the_number(raters):
    image = np.full(raters.shape[1:], 0.25, np.float32)
    np.testing.assert_allclose(
        itk_consensus.STAPLE(list(raters), prior=image),
        itk_consensus.STAPLE(list(raters), prior=0.25),
        atol=1e-12,
    )


def naive_staple(raters, prior, passes):
    """Run voxelwise STAPLE with a separate prior at each voxel."""
    marks = raters.reshape(len(raters), -1).astype(float)
    w = marks.mean(axis=0)
    for _ in range(passes):
        p = (marks * w).sum(axis=1) / w.sum()
        q = ((1 - marks) * (1 - w)).sum(axis=1) / (1 - w).sum()
        a = np.prod(np.where(marks > 0, p[:, None], 1 - p[:, None]), axis=0) * prior.ravel()
        b = np.prod(np.where(marks > 0, 1 - q[:, None], q[:, None]), axis=0) * (1 - prior.ravel())
        w = a / (a + b)
    return w.reshape(raters.shape[1:])


@given(st.integers(0, 10_000))
def test_a_spatial_prior_agrees_with_voxelwise_em(seed):
    rng = np.random.default_rng(seed)
    raters = paper_raters(ellipsoid_phantom((12, 14), (4, 5)).truth, 3, seed, maximum_jitter=1)
    prior = rng.uniform(0.05, 0.95, raters.shape[1:]).astype(np.float32)
    fused = itk_consensus.STAPLE(list(raters), prior=prior, maximumIterations=6)
    np.testing.assert_allclose(fused, naive_staple(raters, prior.astype(float), 6), atol=1e-9)


def test_a_beta_prior_adds_its_counts():
    stack = [np.array([[1, 1, 0, 0]], np.uint8)] * 2
    staple = itk_consensus.STAPLEImageFilter(SensitivityPrior=(20, 5), MaximumIterations=1)
    staple.Execute(stack)
    assert staple.GetSensitivity() == pytest.approx([(2 + 19) / (2 + 19 + 4)] * 2)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"Damping": 1.0}, "Damping must be a number >= 0 and <= 0.9, got 1.0"),
        ({"Prior": 0.0}, "Prior must be a number > 0 and < 1"),
        ({"Prior": 1.0}, "Prior must be a number > 0 and < 1"),
        ({"SensitivityPrior": (0.5, 1)}, "SensitivityPrior must be 2 numbers >= 1"),
        ({"SpecificityPrior": (2, -1)}, "SpecificityPrior must be 2 numbers >= 1"),
        ({"RandomSeed": 1.5}, "RandomSeed must be an integer >= 0, got 1.5"),
        ({"RandomSeed": -1}, "RandomSeed must be an integer >= 0, got -1"),
        ({"NumberOfInitializations": 0}, "NumberOfInitializations must be an integer >= 1"),
        ({"InitializationRange": (0.9, 0.5)}, "in increasing order"),
        ({"Variant": "Best"}, "Variant must be one of basic, restricted, advanced"),
    ],
)
def test_bad_values_are_refused_by_name(parameters, words):
    with pytest.raises(ParameterError, match=words):
        itk_consensus.STAPLEImageFilter(**parameters)


def test_negative_pseudo_counts_are_refused_for_many_labels():
    with pytest.raises(ParameterError, match="PseudoCounts must be 2 numbers >= 0"):
        itk_consensus.MultiLabelSTAPLEImageFilter(PseudoCounts=(-1, 0))


def test_a_prior_image_on_another_grid_is_refused(raters):
    images = [sitk.GetImageFromArray(rater.astype(np.uint8)) for rater in raters]
    prior = sitk.GetImageFromArray(np.full(raters.shape[1:], 0.5))
    prior.SetSpacing((2.0, 1.0))
    with pytest.raises(GeometryError, match="Prior"):
        itk_consensus.STAPLE(images, prior=prior)


@pytest.mark.parametrize("bad", [0.0, 1.0, -0.5, np.nan])
def test_a_prior_image_must_hold_probabilities(raters, bad):
    prior = np.full(raters.shape[1:], 0.5)
    prior[3, 3] = bad
    with pytest.raises(ParameterError, match=r"Prior must be an image of probabilities"):
        itk_consensus.STAPLE(list(raters), prior=prior)


def test_a_confidence_weight_beside_a_prior_is_refused(raters):
    with pytest.raises(ParameterError, match="ConfidenceWeight"):
        itk_consensus.STAPLE(list(raters), confidenceWeight=0.5, prior=0.3)


def test_a_label_switched_answer_never_comes_silently():
    switched = 0
    for seed in range(10):
        raters = paper_raters(ellipsoid_phantom(seed=seed).truth, 3, seed)
        staple = itk_consensus.STAPLEImageFilter(Variant="restricted")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            staple.Execute(list(raters))
        starts = staple.GetStarts()
        assert bool(caught) == bool(starts.switched[starts.winner])
        switched += bool(caught)
    assert switched > 0


@pytest.mark.parametrize("variant", ["basic", "restricted", "advanced"])
def test_multilabel_variants_agree_with_binary_ones_on_two_labels(variant, raters):
    binary = itk_consensus.STAPLEImageFilter(Variant=variant, Initialization="majority_vote")
    binary.Execute(list(raters))
    multi = itk_consensus.MultiLabelSTAPLEImageFilter(
        Variant=variant, Initialization="majority_vote", TerminationUpdateThreshold=1e-7
    )
    multi.Execute([rater.astype(np.uint8) for rater in raters])
    np.testing.assert_allclose(
        multi.GetProbabilityImage(1), binary.GetProbabilityImage(), atol=1e-6
    )
    tables = np.array([multi.GetConfusionTable(j)[1, 1] for j in range(len(raters))])
    np.testing.assert_allclose(tables, binary.GetSensitivity(), atol=1e-6)


def test_one_rater_with_priors_or_several_starts_is_refused(raters):
    for parameters in ({"NumberOfInitializations": 3}, {"Variant": "advanced"}, {"Prior": 0.2}):
        with pytest.raises(ParameterError, match="at least 2 raters"):
            itk_consensus.STAPLEImageFilter(**parameters).Execute([raters[0]])
    with pytest.warns(ConsensusWarning, match="only one rater"):
        np.testing.assert_array_equal(itk_consensus.STAPLE([raters[0]]), raters[0])


@pytest.mark.parametrize("foreground", [255, -1, 0])
def test_outputs_speak_of_the_foreground_value_that_was_set(foreground):
    marks = np.zeros((3, 6, 7), bool)
    marks[0, 1:4, 1:5] = marks[1, 1:4, 2:6] = marks[2, 2:5, 1:5] = True
    other = 0 if foreground else 1
    images = [np.where(mask, foreground, other).astype(np.int16) for mask in marks]
    staple = itk_consensus.STAPLEImageFilter(ForegroundValue=foreground)
    probability = staple.Execute(images)
    np.testing.assert_allclose(probability, itk_consensus.STAPLE(list(marks)), atol=1e-12)
    assert staple.GetLabels() == (other, foreground)
    np.testing.assert_array_equal(staple.GetProbabilityImage(), probability)
    np.testing.assert_array_equal(staple.GetLabelImage() == foreground, probability >= 0.5)


def test_a_label_nobody_used_has_probability_zero():
    vote = itk_consensus.MajorityVoteFilter()
    vote.Execute([np.zeros((3, 3), np.uint8)] * 3)
    assert (vote.GetProbabilityImage(1) == 0).all()
