"""Findings about the raters: their agreement, and each gross error on a case constructed for it."""

from __future__ import annotations

import numpy as np
import pytest
import SimpleITK as sitk
from scipy import ndimage

import itk_consensus
import itk_consensus.assessment.agreement.surfaces as surfaces_module
from itk_consensus.assessment.agreement.displacement import MaskInBox, best_shift
from itk_consensus.assessment.agreement.study import AgreementSettings, study_agreement
from itk_consensus.assessment.agreement.surfaces import Surface, surface_dices
from itk_consensus.assessment.assessment import assess
from itk_consensus.assessment.places import largest_place
from itk_consensus.assessment.readers import about_raters
from itk_consensus.assessment.verdict import Verdict
from itk_consensus.fusing.agreement_limits import grade_agreement
from itk_consensus.fusing.fusion_result import result_of
from itk_consensus.images.structures import geometry_of
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.label_stack import LabelStack

SPACING = (2.0, 1.0, 1.0)


def blob(center, radii, shape=(24, 40, 48), spacing=SPACING):
    """Return an ellipsoid with a corner removed, so that it has no symmetry."""
    place = np.indices(shape).T * np.array(spacing)
    away = (place - np.array(center)) / np.array(radii)
    inside = (away**2).sum(axis=-1).T <= 1
    return inside & ~((away.T[0] > 0.2) & (away.T[1] > 0.2) & (away.T[2] > 0.2))


@pytest.fixture
def agreeing():
    radii = [(9, 9, 10), (9.5, 9, 10), (9, 9.5, 9.5), (9.5, 9.5, 10)]
    return np.array([blob((20, 13, 14), radius) for radius in radii], np.uint8)


def findings(
    maps, fuser=itk_consensus.MajorityVoteFilter, spacing=SPACING, direction=None, **parameters
):
    images = [sitk.GetImageFromArray(np.asarray(one, np.uint8), isVector=False) for one in maps]
    for image in images:
        image.SetSpacing(spacing[::-1])
        if direction is not None:
            image.SetDirection(direction)
    filter_ = fuser(**parameters)
    filter_.Execute(images)
    return filter_.GetDiagnostics()


def cautions(found):
    return {one.rule: one.what for one in found.raters.findings if one.concern}


def test_readers_who_agree_leave_nothing_to_say(agreeing):
    found = findings(agreeing)
    assert found.agreement == "good"
    assert not found.raters.concerns
    verdict = Verdict.of(found)
    assert str(verdict) == "Use. Readers agree well, and nothing speaks against it."


def test_readers_and_fusion_are_judged_apart(agreeing):
    agreeing[2] = agreeing[2, :, :, ::-1]
    found = findings(agreeing)
    assert found.raters.concerns
    assert not found.fusion.concerns
    assert {one.about for one in found.findings} == {"fusion", "raters"}
    assert len(found.findings) == len(found.fusion.findings) + len(found.raters.findings)


@pytest.mark.parametrize(("axis", "name"), [(1, "head-feet"), (2, "front-back"), (3, "left-right")])
def test_a_mirrored_mask_is_named_with_its_direction(agreeing, axis, name):
    agreeing[2] = np.flip(agreeing, axis)[2]
    said = cautions(findings(agreeing))["mirrored mask"]
    gain = "if mirrored back, Dice to the others would rise from 0."
    assert said.startswith(f"Reader 2 is mirrored {name}: {gain}")


@pytest.mark.parametrize(
    ("direction", "off"),
    [
        ((1, 0, 0, 0, 1, 0, 0, 0, 1), "5 mm too far to the patient's right and 4 mm to the head"),
        ((-1, 0, 0, 0, -1, 0, 0, 0, 1), "5 mm too far to the patient's left and 4 mm to the head"),
        ((0, 0, 1, 1, 0, 0, 0, 1, 0), "5 mm too far to the front and 4 mm to the patient's left"),
    ],
)
def test_a_shifted_mask_is_told_by_how_far_it_lies_off_in_the_patient(agreeing, direction, off):
    """The correction, such as (+5.0, +0.0, -4.0), was reported instead of the error."""
    agreeing[1] = np.roll(agreeing[1], (2, -5), (0, 2))
    said = cautions(findings(agreeing, direction=direction))["shifted mask"]
    gain = "if moved back, Dice to the others would rise from 0."
    assert said.startswith(f"Reader 1 lies {off}: {gain}")


