"""Parameters and measurements, declared once as class attributes.

``MaximumIterations = Parameter(Integer(low=1), 100, "...")`` in a filter class adds
SetMaximumIterations and GetMaximumIterations, a keyword of the function forms, a command-line
option, a line in the stub file and a row in the README.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from copy import deepcopy
from dataclasses import fields
from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast, get_args, get_origin, overload

import numpy as np

from itk_consensus.core.constraints import BeyondRange, Kind, as_scalar, short_repr
from itk_consensus.core.errors import NotExecutedError, ParameterError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from itk_consensus.core.process_object import ProcessObject
    from itk_consensus.core.results import Result


T = TypeVar("T")
S = TypeVar("S", bound="DataclassInstance")
D = TypeVar("D", bound="_Declared[Any]")


def defensive_copy(value: T) -> T:
    """Copy a mutable value, so that changing the copy does not change the filter."""
    return value if isinstance(value, (int, float, str, type(None))) else deepcopy(value)


class Spelled(str):
    """Source representation of a type, which a signature shows without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def spelled(type_: Any) -> str:
    """Return the representation of a type in signatures and in the stub."""
    if get_origin(type_) is np.ndarray:
        (element,) = get_args(get_args(type_)[1])
        return f"NDArray[{element.__name__}]"
    members = ", ".join("..." if part is ... else spelled(part) for part in get_args(type_))
    return f"{type_.__name__}[{members}]" if members else str(type_.__name__)


class _Declared(Generic[T]):
    """Descriptor for a value of a filter, with a Get method."""

    name = ""
    doc: str

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

        def getter(self: ProcessObject) -> Any:
            return declared.value_of(self)

        declared = self
        getter.__annotations__ = {"return": Spelled(self.annotation)}
        attach(owner, f"Get{name}", getter, self.doc)

    @property
    def annotation(self) -> str:
        """Representation of the value's type in signatures and in the stub."""
        raise NotImplementedError

    def value_of(self, filter_: ProcessObject) -> T:
        """Return the value for a filter."""
        raise NotImplementedError

    @overload
    def __get__(self: D, instance: None, owner: type) -> D: ...
    @overload
    def __get__(self, instance: ProcessObject, owner: type | None = None) -> T: ...
    def __get__(self, instance: ProcessObject | None, owner: type | None = None) -> Any:
        return self if instance is None else self.value_of(instance)


class Parameter(_Declared[T]):
    """A named value of a filter, validated when it is set.

    Parameters
    ----------
    kind : Kind
        Constraint on the values.
    default : T or callable
        Value used until another one is set. A callable is called with the filter each time, so that
        a default can depend on another parameter.
    doc : str
        Description for users, in one sentence.
    default_doc : str
        Default as shown in the documentation, if it is computed or long.
    in_cli : bool
        Whether the parameter is available on the command line.
    can_be_unset : bool
        Whether to add the methods Unset and GetHas, as in the ITK filter of the same name.
    """

    def __init__(
        self,
        kind: Kind[T],
        default: T | Callable[[Any], T],
        doc: str,
        *,
        default_doc: str | None = None,
        in_cli: bool = True,
        can_be_unset: bool = False,
    ) -> None:
        self.can_be_unset = can_be_unset
        self.kind = kind
        self.default = default
        self.doc = doc
        self.default_doc = default_doc
        self.in_cli = in_cli

    def __set_name__(self, owner: type, name: str) -> None:
        def setter(self: ProcessObject, value: Any) -> None:
            declared.__set__(self, value)

        def unset(self: ProcessObject) -> None:
            self._values.pop(name, None)

        def is_set(self: ProcessObject) -> bool:
            return name in self._values

        declared = self
        setter.__annotations__ = {"value": Spelled(self.annotation), "return": None}
        unset.__annotations__, is_set.__annotations__ = {"return": None}, {"return": bool}
        attach(owner, f"Set{name}", setter, self.doc)
        if self.can_be_unset:
            attach(owner, f"Unset{name}", unset, f"Take {name} back to its default.")
            attach(owner, f"GetHas{name}", is_set, f"Whether {name} was set.")
        super().__set_name__(owner, name)

    @property
    def annotation(self) -> str:
        return self.kind.annotation

    def value_of(self, filter_: ProcessObject) -> T:
        if self.name in filter_._values:
            value: T = filter_._values[self.name]
            # Images are returned unchanged; dicts were created by `accept` and are copied.
            return defensive_copy(value) if isinstance(value, dict) else value
        return self.default(filter_) if callable(self.default) else self.default

    def __set__(self, instance: ProcessObject, value: Any) -> None:
        instance._values[self.name] = self.check(instance.GetName(), value)

    def check(self, owner: str, value: Any) -> T:
        """Validate and convert a value; the error message is the same for all filters."""
        try:
            return self.kind.accept(as_scalar(value))
        except (TypeError, ValueError) as error:
            wanted = error if isinstance(error, BeyondRange) else self.kind.wanted
            raise ParameterError(
                f"must be {wanted}, got {short_repr(value)}", owner=owner, parameter=self.name
            ) from None

    @property
    def keyword(self) -> str:
        """Keyword in SimpleITK's spelling: maximumIterations."""
        return self.name[0].lower() + self.name[1:]

    @property
    def snake_case(self) -> str:
        """Keyword in ITK's spelling: maximum_iterations."""
        return snake_case(self.name)

    @property
    def default_text(self) -> str:
        """Text of the default for the documentation."""
        if self.default_doc is not None:
            return self.default_doc
        return str(self.default)


