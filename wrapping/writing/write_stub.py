"""The stub file of the package, made from the filters' tables, so that editors see every setter."""

from __future__ import annotations

import builtins
import inspect
import re
import sys
from collections.abc import Iterator
from typing import Any, TypeVar, get_args, get_origin

import numpy as np

import itk_consensus
from itk_consensus.core import errors
from itk_consensus.core.parameters import (
    Parameter,
    measurements_of,
    parameters_of,
    snake_case,
)
from itk_consensus.core.process_object import ProcessObject
from itk_consensus.fusing.label_fusion import LabelFusionFilter
from itk_consensus.methods.procedural import all_functions, default_of, function_name
from itk_consensus.methods.registry import FUSERS, OTHER_FILTERS

_HEADER = """\
# Made by `make docs` from the filters' parameter tables; do not edit.
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar, overload

from numpy import float64
from numpy.typing import ArrayLike, NDArray

"""
_IMAGES = """\
Image = Any
ImageT = TypeVar("ImageT")
"""
#: Images of one kind in a list give one of the same kind, as of the function forms.
_EXECUTE_OF_ONE_KIND = (
    "    @overload",
    "    def Execute(self, images: Sequence[NDArray[Any] | None], /) -> NDArray[Any]: ...",
    "    @overload",
    "    def Execute(self, images: Sequence[ImageT | None], /) -> ImageT: ...",
    "    @overload",
)
_KNOWN = {"Any", "ArrayLike", "Callable", "Image", "ImageT", "Iterable", "Mapping", "NDArray"}
_KNOWN |= {"Sequence", "TypeVar"}


def stub_text() -> str:
    """The whole of __init__.pyi."""
    classes: list[type] = [ProcessObject, LabelFusionFilter, *FUSERS, *OTHER_FILTERS]
    code = "\n".join(
        [
            *("\n".join(_class_stub(cls)) for cls in classes),
            *(
                _function_stub(fuser, style)
                for fuser in FUSERS
                for style in ("keyword", "snake_case")
            ),
            *("\n".join(_method_stub(f.__name__, f, "")) for f in _other_functions()),
        ]
    )
    imports = "\n".join(sorted(_imports(_without_docstrings(code), classes)))
    return f"{_HEADER}{imports}\n\n__version__: str\n\n{_IMAGES}\n{code}\n"


def _other_functions() -> Iterator[Any]:
    """Public functions that are no form of a filter."""
    for name, load in sorted(itk_consensus._loaders().items()):
        member = inspect.unwrap(load())  # a room stands for the function it is named after
        if inspect.isfunction(member) and name not in all_functions():
            yield member


def _parameter_stub(parameter: Parameter[Any]) -> Iterator[str]:
    annotation = parameter.kind.annotation
    doc = f"{parameter.doc} Default: {parameter.default_text}."
    yield f"    def Set{parameter.name}(self, value: {annotation}) -> None:"
    yield from _docstring(doc, "        ")
    yield f"    def Get{parameter.name}(self) -> {annotation}:"
    yield from _docstring(parameter.doc, "        ")
    if parameter.can_be_unset:
        yield f"    def Unset{parameter.name}(self) -> None:"
        yield from _docstring(f"Take {parameter.name} back to its default.", "        ")
        yield f"    def GetHas{parameter.name}(self) -> bool:"
        yield from _docstring(f"Whether {parameter.name} was set.", "        ")


def _class_stub(cls: type) -> Iterator[str]:
    bases = [base for base in cls.__mro__[1:] if hasattr(itk_consensus, base.__name__)]
    parent = f"({bases[0].__name__})" if bases else ""
    yield f"class {cls.__name__}{parent}:"
    yield from _docstring(inspect.getdoc(cls), "    ")
    yield f"    def __init__(self, {_constructor_keywords(cls)}) -> None: ..."
    inherited = set(dir(bases[0])) if bases else set()
    own_parameters = [p for p in parameters_of(cls) if f"Set{p.name}" not in inherited]
    for parameter in own_parameters:
        yield from _parameter_stub(parameter)
    own_measurements = [m for m in measurements_of(cls) if f"Get{m.name}" not in inherited]
    for measurement in own_measurements:
        of_one = measurement.one_of
        if of_one is not None:
            yield "    @overload"
            yield f"    def Get{measurement.name}(self, rater: int) -> {_spelled(of_one)}: ..."
            yield "    @overload"
        yield f"    def Get{measurement.name}(self) -> {_spelled(measurement.type)}:"
        yield from _docstring(measurement.doc, "        ")
    verbs = ("Set", "Get", "Unset", "GetHas")
    derived = {f"{verb}{p.name}" for p in own_parameters for verb in verbs}
    derived |= {f"Get{m.name}" for m in own_measurements}
    for name, member in sorted(_written_methods(cls).items(), key=lambda item: item[0]):
        redefined = name in vars(cls) and name in ("Execute", "GetLabelImage")
        if name not in derived and (name not in inherited or redefined):
            if cls is LabelFusionFilter and name == "Execute":
                yield from _EXECUTE_OF_ONE_KIND
            yield from _method_stub(name, member, "    ")
    yield ""


