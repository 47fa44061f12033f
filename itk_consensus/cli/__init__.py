"""The command line: ``itk-consensus fuse``, ``info``, ``calibrate``, ``band``, ``deep``, ``demo``.

Each command is a module of that name with one function, `configure`. Modules are loaded when they
are needed, so ``--help`` and ``--version`` are quick.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

from itk_consensus.cli.console import INTERRUPTED


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    try:
        with _leaving_at_the_second_interrupt(for_good=argv is None):
            from itk_consensus.cli.application import run

            return run(sys.argv[1:] if argv is None else list(argv))
    except KeyboardInterrupt:  # before there is a console
        if sys.stderr is not None:
            sys.stderr.write("itk-consensus: interrupted\n")
        return INTERRUPTED


@contextmanager
def _leaving_at_the_second_interrupt(*, for_good: bool) -> Iterator[None]:
    """Let the first Ctrl-C tidy up, and a second one end the process at once, without a word.

    Whoever presses it twice does not want to wait. What is half written is known as such, and
    workers leave with their parent. `for_good` keeps it so while Python itself shuts down.
    """
    if (
        threading.current_thread() is not threading.main_thread()
        or signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    ):
        yield
        return

    def leave(number: int, frame: FrameType | None) -> None:
        os._exit(INTERRUPTED)

    def interrupt(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, leave)
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        if not for_good:
            signal.signal(signal.SIGINT, signal.default_int_handler)
