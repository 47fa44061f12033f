"""Test the requirements of DeepConsensusFilter on phantoms with known segmentation.

MODULE is examples.benchmarks.deep.deep_evidence:

    python -m MODULE                                      everything, three seeds: half an hour
    python -m MODULE 1 4 --seeds 1
    python -m MODULE 3 4 --first-seed 3020 --seeds 10
    python -m MODULE 9 --first-seed 10 --seeds 2          many cases: a quarter of an hour
    python -m MODULE --save deep_evidence.json            also stores the results

The stored results, together with those of other seeds, are tabulated by ``make docs``.

Every result of a trained network has two controls without images: the same network, trained and
tested on images of noise, and a fusion by the raters' error rates and label frequencies without a
network. The contribution of the image is the difference from the better of the two.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

from examples.benchmarks.deep.deep_measures import (
    THREADS,
    Raters,
    calibration_error,
    fitted,
    fuser,
    mean_dice,
    raters_of,
    score,
    staple,
    unanimity_or_truth,
    vote,
    with_noise,
    without_network,
)
from examples.benchmarks.deep.deep_requirements import Experiment, save
from examples.benchmarks.speed.peak_memory import status_bytes
from examples.simulation import contour_error_raters, ellipsoid_mask
from itk_consensus.core.errors import ConsensusWarning
from itk_consensus.deep.deep_consensus_filter import DeepConsensusFilter
from itk_consensus.simulation.deep_phantoms import (
    UNSEEN_RATERS,
    Cohort,
    easy_cohort,
    hard_cohort,
)

SEEDS = (0, 1, 2)
#: The seeds of the test cohorts are far from those of the training cohorts.
TEST_SEED, UNSEEN_SEED = 1000, 2000
#: Number of iterations, sufficient for phantoms, whose texture is noise; by default training stops
#: early.
ITERATIONS = 200
#: Experiments whose results do not depend on the seed.
WITHOUT_SEEDS = (6, 7)


def controls(
    training: Cohort,
    cohort: Cohort,
    seed: int,
    missing: Sequence[Sequence[int]] | None = None,
    **parameters: Any,
) -> dict[str, float]:
    """Return the Dice on a test cohort of controls that do not use images.

    Parameters
    ----------
    missing : sequence of sequences of int, optional
        Additional raters of each case to leave out.
    parameters
        Of `fitted`, and RaterWeight and LockUnanimousVoxels of Execute.
    """
    later = {
        name: parameters.pop(name)
        for name in ("RaterWeight", "LockUnanimousVoxels")
        if name in parameters
    }
    with warnings.catch_warnings():
        # Without a gain, as on noise, the filter warns.
        warnings.simplefilter("ignore", ConsensusWarning)
        blind, _ = fitted(with_noise(training, seed), RandomSeed=seed, **parameters)
    for name, value in later.items():
        setattr(blind, name, value)
    rule = without_network(training, with_truth=parameters["with_truth"])
    noise = with_noise(cohort, TEST_SEED + seed)
    found = {
        "Dice_noise_images": score(noise, fuser(blind)),
        "Dice_no_network": score(cohort, rule),
    }
    if missing is not None:
        found["Dice_noise_images_two_missing"] = score(noise, fuser(blind), missing)
    return found


def easy_with_truth(
    seeds: Sequence[int] = SEEDS, train: int = 120, test: int = 30, **parameters: Any
) -> Experiment:
    """Measure the gain beyond fusers that keep unanimous labels, which are often wrong here."""
    experiment = Experiment("1. Easy 2D, truth")
    for seed in seeds:
        training, cohort = easy_cohort(train, seed), easy_cohort(test, TEST_SEED + seed)
        how = {"with_truth": True, "NumberOfIterations": 150, **parameters}
        filter_, seconds = fitted(training, RandomSeed=seed, **how)
        error = calibration_error(filter_, cohort)
        filter_.SetLockUnanimousVoxels(True)
        locked = score(cohort, fuser(filter_))
        filter_.SetLockUnanimousVoxels(False)
        experiment.add(
            seed,
            vote=score(cohort, vote),
            Dice_unlocked=score(cohort, fuser(filter_)),
            Dice_locked=locked,
            best_possible_locked=unanimity_or_truth(cohort),
            **controls(training, cohort, seed, LockUnanimousVoxels=False, **how),
            ECE=error,
            CPU_seconds=seconds,
        )
    experiment.at_least("Dice_unlocked", 0.995)
    experiment.at_most("ECE", 0.06)
    experiment.at_most("CPU_seconds", 30)
    return experiment


def easy_without_truth(
    seeds: Sequence[int] = SEEDS, train: int = 120, test: int = 30, **parameters: Any
) -> Experiment:
    """Measure without references whether the outlier is recognised from the image."""
    experiment = Experiment("2. Easy 2D, no truth, RaterWeight 0")
    for seed in seeds:
        training, cohort = easy_cohort(train, seed), easy_cohort(test, TEST_SEED + seed)
        how = {"with_truth": False, "Mode": "joint", "NumberOfIterations": 120, **parameters}
        filter_, seconds = fitted(training, RandomSeed=seed, **how)
        filter_.SetRaterWeight(0)
        reliability = filter_.GetRaterReliability()
        experiment.add(
            seed,
            vote=score(cohort, vote),
            Dice=score(cohort, fuser(filter_)),
            **controls(training, cohort, seed, RaterWeight=0, **how),
            outlier_is_last=min(reliability, key=lambda rater: reliability[rater]) == 5,
            CPU_seconds=seconds,
        )
    experiment.at_least("Dice", 0.95)
    experiment.at_least("outlier_is_last", 1)
    return experiment


def hard_with_truth(
    seeds: Sequence[int] = SEEDS, train: int = 160, test: int = 30, **parameters: Any
) -> Experiment:
    """Measure with known raters, with some of them missing, and with raters unseen in training."""
    experiment = truth_figures("3. Hard 2D, truth", seeds, train, test, **parameters)
    experiment.at_least("Dice", 0.92)
    experiment.at_least("gain", 0.02)
    experiment.at_most("ECE", 0.05)
    experiment.at_least("gain_two_missing", 0.03, of_mean=True)
    experiment.at_least("gain_unseen", 0.005, of_mean=True)
    experiment.at_most("CPU_seconds", 60)
    return experiment


def hard_with_truth_and_plenty(
    seeds: Sequence[int] = SEEDS, train: int = 1280, test: int = 120, iterations: int = 1600
) -> Experiment:
    """Measure the contribution of the image with many cases and long training; no requirement."""
    title = "9. Hard 2D, truth, eight times the cases and iterations"
    return truth_figures(title, seeds, train, test, NumberOfIterations=iterations)


def truth_figures(
    title: str, seeds: Sequence[int], train: int, test: int, **parameters: Any
) -> Experiment:
    """Return results of training with references on hard phantoms."""
    experiment = Experiment(title)
    for seed in seeds:
        cohort = hard_cohort(test, TEST_SEED + seed)
        unseen = hard_cohort(test, UNSEEN_SEED + seed, raters=UNSEEN_RATERS)
        rng = np.random.default_rng(seed)
        missing = [rng.choice(5, 2, replace=False).tolist() for _ in range(test)]
        training = hard_cohort(train, seed)
        how = {"with_truth": True, "NumberOfIterations": ITERATIONS, **parameters}
        filter_, seconds = fitted(training, RandomSeed=seed, **how)
        fuse, votes, fused = fuser(filter_), score(cohort, vote), score(cohort, fuser(filter_))
        blind = controls(training, cohort, seed, missing, **how)
        with_missing = score(cohort, fuse, missing)
        experiment.add(
            seed,
            vote=votes,
            MultiLabelSTAPLE=score(cohort, staple),
            **blind,
            gain_over_noise_images=fused - blind["Dice_noise_images"],
            Dice=fused,
            gain=fused - votes,
            ECE=calibration_error(filter_, cohort),
            gain_two_missing=with_missing - score(cohort, vote, missing),
            gain_over_noise_two_missing=with_missing - blind["Dice_noise_images_two_missing"],
            gain_unseen=score(unseen, fuser(filter_, [None] * 5)) - score(unseen, vote),
            CPU_seconds=seconds,
        )
    return experiment


def hard_without_truth(
    seeds: Sequence[int] = SEEDS, train: int = 160, test: int = 30, **parameters: Any
) -> Experiment:
    """Measure without references, on phantoms where neither image nor votes suffice."""
    experiment = hard_figures("4. Hard 2D, no truth", seeds, train, test, **parameters)
    experiment.above("gain", 0)
    experiment.at_least("gain", 0.01, of_mean=True)
    experiment.clearly_above("gain_over_noise_images", 0)
    experiment.at_most("ECE", 0.08)
    experiment.at_least("Spearman", 0.7)
    experiment.at_least("worst_is_last", 1)
    experiment.at_most("CPU_seconds", 40)
    return experiment


def hard_jointly(
    seeds: Sequence[int] = SEEDS, train: int = 160, test: int = 30, **parameters: Any
) -> Experiment:
    """Measure the same with a network that sees only the image, and with the rater weight
    selected by Fit.
    """
    title = "8. Hard 2D, no truth, Mode joint"
    experiment = hard_figures(title, seeds, train, test, Mode="joint", **parameters)
    experiment.above("gain", 0)
    experiment.clearly_above("gain_over_noise_images", 0)
    return experiment


def hard_figures(
    title: str, seeds: Sequence[int], train: int, test: int, **parameters: Any
) -> Experiment:
    """Return results of training without references on hard phantoms."""
    experiment = Experiment(title)
    for seed in seeds:
        training, cohort = hard_cohort(train, seed), hard_cohort(test, TEST_SEED + seed)
        how = {"with_truth": False, "NumberOfIterations": ITERATIONS, **parameters}
        filter_, seconds = fitted(training, RandomSeed=seed, **how)
        reliability = [filter_.GetRaterReliability()[rater] for rater in range(1, 6)]
        true_skill = [
            np.mean([mean_dice(drawn, t) for drawn, t in zip(rater, training.truths, strict=True)])
            for rater in training.labels.swapaxes(0, 1)
        ]
        votes, fused = score(cohort, vote), score(cohort, fuser(filter_))
        blind = controls(training, cohort, seed, **how)
        experiment.add(
            seed,
            vote=votes,
            **blind,
            gain_over_noise_images=fused - blind["Dice_noise_images"],
            Dice=fused,
            gain=fused - votes,
            ECE=calibration_error(filter_, cohort),
            Spearman=spearmanr(reliability, true_skill).statistic,
            worst_is_last=np.argmin(reliability) == np.argmin(true_skill),
            rater_weight=filter_.GetChosenRaterWeight(),
            CPU_seconds=seconds,
        )
    return experiment


def volumes_with_truth(
    seeds: Sequence[int] = SEEDS,
    shape: Sequence[int] = (48, 48, 48),
    volumes: int = 16,
    **parameters: Any,
) -> Experiment:
    """Measure on volumes: a quarter is used for testing, the others for training."""
    experiment = Experiment("5. Hard 3D, truth")
    for seed in seeds:
        both = hard_cohort(volumes, seed, shape=shape)
        trained = volumes - volumes // 4
        training, cohort = (
            Cohort(*(part[chosen] for part in both))
            for chosen in (slice(trained), slice(trained, None))
        )
        how = {"with_truth": True, "NumberOfIterations": ITERATIONS, **parameters}
        filter_, seconds = fitted(training, RandomSeed=seed, **how)
        votes, fused = score(cohort, vote), score(cohort, fuser(filter_))
        experiment.add(
            seed,
            vote=votes,
            **controls(training, cohort, seed, **how),
            Dice=fused,
            gain=fused - votes,
            gain_over_STAPLE=fused - score(cohort, staple),
            CPU_seconds=seconds,
        )
    experiment.at_least("gain", 0, of_mean=True)
    experiment.at_least("gain_over_STAPLE", 0.04, of_mean=True)
    experiment.at_most("CPU_seconds", 300)
    return experiment


def inference(shape: Sequence[int] = (128, 256, 256)) -> Experiment:
    """Measure time and memory for a large volume, regardless of accuracy."""
    experiment = Experiment("6. Inference, 256 x 256 x 128, 5 raters")
    # Use a separate process, so that the peak does not include earlier memory use.
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as fresh:
        experiment.add(**fresh.submit(inference_figures, shape).result())
    experiment.at_most("lesion_CPU_seconds", 5)
    experiment.at_most("organ_CPU_seconds", 20)
    experiment.at_most("full_CPU_seconds", 120)
    experiment.at_most("peak_GB", 1.5)
    experiment.at_most("region_against_full", 0)
    return experiment


def inference_figures(shape: Sequence[int]) -> dict[str, float]:
    """Return the results of `inference`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConsensusWarning)
        filter_, _ = fitted(
            hard_cohort(4, 0, shape=(24, 24, 24), number_of_classes=2),
            with_truth=True,
            NumberOfIterations=5,
        )
    image = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    lesion, organ = _outlines(shape, 0.04), _outlines(shape, 0.2)
    lesion_seconds, _ = _timed(filter_, image, lesion)
    organ_seconds, region = _timed(filter_, image, organ)
    filter_.SetRegion("full")
    full_seconds, full = _timed(filter_, image, organ)
    disputed = np.any([rater != organ[0] for rater in organ], axis=0)
    return {
        "lesion_CPU_seconds": lesion_seconds,
        "organ_CPU_seconds": organ_seconds,
        "full_CPU_seconds": full_seconds,
        "peak_GB": status_bytes("VmHWM") / 2**30,
        "region_against_full": float(np.abs(full - region)[disputed].max()),
    }


