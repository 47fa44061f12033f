"""The front door chooses by its written rules and says why."""

from __future__ import annotations

import numpy as np
import pytest

import itk_consensus
from itk_consensus.algorithms.reliability_vote import informedness
from itk_consensus.errors import ParameterError
from itk_consensus.labels.decision_patterns import DecisionPatterns
from itk_consensus.labels.label_stack import LabelStack
from itk_consensus.labels.overlap import dice
from itk_consensus.simulation import (
    ONE_GOOD_FOUR_POOR,
    disc_phantom,
    heterogeneous_raters,
    multilabel_raters,
    organs_phantom,
    twelve_settings,
)


def consensus_of(raters, **parameters):
    consensus = itk_consensus.ConsensusFilter(**parameters)
    return consensus, consensus.Execute([np.asarray(rater, np.uint8) for rater in raters])


@pytest.fixture
def unequal():
    truth = disc_phantom(12, shape=(48, 48)).truth
    return truth, heterogeneous_raters(truth, 4, ONE_GOOD_FOUR_POOR)


def test_two_raters_are_not_weighed(unequal):
    consensus, _ = consensus_of(unequal[1][:2])
    assert consensus.GetChoice() == "smoothed vote"
    assert "nobody can say who is right" in consensus.GetExplanation()


def test_a_structure_thinner_than_the_smoothing_is_not_smoothed_away():
    vessel = np.zeros((40, 40), np.uint8)
    vessel[20, 5:35] = 1
    consensus, fused = consensus_of([vessel] * 4)
    assert consensus.GetChoice() == "weighted vote"
    assert "smoothing would erase" in consensus.GetExplanation()
    np.testing.assert_array_equal(fused, vessel)


def test_the_better_rater_gets_the_larger_weight(unequal):
    truth, raters = unequal
    consensus, fused = consensus_of(raters)
    weights = consensus.GetEstimatedRaterWeights()
    assert np.argmax(weights) == 0
    assert sum(weights) == pytest.approx(len(raters))
    weighted = consensus.GetCandidateImage("weighted smoothed vote")
    smoothed = consensus.GetCandidateImage("smoothed vote")
    assert dice(weighted, truth) >= dice(smoothed, truth)
    assert consensus.GetChoice() == "corrected vote"
    assert dice(fused, truth) >= dice(smoothed, truth)


def test_every_candidate_is_at_hand_and_the_choice_stays(unequal):
    consensus, fused = consensus_of(unequal[1])
    maps = {name: consensus.GetCandidateImage(name) for name in consensus.GetCandidateNames()}
    assert set(maps) >= {"vote", "smoothed vote", "weighted smoothed vote", "STAPLE (Advanced)"}
    np.testing.assert_array_equal(maps[consensus.GetChoice()], fused)
    np.testing.assert_array_equal(consensus.GetLabelImage(), fused)
    with pytest.raises(ParameterError, match="candidate must be one of"):
        consensus.GetCandidateImage("best")


def test_the_smoothed_candidate_is_the_smoothed_majority_vote(unequal):
    consensus, _ = consensus_of(unequal[1], SmoothingSigma=1.5)
    expected = itk_consensus.MajorityVote(
        list(unequal[1].astype(np.uint8)), smoothingSigma=1.5, tieRule="prior"
    )
    np.testing.assert_array_equal(consensus.GetCandidateImage("smoothed vote"), expected)


def test_many_labels_are_fused_too():
    truth = organs_phantom((40, 40), 3).truth
    raters = multilabel_raters(truth, 5, 1)
    _, fused = consensus_of(raters)
    vote = itk_consensus.LabelVoting([rater.astype(np.uint8) for rater in raters])
    assert (fused == truth).mean() > (vote == truth).mean()


def test_informedness_is_youdens_index_of_two_labels(unequal):
    _, raters = unequal
    patterns = DecisionPatterns.from_stack(LabelStack.binary(list(raters), 1))
    decision = (patterns.votes()[:, 1] >= 3).astype(np.int64)
    t = patterns.expand(decision).astype(bool)
    expected = [
        (r[t].sum() + 2) / (t.sum() + 2) + ((~r[~t]).sum() + 2) / ((~t).sum() + 2) - 1
        for r in raters.astype(bool)
    ]
    np.testing.assert_allclose(informedness(patterns, decision), expected, rtol=1e-12)


def test_diagnostics_include_the_raters_performance(unequal):
    consensus, _ = consensus_of(unequal[1])
    rules = {finding.rule for finding in consensus.GetDiagnostics().findings}
    assert {"rater under one half", "correlated raters", "volume against vote"} <= rules


@pytest.mark.slow
def test_the_default_choice_is_on_average_no_worse_than_the_smoothed_vote():
    gains = []
    for setting in twelve_settings(range(900, 924)):
        for truth, raters in setting.cases:
            consensus, fused = consensus_of(raters)
            smoothed = consensus.GetCandidateImage("smoothed vote")
            gains.append(dice(fused, truth) - dice(smoothed, truth))
    assert np.mean(gains) > 0
