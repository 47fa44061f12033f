"""The signed-distance kernel against scipy's transform."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.ndimage import distance_transform_edt

from itk_consensus import _kernels


def kernel(inside: np.ndarray, sizes: list[float], dtype: str = "float64", threads: int = 1):
    out = np.empty(inside.shape, dtype)
    _kernels.signed_distance(inside.astype(np.uint8), sizes, out, threads)
    return out


def by_scipy(inside: np.ndarray, sizes: list[float]) -> np.ndarray:
    if inside.all() or not inside.any():
        return np.full(inside.shape, -np.inf if inside.all() else np.inf)
    outer = distance_transform_edt(~inside, sampling=sizes)
    return outer - distance_transform_edt(inside, sampling=sizes)


@st.composite
def masks(draw: st.DrawFn) -> tuple[np.ndarray, list[float]]:
    shape = tuple(draw(st.lists(st.integers(1, 14), min_size=1, max_size=3)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    share = draw(st.sampled_from([0.0, 0.01, 0.1, 0.5, 0.9, 0.99, 1.0]))
    size = st.floats(0.05, 20, allow_nan=False)
    return rng.random(shape) < share, [draw(size) for _ in shape]


@given(masks())
def test_distances_equal_scipys_for_any_mask_and_voxel_size(case):
    inside, sizes = case
    np.testing.assert_allclose(kernel(inside, sizes), by_scipy(inside, sizes), rtol=1e-12)


@given(masks())
def test_float32_differs_by_rounding_only(case):
    inside, sizes = case
    np.testing.assert_allclose(kernel(inside, sizes, "float32"), by_scipy(inside, sizes), rtol=1e-6)


@given(masks())
def test_the_complement_has_the_opposite_sign(case):
    inside, sizes = case
    np.testing.assert_array_equal(kernel(~inside, sizes), -kernel(inside, sizes))


def test_threads_and_blocks_of_lines_do_not_change_a_bit():
    inside = np.random.default_rng(1).random((45, 50, 67)) < 0.02
    one = kernel(inside, [2.5, 0.7, 0.7], threads=1)
    np.testing.assert_array_equal(one, kernel(inside, [2.5, 0.7, 0.7], threads=4))
    np.testing.assert_allclose(one, by_scipy(inside, [2.5, 0.7, 0.7]), rtol=1e-12)


def test_an_axis_of_size_zero_holds_independent_images():
    inside = np.random.default_rng(2).random((3, 11, 12)) < 0.1
    inside[1] = False
    together = kernel(inside, [0.0, 1.0, 2.0])
    for image, distance in zip(inside, together, strict=True):
        np.testing.assert_allclose(distance, by_scipy(image, [1.0, 2.0]), rtol=1e-12)


@pytest.mark.parametrize(
    ("inside", "sizes", "out", "message"),
    [
        (np.zeros((3, 4), np.uint8), [1.0], np.empty((3, 4)), "one number per axis"),
        (np.zeros((3, 4), np.uint8), [1.0, 1.0], np.empty((3, 5)), "equally long"),
        (np.zeros((3, 4), np.uint8), [1.0, 1.0], np.empty((3, 4), int), "floating"),
    ],
)
def test_memory_that_does_not_fit_is_refused(inside, sizes, out, message):
    with pytest.raises(ValueError, match=message):
        _kernels.signed_distance(inside, sizes, out, 1)
