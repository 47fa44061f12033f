"""Consensus selects by documented rules, gives its reasons in numbers, and lists its changes."""

from __future__ import annotations

import numpy as np
import pytest
import SimpleITK as sitk
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.ndimage import label

import itk_consensus
from examples.simulation import (
    ONE_GOOD_FOUR_POOR,
    SLIP_SETTINGS,
    STRUCTURE_SETTINGS,
    disc_phantom,
    ellipsoid_mask,
    heterogeneous_raters,
    multilabel_raters,
    organs_phantom,
    twelve_settings,
)
from itk_consensus.core.errors import ParameterError
from itk_consensus.methods.consensus.shared_consensus import shared_consensus
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.label_stack import LabelStack
from itk_consensus.votes.overlap import dice


def consensus_of(raters, **parameters):
    consensus = itk_consensus.ConsensusFilter(**parameters)
    return consensus, consensus.Execute([np.asarray(rater, np.uint8) for rater in raters])


@pytest.fixture
def unequal():
    truth = disc_phantom(12, shape=(48, 48)).truth
    return truth, heterogeneous_raters(truth, 4, ONE_GOOD_FOUR_POOR)


def test_one_rater_is_believed(unequal):
    consensus, fused = consensus_of(unequal[1][:1])
    np.testing.assert_array_equal(fused, unequal[1][0])
    assert consensus.GetChoice() == "the only rater"
    assert consensus.GetExplanation().startswith("One rater annotated")
    assert consensus.GetResolution() == {}


def test_a_rater_who_is_missing_does_not_count(unequal):
    masks = [rater.astype(np.uint8) for rater in unequal[1]]
    with_missing, without = itk_consensus.ConsensusFilter(), itk_consensus.ConsensusFilter()
    fused = with_missing.Execute([masks[0], None, *masks[1:]])
    np.testing.assert_array_equal(fused, without.Execute(masks))
    assert with_missing.GetExplanation() == without.GetExplanation()


def test_two_raters_can_be_fused(unequal):
    consensus, fused = consensus_of(unequal[1][:2])
    assert consensus.GetChoice() == "coherence vote"
    assert dice(fused, unequal[0]) > dice(unequal[1][:2].all(axis=0), unequal[0])


def test_a_line_one_voxel_wide_is_not_smoothed_away():
    vessel = np.zeros((40, 40), np.uint8)
    vessel[20, 5:35] = 1
    other = vessel.copy()
    other[21, 5:9] = 1
    _, fused = consensus_of([vessel, vessel, vessel, other])
    np.testing.assert_array_equal(fused, vessel)


def test_the_filter_takes_the_shared_consensus_in_mm():
    case = STRUCTURE_SETTINGS["anisotropic noise"](1)
    images = [sitk.GetImageFromArray(rater.astype(np.uint8)) for rater in case.raters]
    for image in images:
        image.SetSpacing(case.spacing[::-1])
    patterns = DecisionPatterns.from_stack(LabelStack.binary(list(case.raters), 1))
    expected = shared_consensus(patterns, case.spacing)
    consensus = itk_consensus.ConsensusFilter()
    fused = sitk.GetArrayFromImage(consensus.Execute(images))
    np.testing.assert_array_equal(fused, expected.decision)
    assert 2 * consensus.GetResolution()[1].millimetres > min(case.spacing)


def test_copies_count_once_and_are_named():
    case = STRUCTURE_SETTINGS["colluding"](0)
    consensus, fused = consensus_of(case.raters)
    assert consensus.GetCopiedRaters() == ((0, 1, 2),)
    assert "Raters 0, 1 and 2 are nearly copies" in consensus.GetExplanation()
    vote = consensus.GetCandidateImage("vote")
    assert dice(fused, case.truth) > dice(vote, case.truth) + 0.05


