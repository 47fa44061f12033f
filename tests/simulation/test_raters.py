from __future__ import annotations

import hashlib

import numpy as np
import pytest

from examples.simulation import (
    ONE_GOOD_FOUR_POOR,
    confusion_raters,
    disc_phantom,
    ellipsoid_phantom,
    heterogeneous_raters,
    multilabel_raters,
    nested_phantom,
    paper_qualities,
    paper_raters,
    random_rater,
    spatial_raters,
    uniform_confusion,
)
from itk_consensus.core.errors import ParameterError


def digest(mask):
    return hashlib.sha256(np.packbits(mask).tobytes()).hexdigest()[:16]


@pytest.fixture(scope="module")
def ellipse():
    return ellipsoid_phantom().truth


@pytest.mark.parametrize("number", [1, 2, 3, 5, 7, 30])
@pytest.mark.parametrize("seed", [0, 1, 4, 9, 123])
@pytest.mark.parametrize("outlier", [None, -1])
def test_paper_raters_match_the_reference(reference, ellipse, number, seed, outlier):
    raters, sensitivity, specificity = reference.raters(ellipse, number, seed, outlier=outlier)
    np.testing.assert_array_equal(paper_raters(ellipse, number, seed, outlier=outlier), raters)
    np.testing.assert_array_equal(
        paper_qualities(number, seed, outlier=outlier), [sensitivity, specificity]
    )


@pytest.mark.parametrize("radius", [39, 22, 10, 7, 5, 2])
@pytest.mark.parametrize("maximum_jitter", [0, 1, 2, 5])
def test_jitter_matches_the_reference_even_when_it_erases_the_disc(
    reference, radius, maximum_jitter
):
    truth = disc_phantom(radius).truth
    np.testing.assert_array_equal(
        paper_raters(truth, 5, radius, maximum_jitter=maximum_jitter),
        reference.raters(truth, 5, radius, jmax=maximum_jitter)[0],
    )


def test_jitter_at_the_image_border_matches_the_reference(reference):
    truth = np.ones((40, 30), bool)
    np.testing.assert_array_equal(paper_raters(truth, 9, 2), reference.raters(truth, 9, 2)[0])


def test_paper_raters_match_the_reference_in_3d(reference):
    truth = ellipsoid_phantom((20, 24, 28), (6, 8, 9)).truth
    np.testing.assert_array_equal(paper_raters(truth, 4, 5), reference.raters(truth, 4, 5)[0])


@pytest.mark.parametrize("jitter", ["after", "none", "before"])
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("number", [5, 6])
def test_spatial_raters_match_the_reference(reference, ellipse, jitter, seed, number):
    np.testing.assert_array_equal(
        spatial_raters(ellipse, number, seed, jitter),
        reference.spatial_raters(ellipse, number, seed, jitter)[0],
    )


@pytest.mark.parametrize("seed", range(5))
def test_heterogeneous_raters_match_the_reference(reference, ellipse, seed):
    np.testing.assert_array_equal(
        heterogeneous_raters(ellipse, seed, ONE_GOOD_FOUR_POOR),
        reference.heterogeneous(ellipse, seed, ONE_GOOD_FOUR_POOR),
    )


@pytest.mark.parametrize(
    ("draw", "expected"),
    [
        (lambda ellipse: paper_raters(ellipse, 5, 0), "e6375b41b0757f0b"),
        (lambda ellipse: paper_raters(ellipse, 30, 4), "2d38b23346e2774e"),
        (lambda ellipse: paper_raters(ellipse, 6, 7, maximum_jitter=0), "d5d3c0f78a0b1512"),
        (lambda ellipse: paper_raters(ellipse, 5, 1, outlier=-1), "7b34bd48b6c491be"),
        (lambda ellipse: spatial_raters(ellipse, 6, 0, "after"), "c6a8dacd3e89f45f"),
        (lambda ellipse: spatial_raters(ellipse, 6, 1, "none"), "ab7548e7a0c2c749"),
        (lambda ellipse: spatial_raters(ellipse, 6, 2, "before"), "6e7dbbe60828eeeb"),
        (lambda ellipse: heterogeneous_raters(ellipse, 3, ONE_GOOD_FOUR_POOR), "e427f0bdc805d00f"),
    ],
)
def test_draw_order_has_not_changed(ellipse, draw, expected):
    assert digest(draw(ellipse)) == expected


