"""A file that appears in one step: it is written under another name, and moved when it is done."""

from __future__ import annotations

import os
import stat
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from itk_consensus.core.errors import FileError
from itk_consensus.storage.guards import require_name
from itk_consensus.storage.locking import locked

_HEADER_SUFFIXES = {".hdr", ".mhd", ".nhdr"}

#: What files are called until they are finished.
_DRAFT = ".itk_consensus-"


@contextmanager
def replacing(target: Path, *, alone: bool = False) -> Iterator[Path]:
    """Yield a path to write to; move what was written to `target` on success.

    Whatever else appears beside it moves along: some formats keep header and voxels apart, and the
    header names the other file. Links stay and their targets are written; only regular files are
    replaced, and who might read them may read the new ones.

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
        raise FileError(f"cannot be written: {error.strerror or error}", path=target) from error


@contextmanager
def _draft_file(target: Path, place: Path) -> Iterator[Path]:
    # The target's own name says the format, not that of what a link leads to; a long one is cut.
    _, dot, suffix = target.name[-16:].partition(".")
    draft = place.with_name(f"{_DRAFT}{uuid.uuid4().hex}{dot}{suffix}")
    mode = mode_of(place)
    try:
        if mode is not None:  # before there is anything to read
            os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode | stat.S_IWUSR))
        yield draft
        if mode is not None:
            draft.chmod(mode)
        os.replace(draft, place)
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def _draft_folder(target: Path, place: Path) -> Iterator[Path]:
    mode = mode_of(place)
    with tempfile.TemporaryDirectory(prefix=_DRAFT, dir=place.parent) as name:
        folder = Path(name)
        yield folder / target.name
        parts = sorted(folder.iterdir(), key=_is_header)
        if mode is not None:
            for part in parts:
                part.chmod(mode)
        places = [destination(target.parent / part.name) for part in parts]
        if len(parts) > 1:
            with locked(place.with_suffix(".header+voxels")):  # whichever of them is the target
                _exchange(parts, places, folder)
        elif parts:
            os.replace(parts[0], places[0])


def _exchange(parts: Sequence[Path], places: Sequence[Path], folder: Path) -> None:
    """Move several files that belong together, of which the header is the last.

    No file system moves two files in one step. So the old header goes first and the new one comes
    last: whoever looks in between, or after a kill, finds no image at all instead of a header with
    the voxels of another. The old files stay in the folder until all is done.
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


def mode_of(place: Path) -> int | None:
    """Who may do what with a file or folder; None if it is not there."""
    try:
        return stat.S_IMODE(place.stat().st_mode)
    except OSError:
        return None


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
