from __future__ import annotations

import numpy as np
import pytest

from itk_consensus.votes.kept_stack import KeptStack
from itk_consensus.votes.label_stack import LabelStack


@pytest.mark.parametrize("shape", [(1,), (63,), (64,), (65,), (7, 11, 13), (4, 8, 8)])
@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.float32, np.uint64])
def test_a_kept_stack_gives_back_every_voxel_after_its_arrays_changed(shape, dtype):
    rng = np.random.default_rng(5)
    first = rng.integers(0, 4, shape).astype(dtype)
    arrays = [first] + [np.where(rng.random(shape) < 0.02, 3, first).astype(dtype) for _ in "ab"]
    stack = LabelStack.multilabel([arrays[0], None, *arrays[1:]], missing_label=9)
    kept, before = KeptStack.of(stack), [array.copy() for array in arrays]
    for array in arrays:
        array[...] = 0
    restored = kept.to_stack()
    assert restored.arrays[1] is None
    for now, then in zip([a for a in restored.arrays if a is not None], before, strict=True):
        assert now.dtype == then.dtype
        np.testing.assert_array_equal(now, then)
    assert restored.missing_label == 9
    np.testing.assert_array_equal(restored.labels, stack.labels)


def test_raters_of_other_types_are_kept_as_they_are():
    arrays = [np.zeros((3, 5), np.uint8), np.full((3, 5), 7, np.int32)]
    restored = KeptStack.of(LabelStack.multilabel(arrays)).to_stack()
    for now, then in zip(restored.arrays, arrays, strict=True):
        assert now is not None
        assert now.dtype == then.dtype
        np.testing.assert_array_equal(now, then)


def test_raters_who_agree_nearly_everywhere_are_kept_in_little_memory():
    arrays = [np.zeros((32, 64, 64), np.uint8) for _ in range(20)]
    for index, array in enumerate(arrays):
        array[3, index] = 1
    kept = KeptStack.of(LabelStack.multilabel(arrays))
    held = kept.first.nbytes + sum(blocks.nbytes for blocks in kept.others.values())
    assert held < 1.5 * arrays[0].nbytes


@pytest.mark.parametrize("shape", [(1,), (65,), (37, 11, 13), (3, 8, 8), (5, 2, 3, 4)])
@pytest.mark.parametrize("dtype", [np.uint8, np.int32])
@pytest.mark.parametrize("halo", [0, 2, 50])
def test_slabs_with_their_halo_are_planes_of_the_stack(shape, dtype, halo):
    rng = np.random.default_rng(6)
    first = rng.integers(0, 4, shape).astype(dtype)
    arrays = [first, np.where(rng.random(shape) < 0.1, 3, first).astype(dtype)]
    arrays.append(arrays[0].astype(np.int16))
    mask = rng.random(shape) < 0.5
    stack = LabelStack.multilabel(arrays, mask=mask, rater_masks=[mask, None, ~mask])
    seen = 0
    for planes, inside, slab in KeptStack.of(stack).slabs(halo):
        assert planes.start == seen
        seen = planes.stop
        low = max(0, planes.start - halo)
        wide = slice(low, min(shape[0], planes.stop + halo))
        assert (inside.start, inside.stop) == (planes.start - low, planes.stop - low)
        for cut, array in zip(slab.arrays, arrays, strict=True):
            np.testing.assert_array_equal(cut, array[wide])
        np.testing.assert_array_equal(slab.mask, mask[wide])
        assert slab.rater_masks[1] is None
        np.testing.assert_array_equal(slab.rater_masks[2], ~mask[wide])
    assert seen == shape[0]


@pytest.mark.parametrize("values", [(0, 1), (0, 255), (3, 7)])
@pytest.mark.parametrize("shape", [(7, 5, 3), (4, 9), (33,), (5, 2, 3, 3)])
def test_masks_are_kept_as_bits_and_come_back(values, shape):
    rng = np.random.default_rng(len(shape))
    raters = [rng.choice(values, shape).astype(t) for t in (np.uint8, np.int16, np.float32)]
    stack = LabelStack.multilabel([raters[0], None, *raters[1:]])
    kept = KeptStack.of(stack)
    assert sum(bits.nbytes for bits in kept.bits.values()) == 3 * 32 * -(-raters[0].size // 256)
    for planes, here, part in kept.slabs(halo=1):
        for array, wanted in zip(part.arrays, stack.arrays, strict=True):
            if wanted is not None:
                assert array.dtype == wanted.dtype
                np.testing.assert_array_equal(array[here], wanted[planes])
    assert kept.to_stack().arrays[1] is None
