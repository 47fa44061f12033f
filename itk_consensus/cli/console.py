"""What a command prints: results on stdout; progress, warnings and errors on stderr."""

from __future__ import annotations

import io
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

from itk_consensus.core.errors import ConsensusWarning
from itk_consensus.core.escaping import visible
from itk_consensus.report.text import PROGRAM

if TYPE_CHECKING:  # a console is made before anything heavy is loaded
    from itk_consensus.core.process_object import ProcessObject
    from itk_consensus.report.progress import Bar

# Exit codes besides 0, success.
#: Files that ``info`` compares differ, cases of ``batch`` failed, or findings are what
#: ``--fail-on`` asks for.
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
        self._verbose = self._quiet = False
        self._doing, self._start = "", time.monotonic()

    def speak_up(self, *, verbose: bool, quiet: bool) -> None:
        """Say what is being done, or nothing but errors."""
        self._verbose, self._quiet = verbose, quiet

    @property
    def is_verbose(self) -> bool:
        """Whether everything is said that is known."""
        return self._verbose

    def answer(self, text: str) -> None:
        """Print a result."""
        self.clear()
        if not self._quiet:
            print(visible(text))

    def say(self, text: str) -> None:
        """Print one line, whatever line breaks `text` has."""
        self.clear()
        self._write(f"{PROGRAM}: {visible(' '.join(text.split()))}\n")

    def warn(self, text: str) -> None:
        """Print one line of warning."""
        if not self._quiet:
            self.say(f"warning: {text}")

    def progress(self, share: float, doing: str) -> None:
        """Show how much of the whole is done, from 0 to 1, and what is being done."""
        task = doing.partition(",")[0]
        if self._verbose and task != self._doing:
            self._doing = task
            self.say(f"{time.monotonic() - self._start:6.1f} s  {task}")
        if not self._is_terminal or self._quiet or self._verbose:
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
        from itk_consensus.core.process_object import ITERATION_EVENT, PROGRESS_EVENT

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
