"""Global defaults of all filters, with SimpleITK's static functions."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar, Generic, TypeVar

from itk_consensus.core.constraints import Boolean, Choice, Integer, Kind, Real
from itk_consensus.core.parameters import Parameter, attach

T = TypeVar("T")

#: How much metadata outputs keep: the values of `images.kept_metadata.Keep`.
KEPT_METADATA = ("nothing", "description", "all_but_identity", "everything")


class GlobalValue(Generic[T]):
    """A global default, with SimpleITK's static functions Set and Get, On and Off."""

    def __init__(self, kind: Kind[T], doc: str, ours: T | None = None) -> None:
        self.kind = kind
        self.doc = doc
        self.ours = ours  #: The value until it is set; None: SimpleITK's value
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

        def getter() -> Any:
            return self.__get__(None)

        def setter(value: Any) -> None:
            named = Parameter(self.kind, value, self.doc)
            named.name = name.removeprefix("GlobalDefault")
            GlobalDefaults._global_defaults[name] = named.check("ProcessObject", value)

        getter.__annotations__["return"] = setter.__annotations__["value"] = self.kind.annotation
        attach(owner, f"Get{name}", getter, self.doc, static=True)
        attach(owner, f"Set{name}", setter, self.doc, static=True)
        if isinstance(self.kind, Boolean):
            attach(owner, f"{name}On", partial(setter, True), f"Set{name}(True).", static=True)
            attach(owner, f"{name}Off", partial(setter, False), f"Set{name}(False).", static=True)

    def __get__(self, instance: Any, owner: type | None = None) -> T:
        from itk_consensus.images.families.simpleitk_family import (
            simpleitk_default,  # imported lazily
        )

        given = GlobalDefaults._global_defaults.get(self.name, self.ours)
        value: T = simpleitk_default(self.name) if given is None else given
        return value


class GlobalDefaults:
    """Global defaults of filter parameters: those of this package if set, otherwise SimpleITK's.

    ``sitk.ProcessObject.SetGlobalDefaultCoordinateTolerance(1e-3)`` also applies to filters of this
    package; the function of the same name in this class applies only to filters of this package,
    and takes precedence.
    """

    _global_defaults: ClassVar[dict[str, Any]] = {}

    GlobalDefaultCoordinateTolerance = GlobalValue(
        Real(low=0.0), "The CoordinateTolerance of filters that have none of their own."
    )
    GlobalDefaultDirectionTolerance = GlobalValue(
        Real(low=0.0), "The DirectionTolerance of filters that have none of their own."
    )
    GlobalDefaultNumberOfThreads = GlobalValue(
        Integer(1, 1024), "The NumberOfThreads of filters that have none of their own."
    )
    GlobalDefaultThreader = GlobalValue(
        Choice(("Platform", "Pool", "TBB")),
        "ITK's multi-threader, for scripts that set it; filters of this package have threads of "
        "their own, and their answers depend on neither.",
    )
    GlobalDefaultKeepMetaData = GlobalValue(
        Choice(KEPT_METADATA),
        "The KeepMetaData of filters that have none of their own.",
        "all_but_identity",
    )
    GlobalDefaultDebug = GlobalValue(Boolean(), "The Debug of filters that have none of their own.")
    GlobalWarningDisplay = GlobalValue(
        Boolean(), "Whether filters warn; GetDiagnostics() has it all in any case."
    )


class Threads(Parameter[int]):
    """A number of threads; 0 means the default, as in SimpleITK."""

    def value_of(self, filter_: Any) -> int:
        return super().value_of(filter_) or filter_.GlobalDefaultNumberOfThreads
