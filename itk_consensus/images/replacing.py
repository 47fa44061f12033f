"""A file that appears in one step: it is written under another name, and moved when it is done."""

from __future__ import annotations

import os
import stat
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from itk_consensus.errors import FileError
from itk_consensus.images.headers import require_name

_HEADER_SUFFIXES = {".hdr", ".mhd", ".nhdr"}

#: What files are called until they are finished.
_DRAFT = ".itk_consensus-"


@contextmanager
def replacing(target: Path, *, alone: bool = False) -> Iterator[Path]:
    """Yield a path to write to; move what was written to `target` on success.

    Whatever else appears beside it moves along: some formats keep header and voxels apart, and the
    header names the other file. The header goes last, so it never names a missing one. Links stay
    and their targets are written; only regular files are replaced.

    Parameters
    ----------
    alone : bool
        Whether nothing else will appear, which saves a folder: removing one takes file systems
        milliseconds, for which all others wait.
    """
    place = destination(target)
    try:
        with _draft_file(target, place) if alone else _draft_folder(target, place) as draft:
            yield draft
    except OSError as error:
        raise FileError(f"{target}: cannot be written: {error.strerror or error}") from error


@contextmanager
def _draft_file(target: Path, place: Path) -> Iterator[Path]:
    # The target's own name says the format, not that of what a link leads to; a long one is cut.
    _, dot, suffix = target.name[-16:].partition(".")
    draft = place.with_name(f"{_DRAFT}{uuid.uuid4().hex}{dot}{suffix}")
    try:
        yield draft
        os.replace(draft, place)
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def _draft_folder(target: Path, place: Path) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix=_DRAFT, dir=place.parent) as folder:
        yield Path(folder, target.name)
        parts = sorted(Path(folder).iterdir(), key=_is_header)
        places = [destination(target.parent / part.name) for part in parts]
        for part, end in zip(parts, places, strict=True):
            os.replace(part, end)


def _is_header(part: Path) -> bool:
    return part.suffix.lower() in _HEADER_SUFFIXES


def destination(target: Path) -> Path:
    """Where a file of this name is to be written, links followed.

    Raises
    ------
    FileError
        The folder does not exist, or what stands there is no regular file.
    """
    require_name(target)
    place = Path(os.path.realpath(target))
    if not place.parent.is_dir():
        raise FileError(f"{target}: the folder {place.parent} does not exist")
    try:
        mode = place.stat().st_mode
    except FileNotFoundError:
        return place
    except OSError as error:
        raise FileError(f"{target}: cannot be written: {error.strerror}") from error
    if stat.S_ISDIR(mode):
        raise FileError(f"{target}: is a folder, not a file to write")
    if not stat.S_ISREG(mode):
        raise FileError(f"{target}: is a pipe or a device, which writing would replace")
    return place
