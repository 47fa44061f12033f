"""Measure how often bands and margins detect readers unlike those of the calibration.

Bands and margins are calibrated on 45 simulated organs with five readers each, then applied to
other organs: with similar readers, with readers who copy one of them, and with readers twice as
rough. Prints the share of cases with doubts (`GetDoubts`) and the share of covered cases.

    python examples/benchmarks/bands/other_readers.py [--first-seed 3000] [--cases 40] [--rounds 3]
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

import itk_consensus as ic
from examples.simulation.harm_settings import READERS, calibrated_case
from itk_consensus.core.errors import ConsensusWarning

CALIBRATION_CASES = 45

FILTERS: dict[str, Any] = {
    "band": lambda: ic.ConformalBandFilter(ProbabilityIsVoteFraction=True),
    "margin": lambda: ic.ConformalMarginFilter(CoveredShare=0.95),
}


class Noticed(NamedTuple):
    """Results for the cases whose readers are of one kind."""

    doubted: float  #: Share of cases in which the filter reports doubts about the readers
    covered: float  #: Share of cases in which 95 % of the true structure is marked


def noticed(name: str, first: int, cases: int) -> Iterator[tuple[str, Noticed]]:
    """Calibrate a filter on cases from seed `first` on, and apply it to the following cases."""
    calibrated = FILTERS[name]()
    drawn = [calibrated_case(first + i) for i in range(CALIBRATION_CASES)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConsensusWarning)
        calibrated.Calibrate(
            [case.raters.mean(axis=0) for case in drawn],
            [case.truth.astype(np.uint8) for case in drawn],
            [list(case.raters.astype(np.uint8)) for case in drawn],
        )
        for readers in READERS:
            found = []
            for seed in range(first + CALIBRATION_CASES, first + CALIBRATION_CASES + cases):
                case = calibrated_case(seed, readers)
                raters = list(case.raters.astype(np.uint8))
                marked = np.asarray(calibrated.Execute(case.raters.mean(axis=0), raters)) > 0
                doubted = any("the raters are" in doubt for doubt in calibrated.GetDoubts())
                found.append((doubted, marked[case.truth].mean() >= 0.95))
            yield readers, Noticed(*np.mean(found, axis=0).tolist())


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line for each filter and kind of readers."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--first-seed", type=int, default=3000)
    parser.add_argument("--cases", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=3, help="calibrations")
    options = parser.parse_args(arguments)
    step = CALIBRATION_CASES + options.cases
    for name in FILTERS:
        rounds = [
            dict(noticed(name, options.first_seed + step * i, options.cases))
            for i in range(options.rounds)
        ]
        for readers in READERS:
            doubted, covered = np.mean([found[readers] for found in rounds], axis=0)
            print(f"{name:8} {readers:10} doubted {doubted:.0%}, covered {covered:.2f}")


if __name__ == "__main__":
    main()
