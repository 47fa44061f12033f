"""One run of the command line: find the command, run it, and end every failure in one line."""

from __future__ import annotations

import argparse
import os
import sys
from importlib import import_module
from typing import Any, NoReturn, TextIO

import itk_consensus
from itk_consensus.cli.console import Console
from itk_consensus.cli.exit_codes import FAILED, INTERRUPTED
from itk_consensus.cli.slicer_flags import in_our_spelling
from itk_consensus.errors import ConsensusError, ParameterError
from itk_consensus.report.text import PROGRAM

#: Each command, which is also the name of its module, and what ``--help`` says about it.
COMMANDS = {
    "fuse": "fuse label images into one label map",
    "agreement": "how well raters agree, with each other and with a consensus",
    "report": "fuse, and write one HTML page that shows the dispute and what to trust",
    "review": "decide where raters differ, in 3D Slicer's views (needs trame-slicer)",
    "adjudicate": "apply the decisions of a review again, from its record",
    "batch": "fuse many cases, with one table and a page of the worst first",
    "info": "size, spacing, pixel type and labels of files, and whether they share one space",
    "calibrate": "learn from cases with a reference how wide a band must be",
    "band": "mark where a consensus is certain and where it is not",
    "deep": "consensus that sees the image: train it, or fuse with it (needs torch)",
    "demo": "fuse a bundled lung nodule that four radiologists outlined",
}

#: Set to anything, this lets a fault of the program show where it happened.
_TRACEBACK = "ITK_CONSENSUS_TRACEBACK"


def run(argv: list[str]) -> int:
    """Run one command and return its exit code; nothing but an interruption of this escapes."""
    _secure_streams()
    console = Console()
    try:
        return _run(argv, console)
    except SystemExit as leaving:  # argparse leaves this way after --help and --version
        return int(leaving.code or 0)
    except KeyboardInterrupt:
        console.say("interrupted")
        return INTERRUPTED
    except BrokenPipeError:  # the reader of a pipe, such as head, has left
        return 0
    except MemoryError:
        console.say("not enough memory")
    except RecursionError:
        console.say("a file is nested too deeply to be read")
    except (ConsensusError, OSError) as error:
        console.say(str(error))
    except Exception as error:
        if os.environ.get(_TRACEBACK):
            raise
        console.say(
            f"unexpected {type(error).__name__}: {error} (a fault of this program; "
            f"{_TRACEBACK}=1 shows where)"
        )
    finally:
        for stream in (sys.stdout, sys.stderr):
            _settle(stream)
    return FAILED


def _run(argv: list[str], console: Console) -> int:
    if argv[:1] == ["--xml"]:
        from itk_consensus.cli.slicer_module import module_description

        print(module_description(argv[1:]))
        return 0
    with console.showing_warnings():
        arguments = _parse(argv)
        code = arguments.run(arguments, console)
        sys.stdout.flush()
    return int(code or 0)


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, like all others."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(allow_abbrev=False, **settings)

    def error(self, message: str) -> NoReturn:
        raise ParameterError(f"{message} (see {self.prog} --help)")


def _parse(argv: list[str]) -> argparse.Namespace:
    argv = in_our_spelling(argv)
    parser = Parser(
        prog=PROGRAM, description="Fuse several segmentations of one image into a consensus."
    )
    parser.add_argument("--version", action="version", version=itk_consensus.__version__)
    parser.add_argument(
        "--xml", action="store_true", help="describe the command fuse to 3D Slicer: --xml fuse"
    )
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, text in COMMANDS.items():
        command = commands.add_parser(name, help=text, description=f"{text.capitalize()}.")
        if name in argv[:1]:
            import_module(f"itk_consensus.cli.{name}").configure(command, argv[1:])
    arguments, unknown = parser.parse_known_args(argv)
    if unknown:
        arguments.parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    return arguments


# -- standard streams that are closed, full, or know only ASCII ------------------------------


def _secure_streams() -> None:
    """Give a process without stdout or stderr somewhere to write, and let no letter stop it."""
    for descriptor in (0, 1, 2):
        # A file that is opened must not become stdout: libraries write there.
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _settle(stream: TextIO) -> None:
    """Empty a stream now, or for ever: Python complains if it cannot be emptied at exit."""
    try:
        stream.flush()
    except (OSError, ValueError):
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        except (OSError, ValueError):
            return
