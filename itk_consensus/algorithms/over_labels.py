"""Labels side by side, several at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from itk_consensus.labels.label_stack import default_threads

T = TypeVar("T")


def over_labels(work: Callable[[int], T], labels: Iterable[int]) -> Iterable[T]:
    """What a function of a label gives, in order, several labels at a time."""
    with ThreadPoolExecutor(default_threads()) as pool:
        yield from pool.map(work, labels)
