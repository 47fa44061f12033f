from __future__ import annotations

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

from itk_consensus.errors import InputError
from itk_consensus.labels.smoothing import folded_weights, gaussian


@pytest.mark.parametrize("border", ["nearest", "reflect"])
@pytest.mark.parametrize("sigma", [0.3, 1.0, 2.2, 5.0, 40.0, 300.0])
def test_equal_to_scipy_however_wide_the_gaussian(border: str, sigma: float) -> None:
    volume = np.random.default_rng(0).random((7, 1, 12))
    sigmas = [sigma, sigma / 2, 0.0]
    wanted = gaussian_filter(volume, sigmas, mode=border, truncate=4.0)
    np.testing.assert_allclose(gaussian(volume, sigmas, 4.0, border), wanted, rtol=1e-11)


@pytest.mark.parametrize("border", ["nearest", "reflect"])
def test_no_more_weights_than_the_image_needs(border: str) -> None:
    weights = folded_weights(50_000.0, 4.0, 10, border)
    assert len(weights) == 21
    assert weights.sum() == pytest.approx(1.0)


def test_a_gaussian_beyond_all_measure_is_an_error_and_takes_no_memory() -> None:
    with pytest.raises(InputError, match="too wide"):
        gaussian(np.zeros((3, 3)), [1e300, 1.0], 4.0, "nearest")


def test_the_input_is_not_changed() -> None:
    volume = np.eye(5)
    gaussian(volume, [1.0, 1.0], 4.0, "nearest")
    np.testing.assert_array_equal(volume, np.eye(5))
