"""Table 4: raters whose quality varies across the image (Experiment 4, section 4.4).

A random half of the notebook's raters dilates its *noisy* mask, which turns scattered false voxels
into large false regions; section 3.2 jitters the contour first and adds the noise afterwards.
"""

from __future__ import annotations

import numpy as np

import itk_consensus
from examples.paper.careful import careful_staple
from examples.paper.notebook_simple import notebook_simple
from examples.paper.notebook_spatial import notebook_spatial_staple
from examples.paper.notebook_staple import Votes, majority_vote, notebook_staple, notebook_staple_d
from examples.paper.side_by_side import Rows, mean_and_spread, print_side_by_side
from examples.simulation import spatial_case
from itk_consensus.votes.overlap import dice

SEEDS = range(10)
RATERS = 6
MEASURES = ("majority vote", "SIMPLE", "STAPLE", "STAPLE-D", "Spatial STAPLE")
PUBLISHED: Rows = {
    RATERS: ("0.789 ± 0.177", "0.643 ± 0.155", "0.504 ± 0.101", "0.507 ± 0.102", "0.442 ± 0.033")
}


def compute_seed(seed: int) -> tuple[float, ...]:
    """Return the Dice of each of the five methods with the true mask."""
    truth, raters = spatial_case("after", seed)
    votes = Votes.of(raters)
    fused = (
        majority_vote(raters),
        notebook_simple(raters),
        notebook_staple(votes).segmentation,
        notebook_staple_d(votes).segmentation,
        notebook_spatial_staple(raters),
    )
    return tuple(dice(segmentation, truth) for segmentation in fused)


def compute() -> Rows:
    """Compute the table with the notebook's procedures."""
    methods = zip(*map(compute_seed, SEEDS), strict=True)
    return {RATERS: tuple(map(mean_and_spread, methods))}


def careful_seed(seed: int) -> tuple[float, ...]:
    """Return the Dice of the package's filters: the same methods with an estimated prior
    (SpatialSTAPLE with a locally estimated one), and the recommended filter.
    """
    truth, raters = spatial_case("after", seed)
    images = list(raters.astype(np.uint8))
    fused = (
        majority_vote(raters),
        itk_consensus.SIMPLE(images, tieRule="background") == 1,
        careful_staple(raters)[1],
        careful_staple(raters, Damping=0.4)[1],
        itk_consensus.SpatialSTAPLE(images) == 1,
        itk_consensus.Consensus(images) == 1,
    )
    return tuple(dice(segmentation, truth) for segmentation in fused)


def careful() -> Rows:
    """Compute the table for the package's filters, including the recommended one."""
    methods = zip(*map(careful_seed, SEEDS), strict=True)
    return {RATERS: tuple(map(mean_and_spread, methods))}


def main() -> None:
    """Print the published table and ours."""
    title = "Table 4. Dice to the truth, quality varying between the halves (10 seeds)"
    print_side_by_side(title, "J", MEASURES, {"paper": PUBLISHED, "ours": compute()})


if __name__ == "__main__":
    main()
