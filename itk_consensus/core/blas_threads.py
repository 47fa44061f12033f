"""BLAS held to the threads that were asked for.

NumPy's and SciPy's BLAS has one number of threads for the whole process. While works in several
threads are under way it is the smallest that any of them asked for, then what it was before.
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
_asked: list[int] = []  # by works under way
_before: list[tuple[Any, int]] = []  # each BLAS, and its threads before the first of them


def _renew_lock() -> None:
    """A thread that held it does not exist in a child process."""
    global _lock
    _lock = Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


@contextmanager
def blas_threads(most: int) -> Iterator[None]:
    """Have BLAS use at most so many threads."""
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
    """Every BLAS in this process; looking takes a millisecond, and SciPy brings its own."""
    from threadpoolctl import ThreadpoolController  # once it is needed

    found: list[Any] = ThreadpoolController().select(user_api="blas").lib_controllers
    return found


def _hold() -> None:
    for blas, before in _before:
        blas.set_num_threads(min([before, *_asked]))
