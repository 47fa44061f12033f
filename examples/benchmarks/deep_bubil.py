"""Image-aware consensus of crowd workers (BU-BIL, Gurari et al. 2015), trained without any truth.

Every image has seven crowd workers, who differ from image to image, and a gold standard that only
the scores look at. Five-fold cross-fitting: no image is fused by a model that has seen it. Three
figures that do use the gold standard show what can be hoped for: the same network trained on the
gold standard of the other images, single experts, and the best threshold of the vote.

python examples/benchmarks/deep_bubil.py [--modes joint set truth] [--folds N] [--iterations N]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import SimpleITK as sitk

from itk_consensus import CorrectedVoteFilter, MajorityVoteFilter
from itk_consensus.filters.deep_consensus import DeepConsensusFilter
from itk_consensus.votes.overlap import dice

DATA = Path(__file__).resolve().parents[2] / "../shared/data/bubil"
FOLDS = 5
MODES = ("joint", "set", "truth")
SIGMA = 1.0


class CrowdCase(NamedTuple):
    """An image, what its workers drew, and the gold standard."""

    name: str
    image: Any
    workers: list[Any]
    experts: list[Any]
    gold: Any


def read_cases(folder: Path = DATA) -> list[CrowdCase]:
    """Every case of a folder, in the order of their names."""
    return [
        CrowdCase(
            name,
            sitk.ReadImage(folder / f"{name}_image.nrrd"),
            read_raters(folder / f"{name}_crowd.nrrd"),
            read_raters(folder / f"{name}_experts.nrrd"),
            sitk.ReadImage(folder / f"{name}_gold.nrrd", sitk.sitkUInt8),
        )
        for name in (
            path.name.removesuffix("_image.nrrd") for path in sorted(folder.glob("*_image.nrrd"))
        )
    ]


def read_raters(path: Path) -> list[Any]:
    """The components of a vector image, one for each rater."""
    image = sitk.ReadImage(path)
    return [
        sitk.VectorIndexSelectionCast(image, rater, sitk.sitkUInt8)
        for rater in range(image.GetNumberOfComponentsPerPixel())
    ]


def nobody(case: CrowdCase) -> list[None]:
    """Worker 3 of one image is not worker 3 of the next: none has a name."""
    return [None] * len(case.workers)


def score(fused: Any, case: CrowdCase) -> float:
    """Dice to the gold standard."""
    return dice(*(sitk.GetArrayViewFromImage(image) > 0 for image in (fused, case.gold)))


def fit(cases: Sequence[CrowdCase], mode: str, **parameters: Any) -> DeepConsensusFilter:
    """Train on images and workers; only mode truth is shown the gold standard."""
    filter_ = DeepConsensusFilter(NumberOfClasses=2, Mode=mode, **parameters)
    filter_.Fit(
        [case.image for case in cases],
        [case.workers for case in cases],
        [case.gold for case in cases] if mode == "truth" else None,
        rater_ids=[nobody(case) for case in cases],
    )
    return filter_


def cross_fitted(
    cases: Sequence[CrowdCase], folds: Sequence[int], mode: str, **parameters: Any
) -> list[float]:
    """Dice of each case of some folds, fused by a model of the other folds."""
    scores = []
    for fold in folds:
        filter_ = fit([c for i, c in enumerate(cases) if i % FOLDS != fold], mode, **parameters)
        scores += [
            score(filter_.Execute(case.image, case.workers, nobody(case)), case)
            for case in cases[fold::FOLDS]
        ]
    return scores


def best_threshold(case: CrowdCase) -> float:
    """Dice of the smoothed vote at the threshold that suits the gold standard best."""
    share = MajorityVoteFilter(SmoothingSigma=SIGMA)
    share.Execute(case.workers)
    probability = share.GetProbabilityImage(1)
    return max(score(probability > threshold, case) for threshold in np.arange(0.15, 0.9, 0.05))


def without_network(cases: Sequence[CrowdCase]) -> dict[str, list[float]]:
    """Dice of each case, by voting, by single experts and with the gold standard's help."""
    fusers = {
        "majority vote": MajorityVoteFilter(),
        f"vote, sigma {SIGMA:g}": MajorityVoteFilter(SmoothingSigma=SIGMA),
        "corrected vote": CorrectedVoteFilter(),
    }
    rows = {
        name: [score(fuser.Execute(case.workers), case) for case in cases]
        for name, fuser in fusers.items()
    }
    rows["a single expert"] = [
        float(np.mean([score(expert, case) for expert in case.experts])) for case in cases
    ]
    rows["best threshold"] = [best_threshold(case) for case in cases]
    return rows


def main() -> None:
    """Print mean Dice to the gold standard, over all images and in each set."""
    parser = argparse.ArgumentParser(description="Truth-free consensus of crowd workers.")
    parser.add_argument("--modes", nargs="*", choices=MODES, default=MODES)
    parser.add_argument("--folds", type=int, default=FOLDS, help="how many of the five")
    parser.add_argument("--iterations", type=int, default=250)
    arguments = parser.parse_args()
    if not DATA.is_dir():
        parser.exit(1, f"the BU-BIL data is not at {DATA}\n")
    cases, folds = read_cases(), range(arguments.folds)
    chosen = [case for fold in folds for case in cases[fold::FOLDS]]
    sets = sorted({case.name[:2] for case in chosen})
    print(f"mean Dice to gold of {len(chosen)} images")
    print(f"{'':<16}{'all':>8}" + "".join(f"{name:>8}" for name in sets))

    def show(name: str, scores: Sequence[float], note: str = "") -> None:
        members = [
            np.mean([s for s, c in zip(scores, chosen, strict=True) if c.name.startswith(prefix)])
            for prefix in sets
        ]
        figures = "".join(f"{value:8.4f}" for value in [np.mean(scores), *members])
        print(f"{name:<16}{figures}{note}", flush=True)

    for name, scores in without_network(chosen).items():
        show(name, scores)
    for mode in arguments.modes:
        start = time.process_time()
        scores = cross_fitted(cases, folds, mode, NumberOfIterations=arguments.iterations)
        show(f"deep, {mode}", scores, f"  {time.process_time() - start:.0f} CPU-s")


if __name__ == "__main__":
    main()
