"""A lock for processes that write the same output; it is released if a process is killed."""

from __future__ import annotations

import hashlib
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from itk_consensus.core.errors import FileError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]
    import msvcrt

#: Seconds between two attempts to acquire a lock held by another process.
_PAUSE = 0.02


@contextmanager
def exclusive_lock(place: Path, *, wait: float = 60.0) -> Iterator[None]:
    """Lock a file or folder for writing; it need not exist yet.

    The lock is provided by the operating system, on a file beside `place`. It is released when the
    process that holds it ends for any reason, so no stale locks remain. It works between processes
    and threads, and between machines if the file system supports this. File systems without locks,
    as on some clusters, are used without locking.

    Parameters
    ----------
    wait : float
        Seconds to wait for another writer to finish.

    Raises
    ------
    FileError
        Another writer still holds the lock.
    """
    digest = hashlib.sha256(os.fsencode(place.name)).hexdigest()[:16]
    file = place.with_name(f".itk_consensus-{digest}.lock")
    descriptor = _acquire(file, place, time.monotonic() + wait)
    try:
        yield
    finally:
        with suppress(OSError):  # Windows cannot remove an open file
            file.unlink()
        os.close(descriptor)


def _acquire(file: Path, place: Path, deadline: float) -> int:
    while True:
        try:
            descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise FileError(f"{place}: cannot be written: {error.strerror}") from error
        if not _lock(descriptor):
            holder = os.read(descriptor, 200).decode(errors="replace") or "another process"
            os.close(descriptor)
            if time.monotonic() >= deadline:
                raise FileError(
                    f"{place}: is being written by {holder}; wait for it, or choose another output"
                )
        elif _is_same_file(descriptor, file):
            os.ftruncate(descriptor, 0)
            os.write(descriptor, f"process {os.getpid()} of {socket.gethostname()}".encode())
            return descriptor
        else:  # its last holder removed it after it was opened here
            os.close(descriptor)
            continue
        time.sleep(_PAUSE)


def _lock(descriptor: int) -> bool:
    """Try to acquire the lock without waiting; return whether it is now held."""
    try:
        if fcntl is None:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:  # a file system without locks
        return True
    return True


def _is_same_file(descriptor: int, file: Path) -> bool:
    """Whether an open descriptor refers to the file that is currently at this path."""
    try:
        return os.path.samestat(os.fstat(descriptor), file.stat())
    except OSError:
        return False
