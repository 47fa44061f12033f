"""One filter used by many threads: each call of Execute returns the result for its own images."""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import SimpleITK as sitk
from learned_cohort import cohort

import itk_consensus as ic
from itk_consensus.fusing.label_fusion import LabelFusionFilter
from itk_consensus.methods.hybrid.hybrid_filter import HybridFusionFilter
from itk_consensus.methods.registry import FUSERS, OTHER_FILTERS

THREADS, EXECUTES = 8, 400
#: Number of calls of Execute in the quick suite; the slow one uses EXECUTES.
FEW_EXECUTES = 16
DROP_INS = ("STAPLEImageFilter", "MultiLabelSTAPLEImageFilter", "LabelVotingImageFilter")

Call = tuple[Any, ...]


@pytest.fixture(autouse=True)
def restless_threads() -> Iterator[None]:
    """Make Python switch threads as often as possible."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def masks(seed: int, raters: int = 3) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    truth = np.zeros((3, 6, 7 + seed % 2), np.uint8)
    truth[:, 1 : 3 + seed % 3, 2:5] = 1
    return [(truth ^ (rng.random(truth.shape) < 0.15)).astype(np.uint8) for _ in range(raters)]


def images(seed: int, raters: int = 3) -> list[sitk.Image]:
    return [sitk.GetImageFromArray(mask) for mask in masks(seed, raters)]


def intensities(seed: int) -> np.ndarray:
    shape = masks(seed)[0].shape
    return np.random.default_rng(seed).random(shape).astype(np.float32)


def fuser(name: str) -> tuple[Any, list[Call]]:
    return getattr(ic, name)(), [(images(seed),) for seed in range(THREADS)]


def with_target(name: str) -> tuple[Any, list[Call]]:
    """Return filters with a reference image, so that all calls use its grid."""
    filter_ = getattr(ic, name)(Image=intensities(0))
    if hasattr(filter_, "AtlasImages"):
        filter_.SetAtlasImages([intensities(0) + 0.1 * intensities(2 * i) for i in range(3)])
    return filter_, [(masks(2 * seed),) for seed in range(THREADS)]


def calibrated(name: str, **parameters: Any) -> tuple[Any, list[Call]]:
    filter_ = getattr(ic, name)(**parameters)
    means = [np.mean(masks(seed, 5), axis=0) for seed in range(24)]
    references = [masks(seed)[0] for seed in range(24)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        filter_.Calibrate([0.1 + 0.8 * mean for mean in means], references)
    return filter_, [(0.1 + 0.8 * means[seed],) for seed in range(THREADS)]


def deep(name: str) -> tuple[Any, list[Call]]:
    pytest.importorskip("torch")
    filter_ = ic.DeepConsensusFilter(NumberOfIterations=1, BatchSize=1, NumberOfThreads=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        filter_.Fit([intensities(0)], [masks(0)])
    return filter_, [(intensities(seed), masks(seed)) for seed in range(THREADS)]


def learned(name: str) -> tuple[Any, list[Call]]:
    """Return a record with a learned rule, from cases in which one rater draws the true mask."""
    filter_ = ic.LearnedFusionFilter()
    of = cohort(6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        filter_.Fit(of.cases, of.truths)
    assert filter_.GetRecord().adopted
    return filter_, [(raters,) for raters in cohort(THREADS, first=3100).cases]


OTHERS: dict[str, Callable[[str], tuple[Any, list[Call]]]] = {
    "IntensityRefinementFilter": with_target,
    "LocallyWeightedVoteFilter": with_target,
    "JointLabelFusionFilter": with_target,
    "AtlasSelectionFilter": lambda name: (
        ic.AtlasSelectionFilter(NumberOfAtlases=1),
        [(intensities(s), [intensities(s + 2), intensities(s + 4)]) for s in range(THREADS)],
    ),
    "ConformalBandFilter": lambda name: calibrated(name, Score="probability"),
    "ConformalMarginFilter": calibrated,
    "CutCalibrationFilter": calibrated,
    "LearnedFusionFilter": learned,
    "TemperatureScalingFilter": calibrated,
    "CohortSTAPLEFilter": lambda name: (
        ic.CohortSTAPLEFilter(),
        [([images(seed), images(seed + 1)],) for seed in range(THREADS)],
    ),
    "DeepConsensusFilter": deep,
    "ReaderBiasFilter": lambda name: (
        ic.ReaderBiasFilter(),
        [(masks(seed), ic.LabelVotingImageFilter()) for seed in range(THREADS)],
    ),
    "AgreementFilter": lambda name: (
        ic.AgreementFilter(),
        [(masks(seed), ic.LabelVotingImageFilter()) for seed in range(THREADS)],
    ),
}
NAMES = [cls.__name__ for cls in (*FUSERS, *OTHER_FILTERS)]


def told(answer: Any) -> Any:
    """Return the output of Execute in a form that can be compared."""
    if isinstance(answer, sitk.Image):
        return sitk.GetArrayFromImage(answer).tolist()
    if isinstance(answer, list):
        return [told(member) for member in answer]
    return answer.tolist() if isinstance(answer, np.ndarray) else str(answer)


def faults(execute: Callable[..., Any], calls: Sequence[Call], number: int) -> list[str]:
    """Return the errors raised by concurrent calls in several threads."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = [told(execute(*call)) for call in calls]
    together = threading.Barrier(THREADS)

    def work(thread: int) -> list[str]:
        found = []
        together.wait()
        for turn in range(number // THREADS):
            chosen = (thread + turn) % len(calls)
            try:
                if told(execute(*calls[chosen])) != expected[chosen]:
                    found.append("another answer")
            except Exception as error:  # an error of any type
                found.append(repr(error))
        return found

    with warnings.catch_warnings(), ThreadPoolExecutor(THREADS) as pool:
        warnings.simplefilter("ignore")
        return [fault for found in pool.map(work, range(THREADS)) for fault in found]


def made(name: str) -> tuple[Any, list[Call]]:
    return OTHERS.get(name, fuser)(name)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "DeepConsensusFilter"])
