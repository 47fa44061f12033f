from __future__ import annotations

from importlib.resources import files

import numpy as np
import pytest
import SimpleITK as sitk

import itk_consensus
from itk_consensus.core.errors import ParameterError
from itk_consensus.samples import SAMPLE_NODULES, sample_case

DATA = files("itk_consensus") / "sample_data"


@pytest.mark.parametrize("name", SAMPLE_NODULES)
def test_a_sample_is_four_disagreeing_masks_on_one_grid(name: str) -> None:
    masks = sample_case(name)
    arrays = [sitk.GetArrayFromImage(mask) for mask in masks]
    assert len(masks) == 4
    assert all(set(np.unique(array)) == {0, 1} for array in arrays)
    assert all(mask.GetSpacing() == masks[0].GetSpacing() for mask in masks)
    assert len({array.tobytes() for array in arrays}) == 4
    assert sitk.STAPLE(masks).GetSize() == masks[0].GetSize()


@pytest.mark.parametrize("name", SAMPLE_NODULES)
def test_rater_r_of_a_sample_is_component_r_of_its_file(name: str) -> None:
    stored = sitk.GetArrayFromImage(sitk.ReadImage(str(DATA / f"{name}.nrrd")))
    for rater, mask in enumerate(sample_case(name)):
        np.testing.assert_array_equal(sitk.GetArrayFromImage(mask), stored[..., rater])


def test_the_default_sample_goes_straight_into_a_filter() -> None:
    masks = sample_case()
    ours = sitk.GetArrayFromImage(itk_consensus.STAPLE(masks))
    np.testing.assert_allclose(ours, sitk.GetArrayFromImage(sitk.STAPLE(masks)), atol=1e-9)


def test_an_unknown_sample_is_an_error_that_lists_the_known() -> None:
    with pytest.raises(ParameterError, match=r"LIDC-IDRI-0003.*got 'brain'"):
        sample_case("brain")


def test_every_bundled_file_is_offered_and_attributed() -> None:
    stored = {item.name for item in DATA.iterdir()} - {"ATTRIBUTION.md"}
    assert stored == {f"{name}.nrrd" for name in SAMPLE_NODULES}
    attribution = (DATA / "ATTRIBUTION.md").read_text(encoding="utf-8")
    assert all(name in attribution for name in stored)
    assert "Creative Commons Attribution 3.0" in attribution
    assert "10.7937/K9/TCIA.2015.LO9QL9SX" in attribution
