"""What stands under a name, looked at before it is opened."""

from __future__ import annotations

import codecs
import os
import stat
from pathlib import Path

from itk_consensus.core.errors import FileError


def require_name(path: Path) -> None:
    """Refuse names at which the libraries would end the process instead of raising."""
    try:
        str(path).encode("utf-8")
    except UnicodeEncodeError:
        raise FileError(f"{str(path)!r}: the name is not UTF-8; rename the file") from None
    if "\0" in str(path):
        raise FileError(f"{str(path)!r}: is not the name of a file")


def require_regular(path: Path) -> os.stat_result:
    """Refuse folders, pipes and devices, which block, never end, or do something when read."""
    require_name(path)
    try:
        status = path.stat()
    except OSError as error:
        raise FileError(f"{error.strerror}", path=path) from error
    if stat.S_ISDIR(status.st_mode):
        raise FileError("is a folder, not a file", path=path)
    if not stat.S_ISREG(status.st_mode):
        raise FileError("is a pipe or a device, not a file", path=path)
    return status


#: How headers of images begin that are text themselves.
_TEXT_HEADERS = (b"NRRD", b"ObjectType", b"# vtk")


def require_text(path: Path) -> None:
    """Refuse to let text take the place of an image, or of anything else that is no text."""
    if not path.is_file():  # a pipe would block
        return
    try:
        with path.open("rb") as stream:
            head = stream.read(4096)
    except OSError:
        return  # whoever writes will say what is wrong
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)  # of which the end may be cut
        is_text = b"\0" not in head
    except UnicodeDecodeError:
        is_text = False
    if not is_text or head.startswith(_TEXT_HEADERS):
        raise FileError(
            "is an image, or something else that is no text, which text would replace: give "
            "another name or move it",
            path=path,
        )
