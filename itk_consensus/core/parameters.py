"""Parameters and measurements, declared once as class attributes.

``MaximumIterations = Parameter(Integer(low=1), 100, "...")`` in a filter class gives it
SetMaximumIterations and GetMaximumIterations, a keyword in the function forms, an option of the
command line, a line in the stub file and a row in the README.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from copy import deepcopy
from dataclasses import fields
from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast, get_origin, overload

import numpy as np

from itk_consensus.core.constraints import BeyondRange, Kind, number_in, shown
from itk_consensus.core.errors import NotExecutedError, ParameterError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from itk_consensus.core.process_object import ProcessObject
    from itk_consensus.core.results import Result


T = TypeVar("T")
S = TypeVar("S", bound="DataclassInstance")
D = TypeVar("D", bound="_Declared[Any]")


def handed_out(value: T) -> T:
    """A copy of a filter's value, so that writing into it does not change the filter."""
    return value if isinstance(value, (int, float, str, type(None))) else deepcopy(value)


class _Declared(Generic[T]):
    """A class attribute of which each filter has a value, with a Get method."""

    name = ""
    doc: str

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

        def getter(filter_: ProcessObject) -> Any:
            return self.value_of(filter_)

        attach(owner, f"Get{name}", getter, self.doc)

    def value_of(self, filter_: ProcessObject) -> T:
        """What a filter has."""
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
        What is accepted.
    default : T or callable
        The value until one is set. A callable is asked each time with the filter, so a default can
        follow another parameter; whatever was set explicitly wins.
    doc : str
        One sentence for users.
    default_doc : str
        How documentation shows a default that is computed or unwieldy.
    in_cli : bool
        Whether the command line offers it.
    can_be_unset : bool
        Whether there are the methods Unset and GetHas that ITK's filter of this name has.
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
        def setter(filter_: ProcessObject, value: Any) -> None:
            self.__set__(filter_, value)

        def unset(filter_: ProcessObject) -> None:
            filter_._values.pop(name, None)

        def is_set(filter_: ProcessObject) -> bool:
            return name in filter_._values

        attach(owner, f"Set{name}", setter, self.doc)
        if self.can_be_unset:
            attach(owner, f"Unset{name}", unset, f"Take {name} back to its default.")
            attach(owner, f"GetHas{name}", is_set, f"Whether {name} was set.")
        super().__set_name__(owner, name)

    def value_of(self, filter_: ProcessObject) -> T:
        if self.name in filter_._values:
            value: T = filter_._values[self.name]
            # What the caller gave, images say, stays the caller's; a table was made by us.
            return handed_out(value) if isinstance(value, dict) else value
        return self.default(filter_) if callable(self.default) else self.default

    def __set__(self, instance: ProcessObject, value: Any) -> None:
        instance._values[self.name] = self.check(instance.GetName(), value)

    def check(self, owner: str, value: Any) -> T:
        """Return the accepted value or raise the one message every filter uses."""
        try:
            return self.kind.accept(number_in(value))
        except (TypeError, ValueError) as error:
            wanted = error if isinstance(error, BeyondRange) else self.kind.wanted
            raise ParameterError(
                f"must be {wanted}, got {shown(value)}", owner=owner, parameter=self.name
            ) from None

    @property
    def keyword(self) -> str:
        """SimpleITK's spelling of the keyword: maximumIterations."""
        return self.name[0].lower() + self.name[1:]

    @property
    def snake_case(self) -> str:
        """itk's spelling of the keyword: maximum_iterations."""
        return snake_case(self.name)

    @property
    def default_text(self) -> str:
        """The default as documentation shows it."""
        if self.default_doc is not None:
            return self.default_doc
        return str(self.default)


