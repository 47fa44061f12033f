"""Tensors and a description in one file that can never run code.

The layout is safetensors': eight bytes of header length, a JSON header with the type, shape and
place of every tensor, then their bytes. Nothing is unpickled, so a file from a stranger can at
worst be refused. No torch here.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.errors import ConsensusError, FileError

FORMAT = "itk-consensus deep consensus"
VERSION = 1

_TYPES = {"F32": "<f4", "F64": "<f8", "I64": "<i8", "U8": "|u1"}
_NAMES = {np.dtype(text): name for name, text in _TYPES.items()}
_LENGTH = struct.Struct("<Q")
_LARGEST_HEADER = 16 * 1024 * 1024
_METADATA = "__metadata__"

Tensors = Mapping[str, NDArray[Any]]


def pack(tensors: Tensors, description: Mapping[str, Any]) -> bytes:
    """The contents of a file with tensors of float32, float64, int64 or uint8 and JSON."""
    entries: dict[str, Any] = {}
    parts, end = [], 0
    for name, tensor in tensors.items():
        little_endian = np.ascontiguousarray(tensor).astype(tensor.dtype.newbyteorder("<"))
        start, end = end, end + little_endian.nbytes
        entries[name] = {
            "dtype": _NAMES[little_endian.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [start, end],
        }
        parts.append(little_endian.tobytes())
    text, data = json.dumps(description, sort_keys=True), b"".join(parts)
    metadata = {
        "format": FORMAT,
        "version": str(VERSION),
        "description": text,
        "checksum": _checksum(entries, text, data),
    }
    header = json.dumps({_METADATA: metadata, **entries}).encode()
    header += b" " * (-len(header) % 8)
    return b"".join([_LENGTH.pack(len(header)), header, data])


def unpack(contents: bytes, path: str) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """The tensors and the description in what `pack` made; `path` opens the error messages.

    Raises
    ------
    FileError
        The file is something else, newer than this version, cut short or damaged.
    """
    header, data = _header(contents, path)
    metadata = header.pop(_METADATA)
    _check_version(metadata, path)
    with refusing_damage(path):
        needed = max((entry["data_offsets"][1] for entry in header.values()), default=0)
        if len(data) < needed:
            raise FileError(f"{path}: is cut short: {len(data)} of {needed} bytes of weights")
        if metadata["checksum"] != _checksum(header, metadata["description"], data):
            raise ValueError("its checksum is another")
        tensors = {name: _tensor(entry, data) for name, entry in header.items()}
        description = json.loads(metadata["description"])
        if not isinstance(description, dict):
            raise TypeError("its description is no object")
        return tensors, description


@contextmanager
def refusing_damage(path: str) -> Iterator[None]:
    """Turn whatever goes wrong with a file's contents into a FileError."""
    try:
        yield
    except ConsensusError:
        raise
    except (
        ArithmeticError,
        AttributeError,
        LookupError,
        RuntimeError,  # torch's, and JSON that is nested too deeply
        TypeError,
        ValueError,
    ) as error:
        raise FileError(f"{path}: is damaged: {error}") from error


def _checksum(entries: Mapping[str, Any], description: str, data: bytes | memoryview) -> str:
    total = hashlib.blake2b(json.dumps(entries, sort_keys=True).encode(), digest_size=16)
    total.update(description.encode())
    total.update(data)
    return total.hexdigest()


def _header(contents: bytes, path: str) -> tuple[dict[str, Any], memoryview]:
    foreign = FileError(f"{path}: is not a file that DeepConsensusFilter saved")
    if len(contents) < _LENGTH.size:
        raise foreign
    (length,) = _LENGTH.unpack_from(contents)
    if length > _LARGEST_HEADER:
        raise foreign
    start, end = _LENGTH.size, _LENGTH.size + length
    if len(contents) < end:
        if contents[start : start + 1] == b"{":
            raise FileError(f"{path}: is cut short: its header is incomplete")
        raise foreign
    try:
        header = json.loads(contents[start:end])
    except (ValueError, RecursionError):
        raise foreign from None
    known = isinstance(header, dict) and isinstance(header.get(_METADATA), dict)
    if not known or header[_METADATA].get("format") != FORMAT:
        raise foreign
    return header, memoryview(contents)[end:]


def _check_version(metadata: Mapping[str, Any], path: str) -> None:
    version = str(metadata.get("version"))
    if not (version.isascii() and version.isdecimal() and 0 < len(version) < 10):
        raise FileError(f"{path}: is damaged: its version is '{version}'")
    if int(version) > VERSION:
        raise FileError(
            f"{path}: was written by a newer itk-consensus (file version {version}, this one reads "
            f"up to {VERSION}); upgrade to read it"
        )


def _tensor(entry: Mapping[str, Any], data: memoryview) -> NDArray[Any]:
    start, end = entry["data_offsets"]
    dtype = np.dtype(_TYPES[entry["dtype"]])
    if start < 0 or min(entry["shape"], default=0) < 0:
        raise ValueError("negative size")
    # Reshaping fails unless type, shape and place agree.
    flat = np.frombuffer(data[start:end], dtype)
    return flat.reshape(entry["shape"]).astype(dtype.newbyteorder("="))
