from __future__ import annotations

import numpy as np
import pytest

from itk_consensus.space.rater_field import RaterField, pack_bits, pack_label, unpack_bits

TYPES = (np.uint8, np.int16, np.float32, np.uint16, np.int64, np.float64, np.int8, np.uint8, "u4")


@pytest.mark.parametrize("shape", [(9,), (6, 7), (5, 6, 7), (2, 3, 5, 6)])
@pytest.mark.parametrize("label", [0, 3, 300, -1])
def test_bits_are_where_label_maps_of_any_type_have_a_label(shape, label):
    rng = np.random.default_rng(0)
    maps = [rng.integers(0, 4, shape).astype(dtype) for dtype in TYPES]
    maps[1].flat[0] = label
    # A label that a dtype cannot represent must not match the value to which it would overflow.
    maps[0].flat[1] = label % 256
    for box in ((), tuple(slice(size // 3, size) for size in shape)):
        wanted = np.stack([array[box] == label for array in maps])
        bits = pack_label(maps, np.int64(label), box)
        np.testing.assert_array_equal(unpack_bits(bits, len(maps)), wanted)
        np.testing.assert_array_equal(bits, pack_bits(wanted))


@pytest.mark.parametrize("number", [1, 8, 9])
@pytest.mark.parametrize("soft", [False, True])
def test_voxels_that_somebody_marks_and_some_dispute(number, soft):
    rng = np.random.default_rng(1)
    masks, present = rng.random((2, number, 6, 7)) < 0.3
    values = masks.astype(np.float32) * 0.2 if soft else masks
    np.testing.assert_array_equal(RaterField.of(values).marked_voxels(), masks.any(axis=0))
    field = RaterField.of(values, present)
    np.testing.assert_array_equal(field.marked_voxels(), (masks & present).any(axis=0))
    np.testing.assert_array_equal(field.annotated_voxels(), present.any(axis=0))
    if not soft:
        disputed = masks.any(axis=0) & ~masks.all(axis=0)
        np.testing.assert_array_equal(RaterField.of(masks).disputed_voxels(), disputed)
