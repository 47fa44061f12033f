from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import SimpleITK as sitk
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from itk_consensus.core.errors import InputError
from itk_consensus.report.image_file import (
    ImageFile,
    differences_in_space,
    label_counts,
    label_sizes,
)


def described(array: Any, *, vector: bool = False, spacing: Any = None) -> ImageFile:
    image = sitk.GetImageFromArray(array, isVector=vector)
    if spacing is not None:
        image.SetSpacing(spacing)
    return ImageFile.of(Path("a.nii.gz"), image)


@given(
    hnp.arrays(
        st.sampled_from([np.uint8, np.int16, np.uint32, np.int64]),
        hnp.array_shapes(min_dims=1, max_dims=4, max_side=6),
        elements=st.integers(0, 100),
    )
)
def test_label_counts_are_numpys(array: Any) -> None:
    values, counts = np.unique(array, return_counts=True)
    assert label_counts(array, "test") == dict(zip(values.tolist(), counts.tolist(), strict=True))


def test_negative_and_float_labels_are_counted() -> None:
    assert label_counts(np.array([-3, 0, -3], dtype=np.int16), "test") == {-3: 2, 0: 1}
    assert label_counts(np.array([1.0, 2.0, 2.0]), "test") == {1: 1, 2: 2}


def test_fractions_are_no_labels() -> None:
    with pytest.raises(InputError, match=r"a\.nii\.gz: .*whole-number"):
        described(np.array([[0.0, 0.5]])).label_counts()


def test_volumes_are_in_mm3_and_ml_and_areas_in_mm2() -> None:
    volume = described(np.ones((2, 5, 10), np.uint8), spacing=(0.5, 2.0, 3.0))
    assert label_sizes({1: 100}, volume.geometry) == [
        {"label": 1, "voxels": 100, "volume_mm3": 300.0, "volume_ml": 0.3}
    ]
    plane = described(np.ones((5, 10), np.uint8), spacing=(0.5, 2.0))
    assert label_sizes({1: 50}, plane.geometry) == [{"label": 1, "voxels": 50, "area_mm2": 50.0}]
    series = described(np.ones((2, 2, 2, 2), np.uint8))
    assert label_sizes({1: 16}, series.geometry) == [{"label": 1, "voxels": 16}]


def test_a_description_names_grid_type_and_labels() -> None:
    array = np.zeros((2, 3, 4), np.int16)
    array[0, 0] = 7
    text = described(array, spacing=(0.5, 0.5, 2.0)).description()
    assert text.splitlines() == [
        "a.nii.gz",
        "  size 4 x 3 x 2, spacing 0.5 x 0.5 x 2 mm, origin 0,0,0, direction identity",
        "  int16, 1 component",
        "  labels (voxels): 0 (20), 7 (4)",
    ]


def test_every_component_of_a_vector_image_is_described() -> None:
    array = np.zeros((3, 4, 2), np.uint8)
    array[..., 1] = 1
    lines = described(array, vector=True).description().splitlines()
    assert lines[2] == "  uint8, 2 components"
    assert lines[3:] == [
        "  component 0: labels (voxels): 0 (12)",
        "  component 1: labels (voxels): 1 (12)",
    ]


def test_images_that_are_not_label_images_show_their_range() -> None:
    text = described(np.array([[-1.5, 0.25, np.nan]])).description()
    assert "no label image: values from -1.5 to 0.25" in text


def test_many_labels_are_cut_short() -> None:
    text = described(np.arange(100, dtype=np.uint8).repeat(10).reshape(50, 20)).description()
    assert text.endswith("11 (10) and 88 more up to 99")


def test_a_flipped_direction_is_written_out() -> None:
    image = sitk.Image([2, 2], sitk.sitkUInt8)
    image.SetDirection([-1, 0, 0, 1])
    assert "direction -1,0,0,1" in ImageFile.of(Path("a.png"), image).description()


def test_only_what_differs_in_space_is_reported() -> None:
    image = sitk.Image([2, 2, 2], sitk.sitkUInt8)
    moved = sitk.Image(image)
    moved.SetOrigin([0, 0, 1])
    noisy = sitk.Image(image)
    noisy.SetOrigin([0, 0, 1e-9])
    files = [
        ImageFile.of(Path(name), each)
        for name, each in (("a.nii", image), ("b.nii", moved), ("c.nii", noisy))
    ]
    ((stray, sentence),) = differences_in_space(files, 1e-6, 1e-6)
    assert stray is files[1]
    assert sentence == (
        "b.nii does not occupy the same space as a.nii: "
        "origin (0.0, 0.0, 1.0) instead of (0.0, 0.0, 0.0)"
    )
    assert differences_in_space(files, 2.0, 1e-6) == []
