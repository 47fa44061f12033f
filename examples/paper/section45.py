"""Section 4.5: one method inside, another at the boundary (Experiment 5).

What the section calls STAPLE is STAPLE-D.
"""

from __future__ import annotations

import numpy as np

import itk_consensus
from examples.paper.careful import careful_staple
from examples.paper.notebook_simple import notebook_hybrid, notebook_simple
from examples.paper.notebook_spatial import notebook_spatial_staple
from examples.paper.notebook_staple import Votes, majority_vote, notebook_staple_d
from examples.paper.side_by_side import Rows, print_side_by_side
from examples.simulation import ellipsoid_phantom, paper_raters
from itk_consensus.votes.overlap import dice

SEEDS = range(10)
RATERS = 5
MEASURES = ("majority vote", "SIMPLE", "STAPLE-D", "hybrid", "Spatial STAPLE")
PUBLISHED: Rows = {RATERS: ("0.912", "0.904", "0.788", "0.775", "0.554")}


def compute_seed(seed: int) -> tuple[float, ...]:
    """Dice to the truth of the five methods."""
    truth = ellipsoid_phantom(seed=seed).truth
    raters = paper_raters(truth, RATERS, seed)
    fused = (
        majority_vote(raters),
        notebook_simple(raters),
        notebook_staple_d(Votes.of(raters)).segmentation,
        notebook_hybrid(raters),
        notebook_spatial_staple(raters),
    )
    return tuple(dice(segmentation, truth) for segmentation in fused)


def compute() -> Rows:
    """The section's figures, by the notebook's procedures."""
    methods = zip(*map(compute_seed, SEEDS), strict=True)
    return {RATERS: tuple(f"{np.mean(overlaps):.3f}" for overlaps in methods)}


def careful_seed(seed: int) -> tuple[float, ...]:
    """The same methods as filters; the hybrid is STAPLE inside and SIMPLE at the boundary."""
    truth = ellipsoid_phantom(seed=seed).truth
    raters = paper_raters(truth, RATERS, seed)
    images = list(raters.astype(np.uint8))
    hybrid = itk_consensus.HybridFusionFilter(
        InteriorFilter=itk_consensus.STAPLEImageFilter(Variant="Advanced"),
        BoundaryFilter=itk_consensus.SIMPLEFilter(TieRule="background"),
    )
    fused = (
        majority_vote(raters),
        itk_consensus.SIMPLE(images, tieRule="background") == 1,
        careful_staple(raters, Damping=0.4)[1],
        hybrid.Execute(images) == 1,
        itk_consensus.SpatialSTAPLE(images) == 1,
        itk_consensus.Consensus(images) == 1,
    )
    return tuple(dice(segmentation, truth) for segmentation in fused)


def careful() -> Rows:
    """The section's figures of the filters, and the recommended one."""
    methods = zip(*map(careful_seed, SEEDS), strict=True)
    return {RATERS: tuple(f"{np.mean(overlaps):.3f}" for overlaps in methods)}


def main() -> None:
    """Print the published figures beside ours."""
    title = "Section 4.5. Dice to the truth, interior and boundary fused apart (10 seeds)"
    print_side_by_side(title, "J", MEASURES, {"paper": PUBLISHED, "ours": compute()})


if __name__ == "__main__":
    main()
