"""Measure the loss of an ensemble's mean due to one failed network, and how often it is detected.

Simulated networks give soft outlines of an organ, and one of them fails: its output is inverted,
empty, undecided, shifted, noise, or full. For the mean and the geometric mean, the following are
printed: the Dice with all networks, the Dice with the weights suggested by the finding "counted
slip", and the share of cases in which this finding names only the failed network.

    python examples/benchmarks/findings/failed_networks.py [--first-seed 3000] [--seeds 20]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

import itk_consensus as ic
from examples.simulation.contour_errors import contour_error_raters
from examples.simulation.practice_settings import blob
from itk_consensus.assessment.assessment import assess
from itk_consensus.core.array_types import Floats, Mask

SHAPE = (96, 96)

#: Width in voxels of the transition of a network's probability at the contour.
SOFTNESS = 1.5


def _noise(probability: Floats, rng: np.random.Generator) -> Floats:
    smooth = scipy.ndimage.gaussian_filter(rng.random(probability.shape), 2)
    return np.clip(4 * smooth - 1.5, 0, 1)


FAILURES: dict[str, Callable[[Floats, np.random.Generator], Floats]] = {
    "none": lambda probability, rng: probability,
    "inverted": lambda probability, rng: 1 - probability,
    "empty": lambda probability, rng: 0.02 * probability,
    "unsure": lambda probability, rng: np.full_like(probability, 0.45),
    "moved": lambda probability, rng: np.roll(probability, 30, axis=1),
    "noise": _noise,
    "full": lambda probability, rng: np.full_like(probability, 0.97),
}


def ensemble(seed: int, networks: int, failure: str) -> tuple[Mask, list[NDArray[np.float32]]]:
    """Return a true mask, and the probabilities of networks, the first of which fails."""
    rng = np.random.default_rng(seed)
    truth = blob(seed, SHAPE)
    drawn = contour_error_raters(truth, networks, seed, displacement=1.5, bias=0.5, smoothness=6.0)
    edt = scipy.ndimage.distance_transform_edt
    said = [scipy.special.expit((edt(mask) - edt(~mask)) / SOFTNESS) for mask in drawn]
    said[0] = FAILURES[failure](said[0], rng)
    return truth, [one.astype(np.float32) for one in said]


def measured(
    fuser: type[Any], seeds: Sequence[int], networks: int, failure: str
) -> tuple[float, float, float]:
    """Return the mean Dice with all networks and with the suggested weights, and the share of
    cases in which only the failed network is named.
    """
    rows = []
    for seed in seeds:
        truth, said = ensemble(seed, networks, failure)
        filter_ = fuser(TieRule="background")
        before = after = ic.dice(np.asarray(filter_.Execute(said)) > 0, truth)
        found = assess(filter_.fused).findings(False).findings
        offers = [one for one in found if one.rule == "counted slip"]
        for one in offers:
            weights = [float(weight) for weight in one.facts["weights"].split()]
            offered = fuser(TieRule="background", RaterWeights=weights)
            after = ic.dice(np.asarray(offered.Execute(said)) > 0, truth)
        rows.append((before, after, [one.who for one in offers] == [(0,)]))
    before, after, named = np.mean(rows, axis=0)
    return float(before), float(after), float(named)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line for each fuser, number of networks and failure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--first-seed", type=int, default=3000)
    parser.add_argument("--seeds", type=int, default=20)
    options = parser.parse_args(arguments)
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    for fuser in (ic.ProbabilityAverageFilter, ic.LogOpinionPoolFilter):
        for networks in (3, 4, 5):
            for failure in FAILURES:
                before, after, named = measured(fuser, seeds, networks, failure)
                print(
                    f"{fuser.__name__:26} {networks} networks, {failure:9} "
                    f"{before:.4f}, as offered {after:.4f}, named {named:.0%}"
                )


if __name__ == "__main__":
    main()
