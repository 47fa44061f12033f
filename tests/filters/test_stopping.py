"""Ctrl-C and Abort reach every kernel, and leave a filter in the state after a failed Execute."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from typing import Any

import contract
import numpy as np
import pytest
from cohorts import cohort, columns
from contract import Fuser, assert_nothing_is_known
from kernel_calls import KERNELS, kernels

from itk_consensus import (
    AgreementFilter,
    BoundarySIMPLEFilter,
    CohortSTAPLEFilter,
    ConformalBandFilter,
    ConsensusFilter,
    DirectInferenceFilter,
    JointLabelFusionFilter,
    MajorityVoteFilter,
    MultiLabelSTAPLEImageFilter,
    STAPLEImageFilter,
    _kernels,
)
from itk_consensus.core import work
from itk_consensus.core.errors import ConsensusError, NotExecutedError, ProcessAborted
from itk_consensus.images import convert
from itk_consensus.methods.registry import FUSERS
from itk_consensus.votes.label_stack import LabelStack
from itk_consensus.votes.packed_votes import PackedVotes

SHAPE = (8, 9, 10)

#: Kernels that do not loop over potentially large data.
AT_ONCE = {"count_tiles", "unpack_bits"}  # unpacking is called tile by tile


class Ended(Exception):
    """The exception that a checkpoint raises in tests."""


def in_new_thread(action: Callable[[], Any]) -> BaseException | None:
    """Return the exception of an action in a new thread, whose first checkpoint polls
    immediately.
    """
    raised: list[BaseException] = []

    def guarded() -> None:
        try:
            action()
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=guarded)
    thread.start()
    thread.join()
    return raised[0] if raised else None


def everything() -> None:
    """Call all kernels: through every fuser with its outputs, and the remaining kernels
    directly.
    """
    rng = np.random.default_rng(0)
    three = [np.where(rng.random(SHAPE) < 0.3, 2, r).astype("u1") for r in contract.raters(SHAPE)]
    noise = [(rng.random((40, 40)) < 0.5).astype(np.uint8) for _ in range(18)]
    cases: list[tuple[Any, list[np.ndarray]]] = [(fuser(), three) for fuser in FUSERS]
    cases += [(fuser(), contract.raters(SHAPE)) for fuser in FUSERS]
    kinds = (STAPLEImageFilter, MultiLabelSTAPLEImageFilter, MajorityVoteFilter)
    cases += [(kind(), noise) for kind in kinds]
    # If many patterns have the same size, direct inference searches for moves simultaneously.
    cases += [(DirectInferenceFilter(), [rater[:8, :8] for rater in noise])]
    cases += [(MultiLabelSTAPLEImageFilter(SmoothnessWeight="estimate"), three)]
    cases += [(MajorityVoteFilter(TieRule="prior"), three)]
    # If a rater is missing somewhere, coherence is measured at every voxel.
    partly = [*three[:-1], np.where(np.arange(SHAPE[-1]) < 3, 9, three[-1]).astype("u1")]
    cases += [(ConsensusFilter(MissingLabel=9), partly)]
    looked_at = [rng.standard_normal(SHAPE).astype("f4") for _ in range(5)]
    joint = JointLabelFusionFilter(Image=looked_at[0], AtlasImages=looked_at[1:])
    edges = BoundarySIMPLEFilter(Image=looked_at[0])
    cases += [(joint, three), (edges, three), (AgreementFilter(), three)]
    for filter_, images in cases:
        filter_.Execute(images)
        for output in ("ProbabilityImage", "UncertaintyImage", "Diagnostics", "CoherenceCurves"):
            getattr(filter_, f"Get{output}", str)()
    packed = PackedVotes.from_stack(LabelStack.multilabel(contract.raters(SHAPE)))
    theta, prior = np.full((4, 2, 1, 2), 0.5), np.full((1, 2), 0.5)
    packed.expectation(theta, prior)
    packed.expectation_of_votes(np.linspace(0, 1, 5))
    packed.write_probability(theta, prior, np.empty(SHAPE))


@pytest.mark.filterwarnings("ignore::itk_consensus.core.errors.ConsensusWarning")
def test_every_kernel_asks_whether_to_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    trial = threading.local()
    asking: set[str] = set()

    def checkpoint() -> None:
        if getattr(trial, "on", False):
            raise Ended

    def call(name: str, kernel: Callable[..., Any], *args: Any, **options: Any) -> Any:
        def attempt() -> None:
            trial.on = True
            copies = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
            kernel(*copies, **options)

        if name not in asking and isinstance(in_new_thread(attempt), Ended):
            asking.add(name)
        return kernel(*args, **options)

    monkeypatch.setattr(work, "checkpoint", checkpoint)
    with kernels(call):
        everything()
    assert KERNELS.keys() - AT_ONCE == asking


def test_ctrl_c_reaches_a_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    codes, table = np.zeros(1 << 20, np.uint8), np.zeros(1, np.uint8)
    in_kernel: list[bool] = []

    def checkpoint() -> None:
        in_kernel.append(True)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(work, "checkpoint", checkpoint)

    def expand_again_and_again() -> None:
        for _ in range(5000):
            _kernels.expand(codes, table, np.empty_like(codes), 2)

    # A shell that started the tests in the background may have made them ignore the signal.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            expand_again_and_again()
    finally:
        signal.signal(signal.SIGINT, before)
    assert in_kernel == [True]


@pytest.mark.filterwarnings("ignore::itk_consensus.core.errors.ConsensusWarning")
@pytest.mark.parametrize("fuser", FUSERS, ids=lambda fuser: fuser.__name__)
def test_nothing_is_known_after_ctrl_c_in_any_kernel(fuser: Fuser) -> None:
    images = contract.raters(SHAPE)
    filter_ = fuser(**contract.capped(fuser, 2))
    answer = filter_.Execute(images)
    count, last = 0, 0

    def call(name: str, kernel: Callable[..., Any], *args: Any, **options: Any) -> Any:
        nonlocal count
        count += 1
        if count == last:
            raise KeyboardInterrupt
        return kernel(*args, **options)

    with kernels(call):
        filter_.Execute(images)
        calls = count
        for number in sorted({*range(1, min(calls, 8)), *range(8, calls, calls // 8 + 1), calls}):
            count, last = 0, number
            with pytest.raises(KeyboardInterrupt):
                filter_.Execute(images)
            assert_nothing_is_known(filter_)
    np.testing.assert_array_equal(filter_.Execute(images), answer)


def test_nothing_is_known_after_ctrl_c_while_outputs_are_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    probabilities, references, raters = columns(cohort(24))
    band, staple = ConformalBandFilter(), CohortSTAPLEFilter()
    band.Calibrate(probabilities, references, raters)

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(convert, "make_image", interrupted)
    with pytest.raises(KeyboardInterrupt):
        band.Execute(probabilities[0], raters[0])
    with pytest.raises(KeyboardInterrupt):
        staple.Execute(raters[:2])
    for get in (band.GetSetSizeImage, band.GetAmbiguousVolume, staple.GetLabelImages):
        with pytest.raises(NotExecutedError):
            get()


@pytest.mark.parametrize("fuser", FUSERS, ids=lambda fuser: fuser.__name__)
def test_abort_ends_the_kernel_at_work(fuser: Fuser) -> None:
    filter_, done = fuser(), []

    def call(name: str, kernel: Callable[..., Any], *args: Any, **options: Any) -> Any:
        filter_.Abort()
        result = kernel(*args, **options)
        done.append(name)
        return result

    with kernels(call):
        error = in_new_thread(lambda: filter_.Execute(contract.raters(SHAPE)))
    assert isinstance(error, ProcessAborted)
    assert not set(done) - AT_ONCE
    assert_nothing_is_known(filter_)


def test_an_estimate_is_returned_after_an_abort_in_a_later_iteration() -> None:
    images = contract.raters(SHAPE)
    filter_, asked = MultiLabelSTAPLEImageFilter(), []

    def call(name: str, kernel: Callable[..., Any], *args: Any, **options: Any) -> Any:
        if name == "expected_counts":
            asked.append(name)
            if len(asked) == 4:
                filter_.Abort()
                work.checkpoint()  # as a long-running kernel does
        return kernel(*args, **options)

    with kernels(call):
        filter_.Execute(images)
    iterations = filter_.GetElapsedIterations()
    assert iterations == 3
    capped = MultiLabelSTAPLEImageFilter(MaximumNumberOfIterations=3, TerminationUpdateThreshold=0)
    capped.Execute(images)
    assert capped.GetElapsedIterations() == iterations
    assert filter_.GetConfusionMatrix(0) == capped.GetConfusionMatrix(0)


def test_what_makes_an_estimate_an_answer_is_not_stopped_again() -> None:
    """An Abort during an iteration takes effect once, in a kernel or in a report."""
    filter_ = MajorityVoteFilter()

    def aborted_while(stop: Callable[[], None]) -> None:
        with filter_._running():
            filter_.Abort()
            with pytest.raises(ProcessAborted):
                stop()
            work.checkpoint()

    aborted_while(work.checkpoint)
    aborted_while(lambda: work.report(0.5))


def test_labels_that_nobody_waits_for_any_more_are_ended() -> None:
    def make(label: int) -> int:
        if label == 0:
            raise ZeroDivisionError
        while True:
            work.checkpoint()

    with pytest.raises(ZeroDivisionError), work.working(threads=2):
        list(work.in_threads(make, range(5)))


def test_threads_that_work_for_a_filter_hear_its_abort() -> None:
    filter_ = MajorityVoteFilter()

    def make(_: int) -> None:
        filter_.Abort()
        work.checkpoint()

    with pytest.raises(ConsensusError, match="MajorityVoteFilter"), filter_._running():
        list(work.in_threads(make, range(2)))