def test_overlooked_lesions_are_added_and_counted():
    case = STRUCTURE_SETTINGS["missed lesions .45"](1)
    consensus, fused = consensus_of(case.raters)
    assert consensus.GetChoice() == "coherence vote with overlooked lesions"
    assert "lesions of label 1 that no majority found were added" in consensus.GetExplanation()
    vote = consensus.GetCandidateImage("vote")
    assert label(fused)[1] > label(vote)[1]
    assert dice(fused, case.truth) > dice(vote, case.truth)


def test_the_explanation_says_who_was_not_asked_and_what_is_absent():
    case = SLIP_SETTINGS["4 readers, one inverted"](1)
    consensus, _ = consensus_of(case.raters)
    assert (
        "Rater 0 marked a lot that no other rater did, and was left out"
        in consensus.GetExplanation()
    )
    consensus, fused = consensus_of(SLIP_SETTINGS["absent, 2 of 5 drew"](1).raters)
    assert "Label 1 is absent: 3 of 5 raters left it empty." in consensus.GetExplanation()
    assert not fused.any()


def test_findings_see_what_half_of_the_readers_left_empty():
    raters = SLIP_SETTINGS["absent, 2 of 5 drew"](1).raters
    consensus, _ = consensus_of(raters)
    assert consensus.GetDiagnostics()["presence"].severity == "note"
    assert not consensus.GetDiagnostics().fusion.concerns
    staple = itk_consensus.STAPLEImageFilter()
    staple.Execute([rater.astype(np.uint8) for rater in raters])
    finding = staple.GetDiagnostics()["presence"]
    assert finding.severity == "look"
    assert finding.what == (
        "3 of 5 readers drew nothing here (readers 2, 3 and 4); the result has it."
    )
    vote = itk_consensus.MajorityVoteFilter()
    vote.Execute([rater.astype(np.uint8) for rater in raters])
    assert not vote.GetDiagnostics().fusion.concerns


def test_findings_see_copies_that_decide():
    consensus, _ = consensus_of(STRUCTURE_SETTINGS["colluding"](1).raters)
    finding = consensus.GetDiagnostics()["near-identical raters"]
    assert finding.severity == "look"
    assert "which changes the result" in finding.what


def test_components_of_one_rater_only_are_counted():
    raters = np.zeros((5, 30, 60), np.uint8)
    raters[:, 5:15, 5:15] = 1
    raters[2, 20:24, 40:44] = 1
    consensus, fused = consensus_of(raters)
    assert "1 of 2 components was marked by one rater only" in consensus.GetExplanation()
    assert not fused[:, 30:].any()
    assert consensus.GetComponentsLost() == ()


def test_what_one_of_five_draws_is_not_taken_where_nothing_else_is():
    raters = np.zeros((5, 30, 60), np.uint8)
    raters[2, 10:20, 40:50] = 1
    assert not consensus_of(raters)[1].any()
    raters[4, 10:20, 10:20] = 1
    assert not consensus_of(raters)[1].any()


def test_lost_components_are_listed_with_their_place_in_mm():
    rng = np.random.default_rng(3)
    raters = (rng.random((3, 40, 40)) < 0.2).astype(np.uint8)
    raters[:, 8:30, 8:20] ^= 1
    images = [sitk.GetImageFromArray(rater) for rater in raters]
    for image in images:
        image.SetSpacing((0.5, 2.0))
        image.SetOrigin((10.0, -4.0))
        image.SetDirection((0.0, -1.0, 1.0, 0.0))
    consensus = itk_consensus.ConsensusFilter()
    fused = sitk.GetArrayFromImage(consensus.Execute(images))
    assert consensus.GetComponentsLost()
    for component in consensus.GetComponentsLost():
        index = images[0].TransformPhysicalPointToIndex(component.position)[::-1]
        assert raters[(slice(None), *index)].sum() >= 2
        assert not fused[index]
        assert component.millilitres == pytest.approx(component.voxels * 0.5 * 2.0 / 1000)
    assert "that more than half of the raters marked" in consensus.GetExplanation()


