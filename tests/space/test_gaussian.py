from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.ndimage import gaussian_filter

from itk_consensus.core.errors import InputError
from itk_consensus.core.work import working
from itk_consensus.space.gaussian import band_means, smooth_volume

SCALES = [0.0, 0.7, 1.4, 2.8]


@settings(max_examples=60)
@given(st.data())
def test_a_volume_is_smoothed_as_scipy_does(data):
    shape = tuple(data.draw(st.lists(st.integers(1, 12), min_size=1, max_size=4)))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    sigmas = [data.draw(st.sampled_from([0.0, 0.1, 0.7, 1.0, 5.0])) for _ in shape]
    truncate = data.draw(st.sampled_from([3.0, 4.0]))
    dtype, atol = data.draw(st.sampled_from([(np.float32, 1e-6), (np.float64, 1e-12)]))
    border, mode = data.draw(st.sampled_from([("nearest", "nearest"), ("zero", "constant")]))
    volume = rng.random(shape).astype(dtype)
    wanted = gaussian_filter(volume.astype(float), sigmas, mode=mode, truncate=truncate)
    runs = [
        working(threads=threads)(smooth_volume)(
            volume.copy(), sigmas, truncate=truncate, border=border
        )
        for threads in (1, 2, 7)
    ]
    np.testing.assert_allclose(runs[0], wanted, atol=atol)
    for other in runs[1:]:
        np.testing.assert_array_equal(other, runs[0])


def test_slabs_of_threads_do_not_show_in_a_large_volume():
    volume = np.random.default_rng(0).random((70, 60, 80)).astype(np.float32)
    one, two = (working(threads=n)(smooth_volume)(volume.copy(), [1.0, 2.0, 5.0]) for n in (1, 3))
    np.testing.assert_array_equal(one, two)
    wanted = gaussian_filter(volume.astype(float), [1.0, 2.0, 5.0], mode="nearest")
    np.testing.assert_allclose(one, wanted, atol=1e-6)


def test_what_is_constant_stays_exactly_what_it_is():
    volume = np.full((9, 8, 7), np.float32(0.3))
    np.testing.assert_array_equal(smooth_volume(volume.copy(), [0.7, 1.0, 3.0]), volume)


@pytest.mark.parametrize(
    ("volume", "sigmas", "border"),
    [
        (np.zeros((3, 3), np.int32), [1, 1], "nearest"),
        (np.zeros((3, 3)), [1], "nearest"),
        (np.zeros((3, 3)), [1, np.nan], "nearest"),
        (np.zeros((3, 3)), [1, 1], "wrap"),
        (np.zeros((4, 4))[::2], [1, 1], "nearest"),
    ],
)
def test_what_cannot_be_smoothed_is_refused(volume, sigmas, border):
    with pytest.raises(InputError, match="smooth_volume"):
        smooth_volume(volume, sigmas, border=border)


def levels(masks, present, sides):
    """Smooth every rater's mask at every scale with scipy in double precision."""
    for scale in SCALES:
        sigmas = [0.0, *(scale * sides)]
        if scale == 0:
            yield masks
            continue
        mass = gaussian_filter(present.astype(float), sigmas, mode="nearest", truncate=3.0)
        level = gaussian_filter(np.where(present, masks, 0), sigmas, mode="nearest", truncate=3.0)
        yield np.divide(level, mass, out=np.zeros_like(level), where=mass > 0)


@st.composite
def raters(draw):
    dimension = draw(st.integers(1, 4))
    most = {1: 40, 2: 14, 3: 9, 4: 5}[dimension]
    shape = tuple(draw(st.integers(1, most)) for _ in range(dimension))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    number = draw(st.integers(1, 5))
    masks = rng.random((number, *shape))
    if draw(st.booleans()):
        masks = masks < 0.4
    if draw(st.booleans()):
        # The image is constant except in a box, which may touch the edge.
        corners = [sorted(draw(st.tuples(*[st.integers(0, side)] * 2))) for side in shape]
        inside = np.zeros(shape, bool)
        inside[tuple(slice(*ends) for ends in corners)] = True
        masks[:, ~inside] = draw(st.booleans())
    present = rng.random(masks.shape) < 0.7 if draw(st.booleans()) else None
    weights = rng.uniform(0.5, 2, number) if draw(st.booleans()) else np.ones(number)
    sides = np.array([draw(st.sampled_from([1.0, 0.4])) for _ in shape])
    if dimension == 4:
        sides[0] = 0.0
    return masks, present, weights, sides


