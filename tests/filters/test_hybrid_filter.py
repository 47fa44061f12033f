from __future__ import annotations

import copy
import pickle

import itk
import numpy as np
import pytest
import SimpleITK as sitk
from scipy.ndimage import distance_transform_edt

import itk_consensus
from itk_consensus import (
    BoundarySIMPLEFilter,
    ConsensusFilter,
    HybridFusionFilter,
    LabelVotingImageFilter,
    MajorityVoteFilter,
    SIMPLEFilter,
    STAPLEImageFilter,
)
from itk_consensus.core.errors import InputError, ParameterError, ProcessAborted


def near_contour(labels: np.ndarray, width: float, spacing) -> np.ndarray:
    """Return the voxels within `width` of another label, by scipy's distance."""
    band = np.zeros(labels.shape, bool)
    for label in np.unique(labels):
        inside = labels == label
        band |= inside & (distance_transform_edt(inside, sampling=spacing) <= width)
    return band


def test_each_fuser_answers_in_its_own_place(masks):
    interior, boundary = STAPLEImageFilter(), BoundarySIMPLEFilter()
    hybrid = HybridFusionFilter(InteriorFilter=interior, BoundaryFilter=boundary, BandWidth=2.0)
    fused = hybrid.Execute(masks)
    vote = MajorityVoteFilter().Execute(masks)
    band = near_contour(vote, 2.0, (1.0, 1.0))
    assert band.any()
    assert not band.all()
    assert hybrid.GetBandVoxels() == np.count_nonzero(band)
    made = (hybrid.GetInteriorResult(), hybrid.GetBoundaryResult())
    for output in ("label_image", "probability_image"):
        inside, outside = (getattr(result, output)() for result in made)
        expected = np.where(band, outside, inside)
        np.testing.assert_array_equal(getattr(hybrid.GetResult(), output)(), expected)
    inside, outside = (result.uncertainty_image("entropy") for result in made)
    np.testing.assert_array_equal(hybrid.GetUncertaintyImage(), np.where(band, outside, inside))
    assert fused.dtype == np.uint8


@pytest.mark.parametrize("family", [sitk.GetImageFromArray, itk.image_from_array])
def test_the_band_is_measured_in_mm(masks, family):
    images = [family(mask) for mask in masks]
    for image in images:
        image.SetSpacing((0.5, 3.0))
    hybrid = HybridFusionFilter(
        InteriorFilter=STAPLEImageFilter(), BoundaryFilter=LabelVotingImageFilter(), BandWidth=1.6
    )
    hybrid.Execute(images)
    vote = MajorityVoteFilter().Execute(masks)
    wanted = near_contour(vote, 1.6, (3.0, 0.5))
    assert hybrid.GetBandVoxels() == np.count_nonzero(wanted)
    assert tuple(hybrid.GetLabelImage().GetSpacing()) == (0.5, 3.0)


def test_the_band_can_follow_the_interior_fuser(masks):
    generous = MajorityVoteFilter(Threshold=0.2, TieRule="background")
    hybrid = HybridFusionFilter(
        InteriorFilter=generous,
        BoundaryFilter=MajorityVoteFilter(),
        BandContour="interior",
        BandWidth=1.0,
    )
    hybrid.Execute(masks)
    interior = hybrid.GetInteriorResult().label_image()
    wanted = near_contour(interior, 1.0, (1.0, 1.0))
    assert hybrid.GetBandVoxels() == np.count_nonzero(wanted)


@pytest.mark.parametrize(("width", "wanted"), [(0.0, "Interior"), (1e5, "Boundary")])
def test_no_band_and_an_endless_band_leave_one_fuser(masks, width, wanted):
    hybrid = HybridFusionFilter(
        InteriorFilter=MajorityVoteFilter(), BoundaryFilter=STAPLEImageFilter(), BandWidth=width
    )
    hybrid.Execute(masks)
    alone = getattr(hybrid, f"Get{wanted}Result")()
    np.testing.assert_array_equal(hybrid.GetLabelImage(), alone.label_image())
    np.testing.assert_array_equal(hybrid.GetProbabilityImage(1), alone.probability_image(1))


