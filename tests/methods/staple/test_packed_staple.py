from __future__ import annotations

import numpy as np
import pytest
import SimpleITK as sitk

import itk_consensus as ic
from itk_consensus.methods.staple.staple import StapleSettings, staple
from itk_consensus.methods.staple.votes_without_patterns import PackedFusion
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.label_stack import LabelStack
from itk_consensus.votes.packed_votes import PackedVotes


def noisy_raters(number=20, shape=(40, 50, 60), seed=7):
    rng = np.random.default_rng(seed)
    truth = rng.random(shape) < 0.3
    return [(truth ^ (rng.random(shape) < 0.2 + 0.01 * j)).astype(np.uint8) for j in range(number)]


SETTINGS = [
    StapleSettings(),
    StapleSettings().for_variant("advanced"),
    StapleSettings(prior=0.2, damping=0.3),
]


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("masked", [False, True])
def test_packed_votes_give_the_answer_of_patterns(settings, masked):
    raters = [*noisy_raters(11, (9, 10, 11)), None]
    mask = np.random.default_rng(1).random((9, 10, 11)) < 0.7 if masked else None
    stack = LabelStack.binary(raters, 1, mask=mask)
    patterns = DecisionPatterns.from_stack(stack)
    expected = staple(patterns, settings)
    ours = staple(PackedVotes.from_stack(stack), settings)
    assert ours.iterations == expected.iterations
    np.testing.assert_allclose(ours.theta, expected.theta, rtol=1e-9)
    np.testing.assert_allclose(ours.prior, expected.prior, rtol=1e-9)
    np.testing.assert_allclose(ours.log_posterior, expected.log_posterior, rtol=1e-12)
    np.testing.assert_allclose(ours.predictive_values, expected.predictive_values, rtol=1e-9)
    np.testing.assert_array_equal(
        ours.fusion.volume(), patterns.expand(expected.decision.astype(np.int32), outside=-2)
    )
    for label in (0, 1):
        found = np.empty(stack.shape)
        ours.fusion.write_probability(label, found)
        wanted = patterns.expand(np.ascontiguousarray(expected.posterior[:, label]))
        np.testing.assert_allclose(found, wanted, rtol=1e-8, atol=1e-15)
    table = ours.fusion.as_table(patterns)
    np.testing.assert_array_equal(table.decision, expected.decision)


def test_many_noisy_raters_are_fused_without_patterns_and_as_simpleitk_does():
    images = [sitk.GetImageFromArray(rater) for rater in noisy_raters()]
    fuser, theirs = ic.STAPLEImageFilter(), sitk.STAPLEImageFilter()
    found, expected = fuser.Execute(images), theirs.Execute(images)
    assert isinstance(fuser.fused.fusion, PackedFusion)
    np.testing.assert_allclose(
        sitk.GetArrayFromImage(found), sitk.GetArrayFromImage(expected), atol=1e-9
    )
    assert fuser.GetElapsedIterations() == theirs.GetElapsedIterations()
    np.testing.assert_allclose(fuser.GetSensitivity(), theirs.GetSensitivity(), atol=1e-9)
    for image in images:
        image[:, :, :] = 0
    label = sitk.GetArrayFromImage(fuser.GetLabelImage())
    np.testing.assert_array_equal(label, sitk.GetArrayFromImage(expected) >= 0.5)
    assert fuser.GetDiagnostics()["few raters"].value == 20
    share = fuser.GetDiagnostics()["prevalence"].value
    assert share == pytest.approx(label.mean())


def test_few_patterns_are_still_used_where_raters_are_many():
    raters = [np.zeros((20, 20, 20), np.uint8) for _ in range(20)]
    for index, rater in enumerate(raters):
        rater[5:15, 5:15, 5 + index // 7 : 15] = 1
    fuser = ic.STAPLEImageFilter()
    fuser.Execute(raters)
    assert not isinstance(fuser.fused.fusion, PackedFusion)


def test_threads_do_not_show_in_the_result():
    raters = noisy_raters()
    results = [ic.STAPLE(raters, numberOfThreads=threads) for threads in (1, 2, 7)]
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])


def test_what_was_packed_can_be_unpacked():
    raters = noisy_raters(10, (3, 5, 7))
    raters[4] = None
    stack = PackedVotes.from_stack(LabelStack.binary(raters, 1)).to_stack()
    for now, then in zip(stack.arrays, raters, strict=True):
        assert (now is None) == (then is None)
        if then is not None:
            np.testing.assert_array_equal(now, then)
