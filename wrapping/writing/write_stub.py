"""Generate the stub of the package, from which editors show every setter and its documentation."""

from __future__ import annotations

import builtins
import inspect
import re
import sys
from collections.abc import Iterator
from functools import cache
from typing import Any, TypeVar

import itk_consensus
from itk_consensus.core.descriptions import default_of, introduction_of, written_methods
from itk_consensus.core.parameters import (
    Measurement,
    Parameter,
    measurements_of,
    parameters_of,
    spelled,
)
from itk_consensus.core.process_object import ProcessObject
from itk_consensus.fusing.label_fusion import LabelFusionFilter
from itk_consensus.methods.procedural import all_functions, itk_function, simpleitk_function
from itk_consensus.methods.registry import FUSERS, MEASURING_FILTERS, OTHER_FILTERS

_HEADER = """\
# Made by `make docs` from the filters' parameter tables; do not edit.
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar, overload

from numpy import float64
from numpy.typing import ArrayLike, NDArray

"""
_IMAGES = """\
_Image = Any
_ImageT = TypeVar("_ImageT")
"""
#: Overloads of Execute: a list of images of one type yields an image of that type.
_EXECUTE_OF_ONE_KIND = (
    "    @overload",
    "    def Execute(self, images: Sequence[NDArray[Any] | None], /) -> NDArray[Any]: ...",
    "    @overload",
    "    def Execute(self, images: Sequence[_ImageT | None], /) -> _ImageT: ...",
    "    @overload",
)
_KNOWN = {"Any", "ArrayLike", "Callable", "Iterable", "Mapping", "NDArray"}
_KNOWN |= {"Sequence", "TypeVar"}


def stub_text() -> str:
    """Return the text of __init__.pyi."""
    classes: list[type] = [ProcessObject, LabelFusionFilter, *FUSERS, *OTHER_FILTERS]
    code = "\n".join(
        [
            *("\n".join(_class_stub(cls)) for cls in classes),
            *(text for filter_class in classes[2:] for text in _function_stubs(filter_class)),
            *("\n".join(_method_stub(f.__name__, f, "")) for f in _other_functions()),
        ]
    )
    imports = "\n".join(sorted(_imports(_without_docstrings(code), classes)))
    return f"{_HEADER}{imports}\n\n__version__: str\n\n{_IMAGES}\n{code}\n"


@cache
def _attributes() -> frozenset[str]:
    """Return the names of parameters and measurements, which shadow types of the same name."""
    filters = (*FUSERS, *OTHER_FILTERS)
    return frozenset(
        one.name for cls in filters for one in (*parameters_of(cls), *measurements_of(cls))
    )


def _type(text: str) -> str:
    """Return a type as written in the stub: with an underscore if an attribute shadows its name."""
    return re.sub(r"\b[A-Z]\w*", lambda m: f"_{m[0]}" if m[0] in _attributes() else m[0], text)


def _other_functions() -> Iterator[Any]:
    """Yield the public functions that are not function forms of filters."""
    for name, load in sorted(itk_consensus._loaders().items()):
        member = inspect.unwrap(load())  # a callable package wraps the function of the same name
        if inspect.isfunction(member) and name not in all_functions():
            yield member


def _parameter_stub(parameter: Parameter[Any]) -> Iterator[str]:
    annotation = _type(parameter.annotation)
    doc = f"{parameter.doc} Default: {parameter.default_text}."
    yield f"    {parameter.name}: {annotation}"
    yield f"    def Set{parameter.name}(self, value: {annotation}) -> None:"
    yield from _docstring(doc, "        ")
    yield f"    def Get{parameter.name}(self) -> {annotation}:"
    yield from _docstring(parameter.doc, "        ")
    if parameter.can_be_unset:
        yield f"    def Unset{parameter.name}(self) -> None:"
        yield from _docstring(f"Take {parameter.name} back to its default.", "        ")
        yield f"    def GetHas{parameter.name}(self) -> bool:"
        yield from _docstring(f"Whether {parameter.name} was set.", "        ")


