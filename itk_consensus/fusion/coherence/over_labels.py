"""Labels side by side, several at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from threading import Event
from typing import TypeVar

from itk_consensus.neighbourhood.tiles import Progress
from itk_consensus.stopping import in_other_thread
from itk_consensus.votes.label_stack import default_threads

T = TypeVar("T")

#: Called every now and then by the caller's own thread; what it raises ends the work.
Tick = Callable[[], None] | None

#: Seconds between two looks at how far the labels are.
SECONDS_BETWEEN_TICKS = 0.25


def over_labels(work: Callable[[int], T], labels: Iterable[int], tick: Tick = None) -> Iterator[T]:
    """What a function of a label gives, in order, several labels at a time.

    Parameters
    ----------
    tick : callable, optional
        Called before each result, and while it takes its time.
    """
    unwanted = Event()
    watched = in_other_thread(work, unwanted)
    with ThreadPoolExecutor(default_threads()) as pool:
        futures = [pool.submit(watched, label) for label in labels]
        try:
            # Results are let go one by one: all of them at once may be much memory.
            for _ in range(len(futures)):
                _watch(futures[0], tick)
                yield futures.pop(0).result()
        finally:
            unwanted.set()
            for future in futures:
                future.cancel()


def _watch(future: Future[T], tick: Tick) -> None:
    """Wait for a result, ticking meanwhile."""
    while tick is not None:
        # Also where no result is waited for: many quick ones are a long time together.
        tick()
        if wait([future], SECONDS_BETWEEN_TICKS).done:
            break


def ticking(progress: Progress | None, share: float) -> Tick:
    """Reports again and again that a share of the work is done."""
    return None if progress is None else lambda: progress(share)
