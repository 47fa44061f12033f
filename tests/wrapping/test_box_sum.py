"""The box-sum kernel against explicit sums."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from itk_consensus import _kernels


def written_out(volume: np.ndarray, radii: tuple[int, ...]) -> np.ndarray:
    sums = np.empty(volume.shape)
    for at in itertools.product(*map(range, volume.shape)):
        box = tuple(slice(max(0, k - r), k + r + 1) for k, r in zip(at, radii, strict=True))
        sums[at] = volume[box].sum(dtype=np.float64)
    return sums


@st.composite
def volumes(draw: st.DrawFn) -> tuple[np.ndarray, tuple[int, ...]]:
    shape = tuple(draw(st.lists(st.integers(1, 9), min_size=1, max_size=4)))
    shape = shape if np.prod(shape) < 600 else shape[:2]
    radii = tuple(draw(st.integers(0, 11)) for _ in shape)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    values = rng.random(shape) * (rng.random(shape) < draw(st.sampled_from([0.05, 0.5, 1.0])))
    return values, radii


@given(volumes(), st.sampled_from(["float32", "float64"]))
def test_sums_equal_those_written_out_at_the_border_too(case, dtype):
    volume, radii = case
    found = volume.astype(dtype)
    _kernels.box_sum(found, radii, 1)
    np.testing.assert_allclose(found, written_out(volume.astype(dtype), radii), rtol=1e-6)


@given(volumes())
def test_a_window_of_zeros_sums_to_exactly_zero_and_no_sum_is_negative(case):
    volume, radii = case
    found = volume.astype(np.float32)
    _kernels.box_sum(found, radii, 1)
    empty = written_out((volume > 0).astype(float), radii) == 0
    assert (found[empty] == 0).all()
    assert (found >= 0).all()


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_threads_and_blocks_of_lines_do_not_change_a_bit(axis):
    shape = [37, 70, 61]
    volume = np.random.default_rng(0).random(shape, dtype=np.float32)
    radii = [0, 0, 0]
    radii[axis] = 5
    one, four = volume.copy(), volume.copy()
    _kernels.box_sum(one, radii, 1)
    _kernels.box_sum(four, radii, 4)
    np.testing.assert_array_equal(one, four)
    sums = np.cumsum(
        np.pad(volume.astype(np.float64), [(6, 5) if k == axis else (0, 0) for k in range(3)]), axis
    )
    low, high = (np.take(sums, range(a, a + shape[axis]), axis) for a in (0, 11))
    np.testing.assert_allclose(one, high - low, rtol=1e-6)


def test_a_sum_of_millions_keeps_float32_precision():
    volume = np.full((200, 120, 120), 0.1, np.float32)
    _kernels.box_sum(volume, [200, 120, 120], 2)
    np.testing.assert_allclose(volume, float(np.float32(0.1)) * volume.size, rtol=3e-7)


def test_an_empty_volume_is_left_alone():
    _kernels.box_sum(np.empty((0, 4), np.float32), [1, 1], 2)
    _kernels.box_sum(np.empty((4, 0), np.float32), [1, 1], 2)


@pytest.mark.parametrize(
    ("volume", "radii", "message"),
    [
        (np.zeros((3, 4), np.float32), [1], "one number per axis"),
        (np.zeros((3, 4), np.int32), [1, 1], "floating"),
        (np.zeros((3, 4), np.float16), [1, 1], "4 or 8 bytes"),
        (np.zeros((3, 4), np.float32).T, [1, 1], "contiguous"),
    ],
)
def test_memory_that_does_not_fit_is_refused(volume, radii, message):
    with pytest.raises(ValueError, match=message):
        _kernels.box_sum(volume, radii, 1)
