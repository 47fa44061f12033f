"""ProcessObject, the base class of all filters, as in ITK: events, progress, Abort, printing."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from copy import copy
from dataclasses import fields, is_dataclass
from functools import partial, wraps
from threading import get_ident
from types import MethodType
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np

from itk_consensus.core.constraints import Boolean, Choice, Integer, Real
from itk_consensus.core.descriptions import FilterClass
from itk_consensus.core.display import Displayed
from itk_consensus.core.errors import (
    ConsensusWarning,
    NotExecutedError,
    ParameterError,
    ProcessAborted,
)
from itk_consensus.core.global_defaults import KEPT_METADATA, GlobalDefaults, Threads
from itk_consensus.core.parameters import (
    Measurement,
    Parameter,
    find_parameter,
    measurements_of,
    parameters_of,
)
from itk_consensus.core.results import Result
from itk_consensus.core.runs import Latest, Run, Runs
from itk_consensus.core.work import working

#: Event numbers of SimpleITK, such as sitk.sitkIterationEvent.
ANY_EVENT = 0
ABORT_EVENT = 1
DELETE_EVENT = 2
END_EVENT = 3
ITERATION_EVENT = 4
PROGRESS_EVENT = 5
START_EVENT = 6
_NAMES = ("Any", "Abort", "Delete", "End", "Iteration", "Progress", "Start", "User")
EVENTS = {number: f"{name}Event" for number, name in enumerate(_NAMES)}
EVENTS[9] = "MultiResolutionIterationEvent"


T = TypeVar("T")
P = TypeVar("P", bound="ProcessObject")
Arguments = ParamSpec("Arguments")

#: An event, and the command to be called when it occurs.
Command = tuple[int, Callable[[], Any]]


class ProcessObject(Displayed, Runs, GlobalDefaults, metaclass=FilterClass):
    """Base class of all filters. Several threads may call Execute of one object concurrently."""

    CoordinateTolerance = Parameter(
        Real(low=0.0),
        lambda filter_: filter_.GlobalDefaultCoordinateTolerance,
        "Largest difference of origin or spacing between inputs, as a fraction of the spacing.",
        default_doc="1e-06",
    )
    DirectionTolerance = Parameter(
        Real(low=0.0),
        lambda filter_: filter_.GlobalDefaultDirectionTolerance,
        "Largest difference between elements of the inputs' direction matrices.",
        default_doc="1e-06",
    )
    NumberOfThreads = Threads(
        Integer(0, 1024),
        lambda filter_: filter_.GlobalDefaultNumberOfThreads,
        "Threads of the compiled kernels, 0 being the default; results never depend on it.",
        default_doc="all cores",
    )
    NumberOfWorkUnits = Parameter(
        Integer(0, 2**32 - 1),
        0,
        "Accepted for compatibility with SimpleITK; NumberOfThreads decides how work is split.",
        in_cli=False,
    )
    KeepMetaData = Parameter(
        Choice(KEPT_METADATA),
        lambda filter_: filter_.GlobalDefaultKeepMetaData,
        "What outputs keep of the first input's metadata: nothing, what describes the grid, all "
        "but what can identify a person, or everything, patients' names included; geometry is "
        "always kept.",
        default_doc="all_but_identity",
    )
    Debug = Parameter(
        Boolean(),
        lambda filter_: filter_.GlobalDefaultDebug,
        "Print the filter before each Execute.",
        default_doc="False",
        in_cli=False,
    )

    def __init__(self, **parameters: Any) -> None:
        self._commands: list[Command] = []
        self._values: dict[str, Any] = {}
        super().__init__()
        for spelled, value in parameters.items():
            self._set(spelled, value)

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name.startswith("_") or hasattr(type(self), name)):
            meant = find_parameter(type(self), name, self.GetName())
            raise ParameterError(
                f"there is no attribute '{name}'; did you mean {meant.name}?", owner=self.GetName()
            )
        super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return [*dir(type(self)), *vars(self)]

    def _set(self, spelled: str, value: Any) -> None:
        parameter = find_parameter(type(self), spelled, self.GetName())
        if parameter.name in self._values:
            raise ParameterError(
                f"{parameter.name} is given twice: give it in one spelling", owner=self.GetName()
            )
        getattr(self, f"Set{parameter.name}")(value)

    def GetName(self) -> str:
        """Return the name of the filter's class."""
        return type(self).__name__

    def __str__(self) -> str:
        lines = [f"itk_consensus::{self.GetName()}"]
        lines += [f"  {p.name}: {format_value(p.__get__(self))}" for p in parameters_of(type(self))]
        result = self._result
        if isinstance(result, Result):
            lines += [
                f"  {m.name}: {self._measurement_text(m, result)}"
                for m in measurements_of(type(self))
            ]
        commands = ", ".join(EVENTS[event] for event, _ in self._commands) or "(none)"
        return "\n".join(
            [*lines, f"  Commands: {commands}", f"  Progress: {self.GetProgress():g}", ""]
        )

    def _measurement_text(self, measurement: Measurement[Any], result: Result) -> str:
        """Format a measurement on one line: the shape of an array, or the fields of a record."""
        if result.reads_inputs:
            return "(computed on demand)"
        return _summarize(measurement.value_of(self))

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={format_value(value)}" for name, value in self._values.items())
        return f"{self.GetName()}({given})"

    def __getstate__(self) -> dict[str, Any]:
        """Return the state of copies and pickles: all parameters, images included, and no more."""
        return {"values": dict(self._values)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__()  # type: ignore[misc]
        self._values.update(state["values"])

    # -- events and progress ----------------------------------------------------------------

    def AddCommand(self, event: int, command: Any) -> int:
        """Register a command, a callable or a SimpleITK Command, to be called at this event."""
        if isinstance(event, bool) or event not in EVENTS:
            raise ParameterError(
                f"AddCommand's event must be one of SimpleITK's event numbers "
                f"{sorted(EVENTS)}, got {event!r}",
                owner=self.GetName(),
            )
        if not callable(command):
            execute = getattr(command, "Execute", None)
            if not callable(execute):
                raise ParameterError(
                    f"AddCommand's command must be callable, got {command!r}", owner=self.GetName()
                )
            command = execute
        self._commands.append((int(event), command))
        return len(self._commands) - 1

    def HasCommand(self, event: int) -> bool:
        """Return whether a command is registered for this event."""
        return any(of == event for of, _ in self._commands)

    def RemoveAllCommands(self) -> None:
        """Remove all commands."""
        self._commands.clear()

    def _invoke(self, event: int) -> None:
        for of, command in list(self._commands):
            if of in (event, ANY_EVENT):
                try:
                    command()
                except NotExecutedError as error:
                    # A command that reads an output too early must not stop the run.
                    self._warn(f"a command of {EVENTS[event]} raised and was ignored: {error}")

    def GetProgress(self) -> float:
        """Return the progress of Execute, from 0 to 1.

        If several threads are running, this is the progress of the latest one.
        """
        own, running = self._run, list(self._runs.values())
        if own is None and not running:
            return self._latest.progress
        return (own or running[-1]).progress

    def GetResult(self) -> Any:
        """Return the immutable result of the last Execute."""
        return self._require_executed(self._result)

    def _move(self, run: Run, progress: float) -> None:
        run.progress = max(run.progress, progress)  # Repeated work must not decrease the progress
        self._invoke(PROGRESS_EVENT)

    def _checkpoint(self, run: Run) -> None:
        """Raise after Abort, also in worker threads, unless the result is being finished."""
        if run.is_aborting and not run.is_answering:
            # Raise only once: a loop that has an estimate catches the exception, and the result is
            # finished.
            run.is_answering = True
            raise ProcessAborted("aborted before there was a result", owner=self.GetName())

    def _should_continue(self, run: Run) -> bool:
        """Return whether a loop should continue; called once per iteration."""
        stop = run.is_aborting
        run.is_answering |= stop
        return not stop

    def _after_iteration(self, run: Run, number: int) -> bool:
        """Call the commands after an iteration in any thread; return whether to continue."""
        run.iterations = number  # set first, since commands may read it
        self._invoke(ITERATION_EVENT)
        return self._should_continue(run)

    def Abort(self) -> None:
        """Stop as soon as possible; during iterations, the current estimate is still returned.

        If called from a command, this stops the Execute of that command, otherwise all running
        ones. Outputs that are computed later can also be aborted, without losing the result.
        """
        own = self._runs.get(get_ident())
        for run in [own] if own is not None else list(self._runs.values()):
            run.is_aborting = True

    @contextmanager
    def _running(self) -> Iterator[Run]:
        if self.Debug:
            print(self)
        run = Run()
        try:
            with self._seeing(run):
                try:
                    self._invoke(START_EVENT)
                    with self._work(run):
                        yield run
                except BaseException as error:
                    if isinstance(error, ProcessAborted):
                        self._invoke(ABORT_EVENT)
                    # Drop the previous result, so that it is not mistaken for that of this Execute.
                    self._latest = Latest(progress=run.progress)
                    raise
                self._latest = Latest(run.result, 1.0)
                self._move(run, 1.0)
                self._invoke(END_EVENT)
        finally:
            # As in SimpleITK, which deletes its ITK filter after each Execute.
            self._invoke(DELETE_EVENT)

    @contextmanager
    def _making_output(self) -> Iterator[None]:
        """Provide the context for computing a later output, or a part of this thread's Execute."""
        if self._run is not None:
            yield
            return
        run = Run(self._result)
        with self._seeing(run):
            try:
                # Iterations for a later output do not count as iterations of Execute.
                with self._work(run), working(on_iteration=lambda _: self._should_continue(run)):
                    yield
            except ProcessAborted:
                self._invoke(ABORT_EVENT)
                raise
            self._move(run, 1.0)

    def _work(self, run: Run) -> AbstractContextManager[None]:
        """Return the context in which algorithms and kernels work during a run of this filter."""
        return working(
            threads=self.NumberOfThreads,
            owner=self.GetName(),
            begin=0.0,
            end=1.0,
            on_progress=partial(self._move, run),
            on_iteration=partial(self._after_iteration, run),
            abort_check=partial(self._checkpoint, run),
        )

    def _require_executed(self, output: T | None) -> T:
        """Return `output`, or raise if Execute has not been called."""
        if output is None:
            raise NotExecutedError(
                "outputs are known only after Execute: call it first", owner=self.GetName()
            )
        return output

    def _parameter_error(self, parameter: str, problem: str, *mentions: str) -> ParameterError:
        """Build the error for a parameter's value; `problem` refers to `mentions` as ``{Name}``."""
        return ParameterError(problem, owner=self.GetName(), parameter=parameter, mentions=mentions)

    def _warn(self, message: str) -> None:
        """Issue a warning, unless warnings are off, at the calling line outside this package."""
        if not self.GlobalWarningDisplay:
            return
        level, frame = 1, sys._getframe()
        while frame.f_back is not None and _is_ours(frame.f_globals.get("__name__", "")):
            level, frame = level + 1, frame.f_back
        warnings.warn(f"{self.GetName()}: {message}", ConsensusWarning, stacklevel=level)

    def _clone_sharing_runs(
        self: P, parameters: Mapping[str, Any], commands: Sequence[Command] = ()
    ) -> P:
        """Return a copy with other parameters that shares the runs (progress, Abort, result)."""
        worker = type(self)()
        worker._values = {**self._values, **parameters}
        worker._commands = [*self._commands, *commands]
        worker._runs = self._runs
        return worker

    def images_among_parameters(self) -> dict[tuple[str, int | None], Any]:
        """Return all images among the parameters, by name and, within a list, by index."""
        images: dict[tuple[str, int | None], Any] = {}
        for name, value in self._values.items():
            listed = isinstance(value, tuple)
            members = dict(enumerate(value)) if listed else {None: value}
            if any(hasattr(member, "shape") for member in members.values()):
                images |= {(name, i): one for i, one in members.items() if one is not None}
        return images

    def without_images(self: P) -> P:
        """Return a copy without the images among the parameters, which is cheap to pickle."""
        bare = copy(self)
        for name in [name for name, value in bare._values.items() if holds_image(value)]:
            del bare._values[name]
        return bare

    def with_images(self: P, images: Mapping[tuple[str, int | None], Any], raters: int) -> P:
        """Return a copy with other images, such as those of a chunk; lists have one per rater."""
        part = self.without_images()
        for (name, index), image in images.items():
            members = tuple(images.get((name, rater)) for rater in range(raters))
            part._values[name] = image if index is None else members
        return part

    def _tolerances(self) -> dict[str, Any]:
        return {
            "coordinate_tolerance": self.CoordinateTolerance,
            "direction_tolerance": self.DirectionTolerance,
        }

    def _loading_options(self) -> dict[str, Any]:
        """Return options for loading the inputs that define the outputs' geometry."""
        return {**self._tolerances(), "keep": self.KeepMetaData}

    # -- SimpleITK's short forms -----------------------------------------------------------

    def DebugOn(self) -> None:
        """Set Debug to True."""
        self.Debug = True

    def DebugOff(self) -> None:
        """Set Debug to False."""
        self.Debug = False


def output_method(
    method: Callable[Concatenate[P, Arguments], T],
) -> Callable[Concatenate[P, Arguments], T]:
    """Decorate methods that compute an output later, with progress and Abort as in Execute."""

    @wraps(method)
    def make(filter_: P, /, *args: Arguments.args, **options: Arguments.kwargs) -> T:
        with filter_._making_output():
            return method(filter_, *args, **options)

    return make


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] == __name__.partition(".")[0]