def _measurement_stub(measurement: Measurement[Any]) -> Iterator[str]:
    annotation = _type(measurement.annotation)
    yield "    @property"
    yield f"    def {measurement.name}(self) -> {annotation}:"
    yield from _docstring(measurement.doc, "        ")
    if measurement.one_of is not None:
        yield "    @overload"
        of_one = _type(spelled(measurement.one_of))
        yield f"    def Get{measurement.name}(self, rater: int) -> {of_one}: ..."
        yield "    @overload"
    yield f"    def Get{measurement.name}(self) -> {annotation}:"
    yield from _docstring(measurement.doc, "        ")


def _class_stub(cls: type) -> Iterator[str]:
    bases = [base for base in cls.__mro__[1:] if hasattr(itk_consensus, base.__name__)]
    parent = f"({bases[0].__name__})" if bases else ""
    yield f"class {cls.__name__}{parent}:"
    yield from _docstring(introduction_of(cls), "    ")
    yield f"    def __init__(self, {_constructor_keywords(cls)}) -> None: ..."
    ancestors = bases[0].__mro__ if bases else ()
    inherited = {name for ancestor in ancestors for name in vars(ancestor)}
    for parameter in parameters_of(cls):
        if f"Set{parameter.name}" not in inherited:
            yield from _parameter_stub(parameter)
    for measurement in measurements_of(cls):
        if f"Get{measurement.name}" not in inherited:
            yield from _measurement_stub(measurement)
    for name, member in sorted(written_methods(cls).items(), key=lambda item: item[0]):
        redefined = name in vars(cls) and name in ("Execute", "GetLabelImage")
        if name not in inherited or redefined:
            if cls is LabelFusionFilter and name == "Execute":
                yield from _EXECUTE_OF_ONE_KIND
            yield from _method_stub(name, member, "    ")
    yield ""


def _constructor_keywords(cls: type) -> str:
    """Return the constructor's keywords: every parameter in each of its spellings, all optional."""
    keywords = {
        name: _type(parameter.annotation)
        for parameter in parameters_of(cls)
        for name in (parameter.name, parameter.keyword, parameter.snake_case)
    }
    return ", ".join(["*", *(f"{name}: {kind} = ..." for name, kind in keywords.items())])


def _docstring(text: str | None, indent: str) -> Iterator[str]:
    """Yield a body that consists of a docstring, or of ``...`` without one."""
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


def _method_stub(name: str, member: Any, indent: str) -> Iterator[str]:
    if isinstance(member, (staticmethod, classmethod)):
        kind = "classmethod" if isinstance(member, classmethod) else "staticmethod"
        yield f"{indent}@{kind}"
        member = member.__func__
    text = re.sub(r"(: |-> )'([^']*)'", r"\1\2", str(inspect.signature(member)))
    text = _type(text)
    text = text.replace("np.float64", "float64")
    for word in _words(text):
        # A type variable of the implementation is not useful in the stub.
        if isinstance(getattr(sys.modules[member.__module__], word, None), TypeVar):
            text = re.sub(rf"(: type\[{word}\])|\b{word}\b", lambda m: "" if m[1] else "Any", text)
    yield f"{indent}def {name}{text}:"
    yield from _docstring(inspect.getdoc(member), f"{indent}    ")


def _function_stubs(filter_class: type[ProcessObject]) -> Iterator[str]:
    """Yield the function forms of a filter, in SimpleITK's spelling and in itk's."""
    write = _fusing_stub if issubclass(filter_class, LabelFusionFilter) else _executing_stub
    if filter_class.__name__ not in MEASURING_FILTERS:
        function = simpleitk_function(filter_class.__name__)
        yield "\n".join(write(filter_class, function, "keyword"))
    yield "\n".join(write(filter_class, itk_function(filter_class.__name__), "snake_case"))


