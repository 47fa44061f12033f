"""Windows of grey values: by modality, by the structure's own values, and as requested."""

from __future__ import annotations

import numpy as np
import pytest

from itk_consensus.core.errors import ParameterError
from itk_consensus.images.grey_windows import as_window, window_of, windows_for


def test_a_window_is_given_by_center_and_width_or_by_name() -> None:
    assert window_of("40,400").limits == (-160, 240)
    assert window_of(" -600 , 1500 ").limits == (-1350, 150)
    assert window_of("Soft-Tissue") == window_of("soft tissue")
    assert as_window((40, 400)).limits == as_window("40,400").limits
    for wrong in ("", "40", "40,0", "40,-3", "a,b", "40,400,3", "nan,1", "1,inf", "1e999,2"):
        with pytest.raises(ParameterError, match="window must be center,width or one of"):
            window_of(wrong)


def test_a_part_of_a_ct_without_air_is_still_a_ct() -> None:
    """A crop of the abdomen contains fat, but neither lung nor air, and was displayed like MR."""
    rng = np.random.default_rng(0)
    image = rng.normal(50, 12, (6, 30, 30)).round().astype(np.int16)
    image[:, :, :8] = rng.normal(-100, 10, (6, 30, 8)).round()
    structure = np.zeros(image.shape, bool)
    structure[2:4, 10:20, 14:24] = True
    assert windows_for(image, structure)[0].name == "soft tissue"
    assert windows_for(image.astype(np.float32), structure)[0].name == "soft tissue"
    rung = np.clip(image + 300, 0, None).astype(np.int16)
    rung[0, 0, 0] = -120  # MR that was interpolated by splines
    assert windows_for(rung, structure)[0].name == "1 to 99 %"
    scores = (image - image.mean()) / image.std()  # standardised MR, as networks require
    assert windows_for(scores, structure)[0].name == "1 to 99 %"


def test_a_lung_is_shown_in_the_window_of_lungs() -> None:
    """Only structures within a lung were displayed in the lung window; lungs themselves were
    black in the soft-tissue window.
    """
    image = np.full((6, 30, 30), 40, np.int16)
    structure = np.zeros(image.shape, bool)
    structure[:, 8:22, 8:22] = True
    image[structure] = -800
    assert windows_for(image, structure)[0].name == "lung"


@pytest.mark.parametrize(("around", "name"), [(35, "brain"), (-90, "soft tissue")])
def test_brain_is_what_lies_in_a_skull_without_fat_around(around: float, name: str) -> None:
    z, y, x = np.indices((20, 60, 60))
    radius = np.hypot(y - 30, x - 30)
    image = np.select([radius < 20, radius < 25], [around, 900], -1000).astype(np.int16)
    structure = (np.hypot(y - 30, x - 30) < 6) & (abs(z - 10) < 3)
    image[structure] = 30
    assert windows_for(image, structure)[0].name == name


def test_the_air_around_a_head_does_not_make_the_head_grey() -> None:
    """Percentiles are computed within the body, since three quarters of this MR image are air."""
    rng = np.random.default_rng(1)
    image = rng.normal(0, 4, (10, 64, 64)).clip(0).astype(np.float32)
    image[2:8, 16:48, 16:48] = rng.uniform(300, 900, (6, 32, 32))
    low, high = windows_for(image, image > 100)[0].limits
    assert 290 < low < 330
    assert 870 < high < 910
