"""Measure fusion of volumes larger than memory against reading and writing with dask.

    python -m examples.benchmarks.speed.chunked_throughput --folder /scratch

creates stores by repeating a small case, fuses them in separate processes, and writes
``chunked_throughput.json``, from which ``make docs`` writes the figures of
``docs/howto/out-of-core.md``.
``--shrink 8`` divides the size along every axis by 8, for a quick test.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import zarr
from scipy.spatial import cKDTree

import itk_consensus
from examples.benchmarks.run_facts import run_facts
from examples.benchmarks.written_figures import cost_table
from itk_consensus.chunked.big_volumes import block_size, fuse_volumes
from itk_consensus.chunked.volumes import open_volume

RESULTS = Path(__file__).with_suffix(".json")
RATERS = 5
CHUNK = (128, 128, 128)
STARTS = 20

#: Shapes of the stores, and their numbers of labels.
BINARY = (512, 2048, 2048), 2
ATLASES = (512, 1024, 1024), 100


def small_case(labels: int, rater: int, shape: tuple[int, ...] = CHUNK) -> np.ndarray:
    """Return cells around seeds, slightly displaced by every rater; the surroundings have label
    0.
    """
    seeds = np.random.default_rng(3000).uniform(0.15, 0.85, (labels - 1, 3)) * shape
    moved = seeds + np.random.default_rng(3001 + rater).normal(0, 1.0, seeds.shape)
    grid = np.stack(np.meshgrid(*map(np.arange, shape), indexing="ij"), axis=-1)
    distance, nearest = cKDTree(moved).query(grid.reshape(-1, 3))
    reach = 0.35 * shape[0] if labels == 2 else 0.12 * shape[0]
    cells = np.where(distance < reach, nearest + 1, 0)
    return cells.reshape(shape).astype(np.uint8)


def make_stores(folder: Path, shape: tuple[int, ...], labels: int) -> list[Path]:
    """Write one store per rater, by repeating a small case."""
    paths = []
    for rater in range(RATERS):
        path = folder / f"{labels}-labels-{rater}.zarr"
        store = zarr.create_array(str(path), shape=shape, chunks=CHUNK, dtype=np.uint8)
        repeats = [1, *(n // c for n, c in zip(shape[1:], CHUNK[1:], strict=True))]
        tile = np.tile(small_case(labels, rater), repeats)
        for start in range(0, shape[0], CHUNK[0]):
            store[start : start + CHUNK[0]] = tile[: min(CHUNK[0], shape[0] - start)]
        paths.append(path)
    return paths


# -- operations, each measured in a separate process ----------------------------------------------


def copy_with_dask(paths: list[Path], output: Path) -> None:
    """Read every store once and write one result, with the same blocks as the fusion."""
    import dask.array as da

    chunks = block_size(open_volume(paths[0]))
    arrays = [da.from_zarr(str(path), chunks=chunks) for path in paths]
    first = da.map_blocks(_first, *arrays, dtype=arrays[0].dtype)
    target = zarr.create_array(
        str(output), shape=first.shape, chunks=CHUNK, dtype=first.dtype, overwrite=True
    )
    da.store(first, target, lock=False)


def _first(*blocks: np.ndarray) -> np.ndarray:
    return blocks[0]


def fuse(method: str, paths: list[Path], output: Path) -> None:
    """Fuse from disk to disk."""
    fusers = {
        "STAPLE": itk_consensus.STAPLEImageFilter(NumberOfInitializations=STARTS),
        "MultiLabelSTAPLE": itk_consensus.MultiLabelSTAPLEImageFilter(),
        "CorrectedVote": itk_consensus.CorrectedVoteFilter(),
    }
    fuse_volumes(paths, output, fusers[method], overwrite=True)


def measured(what: str, paths: list[Path], output: Path) -> dict[str, float]:
    """Return seconds and peak memory of an operation in a separate process."""
    command = [sys.executable, "-m", __spec__.name, "--only", what, *map(str, [*paths, output])]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def run_only(words: list[str]) -> None:
    """Run one operation, and print its time and memory."""
    what, *names = words
    *paths, output = map(Path, names)
    started = time.perf_counter()
    if what == "dask alone":
        copy_with_dask(paths, output)
    else:
        fuse(what, paths, output)
    seconds = time.perf_counter() - started
    # Processor time hardly depends on other work on this machine.
    used = {"processor_seconds": time.process_time()}
    print(json.dumps({"seconds": seconds, **used, "peak_gb": peak_memory()}))


def peak_memory() -> float:
    """Return the peak memory of this process in gigabytes; getrusage would include its parent's."""
    status = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    line = next(line for line in status if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024 / 1e9


def compare(folder: Path, shape: tuple[int, ...], labels: int, methods: list[str]) -> list[Any]:
    """Alternate between all methods and plain dask; return the best of two runs each."""
    paths = make_stores(folder, shape, labels)
    output = folder / "fused.zarr"
    rounds: dict[str, list[dict[str, float]]] = {what: [] for what in ["dask alone", *methods]}
    for _ in range(2):
        for what, found in rounds.items():
            found.append(measured(what, paths, output))
            print(what, found[-1], flush=True)
    alone = [one["seconds"] for one in rounds["dask alone"]]
    gigabytes = RATERS * float(np.prod(shape)) / 1e9
    for path in [*paths, output]:
        shutil.rmtree(path)
    return [
        {
            "method": what,
            "shape": list(shape),
            "labels": labels,
            "gigabytes": gigabytes,
            "seconds": min(one["seconds"] for one in found),
            "processor_seconds": min(one["processor_seconds"] for one in found),
            "peak_gb": max(one["peak_gb"] for one in found),
            "times_dask_alone": min(one["seconds"] for one in found) / min(alone),
            "each_round": [one["seconds"] / other for one, other in zip(found, alone, strict=True)],
        }
        for what, found in rounds.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("bench-output"))
    parser.add_argument("--shrink", type=int, default=1)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--only", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.only:
        run_only(arguments.only)
        return
    arguments.folder.mkdir(parents=True, exist_ok=True)
    results = []
    for (shape, labels), methods in (
        (BINARY, ["STAPLE"]),
        (ATLASES, ["MultiLabelSTAPLE", "CorrectedVote"]),
    ):
        smaller = tuple(max(size // arguments.shrink, CHUNK[0]) for size in shape)
        results += compare(arguments.folder, smaller, labels, methods)
    arguments.results.write_text(
        json.dumps({"run": run_facts(), "rows": results}, indent=1) + "\n", encoding="utf-8"
    )
    print(cost_table(results))


if __name__ == "__main__":
    main()
