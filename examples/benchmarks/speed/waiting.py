"""What people wait for around a fusion: processor seconds, limits, and what it took before.

Processor seconds of all threads are given, the least of several runs: a busy machine shows less in
them than by the clock. T is SimpleITK's vote of the same stack, Execute the fusion itself.
"""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import SimpleITK as sitk

import itk_consensus as ic
from itk_consensus.cli import main as command
from itk_consensus.filters.registry import load_filter
from itk_consensus.pipeline.cases import BatchCase
from itk_consensus.pipeline.one_case import Plan, run_case
from speed.volumes import ATLASES, CONTOUR_ERROR, CROWD, raters

Row = dict[str, Any]
Shape = tuple[int, ...]


class Wait(NamedTuple):
    """Something that is waited for, and at most how many `unit` it should take."""

    what: str
    unit: str  #: "T", "Execute" or "s"
    limit: float | None
    #: Processor seconds when the limits were set (issue 35), on another machine, if noted.
    before: float | None


#: Fusers that `slow` asks for: minutes each.
SLOW_FUSERS = (
    (Wait("SpatialSTAPLE, 5 atlases", "T", 30, 96), "SpatialSTAPLEFilter", 5),
    (Wait("BoundarySIMPLE", "T", 40, 94), "BoundarySIMPLEFilter", 15),
)
FUSERS = (
    (Wait("ShapeBasedAveraging", "T", 6, 7.4), "ShapeBasedAveragingFilter", 15),
    (Wait("SIMPLE", "T", None, 4.1), "SIMPLEFilter", 15),
    (Wait("Agreement with surfaces", "T", 12, 12.8), "AgreementFilter", 15),
)


def waiting(atlas: Shape, labels: int, organ: Shape, rounds: int, *, slow: bool) -> Iterator[Row]:
    """All of it; `slow` adds what takes minutes."""
    stack = _images(raters(f"{ATLASES} {labels}", atlas, 15))
    yield from _of_atlases(stack, rounds)
    for wait, name, number in (*FUSERS, *(SLOW_FUSERS if slow else ())):
        some, filter_ = stack[:number], load_filter(name)
        vote = least(lambda some=some: sitk.LabelVoting(some), rounds)
        yield row_of(wait, least(lambda f=filter_, some=some: f().Execute(some), 1), vote)
    del stack
    for kind, before in ((CONTOUR_ERROR, 0.47), (CROWD, 2.8)):
        some = _images(raters(kind, organ, 5))
        vote = least(lambda some=some: sitk.LabelVoting(some), rounds)
        wait = Wait(f"Consensus, {kind}", "T", 6, before)
        yield row_of(wait, least(lambda some=some: ic.Consensus(some), rounds), vote)
    yield from _of_small_cases()


def _of_atlases(stack: Sequence[Any], rounds: int) -> Iterator[Row]:
    vote = least(lambda: sitk.LabelVoting(stack), rounds)
    fuser = ic.ConsensusFilter()
    execute = least(lambda: fuser.Execute(stack), rounds)
    yield row_of(Wait("Consensus, atlases", "T", 6, 9.2), execute, vote)
    for wait, output in (
        (Wait("its uncertainty", "Execute", 1, 8), fuser.GetUncertaintyImage),
        (Wait("its probability, after that", "Execute", 1, 3.6), fuser.GetProbabilityImage),
        (Wait("its diagnostics", "Execute", 1, None), fuser.GetDiagnostics),
        # The explanation counts those lost, gained and lone.
        (Wait("components lost, gained, lone", "Execute", 1, 33.5), fuser.GetExplanation),
        (Wait("resolution", "Execute", 1, 57), fuser.GetResolution),
    ):
        yield row_of(wait, least(output, 1), execute)
    voter = ic.MajorityVoteFilter()
    voted = least(lambda: voter.Execute(stack), rounds)
    brief = least(lambda: voter.GetDiagnostics(full=False), 1)
    yield row_of(Wait("diagnostics of a vote, not full", "T", None, 13.9), brief, vote)
    with TemporaryDirectory() as name:
        folder = Path(name)
        files = [str(folder / f"{number}.nii.gz") for number in range(len(stack))]
        for image, file in zip(stack, files, strict=True):
            sitk.WriteImage(image, file)
        for wait, words, alone in (
            (Wait("itk-consensus fuse", "Execute", 2, 96), [], execute),
            (Wait("fuse --method vote", "Execute", 2, 16.8), ["--method", "vote"], voted),
        ):
            output = ["-o", str(folder / "fused.nii.gz"), "--overwrite"]
            line = ["fuse", *files, *output, *words]
            yield row_of(wait, least(lambda line=line: _quietly(line), 1), alone)