def _constructor_keywords(cls: type) -> str:
    """Every parameter in each of its spellings; any of them may be left out."""
    spelled = {
        name: parameter.kind.annotation
        for parameter in parameters_of(cls)
        for name in (parameter.name, parameter.keyword, parameter.snake_case)
    }
    return ", ".join(["*", *(f"{name}: {kind} = ..." for name, kind in spelled.items())])


def _spelled(type_: Any) -> str:
    """A type as the stub writes it."""
    if get_origin(type_) is np.ndarray:
        (element,) = get_args(get_args(type_)[1])
        return f"NDArray[{element.__name__}]"
    members = ", ".join("..." if part is ... else _spelled(part) for part in get_args(type_))
    return f"{type_.__name__}[{members}]" if members else str(type_.__name__)


def _docstring(text: str | None, indent: str) -> Iterator[str]:
    """A docstring as the body of what stands above it."""
    if not text:
        yield f"{indent}..."
        return
    first, *rest = text.replace("\\", "\\\\").splitlines()
    quotes = '"""'
    if not rest:
        yield f"{indent}{quotes}{first}{quotes}"
        return
    yield f"{indent}{quotes}{first}"
    yield from (f"{indent}{line}".rstrip() for line in rest)
    yield f"{indent}{quotes}"


def _without_docstrings(code: str) -> str:
    return re.sub(r'^ *""".*?"""$', "", code, flags=re.MULTILINE | re.DOTALL)


def _written_methods(cls: type) -> dict[str, object]:
    """Methods with ITK's capital names, those of the class itself before inherited ones."""
    found: dict[str, object] = {}
    for base in cls.__mro__:
        for name, member in vars(base).items():
            written = callable(member) or isinstance(member, (staticmethod, classmethod))
            if name[0].isupper() and written:
                found.setdefault(name, member)
    return found


def _method_stub(name: str, member: Any, indent: str) -> Iterator[str]:
    if isinstance(member, (staticmethod, classmethod)):
        kind = "classmethod" if isinstance(member, classmethod) else "staticmethod"
        yield f"{indent}@{kind}"
        member = member.__func__
    text = re.sub(r"(: |-> )'([^']*)'", r"\1\2", str(inspect.signature(member)))
    text = text.replace("np.float64", "float64")
    for word in _words(text):
        # A type variable of the implementation means little to a reader of the stub.
        if isinstance(getattr(sys.modules[member.__module__], word, None), TypeVar):
            text = re.sub(rf"(: type\[{word}\])|\b{word}\b", lambda m: "" if m[1] else "Any", text)
    yield f"{indent}def {name}{text}:"
    yield from _docstring(inspect.getdoc(member), f"{indent}    ")


def _function_stub(fuser: type[LabelFusionFilter], style: str) -> str:
    name = function_name(fuser) if style == "keyword" else snake_case(fuser.__name__)
    spelled = {
        p.name: f"{getattr(p, style)}: {p.kind.annotation} = {_default(p)}"
        for p in parameters_of(fuser)
    }
    keywords = ", ".join(spelled.values())
    by_position = [spelled[name] for name in fuser.positional if style == "keyword"]
    others = [text for text in spelled.values() if text not in by_position]
    rest = ", ".join([*by_position, "*", *others])
    return "\n".join(
        [
            "@overload",
            f"def {name}(images: Sequence[NDArray[Any] | None], {rest}) -> NDArray[Any]:",
            *_docstring(inspect.getdoc(all_functions()[name]), "    "),
            "@overload",
            f"def {name}(images: Sequence[ImageT | None], {rest}) -> ImageT: ...",
            "@overload",
            f"def {name}(*images: Any, {keywords}) -> Any: ...",
        ]
    )


def _default(parameter: Parameter[Any]) -> str:
    """A default that can be written down."""
    value = default_of(parameter)
    is_plain = isinstance(value, (bool, int, float, str, tuple))
    if is_plain or (value is None and "None" in parameter.kind.annotation):
        return repr(value)
    return "..."


def _imports(code: str, classes: list[type]) -> Iterator[str]:
    """Import lines for every type the stub names, found where the filters themselves found it."""
    public = [name for name in itk_consensus.__all__ if hasattr(errors, name)]
    for name in public:
        yield f"from itk_consensus.core.errors import {name} as {name}"
    defined = {cls.__name__ for cls in classes} | set(public) | _KNOWN | set(dir(builtins))
    others = {name for _, name in itk_consensus._OTHERS}
    own = {name for name in others if inspect.isclass(getattr(itk_consensus, name))}
    for word in sorted((_words(code) | own) - defined):
        yield f"from {_home_of(word)} import {word} as {word}"


def _home_of(word: str) -> str:
    """The module of the package that defines a class, or an alias of a type."""
    for name, module in sorted(sys.modules.items()):
        value = getattr(module, word, None) if name.startswith("itk_consensus.") else None
        if inspect.isclass(value):
            return value.__module__
        if value is not None and re.search(rf"^{word}\b.* = ", inspect.getsource(module), re.M):
            return name
    raise LookupError(f"no module of itk_consensus defines {word}")


def _words(text: str) -> set[str]:
    """Capitalised names in type positions: after a colon, an arrow, a bracket or a bar."""
    # After a comma a name may be a keyword, too: what follows tells.
    return set(re.findall(r"(?:(?:: |-> |\[|\| )|, (?!\w+:))([A-Z]\w*)\b(?!=)", text))