def _outlines(shape: Sequence[int], share: float) -> Raters:
    """Return masks by five raters of an ellipsoid that is not aligned with the window grid."""
    centre = [0.55 * side for side in shape]
    truth = ellipsoid_mask(shape, [share * side for side in shape], centre).astype(np.uint8)
    return list(contour_error_raters(truth, 5, seed=1))


def _timed(
    filter_: DeepConsensusFilter, image: NDArray[Any], raters: Raters
) -> tuple[float, NDArray[Any]]:
    start = time.process_time()
    filter_.Execute(image, raters)
    seconds = time.process_time() - start
    return seconds, np.asarray(filter_.GetProbabilityImage(1))


def exactness() -> Experiment:
    """Measure changes due to rater order, saving, and repetition; losses are tested in tests/."""
    experiment = Experiment("7. Largest change of a probability")
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
    loaded.SetWithoutGain("network")
    experiment.add(
        rater_order=np.abs(first - probability(filter_, [3, 0, 4, 2, 1])).max(),
        save_and_load=np.abs(first - probability(loaded)).max(),
        same_seed=np.abs(first - probability(again)).max(),
    )
    experiment.at_most("rater_order", 1e-5)
    experiment.at_most("save_and_load", 0)
    experiment.at_most("same_seed", 0)
    return experiment


