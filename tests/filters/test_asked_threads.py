"""NumberOfThreads limits kernels, Python's threads and BLAS, in Execute and in later outputs."""

from __future__ import annotations

import ast
import inspect
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import contract
import numpy as np
import pytest
import SimpleITK as sitk
from contract import Fuser
from kernel_calls import kernels
from threadpoolctl import threadpool_info

from itk_consensus import (
    AgreementFilter,
    CohortSTAPLEFilter,
    ConsensusFilter,
    JointLabelFusionFilter,
    LocallyWeightedVoteFilter,
    MultiLabelSTAPLEImageFilter,
    ShapeBasedAveragingFilter,
    SIMPLEFilter,
    _kernels,
)
from itk_consensus.batch.one_case import run_case
from itk_consensus.batch.plan import Plan
from itk_consensus.cli import batch, main
from itk_consensus.core.errors import ProcessAborted
from itk_consensus.core.work import checkpoint, default_threads, in_threads, working
from itk_consensus.methods.registry import FUSERS

SHAPE = (6, 7, 8)

STUB = ast.parse(Path(_kernels.__file__).parent.joinpath("_kernels.pyi").read_text())
#: Names of the parameters of each kernel.
PARAMETERS = {
    node.name: [parameter.arg for parameter in node.args.args]
    for node in STUB.body
    if isinstance(node, ast.FunctionDef)
}


def three_labels() -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [np.where(rng.random(SHAPE) < 0.3, 2, r).astype("u1") for r in contract.raters(SHAPE)]


@contextmanager
def counted_threads() -> Iterator[list[int]]:
    """Record the number of threads passed to each kernel. Each thread started by Python is recorded
    as 2, i.e. as more than one.
    """
    given: list[int] = []

    def call(name: str, kernel: Callable[..., Any], *args: Any, **options: Any) -> Any:
        named = dict(zip(PARAMETERS[name], args, strict=False)) | options
        given.extend(named[key] for key in named if key.startswith("threads"))
        return kernel(*args, **options)

    start = threading.Thread.start

    def started(thread: threading.Thread) -> None:
        given.append(2)
        start(thread)

    with kernels(call), pytest.MonkeyPatch.context() as patch:
        patch.setattr(threading.Thread, "start", started)
        yield given


def all_outputs(filter_: Any, images: Any) -> None:
    """Call Execute, and every getter that needs no argument."""
    filter_.Execute(images)
    for name in dir(filter_):
        if name.startswith("Get") and not name.startswith("GetGlobalDefault"):
            getter = getattr(filter_, name)
            if all(
                parameter.default is not parameter.empty
                for parameter in inspect.signature(getter).parameters.values()
            ):
                getter()
    if hasattr(filter_, "votes"):
        assert filter_.votes.number_of_raters


def working_filters() -> list[Any]:
    rng = np.random.default_rng(1)
    looked_at = [rng.standard_normal(SHAPE).astype("f4") for _ in range(5)]
    seen = {"Image": looked_at[0], "AtlasImages": looked_at[1:], "FuseIntensities": True}
    atlas = [(kind, seen) for kind in (JointLabelFusionFilter, LocallyWeightedVoteFilter)]
    smooth = [(MultiLabelSTAPLEImageFilter, {"SmoothnessWeight": "estimate"})]
    others = [(kind, {}) for kind in (*FUSERS, AgreementFilter)]
    return [pytest.param(*one, id=one[0].__name__) for one in (*others, *atlas, *smooth)]


@pytest.mark.filterwarnings("ignore::itk_consensus.core.errors.ConsensusWarning")
@pytest.mark.parametrize(("kind", "parameters"), working_filters())
def test_one_thread_is_one_thread_in_every_filter_and_output(kind: Any, parameters: Any) -> None:
    with counted_threads() as given:
        all_outputs(kind(NumberOfThreads=1, **parameters), three_labels())
    assert set(given) <= {1}
    with counted_threads() as given:
        all_outputs(kind(NumberOfThreads=3, **parameters), three_labels())
    assert set(given) - {1} or not given


@pytest.mark.filterwarnings("ignore::itk_consensus.core.errors.ConsensusWarning")
def test_one_thread_is_one_thread_in_a_cohort() -> None:
    with counted_threads() as given:
        all_outputs(CohortSTAPLEFilter(NumberOfThreads=1), [contract.raters(SHAPE)] * 2)
    assert set(given) == {1}


def test_work_that_is_shared_has_no_more_threads_than_asked() -> None:
    lock, now, most = threading.Lock(), 0, 0

    def make(item: int) -> int:
        nonlocal now, most
        with working_threads(), lock:
            most = max(most, now)
        return item

    @contextmanager
    def working_threads() -> Iterator[None]:
        nonlocal now
        own = sum(in_threads(lambda _: 1, range(4)))  # nested sharing: uses no additional thread
        with lock:
            now += 1
        yield
        with lock:
            now -= 1
        assert own == 4

    for threads in (1, 2, 5):
        most = 0
        with working(threads=threads):
            assert list(in_threads(make, range(20))) == list(range(20))
        assert most <= threads


