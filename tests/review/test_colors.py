"""Labels, readers and the dispute have distinguishable colours."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from itk_consensus.review.rater_colors import DISPUTE_COLOR, label_color


def rgb(color: str) -> np.ndarray:
    return np.array([int(color[at : at + 2], 16) for at in (1, 3, 5)], float)


def test_24_labels_differ_from_each_other_and_from_the_dispute() -> None:
    colors = [label_color(place) for place in range(24)]
    every = [rgb(color) for color in (DISPUTE_COLOR, *colors)]
    assert len({*colors, DISPUTE_COLOR}) == 25
    assert min(np.linalg.norm(a - b) for a, b in combinations(every, 2)) > 25
