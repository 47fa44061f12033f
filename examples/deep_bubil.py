"""Image-aware consensus of crowd workers, trained without any truth (BU-BIL, Gurari et al. 2015).

Every image has seven crowd workers, who differ from image to image, and a gold standard that only
the scores look at. Five-fold cross-fitting: no image is fused by a model that has seen it.

python examples/deep_bubil.py [--mode set|joint] [--folds N] [--iterations N]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import SimpleITK as sitk
from numpy.typing import NDArray

from itk_consensus import MajorityVoteFilter
from itk_consensus.filters.deep_consensus import DeepConsensusFilter
from itk_consensus.labels.overlap import dice

DATA = Path(__file__).resolve().parents[1] / "../shared/data/bubil"
FOLDS = 5
SIGMA = 1.0


class CrowdCase(NamedTuple):
    """An image, what its workers drew, and the gold standard."""

    name: str
    image: Any
    workers: list[Any]
    gold: NDArray[Any]


def read_cases(folder: Path = DATA) -> list[CrowdCase]:
    """Every case of a folder, in the order of their names."""
    cases = []
    for path in sorted(folder.glob("*_image.nrrd")):
        name = path.name.removesuffix("_image.nrrd")
        crowd = sitk.ReadImage(folder / f"{name}_crowd.nrrd")
        workers = [
            sitk.VectorIndexSelectionCast(crowd, worker, sitk.sitkUInt8)
            for worker in range(crowd.GetNumberOfComponentsPerPixel())
        ]
        gold = sitk.GetArrayFromImage(sitk.ReadImage(folder / f"{name}_gold.nrrd"))
        cases.append(CrowdCase(name, sitk.ReadImage(path), workers, gold))
    return cases


def nobody(case: CrowdCase) -> list[None]:
    """Worker 3 of one image is not worker 3 of the next: none has a name."""
    return [None] * len(case.workers)


def score(fused: Any, case: CrowdCase) -> float:
    """Dice to the gold standard."""
    return dice(sitk.GetArrayViewFromImage(fused), case.gold)


def fit(cases: Sequence[CrowdCase], **parameters: Any) -> DeepConsensusFilter:
    """Train on images and workers; the gold standard is not touched."""
    filter_ = DeepConsensusFilter(NumberOfClasses=2, **parameters)
    filter_.Fit(
        [case.image for case in cases],
        [case.workers for case in cases],
        rater_ids=[nobody(case) for case in cases],
    )
    return filter_


def cross_fitted(
    cases: Sequence[CrowdCase], folds: Sequence[int], **parameters: Any
) -> dict[str, float]:
    """Dice of each case of some folds, fused by a model of the other folds."""
    scores = {}
    for fold in folds:
        filter_ = fit([c for i, c in enumerate(cases) if i % FOLDS != fold], **parameters)
        for case in cases[fold::FOLDS]:
            scores[case.name] = score(filter_.Execute(case.image, case.workers, nobody(case)), case)
    return scores


def main() -> None:
    """Print mean Dice beside the vote's and the smoothed vote's."""
    parser = argparse.ArgumentParser(description="Truth-free consensus of crowd workers.")
    parser.add_argument("--mode", choices=("set", "joint"), default="set")
    parser.add_argument("--folds", type=int, default=FOLDS, help="how many of the five")
    parser.add_argument("--iterations", type=int, default=250)
    arguments = parser.parse_args()
    if not DATA.is_dir():
        parser.exit(1, f"the BU-BIL data is not at {DATA}\n")
    cases = read_cases()
    start = time.process_time()
    deep = cross_fitted(
        cases,
        range(arguments.folds),
        Mode=arguments.mode,
        NumberOfIterations=arguments.iterations,
    )
    seconds = time.process_time() - start
    chosen = [case for case in cases if case.name in deep]
    vote, smoothed = MajorityVoteFilter(), MajorityVoteFilter(SmoothingSigma=SIGMA)
    rows = {
        "majority vote": [score(vote.Execute(case.workers), case) for case in chosen],
        f"vote, sigma {SIGMA:g}": [score(smoothed.Execute(case.workers), case) for case in chosen],
        f"deep, {arguments.mode}": [deep[case.name] for case in chosen],
    }
    sets = sorted({case.name[:2] for case in chosen})
    print(f"mean Dice to gold of {len(chosen)} images; {seconds:.0f} CPU-s")
    print(f"{'':<16}{'all':>8}" + "".join(f"{name:>8}" for name in sets))
    for name, scores in rows.items():
        members = [
            np.mean([s for s, c in zip(scores, chosen, strict=True) if c.name.startswith(prefix)])
            for prefix in sets
        ]
        print(f"{name:<16}" + "".join(f"{value:8.4f}" for value in [np.mean(scores), *members]))


if __name__ == "__main__":
    main()
