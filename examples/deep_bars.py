"""How well DeepConsensusFilter does on phantoms with known truth, and what it costs.

python examples/deep_bars.py            # everything, three seeds: about ten minutes on one core
python examples/deep_bars.py 1 4 --seeds 1
"""

from __future__ import annotations

import argparse
import resource
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

from itk_consensus import MultiLabelSTAPLEImageFilter
from itk_consensus.calibration.reliability import ReliabilityCurve
from itk_consensus.errors import ConsensusWarning
from itk_consensus.filters.deep_consensus import DeepConsensusFilter
from itk_consensus.labels.overlap import dice
from itk_consensus.simulation import contour_error_raters, ellipsoid_mask
from itk_consensus.simulation.deep_phantoms import (
    UNSEEN_RATERS,
    Cohort,
    easy_cohort,
    hard_cohort,
)

SEEDS = (0, 1, 2)
#: Test cohorts are drawn with seeds far from those of the training cohorts.
TEST_SEED, UNSEEN_SEED = 1000, 2000
THREADS = 1

Raters = list[NDArray[Any] | None]
Fuser = Callable[[NDArray[Any], Raters], NDArray[Any]]


@dataclass
class Bar:
    """One line of the table: figures by name, each with one value per seed."""

    name: str
    figures: dict[str, list[float]] = field(default_factory=dict)

    def add(self, **figures: float) -> None:
        """Append one seed's figures."""
        for name, value in figures.items():
            self.figures.setdefault(name, []).append(float(value))

    def __str__(self) -> str:
        cells = [
            f"{name.replace('_', ' ')} " + " ".join(f"{value:.4g}" for value in values)
            for name, values in self.figures.items()
        ]
        return f"{self.name}\n    " + "\n    ".join(cells)


# -- measures --------------------------------------------------------------------------------


def mean_dice(fused: NDArray[Any], truth: NDArray[Any]) -> float:
    """Dice averaged over the foreground labels of the truth."""
    return float(np.mean([dice(fused == k, truth == k) for k in range(1, int(truth.max()) + 1)]))


def raters_of(cohort: Cohort, case: int, missing: Iterable[int] = ()) -> Raters:
    """What the raters of a case drew, as the filters take it."""
    drawn: Raters = [one.astype(np.uint8) for one in cohort.labels[case]]
    for rater in missing:
        drawn[rater] = None
    return drawn


def score(cohort: Cohort, fuse: Fuser, missing: Sequence[Sequence[int]] | None = None) -> float:
    """Mean Dice of a way to fuse over a cohort."""
    dices = []
    for case, truth in enumerate(cohort.truths):
        raters = raters_of(cohort, case, missing[case] if missing else ())
        dices.append(mean_dice(fuse(cohort.images[case, 0], raters), truth))
    return float(np.mean(dices))


def vote(_image: NDArray[Any], raters: Raters) -> NDArray[Any]:
    """The plurality vote; of tied labels the smallest wins."""
    present = np.stack([rater for rater in raters if rater is not None])
    votes = np.stack([(present == k).sum(0) for k in range(int(present.max()) + 1)])
    return np.asarray(votes.argmax(0))


def staple(_image: NDArray[Any], raters: Raters) -> NDArray[Any]:
    """Multi-label STAPLE."""
    return np.asarray(MultiLabelSTAPLEImageFilter().Execute(raters))


def calibration_error(filter_: DeepConsensusFilter, cohort: Cohort) -> float:
    """ECE of the most probable label over the disputed voxels of a cohort."""
    curves = []
    for case, truth in enumerate(cohort.truths):
        raters = raters_of(cohort, case)
        filter_.Execute(cohort.images[case, 0], raters)
        probability = np.stack([filter_.GetProbabilityImage(k) for k in filter_.GetLabels()])
        disputed = (cohort.labels[case] != cohort.labels[case][0]).any(0)
        right = (probability.argmax(0) == truth)[disputed]
        curves.append(ReliabilityCurve.of(probability.max(0)[disputed], right))
    return sum(curves[1:], curves[0]).expected_calibration_error


def fitted(
    cohort: Cohort, *, with_truth: bool, **parameters: Any
) -> tuple[DeepConsensusFilter, float]:
    """A trained filter and the CPU-seconds it took."""
    filter_ = DeepConsensusFilter(NumberOfThreads=THREADS, **parameters)
    labels = [raters_of(cohort, case) for case in range(len(cohort.truths))]
    truths = list(cohort.truths.astype(np.uint8)) if with_truth else None
    start = time.process_time()
    filter_.Fit(list(cohort.images[:, 0]), labels, truths)
    return filter_, time.process_time() - start