def test_one_filter_in_eight_threads_answers_each_of_them(name: str) -> None:
    filter_, calls = made(name)
    number = EXECUTES if name in DROP_INS else FEW_EXECUTES
    assert faults(filter_.Execute, calls, number) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_four_hundred_executes_of_one_filter_in_eight_threads_go_well(name: str) -> None:
    filter_, calls = made(name)
    assert faults(filter_.Execute, calls, EXECUTES) == []


def test_fusers_that_two_filters_share_serve_both() -> None:
    """Inner fusers are run as copies with different parameters and commands."""
    inner = ic.STAPLEImageFilter()
    called: list[int] = []
    inner.AddCommand(sitk.sitkEndEvent, lambda: called.append(1))
    hybrids = [HybridFusionFilter(InteriorFilter=inner, BandWidth=w) for w in (1.0, 2.0)]

    def execute(number: int, given: Any) -> Any:
        return hybrids[number].Execute(given)

    calls = [(seed % 2, images(seed)) for seed in range(THREADS)]
    assert faults(execute, calls, FEW_EXECUTES) == []
    assert len(called) == THREADS + FEW_EXECUTES
    assert [event for event, _ in inner._commands] == [sitk.sitkEndEvent]


def test_measurements_belong_to_one_execute_even_while_others_finish() -> None:
    """A command reads a rater's sensitivity and specificity; both must be from the call that
    invoked it.
    """
    filter_ = ic.STAPLEImageFilter()
    expected = {}
    for seed in range(THREADS):
        filter_.Execute(images(seed))
        expected[filter_.GetSensitivity()] = filter_.GetSpecificity()
    pairs: list[tuple[Any, Any]] = []
    filter_.AddCommand(
        sitk.sitkEndEvent,
        lambda: pairs.append((filter_.GetSensitivity(), filter_.GetSpecificity())),
    )
    assert faults(filter_.Execute, [(images(seed),) for seed in range(THREADS)], 200) == []
    assert len(pairs) == THREADS + 200
    assert all(expected[sensitivity] == specificity for sensitivity, specificity in pairs)


def test_what_is_measured_is_the_last_finished_executes() -> None:
    """Measurements are those of the call of Execute that finished last, even if it started
    first.
    """
    filter_ = ic.STAPLEImageFilter()
    began, may_end = threading.Event(), threading.Event()
    thread_of_long: list[int] = []

    def wait_in_the_long_one() -> None:
        if threading.get_ident() in thread_of_long:
            began.set()
            may_end.wait(60)

    def run_long() -> None:
        thread_of_long.append(threading.get_ident())
        filter_.Execute(images(1))

    long, short = ic.STAPLEImageFilter(), ic.STAPLEImageFilter()
    long.Execute(images(1))
    short.Execute(images(2))
    filter_.AddCommand(sitk.sitkStartEvent, wait_in_the_long_one)
    worker = threading.Thread(target=run_long)
    worker.start()
    assert began.wait(60)
    filter_.Execute(images(2))
    assert filter_.GetSensitivity() == short.GetSensitivity()
    assert sitk.GetArrayFromImage(filter_.GetLabelImage()).shape == masks(2)[0].shape
    may_end.set()
    worker.join()
    assert filter_.GetSensitivity() == long.GetSensitivity()


def test_abort_from_another_thread_stops_and_progress_can_be_watched() -> None:
    filter_ = ic.STAPLEImageFilter(Tolerance=0.0)
    began, may_go_on = threading.Event(), threading.Event()

    def pause() -> None:
        began.set()
        may_go_on.wait(60)

    filter_.AddCommand(sitk.sitkIterationEvent, pause)
    worker = threading.Thread(target=filter_.Execute, args=(images(0),))
    worker.start()
    assert began.wait(60)
    assert 0 < filter_.GetProgress() < 1
    filter_.Abort()
    may_go_on.set()
    worker.join()
    assert filter_.GetElapsedIterations() <= 1
    assert not filter_.GetConverged()


def test_a_command_may_execute_the_same_filter_again() -> None:
    filter_ = ic.LabelVotingImageFilter()
    inner: list[Any] = []

    def again() -> None:
        if not inner:
            inner.append(None)
            inner[0] = filter_.Execute(images(1))

    filter_.AddCommand(sitk.sitkStartEvent, again)
    outer = filter_.Execute(images(0))
    assert told(inner[0]) == told(ic.LabelVoting(images(1)))
    assert told(outer) == told(ic.LabelVoting(images(0))) == told(filter_.GetLabelImage())


def test_every_fuser_is_tried_in_threads() -> None:
    assert all(issubclass(cls, LabelFusionFilter) or cls.__name__ in OTHERS for cls in FUSERS)
    assert set(OTHERS) == {cls.__name__ for cls in OTHER_FILTERS}
