"""Atomic writing: a file is written under a temporary name and moved once it is complete."""

from __future__ import annotations

import os
import stat
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from itk_consensus.core.errors import FileError
from itk_consensus.storage.guards import require_valid_name
from itk_consensus.storage.locking import exclusive_lock

_HEADER_SUFFIXES = {".hdr", ".mhd", ".nhdr"}

#: Prefix of temporary names.
_DRAFT = ".itk_consensus-"


@contextmanager
def atomic_write(target: Path, *, alone: bool = False) -> Iterator[Path]:
    """Yield a temporary path for writing, and move the file to `target` on success.

    Other files created beside it are moved, too, since some formats store header and voxels in
    separate files. Links are preserved and their targets are overwritten. Only regular files are
    replaced, and their permissions are preserved.

    Parameters
    ----------
    alone : bool
        Whether the format consists of a single file. No temporary folder is then needed, whose
        removal takes milliseconds.
    """
    place = destination(target)
    try:
        with _draft_file(target, place) if alone else _draft_folder(target, place) as draft:
            yield draft
    except OSError as error:
        raise FileError(f"cannot be written: {error.strerror or error}", path=target) from error


@contextmanager
def _draft_file(target: Path, place: Path) -> Iterator[Path]:
    # The suffix, which determines the format, is taken from `target`, not from a link's
    # destination.
    _, dot, suffix = target.name[-16:].partition(".")
    draft = place.with_name(f"{_DRAFT}{uuid.uuid4().hex}{dot}{suffix}")
    mode = permissions(place)
    try:
        if mode is not None:  # set before the file has any contents
            os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode | stat.S_IWUSR))
        yield draft
        if mode is not None:
            draft.chmod(mode)
        os.replace(draft, place)
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def _draft_folder(target: Path, place: Path) -> Iterator[Path]:
    mode = permissions(place)
    with tempfile.TemporaryDirectory(prefix=_DRAFT, dir=place.parent) as name:
        folder = Path(name)
        yield folder / target.name
        parts = sorted(folder.iterdir(), key=_is_header)
        if mode is not None:
            for part in parts:
                part.chmod(mode)
        places = [destination(target.parent / part.name) for part in parts]
        if len(parts) > 1:
            # the same name for header and voxels
            with exclusive_lock(place.with_suffix(".header+voxels")):
                _exchange(parts, places, folder)
        elif parts:
            os.replace(parts[0], places[0])


def _exchange(parts: Sequence[Path], places: Sequence[Path], folder: Path) -> None:
    """Move several files that belong together; the last of `parts` is the header.

    Two files cannot be moved atomically. Therefore the old header is removed first and the new one
    is moved last: in between, or after a kill, there is no image instead of a header with the
    voxels of another image. The old files are kept in `folder` until all files are moved, and
    restored on error.
    """
    old = folder / "old"
    old.mkdir()
    kept: list[tuple[Path, Path]] = []
    try:
        for place in reversed(places):
            if place.exists():
                os.replace(place, old / place.name)
                kept.append((old / place.name, place))
        for part, place in zip(parts, places, strict=True):
            os.replace(part, place)
    except BaseException:
        for before, place in reversed(kept):
            os.replace(before, place)
        raise


def _is_header(part: Path) -> bool:
    return part.suffix.lower() in _HEADER_SUFFIXES


def permissions(place: Path) -> int | None:
    """Return the permission bits of a file or folder; None if it does not exist."""
    try:
        return stat.S_IMODE(place.stat().st_mode)
    except OSError:
        return None


def destination(target: Path) -> Path:
    """Return the path at which a file with this name will be written, with links resolved.

    Raises
    ------
    FileError
        The folder does not exist, or the path exists and is not a regular file.
    """
    require_valid_name(target)
    place = Path(os.path.realpath(target))
    if not place.parent.is_dir():
        raise FileError(f"the folder {place.parent} does not exist", path=target)
    try:
        mode = place.stat().st_mode
    except FileNotFoundError:
        return place
    except OSError as error:
        raise FileError(f"cannot be written: {error.strerror}", path=target) from error
    if stat.S_ISDIR(mode):
        raise FileError("is a folder, not a file to write", path=target)
    if not stat.S_ISREG(mode):
        raise FileError("is a pipe or a device, which writing would replace", path=target)
    return place
