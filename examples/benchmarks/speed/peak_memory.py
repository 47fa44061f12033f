"""Measure the peak memory of one operation in a separate process.

The process runs this file as a module: it loads the inputs, resets the kernel's high-water mark to
the memory in use, runs the operation once, and prints the increase of the mark.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np

from examples.benchmarks.speed.operations import OPERATIONS
from examples.benchmarks.speed.volumes import Raters, raters

T = TypeVar("T")

WARM_UP_SHAPE = (16, 16, 16)

# glibc reuses freed blocks, so later calls would appear to need no memory. With a fixed threshold,
# every array gets its own pages, which are released with it.
HONEST_MALLOC = {"MALLOC_MMAP_THRESHOLD_": "65536"}


def save_raters(stack: Raters, folder: Path) -> list[Path]:
    """Write one file per rater, for `peak_bytes`."""
    files = [folder / f"rater{index:02}.npy" for index in range(len(stack))]
    for file, rater in zip(files, stack, strict=True):
        np.save(file, rater)
    return files


def peak_bytes(operation: str, kind: str, files: Sequence[Path]) -> int | None:
    """Return the peak memory of the operation beyond its inputs, including its output.

    None if the system has no high-water mark that can be reset (only Linux has one).
    """
    child = subprocess.run(
        [
            sys.executable,
            "-m",
            "examples.benchmarks.speed.peak_memory",
            operation,
            kind,
            *map(str, files),
        ],
        env={**os.environ, **HONEST_MALLOC, "PYTHONPATH": os.pathsep.join(sys.path)},
        check=True,
        stdout=subprocess.PIPE,
    )
    peak: int | None = json.loads(child.stdout)
    return peak


def _measure(operation: str, kind: str, files: Sequence[str]) -> int | None:
    tool = OPERATIONS[operation]
    # The first call loads modules, whose memory is not counted.
    tool.run(tool.images(raters(kind, WARM_UP_SHAPE, len(files))))
    inputs = tool.images(np.load(file) for file in files)
    return rise_of_peak(lambda: tool.run(inputs))[1]


def rise_of_peak(run: Callable[[], T]) -> tuple[T, int | None]:
    """Return the result of a call, and the increase of peak memory during it."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return run(), None
    before = status_bytes("VmRSS")
    output = run()
    return output, status_bytes("VmHWM") - before


def status_bytes(field: str) -> int:
    """Return a field of this process's status, such as VmHWM, its peak memory since it was
    executed.

    Unlike VmHWM, `ru_maxrss` of a new process starts from the peak of its parent.
    """
    lines = Path("/proc/self/status").read_text().splitlines()
    kilobytes = next(line.split()[1] for line in lines if line.startswith(f"{field}:"))
    return int(kilobytes) * 1024


if __name__ == "__main__":
    print(json.dumps(_measure(sys.argv[1], sys.argv[2], sys.argv[3:])))
