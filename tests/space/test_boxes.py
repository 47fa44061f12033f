from __future__ import annotations

import numpy as np
import pytest
import scipy.ndimage
from hypothesis import given
from hypothesis import strategies as st

from itk_consensus.space.boxes import (
    Box,
    bounding_box,
    grow_box,
    in_space,
    intersection,
    relative_to,
    space_axes,
    voxel_sides,
)

SHAPE = (6, 7, 8)


@st.composite
def boxes(draw: st.DrawFn) -> Box:
    bounds = [sorted(draw(st.tuples(st.integers(0, n), st.integers(0, n)))) for n in SHAPE]
    return tuple(slice(*pair) for pair in bounds)


def marked(box: Box) -> np.ndarray:
    mask = np.zeros(SHAPE, bool)
    mask[box] = True
    return mask


@given(boxes(), boxes())
def test_the_intersection_holds_what_both_boxes_hold(first: Box, second: Box) -> None:
    np.testing.assert_array_equal(
        marked(intersection(first, second)), marked(first) & marked(second)
    )


@given(boxes(), st.tuples(*[st.integers(0, 3)] * 3))
def test_a_grown_box_holds_all_voxels_within_the_margin(box: Box, margin: tuple[int, ...]) -> None:
    inside = np.argwhere(marked(box))
    places = np.indices(SHAPE).reshape(3, -1).T
    away = np.abs(places[:, None] - inside[None])
    near = (away <= np.array(margin)).all(axis=2).any(axis=1).reshape(SHAPE)
    if len(inside):
        np.testing.assert_array_equal(marked(grow_box(box, margin, SHAPE)), near)


@given(boxes(), st.tuples(*[st.integers(0, 3)] * 3))
def test_a_box_is_found_again_in_what_was_cut_around_it(box: Box, margin: tuple[int, ...]) -> None:
    volume = np.arange(np.prod(SHAPE)).reshape(SHAPE)
    around = grow_box(box, margin, SHAPE)
    np.testing.assert_array_equal(volume[around][relative_to(box, around)], volume[box])


def test_the_last_three_axes_are_space() -> None:
    assert [list(space_axes(n)) for n in (1, 2, 3, 4)] == [[0], [0, 1], [0, 1, 2], [1, 2, 3]]
    assert in_space([5, 6], 0) == [5, 6]
    assert in_space([4, 5, 6, 7], 0) == [0, 5, 6, 7]
    assert voxel_sides((9.0, 1.0, 2.0, 3.0)) == (1.0, 2.0, 3.0)


@pytest.mark.parametrize("seed", range(30))
def test_the_bounding_box_is_scipys(seed: int) -> None:
    rng = np.random.default_rng(seed)
    flagged = rng.random(rng.integers(1, 9, rng.integers(1, 5))) < rng.random() / 5
    found = scipy.ndimage.find_objects(flagged.astype(np.uint8))
    assert bounding_box(flagged) == (found[0] if found else None)
    assert bounding_box(np.flip(flagged)[:, None]) == bounding_box(
        np.ascontiguousarray(np.flip(flagged)[:, None])
    )
    assert bounding_box(np.zeros((3, 0), bool)) is None
