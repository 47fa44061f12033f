from __future__ import annotations

import numpy as np
import pytest
from scipy.ndimage import correlate1d, gaussian_filter

from itk_consensus.core.errors import InputError
from itk_consensus.space.smoothing import folded_weights, mirrored_gaussian
from itk_consensus.space.tiles import half_gaussian


@pytest.mark.parametrize("sigma", [0.3, 1.0, 2.2, 5.0, 40.0, 300.0])
def test_equal_to_scipy_however_wide_the_gaussian(sigma: float) -> None:
    volume = np.random.default_rng(0).random((7, 1, 12))
    sigmas = [sigma, sigma / 2, 0.0]
    wanted = gaussian_filter(volume, sigmas, truncate=4.0)
    np.testing.assert_allclose(mirrored_gaussian(volume, sigmas), wanted, rtol=1e-11)


@pytest.mark.parametrize("sigma", [0.3, 2.2, 40.0, 300.0])
def test_weights_of_an_axis_whose_last_voxel_goes_on_smooth_as_scipy_does(sigma: float) -> None:
    line = np.random.default_rng(1).random(12)
    half = half_gaussian(sigma, extent=len(line))
    both = np.concatenate([half[:0:-1], half])
    wanted = gaussian_filter(line, sigma, mode="nearest", truncate=4.0)
    np.testing.assert_allclose(correlate1d(line, both, mode="nearest"), wanted, rtol=1e-11)


def test_no_more_weights_than_the_image_needs() -> None:
    half = half_gaussian(50_000.0, extent=10)
    for weights in (folded_weights(50_000.0, 4.0, 10), np.concatenate([half[:0:-1], half])):
        assert len(weights) == 21
        assert weights.sum() == pytest.approx(1.0)


def test_a_gaussian_beyond_all_measure_is_an_error_and_takes_no_memory() -> None:
    with pytest.raises(InputError, match="too wide"):
        mirrored_gaussian(np.zeros((3, 3)), [1e300, 1.0])


def test_the_input_is_not_changed() -> None:
    volume = np.eye(5)
    mirrored_gaussian(volume, [1.0, 1.0])
    np.testing.assert_array_equal(volume, np.eye(5))
