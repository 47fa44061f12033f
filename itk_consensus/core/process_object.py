"""What every filter shares with ITK's process objects: events, progress, abort, printing."""

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

#: SimpleITK's numbers, which its users write as sitk.sitkIterationEvent.
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

#: A command, and the event it waits for.
Command = tuple[int, Callable[[], Any]]


class ProcessObject(Displayed, Runs, GlobalDefaults):
    """Base of every filter. Many threads may call Execute of one object at the same time."""

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

    def _set(self, spelled: str, value: Any) -> None:
        parameter = find_parameter(type(self), spelled, self.GetName())
        if parameter.name in self._values:
            raise ParameterError(f"{parameter.name} is given twice", owner=self.GetName())
        getattr(self, f"Set{parameter.name}")(value)

    def GetName(self) -> str:
        """The name of the filter's class."""
        return type(self).__name__

    def __str__(self) -> str:
        lines = [f"itk_consensus::{self.GetName()}"]
        lines += [f"  {p.name}: {printed(p.__get__(self))}" for p in parameters_of(type(self))]
        result = self._result
        if isinstance(result, Result):
            lines += [f"  {m.name}: {self._told(m, result)}" for m in measurements_of(type(self))]
        commands = ", ".join(EVENTS[event] for event, _ in self._commands) or "(none)"
        return "\n".join(
            [*lines, f"  Commands: {commands}", f"  Progress: {self.GetProgress():g}", ""]
        )

    def _told(self, measurement: Measurement[Any], result: Result) -> str:
        """A measurement in a line; of arrays the shape, and of records the fields."""
        if result.reads_inputs:
            return "(computed when asked for)"
        return _in_short(measurement.value_of(self))

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={printed(value)}" for name, value in self._values.items())
        return f"{self.GetName()}({given})"

    def __getstate__(self) -> dict[str, Any]:
        """A copy, or a pickle, has every parameter, images too; no commands and no results."""
        return {"values": dict(self._values)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__()  # type: ignore[misc]
        self._values.update(state["values"])

    # -- events and progress ----------------------------------------------------------------

    def AddCommand(self, event: int, command: Any) -> int:
        """Call `command`, a callable or a SimpleITK Command, at each such event."""
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
        """Whether a command waits for this event."""
        return any(of == event for of, _ in self._commands)

    def RemoveAllCommands(self) -> None:
        """Forget every command."""
        self._commands.clear()

    def _invoke(self, event: int) -> None:
        for of, command in list(self._commands):
            if of in (event, ANY_EVENT):
                try:
                    command()
                except NotExecutedError as error:
                    # Who asks too early gets no answer, but need not lose the whole run for it.
                    self._warn(f"a command of {EVENTS[event]} was cut short: {error}")

    def GetProgress(self) -> float:
        """How much of Execute is done, from 0 to 1; the youngest, if threads are at several."""
        own, running = self._run, list(self._runs.values())
        if own is None and not running:
            return self._latest.progress
        return (own or running[-1]).progress

    def GetResult(self) -> Any:
        """What the last Execute made: a value that later ones do not change."""
        return self._made(self._result)

    def _move(self, run: Run, progress: float) -> None:
        run.progress = max(run.progress, progress)  # what is done once more was counted before
        self._invoke(PROGRESS_EVENT)

    def _checkpoint(self, run: Run) -> None:
        """Stop the work on Abort, unless it is on an answer; also in threads that help a run."""
        if run.is_aborting and not run.is_answering:
            # Raised once: where a loop has an estimate to go by, what follows makes it an answer.
            run.is_answering = True
            raise ProcessAborted("aborted before there was an answer", owner=self.GetName())

    def _goes_on(self, run: Run) -> bool:
        """Whether a loop goes on; asked once an iteration, for Abort may come at any time."""
        stop = run.is_aborting
        run.is_answering |= stop
        return not stop

    def _after_iteration(self, run: Run, number: int) -> bool:
        """Observer of loops, in whichever thread: tells the commands, and whether to go on."""
        run.iterations = number  # commands may ask for it already
        self._invoke(ITERATION_EVENT)
        return self._goes_on(run)

    def Abort(self) -> None:
        """Stop at the next chance. During iterations the current estimate is still returned.

        From a command it stops the Execute that called it, otherwise every running one. Outputs
        that are made later can be aborted, too; the Execute's other results stay.
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
                    # Nothing of an earlier one that could be taken for it.
                    self._latest = Latest(progress=run.progress)
                    raise
                self._latest = Latest(run.result, 1.0)
                self._move(run, 1.0)
                self._invoke(END_EVENT)
        finally:
            # SimpleITK makes an ITK filter for each Execute, which is deleted after it.
            self._invoke(DELETE_EVENT)

    @contextmanager
    def _making_output(self) -> Iterator[None]:
        """Make an output of the last Execute, or a part of the one that this thread is in."""
        if self._run is not None:
            yield
            return
        run = Run(self._result)
        with self._seeing(run):
            try:
                # Whatever iterates for it is not what Execute's iterations are counted by.
                with self._work(run), working(iterated=lambda _: self._goes_on(run)):
                    yield
            except ProcessAborted:
                self._invoke(ABORT_EVENT)
                raise
            self._move(run, 1.0)

    def _work(self, run: Run) -> AbstractContextManager[None]:
        """Have algorithms and kernels work for a run of this filter."""
        return working(
            threads=self.NumberOfThreads,
            owner=self.GetName(),
            begin=0.0,
            end=1.0,
            moved=partial(self._move, run),
            iterated=partial(self._after_iteration, run),
            ask=partial(self._checkpoint, run),
        )

    def _made(self, output: T | None) -> T:
        """What the last Execute left behind, if there was one."""
        if output is None:
            raise NotExecutedError("outputs are known only after Execute", owner=self.GetName())
        return output

    def _wrong(self, parameter: str, problem: str, *mentions: str) -> ParameterError:
        """The error about the value of a parameter; others are mentioned as ``{Name}``."""
        return ParameterError(problem, owner=self.GetName(), parameter=parameter, mentions=mentions)

    def _warn(self, message: str) -> None:
        """Warn, unless warnings are off, at the line outside this package that led here."""
        if not self.GlobalWarningDisplay:
            return
        level, frame = 1, sys._getframe()
        while frame.f_back is not None and _is_ours(frame.f_globals.get("__name__", "")):
            level, frame = level + 1, frame.f_back
        warnings.warn(f"{self.GetName()}: {message}", ConsensusWarning, stacklevel=level)

    def _lent(self: P, parameters: Mapping[str, Any], commands: Sequence[Command] = ()) -> P:
        """A filter that works for this one with other parameters: its runs are this one's, too."""
        worker = type(self)()
        worker._values = {**self._values, **parameters}
        worker._commands = [*self._commands, *commands]
        worker._runs = self._runs
        return worker

    def images_among_parameters(self) -> dict[tuple[str, int | None], Any]:
        """Every array among the parameters, by the parameter's name and, in a list, the place."""
        images: dict[tuple[str, int | None], Any] = {}
        for name, value in self._values.items():
            listed = isinstance(value, tuple)
            members = dict(enumerate(value)) if listed else {None: value}
            if any(hasattr(member, "shape") for member in members.values()):
                images |= {(name, i): one for i, one in members.items() if one is not None}
        return images

    def without_images(self: P) -> P:
        """A copy that lacks the images among the parameters, to be sent where nobody needs them."""
        bare = copy(self)
        for name in [name for name, value in bare._values.items() if holds_image(value)]:
            del bare._values[name]
        return bare

    def with_images(self: P, images: Mapping[tuple[str, int | None], Any], raters: int) -> P:
        """A copy whose images are these, of one chunk say; lists have one for each rater."""
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

    def _loading(self) -> dict[str, Any]:
        """How inputs are read whose geometry outputs have."""
        return {**self._tolerances(), "keep": self.KeepMetaData}

    # -- SimpleITK's small change ----------------------------------------------------------

    def DebugOn(self) -> None:
        """Set Debug to True."""
        self.Debug = True

    def DebugOff(self) -> None:
        """Set Debug to False."""
        self.Debug = False


def made_later(
    method: Callable[Concatenate[P, Arguments], T],
) -> Callable[Concatenate[P, Arguments], T]:
    """Have a method, which makes an output of the last Execute, work as Execute does."""

    @wraps(method)
    def make(filter_: P, /, *args: Arguments.args, **options: Arguments.kwargs) -> T:
        with filter_._making_output():
            return method(filter_, *args, **options)

    return make


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] == __name__.partition(".")[0]