class Measurement(_Declared[T]):
    """A value that is read from the result of Execute, with a Get method.

    Parameters
    ----------
    type_ : type
        Type of the value; a tuple type converts an array to a tuple.
    doc : str
        Description for users, in one sentence.
    read : str or callable
        Path of attributes in the result, such as "estimate.theta", or a function of the result.
    one_of : type, optional
        Type of a single rater's value, if the Get method also accepts a rater's index, as in ITK.
    while_running : str, optional
        Field of `Run` from which commands read the value while Execute is running.
    """

    def __init__(
        self,
        type_: type[T],
        doc: str,
        read: str | Callable[[Any], T | np.ndarray[Any, Any]],
        *,
        one_of: type | None = None,
        while_running: str = "",
    ) -> None:
        self.type = type_
        self.doc = doc
        self.read = read
        self.one_of = one_of
        self.while_running = while_running

    def __set_name__(self, owner: type, name: str) -> None:
        def getter(self: ProcessObject, rater: int | None = None) -> Any:
            values: Any = declared.value_of(self)
            if rater is None:
                return values
            if not 0 <= rater < len(values):
                last = len(values) - 1
                raise IndexError(f"{self.GetName()}: rater must be 0 to {last}, got {rater}")
            return values[rater]

        declared = self
        if self.one_of is not None:
            either = Spelled(f"{self.annotation} | {spelled(self.one_of)}")
            getter.__annotations__ = {"rater": Spelled("int | None"), "return": either}
            attach(owner, f"Get{name}", getter, self.doc)
        super().__set_name__(owner, name)

    @property
    def annotation(self) -> str:
        return spelled(self.type)

    def value_of(self, filter_: ProcessObject) -> T:
        run = filter_._run
        if run is not None and run.result is None and self.while_running:
            current = getattr(run, self.while_running)
            if current is not None:
                return cast("T", current)
        result = filter_._result
        if result is None:
            raise NotExecutedError(
                f"{self.name} is known only after Execute: call it first", owner=filter_.GetName()
            )
        if result.is_known(self):
            return self.value_in(result)
        with filter_._making_output():
            return self.value_in(result)

    def __set__(self, instance: ProcessObject, value: Any) -> None:
        raise AttributeError(f"{instance.GetName()}: {self.name} is read from the last result")

    def value_in(self, result: Result) -> T:
        """Return the value in a result."""
        value = result.measured(self)
        if isinstance(value, np.ndarray) and get_origin(self.type) is tuple:
            value = tuple(value.tolist())
        return cast("T", defensive_copy(value))


def parameters_of(cls: type) -> tuple[Parameter[Any], ...]:
    """Return a class's parameters in the order of declaration, its own before inherited ones."""
    return _declared(cls, Parameter)


def measurements_of(cls: type) -> tuple[Measurement[Any], ...]:
    """Return a class's measurements, its own before inherited ones."""
    return _declared(cls, Measurement)


def find_parameter(cls: type, spelled: str, owner: str) -> Parameter[Any]:
    """Find a parameter by its name in any spelling: MaximumIterations, maximum_iterations."""
    wanted = spelled.replace("_", "").replace("-", "").lower()
    for parameter in parameters_of(cls):
        if parameter.name.lower() == wanted:
            return parameter
    names = [parameter.keyword for parameter in parameters_of(cls)]
    near = get_close_matches(spelled[:1].lower() + spelled[1:], names, 1)
    # Suggest names in the caller's spelling: ForegroundValue for ForgroundValue.
    meant = [name[:1].upper() + name[1:] if spelled[:1].isupper() else name for name in near]
    hint = f"did you mean {meant[0]}? " if meant else ""
    raise ParameterError(
        f"there is no parameter '{spelled}'; {hint}known are {', '.join(names)}", owner=owner
    )


def settings_from(filter_: ProcessObject, settings: type[S], **given: Any) -> S:
    """Build an algorithm's settings, each field from the filter's parameter with the same name.

    Parameters
    ----------
    settings : dataclass
        Settings class, whose field maximum_iterations is filled from MaximumIterations, and so on.
    given
        Fields with other values; fields that are neither given nor parameters keep their default.
    """
    table = {parameter.snake_case: parameter for parameter in parameters_of(type(filter_))}
    names = [field.name for field in fields(settings) if field.name not in given]
    named = {name: table[name].__get__(filter_) for name in names if name in table}
    return settings(**named, **given)


def snake_case(name: str) -> str:
    """Convert by ITK's rule: MultiLabelSTAPLEImageFilter -> multi_label_staple_image_filter."""
    words = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", words).lower()


@cache
def _declared(cls: type, kind: type) -> tuple[Any, ...]:
    found: dict[str, Any] = {}
    for base in cls.__mro__:
        for name, member in vars(base).items():
            if isinstance(member, kind):
                found.setdefault(name, member)
    return tuple(found.values())


def attach(owner: type, name: str, function: Any, doc: str, static: bool = False) -> None:
    # A method that the class itself defines takes precedence.
    if name in vars(owner):
        return
    function.__name__ = name
    function.__qualname__ = f"{owner.__qualname__}.{name}"
    function.__module__ = owner.__module__
    function.__doc__ = doc
    setattr(owner, name, staticmethod(function) if static else function)
