from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stacks import INTEGER_TYPES

from itk_consensus import LabelVotingImageFilter, MajorityVoteFilter, MultiLabelSTAPLEImageFilter
from itk_consensus.core.errors import InputError, ParameterError
from itk_consensus.fusing.fusion_result import common_type, holds, label_type, smallest_type

any_label = st.integers(-(2**63), 2**64 - 1)


@given(st.sampled_from(INTEGER_TYPES), any_label)
def test_a_type_holds_what_numpy_stores_without_complaint(dtype: str, value: int) -> None:
    try:
        np.array([value], dtype=dtype)
        fits = True
    except (OverflowError, DeprecationWarning):  # NumPy 1 warns, NumPy 2 raises an error
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


@pytest.mark.parametrize(
    ("types", "wanted"),
    [
        (["bool"], "uint8"),
        (["float32"], "int32"),
        (["float64", "uint8"], "int32"),
        (["float32", "int64"], "int64"),
        (["bool", "uint16"], "uint16"),
        (["uint64", "int8"], "int64"),
    ],
)
def test_floating_boolean_and_mixed_inputs_have_a_type_by_their_types_alone(
    types: list[str], wanted: str
) -> None:
    assert label_type(map(np.dtype, types)) == wanted
    for labels in ([0, 1], [0, 127]):
        assert common_type([np.zeros(1, dtype) for dtype in types], labels) == wanted


def test_labels_beyond_the_type_get_the_smallest_that_holds_them() -> None:
    assert common_type([np.zeros(1, "float64")], [0, 2**40]) == "uint64"
    assert common_type([np.zeros(1, "uint8")], [0, 300]) == "uint16"


FILTERS = [LabelVotingImageFilter, MultiLabelSTAPLEImageFilter, MajorityVoteFilter]


@pytest.mark.parametrize("make", FILTERS)
@pytest.mark.parametrize(("dtype", "largest"), [("uint8", 255), ("uint16", 65535), ("int8", 127)])
def test_ties_do_not_change_the_type_of_a_label_map(make: Any, dtype: str, largest: int) -> None:
    """Previously, 0/255 masks became uint16 if there was a tie, and remained uint8 if there was
    none.
    """
    tied = [np.array([[0, largest, largest]], dtype), np.array([[0, largest, 0]], dtype)]
    agreed = make().Execute([tied[0], tied[0]])
    assert agreed.dtype == dtype
    assert agreed.tolist() == tied[0].tolist()
    words = f"{make.__name__}: LabelForUndecidedPixels must be set.* {largest + 1}, .*{dtype}"
    with pytest.raises(ParameterError, match=words):
        make().Execute(tied)
    told = make(LabelForUndecidedPixels=7).Execute(tied)
    assert told.dtype == dtype
    assert told.tolist() == [[0, largest, 7]]
    lower = [np.minimum(array, 1).astype(dtype) for array in tied]
    assert make().Execute(lower).dtype == dtype


@pytest.mark.parametrize("largest", [1, 255, 300])
def test_floating_labels_have_one_type_whatever_they_are(largest: int) -> None:
    tied = [np.array([[0.0, largest]]), np.array([[0.0, 0.0]])]
    fused = LabelVotingImageFilter().Execute(tied)
    assert fused.dtype == np.int32
    assert fused.tolist() == [[0, largest + 1]]
