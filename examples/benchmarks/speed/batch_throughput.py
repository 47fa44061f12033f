"""Measure the speed-up with two workers instead of one on many small cases, one of them corrupt.

Writes its cases to a temporary folder:  python -m examples.benchmarks.speed.batch_throughput
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
import SimpleITK as sitk

from itk_consensus.batch.batch import run_batch
from itk_consensus.batch.cases import BatchCase, find_cases
from itk_consensus.batch.one_case import FAILED
from itk_consensus.batch.plan import Plan


def write_cases(folder: Path, number: int, side: int) -> list[BatchCase]:
    """Write spheres drawn by four raters with different radii, and one file that is not an
    image.
    """
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


def timed(cases: list[BatchCase], plan: Plan, jobs: int) -> tuple[float, list[str]]:
    """Return the seconds for all cases, and the names of those that failed."""
    start = time.perf_counter()
    results = run_batch(cases, plan, jobs=jobs)
    took = time.perf_counter() - start
    return took, [result.case for result in results if result.status == FAILED]


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
        # The fork server starts only once, so it is not part of the measured time.
        timed(cases[:1], Plan("consensus", folder / "before"), 1)
        best = {1: 0.0, 2: 0.0}
        for turn in range(arguments.rounds):
            for jobs in best:
                output = folder / f"out-{turn}-{jobs}"
                plan = Plan("consensus", output, reports=arguments.reports)
                took, failures = timed(cases, plan, jobs)
                best[jobs] = max(best[jobs], len(cases) / took)
                print(
                    f"{jobs} worker(s): {len(cases) / took:.1f} cases/s; failed: {failures}",
                    flush=True,
                )
        print(f"two workers are {best[2] / best[1]:.2f} times as fast as one")
        took, _ = timed(cases, plan, 2)
        print(f"taken up again with nothing to do: {took:.1f} s")


if __name__ == "__main__":
    main()
