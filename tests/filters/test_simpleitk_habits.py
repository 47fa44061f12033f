"""Global defaults, commands and events, side by side with SimpleITK's own filters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import SimpleITK as sitk

import itk_consensus
from itk_consensus.core.errors import ConsensusWarning, GeometryError
from itk_consensus.core.global_defaults import GlobalDefaults

BOTH = [sitk.STAPLEImageFilter, itk_consensus.STAPLEImageFilter]
both = pytest.mark.parametrize("make", BOTH, ids=["SimpleITK", "ours"])
EVENTS = ("Start", "Progress", "Iteration", "Abort", "End", "Delete", "User")
DEFAULTS = (
    "DefaultCoordinateTolerance",
    "DefaultDirectionTolerance",
    "DefaultNumberOfThreads",
    "DefaultDebug",
    "WarningDisplay",
)


@pytest.fixture(autouse=True)
def usual_defaults(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Reset our global defaults, and restore SimpleITK's after the test."""
    monkeypatch.setattr(GlobalDefaults, "_global_defaults", {})
    theirs = sitk.ProcessObject
    before = {name: getattr(theirs, f"GetGlobal{name}")() for name in DEFAULTS}
    yield
    for name, value in before.items():
        getattr(theirs, f"SetGlobal{name}")(value)


def raters(shift: float = 0.0) -> list[sitk.Image]:
    images = []
    for number in range(3):
        mask = np.zeros((6, 12, 12), np.uint8)
        mask[1:5, 2 : 8 + number, 3:9] = 1
        image = sitk.GetImageFromArray(mask)
        image.SetOrigin((0.0, 0.0, shift * number))
        images.append(image)
    return images


def logged(filter_: Any, *names: str) -> list[str]:
    """Return a list to which commands append the events."""
    log: list[str] = []
    for name in names:
        event = getattr(sitk, f"sitk{name}Event")
        filter_.AddCommand(event, lambda name=name: log.append(name))
    return log


# -- global defaults ------------------------------------------------------------------------


@both
def test_the_global_coordinate_tolerance_lets_grids_pass(make: Any) -> None:
    with pytest.raises(RuntimeError):
        make().Execute(raters(1e-4))
    sitk.ProcessObject.SetGlobalDefaultCoordinateTolerance(1e-2)
    make().Execute(raters(1e-4))


@both
def test_the_global_direction_tolerance_lets_grids_pass(make: Any) -> None:
    images = raters()
    images[1].SetDirection([1, 1e-4, 0, -1e-4, 1, 0, 0, 0, 1])
    with pytest.raises(RuntimeError):
        make().Execute(images)
    sitk.ProcessObject.SetGlobalDefaultDirectionTolerance(1e-3)
    make().Execute(images)


@both
def test_the_global_number_of_threads_is_that_of_new_filters(make: Any) -> None:
    sitk.ProcessObject.SetGlobalDefaultNumberOfThreads(3)
    assert make().GetNumberOfThreads() == 3
    own = make()
    own.SetNumberOfThreads(2)
    assert own.GetNumberOfThreads() == 2


@both
def test_the_global_debug_is_that_of_new_filters(make: Any) -> None:
    assert not make().GetDebug()
    sitk.ProcessObject.GlobalDefaultDebugOn()
    assert make().GetDebug()
    sitk.ProcessObject.GlobalDefaultDebugOff()
    assert not make().GetDebug()


def test_debug_prints_the_filter(capsys: pytest.CaptureFixture[str]) -> None:
    sitk.ProcessObject.GlobalDefaultDebugOn()
    itk_consensus.MajorityVoteFilter().Execute(raters())
    assert "itk_consensus::MajorityVoteFilter" in capsys.readouterr().out


def test_the_global_warning_display_silences_warnings() -> None:
    with pytest.warns(ConsensusWarning):
        itk_consensus.STAPLE(raters()[:1])
    sitk.ProcessObject.GlobalWarningDisplayOff()
    itk_consensus.STAPLE(raters()[:1])  # warnings are errors in these tests
    itk_consensus.ProcessObject.GlobalWarningDisplayOn()
    with pytest.warns(ConsensusWarning):
        itk_consensus.STAPLE(raters()[:1])


def test_what_is_set_on_our_side_wins_and_does_not_reach_simpleitk() -> None:
    ours, theirs = itk_consensus.ProcessObject, sitk.ProcessObject
    for name, value in zip(DEFAULTS, (1e-2, 1e-3, 4, True, False), strict=True):
        usual = getattr(theirs, f"GetGlobal{name}")()
        assert getattr(ours, f"GetGlobal{name}")() == usual
        getattr(ours, f"SetGlobal{name}")(value)
        assert getattr(ours, f"GetGlobal{name}")() == value
        assert getattr(theirs, f"GetGlobal{name}")() == usual
    ours.GlobalDefaultDebugOff()
    ours.GlobalWarningDisplayOff()
    assert (ours.GetGlobalDefaultDebug(), ours.GetGlobalWarningDisplay()) == (False, False)


