from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import SimpleITK as sitk

from itk_consensus.cli.console import Console
from itk_consensus.cli.inputs import rater_names, require_one_space, warn_of_copies
from itk_consensus.core.errors import GeometryError
from itk_consensus.report.image_file import ImageFile


def file_of(name: str, array: Any, origin: Any = (0, 0, 0), vector: bool = False) -> ImageFile:
    image = sitk.GetImageFromArray(np.asarray(array, np.uint8), isVector=vector)
    image.SetOrigin([float(x) for x in origin[: image.GetDimension()]])
    return ImageFile.of(Path(name), image)


BLOCK = np.zeros((3, 4, 5), np.uint8)


@pytest.mark.parametrize("distance", [1, 50])
def test_an_origin_a_voxel_or_more_away_is_no_header_noise(distance: float) -> None:
    files = [file_of("a.nii", BLOCK), file_of("b.nii", BLOCK, (0, distance, 0))]
    with pytest.raises(GeometryError, match=r"b\.nii does not .*Resample it onto .*a\.nii$"):
        require_one_space(files, 1e-6, 1e-6)
    require_one_space(files, 2.0 * distance, 1e-6)


def test_header_noise_names_the_option_and_a_value_that_is_enough() -> None:
    files = [file_of("a.nii", BLOCK), file_of("b.nii", BLOCK, (0, 0.01, 0))]
    with pytest.raises(
        GeometryError, match=r"rounding of headers, give --coordinate-tolerance 0\.011$"
    ):
        require_one_space(files, 1e-6, 1e-6)
    require_one_space(files, 0.011, 1e-6)


def test_no_tolerance_helps_another_size() -> None:
    files = [file_of("a.nii", BLOCK), file_of("b.nii", BLOCK[:2], (0, 0.01, 0))]
    with pytest.raises(GeometryError) as caught:
        require_one_space(files, 1e-6, 1e-6)
    assert "tolerance" not in str(caught.value)


def test_two_of_three_raters_who_are_the_same_are_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    one, other = np.eye(4), np.eye(4)[::-1]
    files = [file_of("a.nii", one), file_of("b.nii", other), file_of("c.nii", one)]
    warn_of_copies(files, Console())
    said = capsys.readouterr().err
    assert said == "itk-consensus: warning: a.nii and c.nii hold the same labels everywhere\n"


def test_components_are_compared_too_and_empty_raters_are_no_copies(
    capsys: pytest.CaptureFixture[str],
) -> None:
    pair = file_of("v.nrrd", np.stack([np.eye(4), np.eye(4)], axis=-1), vector=True)
    empty = [file_of(name, np.zeros((4, 4))) for name in ("d.nii", "e.nii")]
    assert rater_names([pair, *empty]) == ["v.nrrd[0]", "v.nrrd[1]", "d.nii", "e.nii"]
    warn_of_copies([pair, *empty], Console())
    said = capsys.readouterr().err
    assert said == (
        "itk-consensus: warning: v.nrrd[0] and v.nrrd[1] hold the same labels everywhere\n"
    )
