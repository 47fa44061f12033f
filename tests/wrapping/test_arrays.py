"""Transfer of NumPy arrays to and from the kernels."""

import sys

import numpy as np
import pytest

from itk_consensus import _kernels

VALUES = np.array([0, 1], np.uint8)


def rater(data: np.ndarray, mask: np.ndarray | None = None) -> _kernels.RaterVotes:
    return _kernels.RaterVotes(data, VALUES.astype(data.dtype), [0, 1], 0, mask, 2)


def test_a_rater_holds_its_arrays_and_lets_them_go() -> None:
    data, mask = np.zeros(10, np.uint8), np.ones(10, np.uint8)
    before = sys.getrefcount(data), sys.getrefcount(mask)
    held = rater(data, mask)
    assert (sys.getrefcount(data), sys.getrefcount(mask)) > before
    del held
    assert (sys.getrefcount(data), sys.getrefcount(mask)) == before


def test_refused_arrays_are_let_go() -> None:
    data, short = np.zeros(10, np.uint8), np.ones(9, np.uint8)
    before = sys.getrefcount(data), sys.getrefcount(short)
    for _ in range(3):
        with pytest.raises(ValueError, match="equally long"):
            rater(data, short)
        with pytest.raises(TypeError):
            _kernels.RaterVotes(data, data, [0], "no number", short, 2)  # type: ignore[arg-type]
    assert (sys.getrefcount(data), sys.getrefcount(short)) == before


def test_what_kernels_return_is_an_array_of_its_own() -> None:
    planes = _kernels.pack_votes([rater(np.array([1, 0, 1], np.uint8))], 3, 1)
    assert type(planes) is np.ndarray
    assert planes.flags.owndata
    assert planes.flags.writeable
    np.testing.assert_array_equal(planes, [[1, 0, 1]])


@pytest.mark.parametrize("weights", [np.ones(1), np.ones(1, np.int32), np.ones(2)[::2], [1]])
def test_inputs_are_converted_where_numpy_calls_that_safe(weights: np.ndarray) -> None:
    out = np.empty(3)
    said = rater(np.array([1, 0, 1], np.uint8))
    _kernels.vote_share([said], 2, 1, None, weights, 0.0, out, 1)
    np.testing.assert_array_equal(out, [1, 0, 1])


@pytest.mark.parametrize("mask", [np.ones(3), np.ones(3, np.int8), "mask", 1j])
def test_other_inputs_are_refused(mask: np.ndarray) -> None:
    with pytest.raises(TypeError):
        rater(np.zeros(3, np.uint8), mask)


def test_swapped_bytes_are_refused() -> None:
    swapped = np.dtype(np.int16).newbyteorder("S")
    with pytest.raises(ValueError, match="unsupported element type"):
        rater(np.zeros(3, swapped))


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"])
def test_distinct_values_have_the_type_of_the_data(dtype: str) -> None:
    low = -3 if dtype[0] in "if" else 250
    data = np.array([low, 0, low, 5], dtype)
    found = _kernels.distinct(data, 10, 1)
    assert found is not None
    assert found.dtype == data.dtype
    np.testing.assert_array_equal(np.sort(found), np.unique(data))