def main() -> None:
    """Print the requested experiments."""
    parser = argparse.ArgumentParser(description="What DeepConsensusFilter must do.")
    parser.add_argument("numbers", nargs="*", type=int, help="1 to 9 [default: all but 9]")
    parser.add_argument("--seeds", type=int, default=len(SEEDS), help="how many seeds")
    parser.add_argument("--first-seed", type=int, default=SEEDS[0], help="the lowest of them")
    parser.add_argument("--save", type=Path, metavar="FILE", help="a JSON file to keep figures in")
    arguments = parser.parse_args()
    seeds = range(arguments.first_seed, arguments.first_seed + arguments.seeds)
    makers: dict[int, Callable[[Sequence[int]], Experiment]] = {
        1: easy_with_truth,
        2: easy_without_truth,
        3: hard_with_truth,
        4: hard_without_truth,
        5: volumes_with_truth,
        6: lambda _: inference(),
        7: lambda _: exactness(),
        8: hard_jointly,
        9: hard_with_truth_and_plenty,
    }
    if not set(arguments.numbers) <= set(makers):
        parser.error("experiments are 1 to 9")
    for number in arguments.numbers or range(1, 9):
        experiment = Experiment("nothing yet")
        for seed in seeds if number not in WITHOUT_SEEDS else seeds[:1]:
            one = makers[number]([seed])
            if arguments.save:
                # Save after each seed, so that results of an interrupted run are kept.
                save([one], arguments.save)
            experiment = one.joined(experiment)
        print(experiment, flush=True)


if __name__ == "__main__":
    main()
