from __future__ import annotations

import numpy as np
import pytest
import SimpleITK as sitk
from hypothesis import given
from hypothesis import strategies as st

from itk_consensus.core.errors import InputError
from itk_consensus.space.distance import signed_distance


def maurer(mask: np.ndarray, spacing: tuple[float, ...]) -> np.ndarray:
    """Return SimpleITK's distance to the mask's border voxels: 0 there, positive outside."""
    image = sitk.GetImageFromArray(mask.astype(np.uint8))
    image.SetSpacing(spacing[::-1])
    distance = sitk.SignedMaurerDistanceMap(
        image, insideIsPositive=False, squaredDistance=False, useImageSpacing=True
    )
    return sitk.GetArrayFromImage(distance)


@given(
    st.integers(0, 2**32 - 1),
    st.lists(st.floats(0.1, 8.0), min_size=2, max_size=3),
    st.sampled_from([0.02, 0.2, 0.6, 0.95]),
)
def test_outside_equals_simpleitks_maurer_map_of_the_mask_and_inside_that_of_the_complement(
    seed, spacing, share
):
    rng = np.random.default_rng(seed)
    mask = rng.random(rng.integers(3, 13, len(spacing))) < share
    mask.flat[0], mask.flat[-1] = True, False
    distance = signed_distance(mask, spacing)
    to_mask, to_others = maurer(mask, tuple(spacing)), maurer(~mask, tuple(spacing))
    np.testing.assert_allclose(distance[~mask], to_mask[~mask], rtol=1e-5)
    np.testing.assert_allclose(-distance[mask], to_others[mask], rtol=1e-5)


def test_distances_are_between_centres_in_mm():
    mask = np.array([0, 0, 1, 1, 1, 0])
    np.testing.assert_array_equal(signed_distance(mask, [3.0]), [6, 3, -3, -6, -3, 3])


def test_a_side_without_voxels_is_infinitely_far():
    assert (signed_distance(np.zeros((3, 4)), (1, 1)) == np.inf).all()
    assert (signed_distance(np.ones((3, 4)), (1, 1)) == -np.inf).all()


def test_in_4d_every_volume_stands_for_itself():
    rng = np.random.default_rng(3)
    mask = rng.random((3, 5, 6, 7)) < 0.1
    together = signed_distance(mask, (1.0, 3.0, 1.0, 0.5))
    apart = [signed_distance(volume, (3.0, 1.0, 0.5)) for volume in mask]
    np.testing.assert_array_equal(together, apart)


def test_any_number_type_and_memory_order_is_a_mask():
    mask = np.random.default_rng(4).integers(-1, 2, (6, 7)).astype(np.float64)
    expected = signed_distance(mask != 0, (1, 2))
    np.testing.assert_array_equal(signed_distance(np.asfortranarray(mask), (1, 2)), expected)
    single = signed_distance(mask, (1, 2), dtype=np.float32)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, expected, rtol=1e-6)


@pytest.mark.parametrize("spacing", [(1.0,), (1.0, 0.0), (1.0, -1.0), (1.0, np.nan), (1, np.inf)])
def test_a_spacing_that_is_none_is_refused(spacing):
    with pytest.raises(InputError, match="signed_distance: spacing must be 2 positive numbers"):
        signed_distance(np.ones((2, 2)), spacing)
