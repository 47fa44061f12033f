from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stacks import INTEGER_TYPES

from itk_consensus.errors import InputError
from itk_consensus.filters.fused_images import common_type, holds, smallest_type, widened

any_label = st.integers(-(2**63), 2**64 - 1)


@given(st.sampled_from(INTEGER_TYPES), any_label)
def test_a_type_holds_what_numpy_stores_without_complaint(dtype: str, value: int) -> None:
    try:
        np.array([value], dtype=dtype)
        fits = True
    except (OverflowError, DeprecationWarning):  # NumPy 1 complains, NumPy 2 refuses
        fits = False
    assert holds(np.dtype(dtype), [value]) is fits


@given(st.lists(any_label, min_size=1))
def test_smallest_type_is_the_narrowest_that_holds_every_label(values: list[int]) -> None:
    unsigned = min(values) >= 0
    family = [t for t in INTEGER_TYPES if (np.dtype(t).kind == "u") == unsigned]
    fitting = [np.dtype(t) for t in family if holds(np.dtype(t), values)]
    if fitting:
        assert smallest_type(values) == min(fitting, key=lambda dtype: dtype.itemsize)
    else:
        with pytest.raises(InputError, match="no integer type"):
            smallest_type(values)


def test_smallest_type_of_nothing_is_a_byte() -> None:
    assert smallest_type([]) == np.uint8


@pytest.mark.parametrize("dtype", INTEGER_TYPES)
def test_inputs_of_one_type_keep_it(dtype: str) -> None:
    arrays = [np.zeros(2, dtype), None, np.zeros(2, np.dtype(dtype).newbyteorder(">"))]
    assert common_type(arrays, [0]) == np.dtype(dtype)


@pytest.mark.parametrize("first", INTEGER_TYPES)
@pytest.mark.parametrize("second", INTEGER_TYPES)
def test_mixed_types_give_one_that_holds_both(first: str, second: str) -> None:
    a, b = np.iinfo(first), np.iinfo(second)
    labels = [0, 1]
    common = common_type([np.zeros(1, first), np.zeros(1, second)], labels)
    assert common.kind in "ui"
    if {first, second} & {"uint64"} and "i" in np.dtype(first).kind + np.dtype(second).kind:
        assert holds(common, labels)
    else:
        assert holds(common, [a.min, a.max, b.min, b.max])


@pytest.mark.parametrize("dtype", ["float32", "float64", "bool"])
@pytest.mark.parametrize(
    ("labels", "wanted"), [([0, 1], "uint8"), ([0, 300], "uint16"), ([-1, 1], "int8")]
)
def test_floating_and_boolean_inputs_give_the_smallest_integer_type(
    dtype: str, labels: list[int], wanted: str
) -> None:
    arrays = [np.zeros(1, dtype), np.zeros(1, np.int64)]
    assert common_type(arrays[:1], labels) == wanted
    assert common_type(arrays, labels) == wanted


@pytest.mark.parametrize(
    ("dtype", "value", "wanted"),
    [
        ("uint8", 255, "uint8"),
        ("uint8", 256, "uint16"),
        ("uint16", 65536, "uint32"),
        ("uint32", 2**32, "uint64"),
        ("int8", 127, "int8"),
        ("int8", 128, "int16"),
        ("int16", -32769, "int32"),
        ("int32", 2**31, "int64"),
    ],
)
def test_a_type_widens_only_as_far_as_needed(dtype: str, value: int, wanted: str) -> None:
    assert widened(np.dtype(dtype), value) == wanted


@pytest.mark.parametrize(("dtype", "value"), [("uint64", 2**64), ("int64", 2**63), ("uint8", -1)])
def test_a_label_that_no_type_of_the_family_holds_is_refused(dtype: str, value: int) -> None:
    with pytest.raises(InputError, match=f"undecided label {value}"):
        widened(np.dtype(dtype), value)
