"""The command line of the package: ``itk-consensus`` and its commands, such as ``fuse``.

Each command is a module of the same name with one public function, `configure`. Modules are
imported lazily, so ``--help`` and ``--version`` are fast.
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
        with _exit_on_second_interrupt(keep=argv is None):
            from itk_consensus.cli.application import run

            return run(sys.argv[1:] if argv is None else list(argv))
    except KeyboardInterrupt:  # interrupted before there is a Console
        if sys.stderr is not None:
            sys.stderr.write("itk-consensus: interrupted\n")
        return INTERRUPTED


@contextmanager
def _exit_on_second_interrupt(*, keep: bool) -> Iterator[None]:
    """Let the first Ctrl-C raise KeyboardInterrupt, and the second one end the process at once.

    This is safe, since files are first written as drafts, and worker processes end with their
    parent. `keep` leaves the handler installed while Python shuts down.
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
        if not keep:
            signal.signal(signal.SIGINT, signal.default_int_handler)
