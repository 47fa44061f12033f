"""Train an image-aware consensus of crowd workers without references (BU-BIL, Gurari et al. 2015).

    python -m examples.benchmarks.deep.deep_bubil [--networks ...] [--folds N] [--save]

Every image has seven crowd workers, who differ between images, and a gold standard that is used
only for evaluation. With five-fold cross-fitting, no image is fused by a model that was trained on
it. The result of the filter is compared with the results of its network, whether or not Fit found
a gain; of the same network on images of noise; and of the image alone, in the joint mode. For
reference, methods with access to a gold standard are included: the network trained on the gold
standard of the other images, single experts, and the best threshold of the vote. With --save
results are stored in deep_real.json, for docs/truth/deep.md.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import SimpleITK as sitk

from examples.benchmarks.deep.deep_real import RESULTS, Rows, keep, table
from itk_consensus import CorrectedVoteFilter, MajorityVoteFilter
from itk_consensus.core.errors import ConsensusWarning
from itk_consensus.deep.deep_consensus_filter import DeepConsensusFilter
from itk_consensus.votes.overlap import dice

DATA = Path(__file__).resolve().parents[3] / "../shared/data/bubil"
FOLDS = 5
SIGMA = 1.0
TITLE = "Crowds of BU-BIL: 165 images, five-fold, no truth teaches"


class CrowdCase(NamedTuple):
    """An image, the masks of its workers, and the gold standard."""

    name: str
    image: Any
    workers: list[Any]
    experts: list[Any]
    gold: Any


def read_cases(folder: Path = DATA) -> list[CrowdCase]:
    """Read every case of a folder, sorted by name."""
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
    """Return the components of a vector image, one for each rater."""
    image = sitk.ReadImage(path)
    return [
        sitk.VectorIndexSelectionCast(image, rater, sitk.sitkUInt8)
        for rater in range(image.GetNumberOfComponentsPerPixel())
    ]


def nobody(case: CrowdCase) -> list[None]:
    """Return the rater ids of a case: all unknown, since worker 3 differs between images."""
    return [None] * len(case.workers)


def score(fused: Any, case: CrowdCase) -> float:
    """Return the Dice with the gold standard."""
    return dice(*(sitk.GetArrayViewFromImage(image) > 0 for image in (fused, case.gold)))


class Network(NamedTuple):
    """Training options of the network in a row of the table."""

    parameters: dict[str, Any]
    with_gold: bool = False  #: Whether to train on the gold standard of other images
    with_noise: bool = False  #: Whether to replace images with noise


NETWORKS = {
    "network": Network({}),
    "network, images of noise": Network({}, with_noise=True),
    "network, image alone": Network({"Mode": "joint", "RaterWeight": 0.0}),
    "network, gold teaches": Network({}, with_gold=True),
}


def image_of(case: CrowdCase, how: Network) -> Any:
    """Return the image that is given to the network."""
    if not how.with_noise:
        return case.image
    seed = sum(case.name.encode())
    noise = np.random.default_rng(seed).standard_normal(case.image.GetSize()[::-1])
    image = sitk.GetImageFromArray(noise.astype(np.float32))
    image.CopyInformation(case.image)
    return image


def fit(cases: Sequence[CrowdCase], how: Network, **parameters: Any) -> DeepConsensusFilter:
    """Train on images and workers' masks."""
    filter_ = DeepConsensusFilter(NumberOfClasses=2, **{**how.parameters, **parameters})
    with warnings.catch_warnings():
        # The warning that there is no gain is expected here.
        warnings.simplefilter("ignore", ConsensusWarning)
        filter_.Fit(
            [image_of(case, how) for case in cases],
            [case.workers for case in cases],
            [case.gold for case in cases] if how.with_gold else None,
            rater_ids=[nobody(case) for case in cases],
        )
    return filter_


class CrossFitted(NamedTuple):
    """Results for each case of some folds, from models trained on the other folds."""

    filter_: list[float]  #: Dice of the filter, which falls back to the vote if Fit found no gain
    network: list[float]  #: Dice of its network in any case
    said: list[str]  #: Message of each call of Fit about its gain over the vote


def cross_fitted(
    cases: Sequence[CrowdCase], folds: Sequence[int], how: Network, **parameters: Any
) -> CrossFitted:
    """Return the Dice of each case, from models that were not trained on it."""
    found = CrossFitted([], [], [])
    for fold in folds:
        model = fit([c for i, c in enumerate(cases) if i % FOLDS != fold], how, **parameters)
        instead = ", vote instead" * (model.GetDiagnostics()["gain"].severity is not None)
        found.said.append(f"{model.GetHeldOutGain()['vote']}{instead}")
        for case in cases[fold::FOLDS]:
            for scores, answers in ((found.filter_, "raters"), (found.network, "network")):
                model.SetWithoutGain(answers)
                with warnings.catch_warnings():
                    # Images of different kinds are often unlike the training images.
                    warnings.simplefilter("ignore", ConsensusWarning)
                    fused = model.Execute(image_of(case, how), case.workers, nobody(case))
                scores.append(score(fused, case))
    return found


def best_threshold(case: CrowdCase) -> float:
    """Return the Dice of the smoothed vote at the threshold that is best for the gold standard."""
    share = MajorityVoteFilter(SmoothingSigma=SIGMA)
    share.Execute(case.workers)
    probability = share.GetProbabilityImage(1)
    return max(score(probability > threshold, case) for threshold in np.arange(0.15, 0.9, 0.05))


def without_network(cases: Sequence[CrowdCase]) -> dict[str, list[float]]:
    """Return the Dice of each case for the vote, single experts, and methods with access to the
    gold standard.
    """
    fusers = {
        "vote": MajorityVoteFilter(),
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
    """Print the mean Dice with the gold standard, and store it if requested."""
    parser = argparse.ArgumentParser(description="Truth-free consensus of crowd workers.")
    parser.add_argument("--networks", nargs="*", choices=NETWORKS, default=list(NETWORKS))
    parser.add_argument("--folds", type=int, default=FOLDS, help="how many of the five")
    parser.add_argument("--time-budget", type=float, default=300.0, help="seconds, of each Fit")
    parser.add_argument("--iterations", type=int, help="of each Fit [default: until it has learnt]")
    parser.add_argument("--save", action="store_true", help=f"keep results in {RESULTS.name}")
    arguments = parser.parse_args()
    if not DATA.is_dir():
        parser.exit(1, f"the BU-BIL data is not at {DATA}\n")
    cases, folds = read_cases(), range(arguments.folds)
    chosen = [case for fold in folds for case in cases[fold::FOLDS]]
    rows: Rows = {name: {"dice": scores} for name, scores in without_network(chosen).items()}
    for name in arguments.networks:
        start = time.process_time()
        how, more = NETWORKS[name], {"TimeBudget": arguments.time_budget, "NumberOfThreads": 1}
        if arguments.iterations:
            more["NumberOfIterations"] = arguments.iterations
        found = cross_fitted(cases, folds, how, **more)
        seconds = time.process_time() - start
        facts = {"processor": seconds, "said": "; ".join(found.said)}
        rows[name] = {"dice": found.network, **facts}
        if name == "network":
            rows["filter"] = {"dice": found.filter_, **facts}
        print(f"{name}: {np.mean(found.network):.4f} {found.said}", flush=True)
        if arguments.save:
            keep(TITLE, rows)
    print(table(rows))


if __name__ == "__main__":
    main()
