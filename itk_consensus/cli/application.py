"""Parse the command line and run a command; every failure prints one line."""

from __future__ import annotations

import argparse
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn, TextIO

import itk_consensus
from itk_consensus.cli.console import FAILED, INTERRUPTED, Console
from itk_consensus.cli.did_you_mean import did_you_mean, near_file
from itk_consensus.cli.slicer_flags import restore_option_spelling
from itk_consensus.core.errors import ConsensusError, FileError, ParameterError
from itk_consensus.report.text import PROGRAM

#: Help text of each command; the command's name is also that of its module.
COMMANDS = {
    "fuse": "fuse label images into one label map",
    "agreement": "how well raters agree, with each other and with a consensus",
    "report": "fuse, and write an HTML page that shows where raters disagree and what to trust",
    "atlas": "label an image by atlases registered to it; same options as antsJointFusion",
    "review": "decide where raters differ, in 3D Slicer's views (needs trame-slicer)",
    "adjudicate": "apply the decisions of a review again, from its record",
    "batch": "fuse many cases; writes a table, and a page that lists the worst first",
    "score": "score submissions against several readers, over the cases of a study",
    "completion": "print a script that lets bash or zsh complete commands and options",
    "info": "size, spacing, pixel type and labels of files, and whether they share a grid",
    "calibrate": "calibrate the width of a band on cases with a reference",
    "learn": "learn how reliable raters are, from cases with a truth, and whether that helps",
    "band": "mark where a consensus is certain and where it is not",
    "deep": "consensus by a network that sees the image: train or apply it (needs torch)",
    "demo": "fuse a bundled lung nodule that four radiologists outlined",
}

#: Environment variable; if it is set, unexpected errors print a traceback.
_TRACEBACK = "ITK_CONSENSUS_TRACEBACK"

#: Exceptions that do not indicate a bug.
_EXPECTED = (ConsensusError, OSError, MemoryError, RecursionError)


def run(argv: list[str]) -> int:
    """Run one command and return its exit code; catches all exceptions."""
    _secure_streams()
    console = Console()
    try:
        return _run(argv, console)
    except SystemExit as leaving:  # argparse raises this after --help and --version
        return int(leaving.code or 0)
    except KeyboardInterrupt:
        console.say("interrupted")
        return INTERRUPTED
    except BrokenPipeError:  # the process that reads the output, such as head, has ended
        return 0
    except Exception as error:
        is_bug = not isinstance(error, _EXPECTED)
        if is_bug and os.environ.get(_TRACEBACK):
            raise
        console.say(_bug_message(error) if is_bug else _error_message(error))
        return FAILED
    finally:
        for stream in (sys.stdout, sys.stderr):
            _flush_or_discard(stream)


def _error_message(error: Exception) -> str:
    if isinstance(error, MemoryError):
        return "not enough memory"
    if isinstance(error, RecursionError):
        return "a file is nested too deeply to be read"
    # A similar name is suggested only for files that are to be read.
    is_read = isinstance(error, FileError) and not error.problem.startswith("cannot be written")
    path = error.path if isinstance(error, FileError) and is_read else None
    return str(error) + (near_file(Path(path)) if path else "")


def _bug_message(error: Exception) -> str:
    return (
        f"unexpected {type(error).__name__}: {error} (this is a bug; {_TRACEBACK}=1 shows the "
        "traceback)"
    )


def _run(argv: list[str], console: Console) -> int:
    if argv[:1] == ["--xml"]:
        from itk_consensus.cli.slicer_module import module_description

        print(module_description(argv[1:]))
        return 0
    with console.show_warnings():
        arguments = _parse(argv)
        console.set_verbosity(
            verbose=getattr(arguments, "verbose", False) is True,
            quiet=getattr(arguments, "quiet", False),
        )
        code = arguments.run(arguments, console)
        sys.stdout.flush()
    return int(code or 0)


class Parser(argparse.ArgumentParser):
    """A parser that raises one-line errors, with suggestions for misspelled choices."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(allow_abbrev=False, **settings)

    def error(self, message: str) -> NoReturn:
        raise ParameterError(f"{message} (see {self.prog} --help)")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            known = [str(choice) for choice in action.choices]
            hint = did_you_mean(str(value), known) or f" (choose from {', '.join(known)})"
            raise argparse.ArgumentError(action, f"invalid choice: {value!r}{hint}")

    def option_names(self) -> list[str]:
        """Return all options that the parser knows."""
        return list(self._option_string_actions)


def _parse(argv: list[str]) -> argparse.Namespace:
    argv = restore_option_spelling(argv)
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
            _add_volume_options(command)
            # Options from a file come first and are thus overridden by the command line.
            argv = [name, *(command.get_default("from_file") or ()), *argv[1:]]
    arguments, unknown = parser.parse_known_args(argv)
    if unknown:
        own = getattr(arguments, "parser", parser)
        wrong = next((word.partition("=")[0] for word in unknown if word.startswith("--")), "")
        hint = did_you_mean(wrong, own.option_names()) if wrong else ""
        own.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
    return arguments


def options_of_command(name: str, methods: list[str]) -> list[str]:
    """Return all options of a command, for all fusion methods."""
    found: dict[str, None] = {}
    for method in methods:
        command = Parser(prog=name)
        import_module(f"itk_consensus.cli.{name}").configure(command, ["--method", method])
        _add_volume_options(command)
        found |= dict.fromkeys(command.option_names())
        if "--method" not in found:
            break
    return [word for word in found if word.startswith("--")]


def _add_volume_options(command: Parser) -> None:
    """Add ``-v`` and ``-q`` to a command, unless it defines ``-v`` itself."""
    if "-v" in command.option_names():
        return
    group = command.add_mutually_exclusive_group()
    group.add_argument(
        "-v",
        "--verbose",
        action="store_true",
        help="print each step, and everything known about the result",
    )
    group.add_argument(
        "-q", "--quiet", action="store_true", help="print only errors; see the exit code"
    )


# -- standard streams that are closed, full, or limited to ASCII ---------------------------------


def _secure_streams() -> None:
    """Open missing standard streams, and escape characters that they cannot encode."""
    for descriptor in (0, 1, 2):
        # Otherwise the next file to be opened would get the descriptor of stdout, and libraries
        # would print into it.
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


def _flush_or_discard(stream: TextIO) -> None:
    """Flush a stream or discard its buffer; otherwise Python may print an error at exit."""
    try:
        stream.flush()
    except (OSError, ValueError):
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        except (OSError, ValueError):
            return