def fuser(filter_: DeepConsensusFilter, rater_ids: Sequence[Any] | None = None) -> Fuser:
    """The filter as a function of image and raters."""
    return lambda image, raters: np.asarray(filter_.Execute(image, raters, rater_ids))


# -- bars ------------------------------------------------------------------------------------


def easy_with_truth(
    seeds: Sequence[int] = SEEDS, train: int = 120, test: int = 30, **parameters: Any
) -> Bar:
    """Bar 1."""
    bar = Bar("1  easy, truth: Dice >= .995, ECE <= .06, <= 30 CPU-s")
    for seed in seeds:
        cohort = easy_cohort(test, TEST_SEED + seed)
        filter_, seconds = fitted(
            easy_cohort(train, seed),
            with_truth=True,
            RandomSeed=seed,
            **{"NumberOfIterations": 150, **parameters},
        )
        locked, error = score(cohort, fuser(filter_)), calibration_error(filter_, cohort)
        filter_.SetLockUnanimousVoxels(False)
        bar.add(
            vote=score(cohort, vote),
            locked=locked,
            unlocked=score(cohort, fuser(filter_)),
            ECE=error,
            CPU_s=seconds,
        )
    return bar


def easy_without_truth(
    seeds: Sequence[int] = SEEDS, train: int = 120, test: int = 30, **parameters: Any
) -> Bar:
    """Bar 2."""
    bar = Bar("2  easy, no truth, RaterWeight 0: Dice >= .95, outlier last")
    for seed in seeds:
        cohort = easy_cohort(test, TEST_SEED + seed)
        filter_, seconds = fitted(
            easy_cohort(train, seed),
            with_truth=False,
            RandomSeed=seed,
            RaterWeight=0,
            **{"NumberOfIterations": 120, **parameters},
        )
        reliability = filter_.GetRaterReliability()
        bar.add(
            vote=score(cohort, vote),
            dice=score(cohort, fuser(filter_)),
            outlier_last=min(reliability, key=lambda rater: reliability[rater]) == 5,
            CPU_s=seconds,
        )
    return bar


def hard_with_truth(
    seeds: Sequence[int] = SEEDS, train: int = 160, test: int = 30, **parameters: Any
) -> Bar:
    """Bar 3."""
    bar = Bar(
        "3  hard, truth: Dice >= .92 and >= vote + .02, ECE <= .05, "
        "two missing >= vote + .03, unseen >= vote + .005, <= 60 CPU-s"
    )
    for seed in seeds:
        cohort = hard_cohort(test, TEST_SEED + seed)
        unseen = hard_cohort(test, UNSEEN_SEED + seed, raters=UNSEEN_RATERS)
        rng = np.random.default_rng(seed)
        missing = [rng.choice(5, 2, replace=False).tolist() for _ in range(test)]
        filter_, seconds = fitted(
            hard_cohort(train, seed), with_truth=True, RandomSeed=seed, **parameters
        )
        bar.add(
            vote=score(cohort, vote),
            MultiLabelSTAPLE=score(cohort, staple),
            dice=score(cohort, fuser(filter_)),
            ECE=calibration_error(filter_, cohort),
            vote_two_missing=score(cohort, vote, missing),
            dice_two_missing=score(cohort, fuser(filter_), missing),
            vote_unseen=score(unseen, vote),
            dice_unseen=score(unseen, fuser(filter_, [None] * 5)),
            CPU_s=seconds,
        )
    return bar


def hard_without_truth(
    seeds: Sequence[int] = SEEDS, train: int = 160, test: int = 30, **parameters: Any
) -> Bar:
    """Bar 4."""
    bar = Bar(
        "4  hard, no truth: Dice > vote, mean >= vote + .01, ECE <= .08, "
        "Spearman >= .7, worst rater last, <= 40 CPU-s"
    )
    for seed in seeds:
        training, cohort = hard_cohort(train, seed), hard_cohort(test, TEST_SEED + seed)
        filter_, seconds = fitted(training, with_truth=False, RandomSeed=seed, **parameters)
        reliability = [filter_.GetRaterReliability()[rater] for rater in range(1, 6)]
        true_skill = [
            np.mean([mean_dice(drawn, t) for drawn, t in zip(rater, training.truths, strict=True)])
            for rater in training.labels.swapaxes(0, 1)
        ]
        bar.add(
            vote=score(cohort, vote),
            dice=score(cohort, fuser(filter_)),
            ECE=calibration_error(filter_, cohort),
            Spearman=spearmanr(reliability, true_skill).statistic,
            worst_last=np.argmin(reliability) == np.argmin(true_skill),
            CPU_s=seconds,
        )
    return bar