def test_arrays_which_know_no_patient_are_off_along_their_axes(agreeing):
    agreeing[1] = np.roll(agreeing[1], (2, -5), (0, 2))
    filter_ = itk_consensus.MajorityVoteFilter()
    filter_.Execute(list(agreeing))
    said = cautions(filter_.GetDiagnostics())["shifted mask"]
    assert " too far along -x and " in said
    assert " along +z: if moved back" in said
    assert "patient" not in said


def test_who_drew_more_is_asked_for_other_tissue_and_who_drew_less_for_missing_parts(agreeing):
    more, less = agreeing.copy(), agreeing.copy()
    more[1] = ndimage.distance_transform_edt(agreeing[1] == 0, sampling=SPACING) <= 4
    less[1] = ndimage.distance_transform_edt(agreeing[1], sampling=SPACING) > 4
    for maps, asked in ((more, "other tissue was drawn, too"), (less, "parts are missing")):
        (one,) = (one for one in findings(maps).concerns if one.rule == "volume apart")
        assert asked in one.do


def test_the_place_lies_in_the_lump_and_not_in_the_slice_drawn_too_early():
    drawn = np.zeros((12, 40, 40), bool)
    drawn[0, 2:30, 2:30] = True
    drawn[1:9, 2:5, 2:5] = True
    drawn[4:10, 2:14, 2:14] = True
    box = tuple(slice(0, side) for side in drawn.shape)
    image = sitk.GetImageFromArray(drawn.astype(np.uint8))
    place = largest_place(drawn, box, geometry_of(image), (2.0, 1.0, 1.0))
    assert place is not None
    assert 5 <= place.slice <= 8


def test_of_two_raters_the_displacement_is_found_too(agreeing):
    agreeing[1] = agreeing[1, :, :, ::-1]
    assert "mirrored left-right" in cautions(findings(agreeing[:2]))["mirrored mask"]


@pytest.mark.parametrize("left", [0, 3])
def test_an_empty_or_nearly_empty_mask_is_named(agreeing, left):
    kept = np.flatnonzero(agreeing[3])[:left]
    agreeing[3] = 0
    agreeing[3].reshape(-1)[kept] = 1
    said = cautions(findings(agreeing))["empty mask"]
    assert said.startswith("Reader 3 drew nothing, " if not left else "Reader 3 drew 0.006 ml, ")


def test_who_never_met_is_not_compared_and_who_annotated_elsewhere_is_not_empty(agreeing):
    left = np.zeros_like(agreeing[0])
    left[..., :24] = 1
    filter_ = itk_consensus.MajorityVoteFilter(RaterMasks=[left, 1 - left])
    filter_.Execute(list(agreeing[:2] | agreeing[:2, :, :, ::-1]))
    assert filter_.GetDiagnostics().agreement is None
    filter_ = itk_consensus.MajorityVoteFilter(RaterMasks=[None, None, None, 1 - left])
    filter_.Execute(list(agreeing * left))
    assert not cautions(filter_.GetDiagnostics())


def test_a_rater_who_is_missing_is_not_called_empty(agreeing):
    filter_ = itk_consensus.MajorityVoteFilter()
    filter_.Execute([*agreeing, None])
    assert "empty mask" not in cautions(filter_.GetDiagnostics())


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_reader_who_left_out_every_second_slice_is_named(agreeing, axis):
    """Issue 44, item 10. The slicing axis is the one with the largest voxel size."""
    volume = np.moveaxis(agreeing[1], axis, 0)
    first = np.flatnonzero(volume.any(axis=(1, 2)))[0]
    volume[first + 1 :: 2] = 0
    spacing = np.where(np.arange(3) == axis, 2.0, 1.0).tolist()
    said = cautions(findings(agreeing, spacing=spacing))["gaps between slices"]
    drawn = np.flatnonzero(volume.any(axis=(1, 2)))
    assert said.startswith(
        f"Reader 1 drew on {len(drawn)} slices from {drawn[0]} to {drawn[-1]} along {'zyx'[axis]} "
        f"and left {len(drawn) - 1} between them empty ({first + 1}, {first + 3}"
    )


