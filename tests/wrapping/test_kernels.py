"""The compiled kernels, called as the package does, and with invalid arguments."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from stacks import INTEGER_TYPES, RUN_LENGTHS

from itk_consensus import _kernels

KERNEL_TYPES = [*INTEGER_TYPES, "float32", "float64"]


def votes(
    data: np.ndarray,
    labels: list[int],
    *,
    other: int = 0,
    mask: np.ndarray | None = None,
    missing: int = 0,
) -> Any:
    """Return a rater whose digit is the index of its label."""
    values = np.array(labels).astype(data.dtype)
    return _kernels.RaterVotes(data, values, list(range(len(labels))), other, mask, missing)


def direct(raters: list, radix: int, size: int, mask: np.ndarray | None = None, threads: int = 1):
    number = radix ** len(raters) + (mask is not None)
    codes = np.empty(size, np.uint8 if number <= 256 else np.uint16)
    counts = _kernels.encode_direct(raters, radix, mask, codes, number, threads)
    return codes, counts


def hashed_digits(
    raters: list, radix: int, size: int, mask: np.ndarray | None = None, **more: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Return (voxels, raters) digits and strata as numbered by the hashed encoder; -1 outside."""
    codes = np.empty(size, np.uint32)
    threads = more.pop("threads", 1)
    parts = _kernels.encode_hashed(raters, radix, mask, more.get("strata"), codes, threads)
    digits = np.full((size, len(raters)), -1)
    strata = np.full(size, -1)
    first = int(mask is not None)
    for begin, end, table, part_strata, counts in parts:
        part = codes[begin:end].astype(int)
        inside = part >= first
        digits[begin:end][inside] = table[part[inside] - first]
        strata[begin:end][inside] = part_strata[part[inside] - first]
        np.testing.assert_array_equal(
            np.bincount(part, minlength=len(counts) + first)[first:], counts
        )
    return digits, strata


def one_odd_voxel(length: int, at: int, dtype: str) -> np.ndarray:
    array = np.zeros(length, dtype)
    array[at] = 1
    return array


