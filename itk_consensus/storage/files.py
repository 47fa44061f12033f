"""Files of bytes and of text; what stands where one is wanted."""

from __future__ import annotations

import os
from pathlib import Path

from itk_consensus.core.errors import FileError
from itk_consensus.storage.guards import require_regular, require_text
from itk_consensus.storage.replacing import replacing

PathLike = str | os.PathLike[str]


def write_text(path: PathLike, text: str) -> None:
    """Write a UTF-8 text file, replacing `path`, unless an image lies there, in one step."""
    require_text(Path(path))
    write_bytes(path, text.encode("utf-8", errors="backslashreplace"))


def write_bytes(path: PathLike, contents: bytes) -> None:
    """Write a file of bytes, replacing `path` in one step."""
    with replacing(Path(path), alone=True) as draft:
        draft.write_bytes(contents)


def read_bytes(path: PathLike) -> bytes:
    """All bytes of a file."""
    path = Path(path)
    try:
        require_regular(path)
        return path.read_bytes()
    except FileError as error:
        raise FileError(f"cannot be read: {error.problem}", path=path) from error
    except OSError as error:
        raise FileError(f"cannot be read: {error.strerror or error}", path=path) from error


def require_writable(path: PathLike) -> None:
    """Raise now, rather than after the work, if a file cannot be written; write nothing."""
    with replacing(Path(path)):
        pass
