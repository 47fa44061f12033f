"""Probability maps of ensembles: valid inputs, averages and pools."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import SimpleITK as sitk
import torch
import xarray
from monai.data import MetaTensor
from monai.transforms import MeanEnsemble
from scipy.special import softmax

import itk_consensus
from itk_consensus import LogOpinionPoolFilter, ProbabilityAverageFilter
from itk_consensus.core.errors import ConsensusError, InputError, ParameterError
from itk_consensus.methods.registry import FUSERS

SHAPE = (4, 5, 6)
MASK_FUSERS = [f for f in FUSERS if not f.takes_probabilities and not f.soft_inputs]


def models(number: int = 5, classes: int = 3, seed: int = 0) -> np.ndarray:
    """Return (models, classes, z, y, x) softmax outputs of models with varying agreement."""
    rng = np.random.default_rng(seed)
    common = rng.normal(size=(1, classes, *SHAPE))
    logits = 2 * common + rng.normal(size=(number, classes, *SHAPE))
    return softmax(logits, axis=1).astype(np.float32)


def vector(classes: np.ndarray) -> sitk.Image:
    return sitk.GetImageFromArray(np.moveaxis(classes, 0, -1).copy(), isVector=True)


def as_array(image: Any) -> np.ndarray:
    return sitk.GetArrayFromImage(image) if isinstance(image, sitk.Image) else np.asarray(image)


FORMS = {
    "vector images": lambda p: [vector(model) for model in p],
    "lists of images": lambda p: [[sitk.GetImageFromArray(c) for c in model] for model in p],
    "lists of arrays": lambda p: [list(model) for model in p],
    "MetaTensors": lambda p: [
        MetaTensor(torch.from_numpy(model.transpose(0, 3, 2, 1).copy())) for model in p
    ],
}


@pytest.mark.parametrize("form", FORMS)
def test_the_average_is_numpys_and_monais_mean(form: str) -> None:
    probabilities = models()
    filter_ = ProbabilityAverageFilter()
    labels = filter_.Execute(FORMS[form](probabilities))
    turned = (lambda a: a[0].transpose(2, 1, 0)) if form == "MetaTensors" else (lambda a: a)
    monai = MeanEnsemble()(torch.from_numpy(probabilities.astype(np.float64))).numpy()
    mean = probabilities.astype(np.float64).mean(axis=0)
    np.testing.assert_array_equal(turned(as_array(labels)), mean.argmax(axis=0))
    assert filter_.GetLabels() == (0, 1, 2)
    for label in range(3):
        share = turned(as_array(filter_.GetProbabilityImage(label)))
        np.testing.assert_allclose(share, mean[label], atol=1e-12)
        np.testing.assert_allclose(share, monai[label], atol=1e-12)


@pytest.mark.parametrize("axis", [0, -1])
@pytest.mark.parametrize("family", [np.array, torch.from_numpy, xarray.DataArray])
def test_a_named_class_axis_holds_the_classes(axis: int, family: Any) -> None:
    probabilities = models()
    arrays = [family(np.moveaxis(model, 0, axis).copy()) for model in probabilities]
    filter_ = ProbabilityAverageFilter(ClassAxis=axis)
    labels = filter_.Execute(arrays)
    assert isinstance(labels, type(arrays[0]))
    np.testing.assert_array_equal(np.asarray(labels), probabilities.mean(axis=0).argmax(axis=0))


def test_weights_weigh_and_missing_models_do_not_count() -> None:
    probabilities = models(4)
    weights = (1.0, 5.0, 2.0, 0.5)
    filter_ = ProbabilityAverageFilter(RaterWeights=weights)
    for missing in (FORMS["vector images"], FORMS["lists of arrays"]):
        inputs = missing(probabilities)
        inputs[1] = None
        filter_.Execute(inputs)
        kept = [0, 2, 3]
        mean = np.average(probabilities[kept].astype(float), 0, np.array(weights)[kept])
        np.testing.assert_allclose(as_array(filter_.GetProbabilityImage(2)), mean[2], atol=1e-12)


def test_masked_voxels_of_models_do_not_count() -> None:
    probabilities = models(3)
    gap = np.random.default_rng(1).random(SHAPE) < 0.4
    inputs: list[Any] = [list(model) for model in probabilities]
    inputs[2] = [np.ma.masked_array(np.where(gap, np.nan, c), gap) for c in inputs[2]]
    filter_ = ProbabilityAverageFilter()
    filter_.Execute(inputs)
    two, three = (probabilities[:n].astype(float).mean(axis=0)[1] for n in (2, 3))
    np.testing.assert_allclose(
        filter_.GetProbabilityImage(1), np.where(gap, two, three), atol=1e-12
    )


def test_foreground_probabilities_are_two_classes() -> None:
    foreground = models(5, 2)[:, 1]
    filter_ = ProbabilityAverageFilter(TieRule="lowest")
    labels = filter_.Execute(list(foreground))
    mean = foreground.astype(float).mean(axis=0)
    np.testing.assert_array_equal(labels, mean > 0.5)
    np.testing.assert_allclose(filter_.GetProbabilityImage(1), mean, atol=1e-12)


def test_certain_opinions_are_the_vote() -> None:
    labels = np.random.default_rng(2).integers(0, 3, (5, *SHAPE)).astype(np.uint8)
    certain = [[(one == k).astype(np.float32) for k in range(3)] for one in labels]
    soft, hard = ProbabilityAverageFilter(), itk_consensus.MajorityVoteFilter()
    np.testing.assert_array_equal(soft.Execute(certain), hard.Execute(list(labels)))
    for label in range(3):
        one, other = soft.GetProbabilityImage(label), hard.GetProbabilityImage(label)
        np.testing.assert_allclose(one, other, atol=1e-12)
    pool, votes = LogOpinionPoolFilter(), LogOpinionPoolFilter()
    np.testing.assert_array_equal(pool.Execute(certain), votes.Execute(list(labels)))
    one, other = pool.GetProbabilityImage(1), votes.GetProbabilityImage(1)
    np.testing.assert_allclose(one, other, atol=1e-12)


def test_the_pool_is_the_product_of_powers() -> None:
    probabilities = models(3)
    weights, temperatures = (1.0, 0.5, 2.0), (1.0, 2.0, 0.5)
    filter_ = LogOpinionPoolFilter(
        RaterWeights=weights, Temperature=temperatures, ErrorRate=1e-6, TieRule="lowest"
    )
    labels = filter_.Execute(FORMS["vector images"](probabilities))
    exponents = np.reshape(np.divide(weights, temperatures), (3, 1, 1, 1, 1))
    product = np.prod(np.clip(probabilities.astype(float), 5e-7, 1 - 1e-6) ** exponents, axis=0)
    product /= product.sum(axis=0)
    np.testing.assert_array_equal(as_array(labels), product.argmax(axis=0))
    for label in range(3):
        share = as_array(filter_.GetProbabilityImage(label))
        np.testing.assert_allclose(share, product[label], atol=1e-10)


def test_two_classes_are_pooled_as_foreground_probabilities_are() -> None:
    probabilities = models(4, 2)
    probabilities[:, 0] = 1 - probabilities[:, 1]
    classes, foreground = LogOpinionPoolFilter(), LogOpinionPoolFilter()
    classes.Execute(FORMS["lists of arrays"](probabilities))
    foreground.Execute(list(probabilities[:, 1]))
    one, other = classes.GetProbabilityImage(1), foreground.GetProbabilityImage(1)
    np.testing.assert_allclose(one, other, atol=1e-6)


def test_temperatures_are_one_or_one_per_rater() -> None:
    with pytest.raises(ParameterError, match="Temperature must be one number or 5, got 2"):
        LogOpinionPoolFilter(Temperature=(1.0, 2.0)).Execute(FORMS["lists of arrays"](models()))


@pytest.mark.parametrize("fuser", MASK_FUSERS, ids=lambda fuser: fuser.__name__)
def test_a_softmax_image_among_masks_names_the_filter_to_use(fuser: Any) -> None:
    for form in ("vector images", "MetaTensors"):
        with pytest.raises(InputError, match=f"{fuser.__name__}: input 0 .*ProbabilityAverage"):
            fuser().Execute(FORMS[form](models()))
    scalar = [sitk.GetImageFromArray(model[1]) for model in models()]
    with pytest.raises(InputError, match=f"{fuser.__name__}: input 0 .*ProbabilityAverage"):
        fuser().Execute(scalar)


@pytest.mark.parametrize("fuser", [ProbabilityAverageFilter, LogOpinionPoolFilter])
def test_what_is_no_probability_is_refused(fuser: Any) -> None:
    good = models(2)
    for wrong, words in (
        (good * 0.9, "input 0 must hold class probabilities: its 3 classes do not sum to"),
        (good * 3 - 1, "input 0 must hold .* probabilities from 0 to 1"),
    ):
        for form in FORMS.values():
            with pytest.raises(InputError, match=words):
                fuser().Execute(form(wrong))
    with pytest.raises(InputError, match=r"input 1 must be a list .* of 3 classes .* got a"):
        fuser().Execute([list(good[0]), list(good[1][:2])])
    with pytest.raises(InputError, match=r"equal numbers of classes, got images of \[2, 3\] comp"):
        fuser().Execute([vector(good[0]), vector(good[1][:2])])
    with pytest.raises(InputError, match="ClassAxis = 4"):
        fuser(ClassAxis=4).Execute(list(good))
    with pytest.raises(ConsensusError, match="ClassAxis = 0, got Image"):
        fuser(ClassAxis=0).Execute([vector(model) for model in good])
