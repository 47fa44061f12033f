"""Batches that threads draw while a GPU works on those before. No torch here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeAlias

import numpy as np

from itk_consensus.deep.cases import Batch

#: The batch of an iteration, and the generator that continues its random choices.
Draw: TypeAlias = Callable[[int], tuple[Batch, np.random.Generator]]

#: Threads that read files and cut patches.
_WORKERS = 2


@contextmanager
def drawn_ahead(draw: Draw, iterations: int) -> Iterator[Draw]:
    """The same draws, begun before they are asked for; what an iteration draws is its own affair.

    Parameters
    ----------
    draw : callable
        May be called by several threads at once.
    iterations : int
        There are no batches from this one on.
    """
    begun: dict[int, Future[tuple[Batch, np.random.Generator]]] = {}
    pool = ThreadPoolExecutor(_WORKERS, thread_name_prefix="itk-consensus-batches")

    def take(iteration: int) -> tuple[Batch, np.random.Generator]:
        for later in range(iteration, min(iteration + _WORKERS + 1, iterations)):
            if later not in begun:
                begun[later] = pool.submit(draw, later)
        return begun.pop(iteration).result()

    try:
        yield take
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
