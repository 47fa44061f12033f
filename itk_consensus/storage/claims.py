"""What a command will read and write, checked before it begins: no file may be both."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from itk_consensus.core.errors import FileError


class Claim(NamedTuple):
    """A file or folder, there or still to be made, and what it is in words."""

    what: str
    path: Path


def require_no_overlap(reads: Iterable[Claim], writes: Iterable[Claim]) -> None:
    """Compare by file, not by name: symbolic and hard links are resolved.

    Raises
    ------
    FileError
        Something that is written is also read or written under another claim, lies in a folder
        that is, or is a folder in which such a thing lies.
    """
    owners: dict[object, str] = {}  # of files and folders
    inside: dict[object, str] = {}  # of what lies in a folder, by the folder

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
    """What two spellings of one file have in common, whether it exists or not."""
    found: list[object] = [os.path.realpath(path)]
    try:
        status = path.stat()
    except OSError:
        return found
    return [*found, (status.st_dev, status.st_ino)]


def _folders(path: Path) -> list[str]:
    return [str(folder) for folder in Path(os.path.realpath(path)).parents]
