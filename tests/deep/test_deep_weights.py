from __future__ import annotations

import contextlib
import json
import pickle
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from itk_consensus.core.errors import FileError
from itk_consensus.deep.weights import pack, unpack

TENSORS = {
    "a": np.arange(6, dtype=np.float32).reshape(2, 3),
    "b": np.array(7, dtype=np.int64),
    "c": np.array([], dtype=np.float64),
}


def test_what_is_packed_comes_back():
    tensors, description = unpack(pack(TENSORS, {"labels": [0, 4]}), "file")
    assert description == {"labels": [0, 4]}
    assert tensors.keys() == TENSORS.keys()
    for name, array in TENSORS.items():
        np.testing.assert_array_equal(tensors[name], array, strict=True)


def test_the_layout_is_safetensors():
    safetensors = pytest.importorskip("safetensors.numpy")
    loaded = safetensors.load(pack(TENSORS, {}))
    for name, array in TENSORS.items():
        np.testing.assert_array_equal(loaded[name], array, strict=True)


#: Output of pack(TENSORS, {"labels": [0, 4]}) before the safetensors library was used.
WRITTEN_EARLIER = (
    b"h\x01\x00\x00\x00\x00\x00\x00"
    b'{"__metadata__": {"format": "itk-consensus deep consensus", "version": "1", "description": '
    b'"{\\"labels\\": [0, 4]}", "checksum": "e0aef5bd90a7db96e006a9758b660232"}, "a": {"dtype": '
    b'"F32", "shape": [2, 3], "data_offsets": [0, 24]}, "b": {"dtype": "I64", "shape": [], '
    b'"data_offsets": [24, 32]}, "c": {"dtype": "F64", "shape": [0], "data_offsets": [32, 32]}}'
    b"       " + TENSORS["a"].astype("<f4").tobytes() + TENSORS["b"].astype("<i8").tobytes()
)


def test_a_file_written_earlier_can_still_be_read():
    tensors, description = unpack(WRITTEN_EARLIER, "file")
    assert description == {"labels": [0, 4]}
    for name, array in TENSORS.items():
        np.testing.assert_array_equal(tensors[name], array, strict=True)


def test_the_same_model_is_the_same_file():
    assert len({pack(TENSORS, {"labels": [0, 4]}) for _ in range(10)}) == 1


class Dangerous:
    """Unpickling this would run code."""

    def __reduce__(self):
        return exec, ("raise SystemExit('code from a file was run')",)


@pytest.mark.parametrize(
    "contents",
    [b"", b"short", b"\x89PNG\r\n\x1a\n" + bytes(100), pickle.dumps(Dangerous()), b"{}" * 50],
    ids=["empty", "short", "png", "pickle", "json"],
)
def test_a_foreign_file_is_refused(contents):
    with pytest.raises(FileError, match=r"somewhere\.bin: is not a file that DeepConsensusFilter"):
        unpack(contents, "somewhere.bin")


def test_somebody_elses_safetensors_file_is_refused():
    header = json.dumps({"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
    with pytest.raises(FileError, match="is not a file"):
        unpack(struct.pack("<Q", len(header)) + header + bytes(4), "file")


def test_a_newer_file_is_refused_by_name():
    newer = pack(TENSORS, {}).replace(b'"version": "1"', b'"version": "2"')
    with pytest.raises(FileError, match=r"newer itk-consensus \(file version 2"):
        unpack(newer, "file")


@given(st.integers(0, 1000))
def test_a_file_cut_short_anywhere_is_refused(cut):
    contents = pack(TENSORS, {"labels": [0, 1]})
    with pytest.raises(FileError):
        unpack(contents[: cut % len(contents)], "file")


@given(st.integers(0, 10_000), st.integers(0, 255))
def test_a_damaged_file_is_refused_or_read_but_never_fails_otherwise(place, value):
    contents = bytearray(pack(TENSORS, {"labels": [0, 1]}))
    contents[place % len(contents)] = value
    with contextlib.suppress(FileError):
        unpack(bytes(contents), "file")
