from __future__ import annotations

import importlib
from pathlib import Path

import numpy as np
import pytest
import SimpleITK as sitk

from examples.simulation import contour_error_raters, ellipsoid_mask
from examples.simulation.structure_settings import vessel_tree
from itk_consensus import (
    ConsensusFilter,
    CorrectedVoteFilter,
    IntensityRefinementFilter,
    MajorityVoteFilter,
    STAPLEImageFilter,
)
from itk_consensus.core.errors import InputError, ParameterError
from itk_consensus.votes.overlap import dice

BENCHMARKS = Path(__file__).resolve().parents[2] / "examples" / "benchmarks"


@pytest.fixture(scope="module")
def truth():
    return ellipsoid_mask((48, 56), (14, 18), (23, 27)).astype(np.uint8)


@pytest.fixture(scope="module")
def raters(truth):
    return list(contour_error_raters(truth, 5, seed=2))


@pytest.fixture(scope="module")
def image(truth):
    """Return an image of the structure with shading and noise."""
    shade = np.linspace(0, 2, truth.shape[1])
    return truth + shade + 0.15 * np.random.default_rng(3).standard_normal(truth.shape)


def refinement(image, **parameters):
    return IntensityRefinementFilter(Image=image, **parameters)


@pytest.mark.parametrize("fuser", [MajorityVoteFilter, ConsensusFilter, CorrectedVoteFilter])
def test_an_image_that_shows_the_truth_makes_votes_better(fuser, image, raters, truth):
    filter_ = refinement(image, Filter=fuser())
    refined = filter_.Execute(raters)
    inner = fuser()
    inner.Execute(raters)
    assert filter_.GetIntensityWeight() > 0
    assert min(filter_.GetHeldOutGains()) > 0
    before = dice(np.asarray(inner.GetLabelImage()) == 1, truth == 1)
    assert dice(np.asarray(refined) == 1, truth == 1) > before + 0.004


@pytest.mark.parametrize("seed", range(5))
def test_an_image_of_noise_changes_next_to_nothing(seed, raters, truth):
    noise = np.random.default_rng(seed).standard_normal(truth.shape)
    filter_ = refinement(noise, Filter=MajorityVoteFilter())
    refined = filter_.Execute(raters)
    vote = MajorityVoteFilter().Execute(raters)
    assert filter_.GetIntensityWeight() <= 0.125
    assert dice(refined == 1, truth == 1) > dice(vote == 1, truth == 1) - 0.003


def test_without_support_the_answer_is_the_fusers_own(raters, truth):
    flat = np.zeros(truth.shape)
    fuser = STAPLEImageFilter()
    filter_ = refinement(flat, Filter=fuser)
    refined = filter_.Execute(raters)
    assert filter_.GetIntensityWeight() == 0
    before = filter_.GetFilterResult()
    np.testing.assert_array_equal(refined, before.label_image())
    np.testing.assert_array_equal(filter_.GetProbabilityImage(1), before.probability_image(1))


def test_two_raters_leave_nobody_to_hold_out(image, raters):
    filter_ = refinement(image)
    refined = filter_.Execute(raters[:2])
    assert filter_.GetIntensityWeight() == 0
    assert np.isnan(filter_.GetHeldOutGains()).all()
    np.testing.assert_array_equal(refined, ConsensusFilter().Execute(raters[:2]))


def test_what_raters_agree_on_is_never_changed(image, raters):
    filter_ = refinement(image, Filter=MajorityVoteFilter())
    refined = filter_.Execute(raters)
    agreed = (np.array(raters) == raters[0]).all(0)
    np.testing.assert_array_equal(refined[agreed], raters[0][agreed])
    total = sum(np.asarray(filter_.GetProbabilityImage(k)) for k in (0, 1))
    np.testing.assert_allclose(total, 1, atol=1e-12)


