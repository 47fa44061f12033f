from __future__ import annotations

import os
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from stacks import LABEL_TYPES, Drawn, assert_is_brute_force, drawn_stacks, encode

from itk_consensus.core.errors import InputError
from itk_consensus.core.work import working
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.label_stack import LabelStack

#: With this number of voxels, each of seven threads gets a slab, one of which is shorter.
MANY = 7 * 65_536 + 123


def stack_of(arrays: list, **common) -> LabelStack:
    return LabelStack.multilabel(arrays, **common)


def assert_equal_patterns(first: DecisionPatterns, second: DecisionPatterns) -> None:
    """Assert bitwise equality, including the codes."""
    for name in ("patterns", "counts", "labels", "codes", "slots", "strata"):
        a, b = getattr(first, name), getattr(second, name)
        np.testing.assert_array_equal(a, b, err_msg=name)
        assert getattr(a, "dtype", None) == getattr(b, "dtype", None), name
    assert first.number_of_codes == second.number_of_codes
    assert first.outside_code == second.outside_code


# -- encoding equals brute force --------------------------------------------------------------


@given(drawn_stacks())
def test_multilabel_patterns_are_the_distinct_rows(drawn: Drawn) -> None:
    assert_is_brute_force(encode(drawn), drawn)


@given(drawn_stacks(), st.integers(0, 2))
def test_binary_patterns_are_the_distinct_rows(drawn: Drawn, foreground: int) -> None:
    assert_is_brute_force(encode(drawn, foreground=foreground), drawn, foreground)


@given(drawn_stacks(with_strata=True))
def test_strata_keep_equal_votes_apart(drawn: Drawn) -> None:
    assert_is_brute_force(encode(drawn), drawn)


@given(drawn_stacks(raters=(6, 12), most_labels=9))
def test_hashed_patterns_are_the_distinct_rows(drawn: Drawn) -> None:
    assert_is_brute_force(encode(drawn), drawn)


@given(drawn_stacks(raters=(1, 4)))
def test_hashed_and_direct_encoding_agree(drawn: Drawn) -> None:
    direct = encode(drawn)
    hashed = encode(replace(drawn, strata=np.zeros(drawn.present[0].shape, np.uint32)))
    np.testing.assert_array_equal(direct.patterns, hashed.patterns)
    np.testing.assert_array_equal(direct.counts, hashed.counts)
    assert direct.patterns.dtype == hashed.patterns.dtype
    index = np.arange(len(direct.counts))
    np.testing.assert_array_equal(
        direct.expand(index, outside=-1), hashed.expand(index, outside=-1)
    )


@pytest.mark.parametrize("dtype", LABEL_TYPES)
@pytest.mark.parametrize("raters", [2, 20])
def test_every_label_type_is_encoded_exactly(dtype: str, raters: int) -> None:
    rng = np.random.default_rng(raters)
    most = 2 if dtype == "bool" else 7
    arrays = [rng.integers(0, most, (3, 50)).astype(dtype) for _ in range(raters)]
    drawn = Drawn(list(arrays), mask=rng.random((3, 50)) < 0.8)
    assert_is_brute_force(encode(drawn), drawn)


@pytest.mark.parametrize("raters", [1, 16, 17, 64, 65, 300, 1200])
@pytest.mark.parametrize("masked", [False, True])
def test_any_number_of_binary_raters_is_exact(raters: int, masked: bool) -> None:
    rng = np.random.default_rng(raters)
    arrays = [(rng.random((4, 30)) < 0.5).astype(np.uint8) for _ in range(raters)]
    drawn = Drawn(list(arrays), mask=rng.random((4, 30)) < 0.5 if masked else None)
    assert_is_brute_force(encode(drawn, foreground=1), drawn, foreground=1)


@pytest.mark.parametrize("raters", [2, 64, 65, 300, 1200])
def test_any_number_of_raters_may_agree_on_one_label_everywhere(raters: int) -> None:
    drawn = Drawn([np.full((2, 3), 5, np.uint8)] * raters)
    assert_is_brute_force(encode(drawn), drawn)


