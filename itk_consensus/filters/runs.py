"""Results of an Execute belong to a run of its thread until it is done."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import get_ident
from typing import Any


@dataclass
class Run:
    """What one Execute makes besides its return value."""

    measured: dict[str, Any] = field(default_factory=dict)  #: By the name of the `Measurement`
    outputs: dict[str, Any] = field(default_factory=dict)  #: By the name of the `Output`
    progress: float = 0.0
    is_aborting: bool = False
    is_answering: bool = False  #: Whether an estimate is being made an answer, after Abort


class Runs:
    """The runs of a filter: one per thread in Execute, and the last one that finished.

    A thread sees what its own Execute has made so far, also in commands; other threads see the last
    finished run, which replaces the one before in one step.
    """

    def __init__(self) -> None:
        self._runs: dict[int, Run] = {}
        self._last = Run()

    @property
    def _run(self) -> Run:
        """The run of this thread's Execute or, outside of one, the last finished run."""
        return self._runs.get(get_ident(), self._last)

    @property
    def _measured(self) -> dict[str, Any]:
        return self._run.measured

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
