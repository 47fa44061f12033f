from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.ndimage import maximum_filter, minimum_filter

from itk_consensus.core.work import working
from itk_consensus.space.band_gains import (
    KeptShares,
    band_powers,
    grid_shape,
    keep_bands,
)
from itk_consensus.space.contour_cut import count_cut, cut_answer
from itk_consensus.space.gaussian import band_means
from itk_consensus.space.rater_field import RaterField

SCALES = [(0.0,) * 3, (0.7, 0.7, 0.7), (1.4, 1.4, 1.4)]
TILES = [(1, 1, 1, 1), (1, 3, 2, 5), (1, 64, 64, 64)]


@st.composite
def fields(draw):
    shape = tuple(draw(st.integers(1, 9)) for _ in range(3))
    number = draw(st.sampled_from([1, 3, 9]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    masks = rng.random((number, *shape))
    if draw(st.booleans()):
        masks = masks < 0.4
    present = rng.random(masks.shape) < 0.7 if draw(st.booleans()) else None
    steps = tuple(draw(st.sampled_from([1, 2])) for _ in shape)
    return masks, present, rng.uniform(0.5, 2, number), steps


def to_grid(volume: np.ndarray, steps: tuple[int, ...]) -> np.ndarray:
    """Reduce with weights 1/4, 1/2, 1/4 around every second voxel; 0 beyond the volume."""
    for axis, step in enumerate(steps):
        if step == 2:
            size = volume.shape[axis]
            line = np.moveaxis(volume, axis, 0)
            padded = np.pad(line, [(1, 2)] + [(0, 0)] * (volume.ndim - 1))
            middle = 2 * np.arange(size // 2 + 1) + 1
            halved = padded[middle] / 2 + (padded[middle - 1] + padded[middle + 1]) / 4
            volume = np.moveaxis(halved, 0, axis)
    return volume


def from_grid(points: np.ndarray, shape: tuple[int, ...], steps: tuple[int, ...]) -> np.ndarray:
    """Interpolate linearly between the points."""
    for axis, (size, step) in enumerate(zip(shape, steps, strict=True)):
        if step == 2:
            line = np.moveaxis(points, axis, 0)
            at = np.arange(size)
            points = np.moveaxis((line[at // 2] + line[(at + 1) // 2]) / 2, 0, axis)
    return points


def at_points(volume: np.ndarray, steps: tuple[int, ...]) -> np.ndarray:
    """Return every second voxel; a point one voxel beyond the volume has the last voxel's value."""
    points = zip(volume.shape, grid_shape(volume.shape, steps), steps, strict=True)
    return volume[
        np.ix_(*(np.minimum(np.arange(number) * step, size - 1) for size, number, step in points))
    ]


@settings(max_examples=60)
@given(fields(), st.sampled_from(TILES))
def test_power_is_brought_to_every_second_voxel_for_any_tile_and_number_of_threads(drawn, tile):
    masks, present, weights, steps = drawn
    steps = steps if present is None else (1, 1, 1)
    mean = band_means(masks, weights, SCALES, present=present)
    field = RaterField.of(masks, present)
    found = working(threads=2)(band_powers)(field, weights, SCALES, steps, tile=tile)
    raters = mean.raters.astype(float)
    several = raters > 1 + 1e-6
    # In the widest band, a point of the grid has the power at its own voxel.
    for band, brought in enumerate((to_grid, at_points)):
        square, value = mean.squares[band].astype(float), mean.values[band].astype(float)
        unbiased = (raters * value**2 - square) / np.where(several, raters - 1, 1)
        shared = np.where(several, unbiased, square)
        np.testing.assert_allclose(found.power[band], brought(square, steps), atol=1e-6)
        np.testing.assert_allclose(found.shared[band], brought(shared, steps), atol=1e-5)
    base = at_points(mean.base_squares.astype(float), steps)
    assert found.base_power == pytest.approx(base.sum(), abs=1e-4)
    again = working(threads=7)(band_powers)(field, weights, SCALES, steps)
    np.testing.assert_array_equal(again.power, found.power)
    np.testing.assert_array_equal(again.shared, found.shared)
    assert again[3:] == found[3:]


@settings(max_examples=40)
@given(fields(), st.sampled_from(TILES), st.integers(0, 100))
def test_what_is_kept_of_bands_follows_the_formula(drawn, tile, seed):
    masks, present, weights, steps = drawn
    shape, rng = masks.shape[1:], np.random.default_rng(seed)
    points = grid_shape(shape, steps)
    gains = rng.random((2, *points), dtype=np.float32)
    kept = KeptShares(gains, rng.random(points, dtype=np.float32), steps)
    mean = band_means(masks, weights, SCALES, present=present)
    wanted = mean.base.astype(float)
    for gain, values in zip(gains, mean.values, strict=True):
        wanted += from_grid(gain.astype(float), shape, steps) * values
    detail = from_grid(kept.detail.astype(float), shape, steps)
    wanted += detail * (mean.votes - wanted)
    field = RaterField.of(masks, present)
    found = working(threads=2)(keep_bands)(field, weights, kept, SCALES, tile=tile)
    np.testing.assert_allclose(found, wanted, atol=2e-6)
    again = working(threads=7)(keep_bands)(field, weights, kept, SCALES)
    np.testing.assert_array_equal(again, found)


@settings(max_examples=40)
@given(fields(), st.sampled_from(TILES), st.integers(0, 100))
def test_what_is_counted_against_a_mask_is_what_numpy_counts(drawn, tile, seed):
    masks, present, weights, steps = drawn
    shape, rng = masks.shape[1:], np.random.default_rng(seed)
    chosen, counted = rng.random(shape) < 0.8, rng.random(shape) < 0.7
    points = grid_shape(shape, steps)
    gains = rng.random((2, *points), dtype=np.float32)
    kept = KeptShares(gains, rng.random(points, dtype=np.float32), steps)
    field, reach = RaterField.of(masks, present), (1, 0, 2)
    options = {"weights": weights, "reach": reach, "kept": kept, "scales": SCALES}
    found = working(threads=2)(count_cut)(
        field, chosen=chosen, counted=counted, tile=tile, **options
    )
    votes = band_means(masks, weights, SCALES, present=present).votes
    size = [2 * radius + 1 for radius in reach]
    far_inside = minimum_filter(chosen, size, mode="nearest")
    far_outside = ~maximum_filter(chosen, size, mode="nearest")
    sides = (~chosen, chosen, far_outside, far_inside)
    counts = found.outside, found.inside, found.far_outside, found.far_inside
    for side, where in zip(counts, sides, strict=True):
        assert side.voxels == np.count_nonzero(where & counted)
        assert side.votes == pytest.approx(votes[where & counted].sum(dtype=float), abs=1e-5)
    clean = keep_bands(RaterField.of(chosen[None]), np.ones(1), kept, SCALES)
    values = np.sort(clean[counted])
    if found.outside.voxels:
        assert found.before == pytest.approx(values[found.outside.voxels - 1], abs=5e-6)
    if found.inside.voxels:
        assert found.at == pytest.approx(values[found.outside.voxels], abs=5e-6)
    again = working(threads=7)(count_cut)(field, chosen=chosen, counted=counted, **options)
    np.testing.assert_array_equal(again.sides, found.sides)
    np.testing.assert_array_equal(again.values, found.values)


@pytest.mark.parametrize("steps", [(1, 1, 1), (2, 1, 2)])
def test_voxels_are_chosen_where_their_probability_is_one_half(steps):
    rng = np.random.default_rng(0)
    shape, (outside, inside, between, tie) = (6, 7, 9), (0.1, 0.8, 0.4, 1e-6)
    points = grid_shape(shape, steps)
    kept = KeptShares(np.zeros((0, *points), np.float32), rng.random(points, np.float32), steps)
    answer = rng.random(shape, np.float32)
    detail = from_grid(kept.detail, shape, steps)
    middle = between + detail * (0.5 - between)
    chosen = np.zeros(shape, bool)
    cut_answer(answer, kept, (outside, inside, between, tie), chosen)
    np.testing.assert_array_equal(chosen, answer > middle + tie)
    low, high = (1 - detail) * outside, (1 - detail) * inside + detail
    width = np.where(answer > middle, high - middle, middle - low)
    wanted = np.clip(0.5 + 0.5 * (answer - middle) / width, 0, 1)
    cut_answer(answer, kept, (outside, inside, between, tie))
    np.testing.assert_allclose(answer, wanted, atol=1e-5)
    np.testing.assert_array_equal(answer >= 0.5, chosen)
