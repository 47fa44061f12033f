"""Table 2: how much do the results of twenty starts of STAPLE differ? (Experiment 2, section 4.2).

In the notebook each "start" has a different fixed prior and is therefore a different model: the
likelihoods are not comparable, and 19 of 20 are "suboptimal" regardless of EM.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from examples.paper.careful import careful_staple
from examples.paper.notebook_staple import Votes, notebook_staple
from examples.paper.side_by_side import Rows, mean_and_spread, print_side_by_side
from examples.simulation import ellipsoid_phantom, paper_raters
from itk_consensus.votes.overlap import dice

SEEDS = range(10)
STARTS = range(20)
MEASURES = ("suboptimal", "LL spread (nats)", "Dice spread")
PUBLISHED: Rows = {
    3: ("95.0%", "3,974 ± 1,387", "0.545 ± 0.060"),
    5: ("95.0%", "7,881 ± 985", "0.537 ± 0.130"),
    7: ("95.0%", "13,139 ± 1,599", "0.359 ± 0.110"),
    10: ("95.0%", "17,978 ± 2,632", "0.028 ± 0.026"),
}


def start_prior(seed: int, start: int) -> float:
    """Return the prior to which the notebook clamps this start."""
    return float(np.clip(np.random.default_rng(1000 * seed + start).uniform(0.1, 0.9), 0.05, 0.95))


def compute_seed(number: int, seed: int) -> tuple[float, float, float]:
    """Return the share of starts more than 1 nat below the best, and the ranges of
    log-likelihood and Dice.
    """
    truth = ellipsoid_phantom(seed=seed).truth
    votes = Votes.of(paper_raters(truth, number, seed))
    results = [
        notebook_staple(
            votes, prior=start_prior(seed, start), maximum_iterations=100, tolerance=1e-8
        )
        for start in STARTS
    ]
    likelihoods = np.array([result.log_likelihood for result in results])
    suboptimal = np.mean(likelihoods < likelihoods.max() - 1)
    overlaps = [dice(result.segmentation, truth) for result in results]
    return float(suboptimal), float(np.ptp(likelihoods)), float(np.ptp(overlaps))


def compute_row(number: int) -> tuple[str, ...]:
    """Compute the row for a number of raters, over all seeds."""
    suboptimal, likelihood, overlap = zip(
        *(compute_seed(number, seed) for seed in SEEDS), strict=True
    )
    return f"{np.mean(suboptimal):.1%}", mean_and_spread(likelihood, 0), mean_and_spread(overlap)


def compute() -> Rows:
    """Compute the table with the notebook's procedure."""
    return {number: compute_row(number) for number in PUBLISHED}


def careful_row(number: int, **parameters: Any) -> tuple[str, ...]:
    """Run twenty starts of one model, with theta drawn at random and the prior estimated."""
    suboptimal, likelihood, overlap = [], [], []
    for seed in SEEDS:
        raters = paper_raters(ellipsoid_phantom(seed=seed).truth, number, seed)
        staple, _ = careful_staple(
            raters, NumberOfInitializations=len(STARTS), RandomSeed=seed, **parameters
        )
        starts = staple.GetStarts()
        suboptimal.append(float(np.mean(starts.log_posterior < starts.log_posterior.max() - 1)))
        likelihood.append(float(np.ptp(starts.log_posterior)))
        overlap.append(float(1 - starts.dice[starts.winner].min()))
    return f"{np.mean(suboptimal):.1%}", mean_and_spread(likelihood, 0), mean_and_spread(overlap)


def careful(**parameters: Any) -> Rows:
    """Compute the table for comparable starts; Dice is with the best start, not the true mask."""
    return {number: careful_row(number, **parameters) for number in PUBLISHED}


def main() -> None:
    """Print the published table, ours and the careful run."""
    columns = {"paper": PUBLISHED, "ours": compute(), "careful": careful()}
    title = "Table 2. Twenty starts of STAPLE (10 seeds)"
    print_side_by_side(title, "J", MEASURES, columns)
    # Print cases with several optima: raters who switched labels, and estimation from disputed
    # voxels only.
    restricted = {"Variant": "restricted"}
    variants = {
        "U(0,1)": careful(InitializationRange=(0, 1)),
        "Restricted": careful(**restricted),
        "Restricted, prior estimated, U(.3,1)": careful(
            **restricted, EstimatePrior=True, InitializationRange=(0.3, 1)
        ),
    }
    print_side_by_side("Real multimodality", "J", MEASURES, variants)


if __name__ == "__main__":
    main()
