from __future__ import annotations

import numpy as np
import pytest
import SimpleITK as sitk

import itk_consensus as ic
from itk_consensus.core.errors import InputError, ParameterError

SPACING = (0.8, 0.8, 1.5)  # x, y, z


def image(mask, spacing=SPACING, direction=None):
    made = sitk.GetImageFromArray(mask.astype(np.uint8))
    made.SetSpacing(spacing)
    if direction is not None:
        made.SetDirection(direction)
    return made


def ball(cranially=0.0, radius=14.0, shape=(32, 60, 60), spacing=SPACING):
    """Return a ball with its radius in mm, elongated by `cranially` towards larger z."""
    z, y, x = (
        (axis - side / 2) * step
        for axis, side, step in zip(np.indices(shape), shape, spacing[::-1], strict=True)
    )
    faces_up = z >= np.maximum(np.abs(y), np.abs(x))
    return np.sqrt(x**2 + y**2 + z**2) < radius + cranially * faces_up


def row_of(masks, reference, **more):
    return next(
        iter(ic.reader_bias([image(m, **more) for m in masks], image(reference, **more)).table())
    )


def test_a_reader_who_draws_2_mm_too_wide_cranially_is_told_so():
    truth = ball()
    row = row_of([ball(2.0)], truth)
    assert row["cranial"] == pytest.approx(2.0, abs=0.3)
    for name in ("caudal", "left", "right", "anterior", "posterior"):
        assert abs(row[name]) <= 0.3, name


def test_an_organ_drawn_2_mm_longer_or_shorter_at_its_cranial_end_is_told_so():
    """Every column of the upper half ends 2 mm higher or lower."""
    spacing = (0.8, 0.8, 1.0)
    truth = ball(0.0, 14.0, (44, 60, 60), spacing)
    for slices in (2, -2):
        moved = truth.copy()
        moved[22:] = truth[22 - slices : 44 - slices] if slices > 0 else False
        if slices > 0:
            moved[22 : 22 + slices] = truth[22]
        else:
            moved[22 : 44 + slices] = truth[22 - slices :]
        row = row_of([moved], truth, spacing=spacing)
        assert row["cranial"] == pytest.approx(slices, abs=0.3)
        assert abs(row["caudal"]) <= 0.3


def test_slices_that_are_added_or_left_out_are_told():
    truth = np.zeros((20, 30, 30), bool)
    truth[5:15, 8:20, 8:20] = True
    higher = truth.copy()
    higher[15, 8:20, 8:20] = True
    row = row_of([higher], truth)
    assert row["cranial"] == pytest.approx(1.5, abs=0.15)
    assert row["caudal"] == pytest.approx(0.0)
    lower = truth.copy()
    lower[5:7] = False
    assert row_of([lower], truth)["caudal"] == pytest.approx(-3.0, abs=0.3)


@pytest.mark.parametrize("millimetres", [-2.0, 2.0, 4.0])
def test_a_contour_that_is_wider_everywhere_is_wider_in_every_direction(millimetres):
    spacing = (1.0, 1.0, 1.0)
    truth = ball(0.0, 14.0, (44, 44, 44), spacing)
    other = ball(0.0, 14.0 + millimetres, (44, 44, 44), spacing)
    row = row_of([other], truth, spacing=spacing)
    for name in row.keys() - {"rater"}:
        assert row[name] == pytest.approx(millimetres, abs=0.35), name


def test_directions_are_the_patients_whatever_way_the_image_runs():
    truth = ball()
    upside_down = (1, 0, 0, 0, 1, 0, 0, 0, -1)
    row = row_of([ball(2.0)], truth, direction=upside_down)
    assert row["caudal"] == pytest.approx(2.0, abs=0.3)
    # The axes z, y, x of the array point to the left, to the back and to the head.
    sagittal = (0, 0, 1, 0, 1, 0, 1, 0, 0)
    row = row_of([ball(2.0)], truth, direction=sagittal)
    assert row["left"] == pytest.approx(2.0, abs=0.3)


def test_the_image_has_the_displacement_at_the_surface():
    truth = ball()
    filter_ = ic.ReaderBiasFilter()
    result = filter_.Execute([image(ball(2.0)), image(truth)], image(truth), ["A", "B"])
    wide, same = (sitk.GetArrayFromImage(filter_.GetBiasImage(rater)) for rater in range(2))
    assert not same.any()
    assert not wide[truth].any()
    assert wide[17:].max() == pytest.approx(2.0, abs=1.0)
    assert abs(wide[:16]).max() < 1e-6
    (sentence,) = result.sentences()
    assert sentence.startswith("A draws ")
    assert "on the cranial side" in sentence
    assert result.to_csv().splitlines()[0].startswith("rater,mean,right,left,anterior")


def test_flat_images_and_empty_masks_are_measured_as_far_as_they_go():
    y, x = np.indices((40, 40))
    disc = ((y - 20) ** 2 + (x - 20) ** 2 < 100).astype(np.uint8)
    wider = ((y - 20) ** 2 + (x - 20) ** 2 < 144).astype(np.uint8)
    result = ic.reader_bias([disc, wider, np.zeros_like(disc)], disc)
    rows = list(result.table())
    assert [row["rater"] for row in rows] == ["rater 0", "rater 1"]
    assert rows[0] == {"rater": "rater 0", "mean": 0, "-x": 0, "+x": 0, "-y": 0, "+y": 0}
    assert rows[1]["+x"] == pytest.approx(2.0, abs=0.3)
    with pytest.raises(InputError, match="the consensus has no label 1"):
        ic.reader_bias([disc, wider], np.zeros_like(disc))
    with pytest.raises(ParameterError, match=r"Label must be one of \[0, 1\], got 4"):
        ic.reader_bias([disc, wider], label=4)
    whole = np.ones((9, 9), np.uint8)
    assert next(iter(ic.reader_bias([whole, whole], whole).table()))["mean"] == 0