class on_class_or_instance(classmethod):  # type: ignore[type-arg]  # noqa: N801
    """A method that, called on the class, works on a new instance.

    ``Filter.Load(path)`` makes a filter; ``filter.Load(path)`` changes an existing one.
    """

    def __init__(self, method: Callable[..., Any]) -> None:
        super().__init__(method)

    def __get__(self, instance: Any, owner: type | None = None) -> Callable[..., Any]:
        of = instance if instance is not None else owner() if owner else None
        return MethodType(self.__func__, of)


def _in_short(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"array of shape {value.shape}"
    if not is_dataclass(value):
        return printed(value)
    names = [one.name for one in fields(value) if one.repr]
    shown = ", ".join(f"{name}={_in_short(getattr(value, name))}" for name in names)
    return f"{type(value).__name__}({shown})"


def printed(value: Any) -> str:
    """A parameter's value; images are not shown."""
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, tuple):
        return "[" + ", ".join(printed(member) for member in value) + "]"
    if holds_image(value):
        return "(image)"
    return repr(value) if isinstance(value, Runs) else str(value)


def holds_image(value: Any) -> bool:
    """Whether a parameter's value is an image, or a list with one."""
    if isinstance(value, tuple):
        return any(holds_image(member) for member in value)
    return not isinstance(value, (int, float, str, bool, dict, Runs, type(None)))
