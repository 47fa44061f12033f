"""joint_label_fusion, called in the same way as ANTs's function."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import SimpleITK as sitk

from itk_consensus import JointLabelFusionFilter, joint_label_fusion
from itk_consensus.core.errors import ParameterError
from itk_consensus.simulation.atlas_phantoms import AtlasCase, atlas_case

SHAPE = (14, 20, 22)


@pytest.fixture(scope="module")
def case() -> AtlasCase:
    return atlas_case(6, SHAPE, 3, 4, amplitude=2)


def image(array: Any) -> sitk.Image:
    made = sitk.GetImageFromArray(array)
    made.SetSpacing((0.5, 1.0, 2.0))
    return made


def test_the_signature_is_that_of_antspyx() -> None:
    """As in antspyx 0.6.3."""
    names = list(inspect.signature(joint_label_fusion).parameters.items())
    *known, ours = [(name, p.default) for name, p in names[3:]]
    assert known == [
        ("beta", 4),
        ("rad", 2),
        ("label_list", None),
        ("rho", 0.01),
        ("usecor", False),
        ("r_search", 3),
        ("nonnegative", False),
        ("no_zeroes", False),
        ("max_lab_plus_one", False),
        ("output_prefix", None),
        ("verbose", False),
    ]
    assert [name for name, _ in names[:3]] == ["target_image", "target_image_mask", "atlas_list"]
    assert ours == ("inputs_are_labels", False)


def test_keys_and_images_are_those_of_the_filter(case: AtlasCase, tmp_path: Path) -> None:
    mask = np.zeros(SHAPE, np.uint8)
    mask[1:-1, 2:-2, 2:-2] = 1
    images, maps = [image(a) for a in case.images], [image(m) for m in case.maps]
    prefix = str(tmp_path / "x_")
    found = joint_label_fusion(
        image(case.target),
        image(mask),
        images,
        rad=[2, 1, 1],
        r_search=1,
        label_list=maps,
        rho=0.1,
        output_prefix=prefix,
    )
    assert list(found) == ["segmentation", "intensity", "probabilityimages", "segmentation_numbers"]
    filter_ = JointLabelFusionFilter(
        Image=image(case.target),
        AtlasImages=images,
        MaskImage=image(mask),
        Beta=4,
        Alpha=0.1,
        PatchRadius=(1.0, 1.0, 2.0),
        SearchRadius=(0.5, 1.0, 2.0),
    )
    expected = sitk.GetArrayFromImage(filter_.Execute(maps))
    np.testing.assert_array_equal(sitk.GetArrayFromImage(found["segmentation"]), expected)
    assert found["segmentation_numbers"] == [1, 2, 3]
    for label, probability in zip((1, 2, 3), found["probabilityimages"], strict=True):
        own = sitk.GetArrayFromImage(filter_.GetProbabilityImage(label))
        np.testing.assert_array_equal(sitk.GetArrayFromImage(probability), own)
        kept = sitk.GetArrayFromImage(sitk.ReadImage(f"{prefix}prob{label:02d}.nii.gz"))
        np.testing.assert_array_equal(kept, own)
    assert found["intensity"].GetSpacing() == (0.5, 1.0, 2.0)


def test_without_labels_the_intensities_are_returned(case: AtlasCase) -> None:
    mask = np.ones(SHAPE, np.uint8)
    fused = joint_label_fusion(case.target, mask, case.images, rad=1, r_search=1)
    both = joint_label_fusion(
        case.target, mask, case.images, rad=1, r_search=1, label_list=case.maps
    )
    np.testing.assert_array_equal(fused, both["intensity"])


def test_zeroes_can_be_left_out_and_the_raw_segmentation_has_none(case: AtlasCase) -> None:
    mask = np.ones(SHAPE, np.uint8)
    maps = [one.copy() for one in case.maps]
    given: dict[str, Any] = {"rad": 1, "r_search": 1, "label_list": maps}
    nowhere_zero = np.all([one != 0 for one in maps], axis=0)
    found = joint_label_fusion(case.target, mask, case.images, no_zeroes=True, **given)
    assert not found["segmentation"][~nowhere_zero].any()
    more = joint_label_fusion(case.target, mask, case.images, max_lab_plus_one=True, **given)
    raw, shares = more["segmentation_raw"], np.stack(more["probabilityimages"])
    some = shares.max(axis=0) > 0
    assert (raw[some] > 0).all()
    np.testing.assert_allclose(more["background_prob"] + shares.sum(axis=0), 1, atol=1e-5)
    np.testing.assert_array_equal(mask, 1)
    for own, given_map in zip(maps, case.maps, strict=True):
        np.testing.assert_array_equal(own, given_map)


def test_lists_that_do_not_fit_are_refused(case: AtlasCase) -> None:
    mask = np.ones(SHAPE, np.uint8)
    with pytest.raises(ParameterError, match="label_list must have as many images as atlas_list"):
        joint_label_fusion(case.target, mask, case.images, label_list=case.maps[1:])
    with pytest.raises(ParameterError, match="rad must be a radius >= 0, or 3 of them"):
        joint_label_fusion(case.target, mask, case.images, rad=[1, 2], label_list=case.maps)
