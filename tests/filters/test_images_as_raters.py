"""Intensity images as raters: filters with SimpleITK's names warn, all others reject them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import SimpleITK as sitk

import itk_consensus as ic
from itk_consensus.core.errors import ConsensusWarning, InputError
from itk_consensus.methods.registry import FUSERS
from itk_consensus.votes.intensities import MANY, intensity_reason

DROP_INS = (ic.STAPLE, ic.MultiLabelSTAPLE, ic.LabelVoting)
RNG = np.random.default_rng(7)
SHAPE = (10, 24, 26)


def image_of(array: np.ndarray) -> sitk.Image:
    return sitk.GetImageFromArray(array)


def ct() -> np.ndarray:
    return RNG.normal(0, 300, SHAPE).astype(np.int16)


def mask() -> np.ndarray:
    drawn = np.zeros(SHAPE, np.int16)
    drawn[2:8, 5:18, 6:20] = 1
    return drawn


@pytest.mark.parametrize("function", DROP_INS, ids=lambda function: function.__name__)
def test_a_ct_among_masks_is_fused_by_a_drop_in_with_a_warning(function: Any) -> None:
    images = [image_of(mask()), image_of(mask()), image_of(ct())]
    with pytest.warns(ConsensusWarning, match=r"input 2 looks like an image.*distinct values"):
        answer = function(images)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        insisted = function(images, inputsAreLabels=True)
    np.testing.assert_array_equal(*map(sitk.GetArrayFromImage, (answer, insisted)))


@pytest.mark.parametrize("function", DROP_INS, ids=lambda function: function.__name__)
def test_a_ct_as_the_mask_of_a_drop_in_is_warned_of(function: Any) -> None:
    with pytest.warns(ConsensusWarning, match="MaskImage looks like an image, not like a mask"):
        function([image_of(mask())] * 2, maskImage=image_of(ct()))


@pytest.mark.parametrize(
    "fuser",
    [fuser for fuser in FUSERS if not fuser.fuses_images],
    ids=lambda fuser: fuser.__name__,
)
def test_a_ct_among_masks_is_refused(fuser: Any) -> None:
    images = [mask(), mask(), ct()]
    words = r"input 2 looks like an image, not like a rater's labels .* set InputsAreLabels"
    with pytest.raises(InputError, match=words):
        fuser().Execute(images)
    with pytest.raises(InputError, match="MaskImage looks like an image, not like a mask"):
        fuser(MaskImage=ct()).Execute([mask(), mask()])


def test_a_ct_is_compared_with_no_rater() -> None:
    with pytest.raises(InputError, match="input 1 looks like an image"):
        ic.AgreementFilter().Execute([mask(), ct()])


def one_by_one() -> None:
    accumulator = ic.PatternAccumulator()
    accumulator.add(mask())
    accumulator.add(ct())


#: Functions besides the filters that accept raters' labels, references and masks.
ENTRIES = {
    "lesion agreement": lambda: ic.lesion_agreement([mask(), ct()]),
    "its reference": lambda: ic.lesion_agreement([mask(), mask()], ct()),
    "readers of a score": lambda: ic.score_against_readers(mask(), [mask(), ct()]),
    "samples of a score": lambda: ic.score_against_readers(mask(), [mask()], [ct()]),
    "readers of a study": lambda: ic.score_study({"a": [mask(), ct()]}, {"s": {"a": mask()}}),
    "a submission": lambda: ic.score_study({"a": [mask(), mask()]}, {"s": {"a": ct()}}),
    "votes one by one": one_by_one,
    "a rater held out": lambda: ic.hold_out_raters(
        [[mask(), ct(), mask()]], ic.MajorityVoteFilter()
    ),
    "ANTs' labels": lambda: ic.joint_label_fusion(ct(), mask(), [ct()] * 2, label_list=[ct()] * 2),
    "ANTs' mask": lambda: ic.joint_label_fusion(ct(), ct(), [ct()] * 2, label_list=[mask()] * 2),
    "region of a selection": lambda: ic.AtlasSelectionFilter(MaskImage=ct()).Execute(ct(), [ct()]),
}


@pytest.mark.parametrize("entry", ENTRIES.values(), ids=ENTRIES)
def test_a_ct_enters_by_no_other_way(entry: Any) -> None:
    with pytest.raises(
        InputError, match=r"looks like an image, not like .* if it does hold labels"
    ):
        entry()


def test_somebody_may_insist_at_the_other_ways_too() -> None:
    insisted = ic.MajorityVoteFilter(InputsAreLabels=True)
    assert len(ic.hold_out_raters([[mask(), ct(), mask()]], insisted, 1).references) == 1
    accumulator = ic.PatternAccumulator(inputs_are_labels=True)
    for one in (mask(), ct()):
        accumulator.add(one)
    assert accumulator.fuse(insisted).shape == SHAPE
    assert ic.score_against_readers(mask(), [mask(), ct()], inputs_are_labels=True).threshold_dice
    assert ic.lesion_agreement([mask(), ct()], inputsAreLabels=True).rows
    with pytest.warns(ConsensusWarning):  # of labels that only the CT has
        assert ic.score_study(
            {"a": [mask(), ct()]}, {"s": {"a": mask()}}, inputsAreLabels=True
        ).cases


def test_a_ct_among_the_raters_of_a_cohort_is_refused_with_its_case() -> None:
    with pytest.raises(InputError, match="case 1: input 0 looks like an image"):
        ic.CohortSTAPLEFilter().Execute([[mask(), mask()], [ct(), mask()]])


def test_somebody_may_insist_that_an_image_holds_labels() -> None:
    fused = ic.MajorityVote([ct(), ct()], inputsAreLabels=True)
    assert fused.shape == SHAPE


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.uint16, np.float32])
def test_soft_inputs_masks_of_255_and_maps_of_instances_are_no_images(dtype: Any) -> None:
    instances = np.zeros((24, 60, 60), dtype)
    for number in range(200):
        z, y, x = RNG.integers(0, (22, 57, 57))
        instances[z : z + 2, y : y + 3, x : x + 3] = number + 1
    assert not intensity_reason(instances)
    assert not intensity_reason(instances, MANY)
    assert not intensity_reason((instances != 0).astype(dtype) * 255)
    assert not intensity_reason(RNG.random(SHAPE))


@pytest.mark.parametrize("shape", [(400, 500), (40, 64, 64), (2, 30, 40, 40), (30_000,)])
def test_few_rows_tell_an_image_from_labels_in_any_dimension(shape: tuple[int, ...]) -> None:
    noise = RNG.normal(0, 300, shape)
    assert intensity_reason(noise.astype(np.int16))
    assert intensity_reason(np.abs(noise).astype(np.uint16))
    assert intensity_reason(np.asfortranarray(noise).astype(np.float32))
    assert not intensity_reason(RNG.integers(0, 16, shape).astype(np.uint8))


def test_an_image_within_a_border_of_nothing_is_still_one() -> None:
    padded = np.zeros((60, 200, 200), np.uint16)
    padded[20:40, 70:130, 60:140] = RNG.integers(1, 3000, (20, 60, 80))
    assert intensity_reason(padded)


@pytest.mark.parametrize("masked", ["MaskImage", "RaterMasks"])
def test_a_mask_of_nan_is_refused(masked: str) -> None:
    """NaN differs from 0, so such voxels counted as inside."""
    region = np.where(mask(), np.nan, 0.0)
    given = region if masked == "MaskImage" else [region, None]
    with pytest.raises(InputError, match=rf"{masked}.* must not hold NaN"):
        ic.MajorityVoteFilter(**{masked: given}).Execute([mask(), mask()])
