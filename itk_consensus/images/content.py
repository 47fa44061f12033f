"""Hashes of image files and voxels, and claims on the files of which an image consists."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.images.files import files_of
from itk_consensus.storage.claims import Claim
from itk_consensus.storage.files import PathLike
from itk_consensus.storage.hashes import CHUNK_BYTES, file_hash


def image_hashes(path: PathLike) -> dict[Path, str]:
    """Return the SHA-256 of every file of an image; some formats store header and voxels apart."""
    return {file: file_hash(file) for file in files_of(path)}


def voxel_hash(labels: NDArray[Any]) -> str:
    """Return the SHA-256 of labels as little-endian int64 in C order, independent of the dtype."""
    digest, flat = hashlib.sha256(), np.ascontiguousarray(labels).reshape(-1)
    for start in range(0, flat.size, CHUNK_BYTES):
        digest.update(flat[start : start + CHUNK_BYTES].astype("<i8").tobytes())
    return digest.hexdigest()


def claims_on(path: Path, what: str = "the input") -> list[Claim]:
    """Return the claims on a folder, or on all files of an image.

    Raises
    ------
    FileError
        The file does not exist or cannot be read.
    """
    files = [path] if path.is_dir() else files_of(path)
    return [Claim(f"{what} {path}", file) for file in files]
