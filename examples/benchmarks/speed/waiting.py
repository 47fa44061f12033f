"""Measure waiting times before and after a fusion: processor seconds, limits, and earlier values.

Times are processor seconds of all threads, the minimum of several runs, since a busy machine
affects them less than elapsed time. T denotes the time of SimpleITK's vote on the same stack,
Execute the time of the fusion itself.
"""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import SimpleITK as sitk

import itk_consensus as ic
from examples.benchmarks.speed.operations import OPERATIONS
from examples.benchmarks.speed.peak_memory import peak_bytes, save_raters
from examples.benchmarks.speed.reasons import reason
from examples.benchmarks.speed.volumes import (
    ATLAS_SEED,
    ATLASES,
    CONTOUR_ERROR,
    CROWD,
    Raters,
    raters,
)
from itk_consensus.batch.cases import BatchCase
from itk_consensus.batch.one_case import DONE, run_case
from itk_consensus.batch.plan import Plan
from itk_consensus.cli import main as command
from itk_consensus.core.work import default_threads
from itk_consensus.methods.registry import load_filter
from itk_consensus.simulation.atlas_phantoms import atlas_case

Row = dict[str, Any]
Shape = tuple[int, ...]


class Wait(NamedTuple):
    """An operation, and the limit of its time in `unit`."""

    what: str
    unit: str  #: "T", "Execute", "s" or, if not a time is measured, the counted quantity
    limit: float | None = None
    #: Value on another machine when the limits were set, in processor seconds or `unit`.
    before: float | None = None


FUSERS = (
    (Wait("SpatialSTAPLE, 5 atlases", "T", 30, 96), "SpatialSTAPLEFilter", 5),
    (Wait("BoundarySIMPLE", "T", 40, 94), "BoundarySIMPLEFilter", 15),
    (Wait("ShapeBasedAveraging", "T", 6, 7.4), "ShapeBasedAveragingFilter", 15),
    (Wait("SIMPLE", "T", None, 4.1), "SIMPLEFilter", 15),
    (Wait("Agreement with surfaces", "T", 12, 12.8), "AgreementFilter", 15),
)
ATLAS_FUSERS = (
    (Wait("joint fusion", "T"), "JointLabelFusion, SimpleITK images"),
    (Wait("local vote", "T", None, 3.9), "LocallyWeightedVote, SimpleITK images"),
)


def waiting(atlas: Shape, labels: int, organ: Shape, rounds: int) -> Iterator[Row]:
    """Measure all waiting times."""
    yield from _of_atlases(f"{ATLASES} {labels}", atlas, rounds)
    yield _joint_fusion_as_before(atlas, labels, rounds)
    for kind, before in ((CONTOUR_ERROR, 0.47), (CROWD, 2.8)):
        some = _images(raters(kind, organ, 5))
        vote = least(lambda some=some: sitk.LabelVoting(some), rounds)
        wait = Wait(f"Consensus, {kind}", "T", 6, before)
        yield row_of(wait, least(lambda some=some: ic.Consensus(some), rounds), vote)
    yield from _small_cases()


