"""Writers of one output exclude each other, also if one of them is killed."""

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

#: How often a lock that somebody else has is asked for again, in seconds.
_PAUSE = 0.02


@contextmanager
def locked(place: Path, *, wait: float = 60.0) -> Iterator[None]:
    """Hold the right to write a file or folder, which exists or is still to be made.

    The lock is the operating system's, on a file beside the place: it ends with the process that
    holds it, however that ends, so nothing that was killed stays in the way. It works between
    processes and threads, and between machines where the file system passes locks on; on one that
    has no locks at all, as some clusters have, it is none.

    Parameters
    ----------
    wait : float
        Seconds to wait for somebody else to finish.

    Raises
    ------
    FileError
        Somebody else is still writing there.
    """
    digest = hashlib.sha256(os.fsencode(place.name)).hexdigest()[:16]
    file = place.with_name(f".itk_consensus-{digest}.lock")
    descriptor = _acquire(file, place, time.monotonic() + wait)
    try:
        yield
    finally:
        with suppress(OSError):  # Windows removes no file that is open
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
        elif _is_still(descriptor, file):
            os.ftruncate(descriptor, 0)
            os.write(descriptor, f"process {os.getpid()} of {socket.gethostname()}".encode())
            return descriptor
        else:  # its last holder removed it while we waited
            os.close(descriptor)
            continue
        time.sleep(_PAUSE)


def _lock(descriptor: int) -> bool:
    """Whether the lock is ours now."""
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


def _is_still(descriptor: int, file: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), file.stat())
    except OSError:
        return False
