from __future__ import annotations

import builtins
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import SimpleITK as sitk

from itk_consensus.core.errors import FileError, MissingDependencyError
from itk_consensus.report.pictures import draw_consensus


def ball(radius: float, shape: tuple[int, int, int] = (9, 20, 24)) -> Any:
    offsets = np.indices(shape) - (np.array(shape) // 2)[:, None, None, None]
    return (offsets**2).sum(axis=0) < radius**2


def draw(path: Path, masks: list[Any], **consensus: Any) -> Any:
    draw_consensus(path, masks, consensus, (2.5, 0.7, 0.7), "a ball")
    return sitk.GetArrayFromImage(sitk.ReadImage(str(path)))


def has_color(pixels: Any, color: tuple[int, int, int]) -> bool:
    return bool((np.abs(pixels[..., :3].astype(int) - color).max(axis=-1) < 8).any())


def test_every_rater_and_consensus_is_drawn_in_its_own_color(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    picture = draw(tmp_path / "a.png", [ball(2), ball(3), ball(4)], vote=ball(3), staple=ball(4))
    for color in ((0, 114, 178), (230, 159, 0), (0, 158, 115), (17, 17, 17), (215, 38, 61)):
        assert has_color(picture, color)
    assert not has_color(picture, (204, 121, 167))  # the colour of a fourth rater
    assert os.listdir(tmp_path) == ["a.png"]


@pytest.mark.parametrize("make", [np.zeros, np.ones])
def test_empty_and_full_masks_are_drawn_without_a_warning(tmp_path: Path, make: Any) -> None:
    pytest.importorskip("matplotlib")
    mask = make((4, 6, 8), bool)
    assert draw(tmp_path / "a.png", [mask, mask], vote=mask).size > 0


def test_pixels_of_different_height_and_width_keep_their_shape_in_mm(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    masks = [np.zeros((3, 30, 30), bool)]
    masks[0][1, 10:20, 10:20] = True
    draw_consensus(tmp_path / "a.png", masks, {}, (1.0, 2.0, 1.0), "twice as high as wide")
    pixels = sitk.GetArrayFromImage(sitk.ReadImage(str(tmp_path / "a.png")))[..., :3].astype(int)
    shaded = np.abs(pixels - 148).max(axis=-1) < 3
    upper = shaded[: len(shaded) // 2]
    high, wide = (np.ptp(axis) for axis in np.nonzero(upper))
    assert high / wide == pytest.approx(2, rel=0.05)


def test_a_picture_that_cannot_be_written_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    figure = pytest.importorskip("matplotlib.figure")
    path = tmp_path / "a.png"
    path.write_bytes(b"old")

    def half_write(self: Any, draft: Path, **_: Any) -> None:
        Path(draft).write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(figure.Figure, "savefig", half_write)
    with pytest.raises(FileError, match=r"a\.png: cannot be written: No space left"):
        draw(path, [ball(2)])
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.png"]


def test_without_matplotlib_the_error_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load = builtins.__import__

    def without_matplotlib(name: str, *rest: Any, **more: Any) -> Any:
        if name.split(".")[0] == "matplotlib":
            raise ImportError(name)
        return load(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without_matplotlib)
    with pytest.raises(MissingDependencyError, match=r"itk-consensus\[plot\]"):
        draw(tmp_path / "a.png", [ball(2)])