@pytest.mark.parametrize("step", [2, 5])
def test_slices_that_all_readers_left_out_are_named(step):
    maps = np.array([blob((40, 13, 14), (30, 9 + n, 10), (40, 40, 48)) for n in range(3)], np.uint8)
    maps[:, np.arange(40) % step > 0] = 0
    every = findings(maps).findings
    told = next(one for one in every if one.rule == "gaps between slices")
    assert sum(one.rule == told.rule for one in every) == 3
    assert told.who == (0,)
    assert "Reader 0 drew on" in told.what


def test_one_slice_that_others_drew_on_is_a_gap_and_one_nobody_did_is_none(agreeing):
    middle = int(np.flatnonzero(agreeing[0].any(axis=(1, 2))).mean())
    one = agreeing.copy()
    one[3, middle] = 0
    assert f"left 1 between them empty ({middle})" in cautions(findings(one))["gaps between slices"]
    one[:, middle] = 0
    assert "gaps between slices" not in cautions(findings(one))


def test_lesions_in_different_places_leave_no_gaps(agreeing):
    """Rater 3 missed the middle lesion, and no two lesions overlap along the slicing axis."""
    maps = np.zeros((4, 24, 40, 48), np.uint8)
    for number, (y, x) in enumerate([(5, 5), (20, 20), (30, 40)]):
        maps[:, 8 * number + 1 : 8 * number + 5, y : y + 6, x : x + 6] = 1
    maps[3, 9:13] = 0
    assert "gaps between slices" not in cautions(findings(maps))
    both = np.zeros_like(maps)  # a vertebra, a disc that is not part of it, and another vertebra
    both[:, 2:8], both[:, 12:20] = agreeing[:, [10]], agreeing[:, [10]]
    assert both.any()
    assert "gaps between slices" not in cautions(findings(both))


def test_slices_that_a_reader_did_not_annotate_are_no_gaps(agreeing):
    maps = agreeing.copy()
    maps[2, 1::2] = 255
    filter_ = itk_consensus.MajorityVoteFilter(MissingLabel=255)
    filter_.Execute(list(maps))
    assert "gaps between slices" not in cautions(filter_.GetDiagnostics())
    maps[2, 1::2] = 0
    filter_.Execute(list(maps))
    assert "gaps between slices" in cautions(filter_.GetDiagnostics())


def test_a_mask_that_ends_at_the_border_is_noted(agreeing):
    """Issue 44, item 10: contours beyond the image were clipped without a warning."""
    assert findings(agreeing)["cut at the border"].severity is None
    cut = agreeing[:, :, :, 14:].copy()
    told = findings(cut)["cut at the border"]
    assert (told.severity, told.about) == ("note", "raters")
    assert told.what == "What readers 0, 1, 2 and 3 drew ends at the border of the image."
    ends = agreeing[:, 10:].copy()  # organs often extend beyond the image, which is not reported
    assert findings(ends)["cut at the border"].severity is None


@pytest.fixture
def two_labels(agreeing):
    other = np.array([blob((30, 28, 34), radii) for radii in [(7, 8, 8)] * 4])
    return np.where(other, 2, agreeing).astype(np.uint8)


def test_labels_in_a_circle_are_named_together(two_labels):
    three = two_labels.copy()
    three[:, 1:5, 1:9, 1:9] = 3
    three[1] = np.array([0, 2, 3, 1], np.uint8)[three[1]]
    said = cautions(findings(three))["swapped labels"]
    assert said.startswith(
        "Reader 1 has numbers in a circle, label 1 for label 3, label 3 for label 2 and label 2 "
        "for label 1: if put right"
    )


def test_swapped_labels_are_named(two_labels):
    two_labels[0] = np.array([0, 2, 1], np.uint8)[two_labels[0]]
    found = cautions(findings(two_labels))
    assert found["swapped labels"] == (
        "Reader 0 has label 1 and label 2 the other way round: if put right, Dice to the others "
        "would rise from 0.00 to 1.00."
    )
    assert "deviating rater" not in found


