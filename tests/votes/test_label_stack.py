from __future__ import annotations

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stacks import INTEGER_TYPES, LABEL_TYPES, Drawn, assert_is_brute_force, drawn_stacks, encode

from itk_consensus.core.errors import InputError
from itk_consensus.core.work import default_threads, working
from itk_consensus.votes.label_stack import (
    MOST_LABELS,
    LabelStack,
    distinct_values,
    label_table,
)

OWNER = "SomeFilter"


@given(drawn_stacks())
def test_multilabel_labels_are_the_values_that_occur(drawn: Drawn) -> None:
    stack = LabelStack.multilabel(drawn.arrays, **drawn.common())
    assert stack.labels.tolist() == drawn.labels()
    assert stack.missing_digit == len(drawn.labels())
    assert stack.shape == drawn.present[0].shape


@given(st.data(), st.sampled_from(INTEGER_TYPES))
def test_distinct_values_are_those_of_numpy(data: st.DataObject, dtype: str) -> None:
    array = data.draw(drawn_stacks(dtype=dtype, raters=(1, 1), most_labels=9)).present[0]
    found = working(threads=2)(distinct_values)(np.ascontiguousarray(array), OWNER, 0)
    assert found.dtype == array.dtype
    np.testing.assert_array_equal(found, np.unique(array))


@pytest.mark.parametrize("dtype", LABEL_TYPES)
def test_binary_stacks_tell_the_foreground_from_the_rest(dtype: str) -> None:
    values = [0, 1, 1, 0] if dtype == "bool" else [0, 1, 3, 1]
    drawn = Drawn([np.array(values, dtype=dtype)])
    assert_is_brute_force(encode(drawn, foreground=1), drawn, foreground=1)


@pytest.mark.parametrize("dtype", INTEGER_TYPES)
def test_extreme_values_of_every_integer_type_are_labels(dtype: str) -> None:
    limits = np.iinfo(dtype)
    array = np.array([limits.min, 0, limits.max, limits.max], dtype=dtype)
    drawn = Drawn([array, array[::-1].copy()])
    patterns = encode(drawn)
    assert patterns.labels.tolist() == sorted({int(limits.min), 0, int(limits.max)})
    assert_is_brute_force(patterns, drawn)


LAYOUTS = {
    "C": lambda a: a.copy(),
    "Fortran": np.asfortranarray,
    "transposed": lambda a: np.ascontiguousarray(a.T).T,
    "strided": lambda a: np.repeat(np.repeat(a, 2, axis=0), 3, axis=1)[::2, ::3],
    "reversed": lambda a: np.ascontiguousarray(a[::-1, ::-1])[::-1, ::-1],
    "unaligned": lambda a: _unaligned(a),
    "broadcast": lambda a: np.broadcast_to(a[:, :1], a.shape),
}


def _unaligned(array: np.ndarray) -> np.ndarray:
    raw = np.zeros(array.nbytes + 1, np.uint8)[1:].view(array.dtype).reshape(array.shape)
    raw[...] = array
    return raw


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize(
    "dtype", ["bool", "uint8", "int16", "uint32", "int64", "float32", "float64"]
)
def test_every_memory_layout_and_byte_order_is_read_alike(
    layout: str, order: str, dtype: str
) -> None:
    rng = np.random.default_rng(0)
    source = rng.integers(0, 2 if dtype == "bool" else 4, (7, 11))
    laid_out = LAYOUTS[layout](source.astype(np.dtype(dtype).newbyteorder(order)))
    laid_out.setflags(write=False)
    before = laid_out.copy()
    for foreground in (None, 1):
        drawn = Drawn([laid_out, source.astype(np.uint8)])
        assert_is_brute_force(encode(drawn, foreground=foreground), drawn, foreground)
    np.testing.assert_array_equal(laid_out, before)


def test_negative_zero_is_label_zero() -> None:
    array = np.array([0.0, -0.0, 1.0, -0.0])
    patterns = encode(Drawn([array]))
    assert patterns.labels.tolist() == [0, 1]
    assert patterns.counts.tolist() == [3, 1]


@pytest.mark.parametrize("odd", [0.5, np.nan, np.inf, -np.inf, 1e300, 2.0**63])
def test_values_that_are_no_labels_are_refused_with_the_input_named(odd: float) -> None:
    arrays = [np.zeros((2, 3)), np.full((2, 3), odd)]
    message = "SomeFilter: input 1 must hold whole-number labels"
    with pytest.raises(InputError, match=message):
        LabelStack.binary(arrays, 1, owner=OWNER)
    with pytest.raises(InputError, match=message):
        LabelStack.multilabel(arrays, owner=OWNER)


@pytest.mark.parametrize("dtype", ["complex64", "U1", "object", "datetime64[s]", "longdouble"])
def test_element_types_without_labels_are_refused(dtype: str) -> None:
    with pytest.raises(
        InputError, match="SomeFilter: input 0 must have an integer or floating type"
    ):
        LabelStack.multilabel([np.zeros(3).astype(dtype)], owner=OWNER)


def test_float16_labels_are_exact() -> None:
    array = np.array([0, 1, 2, 2047, 2048], dtype=np.float16)
    assert encode(Drawn([array])).labels.tolist() == [0, 1, 2, 2047, 2048]


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 4, 5)])
def test_inputs_without_voxels_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match="no voxels"):
        LabelStack.multilabel([np.zeros(shape, np.uint8)], owner=OWNER)
    with pytest.raises(InputError, match="no voxels"):
        LabelStack.binary([np.zeros(shape, np.uint8)], 1, owner=OWNER)


