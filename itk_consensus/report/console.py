"""What a command says on stderr: a progress bar, warnings, and the one line of an error."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, TextIO

from itk_consensus.errors import ConsensusWarning
from itk_consensus.filters.events import ITERATION_EVENT, PROGRESS_EVENT
from itk_consensus.filters.process_object import ProcessObject
from itk_consensus.images.files import read_image

PROGRAM = "itk-consensus"

_BAR_WIDTH = 24
_SECONDS_BETWEEN_REDRAWS = 0.1


class Console:
    """One command's stderr. The progress bar appears only on a terminal and is gone at the end."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._is_terminal = self._stream.isatty()
        self._columns_used = 0
        self._drawn = 0.0

    def say(self, text: str) -> None:
        """Print one line, whatever line breaks `text` has."""
        self.clear()
        print(f"{PROGRAM}: {' '.join(text.split())}", file=self._stream)

    def progress(self, share: float, doing: str) -> None:
        """Show how much of the whole is done, from 0 to 1, and what is being done."""
        if not self._is_terminal:
            return
        done = "#" * round(_BAR_WIDTH * share)
        columns = shutil.get_terminal_size().columns - 1
        line = f"[{done:<{_BAR_WIDTH}}] {share:4.0%}  {doing}"[:columns]
        self._stream.write("\r" + line.ljust(self._columns_used))
        self._stream.flush()
        self._columns_used = len(line)
        self._drawn = time.monotonic()

    def clear(self) -> None:
        """Take the progress bar off the screen."""
        if self._columns_used:
            self._stream.write("\r" + " " * self._columns_used + "\r")
            self._stream.flush()
            self._columns_used = 0

    def follow(self, filter_: ProcessObject, start: float, stop: float) -> None:
        """Let a filter move the bar from `start` to `stop` while it executes."""
        iterations = 0

        def after_progress() -> None:
            self.progress(start + (stop - start) * filter_.GetProgress(), filter_.GetName())

        def after_iteration() -> None:
            nonlocal iterations
            iterations += 1
            # Iterations on patterns are far quicker than a terminal.
            if time.monotonic() - self._drawn > _SECONDS_BETWEEN_REDRAWS:
                share = start + (stop - start) * filter_.GetProgress()
                self.progress(share, f"{filter_.GetName()}, iteration {iterations}")

        filter_.AddCommand(PROGRESS_EVENT, after_progress)
        filter_.AddCommand(ITERATION_EVENT, after_iteration)

    def read(self, path: Path) -> Any:
        """Read an image; what the image library prints becomes one warning, or nothing on failure.

        Those libraries write straight to the process's stderr, several lines at a time, even when
        they also raise an error that says it all.
        """
        with tempfile.TemporaryFile() as printed:
            with _stderr_of_libraries_into(printed):
                image = read_image(path)
            printed.seek(0)
            complaint = printed.read().decode(errors="replace")
        if complaint.strip():
            self.say(f"warning: {path}: {complaint}")
        return image

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
                self.say(f"warning: {message}")
            else:
                otherwise(message, category, *where, **more)

        return show


@contextmanager
def _stderr_of_libraries_into(file: IO[bytes]) -> Iterator[None]:
    try:
        original = os.dup(2)
    except OSError:  # the process has no stderr to redirect
        yield
        return
    os.dup2(file.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(original, 2)
        os.close(original)
