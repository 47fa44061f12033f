"""Thickness of disputes, shells, and the choice of disputes that are listed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from itk_consensus.review.disputes import RatedMap, disputed_voxels, find_disputes
from itk_consensus.review.listing import Listing
from itk_consensus.review.rater_colors import CONTOUR_COLORS, DISPUTE_COLOR, LABEL_COLORS
from itk_consensus.review.thickness import RegionSize, region_sizes, thickness_at, usual_spread

SPACING = (0.5, 1.0, 3.0)


def thickness_by_walking(labels: np.ndarray) -> np.ndarray:
    """Compute thickness by walking from each voxel along each axis until another region begins."""
    steps = SPACING[::-1]
    found = np.full(labels.shape, np.inf)
    for place in np.ndindex(*labels.shape):
        for axis in range(3):
            length = 1
            for way in (-1, 1):
                at = list(place)
                at[axis] += way
                while 0 <= at[axis] < labels.shape[axis] and labels[tuple(at)] == labels[place]:
                    length += 1
                    at[axis] += way
            if labels.shape[axis] > 1:
                found[place] = min(found[place], steps[axis] * length)
    return found


@given(arrays(np.int64, (3, 4, 5), elements=st.integers(0, 3)))
def test_thickness_is_the_shortest_way_through_a_region(labels: np.ndarray) -> None:
    places = np.flatnonzero(labels)
    region = labels.reshape(-1)[places]
    found = thickness_at(places, region, labels.shape, SPACING)
    np.testing.assert_allclose(found, thickness_by_walking(labels).reshape(-1)[places])


def test_sizes_are_in_ml_and_a_bump_does_not_make_a_region_thick() -> None:
    labels = np.zeros((6, 40, 40), np.int64)
    labels[2, 2:38, 2:38] = 1  # a sheet of one slice
    labels[1:4, 10:12, 10:12] = 1
    places = np.flatnonzero(labels)
    (size,) = region_sizes([places], labels.shape, (1.0, 1.0, 2.0))
    assert size.ml == pytest.approx(places.size * 2 / 1000)
    assert size.mm == 2.0
    assert usual_spread([size]).mm == 2.0
    assert usual_spread([]) == RegionSize(0.0, 0.0)


def shell() -> RatedMap:
    """Return two readers of a ball, one wider by a voxel all around, with a thick bulge on one
    side.
    """
    z, y, x = np.mgrid[:40, :40, :40] - 20
    inner = z**2 + y**2 + x**2 < 13**2
    outer = z**2 + y**2 + x**2 < 15**2
    outer |= z**2 + y**2 + (x - 12) ** 2 < 8**2
    maps = tuple(one.astype(np.uint8) for one in (inner, outer, inner))
    return RatedMap("", maps, 9, maps[0], (0, 1))


def test_a_shell_is_cut_by_side_and_thickness_and_loses_no_voxel() -> None:
    rated = shell()
    (whole,) = find_disputes([rated])[0]
    parts, unlisted = find_disputes([rated], spacing=(1.0, 1.0, 1.0))
    assert unlisted == 0
    assert len(parts) > 5
    every = np.sort(np.concatenate([one.places for one in parts]))
    np.testing.assert_array_equal(every, np.sort(whole.places))
    np.testing.assert_array_equal(every, np.flatnonzero(disputed_voxels(rated)))
    sizes = region_sizes([one.places for one in parts], rated.consensus.shape, (1.0, 1.0, 1.0))
    thickest = parts[int(np.argmax([size.mm for size in sizes]))]
    assert thickest.index[2] > 30  # the bulge
    assert {np.sign(one.index[0] - 20) for one in parts} >= {-1, 1}
    # The parts of a mirrored case are mirrored, too.
    turned = RatedMap("", tuple(one[::-1] for one in rated.maps), 9, rated.consensus[::-1], (0, 1))
    again = find_disputes([turned], spacing=(1.0, 1.0, 1.0))[0]
    assert sorted(one.voxels for one in again) == pytest.approx(
        sorted(one.voxels for one in parts), rel=0.05
    )


def test_small_regions_stay_whole() -> None:
    rng = np.random.default_rng(4)
    maps = tuple((rng.random((8, 20, 20)) < 0.05).astype(np.uint8) for _ in range(3))
    rated = RatedMap("", maps, 9, maps[0], (0, 1))
    cut, whole = find_disputes([rated], spacing=(1.0, 1.0, 1.0))[0], find_disputes([rated])[0]
    assert [one.places.tolist() for one in cut] == [one.places.tolist() for one in whole]


def test_what_is_thicker_than_readers_spread_is_listed_and_a_short_list_whole() -> None:
    thin = {number: RegionSize(0.01, 1.0) for number in range(1, 101)}
    large = {101: RegionSize(0.3, 4.0), 102: RegionSize(0.002, 3.0)}
    listing = Listing.beyond_spread({**thin, **large})
    assert not listing.is_small(large[101])
    assert listing.is_small(large[102])  # thick, but with a tiny volume
    assert all(listing.is_small(one) for one in thin.values())
    assert not Listing.beyond_spread(dict(list(thin.items())[:60])).is_small(thin[1])
    # However far apart the readers are, disputes of at least .5 ml and 5 mm must not be hidden.
    apart = {number: RegionSize(60.0, 12.0 + number % 3) for number in range(1, 101)}
    assert not any(map(Listing.beyond_spread(apart).is_small, apart.values()))


def test_labels_have_thirty_colours_unlike_each_other_and_the_disputes() -> None:
    def rgb(color: str) -> np.ndarray:
        return np.array([int(color[at : at + 2], 16) for at in (1, 3, 5)], float)

    every = [*LABEL_COLORS, DISPUTE_COLOR]
    assert len(LABEL_COLORS) >= 24
    apart = [np.linalg.norm(rgb(a) - rgb(b)) for n, a in enumerate(every) for b in every[:n]]
    assert min(apart) > 40
    assert min(np.linalg.norm(rgb(one) - rgb(DISPUTE_COLOR)) for one in CONTOUR_COLORS) > 60