def test_checks_of_place_do_not_pass_if_a_mask_lies_in_the_wrong_place(agreeing):
    """A page ticked "All readers drew in the same place" below a reader who is mirrored."""
    checks = ("apart", "shifted mask")
    assert all(findings(agreeing)[rule].passed for rule in checks)
    agreeing[2] = agreeing[2, :, :, ::-1]
    found = findings(agreeing)
    assert "mirrored mask" in cautions(found)
    assert [found[rule].because for rule in checks] == ["mirrored mask"] * 2
    assert not any(found[rule].passed for rule in checks)


def test_who_swapped_structures_is_not_called_mirrored_as_well(agreeing):
    agreeing[2] = agreeing[2, :, :, ::-1]
    filter_ = itk_consensus.MajorityVoteFilter()
    filter_.Execute(list(agreeing))
    swap = about_raters("swapped structures", 0.9, "look", "", [2], used="A", meant="B", before=0.0,
                        after=0.9)  # fmt: skip
    result = result_of(filter_)
    assert "mirrored mask" in cautions(assess(result).findings())
    found = assess(result, known=[swap]).findings()
    assert cautions(found).keys() == {"swapped structures", "pairwise Dice"}
    assert {one.because for one in found.concerns} == {"", "swapped structures"}
    assert not found["mirrored mask"].passed


def test_of_two_raters_who_swap_labels_nobody_is_blamed(two_labels):
    two_labels[0] = np.array([0, 2, 1], np.uint8)[two_labels[0]]
    found = cautions(findings(two_labels[:2]))
    assert found["swapped labels"] == (
        "Readers 0 and 1 have label 1 and label 2 the other way round from each other: if one of "
        "them were put right, Dice would rise from 0.00 to 0.99."
    )


def test_another_number_for_a_label_is_named_and_used_alone(two_labels):
    two_labels[1] = np.array([0, 1, 7], np.uint8)[two_labels[1]]
    found = cautions(findings(two_labels))
    assert found["swapped labels"].startswith(
        "Reader 1 says label 7 where the others say label 2 (Dice 1.00)"
    )
    assert found["lone label"].startswith("Label 7: Only reader 1 used this label (")


def test_a_label_map_is_mirrored_as_a_whole(two_labels):
    two_labels[3] = two_labels[3, :, :, ::-1]
    found = cautions(findings(two_labels))
    assert "Reader 3 is mirrored left-right" in found["mirrored mask"]


