"""Section 4.5: different methods in the interior and at the boundary (Experiment 5).

The section's STAPLE is STAPLE-D. It proposes two better methods for the interior: the vote, and a
deep model. Both are run; the network is trained on phantoms with other seeds and the same true
mask.
"""

from __future__ import annotations

import numpy as np

import itk_consensus
from examples.paper.careful import careful_staple
from examples.paper.notebook_simple import notebook_hybrid, notebook_simple
from examples.paper.notebook_spatial import notebook_spatial_staple
from examples.paper.notebook_staple import Votes, majority_vote, notebook_staple_d
from examples.paper.side_by_side import Rows, print_side_by_side
from examples.paper.table5 import deep_filter
from examples.simulation import ellipsoid_phantom, paper_raters
from itk_consensus.votes.overlap import dice

SEEDS = range(10)
RATERS = 5
MEASURES = ("majority vote", "SIMPLE", "STAPLE-D", "hybrid", "Spatial STAPLE")
PUBLISHED: Rows = {RATERS: ("0.912", "0.904", "0.788", "0.775", "0.554")}

#: The methods that the section proposes.
PROPOSED = ("vote inside, SIMPLE outside", "network inside, SIMPLE outside")
TRAINING = range(1000, 1060)
ITERATIONS = 150


def compute_seed(seed: int) -> tuple[float, ...]:
    """Return the Dice of each of the five methods with the true mask."""
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
    """Return the section's results with the notebook's procedures."""
    methods = zip(*map(compute_seed, SEEDS), strict=True)
    return {RATERS: tuple(f"{np.mean(overlaps):.3f}" for overlaps in methods)}


def careful_seed(seed: int) -> tuple[float, ...]:
    """Return the Dice of the package's filters; the hybrid is STAPLE inside and SIMPLE at the
    boundary.
    """
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
    """Return the section's results with the package's filters, including the recommended one."""
    methods = zip(*map(careful_seed, SEEDS), strict=True)
    return {RATERS: tuple(f"{np.mean(overlaps):.3f}" for overlaps in methods)}


def proposed(with_deep: bool = True) -> tuple[str, str]:
    """Return the Dice with the two proposed interiors; the network needs torch and takes long."""
    network = _network() if with_deep else None
    # The band surrounds the interior's contour; the vote contains isolated voxels, whose bands
    # cover the image.
    terms = {
        "BoundaryFilter": itk_consensus.SIMPLEFilter(TieRule="background"),
        "BandContour": "interior",
    }
    scores = []
    for seed in SEEDS:
        truth, image = ellipsoid_phantom(seed=seed)
        images = list(paper_raters(truth, RATERS, seed).astype(np.uint8))
        hybrids = [itk_consensus.HybridFusionFilter(**terms)]
        if network is not None:
            inside = {"InteriorFilter": network, "Image": image}
            hybrids.append(itk_consensus.HybridFusionFilter(**terms, **inside))
        scores.append([dice(hybrid.Execute(images) == 1, truth) for hybrid in hybrids])
    vote, *deep = (f"{mean:.3f}" for mean in np.mean(scores, axis=0))
    return vote, deep[0] if deep else "–"


def _network() -> itk_consensus.DeepConsensusFilter:
    """Return a DeepConsensusFilter trained on phantoms with other seeds."""
    cases = [(ellipsoid_phantom(seed=seed), seed) for seed in TRAINING]
    masks = np.array([paper_raters(phantom.truth, RATERS, seed) for phantom, seed in cases])
    images = np.array([phantom.image[None] for phantom, _ in cases], np.float32)
    truths = np.array([phantom.truth for phantom, _ in cases])
    return deep_filter(images, masks, truths, ITERATIONS)


def main() -> None:
    """Print the published results and ours."""
    title = "Section 4.5. Dice to the truth, interior and boundary fused apart (10 seeds)"
    print_side_by_side(title, "J", MEASURES, {"paper": PUBLISHED, "ours": compute()})


if __name__ == "__main__":
    main()
