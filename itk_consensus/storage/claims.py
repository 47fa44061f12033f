"""Check, before a command starts, that no output overwrites an input or another output."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from itk_consensus.core.errors import FileError


class Claim(NamedTuple):
    """An existing or future file or folder, with a description for messages."""

    what: str
    path: Path


def require_no_overlap(reads: Iterable[Claim], writes: Iterable[Claim]) -> None:
    """Check that no output overwrites an input or another output.

    Files are compared by identity, not by name: symbolic and hard links are resolved.

    Raises
    ------
    FileError
        An output is also read or written under another claim, lies inside such a folder, or is a
        folder that contains such a file.
    """
    owners: dict[object, str] = {}  # description of each file and folder
    inside: dict[object, str] = {}  # for each folder, the description of something inside it

    def enter(path: Path, what: str) -> None:
        owners.update(dict.fromkeys(_identities(path), what))
        inside.update(dict.fromkeys(_folders(path), what))

    for claim in reads:
        enter(claim.path, claim.what)
    for claim in writes:
        names = _identities(claim.path)
        for name in names:
            if name in owners:
                raise FileError(f"{claim.what} would overwrite {owners[name]}")
        nested = [inside[name] for name in names if name in inside]
        nested += [owners[folder] for folder in _folders(claim.path) if folder in owners]
        if nested:
            raise FileError(f"{claim.what} would overwrite {nested[0]}, or be part of it")
        enter(claim.path, f"the file of {claim.what}")


def _identities(path: Path) -> list[object]:
    """Return keys shared by all spellings of a file: real path, and inode if it exists."""
    found: list[object] = [os.path.realpath(path)]
    try:
        status = path.stat()
    except OSError:
        return found
    return [*found, (status.st_dev, status.st_ino)]


def _folders(path: Path) -> list[str]:
    """Return all folders above a path, with links resolved."""
    return [str(folder) for folder in Path(os.path.realpath(path)).parents]
