from __future__ import annotations

import hashlib

import numpy as np
import pytest
from scipy.ndimage import label

from examples.simulation import (
    disc_phantom,
    ellipsoid_mask,
    ellipsoid_phantom,
    nested_phantom,
    organs_phantom,
)
from itk_consensus.core.errors import ParameterError


@pytest.mark.parametrize("seed", range(10))
def test_default_phantom_is_the_papers(reference, seed):
    truth, image = ellipsoid_phantom(seed=seed)
    expected_truth, expected_image = reference.phantom(seed=seed)
    np.testing.assert_array_equal(truth, expected_truth)
    np.testing.assert_array_equal(image, expected_image)


def test_image_noise_has_not_changed():
    positive = np.packbits(ellipsoid_phantom(seed=3).image > 0).tobytes()
    assert hashlib.sha256(positive).hexdigest()[:16] == "c832c0dfa6910410"


def test_every_parameter_matches_the_reference(reference):
    ours = ellipsoid_phantom((64, 80), (21, 16), 9999, center=(30, 41.5), noise=0.2, contrast=0.5)
    theirs = reference.phantom((64, 80), (21, 16), 9999, (30, 41.5), 0.2, 0.5)
    np.testing.assert_array_equal(ours.truth, theirs[0])
    np.testing.assert_array_equal(ours.image, theirs[1])


@pytest.mark.parametrize("radius", [39, 32, 22, 16, 10, 7, 5])
def test_discs_match_the_reference(reference, radius):
    ours, theirs = disc_phantom(radius, 3), reference.phantom(radii=(radius, radius), seed=3)
    np.testing.assert_array_equal(ours.truth, theirs[0])
    np.testing.assert_array_equal(ours.image, theirs[1])


def test_ellipsoid_volume_approaches_the_closed_form():
    semi_axes = (20, 30, 25)
    volume = ellipsoid_mask((64, 96, 96), semi_axes).sum()
    assert volume == pytest.approx(4 / 3 * np.pi * np.prod(semi_axes), rel=0.01)


def test_a_slice_through_the_centre_of_a_ball_is_a_disc():
    ball = disc_phantom(10, shape=(40, 50, 60)).truth
    np.testing.assert_array_equal(ball[20], disc_phantom(10, shape=(50, 60)).truth)


@pytest.mark.parametrize("shape", [(90, 100), (40, 60, 50)])
@pytest.mark.parametrize("number_of_labels", [2, 4, 7])
def test_nested_labels_each_touch_only_their_neighbours(shape, number_of_labels):
    truth = nested_phantom(shape, number_of_labels).truth
    assert np.unique(truth).tolist() == list(range(number_of_labels))
    for axis in range(truth.ndim):
        assert np.abs(np.diff(truth.astype(int), axis=axis)).max() == 1


@pytest.mark.parametrize(
    ("shape", "number"), [((64, 96), 3), ((64, 96, 96), 5), ((80, 80, 80), 12)]
)
@pytest.mark.parametrize("seed", range(3))
def test_every_organ_is_one_connected_piece(shape, number, seed):
    truth = organs_phantom(shape, number, seed).truth
    assert np.unique(truth).tolist() == list(range(number + 1))
    for organ in range(1, number + 1):
        assert label(truth == organ)[1] == 1


def test_organs_vary_with_the_seed_and_only_with_the_seed():
    first, again, other = (organs_phantom(seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.truth, again.truth)
    np.testing.assert_array_equal(first.image, again.image)
    assert (first.truth != other.truth).any()


def test_label_images_step_evenly_up_to_the_contrast():
    truth, image = nested_phantom((120, 120), 4, noise=0.0, contrast=0.9)
    np.testing.assert_allclose(np.unique(image), [0, 0.3, 0.6, 0.9])
    assert (
        np.argsort(image, axis=None, kind="stable") == np.argsort(truth, axis=None, kind="stable")
    ).all()


def test_unusable_parameters_are_named():
    with pytest.raises(ParameterError, match="nested_phantom: number_of_labels must be 2 to 256"):
        nested_phantom(number_of_labels=1)
    with pytest.raises(ParameterError, match=r"organs_phantom: number_of_organs .* got 200"):
        organs_phantom((20, 20), 200)
    with pytest.raises(ParameterError, match=r"ellipsoid_mask: .* one number per axis"):
        ellipsoid_mask((10, 10), (3, 3, 3))
