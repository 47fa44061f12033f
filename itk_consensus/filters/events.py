"""SimpleITK's event numbers, which its users write as sitk.sitkIterationEvent."""

from __future__ import annotations

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
