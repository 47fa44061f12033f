"""Checks of a path that are made before the file is opened."""

from __future__ import annotations

import codecs
import os
import stat
from pathlib import Path

from itk_consensus.core.errors import FileError


def require_valid_name(path: Path) -> None:
    """Reject names for which C++ libraries abort the process instead of raising an error."""
    try:
        str(path).encode("utf-8")
    except UnicodeEncodeError:
        raise FileError(f"{str(path)!r}: the name is not UTF-8; rename the file") from None
    if "\0" in str(path):
        raise FileError(f"{str(path)!r}: the name contains a NUL character; rename the file")


def require_regular(path: Path) -> os.stat_result:
    """Reject folders, pipes and devices, because reading them may block, never end, or have side
    effects.
    """
    require_valid_name(path)
    try:
        status = path.stat()
    except OSError as error:
        raise FileError(f"{error.strerror}", path=path) from error
    if stat.S_ISDIR(status.st_mode):
        raise FileError("is a folder, not a file", path=path)
    if not stat.S_ISREG(status.st_mode):
        raise FileError("is a pipe or a device, not a file", path=path)
    return status


#: First bytes of image formats with text headers.
_TEXT_HEADERS = (b"NRRD", b"ObjectType", b"# vtk")


def require_text(path: Path) -> None:
    """Raise instead of overwriting an image, or any other file that is not text, with text."""
    if not path.is_file():  # a pipe would block
        return
    try:
        with path.open("rb") as stream:
            head = stream.read(4096)
    except OSError:
        return  # writing will raise an error with the reason
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)  # the last character may be cut off
        is_text = b"\0" not in head
    except UnicodeDecodeError:
        is_text = False
    if not is_text or head.startswith(_TEXT_HEADERS):
        raise FileError(
            "is an image or another file that is not text, and would be overwritten by text: give "
            "another name, or move the existing file",
            path=path,
        )
