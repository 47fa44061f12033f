"""The immutable result of an Execute, and values derived from it on demand."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from threading import Lock, RLock
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

if TYPE_CHECKING:
    from itk_consensus.core.parameters import Measurement

T = TypeVar("T")


class Memo:
    """A thread-safe cache of derived values: each is computed once, under its own lock.

    The cache is not pickled: copies in other processes start with an empty cache.
    """

    __slots__ = ("_lock", "_locks", "_made")

    def __init__(self) -> None:
        self._made: dict[Hashable, Any] = {}
        #: Locks of values that are being computed.
        self._locks: dict[Hashable, RLock] | None = None
        self._lock = Lock()

    def get_or_make(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the cached value of a key; call `make` if there is none yet."""
        if key not in self._made:
            with self._lock:
                if self._locks is None:
                    self._locks = {}
                lock = self._locks.setdefault(key, RLock())
            with lock:
                if key not in self._made:
                    self._made[key] = make()
        kept: T = self._made[key]
        return kept

    def __contains__(self, key: Hashable) -> bool:
        return key in self._made

    def __repr__(self) -> str:
        return "Memo()"

    def __reduce__(self) -> tuple[type[Memo], tuple[()]]:
        return Memo, ()


class Result:
    """Base class of the results of filters, from which measurements are read."""

    __slots__ = ()

    #: Whether reading measurements may require reading the inputs again, which printing must avoid.
    reads_inputs: ClassVar[bool] = False

    memo: Memo

    def measured(self, measurement: Measurement[Any]) -> Any:
        """Return the value of a measurement of the filter that produced this result."""
        read = measurement.read
        if callable(read):
            return read(self)
        value: Any = self
        for name in read.split("."):
            value = getattr(value, name)
        return value

    def is_known(self, measurement: Measurement[Any]) -> bool:
        """Return whether a measurement is stored, so that reading it requires no computation."""
        return not callable(measurement.read)
