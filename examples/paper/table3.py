"""Table 3: does STAPLE fail for small structures? (Experiment 3, section 4.3).

The notebook fixes the prior at .5, which causes over-segmentation (its "collapse"): at radius 5 the
result is tens of times too large, not empty.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from examples.paper.careful import careful_staple, smoothed_vote
from examples.paper.notebook_staple import Votes, majority_vote, notebook_staple, notebook_staple_d
from examples.paper.side_by_side import Rows, mean_and_spread, print_side_by_side
from examples.simulation import class_imbalance_case, disc_phantom
from itk_consensus.votes.overlap import dice

SEEDS = range(10)
MEASURES = ("foreground", "majority vote", "STAPLE", "STAPLE-D")
PUBLISHED: Rows = {
    39: ("29.1%", "0.932 ± 0.009", "0.911 ± 0.016", "0.912 ± 0.016"),
    32: ("19.6%", "0.919 ± 0.011", "0.864 ± 0.039", "0.868 ± 0.037"),
    22: ("9.3%", "0.885 ± 0.015", "0.431 ± 0.045", "0.431 ± 0.045"),
    16: ("4.9%", "0.841 ± 0.019", "0.281 ± 0.039", "0.281 ± 0.039"),
    10: ("1.9%", "0.746 ± 0.037", "0.143 ± 0.024", "0.138 ± 0.024"),
    7: ("0.9%", "0.610 ± 0.061", "0.080 ± 0.021", "0.074 ± 0.013"),
    5: ("0.5%", "0.556 ± 0.041", "0.046 ± 0.016", "0.038 ± 0.009"),
}


#: A map with a Dice below this counts as collapsed.
COLLAPSED = 0.5


@cache
def compute_seed(radius: int, seed: int) -> tuple[float, ...]:
    """Return the Dice of the vote, STAPLE and STAPLE-D with the true mask."""
    truth, raters = class_imbalance_case(radius, seed)
    votes = Votes.of(raters)
    fused = (
        majority_vote(raters),
        notebook_staple(votes).segmentation,
        notebook_staple_d(votes).segmentation,
    )
    return tuple(dice(segmentation, truth) for segmentation in fused)


def compute_row(radius: int) -> tuple[str, ...]:
    """Compute the row for a radius, over all seeds."""
    methods = zip(*(compute_seed(radius, seed) for seed in SEEDS), strict=True)
    return f"{disc_phantom(radius).truth.mean():.1%}", *map(mean_and_spread, methods)


def compute() -> Rows:
    """Compute the table with the notebook's procedure."""
    return {radius: compute_row(radius) for radius in PUBLISHED}


@cache
def careful_seed(radius: int, seed: int) -> tuple[float, ...]:
    """Return the Dice of the vote, STAPLE with an estimated prior, the same damped, and the
    smoothed vote; and STAPLE's volume relative to the true one.
    """
    truth, raters = class_imbalance_case(radius, seed)
    _, fused = careful_staple(raters)
    _, damped = careful_staple(raters, Damping=0.4)
    maps = (majority_vote(raters), fused, damped, smoothed_vote(raters))
    return *(dice(segmentation, truth) for segmentation in maps), fused.sum() / truth.sum()


def careful() -> tuple[Rows, Rows]:
    """Compute the table with an estimated prior, the smoothed vote, and the volume ratio."""
    table, checks = {}, {}
    for radius in PUBLISHED:
        columns = zip(*(careful_seed(radius, seed) for seed in SEEDS), strict=True)
        vote, fused, damped, smoothed, ratio = map(mean_and_spread, columns)
        table[radius] = (f"{disc_phantom(radius).truth.mean():.1%}", vote, fused, damped)
        checks[radius] = (smoothed, ratio)
    return table, checks


def collapse_rates() -> dict[str, Rows]:
    """Compute the percentage of collapsed maps by method and radius (Figure 2, right)."""
    runs = {"vote": (compute_seed, 0), "STAPLE, notebook": (compute_seed, 1)}
    runs["STAPLE, prior estimated"] = (careful_seed, 1)
    return {
        name: {
            radius: (f"{100 * np.mean([run(radius, s)[place] < COLLAPSED for s in SEEDS]):.0f}",)
            for radius in PUBLISHED
        }
        for name, (run, place) in runs.items()
    }


def main() -> None:
    """Print the published table, ours and the careful run."""
    title = "Table 3. Dice to the truth of ever smaller discs, five raters (10 seeds)"
    table, checks = careful()
    columns = {"paper": PUBLISHED, "ours": compute(), "careful": table}
    print_side_by_side(title, "radius", MEASURES, columns)
    measures = ("vote smoothed, sigma 1", "volume to truth, STAPLE careful")
    print_side_by_side("Beside the careful run", "radius", measures, {"careful": checks})


if __name__ == "__main__":
    main()