# -- BLAS -------------------------------------------------------------------------------------


def blas() -> set[int]:
    return {found["num_threads"] for found in threadpool_info() if found["user_api"] == "blas"}


several = pytest.mark.skipif(default_threads() == 1, reason="BLAS has one thread here anyway")


@several
def test_blas_is_held_to_the_threads_that_were_asked_for() -> None:
    before, during = blas(), []
    filter_ = SIMPLEFilter(NumberOfThreads=1)
    filter_.AddCommand(sitk.sitkProgressEvent, lambda: during.append(blas()))
    filter_.Execute(contract.raters(SHAPE))
    assert during[0] == {1}
    assert blas() == before != {1}


@several
def test_blas_has_one_thread_while_something_iterates() -> None:
    before, during = blas(), []
    filter_ = SIMPLEFilter()
    filter_.AddCommand(sitk.sitkIterationEvent, lambda: during.append(blas()))
    filter_.Execute(contract.raters(SHAPE))
    assert during
    assert all(threads == {1} for threads in during)
    assert blas() == before != {1}


@several
def test_blas_has_the_fewest_threads_of_works_that_overlap_and_then_its_own() -> None:
    before = blas()
    one, two = working(threads=1), working(threads=1)
    one.__enter__()
    two.__enter__()
    one.__exit__(None, None, None)
    assert blas() == {1}
    two.__exit__(None, None, None)
    assert blas() == before


# -- later outputs ----------------------------------------------------------------------------

MAKERS = {
    "consensus": (ConsensusFilter, "GetUncertaintyImage"),
    "resolution": (ConsensusFilter, "GetResolution"),
    "shape": (ShapeBasedAveragingFilter, "GetUncertaintyImage"),
    "diagnostics": (MultiLabelSTAPLEImageFilter, "GetDiagnostics"),
}


@pytest.mark.parametrize(("kind", "output"), MAKERS.values(), ids=MAKERS)
def test_later_outputs_tell_how_far_they_are(kind: Fuser, output: str) -> None:
    filter_ = kind()
    filter_.Execute(three_labels())
    seen: list[float] = []
    filter_.AddCommand(sitk.sitkProgressEvent, lambda: seen.append(filter_.GetProgress()))
    getattr(filter_, output)()
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


@pytest.mark.parametrize(("kind", "output"), MAKERS.values(), ids=MAKERS)
def test_later_outputs_can_be_aborted_and_made_again(kind: Fuser, output: str) -> None:
    filter_ = kind()
    answer = filter_.Execute(three_labels())
    events: list[str] = []
    filter_.AddCommand(sitk.sitkAbortEvent, lambda: events.append("abort"))

    def abort() -> None:
        if not events:
            filter_.Abort()

    def call(name: str, kernel: Callable[..., Any], *args: Any, **options: Any) -> Any:
        abort()
        checkpoint()  # as a long-running kernel does
        return kernel(*args, **options)

    # Not every output calls a kernel, but each reports its progress.
    filter_.AddCommand(sitk.sitkProgressEvent, abort)
    with kernels(call), pytest.raises(ProcessAborted, match=filter_.GetName()):
        getattr(filter_, output)()
    assert events == ["abort"]
    getattr(filter_, output)()
    np.testing.assert_array_equal(filter_.GetLabelImage(), answer)


# -- batch ------------------------------------------------------------------------------------


def write_case(folder: Path) -> None:
    for number, rater in enumerate(three_labels()):
        image = sitk.GetImageFromArray(rater)
        folder.mkdir(parents=True, exist_ok=True)
        sitk.WriteImage(image, str(folder / f"rater{number}.nii.gz"))


def test_two_batch_workers_share_the_processors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b", "c"):
        write_case(tmp_path / "in" / name)
    asked: list[tuple[int, int]] = []

    def run_batch(cases: Any, plan: Plan, jobs: int, **_: Any) -> list[Any]:
        asked.append((jobs, plan.threads))
        for case in cases:
            with counted_threads() as given:
                assert run_case(case, plan).status == "done"
            assert max(given) == plan.threads
        return []

    monkeypatch.setattr(batch, "run_batch", run_batch)
    monkeypatch.setattr(batch, "default_threads", lambda: 2)
    pattern = str(tmp_path / "in" / "{case}" / "{rater}.nii.gz")
    for method in ("vote", "consensus"):
        folder = str(tmp_path / method)
        main(["batch", pattern, "-o", folder, "--jobs", "2", "--method", method])
    assert asked == [(2, 1), (2, 1)]