def test_the_vote_and_the_consensus_are_the_default_fusers(masks):
    made = HybridFusionFilter(InteriorFilter=MajorityVoteFilter(), BoundaryFilter=ConsensusFilter())
    np.testing.assert_array_equal(HybridFusionFilter().Execute(masks), made.Execute(masks))
    assert isinstance(made.GetBoundaryFilter(), ConsensusFilter)
    assert HybridFusionFilter().GetInteriorFilter() is None


def test_fusers_are_given_back_as_they_were_with_their_measurements(masks):
    mask = np.ones_like(masks[0])
    staple = STAPLEImageFilter(MaximumIterations=7)
    hybrid = HybridFusionFilter(InteriorFilter=staple, MaskImage=mask, NumberOfThreads=1)
    before = repr(staple)
    hybrid.Execute(masks)
    assert repr(staple) == before
    assert staple.GetMaskImage() is None
    assert len(hybrid.GetInteriorResult()["Sensitivity"]) == len(masks)


def test_the_hybrids_mask_and_missing_label_hold_for_both_fusers(masks):
    rng = np.random.default_rng(0)
    mask = (rng.random(masks[0].shape) < 0.7).astype(np.uint8)
    gappy = [np.where(rng.random(m.shape) < 0.1, 9, m).astype(np.uint8) for m in masks]
    common = {"MaskImage": mask, "MissingLabel": 9}
    hybrid = HybridFusionFilter(
        InteriorFilter=MajorityVoteFilter(), BoundaryFilter=STAPLEImageFilter(), **common
    )
    fused = hybrid.Execute(gappy)
    alone = [fuser(**common) for fuser in (MajorityVoteFilter, STAPLEImageFilter)]
    answers = []
    for fuser in alone:
        fuser.Execute(gappy)
        answers.append(fuser.GetLabelImage())
    assert ((fused == answers[0]) | (fused == answers[1])).all()
    assert not fused[mask == 0].any()
    assert not hybrid.GetProbabilityImage(1)[mask == 0].any()


def test_outside_a_mask_there_is_background_even_if_no_rater_uses_it():
    labels = [np.array([[1, 2, 2, 1, 1]], np.uint8)] * 3
    mask = np.array([[1, 1, 1, 1, 0]], np.uint8)
    hybrid = HybridFusionFilter(
        InteriorFilter=MajorityVoteFilter(), BoundaryFilter=MajorityVoteFilter(), MaskImage=mask
    )
    assert hybrid.Execute(labels).tolist() == [[1, 2, 2, 1, 0]]


def test_a_binary_fuser_answers_background_where_it_knows_no_label(label_maps):
    hybrid = HybridFusionFilter(
        InteriorFilter=STAPLEImageFilter(), BoundaryFilter=LabelVotingImageFilter(), BandWidth=0.0
    )
    fused = hybrid.Execute(label_maps)
    assert set(np.unique(fused)) == {0, 1}
    assert not hybrid.GetProbabilityImage(4).any()


def test_undecided_voxels_stay_undecided():
    one, other = np.array([[0, 1, 1, 1]], np.uint8), np.array([[0, 0, 1, 1]], np.uint8)
    hybrid = HybridFusionFilter(
        InteriorFilter=MajorityVoteFilter(),
        BoundaryFilter=MajorityVoteFilter(),
        LabelForUndecidedPixels=7,
    )
    assert hybrid.Execute([one, other]).tolist() == [[0, 7, 1, 1]]


def test_a_hybrid_can_be_part_of_a_hybrid_but_not_of_itself(masks):
    inner = HybridFusionFilter(
        InteriorFilter=MajorityVoteFilter(), BoundaryFilter=STAPLEImageFilter(), BandWidth=1.0
    )
    outer = HybridFusionFilter(InteriorFilter=inner, BoundaryFilter=SIMPLEFilter(), BandWidth=1.0)
    outer.Execute(masks)
    outer.SetInteriorFilter(outer)
    with pytest.raises(ParameterError, match="InteriorFilter must be another filter, got the fil"):
        outer.Execute(masks)


@pytest.mark.parametrize("wrong", ["no such method", "staple", 3, MajorityVoteFilter])
def test_what_is_no_fuser_is_refused(wrong):
    with pytest.raises(ParameterError, match=r"InteriorFilter must be a label fusion filter.* got"):
        HybridFusionFilter(InteriorFilter=wrong)


