"""How much faster two workers are than one, on many small cases, one of them corrupt.

Writes its cases into a temporary folder:  python examples/benchmarks/batch_throughput.py
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import SimpleITK as sitk

from itk_consensus.pipeline.batch import run_batch
from itk_consensus.pipeline.cases import BatchCase, find_cases
from itk_consensus.pipeline.one_case import FAILED, Plan


def write_cases(folder: Path, number: int, side: int) -> list[BatchCase]:
    """Spheres drawn by four raters of different size, and one file that is no image."""
    grid = np.indices((side, side, side)) - side / 2
    rng = np.random.default_rng(0)
    for index in range(number):
        case = folder / f"case-{index:04d}"
        case.mkdir()
        for rater in range(4):
            center = rng.normal(0, 1.5, (3, 1, 1, 1))
            mask = ((grid - center) ** 2).sum(axis=0) < (side * rng.uniform(0.22, 0.3)) ** 2
            image = sitk.GetImageFromArray(mask.astype(np.uint8))
            sitk.WriteImage(image, str(case / f"rater-{rater}.nii.gz"))
    (folder / "case-0007" / "rater-1.nii.gz").write_bytes(b"no image")
    return find_cases(f"{folder}/{{case}}/{{rater}}.nii.gz")


class Round(NamedTuple):
    """One run of all cases: seconds by the clock, and of processors in parent and workers.

    Unlike the clock, processors hardly mind what else the machine does.
    """

    clock: float
    parent: float
    workers: float


def processor_seconds(who: int) -> float:
    """What this process, or its finished workers, used."""
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def timed(cases: list[BatchCase], plan: Plan, jobs: int) -> tuple[Round, list[str]]:
    """Fuse all cases; also the names of those that failed."""
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    start, before = time.perf_counter(), [processor_seconds(kind) for kind in kinds]
    results = run_batch(cases, plan, jobs=jobs)
    clock = time.perf_counter() - start
    used = [processor_seconds(kind) - then for kind, then in zip(kinds, before, strict=True)]
    return Round(clock, *used), [result.case for result in results if result.status == FAILED]


def main() -> None:
    """Time one worker and two on the same cases."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=500)
    parser.add_argument("--side", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=2, help="one and two workers take turns")
    parser.add_argument("--reports", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        inputs = folder / "in"
        inputs.mkdir()
        cases = write_cases(inputs, arguments.cases, arguments.side)
        best = {1: 0.0, 2: 0.0}
        for turn in range(arguments.rounds):
            for jobs in best:
                output = folder / f"out-{turn}-{jobs}"
                plan = Plan("consensus", output, reports=arguments.reports)
                took, failures = timed(cases, plan, jobs)
                best[jobs] = max(best[jobs], len(cases) / took.clock)
                print(
                    f"{jobs} worker(s): {len(cases) / took.clock:.1f} cases/s; processor time "
                    f"{took.workers:.1f} s of workers, {took.parent:.1f} s of the parent; "
                    f"failed: {failures}",
                    flush=True,
                )
        print(f"two workers are {best[2] / best[1]:.2f} times as fast as one")
        took, _ = timed(cases, plan, 2)
        print(f"taken up again with nothing to do: {took.clock:.1f} s")


if __name__ == "__main__":
    main()
