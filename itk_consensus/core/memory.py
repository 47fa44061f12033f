"""Return freed memory to the operating system on platforms where this must be requested."""

from __future__ import annotations

import contextlib
import ctypes


def give_memory_back() -> None:
    """Return freed memory to the operating system; glibc otherwise keeps many megabytes."""
    with contextlib.suppress(OSError, AttributeError):  # not glibc
        ctypes.CDLL("libc.so.6").malloc_trim(0)
