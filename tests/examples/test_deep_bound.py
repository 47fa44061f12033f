"""The bound on the gain from an image, against linear algebra without Fourier transforms."""

from __future__ import annotations

import importlib
from pathlib import Path

import numpy as np
import pytest
from scipy import ndimage

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "benchmarks"


@pytest.fixture
def bound():
    return importlib.import_module("examples.benchmarks.deep.deep_bound")


def gaussian(side, width, dimension):
    """Return a Gaussian-smoothed point on a ring or torus."""
    point = np.zeros((side,) * dimension)
    point[(0,) * dimension] = 1
    return ndimage.gaussian_filter(point, width, mode="wrap", truncate=12) if width else point


def covariance(side, width, variance, dimension):
    """Return the covariance of smooth noise between all pairs of positions."""
    kernel = gaussian(side, width, dimension)
    places = list(np.ndindex(kernel.shape))
    rows = np.array([np.roll(kernel, place, range(dimension)).ravel() for place in places])
    product = rows @ rows.T
    return variance * product / product[0, 0]


def test_the_variance_left_is_that_of_a_gaussian_posterior(bound):
    side, contrast, variance, smoothness = 20, 0.5, 0.4, 2.5
    noise = sum(covariance(side, width, amount**2, 2) for amount, width in bound.TEXTURES)
    line = []
    for place in range(side):
        point = np.zeros((side, side))
        point[place, 0] = 1
        line.append(contrast * ndimage.gaussian_filter(point, bound.BLUR, mode="wrap").ravel())
    shown = np.array(line)
    prior = covariance(side, smoothness, variance, 1)
    gained = shown @ np.linalg.solve(noise, shown.T)
    left = prior @ np.linalg.inv(np.eye(side) + gained @ prior)
    ours = bound.variance_left(variance, smoothness, contrast, side)
    assert ours == pytest.approx(np.trace(left) / side, rel=1e-3)


def test_an_image_adds_nothing_without_contrast_and_more_with_worse_raters(bound):
    assert bound.gain([1.0, 2.0], 0.0) == {"organ": 0.0, "lesion": 0.0}
    for name in bound.STRUCTURES:
        gains = [bound.gain(wobbles, 0.35)[name] for wobbles in ([1.0, 1.5], [1.5], [4.0])]
        assert gains == sorted(gains)
        assert bound.gain([1.0], 0.7)[name] > bound.gain([1.0], 0.35)[name] > 0
