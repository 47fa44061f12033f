"""Terminal output of commands: results go to stdout; progress, warnings and errors to stderr."""

from __future__ import annotations

import io
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

from itk_consensus.core.errors import ConsensusWarning
from itk_consensus.core.escaping import escape_controls
from itk_consensus.report.text import PROGRAM

if TYPE_CHECKING:  # the console is created before heavy modules are imported
    from itk_consensus.core.process_object import ProcessObject
    from itk_consensus.report.progress import Bar

# Exit codes other than 0 (success).
#: ``info`` found different grids, cases of ``batch`` failed, or a verdict reached ``--fail-on``.
SOMETHING_FOUND = 1
FAILED = 2
INTERRUPTED = 130

_SECONDS_BETWEEN_REDRAWS = 0.1


class Console:
    """Output of one command; the progress bar is shown only in a terminal and removed at the end.

    A full or closed stderr does not stop the command.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._is_terminal = self._stream.isatty()
        self._bar: Bar | None = None
        self._drawn, self._share = 0.0, 0.0
        self._verbose = self._quiet = False
        self._task, self._start = "", time.monotonic()

    def set_verbosity(self, *, verbose: bool, quiet: bool) -> None:
        """Print each step (verbose), or only errors (quiet)."""
        self._verbose, self._quiet = verbose, quiet

    @property
    def is_verbose(self) -> bool:
        """Whether all details are printed."""
        return self._verbose

    def answer(self, text: str) -> None:
        """Print a result to stdout."""
        self.clear()
        if not self._quiet:
            print(escape_controls(text))

    def say(self, text: str) -> None:
        """Print a text to stderr as one line."""
        self.clear()
        self._write(f"{PROGRAM}: {escape_controls(' '.join(text.split()))}\n")

    def warn(self, text: str) -> None:
        """Print a warning as one line."""
        if not self._quiet:
            self.say(f"warning: {text}")

    def progress(self, share: float, doing: str) -> None:
        """Show the share of the work done, from 0 to 1, and the current task."""
        task = doing.partition(",")[0]
        if self._verbose and task != self._task:
            self._task = task
            self.say(f"{time.monotonic() - self._start:6.1f} s  {task}")
        if not self._is_terminal or self._quiet or self._verbose:
            return
        if self._bar is None:
            from itk_consensus.report.progress import bar_on

            self._bar = bar_on(self._stream)
        with self._ignore_stream_errors():
            self._bar.show(share, doing)
        self._drawn, self._share = time.monotonic(), share

    def clear(self) -> None:
        """Remove the progress bar from the screen."""
        if self._bar is not None:
            with self._ignore_stream_errors():
                self._bar.clear()

    def _write(self, text: str) -> None:
        with self._ignore_stream_errors():
            self._stream.write(text)
            self._stream.flush()

    @contextmanager
    def _ignore_stream_errors(self) -> Iterator[None]:
        """Discard all further output if writing to stderr fails, so that the command continues."""
        try:
            yield
        except (OSError, ValueError):
            self._stream, self._is_terminal, self._bar = io.StringIO(), False, None

    def follow(self, filter_: ProcessObject, start: float, stop: float) -> None:
        """Show a filter's progress in the bar, from `start` to `stop`, while the filter runs."""
        from itk_consensus.core.process_object import ITERATION_EVENT, PROGRESS_EVENT

        iterations = 0

        def draw(more: str = "") -> None:
            share = start + (stop - start) * filter_.GetProgress()
            waited = time.monotonic() - self._drawn > _SECONDS_BETWEEN_REDRAWS
            # Iterations are often faster than a terminal can be redrawn.
            if waited or round(100 * share) != round(100 * self._share):
                self.progress(share, filter_.GetName() + more)

        def after_iteration() -> None:
            nonlocal iterations
            iterations += 1
            draw(f", iteration {iterations}")

        filter_.AddCommand(PROGRESS_EVENT, draw)
        filter_.AddCommand(ITERATION_EVENT, after_iteration)

    @contextmanager
    def show_warnings(self) -> Iterator[None]:
        """Print each of the package's warnings as one line; show all others as usual."""
        with warnings.catch_warnings():
            warnings.simplefilter("always", ConsensusWarning)
            warnings.showwarning = self._warning_handler(warnings.showwarning)
            yield

    def _warning_handler(self, otherwise: Callable[..., None]) -> Callable[..., None]:
        def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
            if issubclass(category, ConsensusWarning):
                self.warn(str(message))
            else:
                otherwise(message, category, *where, **more)

        return show