@pytest.mark.parametrize("way", [lambda f: pickle.loads(pickle.dumps(f)), copy.deepcopy])
def test_pickling_keeps_the_fusers_and_their_parameters(masks, way):
    hybrid = HybridFusionFilter(
        InteriorFilter=MajorityVoteFilter(Threshold=0.3), BoundaryFilter=SIMPLEFilter(Deviations=1)
    )
    twin = way(hybrid)
    assert twin.GetInteriorFilter().GetThreshold() == 0.3
    assert twin.GetBoundaryFilter().GetDeviations() == 1
    np.testing.assert_array_equal(twin.Execute(masks), hybrid.Execute(masks))


def test_printing_shows_the_fusers(masks):
    hybrid = HybridFusionFilter(InteriorFilter=MajorityVoteFilter(Threshold=0.3))
    assert "InteriorFilter: MajorityVoteFilter(Threshold=0.3)" in str(hybrid)
    assert "BoundaryFilter: None" in str(hybrid)


def test_abort_reaches_the_fuser_at_work(masks):
    staple = STAPLEImageFilter()
    hybrid = HybridFusionFilter(InteriorFilter=staple, BoundaryFilter=MajorityVoteFilter())
    seen: list[int] = []
    staple.AddCommand(sitk.sitkIterationEvent, lambda: seen.append(staple.GetElapsedIterations()))
    staple.AddCommand(sitk.sitkIterationEvent, hybrid.Abort)
    with pytest.raises(ProcessAborted, match="HybridFusionFilter"):
        hybrid.Execute(masks)
    assert seen == [1]


def test_both_function_forms_take_filters(masks):
    one = itk_consensus.HybridFusion(
        masks, interiorFilter=STAPLEImageFilter(), boundaryFilter=MajorityVoteFilter()
    )
    other = itk_consensus.hybrid_fusion_filter(
        *masks, interior_filter=STAPLEImageFilter(), boundary_filter=MajorityVoteFilter()
    )
    np.testing.assert_array_equal(one, other)


def test_progress_of_the_fuser_at_work_is_the_hybrids() -> None:
    heard: list[float] = []
    boundary = itk_consensus.SpatialSTAPLEFilter(MaximumIterations=3)
    hybrid = itk_consensus.HybridFusionFilter(BoundaryFilter=boundary)
    hybrid.AddCommand(sitk.sitkProgressEvent, lambda: heard.append(boundary.GetProgress()))
    rng = np.random.default_rng(0)
    hybrid.Execute([rng.integers(0, 2, (6, 7, 8)).astype(np.uint8) for _ in range(3)])
    assert any(0.5 < share < 1 for share in heard)
    assert not boundary.HasCommand(sitk.sitkProgressEvent)


def test_a_fuser_with_another_foreground_does_not_get_the_hybrids_votes(masks):
    """Patterns used to be shared only by labels 0 and 1, regardless of which is the foreground."""
    staple = STAPLEImageFilter(ForegroundValue=0)
    hybrid = HybridFusionFilter(InteriorFilter=staple, BoundaryFilter=ConsensusFilter())
    hybrid.Execute(masks)
    alone = STAPLEImageFilter(ForegroundValue=0)
    alone.Execute(masks)
    assert hybrid.GetInteriorResult()["Sensitivity"] == alone.GetSensitivity()
    vote = MajorityVoteFilter()
    vote.Execute(masks)
    np.testing.assert_array_equal(hybrid.votes.patterns, vote.votes.patterns)


def test_a_fuser_with_a_mask_of_its_own_keeps_it_to_itself(masks):
    mask = np.zeros(masks[0].shape, np.uint8)
    mask[2:-2, 2:-2] = 1
    staple = STAPLEImageFilter(MaskImage=mask)
    hybrid = HybridFusionFilter(InteriorFilter=MajorityVoteFilter(), BoundaryFilter=staple)
    hybrid.Execute(masks)
    boundary = hybrid.GetBoundaryResult().case.patterns
    assert boundary.number_of_voxels == np.count_nonzero(mask)
    assert hybrid.votes.number_of_voxels == mask.size


def test_patterns_are_made_once_for_all(masks):
    simple, consensus = SIMPLEFilter(), ConsensusFilter()
    hybrid = HybridFusionFilter(InteriorFilter=simple, BoundaryFilter=consensus)
    hybrid.Execute(masks)
    boundary, interior = hybrid.GetBoundaryResult(), hybrid.GetInteriorResult()
    assert interior.case.patterns is boundary.case.patterns
    assert hybrid.votes is boundary.case.patterns


