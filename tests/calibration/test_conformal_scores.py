from __future__ import annotations

import numpy as np
import pytest
import SimpleITK as sitk
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from itk_consensus.calibration.probabilities import EPSILON, box_around, consensus_labels, log_odds
from itk_consensus.calibration.scores import (
    band_codes,
    distance_scores,
    label_bits,
    prediction_sets,
    probability_scores,
)

SPACING = (2.5, 1.0, 0.7)
WHOLE = (slice(None),) * 3


@pytest.fixture
def blob():
    z, y, x = np.indices((9, 20, 22))
    return (((z - 4) * 2.5) ** 2 + (y - 9) ** 2 + ((x - 10) * 0.7) ** 2 < 36).astype(np.uint16)


def maurer(mask):
    """Return SimpleITK's signed distance, measured between voxel centres on both sides."""
    image = sitk.GetImageFromArray(mask.astype(np.uint8))
    image.SetSpacing(SPACING[::-1])

    def outside(of):
        options = {"squaredDistance": False, "useImageSpacing": True, "insideIsPositive": False}
        return np.maximum(sitk.GetArrayFromImage(sitk.SignedMaurerDistanceMap(of, **options)), 0)

    return outside(image) - outside(sitk.BinaryNot(image))


def test_distance_scores_are_simpleitks_maurer_distance_over_the_spread(blob):
    maps = distance_scores(blob, WHOLE, SPACING, 5.0, (2.0, 2.0))
    expected = maurer(blob)
    np.testing.assert_allclose(maps.scores[1], expected / 2, atol=1e-5)
    np.testing.assert_array_equal(maps.scores[0], -maps.scores[1])
    np.testing.assert_array_equal(maps.region, maps.scores[1] <= 2.5)


def test_scores_do_not_depend_on_the_box(blob):
    whole = distance_scores(blob, WHOLE, SPACING, 3.0, (1.0, 1.0))
    box = box_around(blob != 0, 3.0, SPACING)
    assert blob[box].size < blob.size
    cut = distance_scores(blob, box, SPACING, 3.0, (1.0, 1.0))
    np.testing.assert_array_equal(cut.scores[1], whole.scores[1][box])
    np.testing.assert_array_equal(cut.region, whole.region[box])
    outside = np.ones(blob.shape, bool)
    outside[box] = False
    assert not whole.region[outside].any()


def test_each_label_is_scored_by_its_own_contour(blob):
    labels = blob.copy()
    labels[:, :9][labels[:, :9] > 0] = 2
    maps = distance_scores(labels, WHOLE, SPACING, 5.0, (1.0, 2.0, 4.0))
    for label, spread in ((1, 2.0), (2, 4.0)):
        np.testing.assert_allclose(maps.scores[label], maurer(labels == label) / spread, atol=1e-5)
    np.testing.assert_allclose(maps.scores[0], -maurer(labels != 0), atol=1e-5)


def test_a_label_the_consensus_lacks_never_fits(blob):
    maps = distance_scores(blob, WHOLE, SPACING, 5.0, (1.0, 1.0, 1.0))
    assert (maps.scores[2] == np.inf).all()


def test_log_odds_are_finite_and_mirror_each_other():
    p = np.array([0.0, 1e-12, EPSILON, 0.2, 0.5, 0.8, 1 - EPSILON, 1.0])
    odds = log_odds(p)
    assert np.isfinite(odds).all()
    np.testing.assert_allclose(odds, -log_odds(1 - p), atol=1e-9)
    np.testing.assert_allclose(odds[3], np.log(0.2 / 0.8))


def test_probabilities_that_mirror_each_other_tie(blob):
    """1 - 0.8 is not 0.2 in binary arithmetic, but both must be inside or outside the band."""
    p = np.where(blob != 0, 0.8, 0.2)
    maps = probability_scores([p], blob, WHOLE, SPACING, 100.0)
    assert len(np.unique(np.abs(maps.scores[1]))) == 1
    tau = float(maps.scores[1].max())
    assert prediction_sets(maps.scores, [tau]).all()
    assert not prediction_sets(maps.scores, [np.nextafter(tau, -1)]).all(axis=0).any()