def pieces(mask: np.ndarray) -> list[np.ndarray]:
    """Return components of two or more voxels, connected by faces."""
    found, number = label(mask)
    masks = [found == index + 1 for index in range(number)]
    return [mask for mask in masks if mask.sum() > 1]


@st.composite
def noisy_raters(draw):
    shape = draw(st.sampled_from([(20, 24), (8, 12, 10)]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    truth = ellipsoid_mask(shape, [draw(st.floats(1, side / 2.5)) for side in shape])
    errors = draw(st.lists(st.floats(0, 0.3), min_size=1, max_size=6))
    return np.stack([truth ^ (rng.random(shape) < share) for share in errors])


@settings(max_examples=40)
@given(noisy_raters())
def test_no_component_of_a_majority_is_lost_unlisted(raters):
    consensus, fused = consensus_of(raters)
    lost = consensus.GetComponentsLost()
    gone = [piece for piece in pieces(raters.mean(axis=0) > 0.5) if not fused[piece].any()]
    places = {component.position for component in lost}
    # Components that touch at a corner are listed as one.
    assert sum(component.voxels for component in lost) >= sum(int(piece.sum()) for piece in gone)
    assert len(places) == len(lost)
    if len(raters) >= 5:
        assert all(fused[piece].any() for piece in pieces(raters.all(axis=0)))


def test_the_mask_bounds_the_answer(unequal):
    mask = np.zeros((48, 48), np.uint8)
    mask[:24] = 1
    consensus, fused = consensus_of(unequal[1], MaskImage=mask)
    assert fused[:24].any()
    assert not fused[24:].any()
    assert not consensus.GetProbabilityImage(1)[24:].any()
    assert not consensus.GetProbabilityImage(0)[24:].any()


def test_every_candidate_is_at_hand_and_the_choice_stays(unequal):
    consensus, fused = consensus_of(unequal[1])
    maps = {name: consensus.GetCandidateImage(name) for name in consensus.GetCandidateNames()}
    assert set(maps) >= {"vote", "smoothed vote", "corrected vote", "STAPLE (advanced)"}
    np.testing.assert_array_equal(maps[consensus.GetChoice()], fused)
    np.testing.assert_array_equal(consensus.GetLabelImage(), fused)
    with pytest.raises(ParameterError, match="candidate must be one of"):
        consensus.GetCandidateImage("best")


def test_candidates_are_what_the_filters_of_that_name_make(unequal):
    consensus, _ = consensus_of(unequal[1])
    images = list(unequal[1].astype(np.uint8))
    for name, expected in {
        "vote": itk_consensus.MajorityVote(images, tieRule="prior"),
        "smoothed vote": itk_consensus.MajorityVote(images, smoothingSigma=1.0, tieRule="prior"),
        "corrected vote": itk_consensus.CorrectedVote(images),
    }.items():
        np.testing.assert_array_equal(consensus.GetCandidateImage(name), expected)


def test_many_labels_are_fused_too():
    truth = organs_phantom((40, 40), 3).truth
    raters = multilabel_raters(truth, 5, 1)
    consensus, fused = consensus_of(raters)
    vote = itk_consensus.LabelVoting([rater.astype(np.uint8) for rater in raters])
    assert (fused == truth).mean() > (vote == truth).mean()
    assert set(consensus.GetResolution()) == {int(value) for value in np.unique(raters)}
    assert "at worst (label" in consensus.GetExplanation()


@pytest.mark.slow
def test_the_consensus_is_on_average_no_worse_than_the_corrected_vote():
    gains = []
    for setting in twelve_settings(range(900, 906)):
        for truth, raters in setting.cases:
            consensus, fused = consensus_of(raters)
            corrected = consensus.GetCandidateImage("corrected vote")
            gains.append(dice(fused, truth) - dice(corrected, truth))
    assert np.mean(gains) > 0
