"""The command line: ``itk-consensus fuse``, ``info``, ``calibrate``, ``band``, ``deep``, ``demo``.

Each command is a module of that name with one function, `configure`. Modules are loaded when they
are needed, so ``--help`` and ``--version`` are quick.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from itk_consensus.cli.console import INTERRUPTED


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    try:
        from itk_consensus.cli.application import run

        return run(sys.argv[1:] if argv is None else list(argv))
    except KeyboardInterrupt:  # before there is a console
        if sys.stderr is not None:
            sys.stderr.write("itk-consensus: interrupted\n")
        return INTERRUPTED
