"""Fuse phantom atlases that have images: comparison with ANTs, and cases of clinical size.

Phantoms serve to measure speed and memory; `real_atlases.py` compares accuracy on brains.

ANTs runs in a separate environment with antspyx, whose interpreter is an option:

    python -m examples.benchmarks.atlases.atlas_fusion --ants-python /path/to/bin/python
    python -m examples.benchmarks.atlases.atlas_fusion --clinical

Times are of the fusion alone, with two threads, measured in one run; on a busy machine, compare
processor times. Dice is averaged over the labels of a phantom with known segmentation.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import SimpleITK as sitk
from numpy.typing import NDArray

import itk_consensus as ic
from examples.benchmarks.atlases.ants_joint_fusion import ants_fusion
from examples.benchmarks.speed.peak_memory import rise_of_peak
from itk_consensus.simulation.atlas_phantoms import AtlasCase, atlas_case

THREADS = 2
PATCH, SEARCH = 2, 3  #: in voxels of 1 mm: ANTs's defaults
BETA, ALPHA = 2.0, 0.1


class Outcome(NamedTuple):
    """Result of a fusion, and its run time."""

    labels: NDArray[Any]
    wall: float  #: seconds
    processor: float  #: seconds, summed over all threads


def mean_dice(labels: NDArray[Any], truth: NDArray[Any]) -> float:
    """Return the mean Dice over all labels except the background."""
    return float(np.mean([ic.dice(labels == k, truth == k) for k in range(1, truth.max() + 1)]))


def timed(fuse: Callable[[], NDArray[Any]]) -> Outcome:
    wall, processor = time.perf_counter(), time.process_time()
    labels = fuse()
    return Outcome(labels, time.perf_counter() - wall, time.process_time() - processor)


def _seconds(wall: float, processor: float) -> str:
    return f"{wall:7.2f} s  CPU {processor:7.2f} s"


def filters(case: AtlasCase) -> dict[str, ic.LabelFusionFilter]:
    """Return our fusion filters by name."""
    images = {"Image": case.target, "AtlasImages": case.images, "NumberOfThreads": THREADS}
    radii = {"PatchRadius": PATCH, "SearchRadius": SEARCH, "Beta": BETA, "Alpha": ALPHA}
    return {
        "vote": ic.MajorityVoteFilter(TieRule="lowest", NumberOfThreads=THREADS),
        "corrected vote": ic.CorrectedVoteFilter(NumberOfThreads=THREADS),
        "locally weighted vote": ic.LocallyWeightedVoteFilter(**images),
        "joint label fusion": ic.JointLabelFusionFilter(**images),
        "joint label fusion, ANTs's radii": ic.JointLabelFusionFilter(**images, **radii),
    }


def print_peers(case: AtlasCase, python: str | None) -> None:
    """Print the Dice and the run times of all filters, and their speed relative to ANTs joint
    fusion.
    """
    outcomes = {
        name: timed(lambda one=one: one.Execute(case.maps)) for name, one in filters(case).items()
    }
    if python is not None:
        settings = {"patch": PATCH, "search": SEARCH, "beta": BETA, "alpha": ALPHA}
        everywhere = np.ones(case.target.shape, np.uint8)
        images = case.target, case.images, case.maps, everywhere
        said = ants_fusion(python, *images, threads=THREADS, **settings)
        outcomes["ANTs joint label fusion"] = Outcome(said.labels, said.wall, said.processor)
    else:
        print("no --ants-python: ANTs is absent")
    for name, outcome in outcomes.items():
        overlap = mean_dice(outcome.labels, case.truth)
        print(
            f"{name:34s} Dice {overlap:.4f}  {outcome.wall:7.2f} s  CPU {outcome.processor:7.2f} s"
        )
    if python is not None:
        ours, ants = (
            outcomes["joint label fusion, ANTs's radii"],
            outcomes["ANTs joint label fusion"],
        )
        print(
            f"faster than ANTs: {ants.wall / ours.wall:.1f} times, "
            f"{ants.processor / ours.processor:.1f} times by processor time"
        )


def print_clinical(case: AtlasCase, repetitions: int = 3) -> None:
    """Print times relative to SimpleITK's vote, and memory use beyond the inputs."""
    images = [sitk.GetImageFromArray(one) for one in case.maps]
    votes = [timed(lambda: sitk.LabelVoting(images)) for _ in range(repetitions)]
    wall, processor = (min(vote[k] for vote in votes) for k in (1, 2))
    print(f"{'sitk.LabelVoting':34s} {_seconds(wall, processor)}")
    for name, one in filters(case).items():
        if not isinstance(one, (ic.LocallyWeightedVoteFilter, ic.JointLabelFusionFilter)):
            continue
        # Joint fusion takes so long that a single run is accurate enough.
        runs = repetitions if isinstance(one, ic.LocallyWeightedVoteFilter) else 1
        found = [
            rise_of_peak(lambda one=one: timed(lambda: one.Execute(case.maps))) for _ in range(runs)
        ]
        outcome, peak = min(found, key=lambda run: run[0].wall)
        print(
            f"{name:34s} {_seconds(outcome.wall, outcome.processor)}  "
            f"{outcome.wall / wall:6.1f} x SimpleITK's vote  "
            f"({outcome.processor / processor:.1f} x by processor time)  "
            f"{(peak or 0) / 1e9:.2f} GB  Dice {mean_dice(outcome.labels, case.truth):.4f}"
        )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ants-python", help="interpreter of an environment that has antspyx")
    parser.add_argument("--clinical", action="store_true", help="160 x 192 x 160, 15 atlases")
    parser.add_argument("--seed", type=int, default=3200)
    parser.add_argument("--amplitude", type=float, default=2.0, help="misregistration in voxels")
    parser.add_argument("--shape", type=int, nargs=3, default=(80, 96, 80))
    chosen = parser.parse_args(arguments)
    if chosen.clinical:
        shape = tuple(2 * size for size in chosen.shape)
        print_clinical(atlas_case(chosen.seed, shape, 100, 15, amplitude=chosen.amplitude))
    else:
        case = atlas_case(chosen.seed, chosen.shape, amplitude=chosen.amplitude)
        print_peers(case, chosen.ants_python)


if __name__ == "__main__":
    main()
