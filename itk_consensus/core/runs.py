"""An Execute that is running, and what the last one left."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import get_ident
from typing import Any, NamedTuple


@dataclass
class Run:
    """An Execute, or an output that is made later, while it is under way."""

    result: Any = None  #: What it made, as soon as that is whole
    progress: float = 0.0
    iterations: int | None = None  #: How many were run so far, if it iterates
    is_aborting: bool = False
    is_answering: bool = False  #: Whether an estimate is being made an answer, after Abort


class Latest(NamedTuple):
    """What the last Execute that finished left."""

    result: Any = None  #: None if there was none, or it raised
    progress: float = 0.0


class Runs:
    """The runs of a filter, one per thread in Execute, and what the last one left.

    A thread sees its own Execute, also in commands; other threads see what the last one left, which
    is replaced in one step.
    """

    def __init__(self) -> None:
        self._runs: dict[int, Run] = {}
        self._latest = Latest()

    @property
    def _run(self) -> Run | None:
        """The run that this thread is in."""
        return self._runs.get(get_ident())

    @property
    def _result(self) -> Any:
        """What this thread's Execute or, outside of one, the last one made; None: nothing yet."""
        run = self._run
        return self._latest.result if run is None else run.result

    @contextmanager
    def _seeing(self, run: Run) -> Iterator[None]:
        """Let this thread see one run, whichever ends meanwhile in another thread."""
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
