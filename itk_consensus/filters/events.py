"""Events: SimpleITK's numbers, which its users write as sitk.sitkIterationEvent, and commands."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

from itk_consensus.errors import ConsensusWarning, NotExecutedError, ParameterError

ANY_EVENT = 0
ABORT_EVENT = 1
DELETE_EVENT = 2
END_EVENT = 3
ITERATION_EVENT = 4
PROGRESS_EVENT = 5
START_EVENT = 6
USER_EVENT = 7
EVENTS = {
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


class EventSource:
    """Something with a name that tells commands what happens to it."""

    def __init__(self) -> None:
        self._commands: list[tuple[int, Callable[[], Any]]] = []

    def GetName(self) -> str:
        """The name of the filter's class."""
        return type(self).__name__

    def AddCommand(self, event: int, command: Any) -> int:
        """Call `command`, a callable or a SimpleITK Command, at each such event."""
        if isinstance(event, bool) or event not in EVENTS:
            raise ParameterError(
                f"{self.GetName()}: AddCommand's event must be one of SimpleITK's event numbers "
                f"{sorted(EVENTS)}, got {event!r}"
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
                try:
                    command()
                except NotExecutedError as error:
                    # Who asks too early gets no answer, but need not lose the whole run for it.
                    self._warn(f"a command of {EVENTS[event]} was cut short: {error}")

    def _warn(self, message: str) -> None:
        """Warn in the name of the line outside this package that led here."""
        level, frame = 1, sys._getframe()
        while frame.f_back is not None and _is_ours(frame.f_globals.get("__name__", "")):
            level, frame = level + 1, frame.f_back
        warnings.warn(f"{self.GetName()}: {message}", ConsensusWarning, stacklevel=level)


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] == __name__.partition(".")[0]
