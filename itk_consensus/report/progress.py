"""Progress bars for notebooks and terminals: tqdm's if installed, otherwise a line of text."""

from __future__ import annotations

import shutil
import sys
import warnings
from typing import Any, Protocol, TextIO

from itk_consensus.core.escaping import escape_line
from itk_consensus.core.process_object import (
    ABORT_EVENT,
    END_EVENT,
    PROGRESS_EVENT,
    START_EVENT,
    ProcessObject,
)

_BAR_WIDTH = 24


class Bar(Protocol):
    """A progress bar."""

    def show(self, share: float, doing: str) -> None:
        """Show progress as a share from 0 to 1, and a description of the current step."""

    def clear(self) -> None:
        """Remove the bar from the screen."""


class TextBar:
    """A progress bar in one line of a terminal."""

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._columns_used = stream, 0

    def show(self, share: float, doing: str) -> None:
        """Overwrite the line with the new state."""
        done = "#" * round(_BAR_WIDTH * share)
        columns = shutil.get_terminal_size().columns - 1
        line = f"[{done:<{_BAR_WIDTH}}] {share:4.0%}  {escape_line(doing)}"[:columns]
        self._write("\r" + line.ljust(self._columns_used))
        self._columns_used = len(line)

    def clear(self) -> None:
        """Overwrite the line with blanks."""
        if self._columns_used:
            self._write("\r" + " " * self._columns_used + "\r")
            self._columns_used = 0

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


class TqdmBar:
    """tqdm's progress bar, which is a widget in notebooks."""

    def __init__(self, make: Any) -> None:
        self._make, self._bar, self._said = make, None, ""

    def show(self, share: float, doing: str) -> None:
        """Create or update the bar: a new description is drawn at once, numbers at tqdm's
        own rate.
        """
        said = escape_line(doing)
        if self._bar is None:
            look = "{desc}: {percentage:3.0f}%|{bar}| {elapsed}<{remaining}"
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # tqdm's warning without ipywidgets
                self._bar = self._make(total=1.0, desc=said, bar_format=look, leave=False)
        assert self._bar is not None
        self._bar.update(share - self._bar.n)
        if said != self._said:
            self._bar.set_description_str(said)
        self._said = said

    def clear(self) -> None:
        """Close the bar."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def bar_on(stream: TextIO) -> Bar:
    """Make a bar for a stream: tqdm's for stderr if installed, otherwise text."""
    if stream is sys.stderr:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                from tqdm.auto import tqdm
        except ImportError:
            return TextBar(stream)
        return TqdmBar(tqdm)
    return TextBar(stream)


def show_progress(filter_: ProcessObject) -> None:
    """Show a progress bar in notebooks and terminals whenever a filter runs.

    tqdm is used if it is installed (``pip install 'itk-consensus[notebook]'``).
    """
    bar = bar_on(sys.stderr)
    name = filter_.GetName()
    filter_.AddCommand(START_EVENT, lambda: bar.show(0.0, name))
    filter_.AddCommand(PROGRESS_EVENT, lambda: bar.show(filter_.GetProgress(), name))
    for event in (END_EVENT, ABORT_EVENT):
        filter_.AddCommand(event, bar.clear)
