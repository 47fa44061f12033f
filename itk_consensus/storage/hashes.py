"""Hashes of file contents, independent of names and modification times."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from itk_consensus.core.errors import FileError
from itk_consensus.storage.files import PathLike
from itk_consensus.storage.guards import require_regular

CHUNK_BYTES = 1 << 20


def file_hash(path: PathLike) -> str:
    """Return the SHA-256 of a file's bytes."""
    path = Path(path)
    digest = hashlib.sha256()
    try:
        require_regular(path)
        with path.open("rb") as stream:
            for chunk in iter(lambda: stream.read(CHUNK_BYTES), b""):
                digest.update(chunk)
    except OSError as error:
        raise FileError(f"cannot be read: {error.strerror}", path=path) from error
    return digest.hexdigest()


def folder_hash(folder: PathLike) -> str:
    """Return the SHA-256 of the names and bytes of all files below a folder."""
    files = list(files_below(Path(folder)))
    digest = hashlib.sha256()
    with ThreadPoolExecutor() as pool:
        for file, found in zip(files, pool.map(file_hash, files), strict=True):
            name = os.fsencode(os.path.relpath(file, folder))
            digest.update(b"%d:%s%s" % (len(name), name, found.encode()))
    return digest.hexdigest()


def files_below(folder: Path) -> Iterator[Path]:
    """Yield all files below a folder, sorted by name; follow links unless they form a loop."""
    for parent, folders, names in os.walk(folder, followlinks=True):
        here = os.path.realpath(parent)
        ends = {name: os.path.realpath(Path(parent, name)) for name in folders}
        folders[:] = sorted(n for n, end in ends.items() if not f"{here}/".startswith(f"{end}/"))
        yield from (Path(parent, name) for name in sorted(names))