class on_class_or_instance(classmethod):  # type: ignore[type-arg]  # noqa: N801
    """A method that creates a new instance if it is called on the class.

    ``Filter.Load(path)`` creates a filter; ``filter.Load(path)`` changes an existing one.
    """

    def __init__(self, method: Callable[..., Any]) -> None:
        super().__init__(method)

    def __get__(self, instance: Any, owner: type | None = None) -> Callable[..., Any]:
        of = instance if instance is not None else owner() if owner else None
        return MethodType(self.__func__, of)


def _summarize(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"array of shape {value.shape}"
    if not is_dataclass(value):
        return format_value(value)
    names = [one.name for one in fields(value) if one.repr]
    shown = ", ".join(f"{name}={_summarize(getattr(value, name))}" for name in names)
    return f"{type(value).__name__}({shown})"


def format_value(value: Any) -> str:
    """Format a parameter's value, with a placeholder for images."""
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, tuple):
        return "[" + ", ".join(format_value(member) for member in value) + "]"
    if holds_image(value):
        return "(image)"
    return repr(value) if isinstance(value, Runs) else str(value)


def holds_image(value: Any) -> bool:
    """Return whether a parameter's value is an image or contains one."""
    if isinstance(value, tuple):
        return any(holds_image(member) for member in value)
    return not isinstance(value, (int, float, str, bool, dict, Runs, type(None)))