def _of_small_cases() -> Iterator[Row]:
    for side, before, limit in ((512, 0.023, 0.010), (16, 0.0065, 0.002)):
        images = _images(_discs(side))
        name = f"Consensus, {side} x {side}, 4 readers"
        yield row_of(Wait(name, "s", limit, before), least(lambda i=images: ic.Consensus(i), 20))
    with TemporaryDirectory() as name:
        folder = Path(name)
        files = [folder / f"{number}.nii.gz" for number in range(4)]
        for image, file in zip(_images(_discs(512)), files, strict=True):
            sitk.WriteImage(image, str(file))
        # What a worker does, in this process, whose processor seconds are counted.
        plans = iter(Plan("vote", folder / f"out{number}") for number in range(20))
        case = BatchCase.of_files("one", files, None)
        seconds = least(lambda: run_case(case, next(plans)), 20)
        yield row_of(Wait("a case of batch, 512 x 512, vote", "s", 0.015, 0.052), seconds)
    yield row_of(Wait("import of the command line", "s", 0.3, 0.85), _import_seconds())


def least(call: Callable[[], Any], rounds: int) -> float:
    """Processor seconds of the quickest of several calls."""
    best = float("inf")
    for _ in range(rounds):
        start = time.process_time()
        result = call()
        best = min(best, time.process_time() - start)
        del result
    return best


def waiting_line(row: Row) -> str:
    """One row, for the terminal."""
    unit, ratio, limit = row["unit"], row["ratio"], row["limit"]
    before = row["before_seconds"]
    before = "" if before is None else f"; before: {before:g} s"
    verdict = "no limit"
    if limit is not None:
        verdict = f"at most {limit:g} {unit}: {'met' if row['met'] else 'not met'}"
    return (
        f"  {row['processor_seconds']:8.3f} s  {ratio:8.2f} {unit:<8} {row['what']:<36} "
        f"({verdict}{before}{row.get('note', '')})"
    )


def row_of(wait: Wait, seconds: float, unit_seconds: float = 1.0) -> Row:
    """What was measured, beside its limit."""
    ratio = seconds / unit_seconds
    return {
        "what": wait.what,
        "processor_seconds": seconds,
        "unit": wait.unit,
        "unit_seconds": unit_seconds,
        "ratio": ratio,
        "limit": wait.limit,
        "met": None if wait.limit is None else ratio <= wait.limit,
        "before_seconds": wait.before,
    }


def _images(stack: Sequence[Any]) -> list[Any]:
    return [sitk.GetImageFromArray(rater) for rater in stack]


def _discs(side: int) -> list[Any]:
    """Four readers of a disc, each with a centre and a radius of its own."""
    y, x = np.mgrid[:side, :side]
    return [
        (np.hypot(y - side / 2 + j, x - side / 2 - j / 2) < side / 4 + j / 3).astype(np.uint8)
        for j in range(4)
    ]


def _quietly(words: list[str]) -> None:
    with contextlib.redirect_stdout(io.StringIO()):
        if command(words) != 0:
            raise RuntimeError(f"{words[0]} failed")


def _import_seconds() -> float:
    """Of a fresh Python that has read the files before."""
    script = "import time, itk_consensus.cli.fuse; print(time.process_time())"
    bare = "import time; print(time.process_time())"
    best = dict.fromkeys((script, bare), float("inf"))
    for _ in range(5):
        for text in best:
            said = subprocess.run(
                [sys.executable, "-c", text], check=True, capture_output=True, text=True
            )
            best[text] = min(best[text], float(said.stdout))
    return best[script] - best[bare]
