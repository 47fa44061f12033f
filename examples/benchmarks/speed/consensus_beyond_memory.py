"""Measure processor time and peak memory of Consensus on volumes larger than memory.

    python -m examples.benchmarks.speed.consensus_beyond_memory --folder /scratch

makes a cell by three readers, in which tubes, blobs and small lesions are periodic. One cell, and
two, are fused in memory and from store to store, which must give the same labels; 4 x 4 x 4 cells,
of which the central 2 x 1 x 1 contain tissue, as in microscopy, are fused from store to store only.
Every run is a separate process. ``--shrink 2`` divides the cell's sides, ``--cells 1`` leaves out
the large store.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import zarr
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

import itk_consensus as ic
from examples.benchmarks.run_facts import run_facts
from examples.benchmarks.speed.chunked_throughput import peak_memory
from itk_consensus.chunked.big_volumes import fuse_volumes

RESULTS = Path(__file__).with_suffix(".json")
CELL = (256, 512, 512)
IN_MEMORY = ((1, 1, 1), (2, 1, 1))
REPEATED = (4, 4, 4)
#: Range of cells with tissue along each axis.
TISSUE = ((1, 3), (1, 2), (1, 2))
RATERS = 3
CHUNK = 128
SEED = 3000

Array = NDArray[np.float32]


def smooth_noise(rng: np.random.Generator, shape: tuple[int, ...], sigma: float) -> Array:
    """Return periodic smooth noise of unit variance."""
    coarse = 2 ** int(np.log2(sigma / 2))
    noise = rng.standard_normal([size // coarse for size in shape], np.float32)
    noise = gaussian_filter(noise, sigma / coarse, mode="wrap")
    for axis in range(noise.ndim):
        noise = _finer(noise, axis, coarse)
    return np.asarray(noise / noise.std(), np.float32)


def _finer(values: Array, axis: int, times: int) -> Array:
    """Interpolate linearly and periodically along an axis."""
    after = np.roll(values, -1, axis)
    parts = [values + np.float32(k / times) * (after - values) for k in range(times)]
    joined = np.stack(parts, axis + 1)
    shape = list(values.shape)
    shape[axis] *= times
    return joined.reshape(shape)


def readers(shape: tuple[int, ...]) -> list[NDArray[np.uint8]]:
    """Return masks by three readers: blobs and tubes that cross cell borders, and lesions that
    some readers miss.
    """
    rng = np.random.default_rng(SEED)
    # Large blobs, and tubes where two smooth fields are both near zero.
    level = smooth_noise(rng, shape, 40.0) - 1.9
    first, second = (smooth_noise(rng, shape, 40.0) for _ in range(2))
    np.maximum(level, 0.12 - np.hypot(first, second), out=level)
    del first, second
    lesions = smooth_noise(rng, shape, 5.0) - 3.9
    scale = np.float32(0.03)
    found = []
    for _ in range(RATERS):
        wobble = scale * smooth_noise(rng, shape, 4.0)
        overlooked = smooth_noise(rng, shape, 20.0) > 0.8
        own = (level + wobble > 0) | ((lesions + wobble > 0) & ~overlooked)
        found.append(own.astype(np.uint8))
    return found


def write_stores(
    folder: Path, cell: list[NDArray[np.uint8]], repeats: tuple[int, ...]
) -> list[Path]:
    """Write one store per reader, by repeating a cell."""
    paths = []
    for number, reader in enumerate(cell):
        path = folder / f"{number}.zarr"
        shape = tuple(size * times for size, times in zip(reader.shape, repeats, strict=True))
        chunks = tuple(min(CHUNK, size) for size in shape)
        store = zarr.create_array(str(path), shape=shape, chunks=chunks, dtype=np.uint8)
        for place in np.ndindex(*repeats):
            if repeats == REPEATED and not all(
                first <= at < end for at, (first, end) in zip(place, TISSUE, strict=True)
            ):
                continue
            corner = [at * size for at, size in zip(place, reader.shape, strict=True)]
            box = tuple(slice(a, a + n) for a, n in zip(corner, reader.shape, strict=True))
            store[box] = reader
        paths.append(path)
    return paths


# -- operations, each measured in a separate process ----------------------------------------------


def run_only(what: str, folder: Path) -> None:
    """Run one operation, and print its time and memory."""
    paths = [folder / f"{number}.zarr" for number in range(RATERS)]
    arrays = []
    if what == "memory":
        arrays = [zarr.open_array(str(path), mode="r")[:] for path in paths]
    started, used = time.perf_counter(), time.process_time()
    if what == "memory":
        fused = ic.ConsensusFilter().fuse_once(arrays)
        np.save(folder / "memory.npy", fused)
    else:
        filter_ = ic.ConsensusFilter() if what == "store" else ic.MajorityVoteFilter()
        fuse_volumes(paths, folder / f"{what}.zarr", filter_, overwrite=True)
    told = {
        "seconds": round(time.perf_counter() - started, 1),
        "processor_seconds": round(time.process_time() - used, 1),
        "peak_gb": round(peak_memory(), 2),
    }
    print(json.dumps(told))


def measured(what: str, folder: Path) -> dict[str, float]:
    """Return time and peak memory of an operation in a separate process."""
    command = [sys.executable, "-m", __spec__.name, "--only", what, "--folder", str(folder)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    print(what, found, flush=True)
    return found


def main() -> None:
    """Run all operations, and store the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True, help="for stores of some gigabytes")
    parser.add_argument("--shrink", type=int, default=1)
    parser.add_argument(
        "--cells", type=int, default=int(np.prod(REPEATED)), help="1: what fits only"
    )
    parser.add_argument("--only", help=argparse.SUPPRESS)
    parser.add_argument("--output", type=Path, default=RESULTS)
    given = parser.parse_args()
    if given.only:
        run_only(given.only, given.folder)
        return
    shape = tuple(size // given.shrink for size in CELL)
    cell = readers(shape)
    rows = []
    for repeats in (*IN_MEMORY, REPEATED)[: len(IN_MEMORY) + (given.cells > 1)]:
        folder = given.folder / "x".join(map(str, repeats))
        folder.mkdir(parents=True)
        write_stores(folder, cell, repeats)
        voxels = int(np.prod(shape)) * int(np.prod(repeats))
        fits = repeats in IN_MEMORY
        kinds = ["memory", "vote", "store"] if fits else ["vote", "store"]
        found = {kind: measured(kind, folder) for kind in kinds}
        for one in found.values():
            one["nanoseconds_per_voxel"] = round(one["processor_seconds"] / voxels * 1e9, 1)
        row = {"shape": [n * r for n, r in zip(shape, repeats, strict=True)], **found}
        if fits:
            row["times_of_memory"] = round(
                found["store"]["processor_seconds"] / found["memory"]["processor_seconds"], 2
            )
            stored = zarr.open_array(str(folder / "store.zarr"), mode="r")[:]
            row["same"] = bool(np.array_equal(stored, np.load(folder / "memory.npy")))
        rows.append(row)
        shutil.rmtree(folder)
    marked = [round(float(reader.mean()), 4) for reader in cell]
    content = {"run": run_facts(), "marked": marked, "rows": rows}
    given.output.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    for row in rows:
        print(row)


if __name__ == "__main__":
    main()
