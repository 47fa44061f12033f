"""Memory that was freed goes back to the system, where that has to be asked for."""

from __future__ import annotations

import contextlib
import ctypes


def give_memory_back() -> None:
    """Return what was freed to the system; glibc keeps blocks of many megabytes otherwise."""
    with contextlib.suppress(OSError, AttributeError):  # not glibc
        ctypes.CDLL("libc.so.6").malloc_trim(0)
