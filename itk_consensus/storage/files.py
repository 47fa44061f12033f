"""Read and write binary and text files."""

from __future__ import annotations

import os
from pathlib import Path

from itk_consensus.core.errors import FileError
from itk_consensus.storage.guards import require_regular, require_text
from itk_consensus.storage.replacing import atomic_write

PathLike = str | os.PathLike[str]


def write_text(path: PathLike, text: str) -> None:
    """Write a UTF-8 text file atomically, replacing `path`; refuse to replace an image."""
    require_text(Path(path))
    write_bytes(path, text.encode("utf-8", errors="backslashreplace"))


def write_bytes(path: PathLike, contents: bytes) -> None:
    """Write a binary file atomically, replacing `path`."""
    with atomic_write(Path(path), alone=True) as draft:
        draft.write_bytes(contents)


def read_bytes(path: PathLike) -> bytes:
    """Return the contents of a binary file."""
    path = Path(path)
    try:
        require_regular(path)
        return path.read_bytes()
    except FileError as error:
        raise FileError(f"cannot be read: {error.problem}", path=path) from error
    except OSError as error:
        raise FileError(f"cannot be read: {error.strerror or error}", path=path) from error


def require_writable(path: PathLike) -> None:
    """Raise `FileError` if a file cannot be written; this does not write anything."""
    with atomic_write(Path(path)):
        pass
