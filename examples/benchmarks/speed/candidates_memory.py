"""Measure the accumulator's memory for hundreds of candidates, in units of one candidate's volume.

    python -m examples.benchmarks.speed.candidates_memory

The increase of the process's peak memory since the first candidate is measured. Candidates have the
same 100 structures, slightly displaced. The requirement for masks, with ``--candidates 300`` of the
size 160 x 192 x 160, is less than four volumes of labels.
"""

from __future__ import annotations

import argparse
import ctypes
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

import itk_consensus as ic
from examples.benchmarks.speed.chunked_throughput import peak_memory, small_case

SHAPE = (160, 192, 160)


def candidates(number: int, labels: int, shape: tuple[int, ...]) -> Iterator[np.ndarray]:
    """Yield copies of the same structures, shifted by up to two voxels."""
    tile = small_case(labels, 0)
    repeats = [-(-n // c) + 1 for n, c in zip(shape, tile.shape, strict=True)]
    whole = np.tile(tile, repeats)
    for index in range(number):
        shift = np.random.default_rng(3000 + index).integers(0, 3, 3)
        box = tuple(slice(s, s + n) for s, n in zip(shift, shape, strict=True))
        yield np.ascontiguousarray(whole[box])


def accumulated(made: Iterable[np.ndarray]) -> np.ndarray:
    """Return the vote of candidates that are added one by one."""
    votes = ic.PatternAccumulator()
    for candidate in made:
        votes.add(candidate)
        del candidate  # release the candidate before the next one is read
    fused: np.ndarray = votes.fuse(ic.LabelVotingImageFilter())
    return fused


def run(number: int, labels: int) -> None:
    """Accumulate in this process; print its memory use beyond that of generating the candidates."""
    made = candidates(number + 1, labels, SHAPE)
    first = next(made)
    accumulated([first[:8, :8, :8]])  # imports everything before the measurement
    del first
    ctypes.CDLL(None).malloc_trim(0)  # otherwise reused memory would not be counted
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak
    before, start = peak_memory(), time.perf_counter()
    fused = accumulated(made)
    volumes = (peak_memory() - before) * 1e9 / fused.nbytes
    print(
        f"{number} candidates of {labels} labels, {time.perf_counter() - start:.0f} s, "
        f"{volumes:.2f} volumes of {fused.dtype}, candidate and result included; "
        f"{len(np.unique(fused))} labels came out",
        flush=True,
    )


def main() -> None:
    """Measure masks and many labels, each in a separate process."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--candidates", type=int, default=300)
    parser.add_argument("--only", type=int, metavar="LABELS")
    arguments = parser.parse_args()
    if arguments.only:
        run(arguments.candidates, arguments.only)
        return
    for labels in (2, 100):
        words = ["--candidates", str(arguments.candidates), "--only", str(labels)]
        subprocess.run([sys.executable, "-m", __spec__.name, *words], check=True)


if __name__ == "__main__":
    main()
