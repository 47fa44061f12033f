"""Command-line options generated from the parameter tables of the filters."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from itk_consensus.core.constraints import (
    Boolean,
    Choice,
    ImageLike,
    Kind,
    LabelProbabilities,
    NamedReals,
    OneOf,
    Reals,
)
from itk_consensus.core.errors import ConsensusError
from itk_consensus.core.parameters import Parameter, parameters_of
from itk_consensus.core.process_object import ProcessObject
from itk_consensus.fusing.inner_fusers import Fuser
from itk_consensus.fusing.label_fusion import LabelFusionFilter
from itk_consensus.methods.registry import METHODS
from itk_consensus.report.text import format_value

_MOST_PROCESSES = 256

#: The recommended method.
DEFAULT_METHOD = "consensus"

#: The default method for volumes larger than memory: the best method that works on chunks.
DEFAULT_IN_CHUNKS = "corrected-vote"


def default_method(words: list[str]) -> str:
    """Return the default method, which depends on whether the output is a .zarr store."""
    is_store = any(word.rstrip("/").lower().endswith(".zarr") for word in words)
    return DEFAULT_IN_CHUNKS if is_store else DEFAULT_METHOD


def file_name(text: str) -> Path:
    """Parse a file name; raise if no library can open files of this name."""
    if not is_file_name(text):
        raise argparse.ArgumentTypeError(f"must name a file, got {text!a}")
    return Path(text)


def add_file(
    group: argparse._ActionsContainer, *names: str, metavar: str = "FILE", **more: Any
) -> None:
    """Add an argument for file names to a parser or a group."""
    group.add_argument(*names, type=file_name, metavar=metavar, **more)


def process_count(text: str) -> int:
    """Parse a number of processes."""
    if not (text.isdecimal() and len(text) < 10 and 1 <= int(text) <= _MOST_PROCESSES):
        raise argparse.ArgumentTypeError(
            f"must be an integer >= 1 and <= {_MOST_PROCESSES}, got {text!a}"
        )
    return int(text)


def is_file_name(text: str) -> bool:
    """Whether a text is a possible file name: non-empty, without NUL, encodable as UTF-8."""
    try:
        return bool(text) and b"\0" not in text.encode("utf-8")
    except UnicodeEncodeError:
        return False


def add_method_option(parser: argparse.ArgumentParser, purpose: str, default: str) -> None:
    """Add ``--method`` to a parser; method names are case-insensitive."""
    parser.add_argument(
        "--method",
        type=str.lower,
        choices=METHODS,
        default=default,
        metavar="METHOD",
        help=f"{purpose} [default: %(default)s]",
    )


def add_method_options(parser: argparse.ArgumentParser, fuser: type[LabelFusionFilter]) -> None:
    """Add every parameter of a filter to a parser, with the parameter's name as `dest`.

    The namespace contains only parameters set by the user; images are represented by file paths.
    """
    common = parser.add_argument_group("options of every method")
    own = parser.add_argument_group(f"options of {fuser.method}")
    shared = {parameter.name for parameter in parameters_of(LabelFusionFilter)}
    mask = LabelFusionFilter.MaskImage
    add_file(common, "--mask", dest=mask.name, default=argparse.SUPPRESS, help=_as_help(mask.doc))
    for parameter in offered_parameters(fuser):
        add_option(common if parameter.name in shared else own, parameter)


def offered_parameters(fuser: type[LabelFusionFilter]) -> list[Parameter[Any]]:
    """Return the parameters of a filter that are available as command-line options."""
    return [parameter for parameter in parameters_of(fuser) if parameter.in_cli]


def add_option(group: argparse._ActionsContainer, parameter: Parameter[Any]) -> None:
    """Add one parameter to a parser or a group, with the parameter's name as `dest`."""
    group.add_argument(
        option_of(parameter),
        dest=parameter.name,
        type=_converter(parameter.kind),
        default=argparse.SUPPRESS,
        metavar=_placeholder(parameter.kind),
        help=_as_help(f"{parameter.doc} [default: {text_of_default(parameter)}]"),
    )


def add_options(
    group: argparse._ActionsContainer, filter_class: type, names: Container[str] | None = None
) -> None:
    """Add the parameters of a filter to a parser, optionally only those with the given names."""
    for parameter in parameters_of(filter_class):
        if parameter.in_cli and (names is None or parameter.name in names):
            add_option(group, parameter)


def given_parameters(arguments: argparse.Namespace, filter_class: type) -> dict[str, Any]:
    """Return the parameters of a filter that the user has set."""
    names = [parameter.name for parameter in parameters_of(filter_class)]
    return {name: getattr(arguments, name) for name in names if hasattr(arguments, name)}


def option_of(parameter: Parameter[Any]) -> str:
    """Return the name of a parameter's option, e.g. MaximumIterations -> --maximum-iterations."""
    if parameter is LabelFusionFilter.MaskImage:
        return "--mask"
    return f"--{parameter.snake_case.replace('_', '-')}"


@contextmanager
def use_option_names(filter_: ProcessObject, name: str) -> Iterator[None]:
    """Replace class and parameter names in a filter's errors by command and option names."""
    try:
        yield
    except ConsensusError as error:
        options = {parameter.name: option_of(parameter) for parameter in _options_of(filter_)}
        owner = name if error.owner == filter_.GetName() else error.owner
        raise error.respelled(owner, lambda one: options.get(one, one)) from error


def _options_of(filter_: ProcessObject) -> Iterator[Parameter[Any]]:
    for parameter in parameters_of(type(filter_)):
        if parameter.in_cli or parameter is LabelFusionFilter.MaskImage:
            yield parameter


def _converter(kind: Kind[Any]) -> Callable[[str], Any]:
    """Return the function that parses an option's text; an image is replaced by its path."""

    def read(text: str) -> Any:
        if text.lower() == "none" and _accepts(kind, None):
            return None
        if _takes(kind, Fuser):
            if text.lower() not in METHODS:
                names = ", ".join(METHODS)
                raise argparse.ArgumentTypeError(f"must be one of {names}, got {text!a}")
            return METHODS[text.lower()]()
        try:
            return kind.parse(text)
        except (TypeError, ValueError):
            if _takes(kind, ImageLike) and is_file_name(text) and Path(text).exists():
                return Path(text)
        raise argparse.ArgumentTypeError(f"must be {kind.wanted}, got {text!a}")

    return read


def _accepts(kind: Kind[Any], value: Any) -> bool:
    try:
        kind.accept(value)
    except (TypeError, ValueError):
        return False
    return True


def _takes(kind: Kind[Any], wanted: type[Kind[Any]]) -> bool:
    members = kind.kinds if isinstance(kind, OneOf) else (kind,)
    return any(isinstance(member, wanted) for member in members)


def _placeholder(kind: Kind[Any]) -> str:
    first = kind.kinds[0] if isinstance(kind, OneOf) else kind
    if isinstance(first, Choice):
        return "{" + ",".join(first.names) + "}"
    if isinstance(first, Reals):
        return ",".join(["X"] * first.length) if first.length else "X,X,..."
    special: dict[type, str] = {
        Boolean: "{yes,no}",
        LabelProbabilities: "LABEL:P,...",
        NamedReals: "NAME:X,...",
        Fuser: "METHOD",
    }
    return special.get(type(first), "N" if first.annotation == "int" else "X")


def text_of_default(parameter: Parameter[Any]) -> str:
    """Return the default of a parameter as text."""
    if parameter.default_doc or parameter.default is None:
        return parameter.default_doc or "none"
    return format_value(parameter.default)


def _as_help(text: str) -> str:
    return text.replace("%", "%%")
