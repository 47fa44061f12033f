"""How much faster two workers are than one, on many small cases, one of them corrupt.

Writes its cases into a temporary folder:  python examples/benchmarks/batch_throughput.py
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path

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


def processor_seconds() -> float:
    """What finished workers used; unlike the clock it hardly minds what else the machine does."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Time one worker and two on the same cases."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=500)
    parser.add_argument("--side", type=int, default=32)
    parser.add_argument("--reports", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        inputs = folder / "in"
        inputs.mkdir()
        cases = write_cases(inputs, arguments.cases, arguments.side)
        rates = {}
        for jobs in (1, 2):
            plan = Plan("consensus", folder / f"out-{jobs}", reports=arguments.reports)
            start, used = time.perf_counter(), processor_seconds()
            results = run_batch(cases, plan, jobs=jobs)
            rates[jobs] = len(cases) / (time.perf_counter() - start)
            failures = [result.case for result in results if result.status == FAILED]
            print(
                f"{jobs} worker(s): {rates[jobs]:.1f} cases/s, "
                f"{processor_seconds() - used:.1f} s of processor time, failed: {failures}",
                flush=True,
            )
        print(f"two workers are {rates[2] / rates[1]:.2f} times as fast as one")
        start = time.perf_counter()
        run_batch(cases, plan, jobs=2)
        print(f"taken up again with nothing to do: {time.perf_counter() - start:.1f} s")


if __name__ == "__main__":
    main()
