"""Fractional votes: equal to label votes for 0 and 1, and to the formulas otherwise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter
from whole_volume_votes import smooth

from itk_consensus.methods.staple.staple import StapleSettings, staple
from itk_consensus.methods.staple.votes_without_patterns import CountedModel, SoftTable
from itk_consensus.methods.voting.corrected_vote import corrected_vote
from itk_consensus.methods.voting.majority_vote import majority_vote
from itk_consensus.methods.voting.smoothed_vote import smoothed_vote
from itk_consensus.methods.voting.soft_vote import SoftShares
from itk_consensus.votes.class_probabilities import SoftVotes
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.label_stack import LabelStack

SHAPE = (11, 12, 13)
SPACING = (2.0, 1.0, 1.0)


def labels(number: int = 2, raters: int = 4, seed: int = 0) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    field = gaussian_filter(rng.normal(size=SHAPE), 1.5)
    edges = np.quantile(field, np.linspace(0, 1, number + 1)[1:-1])
    noisy = [field + 0.05 * gaussian_filter(rng.normal(size=SHAPE), 0.5) for _ in range(raters)]
    return [np.searchsorted(edges, one).astype(np.uint8).reshape(SHAPE) for one in noisy]


def certain(maps: list[np.ndarray], number: int) -> list[list[np.ndarray]]:
    return [[(one == label).astype(np.float64) for label in range(number)] for one in maps]


def incomplete(seed: int = 5) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    mask = (rng.random(SHAPE) < 0.9).astype(np.uint8)
    return {"mask": mask, "rater_masks": [(rng.random(SHAPE) < 0.8) for _ in range(4)]}


@pytest.mark.parametrize("number", [2, 4])
@pytest.mark.parametrize("gaps", [{}, incomplete()], ids=["complete", "gaps and mask"])
@pytest.mark.parametrize("weights", [None, np.array([1.0, 2.0, 0.5, 1.5])], ids=["equal", "own"])
def test_certain_raters_get_the_votes_of_masks(number: int, gaps: Any, weights: Any) -> None:
    maps = labels(number)
    patterns = DecisionPatterns.from_stack(LabelStack.multilabel(maps, **gaps))
    opinions = certain(maps, number)
    where = gaps.get("rater_masks"), gaps.get("mask")
    plain = SoftShares.of(SoftVotes(opinions, *where), weights=weights)
    smooth_votes = SoftShares.of(
        SoftVotes(opinions, *where), weights=weights, sigma=1.2, spacing=SPACING
    )
    voted = majority_vote(patterns, weights=weights, threshold=0.5)
    np.testing.assert_array_equal(plain.plain(0.5, "undecided").volume(), voted.volume())
    hard = smoothed_vote(patterns, 1.2, SPACING, weights=weights).fusion()
    soft = smooth_votes.plain(None, "undecided")
    np.testing.assert_array_equal(soft.volume(), hard.volume())
    corrected = corrected_vote(patterns, 1.2, SPACING, weights=weights)
    soft_corrected, mixing = smooth_votes.corrected()
    np.testing.assert_allclose(mixing, corrected.mixing, atol=1e-9)
    np.testing.assert_array_equal(soft_corrected.volume(), corrected.decision())
    for label in range(number):
        for one, other in ((soft, hard), (soft_corrected, corrected.fusion())):
            np.testing.assert_allclose(one.probability(label), other.probability(label), atol=1e-9)


@pytest.mark.parametrize("gaps", [{}, incomplete()], ids=["complete", "gaps and mask"])
@pytest.mark.parametrize("variant", ["basic", "advanced"])
def test_certain_raters_get_the_staple_of_masks(gaps: Any, variant: str) -> None:
    maps, settings = labels(), StapleSettings().for_variant(variant)
    stack = LabelStack.binary(maps, 1, **gaps)
    hard = staple(DecisionPatterns.from_stack(stack), settings)
    soft = staple(SoftVotes(certain(maps, 2), gaps.get("rater_masks"), gaps.get("mask")), settings)
    np.testing.assert_allclose(soft.theta, hard.theta, atol=1e-6)
    np.testing.assert_allclose(soft.prior, hard.prior, atol=1e-6)
    assert soft.log_likelihood == pytest.approx(hard.log_likelihood, abs=1e-5)
    np.testing.assert_allclose(soft.predictive_values, hard.predictive_values, atol=1e-6)
    volume = hard.patterns.expand(hard.foreground)
    np.testing.assert_allclose(soft.fusion.probability(1), volume, atol=1e-5)


def uncertain(seed: int = 2) -> list[np.ndarray]:
    return [gaussian_filter(one.astype(float), 0.8) for one in labels(seed=seed)]


def test_one_step_of_staple_is_the_formula_voxel_by_voxel() -> None:
    foreground = np.stack(uncertain())
    table = SoftTable.of(SoftVotes([(1 - p, p) for p in foreground]))
    sensitivity, specificity = np.array([0.9, 0.8, 0.7, 0.95]), np.array([0.85, 0.9, 0.99, 0.6])
    theta = np.array(
        [[[s, 1 - q], [1 - s, q]] for s, q in zip(specificity, sensitivity, strict=True)]
    )[:, :, None, :]
    prior = np.array([[0.6, 0.4]])
    step, _, log_likelihood = CountedModel(table, np.zeros((2, 2)), False).step(theta, prior)
    p = foreground.reshape(4, -1)
    f = 0.4 * np.prod(sensitivity[:, None] ** p * (1 - sensitivity[:, None]) ** (1 - p), axis=0)
    b = 0.6 * np.prod(specificity[:, None] ** (1 - p) * (1 - specificity[:, None]) ** p, axis=0)
    truth = f / (f + b)
    np.testing.assert_allclose(step[:, 1, 0, 1], (p * truth).sum(1) / truth.sum(), rtol=1e-10)
    np.testing.assert_allclose(
        step[:, 0, 0, 0], ((1 - p) * (1 - truth)).sum(1) / (1 - truth).sum(), rtol=1e-10
    )
    assert log_likelihood[0] == pytest.approx(np.log(f + b).sum(), rel=1e-10)


def test_em_on_fractions_never_lowers_the_likelihood() -> None:
    opinions = [(1 - p, p) for p in uncertain()]
    trace = staple(SoftVotes(opinions), StapleSettings()).starts.trace[:, 0]
    assert len(trace) > 3
    assert (np.diff(trace) > -1e-8).all()


def test_the_smoothed_soft_vote_is_the_smoothed_mean() -> None:
    probabilities = uncertain()
    opinions = [(1 - p, p) for p in probabilities]
    votes = SoftShares.of(SoftVotes(opinions), sigma=1.5, spacing=SPACING)
    expected = smooth(np.mean(probabilities, axis=0), 1.5, SPACING)
    fusion = votes.plain(None, "lowest")
    np.testing.assert_allclose(fusion.probability(1), expected, atol=1e-12)
    np.testing.assert_array_equal(fusion.volume(), expected > 0.5)