def test_beyond_the_region_only_background_fits(blob):
    p = np.full(blob.shape, 0.4)
    p[blob != 0] = 0.9
    maps = probability_scores([p], blob, WHOLE, SPACING, 2.0)
    far = ~maps.region
    assert far.any()
    assert (maps.scores[1][far] == np.inf).all()
    assert (maps.scores[0][far] == -np.inf).all()


def test_one_probability_image_and_two_are_the_same_case(blob):
    rng = np.random.default_rng(0)
    p = rng.random(blob.shape)
    np.testing.assert_array_equal(consensus_labels([p]), consensus_labels([1 - p, p]))
    one = probability_scores([p], blob, WHOLE, SPACING, 4.0)
    two = probability_scores([1 - p, p], blob, WHOLE, SPACING, 4.0)
    for a, b in zip(one.scores, two.scores, strict=True):
        np.testing.assert_allclose(a, b, atol=2e-9)


def test_consensus_is_the_most_probable_label():
    p = np.array([[0.5, 0.2, 0.1], [0.3, 0.4, 0.1], [0.2, 0.4, 0.8]])
    # Of equally probable labels the higher one is chosen, just as probability >= .5 is foreground.
    np.testing.assert_array_equal(consensus_labels(list(p)), [0, 2, 2])
    np.testing.assert_array_equal(consensus_labels([np.array([0.5, 0.49])]), [1, 0])


masks = hnp.arrays(bool, hnp.array_shapes(min_dims=2, max_dims=3, max_side=7)).filter(
    lambda mask: mask.any()
)


@given(masks, st.floats(0, 20))
def test_box_holds_everything_within_the_margin(mask, margin):
    spacing = (0.8, 1.5, 2.0)[: mask.ndim]
    box = box_around(mask, margin, spacing)
    points, marked = np.argwhere(np.ones_like(mask)), np.argwhere(mask)
    gaps = np.abs(points[:, None] - marked[None]) * spacing
    near = points[(gaps <= margin).all(axis=2).any(axis=1)]
    inside = np.zeros(mask.shape, bool)
    inside[box] = True
    assert inside[tuple(near.T)].all()


def test_distributions_count_the_background_of_the_region_and_all_of_the_foreground(blob):
    reference = np.zeros_like(blob)
    reference[4, 2:18, 3:19] = 1
    maps = distance_scores(blob, WHOLE, SPACING, 2.0, (1.0, 1.0))
    background, foreground = maps.distributions(reference)
    assert foreground.total == reference.sum()
    assert background.total == (maps.region & (reference == 0)).sum()
    assert foreground.values[-1] == maps.scores[1][reference == 1].max()


score_pairs = hnp.arrays(float, (3, 4), elements=st.floats(-5, 5))


@given(score_pairs, st.floats(-5, 5))
def test_band_codes_are_the_four_sets_of_two_labels(scores, tau):
    codes = band_codes(prediction_sets([-scores, scores], [tau]))
    for code, score in zip(codes.ravel(), scores.ravel(), strict=True):
        fits = (-score <= tau, score <= tau)
        assert {(True, False): 0, (False, True): 1, (True, True): 2, (False, False): 3}[
            fits
        ] == code


@given(hnp.arrays(bool, st.tuples(st.integers(1, 16), st.integers(1, 5))))
def test_bits_are_the_labels_in_the_set(sets):
    bits = label_bits(sets)
    assert bits.dtype == (np.uint8 if len(sets) <= 8 else np.uint16)
    for voxel in range(sets.shape[1]):
        assert [bool(int(bits[voxel]) >> k & 1) for k in range(len(sets))] == sets[
            :, voxel
        ].tolist()


def test_each_label_can_have_its_own_threshold():
    scores = [np.array([0.0, 2.0]), np.array([0.0, 2.0])]
    np.testing.assert_array_equal(
        prediction_sets(scores, [1.0, 3.0]), [[True, False], [True, True]]
    )