class Measurement(_Declared[T]):
    """A value that Execute leaves behind, with a Get method.

    Parameters
    ----------
    type_ : type
        Of the value. Of an array that is read as a tuple, the tuple's.
    doc : str
        One sentence for users.
    read : str or callable
        Where it stands in what Execute made, such as "estimate.theta"; or a function of it, which
        is asked once.
    one_of : type, optional
        Of one rater's value, if the Get method also takes a rater's number, as itk's does.
    while_running : str, optional
        The field of `Run` that tells it to commands while Execute is under way.
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
        def getter(filter_: ProcessObject, rater: int | None = None) -> Any:
            values: Any = self.value_of(filter_)
            if rater is None:
                return values
            if not 0 <= rater < len(values):
                last = len(values) - 1
                raise IndexError(f"{filter_.GetName()}: rater must be 0 to {last}, got {rater}")
            return values[rater]

        if self.one_of is not None:
            attach(owner, f"Get{name}", getter, self.doc)
        super().__set_name__(owner, name)

    def value_of(self, filter_: ProcessObject) -> T:
        run = filter_._run
        if run is not None and run.result is None and self.while_running:
            shown = getattr(run, self.while_running)
            if shown is not None:
                return cast("T", shown)
        result = filter_._result
        if result is None:
            raise NotExecutedError(
                f"{self.name} is known only after Execute", owner=filter_.GetName()
            )
        if result.is_known(self):
            return self.value_in(result)
        with filter_._making_output():
            return self.value_in(result)

    def __set__(self, instance: ProcessObject, value: Any) -> None:
        raise AttributeError(f"{instance.GetName()}: {self.name} is read from the last result")

    def value_in(self, result: Result) -> T:
        """What a result says."""
        value = result.measured(self)
        if isinstance(value, np.ndarray) and get_origin(self.type) is tuple:
            value = tuple(value.tolist())
        return cast("T", handed_out(value))


def parameters_of(cls: type) -> tuple[Parameter[Any], ...]:
    """A class's parameters, its own before those it inherits, in the order of declaration."""
    return _declared(cls, Parameter)


def measurements_of(cls: type) -> tuple[Measurement[Any], ...]:
    """A class's measurements, its own before those it inherits."""
    return _declared(cls, Measurement)


def find_parameter(cls: type, spelled: str, owner: str) -> Parameter[Any]:
    """The parameter meant by MaximumIterations, maximumIterations or maximum_iterations."""
    wanted = spelled.replace("_", "").replace("-", "").lower()
    for parameter in parameters_of(cls):
        if parameter.name.lower() == wanted:
            return parameter
    names = [parameter.keyword for parameter in parameters_of(cls)]
    near = get_close_matches(spelled[:1].lower() + spelled[1:], names, 1)
    # In the spelling of who asks: ForgroundValue is answered with ForegroundValue.
    meant = [name[:1].upper() + name[1:] if spelled[:1].isupper() else name for name in near]
    hint = f"did you mean {meant[0]}? " if meant else ""
    raise ParameterError(
        f"there is no parameter '{spelled}'; {hint}known are {', '.join(names)}", owner=owner
    )


def settings_from(filter_: ProcessObject, settings: type[S], **given: Any) -> S:
    """An algorithm's settings, each field taken from the filter's parameter of the same name.

    Parameters
    ----------
    settings : dataclass
        Its field maximum_iterations is filled from MaximumIterations, and so on.
    given
        Fields to set otherwise; those neither given nor among the parameters keep their default.
    """
    table = {parameter.snake_case: parameter for parameter in parameters_of(type(filter_))}
    names = [field.name for field in fields(settings) if field.name not in given]
    named = {name: table[name].__get__(filter_) for name in names if name in table}
    return settings(**named, **given)


def snake_case(name: str) -> str:
    """itk's rule: MultiLabelSTAPLEImageFilter -> multi_label_staple_image_filter."""
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
    # A method written out in the class itself wins over the derived one.
    if name in vars(owner):
        return
    function.__name__ = name
    function.__qualname__ = f"{owner.__qualname__}.{name}"
    function.__doc__ = doc
    setattr(owner, name, staticmethod(function) if static else function)