def test_units_of_intensity_and_the_order_of_raters_do_not_matter(image, raters):
    first = refinement(image, Filter=MajorityVoteFilter()).Execute(raters)
    other = refinement(-700 * image + 40, Filter=MajorityVoteFilter()).Execute(raters[::-1])
    np.testing.assert_array_equal(first, other)


def test_several_labels_masks_and_missing_raters_are_taken(image, raters, truth):
    three = [np.where(np.arange(56) > 30, 2, 1) * rater for rater in raters]
    mask = np.ones(truth.shape, np.uint8)
    mask[:, :15] = 0
    filter_ = refinement(image * (1 + (np.arange(56) > 30)), MaskImage=mask)
    refined = filter_.Execute([*three, None])
    assert filter_.GetLabels() == (0, 1, 2)
    assert not refined[:, :15].any()
    assert np.isnan(filter_.GetHeldOutGains()[-1])
    assert set(np.unique(refined)) == {0, 1, 2}


def test_geometry_is_kept_and_compared(image, raters):
    images = [sitk.GetImageFromArray(rater) for rater in raters]
    ct = sitk.GetImageFromArray(image)
    for one in (*images, ct):
        one.SetSpacing((0.5, 2.0))
    refined = refinement(ct).Execute(images)
    assert refined.GetSpacing() == (0.5, 2.0)
    ct.SetSpacing((1.0, 1.0))
    with pytest.raises(InputError, match="Image"):
        refinement(ct).Execute(images)


def test_an_image_is_needed_and_must_be_finite(image, raters):
    with pytest.raises(ParameterError, match="Image must be set"):
        IntensityRefinementFilter().Execute(raters)
    holed = image.copy()
    holed[20, 20] = np.nan
    with pytest.raises(InputError, match="finite"):
        refinement(holed).Execute(raters)


def test_raters_who_all_agree_need_no_image(image, raters):
    filter_ = refinement(image)
    np.testing.assert_array_equal(filter_.Execute([raters[0]] * 3), raters[0])
    assert filter_.GetIntensityWeight() == 0


@pytest.fixture
def evidence(shared_data):
    module = importlib.import_module("examples.benchmarks.methods.intensity_refinement")
    if not module.deep_lidc.DATA.is_dir() or not module.deep_bubil.DATA.is_dir():
        pytest.skip("the shared nodules and crowds are not beside this repository")
    return module


def test_no_nodule_on_ct_loses_against_the_reader_left_out_and_most_readers_gain(evidence):
    gains = [np.mean(found, axis=0)[0] for found in evidence.nodule_gains("vote").values()]
    assert min(gains) >= -0.005
    assert np.mean(gains) > 0.003


def test_crowds_are_left_as_they_are(evidence):
    gains = [one for found in evidence.crowd_gains("vote", every=15).values() for one in found]
    assert np.mean([gain for gain, _ in gains]) >= -0.0005


def test_a_line_has_no_inside_and_the_image_no_say():
    """On real vessels, refinement with the image removed voxels on which readers agree."""
    rng = np.random.default_rng(3)
    truth = vessel_tree((64, 64), 1.0, rng)
    raters = contour_error_raters(truth, 5, 3, displacement=0.5, bias=0.3, smoothness=4.0)
    refinement = IntensityRefinementFilter(Image=truth + 0.05 * rng.standard_normal(truth.shape))
    refined = refinement.Execute([rater.astype(np.uint8) for rater in raters])
    assert refinement.GetIntensityWeight() == 0
    plain = ConsensusFilter().Execute([rater.astype(np.uint8) for rater in raters])
    np.testing.assert_array_equal(refined, plain)


def test_raters_who_agree_nowhere_leave_the_fusers_answer():
    rng = np.random.default_rng(0)
    raters = [np.full((6, 6, 6), value, np.uint8) for value in (0, 1, 2)]
    refinement = IntensityRefinementFilter(Image=rng.standard_normal((6, 6, 6)))
    with np.errstate(all="raise"):
        refinement.Execute(raters)
    assert refinement.GetIntensityWeight() == 0
