"""The running calls of a filter's Execute, and the result of the last one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import get_ident
from typing import Any, NamedTuple


@dataclass
class Run:
    """State of a running Execute, or of an output that is being computed later."""

    result: Any = None  #: The result, as soon as it is complete
    progress: float = 0.0
    iterations: int | None = None  #: Number of iterations so far, if the method is iterative
    is_aborting: bool = False
    #: Whether the result is being built from the last estimate after Abort
    is_answering: bool = False


class Latest(NamedTuple):
    """Result and progress of the last finished Execute."""

    result: Any = None  #: None if there was no Execute, or if it raised
    progress: float = 0.0


class Runs:
    """The running calls of a filter's Execute, one per thread, and the result of the last one.

    A thread has access to its own Execute, also in commands; other threads have access to the
    result of the last one, which is replaced atomically.
    """

    def __init__(self) -> None:
        self._runs: dict[int, Run] = {}
        self._latest = Latest()

    @property
    def _run(self) -> Run | None:
        """The run of this thread; None outside of Execute."""
        return self._runs.get(get_ident())

    @property
    def _result(self) -> Any:
        """Result of this thread's Execute or, outside of one, of the last Execute; may be None."""
        run = self._run
        return self._latest.result if run is None else run.result

    @contextmanager
    def _seeing(self, run: Run) -> Iterator[None]:
        """Make `run` the current run of this thread."""
        thread = get_ident()
        before = self._runs.get(thread)  # A command may call Execute again
        self._runs[thread] = run
        try:
            yield
        finally:
            if before is None:
                del self._runs[thread]
            else:
                self._runs[thread] = before