def test_a_filters_own_tolerance_wins_over_both() -> None:
    sitk.ProcessObject.SetGlobalDefaultCoordinateTolerance(1e-2)
    with pytest.raises(GeometryError):
        itk_consensus.STAPLEImageFilter(coordinateTolerance=1e-6).Execute(raters(1e-4))


# -- commands and events --------------------------------------------------------------------


def without_repeats(log: list[str]) -> list[str]:
    return [name for number, name in enumerate(log) if number == 0 or log[number - 1] != name]


@both
def test_events_come_in_simpleitks_order(make: Any) -> None:
    filter_ = make()
    log = logged(filter_, *EVENTS)
    filter_.Execute(raters())
    assert without_repeats([one for one in log if one != "Progress"]) == [
        "Start",
        "Iteration",
        "End",
        "Delete",
    ]


def test_there_are_as_many_iterations_as_simpleitk_makes() -> None:
    counts = []
    for make in BOTH:
        filter_ = make()
        log = logged(filter_, "Iteration")
        filter_.Execute(raters())
        counts.append(len(log))
    assert counts[0] == counts[1]


@both
def test_the_any_event_stands_for_every_event_and_for_no_other_in_has_command(make: Any) -> None:
    filter_ = make()
    log = logged(filter_, "Any", "Start", "End", "Delete")
    assert log == []
    filter_.Execute(raters())
    for name in ("Start", "End", "Delete"):
        assert log[log.index(name) - 1] == "Any"
    lonely = make()
    logged(lonely, "Any")
    assert lonely.HasCommand(sitk.sitkAnyEvent)
    assert not lonely.HasCommand(sitk.sitkStartEvent)


@both
def test_commands_are_called_in_the_order_they_were_added(make: Any) -> None:
    filter_ = make()
    log: list[int] = []
    for number in range(4):
        filter_.AddCommand(sitk.sitkEndEvent, lambda number=number: log.append(number))
    filter_.Execute(raters())
    assert log == [0, 1, 2, 3]


@both
def test_removed_commands_are_not_called(make: Any) -> None:
    filter_ = make()
    log = logged(filter_, *EVENTS)
    assert filter_.HasCommand(sitk.sitkUserEvent)
    filter_.RemoveAllCommands()
    assert not any(filter_.HasCommand(getattr(sitk, f"sitk{name}Event")) for name in EVENTS)
    filter_.Execute(raters())
    assert log == []


@both
def test_a_command_may_remove_all_commands_or_add_one(make: Any) -> None:
    filter_ = make()
    log = logged(filter_, "Iteration")
    filter_.AddCommand(sitk.sitkIterationEvent, filter_.RemoveAllCommands)
    filter_.Execute(raters())
    assert log == ["Iteration"]
    filter_.AddCommand(
        sitk.sitkStartEvent,
        lambda: filter_.AddCommand(sitk.sitkEndEvent, lambda: log.append("late")),
    )
    filter_.Execute(raters())
    assert log == ["Iteration", "late"]


@both
def test_abort_in_an_iteration_of_staple_returns_the_estimate_without_an_abort_event(
    make: Any,
) -> None:
    filter_ = make()
    log = logged(filter_, "Start", "Iteration", "Abort", "End", "Delete")
    filter_.AddCommand(sitk.sitkIterationEvent, filter_.Abort)
    filter_.Execute(raters())
    assert log == ["Start", "Iteration", "End", "Delete"]


def aborting(make: Callable[[], Any], image: Any) -> list[str]:
    filter_ = make()
    log = logged(filter_, "Start", "Abort", "End", "Delete")
    filter_.AddCommand(sitk.sitkProgressEvent, filter_.Abort)
    with pytest.raises(RuntimeError):
        filter_.Execute(image)
    return log


def test_abort_without_an_answer_raises_after_an_abort_event() -> None:
    """Compared with SimpleITK's curvature flow, since its STAPLE reports no progress."""
    noise = sitk.GetImageFromArray(np.random.default_rng(0).random((8, 8, 8)).astype(np.float32))
    theirs = aborting(sitk.CurvatureFlowImageFilter, noise)
    assert theirs == ["Start", "Abort", "Delete"]
    assert aborting(itk_consensus.STAPLEImageFilter, raters()) == theirs


@both
def test_command_objects_are_executed(make: Any) -> None:
    class Counter(sitk.Command):
        def __init__(self) -> None:
            super().__init__()
            self.calls = 0

        def Execute(self) -> None:
            self.calls += 1

    counter, filter_ = Counter(), make()
    filter_.AddCommand(sitk.sitkEndEvent, counter)
    assert filter_.HasCommand(sitk.sitkEndEvent)
    filter_.Execute(raters())
    filter_.Execute(raters())
    assert counter.calls == 2


@both
def test_no_end_event_follows_an_error(make: Any) -> None:
    filter_ = make()
    log = logged(filter_, "Abort", "End", "Delete")
    with pytest.raises(RuntimeError):
        filter_.Execute(raters(0.5))
    assert log == ["Delete"]
