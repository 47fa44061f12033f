from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from itk_consensus.calibration.probabilities import (
    SMALLEST_SPREAD_MM,
    contour_area,
    contour_areas,
    disputed_voxels_of_fractions,
    disputed_voxels_of_raters,
    rater_spread,
)
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.label_stack import LabelStack

SPACING = (2.5, 1.0, 1.0)


def ball(radius, shape, spacing):
    squares = [
        (np.arange(side) - side / 2) ** 2 * step**2
        for side, step in zip(shape, spacing, strict=True)
    ]
    grids = np.meshgrid(*squares, indexing="ij")
    return sum(grids) < radius**2


@pytest.mark.parametrize("spacing", [(1.0, 1.0, 1.0), SPACING])
def test_area_of_a_ball_is_nearly_four_pi_r_squared(spacing):
    shape = tuple(int(50 / step) for step in spacing)
    # The area of a plane with normal n1 >= n2 >= n3 is overestimated by the factor n1 + .414 n2 +
    # .318 n3, at most 13 % on cubes. Counting faces would give n1 + n2 + n3, 50 % too much for a
    # ball.
    assert contour_area(ball(20, shape, spacing), spacing) == pytest.approx(
        4 * np.pi * 20**2, rel=0.15
    )


def test_outline_of_a_disc_is_nearly_two_pi_r():
    disc = ball(20, (60, 120), (1.0, 0.5))
    assert contour_area(disc, (1.0, 0.5)) == pytest.approx(2 * np.pi * 20, rel=0.15)


def test_area_of_flat_faces_is_exact():
    slab = np.zeros((10, 200, 200), bool)
    slab[4:7] = True
    inner = contour_area(slab, SPACING)
    faces, rim = 2 * 200 * 200, 4 * 200 * 3 * 2.5
    # The area differs from the sum of the faces only at the edges, where faces meet.
    assert inner == pytest.approx(faces + rim, rel=0.02)


@given(hnp.arrays(bool, hnp.array_shapes(min_dims=2, max_dims=3, max_side=6)))
def test_area_is_the_integral_of_the_gradient(mask):
    spacing = (2.5, 1.0, 0.5)[: mask.ndim]
    field = np.pad(mask, 2).astype(float)
    length = np.sqrt(sum(part**2 for part in np.gradient(field, *spacing)))
    assert contour_area(mask, spacing) == pytest.approx(length.sum() * np.prod(spacing))


def test_background_has_the_area_of_the_whole_foreground():
    labels = np.zeros((8, 12, 12), np.uint16)
    labels[2:5, 3:9, 3:6] = 1
    labels[2:5, 3:9, 6:9] = 2
    areas = contour_areas(labels, 3, SPACING)
    assert areas[0] == contour_area(labels != 0, SPACING)
    assert areas[1] == contour_area(labels == 1, SPACING)
    assert contour_areas(labels != 0, 2, SPACING) == [areas[0]] * 2


def test_spread_is_the_thickness_of_the_dispute_plus_half_a_millimetre():
    assert rater_spread(60.0, 20.0) == 3.5
    assert rater_spread(0.0, 20.0) == SMALLEST_SPREAD_MM
    assert rater_spread(10.0, 0.0) == SMALLEST_SPREAD_MM


rater_stacks = hnp.arrays(
    np.uint8, st.tuples(st.integers(2, 4), st.integers(1, 30)), elements=st.integers(0, 3)
)


@given(rater_stacks)
def test_disputed_voxels_are_counted_per_label(raters):
    patterns = DecisionPatterns.from_stack(LabelStack.multilabel(list(raters)))
    several = disputed_voxels_of_raters(patterns, 4)
    for label in range(4):
        says = raters == label
        assert several[label] == np.sum(says.any(axis=0) & ~says.all(axis=0))
    marked = raters != 0
    disputed = int(np.sum(marked.any(axis=0) & ~marked.all(axis=0)))
    assert disputed_voxels_of_raters(patterns, 2) == [disputed, disputed]
    assert disputed_voxels_of_fractions([marked.mean(axis=0)]) == [disputed, disputed]


@given(rater_stacks)
def test_fractions_per_label_count_the_same_voxels(raters):
    fractions = [(raters == label).mean(axis=0) for label in range(4)]
    patterns = DecisionPatterns.from_stack(LabelStack.multilabel(list(raters)))
    assert disputed_voxels_of_fractions(fractions) == disputed_voxels_of_raters(patterns, 4)