POSITIONS = [(n, at) for n in RUN_LENGTHS for at in sorted({0, n // 2, n - 1, min(64, n - 1)})]


@pytest.mark.parametrize(("length", "at"), POSITIONS)
@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "uint64"])
def test_one_odd_voxel_is_found_wherever_runs_begin_and_end(
    length: int, at: int, dtype: str
) -> None:
    array = one_odd_voxel(length, at, dtype)
    rater = votes(array, [0, 1])
    codes, counts = direct([rater, votes(np.zeros(length, dtype), [0, 1])], 2, length)
    np.testing.assert_array_equal(codes, 2 * array.astype(int))
    assert counts.tolist() == [length - 1, 0, 1, 0]
    digits, _ = hashed_digits([rater], 2, length)
    np.testing.assert_array_equal(digits[:, 0], array)
    assert sorted(_kernels.distinct(array, 10, 1).tolist()) == sorted(set(array.tolist()))


@pytest.mark.parametrize(("length", "at"), POSITIONS)
def test_one_voxel_outside_breaks_a_run(length: int, at: int) -> None:
    mask = 1 - one_odd_voxel(length, at, "uint8")
    rater = votes(np.ones(length, np.uint8), [0, 1])
    codes, counts = direct([rater], 2, length, mask)
    np.testing.assert_array_equal(codes, np.where(mask, 1, 2))
    assert counts.tolist() == [0, length - 1, 1]
    digits, _ = hashed_digits([rater], 2, length, mask)
    np.testing.assert_array_equal(digits[:, 0], np.where(mask, 1, -1))


@pytest.mark.parametrize(("length", "at"), POSITIONS)
def test_one_voxel_that_a_rater_left_out_breaks_a_run(length: int, at: int) -> None:
    annotated = 1 - one_odd_voxel(length, at, "uint8")
    rater = votes(np.ones(length, np.uint8), [0, 1], mask=annotated, missing=2)
    codes, _ = direct([rater], 3, length)
    np.testing.assert_array_equal(codes, np.where(annotated, 1, 2))
    digits, _ = hashed_digits([rater], 3, length)
    np.testing.assert_array_equal(digits[:, 0], np.where(annotated, 1, 2))


@pytest.mark.parametrize(("length", "at"), POSITIONS)
def test_one_voxel_of_another_stratum_breaks_a_run(length: int, at: int) -> None:
    strata = one_odd_voxel(length, at, "uint32") * np.uint32(2**32 - 1)
    rater = votes(np.zeros(length, np.uint8), [0, 1])
    digits, found = hashed_digits([rater], 2, length, strata=strata)
    np.testing.assert_array_equal(found, strata)
    assert not digits.any()


@pytest.mark.parametrize("length", RUN_LENGTHS)
@pytest.mark.parametrize("dtype", KERNEL_TYPES)
@pytest.mark.parametrize("labels", [2, 4, 5, 30])
def test_hashed_and_direct_read_the_same_digits(length: int, dtype: str, labels: int) -> None:
    """Up to four labels are compared one by one; more are looked up in a table."""
    rng = np.random.default_rng(length)
    arrays = [rng.integers(0, labels, length).astype(dtype) for _ in range(2)]
    arrays[1][: length // 2] = 1
    inside = (rng.random(length) < 0.7).astype(np.uint8)
    annotated = (rng.random(length) < 0.7).astype(np.uint8)
    raters = [
        votes(arrays[0], list(range(labels)), missing=labels),
        votes(arrays[1], list(range(labels)), mask=annotated, missing=labels),
    ]
    codes, counts = direct(raters, labels + 1, length, inside)
    digits, _ = hashed_digits(raters, labels + 1, length, inside)
    wanted = np.column_stack([arrays[0], np.where(annotated, arrays[1], labels)]).astype(int)
    np.testing.assert_array_equal(digits, np.where(inside[:, None], wanted, -1))
    keys = wanted @ [labels + 1, 1]
    np.testing.assert_array_equal(codes, np.where(inside, keys, (labels + 1) ** 2))
    assert counts.sum() == length


@pytest.mark.parametrize("dtype", KERNEL_TYPES)
@pytest.mark.parametrize("known", [1, 3, 6])
def test_values_without_a_digit_get_the_other_one(dtype: str, known: int) -> None:
    data = np.arange(100).astype(dtype)
    rater = _kernels.RaterVotes(
        data, np.arange(known).astype(dtype), [9 - k for k in range(known)], 3, None, 0
    )
    codes, _ = direct([rater], 10, 100)
    np.testing.assert_array_equal(codes, np.where(np.arange(100) < known, 9 - np.arange(100), 3))


@pytest.mark.parametrize("dtype", INTEGER_TYPES)
def test_digits_of_extreme_values_are_found_by_look_up(dtype: str) -> None:
    limits = np.iinfo(dtype)
    values = np.array([limits.max, 0, limits.min + 1, 7, limits.max - 1, 5], dtype)
    rater = _kernels.RaterVotes(values, values, [0, 1, 2, 3, 4, 5], 6, None, 0)
    codes, _ = direct([rater], 7, len(values))
    assert codes.tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("raters", [1, 31, 32, 33, 64, 65, 130])
def test_groups_of_raters_chain_to_any_length(raters: int) -> None:
    rng = np.random.default_rng(raters)
    bits = rng.integers(0, 2, (raters, 500)).astype(np.uint8)
    digits, _ = hashed_digits([votes(row, [0, 1]) for row in bits], 2, 500)
    np.testing.assert_array_equal(digits, bits.T)


@pytest.mark.parametrize("radix", [2, 3, 255, 256, 257, 65_535, 65_536])
def test_every_radix_fills_its_32_bits(radix: int) -> None:
    rng = np.random.default_rng(radix)
    arrays = [rng.integers(0, radix, 300).astype(np.uint16) for _ in range(5)]
    for array in arrays:
        array[:2] = radix - 1
    digits, _ = hashed_digits([votes(a, list(range(radix))) for a in arrays], radix, 300)
    np.testing.assert_array_equal(digits, np.column_stack(arrays))


def test_strata_come_back_with_their_patterns() -> None:
    rng = np.random.default_rng(0)
    strata = rng.integers(0, 2**32, 400, dtype=np.uint32)
    array = rng.integers(0, 3, 400).astype(np.uint8)
    inside = (rng.random(400) < 0.5).astype(np.uint8)
    digits, found = hashed_digits([votes(array, [0, 1, 2])], 3, 400, inside, strata=strata)
    np.testing.assert_array_equal(found, np.where(inside, strata.astype(int), -1))
    np.testing.assert_array_equal(digits[:, 0], np.where(inside, array.astype(int), -1))


@pytest.mark.parametrize("most", [255, 256, 257, 65_535, 65_536, 65_537])
def test_too_many_patterns_for_the_codes_are_reported(most: int) -> None:
    array = np.arange(most, dtype=np.uint32)
    rater = _kernels.RaterVotes(
        array // 300, np.arange(300, dtype=np.uint32), list(range(300)), 0, None, 0
    )
    other = _kernels.RaterVotes(
        array % 300, np.arange(300, dtype=np.uint32), list(range(300)), 0, None, 0
    )
    for width in (np.uint8, np.uint16, np.uint32):
        for mask in (None, np.ones(most, np.uint8)):
            parts = _kernels.encode_hashed(
                [rater, other], 300, mask, None, np.empty(most, width), 1
            )
            fits = most + (mask is not None) <= np.iinfo(width).max + 1
            assert (parts is not None) == fits


@pytest.mark.parametrize("threads", [1, 2, 3, 7, 50])
def test_slabs_cover_every_voxel_once(threads: int) -> None:
    size = 7 * 65_536 + 1
    array = (np.arange(size) // 1500 % 5).astype(np.uint8)
    rater = votes(array, list(range(5)))
    codes, counts = direct([rater], 5, size, threads=threads)
    np.testing.assert_array_equal(codes, array)
    np.testing.assert_array_equal(counts, np.bincount(array))
    digits, _ = hashed_digits([rater], 5, size, threads=threads)
    np.testing.assert_array_equal(digits[:, 0], array)
    out = np.zeros(size, np.int16)
    _kernels.expand(codes, np.arange(5, dtype=np.int16) - 2, out, threads)
    np.testing.assert_array_equal(out, array.astype(int) - 2)
    _kernels.renumber(codes, 3, size - 3, np.array([4, 3, 2, 1, 0], np.uint8), threads)
    np.testing.assert_array_equal(codes[3:-3], 4 - array[3:-3])
    np.testing.assert_array_equal(codes[[0, 1, 2, -3, -2, -1]], array[[0, 1, 2, -3, -2, -1]])


# -- distinct ---------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", KERNEL_TYPES)
@pytest.mark.parametrize("threads", [1, 3])
def test_distinct_values_of_every_type(dtype: str, threads: int) -> None:
    rng = np.random.default_rng(0)
    palette = np.array([0, 1, 5, 100])
    if dtype in INTEGER_TYPES:
        palette = np.array([np.iinfo(dtype).min, np.iinfo(dtype).max, 0, 3], dtype=dtype)
    array = np.repeat(rng.choice(palette, 3000), 70).astype(dtype)
    found = _kernels.distinct(array, 10, threads)
    assert found.dtype == array.dtype
    np.testing.assert_array_equal(np.unique(found), np.unique(array))


def test_distinct_counts_nan_once() -> None:
    array = np.full(5000, np.nan)
    array[::3] = np.arange(0, 5000, 3) % 2
    found = _kernels.distinct(array, 3, 1)
    np.testing.assert_array_equal(np.unique(found), [0, 1, np.nan])


@pytest.mark.parametrize(("limit", "fits"), [(99, False), (100, True)])
def test_distinct_gives_up_beyond_the_limit(limit: int, fits: bool) -> None:
    array = np.arange(10_000, dtype=np.int32) % 100
    assert (_kernels.distinct(array, limit, 1) is not None) is fits


# -- rows -------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 2, 7])
@pytest.mark.parametrize("length", [1, 2, 64, 1025, 70_000])
@pytest.mark.parametrize("width", ["uint8", "uint16", "uint32"])
def test_row_extents_are_the_first_and_last_flagged_voxel(
    threads: int, length: int, width: str
) -> None:
    rows = max(3, 200_000 // length)
    codes = (np.random.default_rng(0).random((rows, length)) < 2 / length).astype(width)
    codes[1] = 0
    first, last = _kernels.row_extents(
        codes.reshape(-1), length, np.array([0, 1], np.uint8), threads
    )
    flagged = codes == 1
    there = flagged.any(axis=1)
    np.testing.assert_array_equal(first, np.where(there, flagged.argmax(axis=1), length))
    backwards = length - 1 - flagged[:, ::-1].argmax(axis=1)
    np.testing.assert_array_equal(last, np.where(there, backwards, -1))


# -- arguments that would cause access outside the memory -----------------------------------------

TEN = np.zeros(10, np.uint8)
TWO = np.array([0, 1], np.uint8)


@pytest.mark.parametrize(
    "arguments",
    [
        (np.zeros(20, np.uint8)[::2], TWO, [0, 1], 0, None, 0),
        (TEN, np.zeros(4, np.uint8)[::2], [0, 1], 0, None, 0),
        (TEN, TWO, [0], 0, None, 0),
        (TEN, TWO, [0, 1, 2], 0, None, 0),
        (TEN, TWO.astype(np.uint16), [0, 1], 0, None, 0),
        (TEN, TWO, [0, 1], 0, np.ones(9, np.uint8), 0),
        (TEN, TWO, [0, 1], 0, np.ones(11, np.uint8), 0),
        (TEN.astype(complex), TWO.astype(complex), [0, 1], 0, None, 0),
        (TEN.astype(np.float16), TWO.astype(np.float16), [0, 1], 0, None, 0),
    ],
    ids=[
        "strided data",
        "strided values",
        "too few digits",
        "too many digits",
        "other type of values",
        "short mask",
        "long mask",
        "complex",
        "float16",
    ],
)
def test_votes_that_do_not_fit_together_are_refused(arguments: tuple) -> None:
    with pytest.raises(ValueError, match=r"must|unsupported"):
        _kernels.RaterVotes(*arguments)


@pytest.mark.parametrize("digit", [-1, 65_536])
def test_digits_outside_16_bits_are_refused(digit: int) -> None:
    with pytest.raises(TypeError):
        _kernels.RaterVotes(TEN, TWO, [0, digit], 0, None, 0)


def read_only(array: np.ndarray) -> np.ndarray:
    array.setflags(write=False)
    return array


BAD_CODES = {
    "short": np.empty(9, np.uint8),
    "long": np.empty(11, np.uint8),
    "strided": np.empty(20, np.uint8)[::2],
    "signed": np.empty(10, np.int8),
    "too wide": np.empty(10, np.uint64),
    "floating": np.empty(10, np.float32),
    "read-only": read_only(np.empty(10, np.uint8)),
}


@pytest.mark.parametrize("codes", BAD_CODES.values(), ids=BAD_CODES)
def test_codes_that_cannot_be_written_are_refused(codes: np.ndarray) -> None:
    rater = votes(TEN, [0, 1])
    with pytest.raises(ValueError, match=r"must|writ"):
        _kernels.encode_direct([rater], 2, None, codes, 2, 1)
    with pytest.raises(ValueError, match=r"must|writ"):
        _kernels.encode_hashed([rater], 2, None, None, codes, 1)


@pytest.mark.parametrize("raters", [2, 5])
def test_fewer_counts_than_codes_are_refused(raters: int) -> None:
    """Counts are indexed by code, so writing would exceed a table that is too short."""
    with pytest.raises(ValueError, match="codes"):
        _kernels.encode_direct(
            [votes(TEN, [0, 1])] * raters, 2, None, np.empty(10, np.uint8), 2**raters - 1, 1
        )


def test_masks_and_strata_of_another_length_are_refused() -> None:
    rater, codes = votes(TEN, [0, 1]), np.empty(10, np.uint8)
    for length in (9, 11):
        with pytest.raises(ValueError, match="equally long"):
            _kernels.encode_direct([rater], 2, np.ones(length, np.uint8), codes, 3, 1)
        with pytest.raises(ValueError, match="equally long"):
            _kernels.encode_hashed([rater], 2, None, np.ones(length, np.uint32), codes, 1)


def test_raters_of_another_length_are_refused() -> None:
    raters = [votes(TEN, [0, 1]), votes(np.zeros(9, np.uint8), [0, 1])]
    with pytest.raises(ValueError, match="equally long"):
        _kernels.encode_direct(raters, 2, None, np.empty(10, np.uint8), 4, 1)


@pytest.mark.parametrize("out", [np.zeros(9), np.zeros(11), np.zeros(20)[::2], np.zeros(10, "f4")])
def test_expand_refuses_an_output_that_does_not_fit(out: np.ndarray) -> None:
    with pytest.raises(ValueError, match=r"equally long|width"):
        _kernels.expand(TEN, np.zeros(2), out, 1)


def test_expand_refuses_values_of_odd_width_and_read_only_output() -> None:
    with pytest.raises(ValueError, match="1, 2, 4 or 8 bytes"):
        _kernels.expand(TEN, np.zeros(2, complex), np.zeros(10, complex), 1)
    with pytest.raises(ValueError, match="writ"):
        _kernels.expand(TEN, np.zeros(2), read_only(np.zeros(10)), 1)


@pytest.mark.parametrize(("begin", "end"), [(5, 4), (0, 11), (11, 12)])
def test_renumber_refuses_a_range_beyond_the_codes(begin: int, end: int) -> None:
    with pytest.raises(ValueError, match="range"):
        _kernels.renumber(np.zeros(10, np.uint8), begin, end, TWO, 1)


def test_renumber_refuses_a_table_of_another_width() -> None:
    with pytest.raises(ValueError, match="width"):
        _kernels.renumber(np.zeros(10, np.uint8), 0, 10, TWO.astype(np.uint16), 1)


@pytest.mark.parametrize("length", [0, 3, 11])
def test_rows_must_divide_the_codes(length: int) -> None:
    with pytest.raises(ValueError, match="rows must divide"):
        _kernels.row_extents(TEN, length, TWO, 1)


@pytest.mark.parametrize(
    "call",
    [
        "encode_direct([None], 2, None, codes, 2, 1)",
        "encode_hashed([None], 2, None, None, codes, 1)",
    ],
)
def test_none_is_refused_where_a_rater_belongs(call: str, run_python: Callable) -> None:
    answer = run_python(
        f"""
        import numpy as np
        from itk_consensus import _kernels
        codes = np.empty(4, np.uint8)
        try:
            _kernels.{call}
        except (TypeError, ValueError):
            print("refused")
        """
    )
    assert answer.stdout.strip() == "refused", f"the process ended with {answer.returncode}"


def test_raters_keep_their_arrays_alive() -> None:
    raters = []
    for k in range(20):
        array = np.full(5000, k % 2, np.uint8)
        raters.append(votes(array, [0, 1], mask=np.full(5000, 1, np.uint8), missing=2))
        del array
    gc.collect()
    rubbish = [np.full(5000, 77, np.uint8) for _ in range(50)]
    digits, _ = hashed_digits(raters, 3, 5000)
    np.testing.assert_array_equal(digits, np.tile([0, 1], (5000, 10)))
    del rubbish
