from __future__ import annotations

import itk
import numpy as np
import pytest
import SimpleITK as sitk

from itk_consensus.images import convert
from itk_consensus.images.kept_metadata import Keep


def like(family):
    scalar = np.zeros((3, 4, 5), np.uint8)
    if family == "array":
        return scalar
    made = sitk.GetImageFromArray(scalar) if family == "sitk" else itk.image_from_array(scalar)
    made.SetSpacing((0.5, 1.0, 2.0))
    made.SetOrigin((3.0, -4.0, 5.0))
    if family == "sitk":
        made.SetMetaData("key", "value")
    else:
        made.GetMetaDataDictionary()["key"] = "value"
    return made


@pytest.mark.parametrize("family", ["array", "sitk", "itk"])
def test_components_come_back_as_they_went_in(family):
    rng = np.random.default_rng(0)
    components = [rng.integers(0, 2, (3, 4, 5)).astype(np.uint8) for _ in range(17)]
    vector = convert.to_vector_image(components, convert.load([like(family)], owner="test"))
    if family == "array":
        back = list(np.moveaxis(vector, -1, 0))
    else:
        back = convert.load(vector, owner="test").arrays
        np.testing.assert_allclose(vector.GetSpacing(), (0.5, 1.0, 2.0))
        np.testing.assert_allclose(vector.GetOrigin(), (3.0, -4.0, 5.0))
    for mine, theirs in zip(back, components, strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_metadata_goes_with_the_components():
    parts = [np.zeros((3, 4, 5), np.uint8)] * 2
    loaded = convert.load([like("sitk")], owner="test", keep=Keep.EVERYTHING)
    ours = convert.to_vector_image(parts, loaded)
    assert ours.GetMetaData("key") == "value"
    loaded = convert.load([like("itk")], owner="test", keep=Keep.EVERYTHING)
    theirs = convert.to_vector_image(parts, loaded)
    assert theirs.GetMetaDataDictionary()["key"] == "value"
