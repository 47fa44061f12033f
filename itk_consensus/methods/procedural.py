"""Function forms of the filters, derived from their declared parameters.

``STAPLE(images, confidenceWeight=1.0, ...)`` has SimpleITK's positional order and keywords;
``staple_image_filter(*images, confidence_weight=1.0, ...)`` follows the naming of ITK's Python
wrapping. The function of a trainable filter takes ``record``, the file written by the trained
filter's Save.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from itk_consensus.core.descriptions import (
    introduction_of,
    keyword,
    parameter_lines,
    sections_of,
)
from itk_consensus.core.errors import ParameterError
from itk_consensus.core.parameters import find_parameter, parameters_of, snake_case
from itk_consensus.core.process_object import ProcessObject
from itk_consensus.fusing.label_fusion import LabelFusionFilter
from itk_consensus.methods.registry import (
    FUSER_MODULES,
    MEASURING_FILTERS,
    OTHER_FILTER_MODULES,
    load_filter,
    short_name,
)

Function = Callable[..., Any]
Filter = type[ProcessObject]

#: Keyword for the file written by the filter's Save.
_RECORD = "record"


def function_name(filter_class: Filter) -> str:
    """Return the name of a filter's function, e.g. STAPLE for STAPLEImageFilter."""
    return short_name(filter_class.__name__)


def simpleitk_form(filter_class: Filter) -> Function:
    """Return a function in SimpleITK's style: it takes the arguments of Execute, then the
    parameters in SimpleITK's order and spelling.

    The raters' images can be passed as a list or one by one.
    """
    name = function_name(filter_class)

    def function(*arguments: Any, **keywords: Any) -> Any:
        if not issubclass(filter_class, LabelFusionFilter):
            return _execute(filter_class, name, arguments, keywords)
        images, rest = _split_images(arguments)
        positional = filter_class.positional
        if len(rest) > len(positional):
            raise ParameterError(
                f"takes at most {len(positional)} parameters by position {positional}, got "
                f"{len(rest)}; give the others by name",
                owner=name,
            )
        by_position = dict(zip(positional, rest, strict=False))
        return _filter_with(filter_class, name, by_position, keywords).fuse_once(images)

    return _document(function, name, filter_class, "keyword")


def itk_form(filter_class: Filter) -> Function:
    """Make ITK's function: images as separate arguments, snake_case keywords."""
    name = snake_case(filter_class.__name__)

    def function(*images: Any, **keywords: Any) -> Any:
        if not issubclass(filter_class, LabelFusionFilter):
            return _execute(filter_class, name, images, keywords)
        inputs = images[0] if len(images) == 1 else list(images)
        return _filter_with(filter_class, name, {}, keywords).fuse_once(inputs)

    return _document(function, name, filter_class, "snake_case")


def _execute(
    filter_class: Filter, name: str, arguments: tuple[Any, ...], keywords: dict[str, Any]
) -> Any:
    """Run Execute with the keywords that are its arguments; the others are parameters."""
    inputs = {one.name for one in _inputs_of(filter_class)}
    of_execute = {key: value for key, value in keywords.items() if key in inputs}
    parameters = {key: value for key, value in keywords.items() if key not in inputs}
    filter_ = _filter_with(filter_class, name, {}, parameters)
    return filter_.Execute(*arguments, **of_execute)


def _filter_with(
    filter_class: Filter, name: str, by_position: dict[str, Any], keywords: dict[str, Any]
) -> Any:
    """Return a filter with these parameters; a trainable filter is loaded from its record."""
    if not _is_trainable(filter_class):
        return filter_class(**by_position, **keywords)
    others = dict(keywords)
    record = others.pop(_RECORD, None)
    if record is None:
        raise ParameterError(
            f"must be the file that Save of {filter_class.__name__} wrote, got None",
            owner=name,
            parameter=_RECORD,
        )
    filter_: Any = getattr(filter_class, "Load")(record)  # noqa: B009  (not every filter has it)
    for spelled, value in others.items():
        setattr(filter_, find_parameter(filter_class, spelled, name).name, value)
    return filter_


