from __future__ import annotations

import numpy as np
import pytest
import SimpleITK as sitk
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from itk_consensus.core.errors import InputError
from itk_consensus.votes.overlap import dice

masks = arrays(bool, (4, 5))


@given(masks, masks)
def test_dice_equals_simpleitk_on_masks_that_are_not_both_empty(first, second):
    assume(first.any() or second.any())
    overlap = sitk.LabelOverlapMeasuresImageFilter()
    overlap.Execute(*(sitk.GetImageFromArray(mask.astype(np.uint8)) for mask in (first, second)))
    assert dice(first, second) == pytest.approx(overlap.GetDiceCoefficient(), abs=1e-12)


@given(masks, masks, st.integers(1, 255))
def test_dice_is_symmetric_and_ignores_the_foreground_value(first, second, value):
    assert dice(first, second) == dice(second, first) == dice(first * np.uint8(value), second)


def test_two_empty_masks_agree_perfectly():
    assert dice(np.zeros((3, 3)), np.zeros((3, 3))) == 1.0


def test_masks_of_different_shapes_are_refused():
    with pytest.raises(InputError, match=r"dice: .* same shape, got \(2,\) and \(3,\)"):
        dice(np.ones(2), np.ones(3))