def _of_atlases(kind: str, atlas: Shape, rounds: int) -> Iterator[Row]:
    maps = raters(kind, atlas, 15)
    stack = _images(maps)
    vote = least(lambda: sitk.LabelVoting(stack), rounds)
    fuser = ic.ConsensusFilter()
    execute = least(lambda: fuser.Execute(stack), rounds)
    yield from _around(stack, execute, rounds)
    half = tuple(side // 2 for side in atlas)
    yield from _threads(_images(raters(kind, half, 5)))
    yield from _consensus(fuser, execute, vote)
    for wait, name, number in FUSERS:
        some, filter_ = stack[:number], load_filter(name)
        unit = vote if number == 15 else least(lambda some=some: sitk.LabelVoting(some), rounds)
        yield row_of(wait, least(lambda f=filter_, some=some: f().Execute(some), 1), unit)
    yield from _atlas_fusers(maps, kind, vote)


def _around(stack: Sequence[Any], execute: float, rounds: int) -> Iterator[Row]:
    """Measure commands, relative to the fusion that they call and to reading their files."""
    voter = ic.MajorityVoteFilter()
    voted = least(lambda: voter.Execute(stack), rounds)
    methods = {"consensus": execute, "vote": voted}
    before = {"consensus": (96, None), "vote": (16.8, 18.5)}
    with TemporaryDirectory() as name:
        folder = Path(name)
        files = [folder / f"{number}.nii.gz" for number in range(len(stack))]
        for image, file in zip(stack, files, strict=True):
            sitk.WriteImage(image, str(file))
        output, batches = folder / "fused.nii.gz", iter(range(100))
        case = BatchCase.of_files("one", files, None)
        for method, alone in methods.items():
            words = ["--method", method, "-o", str(output), "--overwrite"]
            line = ["fuse", *map(str, files), *words]
            fused = least(lambda line=line: _quietly(line), rounds if method == "vote" else 1)
            yield row_of(
                Wait(f"fuse --method {method}", "Execute", 2, before[method][0]), fused, alone
            )
            ran = least(lambda m=method: _run(case, Plan(m, folder / f"out{next(batches)}")), 1)
            yield row_of(
                Wait(f"batch, a case by {method}", "Execute", 2, before[method][1]), ran, alone
            )

        def copied() -> None:
            images = [sitk.ReadImage(str(file)) for file in files]
            sitk.WriteImage(images[0], str(output), True)

        floor = Wait("SimpleITK reads these files and writes one", "Execute of vote")
        yield row_of(floor, least(copied, rounds), voted)
    brief = least(lambda: voter.GetDiagnostics(full=False), 1)
    yield row_of(Wait("diagnostics of a vote, not full", "s", None, 13.9), brief)


def _threads(stack: Sequence[Any]) -> Iterator[Row]:
    """Measure the share of other threads if one thread is requested, and the number of threads."""
    for name in ("ConsensusFilter", "CoherenceVoteFilter", "HybridFusionFilter"):
        fuser = load_filter(name)(NumberOfThreads=1)
        fuser.Execute(stack)
        for what, call in (
            (name, lambda f=fuser: f.Execute(stack)),
            (f"diagnostics of {name}", fuser.GetDiagnostics),
        ):
            share = _share_of_other_threads(call)
            wait = Wait(f"{what}, of 1 thread: time of others", "%", 1, 78)
            yield _counted(wait, 100 * share)
    for threads in (1, 2):
        fuser = ic.ConsensusFilter(NumberOfThreads=threads)
        made = _most_threads(lambda f=fuser: (f.Execute(stack), f.GetDiagnostics()))
        # With one thread requested, no other is started; with more, the caller only collects
        # results.
        limit = 0 if threads == 1 else threads
        yield _counted(Wait(f"threads that Consensus of {threads} adds", "threads", limit), made)
    with TemporaryDirectory() as name:
        folder = Path(name)
        files = [folder / f"{number}.nii.gz" for number in range(len(stack))]
        for image, file in zip(stack, files, strict=True):
            sitk.WriteImage(image, str(file))
        case, each = BatchCase.of_files("one", files, None), max(default_threads() // 2, 1)
        plan = Plan("consensus", folder / "out", threads=each)
        limit = 0 if each == 1 else each
        wait = Wait(f"threads that one of two workers of {each} adds", "threads", limit)
        yield _counted(wait, _most_threads(lambda: _run(case, plan)))


def _consensus(fuser: Any, execute: float, vote: float) -> Iterator[Row]:
    """Measure the consensus of atlases, and outputs requested after it."""
    yield row_of(Wait("Consensus, atlases", "T", 6, 9.2), execute, vote)
    for wait, output in (
        (Wait("its uncertainty", "Execute", 1, 8), fuser.GetUncertaintyImage),
        (Wait("its probability, after that", "Execute", 1, 3.6), fuser.GetProbabilityImage),
        (Wait("its diagnostics", "Execute", 1, None), fuser.GetDiagnostics),
        # The explanation counts lost, gained and single-rater components.
        (Wait("components lost, gained, lone", "Execute", 1, 33.5), fuser.GetExplanation),
        (Wait("resolution", "Execute", 1, 57), fuser.GetResolution),
    ):
        yield row_of(wait, least(output, 1), execute)


def _atlas_fusers(maps: Raters, kind: str, vote: float) -> Iterator[Row]:
    """Measure fusers that use the atlases' images, with their default radii."""
    for wait, name in ATLAS_FUSERS:
        operation = OPERATIONS[name]
        atlases = operation.images(maps)
        yield row_of(wait, least(lambda o=operation, a=atlases: o.run(a), 1), vote)
    with TemporaryDirectory() as folder:
        files = save_raters(maps, Path(folder))
        for wait, name in ATLAS_FUSERS:
            peak = peak_bytes(name, kind, files)
            extra = None if peak is None else peak / maps[0].size - OPERATIONS[name].output_bytes
            memory = Wait(f"memory of {wait.what} beyond inputs", "bytes/voxel", 24, 240)
            yield _counted(memory, extra)


def _joint_fusion_as_before(atlas: Shape, labels: int, rounds: int) -> Row:
    """Measure joint fusion with the radii for which the limit was set, with which it took 27 T."""
    case = atlas_case(ATLAS_SEED, atlas, labels, 15, amplitude=2.0)
    radii = {"PatchRadius": 2.0, "SearchRadius": 0.0}
    filter_ = ic.JointLabelFusionFilter(Image=case.target, AtlasImages=case.images, **radii)
    maps = _images(case.maps)
    vote = least(lambda: sitk.LabelVoting(maps), rounds)
    seconds = least(lambda: filter_.Execute(case.maps), 1)
    return row_of(Wait("joint fusion, patch 2, no search", "T", 13.5, 24), seconds, vote)


def _small_cases() -> Iterator[Row]:
    for side, before, limit in ((512, 0.023, 0.010), (16, 0.0065, 0.002)):
        images = _images(_discs(side))
        name = f"Consensus, {side} x {side}, 4 readers"
        yield row_of(Wait(name, "s", limit, before), least(lambda i=images: ic.Consensus(i), 20))
    with TemporaryDirectory() as name:
        folder = Path(name)
        files = [folder / f"{number}.nii.gz" for number in range(4)]
        for image, file in zip(_images(_discs(512)), files, strict=True):
            sitk.WriteImage(image, str(file))
        # Do the work of a worker in this process, so that its CPU time is included.
        plans = iter(Plan("vote", folder / f"out{number}") for number in range(20))
        case = BatchCase.of_files("one", files, None)
        seconds = least(lambda: _run(case, next(plans)), 20)
        yield row_of(Wait("a case of batch, 512 x 512, vote", "s", 0.015, 0.052), seconds)
    line, libraries = _import_seconds("itk_consensus.cli.fuse", "numpy, SimpleITK")
    yield row_of(Wait("import of the command line", "s", 0.3, 0.85), line)
    yield row_of(Wait("import of NumPy and SimpleITK alone", "s"), libraries)


def least(call: Callable[[], Any], rounds: int) -> float:
    """Return the minimum CPU time of several calls, in seconds."""
    best = float("inf")
    for _ in range(rounds):
        start = time.process_time()
        result = call()
        best = min(best, time.process_time() - start)
        del result
    return best


def waiting_line(row: Row) -> str:
    """Format one row for the terminal."""
    limit, before = row["limit"], row["before"]
    timed = row["processor_seconds"] is not None
    seconds = f"{row['processor_seconds']:8.3f} s" if timed else " " * 10
    ratio = "       ?" if row["ratio"] is None else f"{row['ratio']:8.3g}"
    verdict = "no limit"
    if limit is not None:
        met = {True: "met", False: "not met", None: "not measurable on this system"}[row["met"]]
        verdict = f"at most {limit:g} {row['unit']}: {met}"
    then = "" if before is None else f"; before: {before:g} {'s' if timed else row['unit']}"
    said = "; ".join(part for part in (verdict + then, reason(row)) if part)
    return f"  {seconds}  {ratio} {row['unit']:<16} {row['what']:<52} ({said})"


def row_of(wait: Wait, seconds: float, unit_seconds: float = 1.0) -> Row:
    """Return the row of an operation: its time in seconds and in units."""
    row = _counted(wait, seconds / unit_seconds)
    return row | {"processor_seconds": seconds, "unit_seconds": unit_seconds}


def _counted(wait: Wait, number: float | None) -> Row:
    """Return the row of a number that is not a time; None if the system does not report it."""
    unknown = number is None or wait.limit is None
    return {
        "what": wait.what,
        "processor_seconds": None,
        "unit": wait.unit,
        "unit_seconds": None,
        "ratio": number,
        "limit": wait.limit,
        "met": None if unknown else number <= wait.limit,
        "before": wait.before,
    }


def _share_of_other_threads(call: Callable[[], Any]) -> float:
    """Return the share of a call's processor time spent in other threads."""
    own, everybody = time.thread_time(), time.process_time()
    call()
    own, everybody = time.thread_time() - own, time.process_time() - everybody
    return max(0.0, 1 - own / everybody)


def _most_threads(call: Callable[[], Any]) -> float | None:
    """Return the largest number of additional threads in a call; None if the system does not
    report it.

    Rare samples may contain more, since terminated threads remain listed for a moment.
    """
    tasks, done, seen = Path("/proc/self/task"), threading.Event(), [0]
    if not tasks.exists():
        call()
        return None

    def look() -> None:
        while not done.wait(0.001):
            seen.append(len(os.listdir(tasks)))

    watcher = threading.Thread(target=look)
    watcher.start()
    before = len(os.listdir(tasks))
    call()
    done.set()
    watcher.join()
    return max(0.0, float(np.quantile(seen, 0.99, method="lower")) - before)


def _images(stack: Sequence[Any]) -> list[Any]:
    return [sitk.GetImageFromArray(rater) for rater in stack]


def _discs(side: int) -> list[Any]:
    """Return masks of a disc by four readers, with different centres and radii."""
    y, x = np.mgrid[:side, :side]
    return [
        (np.hypot(y - side / 2 + j, x - side / 2 - j / 2) < side / 4 + j / 3).astype(np.uint8)
        for j in range(4)
    ]


def _quietly(words: list[str]) -> None:
    with contextlib.redirect_stdout(io.StringIO()):
        if command(words) != 0:
            raise RuntimeError(f"{words[0]} failed")


def _run(case: BatchCase, plan: Plan) -> None:
    result = run_case(case, plan)
    if result.status != DONE:
        raise RuntimeError(result.finding)


def _import_seconds(*modules: str) -> list[float]:
    """Return the seconds to import the package in a new Python, excluding the start of Python
    itself.
    """
    scripts = [f"import {names}" for names in ("sys", *modules)]
    best = [float("inf")] * len(scripts)
    with TemporaryDirectory() as folder:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": folder}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        for _ in range(6):
            for number, script in enumerate(scripts):
                said = subprocess.run(
                    [sys.executable, "-c", f"{script}, time; print(time.process_time())"],
                    env=environment,
                    check=True,
                    capture_output=True,
                    text=True,
                )
                best[number] = min(best[number], float(said.stdout))
    return [seconds - best[0] for seconds in best[1:]]
