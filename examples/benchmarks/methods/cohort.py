"""Compare STAPLE with one performance per rater for a whole cohort with STAPLE case by case.

The comparison is made first on simulated cohorts of twenty small discs outlined by the same five
raters, whose true sensitivity and specificity are known; then on the experts of BU-BIL, five
people with two tools each, if the shared data are next to the repository.

    python -m examples.benchmarks.methods.cohort [--seeds 10]
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examples.simulation import disc_phantom, heterogeneous_raters
from itk_consensus.images.files import read_image
from itk_consensus.methods.staple.cohort_staple_filter import CohortSTAPLEFilter
from itk_consensus.methods.staple.staple_filter import STAPLEImageFilter
from itk_consensus.votes.overlap import dice

CASES, RATERS, SHAPE = 20, 5, (48, 48)
RADII, SENSITIVITIES, SPECIFICITIES = (5.0, 10.0), (0.6, 0.95), (0.9, 0.99)

BUBIL = Path(__file__).resolve().parents[3] / ".." / "shared" / "data" / "bubil"
TEN_EXPERT_SETS = ("d1", "d2", "d3", "d6")
TOOLS = ("Amira", "ImageJ")


class Cohort(NamedTuple):
    """Raters with known performance in many cases."""

    qualities: NDArray[np.float64]  #: (raters, 2) true sensitivity and specificity
    truths: list[NDArray[np.bool_]]
    cases: list[list[NDArray[np.uint8]]]


class Comparison(NamedTuple):
    """Mean absolute errors of sensitivity and specificity, and mean Dice."""

    sensitivity: float
    specificity: float
    overlap: float


def simulated_cohort(seed: int) -> Cohort:
    """Simulate discs with small random radii, all outlined by the same raters."""
    rng = np.random.default_rng(seed)
    limits = (SENSITIVITIES, SPECIFICITIES)
    qualities = np.stack([rng.uniform(*limit, RATERS) for limit in limits], axis=1)
    truths = [disc_phantom(radius, shape=SHAPE).truth for radius in rng.uniform(*RADII, CASES)]
    seeds = rng.integers(2**31, size=CASES).tolist()
    pairs = [(float(s), float(t)) for s, t in qualities]
    cases = [
        list(heterogeneous_raters(truth, case_seed, pairs).astype(np.uint8))
        for truth, case_seed in zip(truths, seeds, strict=True)
    ]
    return Cohort(qualities, truths, cases)


def performance(filter_: STAPLEImageFilter | CohortSTAPLEFilter) -> NDArray[np.float64]:
    """Return the (raters, 2) estimated sensitivity and specificity."""
    return np.stack([filter_.GetSensitivity(), filter_.GetSpecificity()], axis=1)


def together(cohort: Cohort, variant: str) -> Comparison:
    """Run CohortSTAPLEFilter on all cases."""
    filter_ = CohortSTAPLEFilter(Variant=variant)
    maps = filter_.Execute(cohort.cases)
    return compared(cohort, performance(filter_)[np.newaxis], maps)


def case_by_case(cohort: Cohort, variant: str) -> Comparison:
    """Run STAPLEImageFilter on each case separately; errors are averaged over cases."""
    filters = [STAPLEImageFilter(Variant=variant) for _ in cohort.cases]
    maps = [filter_.Execute(case) for filter_, case in zip(filters, cohort.cases, strict=True)]
    return compared(cohort, np.stack([performance(filter_) for filter_ in filters]), maps)


def compared(
    cohort: Cohort, estimates: NDArray[np.float64], maps: list[NDArray[np.float64]]
) -> Comparison:
    """Return errors of (estimates, raters, 2) performances, and the Dice of the thresholded
    maps.
    """
    errors = np.abs(estimates - cohort.qualities).mean(axis=(0, 1))
    overlaps = [dice(m >= 0.5, t) for m, t in zip(maps, cohort.truths, strict=True)]
    return Comparison(float(errors[0]), float(errors[1]), float(np.mean(overlaps)))


def print_simulated(seeds: int) -> None:
    """Print the mean errors over the cohorts."""
    print(f"{CASES} discs of radius {RADII[0]:g}-{RADII[1]:g}, {RATERS} raters, {seeds} cohorts")
    print(f"{'':<26} {'error of sensitivity':>21} {'of specificity':>15} {'Dice':>7}")
    cohorts = [simulated_cohort(seed) for seed in range(seeds)]
    for variant in ("basic", "advanced"):
        for name, run in (("case by case", case_by_case), ("cohort", together)):
            means = np.mean([run(cohort, variant) for cohort in cohorts], axis=0)
            row = f"{means[0]:21.4f} {means[1]:15.4f} {means[2]:7.4f}"
            print(f"{variant + ', ' + name:<26} {row}")


def print_experts(folder: Path) -> None:
    """For each BU-BIL image set with ten annotations (five people, two tools), print the jointly
    estimated performance of each person with each tool.
    """
    for name in TEN_EXPERT_SETS:
        files = sorted(folder.glob(f"{name}_*_experts.nrrd"))
        filter_ = CohortSTAPLEFilter(Variant="advanced")
        filter_.Execute([read_image(file) for file in files])
        print(f"\nBU-BIL set {name}: {len(files)} images; sensitivity / specificity")
        print(f"{'':<9}", *(f"{tool:>15}" for tool in TOOLS))
        pairs = performance(filter_).reshape(-1, len(TOOLS), 2)
        for person, tools in enumerate(pairs, start=1):
            cells = (f"{s:8.3f} / {t:.3f}" for s, t in tools)
            print(f"person {person:<2}", *cells)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10, help="simulated cohorts")
    print_simulated(parser.parse_args(arguments).seeds)
    if BUBIL.is_dir():
        print_experts(BUBIL)


if __name__ == "__main__":
    main()
