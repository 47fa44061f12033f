"""Results of dir(), inspect.signature() and help() for filter classes.

The results are computed on demand from the tables of parameters and measurements.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Iterator
from itertools import pairwise
from types import FunctionType
from typing import Any

from itk_consensus.core.parameters import (
    Measurement,
    Parameter,
    Spelled,
    measurements_of,
    parameters_of,
)

_PACKAGE = __name__.partition(".")[0]
_WIDTH = 92
_INDENT = "    "


class FilterClass(type):
    """Metaclass of all filter classes."""

    def __init__(cls, name: str, bases: tuple[type, ...], members: dict[str, Any]) -> None:
        super().__init__(name, bases, members)
        for member in members.values():
            if isinstance(member, FunctionType) and member.__name__[0].isupper():
                types = member.__annotations__
                types.update((key, Spelled(text)) for key, text in types.items() if text)

    def __dir__(cls) -> list[str]:
        """Return the filter's own methods; the base class lists those common to all filters."""
        base = _base_of_all(cls)
        ancestors = cls.__mro__[:-1]
        if cls is not base:
            ancestors = ancestors[: ancestors.index(base)]
        return sorted({name for ancestor in ancestors for name in _names_of(ancestor)})

    @property
    def __signature__(cls) -> inspect.Signature | None:
        """Keywords of the constructor, unless a user's class defines its own constructor."""
        if not _is_ours(next(base for base in cls.__mro__ if "__init__" in vars(base))):
            return None
        return _WrappedSignature([keyword(one, one.name) for one in parameters_of(cls)])

    @property
    def __doc__(cls) -> str:  # type: ignore[override]
        """Docstring of the class, followed by its inputs, outputs, parameters and measurements."""
        parts = [introduction_of(cls)]
        for title, lines in (
            ("INPUTS", _inputs(cls)),
            ("OUTPUTS", _outputs(cls)),
            ("PARAMETERS", _parameters(cls)),
            ("MEASUREMENTS", _measurements(cls)),
        ):
            listed = [f"{_INDENT}{line}".rstrip() for line in lines]
            parts += ["\n".join([title, *listed])] if listed else []
        return "\n\n".join(parts)


class _WrappedSignature(inspect.Signature):
    """Signature with many keywords, which is printed on several lines."""

    def __str__(self) -> str:
        return "\n".join(_wrapped(super().__str__(), hanging=_INDENT))


