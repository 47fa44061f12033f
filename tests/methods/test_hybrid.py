from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.ndimage import binary_dilation, binary_erosion, distance_transform_edt

from itk_consensus.methods.hybrid.hybrid import contour_band


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([(9, 11), (4, 6, 7)]),
    st.floats(0, 6),
    st.integers(2, 4),
)
def test_the_band_is_what_lies_near_another_label(seed, shape, width, number):
    rng = np.random.default_rng(seed)
    labels = rng.integers(-1, number, shape) * (rng.random(shape) < 0.2)
    spacing = rng.uniform(0.5, 2.5, len(shape))
    expected = np.zeros(shape, bool)
    for label in np.unique(labels):
        other = labels != label
        if other.any():
            expected |= ~other & (distance_transform_edt(~other, sampling=spacing) <= width)
    np.testing.assert_array_equal(contour_band(labels, width, spacing.tolist()), expected)


@pytest.mark.parametrize("steps", [1, 3])
def test_a_band_of_whole_voxels_holds_the_papers_dilation_without_erosion(steps):
    y, x = np.mgrid[:40, :50]
    mask = np.hypot(y - 20, x - 25) < 11
    # The paper dilates along the axes only, so its band is part of ours.
    grown = binary_dilation(mask, iterations=steps) & ~binary_erosion(mask, iterations=steps)
    band = contour_band(mask.astype(int), float(steps), (1.0, 1.0))
    assert (band | ~grown).all()


def test_one_label_has_no_contour():
    assert not contour_band(np.full((4, 5), 3), 10.0, (1.0, 1.0)).any()


def test_no_width_is_no_band():
    labels = np.zeros((4, 5), int)
    labels[1:3, 1:3] = 1
    assert not contour_band(labels, 0.0, (1.0, 1.0)).any()


def test_volumes_of_a_4d_map_have_contours_of_their_own():
    labels = np.zeros((2, 3, 8, 8), int)
    labels[0, :, 2:5, 2:5] = 1
    band = contour_band(labels, 1.0, (1.0,) * 4)
    assert band[0].any()
    assert not band[1].any()