def test_different_shapes_are_refused() -> None:
    with pytest.raises(InputError, match=r"the same shape.*\(2, 3\).*\(3, 2\)"):
        LabelStack.multilabel([np.zeros((2, 3)), np.zeros((3, 2))], owner=OWNER)


@pytest.mark.parametrize("arrays", [[], [None], [None, None]])
def test_a_stack_needs_one_rater_at_least(arrays: list[None]) -> None:
    with pytest.raises(InputError, match="at least one rater"):
        LabelStack.multilabel(arrays, owner=OWNER)


def test_rater_masks_must_be_one_per_rater() -> None:
    with pytest.raises(InputError, match="SomeFilter: RaterMasks must have 2 entries, got 1"):
        LabelStack.multilabel([np.zeros(3), np.zeros(3)], rater_masks=[None], owner=OWNER)


@pytest.mark.parametrize("name", ["mask", "rater_masks"])
def test_a_mask_of_another_shape_is_refused(name: str) -> None:
    other = np.ones((3, 2), np.uint8)
    masks = {name: [other] if name == "rater_masks" else other}
    with pytest.raises(InputError, match="shape"):
        LabelStack.multilabel([np.zeros((2, 3), np.uint8)], **masks, owner=OWNER)


def test_any_non_zero_value_of_a_mask_counts() -> None:
    mask = np.array([0, 1, 255, -3, 0.25])
    stack = LabelStack.binary([np.ones(5, np.uint8)], 1, mask=mask, rater_masks=[mask])
    assert stack.mask.tolist() == [0, 1, 1, 1, 1]
    assert stack.rater_masks[0].tolist() == [0, 1, 1, 1, 1]


@pytest.mark.parametrize("dtype", ["uint16", "int16", "uint32", "float32"])
@pytest.mark.parametrize("excess", [0, 1])
def test_most_labels_is_the_most(dtype: str, excess: int) -> None:
    values = np.arange(MOST_LABELS + excess, dtype=np.int64)
    array = np.tile((values - (2**15 if dtype == "int16" else 0)).astype(dtype), 3)
    if excess:
        with pytest.raises(InputError, match="65535 distinct"):
            working(threads=3)(label_table)([array], OWNER)
    else:
        np.testing.assert_array_equal(
            working(threads=3)(label_table)([array], OWNER), np.unique(array)
        )


def test_an_intensity_image_in_constant_runs_is_no_label_image() -> None:
    array = np.repeat(np.arange(MOST_LABELS + 2, dtype=np.float64), 64)
    with pytest.raises(InputError, match="65535 distinct"):
        working(threads=1)(label_table)([array], OWNER)


def test_labels_without_a_common_integer_type_are_refused() -> None:
    arrays = [np.array([-1], np.int8), np.array([2**64 - 1], np.uint64)]
    with pytest.raises(InputError, match="no integer type holds"):
        LabelStack.multilabel(arrays, owner=OWNER)


def test_a_missing_label_is_no_label() -> None:
    stack = LabelStack.multilabel([np.array([0, 9, 2], np.uint8)], missing_label=9)
    assert stack.labels.tolist() == [0, 2]
    assert stack.may_be_missing


def test_a_stack_in_which_everything_is_missing_is_refused() -> None:
    with pytest.raises(InputError, match="every voxel of every input is missing"):
        LabelStack.multilabel([np.full(3, 9, np.uint8)], missing_label=9, owner=OWNER)


@pytest.mark.parametrize("missing", [-1, 300, 2**40, -(2**63)])
def test_a_missing_label_beyond_an_input_type_occurs_nowhere_in_it(missing: int) -> None:
    drawn = Drawn([np.array([0, 1, 255, 44], np.uint8), np.array([1, 1, -1, 300])], missing)
    assert_is_brute_force(encode(drawn), drawn)


def test_a_float_rater_keeps_its_labels_beside_larger_integer_labels() -> None:
    # 2^24 + 1 is not representable in float32 and would be rounded to 2^24.
    large = 2**24
    floats = np.array([large, 0, large], np.float32)
    integers = np.array([large + 1, large, 0], np.int32)
    drawn = Drawn([floats, integers])
    assert_is_brute_force(encode(drawn), drawn)


@pytest.mark.parametrize("foreground", [None, 5])
def test_uint64_labels_stay_exact_beside_a_missing_label(foreground: int | None) -> None:
    huge = 2**63 + 1
    drawn = Drawn([np.array([huge, 5, huge + 1, 3], np.uint64)], missing_label=3)
    assert_is_brute_force(encode(drawn, foreground=foreground), drawn, foreground)


def test_a_large_missing_label_stays_exact_in_a_binary_stack() -> None:
    drawn = Drawn([np.array([2**53 + 1, 2**53, 1, 0], np.int64)], missing_label=2**53 + 1)
    assert_is_brute_force(encode(drawn, foreground=1), drawn, foreground=1)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no processor affinity here")
def test_default_threads_are_the_processors_this_process_may_use() -> None:
    allowed = os.sched_getaffinity(0)
    assert default_threads() == len(allowed)
    try:
        os.sched_setaffinity(0, {min(allowed)})
        assert default_threads() == 1
    finally:
        os.sched_setaffinity(0, allowed)
