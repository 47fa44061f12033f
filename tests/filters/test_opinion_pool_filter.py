from __future__ import annotations

import itk
import numpy as np
import pytest
import SimpleITK as sitk

from itk_consensus import LogOpinionPool, LogOpinionPoolFilter, MajorityVoteFilter
from itk_consensus.core.errors import InputError, ParameterError


@pytest.fixture
def opinions():
    rng = np.random.default_rng(0)
    return [rng.uniform(0.02, 0.98, (6, 7)).astype(np.float32) for _ in range(3)]


def geometric_mean(opinions):
    clipped = np.clip(np.asarray(opinions, float), 0.05, 0.95)
    yes, no = (np.exp(np.log(p).mean(axis=0)) for p in (clipped, 1 - clipped))
    return yes / (yes + no)


def test_probability_images_pool_to_their_geometric_mean(opinions):
    fuser = LogOpinionPoolFilter()
    labels = fuser.Execute(opinions)
    expected = geometric_mean(opinions)
    np.testing.assert_allclose(fuser.GetProbabilityImage(1), expected, rtol=1e-9)
    np.testing.assert_allclose(fuser.GetProbabilityImage(0), 1 - expected, rtol=1e-9)
    np.testing.assert_array_equal(labels, expected > 0.5)
    assert labels.dtype == np.int32
    assert fuser.GetLabels() == (0, 1)


def test_simpleitk_and_itk_probability_images_keep_their_family_and_space(opinions):
    sitk_images = [sitk.GetImageFromArray(opinion) for opinion in opinions]
    for image in sitk_images:
        image.SetSpacing((0.5, 2.0))
    fuser = LogOpinionPoolFilter()
    fused = fuser.Execute(sitk_images)
    assert fused.GetSpacing() == (0.5, 2.0)
    assert fused.GetPixelID() == sitk.sitkInt32
    probability = sitk.GetArrayFromImage(fuser.GetProbabilityImage(1))
    np.testing.assert_allclose(probability, geometric_mean(opinions), rtol=1e-9)
    itk_fused = LogOpinionPool([itk.image_from_array(opinion) for opinion in opinions])
    np.testing.assert_array_equal(itk.array_from_image(itk_fused), sitk.GetArrayFromImage(fused))


def test_equal_masks_pool_to_the_majority(masks):
    pool, vote = LogOpinionPoolFilter(), MajorityVoteFilter()
    np.testing.assert_array_equal(pool.Execute(masks), vote.Execute(masks))
    decided = vote.GetProbabilityImage(1) != 0.5
    firm = np.abs(pool.GetProbabilityImage(1) - 0.5) > 1e-9
    np.testing.assert_array_equal(firm, decided)


def test_masks_and_probabilities_mix(opinions):
    mask = (opinions[0] > 0.4).astype(np.uint8)
    fuser = LogOpinionPoolFilter()
    fuser.Execute([mask, *opinions[1:]])
    np.testing.assert_allclose(
        fuser.GetProbabilityImage(1), geometric_mean([mask, *opinions[1:]]), rtol=1e-9
    )


@pytest.mark.parametrize("odd", [np.nan, np.inf, -0.01, 1.5])
def test_values_that_are_no_probabilities_are_refused_by_input_and_value(opinions, odd):
    opinions[1][2, 3] = odd
    with pytest.raises(InputError, match=rf"LogOpinionPoolFilter: input 1 .*found {odd:g}"):
        LogOpinionPoolFilter().Execute(opinions)


def test_a_label_among_probabilities_is_refused(opinions):
    labels = np.full((6, 7), 2, np.uint8)
    with pytest.raises(InputError, match=r"input 3 must hold .*probabilities from 0 to 1, found 2"):
        LogOpinionPoolFilter().Execute([*opinions, labels])


def test_the_type_of_the_inputs_decides_what_they_are_and_not_their_values(label_maps, masks):
    floats = [labels.astype(np.float32) for labels in label_maps]
    with pytest.raises(
        InputError, match=r"input 0 must hold labels of an integer type or, .*found"
    ):
        LogOpinionPoolFilter().Execute(floats)
    # Whole numbers in floating-point images are certain opinions, i.e. masks.
    certain, voted = LogOpinionPoolFilter(), LogOpinionPoolFilter()
    np.testing.assert_array_equal(
        certain.Execute([mask.astype(np.float32) for mask in masks]), voted.Execute(masks)
    )
    for label in (0, 1):
        np.testing.assert_allclose(
            certain.GetProbabilityImage(label), voted.GetProbabilityImage(label), atol=1e-12
        )


