"""The work under way: its threads, how far it is, and whether it is to end.

A filter says so once, with `working`, for an Execute or an output that is made later; algorithms
and kernels, however deep, ask `current()`. `in_threads` shares work among other threads.

Ctrl-C needs nothing but a kernel that asks: Python raises KeyboardInterrupt in the main thread as
soon as that thread is in Python. Threads that work for others, which Ctrl-C does not reach, ask
whether these still wait for them.
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

#: Seconds between two looks at how far other threads are.
SECONDS_BETWEEN_LOOKS = 0.1


def default_threads() -> int:
    """The processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


#: What BLAS takes unless it is told otherwise.
BLAS_THREADS = default_threads()


def _ignore(_: float) -> None:
    """What becomes of the progress that nobody watches."""


def _go_on(_: int) -> bool:
    """What becomes of iterations that nobody watches."""
    return True


class Work(NamedTuple):
    """What an algorithm needs to know of who it works for."""

    threads: int  #: Threads that may be used. Results never depend on it.
    owner: str = "itk_consensus"  #: Who messages speak for
    begin: float = 0.0  #: Progress at which this stage of the work begins
    end: float = 1.0  #: Progress at which it ends
    moved: Callable[[float], None] = _ignore  #: Called with the progress of the whole work
    #: Called after each iteration with its number from 1; returning False ends the loop.
    iterated: Callable[[int], bool] = _go_on
    asked: tuple[Callable[[], None], ...] = ()  #: Each raises if the work is to end

    def move(self, share: float) -> None:
        """Tell that a share of this stage of the work is done."""
        self.moved(self.begin + share * (self.end - self.begin))


_current: ContextVar[Work | None] = ContextVar("work", default=None)


def current() -> Work:
    """The work of this thread; an algorithm that is called directly may use all processors."""
    return _current.get() or Work(default_threads())


@contextmanager
def working(*, ask: Callable[[], None] | None = None, **changes: Any) -> Iterator[None]:
    """Change something about the work for all that is called within.

    Parameters
    ----------
    ask : callable, optional
        Raises if the work is to end; asked beside those who are asked already.
    **changes
        Other fields of `Work`.
    """
    work = current()._replace(**changes)
    if ask is not None:
        work = work._replace(asked=(ask, *work.asked))
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
    """Have what is called within report 0 to 1 of its own, which is a stage of the work.

    Loops of microseconds have one for each iteration, so it is no generator as `working` is.
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
    """Tell that a share of this stage of the work is done. Raise if the work is to end."""
    current().move(share)
    checkpoint()


def checkpoint() -> None:
    """Raise if the work is to end. Kernels call it some ten times a second."""
    for ask in current().asked:
        ask()


def in_threads(make: Callable[[Item], Made], items: Iterable[Item]) -> Iterator[Made]:
    """What is made of each item, in order, as many at a time as there are threads.

    Each has an equal share of the threads; with one thread no other is started.
    """
    items = list(items)
    workers = min(current().threads, len(items))
    return one_by_one(make, items) if workers < 2 else _at_once(make, items, workers)


def one_by_one(make: Callable[[Item], Made], items: Sequence[Item]) -> Iterator[Made]:
    """What is made of each item, in order; each is a stage of the work."""
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

    def ask() -> None:
        if unwanted.is_set():
            raise ProcessAborted(f"{work.owner}: nobody waits for this part any more")

    own = Work(work.threads // workers, work.owner, asked=(ask, *work.asked))

    def make_one(number: int, item: Item) -> Made:
        # Only the caller's own thread tells how far the work is.
        _current.set(own._replace(moved=partial(shares.__setitem__, number)))
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
            # Results are let go one by one: all of them at once may be much memory.
            while futures:
                report(told)
                if wait(futures[:1], SECONDS_BETWEEN_LOOKS).done:
                    yield futures.pop(0).result()
                    # Each is told of, however many are done by now: who watches can end it there.
                    told = max(told, 1.0 - len(futures) / len(items))
                else:
                    told = max(told, sum(shares) / len(shares))
        finally:
            unwanted.set()
            for future in futures:
                future.cancel()
    report(1.0)