def volumes_with_truth(
    seeds: Sequence[int] = SEEDS,
    shape: Sequence[int] = (48, 48, 48),
    volumes: int = 16,
    **parameters: Any,
) -> Bar:
    """Bar 5: a quarter of the volumes tests, the others train."""
    bar = Bar("5  hard 3D, truth: Dice >= vote and >= STAPLE + .04, <= 300 CPU-s")
    for seed in seeds:
        both = hard_cohort(volumes, seed, shape=shape)
        trained = volumes - volumes // 4
        training, cohort = (
            Cohort(*(part[chosen] for part in both))
            for chosen in (slice(trained), slice(trained, None))
        )
        filter_, seconds = fitted(training, with_truth=True, RandomSeed=seed, **parameters)
        bar.add(
            vote=score(cohort, vote),
            MultiLabelSTAPLE=score(cohort, staple),
            dice=score(cohort, fuser(filter_)),
            CPU_s=seconds,
        )
    return bar


def inference(shape: Sequence[int] = (128, 256, 256)) -> Bar:
    """Bar 6: time and memory of a large volume; how well it is fused does not matter here."""
    bar = Bar(
        "6  inference 256 x 256 x 128, 5 raters: lesion <= 5 CPU-s, organ <= 20, full <= 120, "
        "peak <= 1.5 GB, region equals full on disputed voxels"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConsensusWarning)
        filter_, _ = fitted(
            hard_cohort(4, 0, shape=(24, 24, 24), number_of_classes=2),
            with_truth=True,
            NumberOfIterations=5,
        )
    image = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    results = {}
    for name, share in (("lesion", 0.04), ("organ", 0.2)):
        # Off the window grid's corners, as lesions are.
        centre = [0.55 * side for side in shape]
        truth = ellipsoid_mask(shape, [share * side for side in shape], centre).astype(np.uint8)
        raters = list(contour_error_raters(truth, 5, seed=1))
        results[name] = _timed(filter_, image, raters)
        bar.add(**{f"{name}_CPU_s": results[name][0]})
    filter_.SetRegion("full")
    seconds, full = _timed(filter_, image, raters)
    disputed = np.any([rater != raters[0] for rater in raters], axis=0)
    gap = np.abs(full - results["organ"][1])[disputed].max()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    bar.add(full_CPU_s=seconds, largest_difference=gap, peak_GB=peak)
    return bar


def _timed(
    filter_: DeepConsensusFilter, image: NDArray[Any], raters: Raters
) -> tuple[float, NDArray[Any]]:
    start = time.process_time()
    filter_.Execute(image, raters)
    seconds = time.process_time() - start
    return seconds, np.asarray(filter_.GetProbabilityImage(1))


def exactness() -> Bar:
    """Bar 7: what rater order, a file and a repetition change."""
    import tempfile
    from pathlib import Path

    bar = Bar("7  rater order <= 1e-5; save/load and the same seed: 0 (the KL is tested in tests/)")
    training, cohort = hard_cohort(8, 0), hard_cohort(1, TEST_SEED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConsensusWarning)
        filter_, _ = fitted(training, with_truth=True, NumberOfIterations=10)
        again, _ = fitted(training, with_truth=True, NumberOfIterations=10)
    image, raters = cohort.images[0, 0], raters_of(cohort, 0)

    def probability(one: DeepConsensusFilter, order: Sequence[int] = range(5)) -> NDArray[Any]:
        one.SetNumberOfThreads(THREADS)
        one.Execute(image, [raters[i] for i in order], [i + 1 for i in order])
        return np.asarray(one.GetProbabilityImage(1))

    first = probability(filter_)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.safetensors")
        filter_.Save(path)
        loaded = DeepConsensusFilter.Load(path)
    bar.add(
        rater_order=np.abs(first - probability(filter_, [3, 0, 4, 2, 1])).max(),
        save_and_load=np.abs(first - probability(loaded)).max(),
        same_seed=np.abs(first - probability(again)).max(),
    )
    return bar


def main() -> None:
    """Print the bars that are asked for."""
    parser = argparse.ArgumentParser(description="The bars of DeepConsensusFilter.")
    parser.add_argument("bars", nargs="*", type=int, help="1 to 7 [default: all]")
    parser.add_argument("--seeds", type=int, default=len(SEEDS), help="how many seeds")
    arguments = parser.parse_args()
    seeds = range(arguments.seeds)
    makers: dict[int, Callable[[], Bar]] = {
        1: lambda: easy_with_truth(seeds),
        2: lambda: easy_without_truth(seeds),
        3: lambda: hard_with_truth(seeds),
        4: lambda: hard_without_truth(seeds),
        5: lambda: volumes_with_truth(seeds),
        6: inference,
        7: exactness,
    }
    for number in arguments.bars or makers:
        print(makers[number](), flush=True)


if __name__ == "__main__":
    main()