def test_too_few_masks_of_raters_are_refused(opinions):
    fuser = LogOpinionPoolFilter(RaterMasks=[None, None], MissingLabel=-1)
    with pytest.raises(InputError, match="RaterMasks must have 3 entries, got 2"):
        fuser.Execute(opinions)


def test_missing_opinions_do_not_count(opinions):
    first, second, third = opinions
    gap = np.zeros(first.shape, bool)
    gap[2:4, 1:5] = True
    plain = LogOpinionPoolFilter(RaterWeights=(0.5, 0.5, 0.5))
    plain.Execute(opinions)
    pair = LogOpinionPoolFilter(RaterWeights=(0.5, 0.5))
    pair.Execute([first, second])
    expected = np.where(gap, pair.GetProbabilityImage(1), plain.GetProbabilityImage(1))
    by_label = LogOpinionPoolFilter(RaterWeights=(0.5, 0.5, 0.5), MissingLabel=-1)
    by_label.Execute([first, second, np.where(gap, np.float32(-1), third)])
    by_mask = LogOpinionPoolFilter(
        RaterWeights=(0.5, 0.5, 0.5), RaterMasks=[None, None, (~gap).astype(np.uint8)]
    )
    by_mask.Execute([first, second, np.where(gap, np.float32(np.nan), third)])
    absent = LogOpinionPoolFilter(RaterWeights=(0.5, 0.5, 0.5))
    absent.Execute([first, second, None])
    np.testing.assert_allclose(by_label.GetProbabilityImage(1), expected, rtol=1e-9)
    np.testing.assert_allclose(by_mask.GetProbabilityImage(1), expected, rtol=1e-9)
    np.testing.assert_array_equal(absent.GetProbabilityImage(1), pair.GetProbabilityImage(1))


def test_outside_the_mask_probabilities_are_0(opinions):
    mask = np.zeros((6, 7), np.uint8)
    mask[1:4, 2:6] = 1
    fuser = LogOpinionPoolFilter(MaskImage=mask)
    assert not fuser.Execute(opinions)[mask == 0].any()
    for label in (0, 1):
        assert not fuser.GetProbabilityImage(label)[mask == 0].any()
    np.testing.assert_allclose(
        fuser.GetProbabilityImage(1)[mask == 1], geometric_mean(opinions)[mask == 1], rtol=1e-9
    )


@pytest.mark.parametrize("kind", ["labels", "probabilities"])
def test_a_higher_temperature_doubts_more_and_decides_alike(opinions, masks, kind):
    images = opinions if kind == "probabilities" else masks
    cold, hot = LogOpinionPoolFilter(), LogOpinionPoolFilter(Temperature=4.0)
    np.testing.assert_array_equal(cold.Execute(images), hot.Execute(images))
    doubt = [np.abs(fuser.GetProbabilityImage(1) - 0.5) for fuser in (cold, hot)]
    assert (doubt[1] <= doubt[0]).all()
    assert doubt[1].sum() < doubt[0].sum()


def test_a_prior_image_is_one_more_opinion(opinions):
    prior = np.full((6, 7), 0.8, np.float32)
    third = 1 / 3
    by_image = LogOpinionPoolFilter(RaterWeights=(third, third, third, 1.0))
    by_image.Execute([*opinions, prior])
    by_number = LogOpinionPoolFilter(Prior=float(prior[0, 0]))
    by_number.Execute(opinions)
    np.testing.assert_allclose(
        by_image.GetProbabilityImage(1), by_number.GetProbabilityImage(1), rtol=1e-6
    )


def test_a_prior_must_cover_every_label(label_maps):
    with pytest.raises(ParameterError, match=r"Prior must be a \{label: probability\} dict"):
        LogOpinionPoolFilter(Prior=0.3).Execute(label_maps)
    with pytest.raises(ParameterError, match=r"Prior must give each of the labels \[0, 1, 2, 4\]"):
        LogOpinionPoolFilter(Prior={0: 0.5, 1: 0.5}).Execute(label_maps)


def test_equal_probabilities_fall_under_the_tie_rule():
    half = [np.array([[0.5, 0.2, 0.9]])]
    assert LogOpinionPoolFilter().Execute(half).tolist() == [[2, 0, 1]]
    assert LogOpinionPoolFilter(TieRule="highest").Execute(half).tolist() == [[1, 0, 1]]
    assert LogOpinionPoolFilter(TieRule="background").Execute(half).tolist() == [[0, 0, 1]]


def test_diagnostics_of_probabilities_see_their_thresholded_masks(opinions):
    fuser = LogOpinionPoolFilter()
    fuser.Execute(opinions)
    assert str(fuser.GetDiagnostics())
