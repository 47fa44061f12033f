"""The options of ``itk-consensus fuse``, made from the filters' parameter tables."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from itk_consensus.filters.constraints import (
    Boolean,
    Choice,
    Kind,
    LabelProbabilities,
    OneOf,
    Reals,
)
from itk_consensus.filters.hybrid import Fuser
from itk_consensus.filters.image_constraints import ImageLike
from itk_consensus.filters.label_fusion import LabelFusionFilter
from itk_consensus.filters.parameters import Parameter, parameters_of
from itk_consensus.filters.registry import METHODS
from itk_consensus.report.text import shown


def add_method_options(parser: argparse.ArgumentParser, fuser: type[LabelFusionFilter]) -> None:
    """Give a parser every parameter of a filter, under its own name as `dest`.

    Only what the user sets appears in the namespace; an image is left as the path of its file.
    """
    common = parser.add_argument_group("options of every method")
    own = parser.add_argument_group(f"options of {fuser.method}")
    shared = {parameter.name for parameter in parameters_of(LabelFusionFilter)}
    mask = LabelFusionFilter.MaskImage
    common.add_argument(
        "--mask",
        dest=mask.name,
        type=Path,
        default=argparse.SUPPRESS,
        metavar="FILE",
        help=_as_help(mask.doc),
    )
    for parameter in parameters_of(fuser):
        if parameter.in_cli:
            add_option(common if parameter.name in shared else own, parameter)


def add_option(group: argparse._ActionsContainer, parameter: Parameter[Any]) -> None:
    """Give a parser, or a group of its options, one parameter under its own name as `dest`."""
    group.add_argument(
        f"--{parameter.snake_case.replace('_', '-')}",
        dest=parameter.name,
        type=_reader(parameter.kind),
        default=argparse.SUPPRESS,
        metavar=_placeholder(parameter.kind),
        help=_as_help(f"{parameter.doc} [default: {_default_text(parameter)}]"),
    )


def given_parameters(arguments: argparse.Namespace, filter_class: type) -> dict[str, Any]:
    """The parameters of a filter that the user set."""
    names = [parameter.name for parameter in parameters_of(filter_class)]
    return {name: getattr(arguments, name) for name in names if hasattr(arguments, name)}


def _reader(kind: Kind[Any]) -> Callable[[str], Any]:
    """How an option's text becomes a value; a file name, where an image will do, stays a path."""

    def read(text: str) -> Any:
        if text.lower() == "none" and _accepts(kind, None):
            return None
        if _takes(kind, Fuser):
            if text.lower() not in METHODS:
                names = ", ".join(METHODS)
                raise argparse.ArgumentTypeError(f"must be one of {names}, got '{text}'")
            return METHODS[text.lower()]()
        try:
            return kind.parse(text)
        except (TypeError, ValueError):
            if _takes(kind, ImageLike) and Path(text).exists():
                return Path(text)
        raise argparse.ArgumentTypeError(f"must be {kind.wanted}, got '{text}'")

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
    special = {Boolean: "{yes,no}", LabelProbabilities: "LABEL:P,...", Fuser: "METHOD"}
    return special.get(type(first), "N" if first.annotation == "int" else "X")


def _default_text(parameter: Parameter[Any]) -> str:
    if parameter.default_doc or parameter.default is None:
        return parameter.default_doc or "none"
    return shown(parameter.default)


def _as_help(text: str) -> str:
    return text.replace("%", "%%")
