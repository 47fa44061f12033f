"""How work that takes long is told to end: kernels, and loops in Python, ask here now and then.

Ctrl-C needs nothing but a kernel that asks: Python raises KeyboardInterrupt in the main thread as
soon as that thread is in Python. An Abort is heard by whoever is `asking` about it; and threads
that work for others, which Ctrl-C does not reach, ask whether these still wait for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from threading import Event
from typing import ParamSpec, TypeVar

from itk_consensus.errors import ProcessAborted

P = ParamSpec("P")
T = TypeVar("T")

#: What raises if work is to end, the latest first; each thread has its own.
_asked: ContextVar[tuple[Callable[[], None], ...]] = ContextVar("asked", default=())


def checkpoint() -> None:
    """Raise if the work is to end. Kernels call it some ten times a second."""
    for ask in _asked.get():
        ask()


@contextmanager
def asking(ask: Callable[[], None]) -> Iterator[None]:
    """Have every checkpoint within call a function, which raises if the work is to end."""
    token = _asked.set((ask, *_asked.get()))
    try:
        yield
    finally:
        _asked.reset(token)


def in_other_thread(work: Callable[P, T], unwanted: Event) -> Callable[P, T]:
    """Work for another thread, which asks what this one would, and ends once it is unwanted."""
    context = copy_context()

    def ask() -> None:
        if unwanted.is_set():
            raise ProcessAborted("nobody waits for this part of the work any more")

    def watched(*args: P.args, **kwargs: P.kwargs) -> T:
        with asking(ask):
            return work(*args, **kwargs)

    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        # Threads cannot share a context; what they ask is the same in each copy.
        return context.copy().run(watched, *args, **kwargs)

    return run
