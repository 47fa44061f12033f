"""Context of the running computation: number of threads, progress and Abort.

A filter sets the context once, using `working`, for an Execute or a later output; algorithms and
kernels at any depth obtain it from `current()`. `in_threads` distributes work over threads.

To support Ctrl-C, kernels only need to call `checkpoint` regularly: Python raises KeyboardInterrupt
in the main thread as soon as that thread executes Python code. Worker threads, which do not receive
Ctrl-C, check whether their result is still needed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import partial
from threading import Event
from typing import Any, NamedTuple, TypeVar

from itk_consensus.core.blas_threads import blas_threads
from itk_consensus.core.errors import ProcessAborted

Item = TypeVar("Item")
Made = TypeVar("Made")

#: Seconds between two checks of the progress of other threads.
SECONDS_BETWEEN_LOOKS = 0.1


def default_threads() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


#: Number of threads that BLAS uses by default.
BLAS_THREADS = default_threads()


def _ignore(_: float) -> None:
    """Ignore the progress; the default of `Work.on_progress`."""


def _go_on(_: int) -> bool:
    """Return True, so that the loop continues; the default of `Work.on_iteration`."""
    return True


class Work(NamedTuple):
    """Context in which an algorithm runs."""

    threads: int  #: Number of threads to use; results never depend on it
    owner: str = "itk_consensus"  #: Name of the filter, for messages
    begin: float = 0.0  #: Progress at the beginning of this stage of the work
    end: float = 1.0  #: Progress at the end of this stage
    on_progress: Callable[[float], None] = _ignore  #: Called with the progress of the whole work
    #: Called after each iteration with its number from 1; returning False ends the loop.
    on_iteration: Callable[[int], bool] = _go_on
    abort_checks: tuple[Callable[[], None], ...] = ()  #: Each callable raises if the work must stop

    def move(self, share: float) -> None:
        """Report that a fraction of this stage of the work is done."""
        self.on_progress(self.begin + share * (self.end - self.begin))


_current: ContextVar[Work | None] = ContextVar("work", default=None)


def current() -> Work:
    """Return the context of this thread; outside of any filter, the default context."""
    return _current.get() or Work(default_threads())


@contextmanager
def working(*, abort_check: Callable[[], None] | None = None, **changes: Any) -> Iterator[None]:
    """Change the context for all calls within a block.

    Parameters
    ----------
    abort_check : callable, optional
        Function that raises if the work must stop; called in addition to the existing checks.
    **changes
        Other fields of `Work`.
    """
    work = current()._replace(**changes)
    if abort_check is not None:
        work = work._replace(abort_checks=(abort_check, *work.abort_checks))
    token = _current.set(work)
    try:
        if changes.get("threads", BLAS_THREADS) < BLAS_THREADS:
            with blas_threads(work.threads):
                yield
        else:
            yield
    finally:
        _current.reset(token)


class stage:  # noqa: N801 (read as a word: with stage(0.0, 0.5))
    """Map the progress, 0 to 1, of all calls within a block to a stage of the work.

    This is a class instead of a generator, unlike `working`, since it is used in every iteration of
    fast loops.
    """

    __slots__ = ("_token", "_work")

    def __init__(self, begin: float, end: float, **changes: Any) -> None:
        work = current()
        length = work.end - work.begin
        first, last = work.begin + begin * length, work.begin + end * length
        self._work = work._replace(begin=first, end=last, **changes)

    def __enter__(self) -> None:
        self._token = _current.set(self._work)

    def __exit__(self, *_: object) -> None:
        _current.reset(self._token)


def report(share: float) -> None:
    """Report that a fraction of this stage is done; raise if the work must stop."""
    current().move(share)
    checkpoint()


def checkpoint() -> None:
    """Raise if the work must stop. Kernels call it about ten times a second."""
    for check in current().abort_checks:
        check()


def in_threads(make: Callable[[Item], Made], items: Iterable[Item]) -> Iterator[Made]:
    """Apply a function to each item in parallel threads, yielding results in order.

    Each call has an equal share of the threads; with one thread, no other is started.
    """
    items = list(items)
    workers = min(current().threads, len(items))
    return one_by_one(make, items) if workers < 2 else _at_once(make, items, workers)


def one_by_one(make: Callable[[Item], Made], items: Sequence[Item]) -> Iterator[Made]:
    """Apply a function to each item in order; each call is a separate stage of the work."""
    for number, item in enumerate(items):
        with stage(number / len(items), (number + 1) / len(items)):
            report(0.0)
            made = make(item)
        yield made
    report(1.0)


def _at_once(make: Callable[[Item], Made], items: list[Item], workers: int) -> Iterator[Made]:
    unwanted = Event()
    shares = [0.0] * len(items)
    work = current()

    def stop() -> None:
        if unwanted.is_set():
            raise ProcessAborted(f"{work.owner}: the result of this part is no longer needed")

    own = Work(work.threads // workers, work.owner, abort_checks=(stop, *work.abort_checks))

    def make_one(number: int, item: Item) -> Made:
        # Progress is recorded here, and reported only by the caller's thread.
        _current.set(own._replace(on_progress=partial(shares.__setitem__, number)))
        made = make(item)
        shares[number] = 1.0
        return made

    with blas_threads(own.threads), ThreadPoolExecutor(workers) as pool:
        futures = [
            pool.submit(copy_context().run, make_one, number, item)
            for number, item in enumerate(items)
        ]
        told = 0.0
        try:
            # Results are released one by one to save memory.
            while futures:
                report(told)
                if wait(futures[:1], SECONDS_BETWEEN_LOOKS).done:
                    yield futures.pop(0).result()
                    # Report each one, even if several are done, since the observer may abort at any
                    # of them.
                    told = max(told, 1.0 - len(futures) / len(items))
                else:
                    told = max(told, sum(shares) / len(shares))
        finally:
            unwanted.set()
            for future in futures:
                future.cancel()
    report(1.0)