@settings(max_examples=40)
@given(raters(), st.sampled_from([(1, 1, 1, 1), (1, 3, 4, 5), (1, 64, 64, 64)]))
def test_bands_of_scale_are_those_of_scipy(drawn, tile):
    masks, present, weights, sides = drawn
    scales = [tuple(scale * sides) for scale in SCALES]
    more = {"present": present, "truncate": 3.0}
    found = working(threads=2)(band_means)(masks, weights, scales, tile=tile, **more)
    there = np.ones(masks.shape, bool) if present is None else present
    here = np.tensordot(weights, there, 1)
    total = np.where(here > 0, here, 1)
    every = list(levels(masks.astype(float), there, sides))
    for band, (fine, coarse) in enumerate(itertools.pairwise(every)):
        difference = np.where(there, fine - coarse, 0)
        wanted = np.tensordot(weights, difference, 1) / total
        np.testing.assert_allclose(found.values[band], wanted, atol=1e-6)
        wanted = np.tensordot(weights, difference**2, 1) / total
        np.testing.assert_allclose(found.squares[band], wanted, atol=1e-6)
    for volume, wanted in ((found.base, every[-1]), (found.votes, every[0])):
        mean = np.tensordot(weights, np.where(there, wanted, 0), 1) / total
        np.testing.assert_allclose(volume, mean, atol=1e-6)
    squares = np.tensordot(weights**2, there, 1)
    number = np.divide(here**2, squares, out=np.zeros_like(here), where=here > 0)
    np.testing.assert_allclose(found.raters, number, rtol=1e-5)
    again = working(threads=7)(band_means)(masks, weights, scales, tile=(1, 2, 2, 3), **more)
    for one, other in zip(found, again, strict=True):
        np.testing.assert_array_equal(one, other)


@given(raters())
@settings(max_examples=20)
def test_a_wieners_answer_from_bands_is_that_of_scipy(drawn):
    masks, _, _, sides = drawn
    number = len(masks)
    found = band_means(masks, np.ones(number), [tuple(s * sides) for s in SCALES], truncate=3.0)
    every = list(levels(masks.astype(float), np.ones(masks.shape, bool), sides))
    answer, wanted = found.base.copy(), every[-1].mean(axis=0)
    for band, (fine, coarse) in enumerate(itertools.pairwise(every)):
        window = max(5.0, 2 * SCALES[band + 1]) * sides
        difference = fine - coarse
        power, mean = np.mean(difference**2, axis=0), np.mean(difference, axis=0)
        # The gain of bands without power is dominated by rounding errors.
        strong = gaussian_filter(power, window, mode="nearest", truncate=3.0) > 1e-5
        wanted += wiener(gaussian_filter, power, mean, window, number, strong) * mean
        mean = found.values[band]
        answer += wiener(smoothed, found.squares[band], mean, window, number, strong) * mean
    np.testing.assert_allclose(answer, wanted, atol=1e-5)


def smoothed(volume, sigmas, mode, truncate):
    assert mode == "nearest"
    return smooth_volume(np.ascontiguousarray(volume), sigmas, truncate=truncate)


def wiener(smooth, squares, mean, window, number, strong):
    """Return the gain of a band from the power of its mean and its mean power."""
    power = smooth(squares, window, mode="nearest", truncate=3.0)
    of_mean = smooth(mean**2, window, mode="nearest", truncate=3.0)
    shared = power
    if number > 1:
        shared = np.maximum(0, (number * of_mean - power) / (number - 1))
    noise = np.maximum(power - shared, 0) / number
    return np.divide(shared, shared + noise, out=np.zeros_like(power), where=strong)
