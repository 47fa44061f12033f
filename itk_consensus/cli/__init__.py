"""The command line: ``itk-consensus fuse``, ``info``, ``calibrate``, ``band``, ``deep``, ``demo``.

Each command is a module of its own name with one function `configure`; nothing is loaded before it
is asked for, so ``--help`` and ``--version`` answer at once.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

# Exit codes besides 0, success.
#: Files that ``info`` compares differ, or cases of ``batch`` failed.
SOMETHING_FOUND = 1
FAILED = 2
INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    try:
        from itk_consensus.cli.application import run

        return run(sys.argv[1:] if argv is None else list(argv))
    except KeyboardInterrupt:  # so early that there is no console yet
        if sys.stderr is not None:
            sys.stderr.write("itk-consensus: interrupted\n")
        return INTERRUPTED
