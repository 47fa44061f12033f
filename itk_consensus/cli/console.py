"""What a command prints: results on stdout; progress, warnings and errors on stderr."""

from __future__ import annotations

import io
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

from itk_consensus.errors import ConsensusWarning
from itk_consensus.escaping import visible
from itk_consensus.report.text import PROGRAM

if TYPE_CHECKING:  # a console is made before anything heavy is loaded
    from itk_consensus.filters.process_object import ProcessObject
    from itk_consensus.report.progress import Bar

# Exit codes besides 0, success.
#: Files that ``info`` compares differ, or cases of ``batch`` failed.
SOMETHING_FOUND = 1
FAILED = 2
INTERRUPTED = 130

_SECONDS_BETWEEN_REDRAWS = 0.1


class Console:
    """One command's terminal. The progress bar appears only on a terminal and is gone at the end.

    The command goes on if stderr is full or closed.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._is_terminal = self._stream.isatty()
        self._bar: Bar | None = None
        self._drawn, self._share = 0.0, 0.0

    def answer(self, text: str) -> None:
        """Print a result."""
        self.clear()
        print(visible(text))

    def say(self, text: str) -> None:
        """Print one line, whatever line breaks `text` has."""
        self.clear()
        self._write(f"{PROGRAM}: {visible(' '.join(text.split()))}\n")

    def warn(self, text: str) -> None:
        """Print one line of warning."""
        self.say(f"warning: {text}")

    def progress(self, share: float, doing: str) -> None:
        """Show how much of the whole is done, from 0 to 1, and what is being done."""
        if not self._is_terminal:
            return
        if self._bar is None:
            from itk_consensus.report.progress import bar_on

            self._bar = bar_on(self._stream)
        with self._going_on():
            self._bar.show(share, doing)
        self._drawn, self._share = time.monotonic(), share

    def clear(self) -> None:
        """Take the progress bar off the screen."""
        if self._bar is not None:
            with self._going_on():
                self._bar.clear()

    def _write(self, text: str) -> None:
        with self._going_on():
            self._stream.write(text)
            self._stream.flush()

    @contextmanager
    def _going_on(self) -> Iterator[None]:
        """Whatever becomes of stderr, the command goes on."""
        try:
            yield
        except (OSError, ValueError):
            self._stream, self._is_terminal, self._bar = io.StringIO(), False, None

    def follow(self, filter_: ProcessObject, start: float, stop: float) -> None:
        """Let a filter move the bar from `start` to `stop` while it executes."""
        from itk_consensus.filters.process_object import ITERATION_EVENT, PROGRESS_EVENT

        iterations = 0

        def draw(more: str = "") -> None:
            share = start + (stop - start) * filter_.GetProgress()
            waited = time.monotonic() - self._drawn > _SECONDS_BETWEEN_REDRAWS
            # Iterations are often quicker than a terminal can redraw.
            if waited or round(100 * share) != round(100 * self._share):
                self.progress(share, filter_.GetName() + more)

        def after_iteration() -> None:
            nonlocal iterations
            iterations += 1
            draw(f", iteration {iterations}")

        filter_.AddCommand(PROGRESS_EVENT, draw)
        filter_.AddCommand(ITERATION_EVENT, after_iteration)

    @contextmanager
    def showing_warnings(self) -> Iterator[None]:
        """Print the package's warnings as one line each; leave all others as they are."""
        with warnings.catch_warnings():
            warnings.simplefilter("always", ConsensusWarning)
            warnings.showwarning = self._shower(warnings.showwarning)
            yield

    def _shower(self, otherwise: Callable[..., None]) -> Callable[..., None]:
        def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
            if issubclass(category, ConsensusWarning):
                self.warn(str(message))
            else:
                otherwise(message, category, *where, **more)

        return show
