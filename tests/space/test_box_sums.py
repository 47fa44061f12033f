from __future__ import annotations

import numpy as np
import pytest

from itk_consensus.core.errors import InputError
from itk_consensus.space.box_sum import box_sum, radii_in_voxels


def test_sums_are_written_into_the_volume_itself():
    volume = np.ones((3, 4), np.float32)
    assert box_sum(volume, (1, 1)) is volume
    np.testing.assert_array_equal(volume, [[4, 6, 6, 4], [6, 9, 9, 6], [4, 6, 6, 4]])


def test_a_box_wider_than_the_volume_holds_all_of_it():
    volume = np.ones((3, 4))
    np.testing.assert_array_equal(box_sum(volume, (10**12, 10**12)), np.full((3, 4), 12.0))


@pytest.mark.parametrize(
    ("radius", "spacing", "radii"),
    [
        (12.0, (1.0, 1.0), (12, 12)),
        (1.2, (0.4, 0.4), (3, 3)),
        (10.0, (3.0, 0.5, 0.5), (3, 20, 20)),
        (1.0, (2.5, 1.0, 1.0), (0, 1, 1)),
        (5.0, (1.0, 2.0, 1.0, 1.0), (0, 2, 5, 5)),
    ],
)
def test_a_radius_in_mm_is_rounded_down_to_voxels_and_spans_no_4d_axis(radius, spacing, radii):
    assert radii_in_voxels(radius, spacing) == radii


@pytest.mark.parametrize(
    ("volume", "radii", "message"),
    [
        (np.zeros((2, 2), int), (1, 1), "float32 or float64"),
        (np.zeros((2, 3)).T, (1, 1), "C-contiguous"),
        (np.zeros((2, 2)), (1,), "radii must be 2 integers"),
        (np.zeros((2, 2)), (1, -1), "radii must be 2 integers"),
    ],
)
def test_bad_input_is_refused_with_its_reason(volume, radii, message):
    with pytest.raises(InputError, match=message):
        box_sum(volume, radii)


def test_a_read_only_volume_is_refused():
    volume = np.zeros((2, 2))
    volume.flags.writeable = False
    with pytest.raises(InputError, match="writable"):
        box_sum(volume, (1, 1))
