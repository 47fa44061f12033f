"""Dilation by a box, compared with scipy's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.ndimage import maximum_filter

from itk_consensus.core.work import working
from itk_consensus.space.spread import dilate


@pytest.mark.parametrize(
    ("shape", "radii"),
    [
        ((23,), (2,)),
        ((9, 31), (3, 0)),
        ((11, 12, 40), (1, 3, 2)),
        ((4, 11, 12, 9), (0, 3, 3, 3)),
        ((3, 2, 5), (3, 3, 9)),
    ],
)
@pytest.mark.parametrize("tile", [None, (1, 4, 5, 7), (1, 1, 1, 1)])
def test_flags_reach_the_box_around_them(shape, radii, tile):
    flags = np.random.default_rng(1).random(shape) < 0.02
    expected = maximum_filter(flags, [2 * radius + 1 for radius in radii], mode="constant")
    for threads in (1, 2, 7):
        found = working(threads=threads)(dilate)(flags, radii, tile=tile)
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("flag", [False, True])
def test_what_is_everywhere_or_nowhere_stays(flag):
    assert (dilate(np.full((5, 6, 7), flag), (2, 2, 2)) == flag).all()