def test_realised_quality_without_jitter_is_the_drawn_one(ellipse):
    truth = ellipsoid_phantom((256, 256), (90, 90)).truth
    raters = paper_raters(truth, 6, 0, maximum_jitter=0)
    sensitivity, specificity = paper_qualities(6, 0)
    assert raters[:, truth].mean(axis=1) == pytest.approx(sensitivity, abs=0.01)
    assert (~raters[:, ~truth]).mean(axis=1) == pytest.approx(specificity, abs=0.01)


def test_spatial_quality_differs_between_the_halves(ellipse):
    raters = spatial_raters(ellipse, 6, 0, "none")
    left, right = np.s_[..., :64], np.s_[..., 64:]
    good = [raters[:3][left], raters[3:][right]]
    poor = [raters[:3][right], raters[3:][left]]
    truths = [ellipse[left], ellipse[right]]
    for halves, truth_order, accuracy in ((good, (0, 1), 0.95), (poor, (1, 0), 0.60)):
        for half, side in zip(halves, truth_order, strict=True):
            assert half[:, truths[side]].mean() == pytest.approx(accuracy, abs=0.03)


def test_an_unknown_jitter_is_refused(ellipse):
    with pytest.raises(ParameterError, match=r"spatial_raters: jitter must be .* got 'sideways'"):
        spatial_raters(ellipse, jitter="sideways")


def test_a_random_rater_is_right_half_the_time_in_both_classes(ellipse):
    right = random_rater(ellipse, 3) == ellipse
    assert right[ellipse].mean() == pytest.approx(0.5, abs=0.03)
    assert right[~ellipse].mean() == pytest.approx(0.5, abs=0.03)


def test_realised_confusion_is_the_given_one():
    truth = nested_phantom((200, 200), 3).truth * np.int16(100) - np.int16(100)
    confusion = np.array([[0.9, 0.2, 0.0], [0.1, 0.7, 0.3], [0.0, 0.1, 0.7]])
    rater = confusion_raters(truth, [confusion], seed=1)[0]
    labels = [-100, 0, 100]
    realised = [[(rater[truth == t] == d).mean() for t in labels] for d in labels]
    assert rater.dtype == truth.dtype
    np.testing.assert_allclose(realised, confusion, atol=0.02)


def test_raters_may_say_labels_that_the_truth_lacks():
    truth = np.full((50, 50), 7)
    rater = confusion_raters(truth, [uniform_confusion(3, 0.5)], 0, labels=[2, 7, 9])[0]
    assert set(np.unique(rater)) == {2, 7, 9}


def test_binary_confusion_is_sensitivity_and_specificity(ellipse):
    confusion = [[0.97, 0.2], [0.03, 0.8]]
    rater = confusion_raters(ellipse, [confusion], 5)[0]
    assert rater.dtype == bool
    assert rater[ellipse].mean() == pytest.approx(0.8, abs=0.03)
    assert (~rater[~ellipse]).mean() == pytest.approx(0.97, abs=0.01)


def test_multilabel_outlier_is_no_better_than_chance():
    truth = nested_phantom((200, 200), 4).truth
    raters = multilabel_raters(truth, 4, 0, outlier=-1)
    accuracy = (raters == truth).mean(axis=(1, 2))
    assert accuracy[-1] == pytest.approx(0.25, abs=0.01)
    assert ((accuracy[:-1] > 0.74) & (accuracy[:-1] < 0.96)).all()


def test_a_truth_of_one_label_is_rated_as_it_is():
    truth = np.full((5, 5), 3)
    np.testing.assert_array_equal(multilabel_raters(truth, 2), np.full((2, 5, 5), 3))


@pytest.mark.parametrize(
    ("confusions", "labels", "message"),
    [
        (np.eye(2), None, r"shape \(raters, 2, 2\)"),
        (np.ones((1, 2, 2)), None, "columns sum to 1"),
        ([np.eye(2)], [0, 4], "hold every label of truth"),
        ([np.eye(2)], [5, 0], "ascending"),
    ],
)
def test_unusable_confusions_are_refused(confusions, labels, message):
    with pytest.raises(ParameterError, match=f"confusion_raters: .*{message}"):
        confusion_raters(np.array([0, 5, 5]), confusions, labels=labels)


def test_no_rater_function_changes_the_truth(ellipse):
    before = ellipse.copy()
    paper_raters(ellipse, outlier=-1)
    spatial_raters(ellipse)
    heterogeneous_raters(ellipse, 0, ONE_GOOD_FOUR_POOR)
    multilabel_raters(ellipse)
    np.testing.assert_array_equal(ellipse, before)