def test_one_third_of_the_volume_is_named_in_ml(agreeing):
    mask = agreeing[0] > 0
    depth = ndimage.distance_transform_edt(mask, sampling=SPACING)
    order = np.argsort(-depth, axis=None)[: mask.sum() // 3]
    agreeing[0] = 0
    agreeing[0].reshape(-1)[order] = 1
    found = cautions(findings(agreeing))
    ml = mask.sum() // 3 * 2 / 1000
    assert found["volume apart"].startswith(f"Reader 0 drew {ml:.3g} ml, the others ")
    assert "shifted mask" not in found


def test_another_structure_deviates(agreeing):
    agreeing[1] = blob((34, 30, 36), (9, 3, 11))
    assert cautions(findings(agreeing))["apart"] == "Reader 1 drew where none of the others drew."


def test_one_rater_alone_is_a_caution_and_two_are_a_note(agreeing):
    with pytest.warns(itk_consensus.ConsensusWarning):
        assert "few raters" in cautions(findings(agreeing[:1], itk_consensus.STAPLEImageFilter))
    assert findings(agreeing[:2])["few raters"].severity == "note"
    assert findings(agreeing[:1]).agreement is None


def test_low_dice_and_wide_volumes_are_graded_with_numbers(agreeing):
    agreeing[:2] = blob((20, 15, 22), (9, 6, 5)), blob((20, 13, 14), (9, 13, 13))
    found = findings(agreeing)
    said = cautions(found)
    assert found.agreement == "poor"
    pairs = study_agreement(
        DecisionPatterns.from_stack(LabelStack.binary(list(agreeing), 1.0)),
        SPACING,
        "abcd",
        AgreementSettings(tolerance=2.0),
    ).labels[0]
    between = pairs.between_raters(pairs.dice)
    assert said["pairwise Dice"].startswith(
        f"Readers agree poorly: mean Dice {between.mean():.2f}, "
    )
    assert f"lowest between readers 0 and 2 ({between.min():.2f})" in said["pairwise Dice"]
    surface = pairs.between_raters(pairs.surface_dice).mean()
    assert found["surface Dice"].value == pytest.approx(surface)
    low, high = pairs.volumes.min(), pairs.volumes.max()
    assert f"Readers drew volumes between {low:.3g} ml and {high:.3g} ml" in said["volume spread"]


def test_limits_can_be_set(agreeing):
    strict = {"good_dice": 0.99, "poor_dice": 0.985}
    assert "pairwise Dice" in cautions(findings(agreeing, AgreementLimits=strict))
    with pytest.raises(itk_consensus.ParameterError, match="names among good_dice, poor_dice"):
        itk_consensus.MajorityVoteFilter(AgreementLimits={"dice": 0.5})


@pytest.mark.parametrize(
    ("value", "good", "poor", "grade"),
    [
        (0.8, 0.8, 0.6, "good"),
        (0.6, 0.8, 0.6, "moderate"),
        (0.59, 0.8, 0.6, "poor"),
        (0.2, 0.2, 0.4, "good"),
        (0.4, 0.2, 0.4, "moderate"),
        (0.41, 0.2, 0.4, "poor"),
    ],
)
def test_numbers_are_graded_whichever_way_is_better(value, good, poor, grade):
    assert grade_agreement(value, good, poor) == grade


@pytest.mark.parametrize("tolerance", [0.5, 1.0, 2.0, 3.7])
def test_surface_dice_without_distances_equals_that_with_them(agreeing, tolerance):
    agreeing[0] = np.roll(agreeing[0], 3, 2)
    patterns = DecisionPatterns.from_stack(LabelStack.binary(list(agreeing), 1.0))
    settings = AgreementSettings(tolerance=tolerance)
    expected = study_agreement(patterns, SPACING, "abcd", settings).labels[0].surface_dice
    found = surface_dices([Surface.of(mask > 0) for mask in agreeing], SPACING, tolerance)
    np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize("side", [1e-3, 0.01, 0.1, 0.5])
def test_surface_dice_of_the_smallest_voxels_takes_no_more_than_the_image(
    agreeing, side, monkeypatch
):
    """Issue 44, item 15: (2 mm / spacing)^3 offsets were listed, which crashed for a spacing of
    1 um.
    """
    spacing = (side, side, 2 * side)
    surfaces = [Surface.of(mask != 0) for mask in agreeing]
    listed = surfaces_module._offsets

    def few(*arguments):
        found = listed(*arguments)
        assert len(found) <= 1 << 15
        return found

    monkeypatch.setattr(surfaces_module, "_offsets", few)
    found = surface_dices(surfaces, spacing, 0.5 * side)
    want = surfaces_module.distances_between(surfaces, spacing, 0.5 * side)
    for (i, j), one in want.items():
        assert found[i, j] == found[j, i] == one.surface_dice
    assert (surface_dices(surfaces, spacing, 2.0) == 1).all()


@pytest.mark.parametrize("shift", [(0, 0), (3, -7), (-60, 45)])
def test_the_best_shift_of_large_masks_is_found_to_the_voxel(shift):
    rng = np.random.default_rng(4)
    volume = np.zeros((400, 420))
    rough = ndimage.gaussian_filter(rng.normal(size=(180, 200)), 9) > 0
    volume[100:280, 110:310] = rough
    moved = np.roll(volume, shift, (0, 1))
    whole = (slice(0, 400), slice(0, 420))
    fit = best_shift(MaskInBox.of(moved, whole), MaskInBox.of(volume, whole))
    assert fit.shift == tuple(-step for step in shift)
    assert fit.dice == pytest.approx(1)


def test_series_of_volumes_are_graded_without_a_search(agreeing):
    maps = np.stack([agreeing, agreeing], axis=1)
    maps[1] = maps[1, ..., ::-1]
    found = findings(maps, spacing=(1.0, *SPACING))
    assert found.agreement == "poor"
    assert "mirrored mask" not in {one.rule for one in found.findings}