@pytest.mark.parametrize("labels", [1, 2, 65, 254, 255, 256, 257, 300])
@pytest.mark.parametrize("raters", [1, 2, 3, 7])
@pytest.mark.parametrize("missing", ["nobody", "a rater", "some voxels"])
def test_any_number_of_labels_is_exact(labels: int, raters: int, missing: str) -> None:
    rng = np.random.default_rng(labels)
    arrays = [rng.permutation(np.arange(2 * labels) % labels).astype(np.uint16)] * 1
    arrays += [rng.integers(0, labels, 2 * labels).astype(np.uint16) for _ in range(raters - 1)]
    drawn = Drawn(list(arrays))
    if missing == "a rater":
        drawn = replace(drawn, arrays=[arrays[0], None, *arrays[1:]])
    if missing == "some voxels":
        drawn = replace(drawn, rater_masks=[rng.random(2 * labels) < 0.5 for _ in arrays])
    assert_is_brute_force(encode(drawn), drawn)


def test_labels_above_16_bits_are_exact() -> None:
    rng = np.random.default_rng(3)
    values = np.array([0, 70_000, 2**31 - 1, -5])
    drawn = Drawn([rng.choice(values, (5, 6)).astype(np.int32) for _ in range(3)])
    assert_is_brute_force(encode(drawn), drawn)


