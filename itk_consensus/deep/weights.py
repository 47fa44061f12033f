"""Tensors and a description in one safetensors file, a format that cannot contain code.

Nothing is unpickled, so reading an untrusted file is safe. This module does not use torch.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors import numpy as safetensors

from itk_consensus.core.errors import ConsensusError, FileError

FORMAT = "itk-consensus deep consensus"
VERSION = 1

_METADATA = "__metadata__"
_LENGTH = 8

Tensors = dict[str, NDArray[Any]]


def pack(tensors: Mapping[str, NDArray[Any]], description: Mapping[str, Any]) -> bytes:
    """Return the contents of a file that holds tensors and a JSON description."""
    text = json.dumps(description, sort_keys=True)
    contiguous = {name: np.asarray(tensor, order="C") for name, tensor in tensors.items()}
    entries, data = _parts(safetensors.save(contiguous))
    metadata = {"format": FORMAT, "version": str(VERSION), "description": text}
    metadata["checksum"] = _checksum(entries, text, data)
    # Rewrite the header in a fixed order, since the library's order varies between calls.
    header = json.dumps({_METADATA: metadata, **entries}).encode()
    header += b" " * (-len(header) % 8)
    return b"".join([len(header).to_bytes(_LENGTH, "little"), header, data])


def unpack(contents: bytes, path: str) -> tuple[Tensors, dict[str, Any]]:
    """Return tensors and description of a file written by `pack`; errors begin with `path`.

    Raises
    ------
    FileError
        The file has another format or a newer version, is truncated or damaged.
    """
    try:
        tensors = safetensors.load(contents)
        header, data = _parts(contents)
    except (SafetensorError, KeyError, RecursionError, ValueError) as error:
        if f'"{FORMAT}"'.encode() in contents:
            raise FileError(f"is cut short or damaged: {error}", path=path) from error
        header, data = {}, memoryview(b"")
    metadata = header.pop(_METADATA, {})
    if metadata.get("format") != FORMAT:
        raise FileError("is not a file that DeepConsensusFilter saved", path=path)
    _check_version(metadata, path)
    with damage_as_file_error(path):
        if metadata["checksum"] != _checksum(header, metadata["description"], data):
            raise ValueError("its checksum does not match")
        description = json.loads(metadata["description"])
        if not isinstance(description, dict):
            raise TypeError("its description is not a JSON object")
        return tensors, description


@contextmanager
def damage_as_file_error(path: str) -> Iterator[None]:
    """Convert exceptions caused by a file's contents to FileError."""
    try:
        yield
    except ConsensusError:
        raise
    except (
        ArithmeticError,
        AttributeError,
        LookupError,
        RuntimeError,  # from torch, and RecursionError from nested JSON
        TypeError,
        ValueError,
    ) as error:
        raise FileError(f"is damaged: {error}", path=path) from error


def _parts(contents: bytes) -> tuple[dict[str, Any], memoryview]:
    """Split a valid file into header and data."""
    end = _LENGTH + int.from_bytes(contents[:_LENGTH], "little")
    return json.loads(contents[_LENGTH:end]), memoryview(contents)[end:]


def _checksum(entries: Mapping[str, Any], description: str, data: bytes | memoryview) -> str:
    total = hashlib.blake2b(json.dumps(entries, sort_keys=True).encode(), digest_size=16)
    total.update(description.encode())
    total.update(data)
    return total.hexdigest()


def _check_version(metadata: Mapping[str, Any], path: str) -> None:
    version = str(metadata.get("version"))
    if not (version.isascii() and version.isdecimal() and 0 < len(version) < 10):
        raise FileError(f"is damaged: its version is '{version}'", path=path)
    if int(version) > VERSION:
        raise FileError(
            f"was written by a newer itk-consensus (file version {version}, this one reads "
            f"up to {VERSION}); upgrade to read it",
            path=path,
        )
