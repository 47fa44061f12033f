"""The command line: ``itk-consensus fuse``, ``info``, ``calibrate``, ``band``, ``deep``, ``demo``.

Each command is a module of its own name with one function `configure`; nothing is loaded before it
is asked for, so ``--help`` and ``--version`` answer at once.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from itk_consensus.cli.exit_codes import INTERRUPTED


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    It is 0 or one of `exit_codes`.
    """
    try:
        from itk_consensus.cli.application import run

        return run(sys.argv[1:] if argv is None else list(argv))
    except KeyboardInterrupt:  # so early that there is no console yet
        if sys.stderr is not None:
            sys.stderr.write("itk-consensus: interrupted\n")
        return INTERRUPTED
