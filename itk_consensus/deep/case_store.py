"""Training cases that need not fit in memory. This module does not use torch."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from threading import Lock
from typing import overload

from itk_consensus.deep.cases import Case


class CaseStore(Sequence[Case]):
    """Lazy sequence of cases; the most recently used are cached within a budget.

    Parameters
    ----------
    makers : sequence of callables
        Each creates a case, which must be the same at every call.
    budget : int
        Maximum bytes of cached cases; the most recent case is always cached.
    """

    def __init__(self, makers: Sequence[Callable[[], Case]], budget: int) -> None:
        self._makers = makers
        self._budget = budget
        self._kept: OrderedDict[int, Case] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._makers)

    @overload
    def __getitem__(self, index: int) -> Case: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Case]: ...
    def __getitem__(self, index: int | slice) -> Case | Sequence[Case]:
        if isinstance(index, slice):
            return ChosenCases(self, range(len(self))[index])
        # As in a list, negative indices count from the end, and invalid ones raise IndexError.
        number = range(len(self))[index]
        with self._lock:
            case = self._kept.get(number)
        # This is done outside the lock so that threads can read files in parallel; reading the same
        # file twice is rare.
        return self._keep(number, case or self._makers[number]())

    def _keep(self, number: int, case: Case) -> Case:
        with self._lock:
            before = self._kept.pop(number, None)
            self._bytes += case.nbytes - (0 if before is None else before.nbytes)
            self._kept[number] = case
            while self._bytes > self._budget and len(self._kept) > 1:
                _, dropped = self._kept.popitem(last=False)
                self._bytes -= dropped.nbytes
        return case


class ChosenCases(Sequence[Case]):
    """View of some cases of a sequence."""

    def __init__(self, cases: Sequence[Case], numbers: Sequence[int]) -> None:
        self._cases = cases
        self._numbers = numbers

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, index: int) -> Case: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Case]: ...
    def __getitem__(self, index: int | slice) -> Case | Sequence[Case]:
        if isinstance(index, slice):
            return ChosenCases(self._cases, self._numbers[index])
        return self._cases[self._numbers[index]]