# -- a precomputed interior ----------------------------------------------------------------------


def blob(masks: list[np.ndarray]) -> np.ndarray:
    """Return a mask unlike any rater's: the vote, mirrored."""
    return MajorityVoteFilter(TieRule="background").Execute(masks)[::-1, ::-1].copy()


def voxels(image) -> np.ndarray:
    return sitk.GetArrayFromImage(image) if isinstance(image, sitk.Image) else np.asarray(image)


@pytest.mark.parametrize("family", [np.asarray, sitk.GetImageFromArray, itk.image_from_array])
def test_a_label_image_is_the_interior_and_the_fuser_has_the_band(masks, family):
    images, inside = [family(mask) for mask in masks], blob(masks)
    hybrid = HybridFusionFilter(
        InteriorImage=family(inside), BoundaryFilter=STAPLEImageFilter(), BandWidth=2.0
    )
    hybrid.Execute(images)
    vote = MajorityVoteFilter().Execute(masks)
    band = near_contour(vote, 2.0, (1.0, 1.0))
    alone = STAPLEImageFilter()
    alone.Execute(masks)
    wanted = np.where(band, alone.GetLabelImage(), inside)
    np.testing.assert_array_equal(voxels(hybrid.GetLabelImage()), wanted)
    shares = np.where(band, alone.GetProbabilityImage(), inside)
    np.testing.assert_array_equal(voxels(hybrid.GetProbabilityImage()), shares)
    made = hybrid.GetInteriorResult()
    np.testing.assert_array_equal(voxels(made.label_image()), inside)


def test_a_probability_image_is_the_interior_and_can_have_the_contour(masks):
    foreground = np.clip(blob(masks) * 0.6 + 0.2, 0, 1).astype(np.float32)
    hybrid = HybridFusionFilter(
        InteriorImage=foreground,
        BoundaryFilter=STAPLEImageFilter(),
        BandContour="interior",
        BandWidth=1.0,
    )
    hybrid.Execute(masks)
    band = near_contour(blob(masks), 1.0, (1.0, 1.0))
    assert hybrid.GetBandVoxels() == np.count_nonzero(band)
    np.testing.assert_array_equal(hybrid.GetProbabilityImage()[~band], foreground[~band])
    np.testing.assert_allclose(hybrid.GetProbabilityImage(0)[~band], 1 - foreground[~band])
    np.testing.assert_array_equal(hybrid.GetLabelImage()[~band], blob(masks)[~band])


def test_an_interior_image_is_background_outside_the_mask(masks):
    mask = np.zeros(masks[0].shape, np.uint8)
    mask[2:-2, 2:-2] = 1
    hybrid = HybridFusionFilter(InteriorImage=np.ones_like(masks[0]), MaskImage=mask)
    assert not hybrid.Execute(masks)[mask == 0].any()
    assert not hybrid.GetProbabilityImage()[mask == 0].any()
    assert not hybrid.GetUncertaintyImage()[mask == 0].any()
    assert not hybrid.GetInteriorResult().label_image()[mask == 0].any()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"InteriorFilter": MajorityVoteFilter()}, "replaces InteriorFilter"),
        ({"Image": np.zeros((4, 4))}, "is only used with an InteriorFilter that reads it"),
        ({"InteriorImage": np.full((24, 28), 7, np.uint8)}, r"labels of the raters, \[0, 1\]"),
        ({"InteriorImage": np.full((24, 28), 1.5)}, "must hold probabilities"),
        ({"InteriorImage": np.zeros((3, 28))}, "InteriorImage"),
    ],
)
def test_an_interior_that_is_none_is_refused(masks, change, words):
    shape = masks[0].shape
    given = {"InteriorImage": np.zeros(shape, np.uint8)} | {
        name: np.resize(value, shape) if getattr(value, "shape", None) == (24, 28) else value
        for name, value in change.items()
    }
    with pytest.raises((ParameterError, InputError), match=words):
        HybridFusionFilter(**given).Execute(masks)


def test_one_probability_image_does_not_tell_three_labels_apart(label_maps):
    hybrid = HybridFusionFilter(InteriorImage=np.zeros(label_maps[0].shape))
    with pytest.raises(ParameterError, match="must be a label image if raters have"):
        hybrid.Execute(label_maps)
