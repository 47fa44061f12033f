from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import SimpleITK as sitk

import itk_consensus as ic
from itk_consensus.methods.voting.corrected_vote import corrected_vote
from itk_consensus.methods.voting.majority_vote import majority_vote
from itk_consensus.methods.voting.smoothed_vote import smoothed_vote
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.label_stack import LabelStack


def some_raters(labels=6, raters=5, shape=(9, 10, 11)):
    rng = np.random.default_rng(11)
    truth = rng.integers(0, labels, shape).astype(np.uint8)
    return [
        np.where(rng.random(shape) < 0.4, rng.integers(0, labels, shape), truth).astype(np.uint8)
        for _ in range(raters)
    ]


FILTERS = [
    ic.LabelVotingImageFilter(),
    ic.MajorityVoteFilter(),
    ic.MajorityVoteFilter(Threshold=0.5, RaterWeights=(1, 2, 0.5, 1, 0), TieRule="highest"),
    ic.MajorityVoteFilter(TieRule="prior", MissingLabel=3),
]


@pytest.mark.parametrize("fuser", FILTERS)
@pytest.mark.parametrize("as_image", [np.copy, sitk.GetImageFromArray])
def test_what_is_asked_for_later_does_not_follow_changes_of_the_inputs(fuser, as_image):
    images = [as_image(rater) for rater in some_raters()]
    first = fuser.Execute(images)
    for image in images:
        if isinstance(image, np.ndarray):
            image[...] = 0
        else:
            image[:, :, :] = 0
    as_array = np.asarray if as_image is np.copy else sitk.GetArrayFromImage
    np.testing.assert_array_equal(as_array(fuser.GetLabelImage()), as_array(first))
    expected = vote_on_patterns(fuser)
    for index, label in enumerate(fuser.GetLabels()):
        shares = expected.patterns.expand(expected.probabilities[:, index].copy())
        ours = as_array(fuser.GetProbabilityImage(label))
        np.testing.assert_allclose(ours, shares, rtol=0, atol=1e-15)
    assert fuser.GetDiagnostics()["undecided"].value == np.mean(
        np.repeat(expected.decision, expected.patterns.counts) == -1
    )


def vote_on_patterns(fuser):
    missing = fuser.MissingLabel
    patterns = DecisionPatterns.from_stack(
        LabelStack.multilabel(some_raters(), missing_label=missing)
    )
    if isinstance(fuser, ic.LabelVotingImageFilter):
        return majority_vote(patterns)
    weights = fuser.RaterWeights
    return majority_vote(
        patterns,
        weights=None if weights is None else np.array(weights),
        threshold=fuser.Threshold,
        ties=fuser.TieRule,
    )


@pytest.mark.parametrize("fuser", FILTERS)
def test_labels_equal_the_vote_on_patterns_for_any_number_of_threads(fuser):
    expected = vote_on_patterns(fuser)
    for threads in (1, 2, 7):
        fuser.NumberOfThreads = threads
        fuser.Execute(some_raters())
        np.testing.assert_array_equal(
            fuser.fused.fusion.volume(), expected.patterns.expand(expected.decision)
        )


def test_the_disagreement_of_the_votes_sees_all_labels():
    fuser = ic.LabelVotingImageFilter()
    fuser.Execute(some_raters())
    unsure = fuser.GetUncertaintyImage("disagreement")
    shares = [fuser.GetProbabilityImage(label) for label in fuser.GetLabels()]
    np.testing.assert_array_equal(unsure, (1 - np.max(shares, axis=0)).astype(np.float32))


by_prior = partial(smoothed_vote, ties="prior")
SPATIAL = [
    (ic.MajorityVoteFilter, {"SmoothingSigma": 1.0, "TieRule": "prior"}, by_prior, 1e-6),
    (ic.CorrectedVoteFilter, {}, corrected_vote, 1e-4),
]


@pytest.mark.parametrize(("kind", "settings", "on_patterns", "tolerance"), SPATIAL)
@pytest.mark.parametrize("more", [{}, {"MissingLabel": 3}, {"RaterWeights": (1, 2, 0.5, 1, 0)}])
def test_smoothed_votes_of_the_stack_are_those_of_its_patterns(
    kind, settings, on_patterns, tolerance, more
):
    raters = some_raters()
    fuser = kind(**settings, **more)
    answers = []
    for threads in (1, 2, 7):
        fuser.SetNumberOfThreads(threads)
        answers.append(fuser.Execute(raters))
    np.testing.assert_array_equal(answers[0], answers[1])
    np.testing.assert_array_equal(answers[0], answers[2])
    stack = LabelStack.multilabel(some_raters(), missing_label=more.get("MissingLabel"))
    weights = np.array(more["RaterWeights"]) if "RaterWeights" in more else None
    patterns = DecisionPatterns.from_stack(stack)
    expected = on_patterns(patterns, 1.0, (1.0, 1.0, 1.0), weights=weights).fusion()
    np.testing.assert_array_equal(answers[0], stack.labels[expected.volume()])
    for rater in raters:
        rater[...] = 0
    for index, label in enumerate(fuser.GetLabels()):
        ours = fuser.GetProbabilityImage(label)
        np.testing.assert_allclose(ours, expected.probability(index), rtol=0, atol=tolerance)
