"""AgreementFilter: all families of images, a reference, and left-out labels and voxels."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import itk
import numpy as np
import pytest
import SimpleITK as sitk

import itk_consensus as ic
from itk_consensus.core.errors import (
    GeometryError,
    NotExecutedError,
    ParameterError,
    ProcessAborted,
)


@pytest.fixture
def raters() -> list[np.ndarray]:
    rng = np.random.default_rng(1)
    truth = np.zeros((6, 9, 10), np.uint8)
    truth[1:5, 2:7, 2:8] = 1
    return [np.where(rng.random(truth.shape) < 0.1, 1 - truth, truth) for _ in range(4)]


def test_every_family_of_images_gives_the_same_numbers(raters: list[np.ndarray]) -> None:
    expected = ic.agreement([sitk.GetImageFromArray(r) for r in raters])
    of_itk = ic.agreement([itk.image_from_array(r) for r in raters])
    assert of_itk.to_dict() == expected.to_dict()
    plain = ic.agreement(raters)[1]  # in voxels, which are 1 mm³ above
    for name, matrix in plain.matrices.items():
        wanted = expected[1].matrices[name.replace("voxels", "mm")]
        np.testing.assert_array_equal(matrix, wanted)
    np.testing.assert_allclose(plain.volumes, 1000 * expected[1].volumes)


def test_spacing_of_the_images_is_the_unit_of_distances(raters: list[np.ndarray]) -> None:
    images = [sitk.GetImageFromArray(r) for r in raters]
    for image in images:
        image.SetSpacing((2.0, 2.0, 2.0))
    wide, plain = ic.agreement(images)[1], ic.agreement(raters)[1]
    np.testing.assert_allclose(wide.hausdorff, 2 * plain.hausdorff)
    np.testing.assert_allclose(wide.volumes, 8 * plain.volumes / 1000)  # in ml, and in voxels


def test_a_reference_is_compared_but_is_no_rater(raters: list[np.ndarray]) -> None:
    alone = ic.agreement(raters)
    beside = ic.agreement(raters, np.ones_like(raters[0]))
    assert beside.raters == (*alone.raters, "reference")
    for name in ("kappa", "alpha"):
        assert getattr(beside, name) == getattr(alone, name)
        assert getattr(beside[1], name) == getattr(alone[1], name)
    assert beside[1].conformity == alone[1].conformity
    assert beside[1].volume_variation == alone[1].volume_variation
    assert beside.mean_dice() == alone.mean_dice()
    sizes = np.array([r.sum() for r in raters])
    expected = 2 * sizes / (sizes + raters[0].size)
    np.testing.assert_allclose(beside[1].to_reference(beside[1].dice), expected)


def test_a_fuser_as_reference_is_its_label_image(raters: list[np.ndarray]) -> None:
    vote = ic.MajorityVoteFilter(TieRule="background")
    by_filter = ic.agreement(raters, vote)
    by_image = ic.agreement(raters, vote.Execute(raters))
    assert by_filter.reference == "vote"
    np.testing.assert_array_equal(by_filter[1].dice, by_image[1].dice)


def test_undecided_voxels_of_a_fuser_are_background_and_no_label(
    raters: list[np.ndarray],
) -> None:
    result = ic.agreement(raters, ic.LabelVotingImageFilter())
    assert [one.label for one in result.labels] == [1]
    votes = np.sum(raters, axis=0)
    assert result[1].volumes[-1] == pytest.approx(np.count_nonzero(votes > 2))


def test_masks_and_missing_labels_leave_voxels_out(raters: list[np.ndarray]) -> None:
    mask = np.zeros_like(raters[0])
    mask[:3] = 1
    masked = ic.agreement(raters, ic.MajorityVoteFilter(), MaskImage=mask)
    cut = ic.agreement([r[:3] for r in raters], ic.MajorityVoteFilter())
    np.testing.assert_array_equal(masked[1].dice, cut[1].dice)
    gaps = [mask, None, None, None]
    partial = ic.agreement(raters, ic.MajorityVoteFilter(), RaterMasks=gaps)
    seen = (raters[0] == 1) & (mask == 1), (raters[1] == 1) & (mask == 1)
    expected = 2 * np.count_nonzero(seen[0] & seen[1]) / (seen[0].sum() + seen[1].sum())
    assert partial[1].dice[0, 1] == pytest.approx(expected)
    missing = [np.where(mask == 1, r, 9) if j == 0 else r for j, r in enumerate(raters)]
    same = ic.agreement(missing, MissingLabel=9)
    assert same[1].dice[0, 1] == pytest.approx(expected)


def test_names_follow_the_raters_into_every_table(raters: list[np.ndarray]) -> None:
    result = ic.agreement(raters, names=list("abcd"), surfaces=False)
    assert [row["rater"] for row in result.of_raters()] == list("abcd")
    assert {row["first"] for row in result.pairs()} == set("abc")
    assert "hausdorff_mm" not in result.pairs()[0]


def test_errors_say_what_was_wanted(raters: list[np.ndarray]) -> None:
    with pytest.raises(ParameterError, match="names must be 4, got 2"):
        ic.agreement(raters, names=["a", "b"])
    with pytest.raises(ParameterError, match="SurfaceTolerance must be a number >= 0"):
        ic.agreement(raters, surfaceTolerance=-1)
    with pytest.raises(GeometryError, match="AgreementFilter: input 4"):
        ic.agreement(raters, raters[0][:2])
    with pytest.raises(NotExecutedError):
        ic.AgreementFilter().GetResult()


def test_progress_and_result_after_execute(raters: list[np.ndarray]) -> None:
    filter_ = ic.AgreementFilter()
    seen: list[float] = []
    filter_.AddCommand(sitk.sitkProgressEvent, lambda: seen.append(filter_.GetProgress()))
    result = filter_.Execute(raters)
    assert filter_.GetResult().to_json() == result.to_json()
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


def test_every_label_is_reported_and_abort_ends_at_any(raters: list[np.ndarray]) -> None:
    """Nothing was reported between reading and the end: 12 s for fifteen atlases with 100
    labels.
    """
    rng = np.random.default_rng(2)
    maps = [rng.integers(0, 7, raters[0].shape, np.uint8) for _ in range(3)]
    filter_ = ic.AgreementFilter()
    seen: list[float] = []
    filter_.AddCommand(sitk.sitkProgressEvent, lambda: seen.append(filter_.GetProgress()))
    filter_.Execute(maps)
    assert len({share for share in seen if 0.5 <= share < 0.99}) == 7
    seen.clear()
    filter_.AddCommand(sitk.sitkProgressEvent, lambda: filter_.Abort() if len(seen) == 5 else None)
    with pytest.raises(ProcessAborted, match="AgreementFilter"):
        filter_.Execute(maps)
    assert len(seen) == 5


def test_progress_and_abort_of_the_consensus_are_the_filters(raters: list[np.ndarray]) -> None:
    filter_, staple = ic.AgreementFilter(), ic.STAPLEImageFilter()
    heard: list[float] = []
    filter_.AddCommand(sitk.sitkProgressEvent, lambda: heard.append(staple.GetProgress()))
    filter_.Execute(raters, staple)
    assert 0.5 in heard
    assert not staple.HasCommand(sitk.sitkProgressEvent)
    seen: list[int] = []
    staple.AddCommand(sitk.sitkIterationEvent, lambda: seen.append(staple.GetElapsedIterations()))
    staple.AddCommand(sitk.sitkIterationEvent, filter_.Abort)
    with pytest.raises(ProcessAborted, match="AgreementFilter"):
        filter_.Execute(raters, staple)
    assert seen == [1]


# -- units ----------------------------------------------------------------------------------------


def _two_boxes() -> list[Any]:
    boxes = [np.zeros((6, 16, 16), np.uint8) for _ in range(3)]
    for index, box in enumerate(boxes):
        box[1:5, 3:12, 3 : 10 + index] = 1
    return boxes


def test_of_arrays_volumes_and_distances_are_in_voxels(tmp_path: Path) -> None:
    """Issue 44: arrays, whose voxels have no known size, were reported in ml and mm."""
    arrays = _two_boxes()
    consensus = ic.ConsensusFilter()
    consensus.Execute(arrays)
    result = ic.agreement(arrays, consensus, VolumeIntervals=True)
    assert (result.volume_unit, result.length_unit) == ("voxels", "voxels")
    assert result[1].volumes[0] == arrays[0].sum()
    assert {"hausdorff_voxels", "hausdorff95_voxels"} <= result.pairs()[0].keys()
    for text in (
        result.table(),
        result.to_json(),
        str(consensus.GetDiagnostics()),
        consensus.GetExplanation(),
        str(consensus.GetResolution()),
    ):
        assert not re.search(r"\bmm\b|_mm\b|\bml\b|_ml\b", text), text
    page = tmp_path / "page.html"
    ic.report(consensus, page)
    shown = re.sub(r"<(script|style)\b.*?</\1>", "", page.read_text("utf-8"), flags=re.DOTALL)
    assert not re.search(r"\d (mm|ml)\b|>ml<|in mm", shown), re.findall(r".{40}\bm[ml]\b", shown)


def test_images_with_a_spacing_of_one_have_ml_and_mm() -> None:
    images = [sitk.GetImageFromArray(box) for box in _two_boxes()]
    result = ic.agreement(images)
    assert (result.volume_unit, result.length_unit) == ("ml", "mm")
    assert "mean_hausdorff_mm" in result.summary()[0]
