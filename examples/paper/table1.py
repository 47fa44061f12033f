"""Table 1: is STAPLE a threshold of the raters' mean? (Experiment 1, section 4.1)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from examples.paper.careful import careful_staple
from examples.paper.notebook_staple import Votes, notebook_staple
from examples.paper.side_by_side import Rows, mean_and_spread, print_side_by_side
from examples.simulation import ellipsoid_phantom, paper_raters
from itk_consensus.votes.overlap import dice

SEEDS = range(5)
MEASURES = ("Dice to best threshold", "best threshold")
PUBLISHED: Rows = {
    3: ("1.000 ± 0.000", "0.167 ± 0.000"),
    5: ("0.925 ± 0.040", "0.220 ± 0.098"),
    7: ("0.984 ± 0.026", "0.329 ± 0.057"),
    10: ("0.997 ± 0.004", "0.350 ± 0.000"),
    15: ("0.995 ± 0.003", "0.300 ± 0.042"),
    20: ("0.996 ± 0.004", "0.325 ± 0.000"),
    30: ("0.997 ± 0.004", "0.317 ± 0.042"),
}


def best_threshold(
    segmentation: NDArray[np.bool_], raters: NDArray[np.bool_]
) -> tuple[float, float]:
    """Return the highest Dice with the thresholded mean map, and the (lowest) threshold that
    reaches it.
    """
    votes = np.count_nonzero(raters, axis=0)
    overlaps = [dice(segmentation, votes >= level) for level in range(1, len(raters) + 1)]
    best = int(np.argmax(overlaps))
    return overlaps[best], (best + 0.5) / len(raters)


def compute_row(number: int) -> tuple[str, ...]:
    """Compute the row for a number of raters, over all seeds."""
    results = []
    for seed in SEEDS:
        raters = paper_raters(ellipsoid_phantom(seed=seed).truth, number, seed)
        results.append(best_threshold(notebook_staple(Votes.of(raters)).segmentation, raters))
    return tuple(mean_and_spread(column) for column in zip(*results, strict=True))


def compute() -> Rows:
    """Compute the table with the notebook's procedure."""
    return {number: compute_row(number) for number in PUBLISHED}


def careful_row(number: int) -> tuple[str, ...]:
    """Compute the same row for STAPLE with an estimated prior."""
    results = []
    for seed in SEEDS:
        raters = paper_raters(ellipsoid_phantom(seed=seed).truth, number, seed)
        results.append(best_threshold(careful_staple(raters)[1], raters))
    return tuple(mean_and_spread(column) for column in zip(*results, strict=True))


def careful() -> Rows:
    """Compute the table with an estimated prior, with which the best threshold is near the
    middle.
    """
    return {number: careful_row(number) for number in PUBLISHED}


def main() -> None:
    """Print the published table, ours and the careful run."""
    columns = {"paper": PUBLISHED, "ours": compute(), "careful": careful()}
    title = "Table 1. STAPLE against the best threshold of the mean map (5 seeds)"
    print_side_by_side(title, "J", MEASURES, columns)


if __name__ == "__main__":
    main()