def _is_trainable(filter_class: Filter) -> bool:
    return hasattr(filter_class, "Load")


def _inputs_of(filter_class: Filter) -> list[inspect.Parameter]:
    """Return the parameters of Execute."""
    _, *inputs = inspect.signature(getattr(filter_class, "Execute")).parameters.values()  # noqa: B009
    return inputs


def _split_images(arguments: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    """Split arguments into leading images and the parameters after them."""
    if arguments and isinstance(arguments[0], (list, tuple, Mapping)):
        return arguments[0], arguments[1:]
    # A leading string is probably a path: pass it on as an image, so that the loader's error
    # message explains the problem.
    is_input = _is_text if arguments and _is_text(arguments[0]) else _is_image
    count = 0
    while count < len(arguments) and is_input(arguments[count]):
        count += 1
    images = arguments[0] if count == 1 else list(arguments[:count])
    return images, arguments[count:]


def _is_text(argument: Any) -> bool:
    return isinstance(argument, (str, bytes))


def _is_image(argument: Any) -> bool:
    # Other objects are passed to the loader, whose error messages name the type.
    return not isinstance(argument, (int, float, str, bytes, list, tuple, dict, type(None)))


def signature_of(filter_class: Filter, style: str) -> inspect.Signature:
    """Return the signature of a function form; `style` is "keyword" or "snake_case"."""
    inputs = _inputs_of(filter_class)
    by_name = inspect.Parameter.KEYWORD_ONLY
    record = [inspect.Parameter(_RECORD, by_name)] if _is_trainable(filter_class) else []
    named = [keyword(one, getattr(one, style)) for one in parameters_of(filter_class)]
    return inspect.Signature([*inputs, *record, *named])


def numpydoc(filter_class: Filter, style: str) -> str:
    """Return the numpydoc docstring of a function form, with all parameters.

    Parameters
    ----------
    style : "keyword" or "snake_case"
        Spelling of the parameters.
    """
    lines = [introduction_of(filter_class), "", f"Function form of {filter_class.__name__}.", ""]
    of_execute = sections_of(inspect.getdoc(getattr(filter_class, "Execute")) or "")  # noqa: B009
    lines += ["Parameters", "----------", *of_execute.get("Parameters", [])]
    if _is_trainable(filter_class):
        lines += [f"{_RECORD} : path", "    The file that Save wrote."]
    for one in parameters_of(filter_class):
        lines += parameter_lines(one, getattr(one, style))
    returned = list(_returned(filter_class)) or of_execute.get("Returns", [])
    if returned:
        lines += ["", "Returns", "-------", *returned]
    return "\n".join(lines)


def _returned(filter_class: Filter) -> Iterator[str]:
    if issubclass(filter_class, LabelFusionFilter):
        probability = "Probability of the foreground, as float64"
        what = "The fused label map" if filter_class.returns_labels else probability
        yield "image"
        yield f"    {what}, of the first input's family, with its geometry."


def _document(function: Function, name: str, filter_class: Filter, style: str) -> Function:
    """Set the name, signature and docstring of a function form."""
    function.__name__ = function.__qualname__ = name
    function.__module__ = "itk_consensus"
    function.__doc__ = numpydoc(filter_class, style)
    signature = signature_of(filter_class, style)
    function.__signature__ = signature  # type: ignore[attr-defined]
    return function


@cache
def simpleitk_function(filter_name: str) -> Function:
    """Return the SimpleITK-style function of a filter, given the name of its class."""
    return simpleitk_form(load_filter(filter_name))


@cache
def itk_function(filter_name: str) -> Function:
    """Return the ITK-style function of a filter, given the name of its class."""
    return itk_form(load_filter(filter_name))


def all_functions() -> dict[str, Function]:
    """Return the function forms of all filters, by name."""
    names = (*FUSER_MODULES, *OTHER_FILTER_MODULES)
    forms = [simpleitk_function(name) for name in names if name not in MEASURING_FILTERS]
    forms += [itk_function(name) for name in names]
    return {form.__name__: form for form in forms}
