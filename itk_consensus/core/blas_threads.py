"""Limit the number of threads of BLAS.

The number of threads used by the BLAS libraries of NumPy and SciPy is global to the process. While
several threads have requested limits, the smallest limit applies; afterwards the original number is
restored.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

_lock = Lock()
_asked: list[int] = []  # limits currently in force
_before: list[tuple[Any, int]] = []  # each BLAS library, and its original number of threads


def _renew_lock() -> None:
    """Replace the lock in a child process, in which the thread that held it does not exist."""
    global _lock
    _lock = Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


@contextmanager
def blas_threads(most: int) -> Iterator[None]:
    """Limit BLAS to at most `most` threads."""
    with _lock:
        if not _asked:
            found = _find("scipy.linalg" in sys.modules)
            _before[:] = [(blas, blas.num_threads) for blas in found]
        _asked.append(most)
        _hold()
    try:
        yield
    finally:
        with _lock:
            _asked.remove(most)
            _hold()


@cache
def _find(with_scipy: bool) -> list[Any]:
    """Find all BLAS libraries in this process (SciPy has its own); cached, since it takes 1 ms."""
    # imported lazily, to speed up the import of this module
    from threadpoolctl import ThreadpoolController

    found: list[Any] = ThreadpoolController().select(user_api="blas").lib_controllers
    return found


def _hold() -> None:
    """Apply the smallest limit in force."""
    for blas, before in _before:
        blas.set_num_threads(min([before, *_asked]))
