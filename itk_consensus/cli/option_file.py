"""Options from a TOML file, whose keys are a command's options without leading dashes.

    cases = "study/{case}/{rater}.nii.gz"
    output = "fused"
    method = "staple"
    maximum-iterations = 50
    reports = true

Underscores may be used instead of dashes. Paths are interpreted as on the command line, whose
options take precedence over the file.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from itk_consensus.cli.did_you_mean import did_you_mean
from itk_consensus.core.errors import FileError
from itk_consensus.storage.files import read_bytes

Options = Mapping[str, Any]


def read_option_file(words: list[str], option: str = "--config") -> tuple[Path | None, Options]:
    """Parse only ``--config``; return its path and options, or None and {} if it is not given."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument(option, dest="file")
    try:
        name = parser.parse_known_args(words)[0].file
    except (argparse.ArgumentError, SystemExit):
        return None, {}  # the full parser will report the error
    if name is None:
        return None, {}
    path = Path(name)
    tomllib = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        options = tomllib.loads(read_bytes(path).decode("utf-8"))
    except ValueError as error:
        raise FileError(f"is not a TOML file: {error}", path=path) from error
    return path, {key.replace("_", "-"): value for key, value in options.items()}


def as_words(parser: argparse.ArgumentParser, path: Path, options: Options) -> list[str]:
    """Convert the options of a file to command-line arguments; raise for unknown options."""
    known = {
        name.removeprefix("--"): action
        for action in parser._actions
        for name in action.option_strings
        if name.startswith("--")
    }
    words: list[str] = []
    for key, value in options.items():
        if key not in known or key == "config":
            raise FileError(
                f"has an option {key!a} that {parser.prog} does not have{did_you_mean(key, known)}",
                path=path,
            )
        if known[key].nargs == 0:  # a flag
            if not isinstance(value, bool):
                raise FileError(f"{key} must be true or false, got {value!r}", path=path)
            words += [f"--{key}"] if value else []
        else:
            words.append(f"--{key}={','.join(_texts(value))}")
    return words


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, bool):
        yield "yes" if value else "no"
    elif isinstance(value, list):
        for member in value:
            yield from _texts(member)
    elif isinstance(value, dict):
        for key, member in value.items():
            yield f"{key}:{','.join(_texts(member))}"
    else:
        yield str(value)
