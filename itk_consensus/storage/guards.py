"""What stands under a name, looked at before it is opened."""

from __future__ import annotations

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
