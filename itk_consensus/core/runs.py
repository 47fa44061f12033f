"""The running Executes of a filter, and the result of the last one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import get_ident
from typing import Any, NamedTuple


@dataclass
class Run:
    """The state of a running Execute, or of an output that is being computed later."""

    result: Any = None  #: The result, as soon as it is complete
    progress: float = 0.0
    iterations: int | None = None  #: Number of iterations so far, if it iterates
    is_aborting: bool = False
    is_answering: bool = False  #: Whether the last estimate is being made the result, after Abort


class Latest(NamedTuple):
    """Result and progress of the last finished Execute."""

    result: Any = None  #: None if there was none, or it raised
    progress: float = 0.0


class Runs:
    """The running Executes of a filter, one per thread, and the result of the last one.

    A thread sees its own Execute, also in commands; other threads see the result of the last one,
    which is replaced atomically.
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
        """Result of this thread's Execute or, outside of one, of the last one; None: none yet."""
        run = self._run
        return self._latest.result if run is None else run.result

    @contextmanager
    def _seeing(self, run: Run) -> Iterator[None]:
        """Make `run` the run of this thread."""
        thread = get_ident()
        before = self._runs.get(thread)  # a command may call Execute again
        self._runs[thread] = run
        try:
            yield
        finally:
            if before is None:
                del self._runs[thread]
            else:
                self._runs[thread] = before
