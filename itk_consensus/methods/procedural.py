"""Function forms of the filters, made from their parameter tables.

``STAPLE(images, confidenceWeight=1.0, ...)`` takes SimpleITK's positional order and keywords;
``staple_image_filter(*images, confidence_weight=1.0, ...)`` is itk's spelling.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from itk_consensus.core.errors import ParameterError
from itk_consensus.core.parameters import Parameter, parameters_of, snake_case
from itk_consensus.fusing.label_fusion import LabelFusionFilter
from itk_consensus.methods.registry import FUSER_MODULES, load_filter, short_name

Function = Callable[..., Any]


def function_name(fuser: type[LabelFusionFilter]) -> str:
    """STAPLEImageFilter -> STAPLE, MajorityVoteFilter -> MajorityVote."""
    return short_name(fuser.__name__)


def simpleitk_form(fuser: type[LabelFusionFilter]) -> Function:
    """SimpleITK's function: a list or separate images, then parameters in its order."""
    name = function_name(fuser)

    def function(*arguments: Any, **keywords: Any) -> Any:
        images, rest = _split_images(arguments)
        if len(rest) > len(fuser.positional):
            raise ParameterError(
                f"{name}: at most {len(fuser.positional)} parameters by position "
                f"{fuser.positional}, got {len(rest)}"
            )
        by_position = dict(zip(fuser.positional, rest, strict=False))
        return fuser(**by_position, **keywords).fused_once(images)

    return _described(function, name, fuser, "keyword")


def itk_form(fuser: type[LabelFusionFilter]) -> Function:
    """itk's function: separate images, snake_case keywords."""

    def function(*images: Any, **keywords: Any) -> Any:
        inputs = images[0] if len(images) == 1 else list(images)
        return fuser(**keywords).fused_once(inputs)

    return _described(function, snake_case(fuser.__name__), fuser, "snake_case")


def _split_images(arguments: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    """Leading images, and the parameters after them."""
    if arguments and isinstance(arguments[0], (list, tuple, Mapping)):
        return arguments[0], arguments[1:]
    # Text before any image is no parameter but a path, which the loader says to read.
    wanted = _is_text if arguments and _is_text(arguments[0]) else _is_image
    count = 0
    while count < len(arguments) and wanted(arguments[count]):
        count += 1
    images = arguments[0] if count == 1 else list(arguments[:count])
    return images, arguments[count:]


def _is_text(argument: Any) -> bool:
    return isinstance(argument, (str, bytes))


def _is_image(argument: Any) -> bool:
    # Whatever is no plain parameter value is left to the loader, whose errors name what came.
    return not isinstance(argument, (int, float, str, bytes, list, tuple, dict, type(None)))


class Computed:
    """A default that depends on other parameters or on the images, as a signature shows it."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return f"<{self.text}>"


def default_of(parameter: Parameter[Any]) -> Any:
    """The value of a parameter that is not set."""
    if callable(parameter.default):
        return Computed(parameter.default_text)
    return parameter.default


def numpydoc(fuser: type[LabelFusionFilter], style: str) -> str:
    """The documentation of a function form, with every parameter, made from the table.

    Parameters
    ----------
    style : "keyword" or "snake_case"
        How parameters are spelled.
    """
    lines = [
        str(inspect.getdoc(fuser)),
        "",
        f"Function form of {fuser.__name__}.",
        "",
        "Parameters",
        "----------",
        "*images : list of images, or the images themselves",
        "    On one grid: of SimpleITK, itk, nibabel or xarray, tensors or arrays. None is a",
        "    missing rater, a masked voxel a missing vote; a vector image holds one rater per",
        "    component.",
    ]
    for parameter in parameters_of(fuser):
        name, kind = getattr(parameter, style), parameter.kind.wanted
        lines.append(f"{name} : {kind}; default {parameter.default_text}")
        lines += textwrap.wrap(parameter.doc, 96, initial_indent="    ", subsequent_indent="    ")
    lines += ["", "Returns", "-------", "image", f"    {_returned(fuser)}"]
    return "\n".join(lines)


def _returned(fuser: type[LabelFusionFilter]) -> str:
    probability = "Probability of the foreground, as float64"
    what = "The fused label map" if fuser.returns_labels else probability
    return f"{what}, of the first input's family, with its geometry."


def _described(
    function: Function, name: str, fuser: type[LabelFusionFilter], style: str
) -> Function:
    function.__name__ = function.__qualname__ = name
    function.__module__ = "itk_consensus"
    function.__doc__ = numpydoc(fuser, style)
    images = inspect.Parameter("images", inspect.Parameter.VAR_POSITIONAL)
    named = [
        inspect.Parameter(
            getattr(parameter, style), inspect.Parameter.KEYWORD_ONLY, default=default_of(parameter)
        )
        for parameter in parameters_of(fuser)
    ]
    function.__signature__ = inspect.Signature([images, *named])  # type: ignore[attr-defined]
    return function


@cache
def function_forms(filter_name: str) -> tuple[Function, Function]:
    """SimpleITK's and itk's function of a fuser, by the name of its class."""
    fuser = load_filter(filter_name)
    return simpleitk_form(fuser), itk_form(fuser)


def all_functions() -> dict[str, Function]:
    """The function forms of every fuser by their names."""
    forms = (form for name in FUSER_MODULES for form in function_forms(name))
    return {form.__name__: form for form in forms}
