"""Measure the gain from a spatial term in votes and STAPLE, against a known segmentation.

The settings are the discs of Table 3 at all seven radii, the three orders of jitter of Table 4,
the settings of the fusion benchmark with one deviating rater, and real crowd workers if the shared
data are next to the repository. Also measures the time of a Potts field on a volume of 256 x 256 x
128.

    python -m examples.benchmarks.methods.smoothness [--seeds 24] [--first-seed 100]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from examples.benchmarks.methods.fusion_benchmark import CROWD, crowd_cases, fused_mask
from examples.simulation import (
    Case,
    class_imbalance_case,
    contour_error_raters,
    ellipsoid_mask,
    spatial_case,
    twelve_settings,
)
from itk_consensus.fusing.label_fusion import LabelFusionFilter
from itk_consensus.methods.staple.staple_filter import STAPLEImageFilter
from itk_consensus.methods.voting.corrected_vote_filter import CorrectedVoteFilter
from itk_consensus.methods.voting.majority_vote_filter import MajorityVoteFilter
from itk_consensus.votes.overlap import dice

TABLE_3_RADII = (39, 32, 22, 16, 10, 7, 5)
TABLE_4_JITTER = ("after", "none", "before")

FUSERS: dict[str, Callable[[], LabelFusionFilter]] = {
    "vote": lambda: MajorityVoteFilter(TieRule="background"),
    "smoothed": lambda: MajorityVoteFilter(TieRule="background", SmoothingSigma=1.0),
    "corrected": CorrectedVoteFilter,
    "STAPLE": lambda: STAPLEImageFilter(Variant="advanced"),
    "+ field 2": lambda: STAPLEImageFilter(Variant="advanced", SmoothnessWeight=2.0),
    "+ estimate": lambda: STAPLEImageFilter(Variant="advanced", SmoothnessWeight="estimate"),
}


def settings(seeds: Sequence[int]) -> Iterator[tuple[str, list[Case]]]:
    """Yield the full Tables 3 and 4, the settings with one deviating rater, and the crowd."""
    for radius in TABLE_3_RADII:
        yield f"Table 3, r {radius}", [class_imbalance_case(radius, seed) for seed in seeds]
    for order in TABLE_4_JITTER:
        yield f"Table 4, jitter {order}", [spatial_case(order, seed) for seed in seeds]
    for setting in twelve_settings(seeds):
        if setting.name.startswith("one"):
            yield setting.name, setting.cases
    if CROWD.is_dir():
        yield "bubil crowd", [Case(truth, raters) for truth, raters in crowd_cases()]


def print_table(seeds: Sequence[int]) -> None:
    """Print the mean Dice with the reference, one row per setting."""
    print(f"{'mean Dice':<22}", *(f"{name:>10}" for name in FUSERS))
    for name, cases in settings(seeds):
        means = (
            np.mean([dice(fused_mask(make, case.raters), case.truth) for case in cases])
            for make in FUSERS.values()
        )
        print(f"{name:<22}", *(f"{mean:10.4f}" for mean in means), flush=True)


def print_times() -> None:
    """Print the time in seconds of one call of Execute, for an organ by five raters with contour
    errors.
    """
    truth = ellipsoid_mask((128, 256, 256), (38, 60, 60))
    raters = list(contour_error_raters(truth.astype(np.uint8), 5))
    print("\n256 x 256 x 128, five raters with contour errors")
    for weight in (0.0, 2.0, "estimate"):
        fuser = STAPLEImageFilter(Variant="advanced", SmoothnessWeight=weight)
        start = time.perf_counter()
        fuser.Execute(raters)
        seconds = time.perf_counter() - start
        steps = fuser.GetElapsedIterations()
        print(f"  SmoothnessWeight {weight!s:>8}: {seconds:6.2f} s, {steps} iterations")


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table and the times."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=24, help="seeds per setting")
    parser.add_argument("--first-seed", type=int, default=100)
    options = parser.parse_args(arguments)
    print_table(range(options.first_seed, options.first_seed + options.seeds))
    print_times()


if __name__ == "__main__":
    main()
