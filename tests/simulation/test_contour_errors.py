from __future__ import annotations

import numpy as np
import pytest
from scipy.ndimage import distance_transform_edt, label, uniform_filter

from examples.simulation import (
    contour_error_raters,
    ellipsoid_phantom,
    nested_phantom,
    organs_phantom,
)
from examples.simulation.contour_errors import smooth_field
from itk_consensus.core.errors import ParameterError
from itk_consensus.votes.overlap import dice

TRUTHS = {
    "ellipse": ellipsoid_phantom().truth,
    "ellipsoid": ellipsoid_phantom((48, 64, 64), (14, 20, 24)).truth,
    "nested": nested_phantom((48, 80, 80), 3).truth,
    "organs": organs_phantom((48, 96, 96), 4).truth,
}


@pytest.fixture(params=TRUTHS)
def truth(request):
    return TRUTHS[request.param]


def test_same_seed_gives_the_same_raters_and_leaves_the_truth_alone(truth):
    before = truth.copy()
    first, again, other = (contour_error_raters(truth, 2, seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()
    np.testing.assert_array_equal(truth, before)


def test_labels_and_type_are_those_of_the_truth(truth):
    raters = contour_error_raters(truth, 3)
    assert raters.shape == (3, *truth.shape)
    assert raters.dtype == truth.dtype
    assert set(np.unique(raters)) == set(np.unique(truth))


def test_raters_are_imperfect_but_recognisable(truth):
    for rater in contour_error_raters(truth, 4):
        for value in np.unique(truth)[1:]:
            assert 0.6 < dice(rater == value, truth == value) < 0.995


def test_there_is_no_voxel_noise(truth):
    """Every structure remains connected, and no voxel is isolated among its neighbours."""
    connected = np.ones((3,) * truth.ndim)
    for rater in contour_error_raters(truth, 4):
        for value in np.unique(truth):
            mask = rater == value
            assert label(mask, connected)[1] == label(truth == value, connected)[1]
            neighbourhood = uniform_filter(mask.astype(float), 3)
            assert neighbourhood[mask].min() > 1.5 / 3**truth.ndim


@pytest.mark.parametrize(
    ("shape", "number", "displacement", "smoothness"),
    [((80, 5000), 4, 3.0, 15.0), ((80, 200, 200), 6, 1.2, 6.0)],
)
def test_contours_move_by_the_asked_spread_in_physical_units(
    shape, number, displacement, smoothness
):
    """A flat contour is displaced, so its distance to the original is the field itself."""
    truth = np.zeros(shape, bool)
    truth[40:] = True
    raters = contour_error_raters(
        truth,
        number,
        displacement=displacement,
        bias=0.0,
        smoothness=smoothness,
        spacing=(0.5, *[1.0] * (truth.ndim - 1)),
    )
    shift = 0.5 * (raters.sum(axis=1) - 40.0)
    # 400 to 500 independent patches have a standard error of 3 to 4 %; the tolerance is three
    # standard errors.
    assert np.sqrt((shift**2).mean()) == pytest.approx(displacement, rel=0.1)


def test_bias_alone_moves_a_contour_by_one_distance_everywhere():
    truth = ellipsoid_phantom((128, 128), (40, 40)).truth
    outside, inside = distance_transform_edt(~truth), distance_transform_edt(truth)
    signed = np.where(truth, inside - 0.5, 0.5 - outside)
    for rater in contour_error_raters(truth, 4, displacement=0.0, bias=4.0):
        assert (rater != truth).any()
        assert signed[rater].min() > signed[~rater].max()


def test_no_error_returns_the_truth(truth):
    raters = contour_error_raters(truth, 2, displacement=0.0, bias=0.0)
    np.testing.assert_array_equal(raters, np.stack([truth, truth]))


def test_first_raters_do_not_depend_on_their_number(truth):
    np.testing.assert_array_equal(
        contour_error_raters(truth, 4, 7)[:2], contour_error_raters(truth, 2, 7)
    )


def test_an_outlier_is_made_by_its_own_displacement():
    truth = TRUTHS["ellipsoid"]
    scores = [
        dice(rater, truth)
        for rater in contour_error_raters(truth, 5, displacement=[1, 1, 1, 1, 6], smoothness=16)
    ]
    assert np.argmin(scores) == 4


def test_label_values_are_only_names():
    truth = TRUTHS["organs"]
    # Fields are drawn in ascending order of labels, and the new label values preserve that order.
    names = np.array([-5, 3, 7, 40, 1000], np.int16)
    np.testing.assert_array_equal(
        contour_error_raters(names[truth], 2), names[contour_error_raters(truth, 2)]
    )


@pytest.mark.parametrize("value", [0, 3])
def test_an_image_of_one_label_has_no_contour_to_move(value):
    truth = np.full((6, 7, 8), value)
    np.testing.assert_array_equal(contour_error_raters(truth, 2), np.stack([truth, truth]))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"spacing": (1, 1, 1)}, "spacing must be 2 positive numbers"),
        ({"spacing": (1, 0)}, "spacing must be 2 positive numbers"),
        ({"smoothness": 0}, "smoothness must be > 0, got 0"),
        ({"bias": -1}, "bias must be a number >= 0"),
        ({"displacement": [1, 2]}, "displacement must be .* or 5 of them"),
    ],
)
def test_unusable_parameters_are_named(arguments, message):
    with pytest.raises(ParameterError, match=f"contour_error_raters: {message}"):
        contour_error_raters(TRUTHS["ellipse"], 5, **arguments)


def test_smooth_field_has_unit_variance_and_the_kernels_correlation():
    rng = np.random.default_rng(0)
    position = rng.uniform(0, 1000, (2, 4000))
    neighbour = position + np.array([[10.0], [0.0]])
    both = np.hstack([position, neighbour])
    field = smooth_field(both, np.array([1010.0, 1010.0]), 10.0, rng)
    first, second = field[:4000], field[4000:]
    assert field.std() == pytest.approx(1.0, abs=0.05)
    # White noise smoothed with sigma s has the correlation exp(-r² / 4s²).
    assert np.corrcoef(first, second)[0, 1] == pytest.approx(np.exp(-1 / 4), abs=0.05)
