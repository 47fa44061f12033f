"""Probabilities that networks write beside their label maps: nnU-Net's ``.npz``.

They are an array (classes, z, y, x) without geometry, which is taken from the network's input
image. The accompanying ``.pkl`` is never opened, since unpickling can run arbitrary code.
"""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.errors import FileError

#: Name of the array in nnU-Net 2 and in nnU-Net 1.
NAMES = ("probabilities", "softmax")


def is_network_output(path: Path) -> bool:
    """Whether a file's extension is ``.npz``."""
    return path.suffix.lower() == ".npz"


def read_network_output(path: Path, shape: Sequence[int]) -> NDArray[np.float32]:
    """Read the (K, ...) probabilities of K classes for an image of the given shape.

    The shape in the header is checked before the voxels are read.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            name = _member(archive, path)
            with archive.open(name) as member:
                found, dtype = _header(member)
        if dtype.kind != "f" or len(found) != len(shape) + 1 or found[1:] != tuple(shape):
            raise FileError(
                f"must hold probabilities (classes, {', '.join(map(str, shape))}) for its image, "
                f"got {dtype} {found}; those of nnU-Net 1 are cropped: export them uncropped",
                path=path,
            )
        with np.load(path, allow_pickle=False) as arrays:
            return np.asarray(arrays[name.removesuffix(".npy")], np.float32)
    except FileError:
        raise
    except OSError as error:
        raise FileError(f"cannot be read: {error.strerror or error}", path=path) from error
    except (ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise FileError(f"cannot be read as an .npz file: {error}", path=path) from error


def _member(archive: zipfile.ZipFile, path: Path) -> str:
    names = archive.namelist()
    known = [f"{name}.npy" for name in NAMES if f"{name}.npy" in names]
    if not known and len(names) != 1:
        raise FileError(f"must hold an array {' or '.join(NAMES)}, got {names[:5]}", path=path)
    return known[0] if known else names[0]


def _header(member: Any) -> tuple[tuple[int, ...], np.dtype[Any]]:
    version = np.lib.format.read_magic(member)
    read = (
        np.lib.format.read_array_header_1_0
        if version == (1, 0)
        else np.lib.format.read_array_header_2_0
    )
    shape, _, dtype = read(member)
    return shape, dtype