@pytest.mark.parametrize("shape", [(1,), (1, 1), (1, 1, 1, 1), (3, 4, 5, 6), (2, 1, 3, 1)])
def test_one_to_four_dimensions_and_single_voxels(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(5)
    drawn = Drawn([rng.integers(0, 3, shape).astype(np.int16) for _ in range(3)])
    assert_is_brute_force(encode(drawn), drawn)


def test_an_empty_mask_leaves_no_pattern() -> None:
    drawn = Drawn([np.ones((2, 3), np.uint8)] * 2, mask=np.zeros((2, 3), bool))
    for strata in (None, np.zeros((2, 3), np.uint32)):
        patterns = encode(replace(drawn, strata=strata))
        assert patterns.number_of_voxels == 0
        assert patterns.patterns.shape == (0, 2)
        assert (patterns.expand(np.zeros(0), outside=9.0) == 9.0).all()


def test_a_pattern_seen_only_outside_the_mask_does_not_exist() -> None:
    first = np.array([0, 1, 2, 2], np.uint8)
    drawn = Drawn([first] * 12, mask=np.array([1, 1, 0, 0]))
    patterns = encode(drawn)
    assert patterns.counts.tolist() == [1, 1]
    assert_is_brute_force(patterns, drawn)


@pytest.mark.parametrize("distinct", [65_534, 65_535, 65_536, 65_537])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("run", [1, 64, 1024])
def test_codes_widen_exactly_when_the_patterns_outnumber_them(
    distinct: int, masked: bool, run: int
) -> None:
    """The last pattern is a constant run, where a full code table is detected last."""
    padding = -(distinct - 1) % 1024
    order = np.concatenate([np.zeros(padding), np.arange(distinct - 1), np.full(run, distinct - 1)])
    arrays = [(order // 300).astype(np.uint16), (order % 300).astype(np.uint16)]
    inside = np.arange(len(order)) >= (padding if masked else 0)
    stack = stack_of(arrays, mask=inside if masked else None)
    patterns = working(threads=1)(DecisionPatterns.from_stack)(stack)
    assert patterns.codes.dtype == (np.uint16 if distinct + masked <= 65_536 else np.uint32)
    np.testing.assert_array_equal(patterns.counts, np.bincount(order[inside].astype(int)))
    for rater, array in enumerate(arrays):
        column = patterns.patterns[:, rater].astype(np.uint16)
        np.testing.assert_array_equal(patterns.expand(column)[inside], array[inside])


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
def test_more_than_65536_patterns_are_exact_for_any_number_of_threads(threads: int) -> None:
    index = np.random.default_rng(1).permutation(MANY) % 90_000
    arrays = [(index // 300).astype(np.uint16), (index % 300).astype(np.uint16)]
    patterns = working(threads=threads)(DecisionPatterns.from_stack)(stack_of(arrays))
    assert patterns.codes.dtype == np.uint32
    np.testing.assert_array_equal(patterns.counts, np.bincount(index))
    np.testing.assert_array_equal(patterns.codes, index)


def test_slabs_whose_patterns_fit_may_together_need_wider_codes() -> None:
    """Each slab has fewer than 65,536 patterns, but their union has more."""
    index = np.repeat(np.arange(90_000), 8)
    arrays = [(index // 300).astype(np.uint16), (index % 300).astype(np.uint16)]
    single = working(threads=1)(DecisionPatterns.from_stack)(stack_of(arrays))
    several = working(threads=7)(DecisionPatterns.from_stack)(stack_of(arrays))
    assert single.codes.dtype == np.uint32
    assert_equal_patterns(single, several)


# -- threads ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def large() -> Drawn:
    """Return runs of every length, then noise, over several slabs."""
    rng = np.random.default_rng(0)
    ends = np.cumsum(rng.choice([1, 5, 63, 64, 65, 1023, 1024, 1025, 4000], MANY // 8))
    where = np.searchsorted(ends, np.arange(MANY), side="right")
    arrays = [rng.integers(0, 4, where.max() + 1).astype(np.int16)[where] for _ in range(6)]
    arrays[2][-70_000:] = rng.integers(0, 4, 70_000)
    return Drawn(
        list(arrays),
        mask=(where % 7 != 0).astype(np.uint8),
        rater_masks=[None, (where % 5 != 1).astype(np.uint8), None, None, None, None],
    )


@pytest.mark.parametrize("threads", [2, 3, 7, 100])
@pytest.mark.parametrize("raters", [3, 6, 24])
@pytest.mark.parametrize("stratified", [False, True])
def test_patterns_are_bitwise_independent_of_threads(
    large: Drawn, threads: int, raters: int, stratified: bool
) -> None:
    arrays = (large.arrays * 4)[:raters]
    strata = (np.arange(MANY) // 999 % 3).astype(np.uint32) if stratified else None
    masks = (large.rater_masks * 4)[:raters]
    stack = stack_of(arrays, mask=large.mask, rater_masks=masks)
    one = working(threads=1)(DecisionPatterns.from_stack)(stack, strata=strata)
    many = working(threads=threads)(DecisionPatterns.from_stack)(stack, strata=strata)
    assert_equal_patterns(one, many)
    values = np.arange(len(one.counts)) * 0.5
    np.testing.assert_array_equal(one.expand(values), many.expand(values))
    assert one.disputed_region([2]) == many.disputed_region([2])


def test_slabs_equal_brute_force(large: Drawn) -> None:
    rows = np.column_stack(large.present)
    expected, counts = np.unique(rows, axis=0, return_counts=True)
    patterns = working(threads=7)(DecisionPatterns.from_stack)(stack_of(large.arrays))
    np.testing.assert_array_equal(patterns.patterns, expected)
    np.testing.assert_array_equal(patterns.counts, counts)


# -- merge ------------------------------------------------------------------------------------


@given(drawn_stacks(), st.lists(st.integers(0, 300), max_size=3))
def test_merged_chunks_equal_the_whole(drawn: Drawn, cuts: list[int]) -> None:
    size = drawn.present[0].size
    bounds = sorted({0, size, *(cut for cut in cuts if cut < size)})
    chunks = [_part(drawn, slice(a, b)) for a, b in pairwise(bounds)]
    # A chunk with only missing votes has no labels and cannot be encoded separately.
    assume(all(chunk.labels() for chunk in chunks))
    whole = encode(_part(drawn, slice(0, size)))
    tables = [encode(chunk) for chunk in chunks]
    merged = tables[0].merge(*tables[1:])
    assert merged.labels.tolist() == whole.labels.tolist()
    np.testing.assert_array_equal(merged.patterns, whole.patterns)
    np.testing.assert_array_equal(merged.counts, whole.counts)
    assert merged.patterns.dtype == whole.patterns.dtype


def _part(drawn: Drawn, part: slice) -> Drawn:
    def cut(array: np.ndarray | None) -> np.ndarray | None:
        return None if array is None else array.ravel()[part]

    masks = drawn.rater_masks
    return Drawn(
        [cut(array) for array in drawn.arrays],
        drawn.missing_label,
        cut(drawn.mask),
        None if masks is None else [cut(mask) for mask in masks],
        cut(drawn.strata),
    )


@given(drawn_stacks(with_strata=True, raters=(2, 3)))
def test_merging_keeps_strata_apart(drawn: Drawn) -> None:
    table = encode(drawn)
    merged = table.merge(table, table)
    np.testing.assert_array_equal(merged.patterns, table.patterns)
    np.testing.assert_array_equal(merged.strata, table.strata)
    np.testing.assert_array_equal(merged.counts, 3 * table.counts)


def test_merging_unites_labels_across_the_byte_boundary() -> None:
    """Digits, including the one for missing votes, are renumbered as the label table grows past
    256.
    """
    first = Drawn([np.arange(200, dtype=np.uint16), None])
    second = Drawn([np.arange(150, 400, dtype=np.uint16), None])
    merged = encode(first).merge(encode(second))
    assert merged.labels.tolist() == list(range(400))
    assert merged.patterns[:, 0].tolist() == list(range(400))
    assert (merged.patterns[:, 1] == 400).all()
    assert merged.counts.sum() == 450


def test_merging_keeps_huge_labels_exact() -> None:
    first = encode(Drawn([np.array([0, 2**63 + 1], np.uint64)]))
    second = encode(Drawn([np.array([0, 2**53 + 1], np.int64)]))
    merged = first.merge(second)
    assert [int(label) for label in merged.labels] == [0, 2**53 + 1, 2**63 + 1]
    assert merged.labels.dtype.kind in "ui"


def test_merged_counts_stay_exact_beyond_float_precision() -> None:
    """Float32 counters, as in ITK 5.4, stop at 2^24; float64 counters at 2^53."""
    patterns = encode(Drawn([np.array([0, 1], np.uint8)]))
    huge = replace(patterns, counts=np.array([2**53 + 1, 2**24 + 1]))
    assert huge.merge(patterns).counts.tolist() == [2**53 + 2, 2**24 + 2]


def test_merging_refuses_what_cannot_be_one_table() -> None:
    one = encode(Drawn([np.zeros(3, np.uint8)]))
    two = encode(Drawn([np.zeros(3, np.uint8)] * 2))
    with pytest.raises(InputError, match=r"equal numbers of raters, got \[1, 2\]"):
        one.merge(two)
    stratified = encode(Drawn([np.zeros(3, np.uint8)], strata=np.zeros(3, np.uint32)))
    with pytest.raises(InputError, match="all tables or none must have strata"):
        one.merge(stratified)


def test_a_merged_table_has_no_voxels() -> None:
    table = encode(Drawn([np.zeros(3, np.uint8)]))
    merged = table.merge(table)
    with pytest.raises(InputError, match="no voxels"):
        merged.expand(np.zeros(1))
    with pytest.raises(InputError, match="no voxels"):
        merged.disputed_region([0])


# -- expand -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "dtype",
    ["bool", "u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8", "c8", ">f8", ">i2"],
)
@pytest.mark.parametrize("strata", [None, np.arange(12, dtype=np.uint32).reshape(3, 4) % 2])
def test_values_of_every_type_are_expanded(dtype: str, strata: np.ndarray | None) -> None:
    arrays = [np.arange(12, dtype=np.uint8).reshape(3, 4) % 5]
    patterns = encode(Drawn(arrays, mask=np.arange(12).reshape(3, 4) != 7, strata=strata))
    values = (np.arange(len(patterns.counts)) % 2 + 1).astype(dtype)
    out = patterns.expand(values, outside=0)
    assert out.dtype == values.dtype
    index = patterns.expand(np.arange(len(values)), outside=-1)
    np.testing.assert_array_equal(out, np.where(index >= 0, values[index], 0))


def test_expand_writes_into_the_given_memory() -> None:
    patterns = encode(Drawn([np.array([[0, 1], [1, 0]], np.uint8)]))
    out = np.full((2, 2), np.nan)
    assert patterns.expand(np.array([0.25, 0.75]), out=out) is out
    assert out.tolist() == [[0.25, 0.75], [0.75, 0.25]]


@pytest.mark.parametrize(
    "out",
    [
        np.zeros((2, 3), np.float32),
        np.zeros((3, 2)),
        np.zeros(6),
        np.zeros((2, 3), ">f8"),
        np.zeros((3, 2)).T,
        np.zeros((2, 6))[:, ::2],
    ],
    ids=["type", "shape", "flat", "byte order", "Fortran", "strided"],
)
def test_expand_refuses_an_output_it_cannot_fill(out: np.ndarray) -> None:
    patterns = encode(Drawn([np.arange(6, dtype=np.uint8).reshape(2, 3)]))
    with pytest.raises(InputError, match=r"DecisionPatterns\.expand: out must be"):
        patterns.expand(np.ones(6), out=out)


def test_expand_never_writes_to_a_read_only_array() -> None:
    patterns = encode(Drawn([np.arange(6, dtype=np.uint8).reshape(2, 3)]))
    out = np.zeros((2, 3))
    out.setflags(write=False)
    with pytest.raises(ValueError, match="writ"):
        patterns.expand(np.ones(6), out=out)
    assert not out.any()


# -- quantities computed from the table
# ----------------------------------------------------------


def test_presence_takes_no_memory_where_nobody_is_missing() -> None:
    arrays = [np.array([0, 1, 2]), np.array([0, 2, 2])]
    complete = encode(Drawn(arrays))
    assert complete.present.shape == complete.patterns.shape
    assert complete.present.all()
    assert complete.present.strides == (0, 0)
    assert not encode(Drawn(arrays, missing_label=2)).present.all()


@given(drawn_stacks())
def test_presence_and_unanimity_are_those_of_the_rows(drawn: Drawn) -> None:
    patterns = encode(drawn)
    missing = patterns.number_of_labels
    for row, present, unanimous in zip(
        patterns.patterns.tolist(), patterns.present, patterns.unanimous, strict=True
    ):
        given_votes = [digit for digit in row if digit != missing]
        assert present.tolist() == [digit != missing for digit in row]
        assert unanimous == (len(set(given_votes)) == 1)


@given(drawn_stacks(), st.integers(0, 2**32 - 1))
def test_votes_are_counted_rater_by_rater(drawn: Drawn, seed: int) -> None:
    patterns = encode(drawn)
    weights = np.random.default_rng(seed).random(patterns.number_of_raters)
    plain = np.zeros((len(patterns.counts), patterns.number_of_labels))
    weighted = plain.copy()
    for p, row in enumerate(patterns.patterns.tolist()):
        for rater, digit in enumerate(row):
            if digit != patterns.number_of_labels:
                plain[p, digit] += 1
                weighted[p, digit] += weights[rater]
    np.testing.assert_array_equal(patterns.votes(), plain)
    np.testing.assert_allclose(patterns.votes(weights), weighted, rtol=1e-15)


def test_counting_votes_takes_little_more_memory_than_the_votes() -> None:
    """Instance maps have thousands of labels; a labels-by-labels table per rater would be too
    large.
    """
    array = np.arange(1500, dtype=np.uint16)
    patterns = encode(Drawn([array] * 5))
    patterns.one_hot
    tracemalloc.start()
    try:
        votes = patterns.votes()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2.5 * votes.nbytes


@given(drawn_stacks(), st.data())
def test_regions_are_the_bounding_box_of_what_is_flagged(drawn: Drawn, data: st.DataObject) -> None:
    patterns = encode(drawn)
    shape = drawn.present[0].shape
    margin = [data.draw(st.integers(0, 3)) for _ in shape]
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    flagged = rng.random(len(patterns.counts)) < 0.3
    where = patterns.expand(flagged, outside=False)
    assert patterns.region(flagged, margin) == bounding_box(where, margin)
    disputed = patterns.expand(~patterns.unanimous & patterns.present.any(axis=1), outside=False)
    assert patterns.disputed_region(margin) == bounding_box(disputed, margin)


def bounding_box(where: np.ndarray, margin: list[int]) -> tuple[slice, ...]:
    at = np.argwhere(where)
    if len(at) == 0:
        return tuple(slice(0, 0) for _ in where.shape)
    return tuple(
        slice(max(0, low - m), min(size, high + 1 + m))
        for low, high, m, size in zip(
            at.min(0).tolist(), at.max(0).tolist(), margin, where.shape, strict=True
        )
    )


def test_a_large_disputed_region_is_found_by_every_number_of_threads() -> None:
    first = np.zeros((60, 90, 100), np.uint8)
    second = first.copy()
    second[11, 40, 7] = second[50, 13, 93] = 1
    for threads in (1, 2, 3, 7):
        patterns = working(threads=threads)(DecisionPatterns.from_stack)(stack_of([first, second]))
        assert patterns.disputed_region([1, 0, 2]) == (slice(10, 52), slice(13, 41), slice(5, 96))


# -- after fork -------------------------------------------------------------------------------


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.parametrize("way", ["os.fork", "multiprocessing"])
def test_the_kernels_work_after_fork(way: str, run_python: Callable) -> None:
    """Kernels use no thread pool, whose threads would be missing in a child process."""
    answer = run_python(
        f"""
        import multiprocessing, os
        import numpy as np
        from itk_consensus.votes.decision_patterns import DecisionPatterns
        from itk_consensus.votes.label_stack import LabelStack
        from itk_consensus.core.work import working

        arrays = [np.arange({MANY}, dtype=np.int32) // k % 3 for k in (1, 7, 1000)]

        def counts(_=None):
            stack = working(threads=7)(LabelStack.multilabel)(arrays)
            return working(threads=7)(DecisionPatterns.from_stack)(stack).counts.tolist()

        before = counts()
        if {way!r} == "os.fork":
            child = os.fork()
            if child == 0:
                os._exit(0 if counts() == before else 3)
            _, status = os.waitpid(child, 0)
            assert os.waitstatus_to_exitcode(status) == 0
        else:
            with multiprocessing.get_context("fork").Pool(2) as pool:
                assert pool.map(counts, range(3)) == [before] * 3
        assert counts() == before
        print("done")
        """
    )
    assert answer.stdout.strip() == "done", answer.stderr


def test_256_labels_leave_room_for_a_missing_rater():
    array = np.arange(256, dtype=np.uint8).reshape(16, 16)
    patterns = DecisionPatterns.from_stack(LabelStack.multilabel([array, None, array]))
    assert patterns.present.all(axis=0).tolist() == [True, False, True]
    assert patterns.unanimous.all()


@pytest.mark.parametrize("votes_at_once", [1, 7, 100])
def test_a_table_read_in_blocks_gives_what_it_gives_as_a_whole(
    monkeypatch: pytest.MonkeyPatch, votes_at_once: int
) -> None:
    rng = np.random.default_rng(0)
    arrays = [rng.integers(0, 4, (9, 10)).astype(np.uint8) for _ in range(5)]
    stack = LabelStack.multilabel(arrays, missing_label=3)
    whole, blocks = DecisionPatterns.from_stack(stack), DecisionPatterns.from_stack(stack)
    weights, terms = rng.random(5), rng.random((15, 4))
    values = rng.random((len(whole.patterns), 2))
    wanted = [whole.unanimous, whole.votes(weights), whole.sum_over_raters(terms)]
    tallied = whole.tally(values)
    monkeypatch.setattr("itk_consensus.votes.decision_patterns._VOTES_AT_ONCE", votes_at_once)
    found = [blocks.unanimous, blocks.votes(weights), blocks.sum_over_raters(terms)]
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_allclose(blocks.tally(values), tallied, rtol=1e-12)


def test_a_table_with_a_row_per_voxel_takes_a_few_times_the_images_bytes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("itk_consensus.votes.decision_patterns._VOTES_AT_ONCE", 1 << 15)
    rng = np.random.default_rng(0)
    arrays = [rng.integers(0, 2, (200, 100)).astype(np.uint8) for _ in range(200)]
    stack = LabelStack.multilabel(arrays)
    tracemalloc.start()
    patterns = DecisionPatterns.from_stack(stack)
    patterns.votes()
    assert not patterns.unanimous.any()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(patterns.counts) == 20_000
    # The peak includes the parts, their union and the sorted table; without splitting, the votes
    # alone took 32 times the memory of the images.
    assert peak < 3 * sum(array.nbytes for array in arrays)


# -- counts computed from patterns ---------------------------------------------------------------


@given(drawn_stacks(raters=(1, 6)), st.integers(0, 2**32 - 1))
def test_patterns_are_split_as_if_every_voxel_were_counted(drawn: Drawn, seed: int) -> None:
    patterns = encode(drawn)
    assert patterns.codes is not None
    assert patterns.slots is not None
    values = np.random.default_rng(seed).integers(-2, 3, patterns.codes.shape)
    split, rows, decided = patterns.split_by(values)
    expected = [
        (row, value, np.count_nonzero((patterns.codes == slot) & (values == value)))
        for row, slot in enumerate(patterns.slots)
        for value in range(-2, 3)
        if ((patterns.codes == slot) & (values == value)).any()
    ]
    assert list(zip(rows, decided, split.counts, strict=True)) == expected
    np.testing.assert_array_equal(split.patterns, patterns.patterns[rows])


@given(drawn_stacks(raters=(1, 6)))
def test_votes_that_two_raters_share_are_counted_label_by_label(drawn: Drawn) -> None:
    patterns = encode(drawn)
    labels = np.arange(patterns.number_of_labels)[:, None, None, None]
    said = patterns.patterns[None] == labels[..., 0]
    both = said[:, :, :, None] & said[:, :, None, :]
    expected = (both * patterns.counts[:, None, None]).sum(axis=1)
    np.testing.assert_array_equal(patterns.shared_votes, expected)


def test_votes_that_two_raters_share_do_not_depend_on_threads() -> None:
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 4, (MANY, 3)).astype(np.uint8)  # 3 denotes a missing rater
    patterns = DecisionPatterns(rows, rng.integers(1, 9, MANY), np.arange(3))
    found = []
    for threads in (1, 2, 7):
        with working(threads=threads):
            found.append(replace(patterns).shared_votes)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])
    pair = (rows[:, 0] == 2) & (rows[:, 2] == 2)
    assert found[0][2, 0, 2] == found[0][2, 2, 0] == patterns.counts[pair].sum()