class Computed:
    """Representation in signatures of a default that depends on other parameters or on images."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return f"<{self.text}>"


def default_of(parameter: Parameter[Any]) -> Any:
    """Return the default of a parameter, as shown in a signature."""
    if callable(parameter.default):
        return Computed(parameter.default_text)
    return parameter.default


def keyword(parameter: Parameter[Any], name: str) -> inspect.Parameter:
    """Return a parameter as a keyword of a signature."""
    default = default_of(parameter)
    if parameter.default_doc is not None:
        default = Computed(parameter.default_doc)
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default)


def introduction_of(cls: type) -> str:
    """Return the source docstring of the class, or of its nearest base class that has one."""
    written = (vars(base).get("__doc__") for base in cls.__mro__)
    return inspect.cleandoc(next(text for text in written if isinstance(text, str)))


def parameter_lines(parameter: Parameter[Any], name: str) -> Iterator[str]:
    """Yield the accepted values, the default and the description of a parameter."""
    # numpydoc requires this on a single line.
    wanted = textwrap.shorten(parameter.kind.wanted, _WIDTH, placeholder=" ...")
    yield f"{name} : {wanted}; default {parameter.default_text}"
    yield from _wrapped(parameter.doc, _INDENT)


def written_methods(cls: type) -> dict[str, Any]:
    """Return the explicitly defined CamelCase (ITK-style) methods.

    Methods generated for parameters and measurements are excluded; the class's own methods come
    before inherited ones.
    """
    derived = {f"Get{one.name}" for one in measurements_of(cls)}
    for one in parameters_of(cls):
        derived |= {f"{verb}{one.name}" for verb in ("Set", "Get", "Unset", "GetHas")}
    found: dict[str, Any] = {}
    for base in cls.__mro__:
        for name, member in vars(base).items():
            is_method = callable(member) or isinstance(member, (staticmethod, classmethod))
            if name[0].isupper() and is_method and name not in derived:
                found.setdefault(name, member)
    return found


def sections_of(docstring: str) -> dict[str, list[str]]:
    """Return the sections of a numpydoc docstring by title; the introduction has an empty title."""
    found: dict[str, list[str]] = {"": []}
    title = ""
    for line, following in pairwise([*docstring.splitlines(), ""]):
        if line and re.fullmatch("-+", following):
            title = line
            found[title] = []
        elif not (title and re.fullmatch("-+", line)):
            found[title].append(line)
    return {title: "\n".join(lines).strip("\n").splitlines() for title, lines in found.items()}


def _base_of_all(cls: type) -> type:
    return [base for base in cls.__mro__ if isinstance(base, FilterClass)][-1]


def _is_ours(cls: type) -> bool:
    return cls.__module__.partition(".")[0] == _PACKAGE


def _names_of(cls: type) -> list[str]:
    """Return the names that a class adds; for classes of this package, only the methods."""
    if not _is_ours(cls):
        return list(vars(cls))
    kinds = (FunctionType, staticmethod, classmethod)
    return [name for name, one in vars(cls).items() if name[0].isupper() and isinstance(one, kinds)]


def _inputs(cls: type) -> list[str]:
    execute = getattr(cls, "Execute", None)
    return sections_of(inspect.getdoc(execute) or "").get("Parameters", [])


def _outputs(cls: type) -> Iterator[str]:
    execute = getattr(cls, "Execute", None)
    returned = sections_of(inspect.getdoc(execute) or "").get("Returns", [])
    if returned:
        yield f"Execute : {returned[0]}"
        yield from returned[1:]
    if cls is _base_of_all(cls):
        return
    of_every_filter = written_methods(_base_of_all(cls))
    for name, method in written_methods(cls).items():
        if name.startswith("Get") and method is not of_every_filter.get(name):
            _, *asked = inspect.signature(method).parameters
            yield f"{name}({', '.join(asked)})"
            yield from _wrapped((inspect.getdoc(method) or "").partition("\n")[0], _INDENT)


def _parameters(cls: type) -> Iterator[str]:
    own = [one for one in parameters_of(cls) if _is_shown(cls, one)]
    others = [one.name for one in parameters_of(cls) if one not in own]
    if own:
        first = max(own, key=lambda one: "_" in one.snake_case)
        yield from _wrapped(
            f"Keywords of the constructor, which also takes {first.keyword} and "
            f"{first.snake_case}; each has a Set and a Get method, such as "
            f"Set{first.name}(value) and Get{first.name}()."
        )
        yield ""
    for one in own:
        yield from parameter_lines(one, one.name)
    if others:
        base = _base_of_all(cls).__name__
        yield f"{others[0]} and others"
        yield from _wrapped(f"What every filter has: {', '.join(others)};", _INDENT)
        yield f"{_INDENT}with events, progress and Abort: help({base})."


def _is_shown(cls: type, one: Parameter[Any] | Measurement[Any]) -> bool:
    base = _base_of_all(cls)
    return cls is base or getattr(base, one.name, None) is not one


def _measurements(cls: type) -> Iterator[str]:
    measured = measurements_of(cls)
    if measured:
        yield f"Known after Execute; each has a Get method, such as Get{measured[0].name}()."
        yield ""
    for one in measured:
        of_one = f"; of one rater: Get{one.name}(rater)" if one.one_of is not None else ""
        yield from _wrapped(f"{one.name} : {one.annotation}{of_one}")
        yield from _wrapped(one.doc, _INDENT)


def _wrapped(text: str, indent: str = "", hanging: str = "") -> list[str]:
    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=indent,
        subsequent_indent=indent + hanging,
        break_long_words=False,
        break_on_hyphens=False,
    )