def _keywords(filter_class: type[ProcessObject], style: str) -> dict[str, str]:
    """Return the keywords of a function form, keyed by the parameters' names."""
    given = {}
    if hasattr(filter_class, "Load"):
        given["record"] = "record: PathLike"
    for one in parameters_of(filter_class):
        given[one.name] = f"{getattr(one, style)}: {_type(one.annotation)} = {_default(one)}"
    return given


def _fusing_stub(filter_class: type[LabelFusionFilter], function: Any, style: str) -> Iterator[str]:
    """Yield the overloads of a fuser's function form: images of one type yield that type."""
    name, keywords = function.__name__, _keywords(filter_class, style)
    by_position = [keywords[name] for name in filter_class.positional if style == "keyword"]
    others = [text for text in keywords.values() if text not in by_position]
    rest = ", ".join([*by_position, "*", *others])
    yield "@overload"
    yield f"def {name}(images: Sequence[NDArray[Any] | None], {rest}) -> NDArray[Any]:"
    yield from _docstring(inspect.getdoc(function), "    ")
    yield "@overload"
    yield f"def {name}(images: Sequence[_ImageT | None], {rest}) -> _ImageT: ..."
    yield "@overload"
    yield f"def {name}(*images: Any, {', '.join(keywords.values())}) -> Any: ..."


def _executing_stub(filter_class: type[Any], function: Any, style: str) -> Iterator[str]:
    """Yield a function form with the inputs and the return type of Execute, and the parameters."""
    execute = inspect.signature(filter_class.Execute)
    _, *inputs = execute.parameters.values()
    by_position = [one for one in inputs if one.kind is not one.KEYWORD_ONLY]
    by_name = [one for one in inputs if one.kind is one.KEYWORD_ONLY]
    keywords = _keywords(filter_class, style).values()
    listed = [*by_position, "*", *by_name, *keywords]
    taken = ", ".join(_type(str(one)) for one in listed)
    returned = _type(str(execute.return_annotation))
    yield f"def {function.__name__}({taken}) -> {returned}:"
    yield from _docstring(inspect.getdoc(function), "    ")


def _default(parameter: Parameter[Any]) -> str:
    """Return a default as source code, or ``...`` if it is not a literal."""
    value = default_of(parameter)
    is_plain = isinstance(value, (bool, int, float, str, tuple))
    if is_plain or (value is None and "None" in parameter.kind.annotation):
        return repr(value)
    return "..."


def _imports(code: str, classes: list[type]) -> Iterator[str]:
    """Yield imports of the public classes and of all other types that the stub names."""
    defined = {cls.__name__ for cls in classes}
    public = {
        name: load()
        for name, load in itk_consensus._loaders().items()
        if name not in defined and inspect.isclass(load())
    }
    for name, member in public.items():
        yield f"from {member.__module__} import {name} as {name}"
    known = defined | set(public) | _KNOWN | set(dir(builtins))
    for word in sorted(_words(code) - known - {"_Image", "_ImageT"}):
        name = word.removeprefix("_")
        alias = f" as {word}" if word != name else ""
        yield f"from {_home_of(name)} import {name}{alias}"


def _home_of(word: str) -> str:
    """Return the module of the package in which a class or a type alias is defined."""
    for name, module in sorted(sys.modules.items()):
        value = getattr(module, word, None) if name.startswith("itk_consensus.") else None
        if inspect.isclass(value):
            return value.__module__
        if value is not None and re.search(rf"^{word}\b.* = ", inspect.getsource(module), re.M):
            return name
    raise LookupError(f"no module of itk_consensus defines {word}")


def _words(text: str) -> set[str]:
    """Return the capitalised names in type positions: after a colon, arrow, bracket or bar."""
    # After a comma, a name followed by a colon is a parameter, not a type.
    return set(re.findall(r"(?:(?:: |-> |\[|\| )|, (?!\w+:))(_?[A-Z]\w*)\b(?!=)", text))
