"""What every filter shares with ITK's process objects: events, progress, abort, printing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import is_dataclass
from typing import Any, ClassVar

import numpy as np

from itk_consensus.errors import ParameterError, ProcessAborted
from itk_consensus.filters.kinds import Boolean, Integer, Real
from itk_consensus.filters.parameters import (
    Parameter,
    find_parameter,
    measurements_of,
    parameters_of,
)
from itk_consensus.labels.label_stack import default_threads

# SimpleITK's event numbers, which its users write as sitk.sitkIterationEvent.
ANY_EVENT = 0
ABORT_EVENT = 1
DELETE_EVENT = 2
END_EVENT = 3
ITERATION_EVENT = 4
PROGRESS_EVENT = 5
START_EVENT = 6
USER_EVENT = 7
_EVENTS = {
    ANY_EVENT: "AnyEvent",
    ABORT_EVENT: "AbortEvent",
    DELETE_EVENT: "DeleteEvent",
    END_EVENT: "EndEvent",
    ITERATION_EVENT: "IterationEvent",
    PROGRESS_EVENT: "ProgressEvent",
    START_EVENT: "StartEvent",
    USER_EVENT: "UserEvent",
    9: "MultiResolutionIterationEvent",
}


class ProcessObject:
    """Base of every filter. Not re-entrant: one Execute at a time for one object."""

    _global_coordinate_tolerance: ClassVar[float] = 1e-6
    _global_direction_tolerance: ClassVar[float] = 1e-6
    _global_threads: ClassVar[int | None] = None

    CoordinateTolerance: Parameter[float] = Parameter(
        Real(low=0.0),
        lambda _: ProcessObject._global_coordinate_tolerance,
        "Largest difference of origin or spacing between inputs, as a fraction of the spacing.",
        default_doc="1e-06",
    )
    DirectionTolerance: Parameter[float] = Parameter(
        Real(low=0.0),
        lambda _: ProcessObject._global_direction_tolerance,
        "Largest difference between elements of the inputs' direction matrices.",
        default_doc="1e-06",
    )
    NumberOfThreads: Parameter[int] = Parameter(
        Integer(1, 1024),
        lambda _: ProcessObject.GetGlobalDefaultNumberOfThreads(),
        "Threads of the compiled kernels; results never depend on it.",
        default_doc="all cores",
    )
    NumberOfWorkUnits: Parameter[int] = Parameter(
        Integer(0, 2**32 - 1),
        0,
        "Accepted for SimpleITK's sake; work is split by the number of threads.",
        in_cli=False,
    )
    Debug: Parameter[bool] = Parameter(
        Boolean(), False, "Print the filter before each Execute.", in_cli=False
    )

    def __init__(self, **parameters: Any) -> None:
        self._values: dict[str, Any] = {}
        self._measured: dict[str, Any] = {}
        self._commands: list[tuple[int, Callable[[], Any]]] = []
        self._progress = 0.0
        self._aborting = False
        for spelled, value in parameters.items():
            self._set(spelled, value)

    def _set(self, spelled: str, value: Any) -> None:
        parameter = find_parameter(type(self), spelled, self.GetName())
        if parameter.name in self._values:
            raise ParameterError(f"{self.GetName()}: {parameter.name} is given twice")
        getattr(self, f"Set{parameter.name}")(value)

    # -- identity ---------------------------------------------------------------------------

    def GetName(self) -> str:
        """The name of the filter's class."""
        return type(self).__name__

    def __str__(self) -> str:
        lines = [f"itk_consensus::{self.GetName()}"]
        lines += [f"  {p.name}: {_printed(p.__get__(self))}" for p in parameters_of(type(self))]
        lines += [
            f"  {m.name}: {_measured(self._measured[m.name])}"
            for m in measurements_of(type(self))
            if m.name in self._measured
        ]
        commands = ", ".join(_EVENTS[event] for event, _ in self._commands) or "(none)"
        return "\n".join([*lines, f"  Commands: {commands}", f"  Progress: {self._progress:g}", ""])

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={_printed(value)}" for name, value in self._values.items())
        return f"{self.GetName()}({given})"

    def __getstate__(self) -> dict[str, Any]:
        """Pickling keeps the parameters that are plain values, not images or callbacks."""
        plain = {k: v for k, v in self._values.items() if not _holds_image(v)}
        return {"values": plain}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__()  # type: ignore[misc]
        self._values.update(state["values"])

    # -- events -----------------------------------------------------------------------------

    def AddCommand(self, event: int, command: Any) -> int:
        """Call `command`, a callable or a SimpleITK Command, at each such event."""
        if isinstance(event, bool) or event not in _EVENTS:
            raise ParameterError(
                f"{self.GetName()}: AddCommand's event must be one of SimpleITK's event numbers "
                f"{sorted(_EVENTS)}, got {event!r}"
            )
        if not callable(command):
            execute = getattr(command, "Execute", None)
            if not callable(execute):
                raise ParameterError(
                    f"{self.GetName()}: AddCommand's command must be callable, got {command!r}"
                )
            command = execute
        self._commands.append((int(event), command))
        return len(self._commands) - 1

    def HasCommand(self, event: int) -> bool:
        """Whether a command waits for this event."""
        return any(of == event for of, _ in self._commands)

    def RemoveAllCommands(self) -> None:
        """Forget every command."""
        self._commands.clear()

    def _invoke(self, event: int) -> None:
        for of, command in list(self._commands):
            if of in (event, ANY_EVENT):
                command()

    def GetProgress(self) -> float:
        """How much of Execute is done, from 0 to 1."""
        return self._progress

    def _report(self, progress: float) -> None:
        """Move the progress, tell the observers, and stop here if they asked for it."""
        self._progress = progress
        self._invoke(PROGRESS_EVENT)
        if self._aborting and progress < 1.0:
            raise ProcessAborted(f"{self.GetName()}: aborted before there was an answer")

    def _after_iteration(self, _number: int) -> bool:
        """Observer of EM loops: tells the commands, and whether to go on."""
        self._invoke(ITERATION_EVENT)
        return not self._aborting

    def Abort(self) -> None:
        """Stop at the next chance. During iterations the current estimate is still returned."""
        self._aborting = True

    @contextmanager
    def _running(self) -> Iterator[None]:
        if self.Debug:
            print(self)
        self._measured.clear()
        self._aborting = False
        self._progress = 0.0
        self._invoke(START_EVENT)
        try:
            yield
        except ProcessAborted:
            self._invoke(ABORT_EVENT)
            raise
        self._progress = 1.0
        self._invoke(PROGRESS_EVENT)
        self._invoke(END_EVENT)

    def _tolerances(self) -> dict[str, float]:
        return {
            "coordinate_tolerance": self.CoordinateTolerance,
            "direction_tolerance": self.DirectionTolerance,
        }

    # -- SimpleITK's small change ----------------------------------------------------------

    def DebugOn(self) -> None:
        """Set Debug to True."""
        self.Debug = True

    def DebugOff(self) -> None:
        """Set Debug to False."""
        self.Debug = False

    @staticmethod
    def SetGlobalDefaultCoordinateTolerance(tolerance: float) -> None:
        """Set the CoordinateTolerance of every filter that has none of its own."""
        checked = ProcessObject.CoordinateTolerance.check("ProcessObject", tolerance)
        ProcessObject._global_coordinate_tolerance = checked

    @staticmethod
    def GetGlobalDefaultCoordinateTolerance() -> float:
        """The CoordinateTolerance of filters that have none of their own."""
        return ProcessObject._global_coordinate_tolerance

    @staticmethod
    def SetGlobalDefaultDirectionTolerance(tolerance: float) -> None:
        """Set the DirectionTolerance of every filter that has none of its own."""
        checked = ProcessObject.DirectionTolerance.check("ProcessObject", tolerance)
        ProcessObject._global_direction_tolerance = checked

    @staticmethod
    def GetGlobalDefaultDirectionTolerance() -> float:
        """The DirectionTolerance of filters that have none of their own."""
        return ProcessObject._global_direction_tolerance

    @staticmethod
    def SetGlobalDefaultNumberOfThreads(threads: int) -> None:
        """Set the NumberOfThreads of every filter that has none of its own."""
        ProcessObject._global_threads = ProcessObject.NumberOfThreads.check(
            "ProcessObject", threads
        )

    @staticmethod
    def GetGlobalDefaultNumberOfThreads() -> int:
        """The NumberOfThreads of filters that have none of their own."""
        return ProcessObject._global_threads or default_threads()


def _measured(value: Any) -> str:
    """A measurement, which may be an array or a record too large to print."""
    if isinstance(value, np.ndarray):
        return f"array of shape {value.shape}"
    return f"({type(value).__name__})" if is_dataclass(value) else _printed(value)


def _printed(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, tuple):
        return "[" + ", ".join(_printed(member) for member in value) + "]"
    if _holds_image(value):
        return "(image)"
    return repr(value) if isinstance(value, ProcessObject) else str(value)


def _holds_image(value: Any) -> bool:
    if isinstance(value, tuple):
        return any(_holds_image(member) for member in value)
    return not isinstance(value, (int, float, str, bool, dict, ProcessObject, type(None)))
