"""What an Execute makes: a value that does not change, and what is derived from it on demand."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from threading import Lock, RLock
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

if TYPE_CHECKING:
    from itk_consensus.core.parameters import Measurement

T = TypeVar("T")


class Memo:
    """What was derived from a value: each made once, under a lock of its own.

    It belongs to the value and to no copy of it in another process: it is not pickled.
    """

    def __init__(self) -> None:
        self._made: dict[Hashable, Any] = {}
        self._locks: dict[Hashable, RLock] = {}
        self._lock = Lock()

    def made(self, key: Hashable, make: Callable[[], T]) -> T:
        """What is kept under a key; `make` makes it if nobody has asked before."""
        if key not in self._made:
            with self._lock:
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
    """Base of the values that filters make, which their measurements are read from."""

    #: Whether to tell a measurement may mean to read the inputs again, which printing must not do.
    reads_inputs: ClassVar[bool] = False

    memo: Memo

    def measured(self, measurement: Measurement[Any]) -> Any:
        """The value of a measurement of the filter that made this."""
        read = measurement.read
        if callable(read):
            return read(self)
        value: Any = self
        for name in read.split("."):
            value = getattr(value, name)
        return value

    def is_known(self, measurement: Measurement[Any]) -> bool:
        """Whether a measurement can be told without computing anything."""
        return not callable(measurement.read)
