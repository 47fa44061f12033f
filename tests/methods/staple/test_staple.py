from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from stacks import Drawn, drawn_stacks, encode

from itk_consensus.core.errors import ParameterError
from itk_consensus.fusing.iteration import StopRule
from itk_consensus.methods.staple.expectation_maximization import StartPlan
from itk_consensus.methods.staple.staple import StapleSettings, beta_pseudo_counts, staple
from itk_consensus.votes.decision_patterns import DecisionPatterns


@dataclass
class NaiveStaple:
    """STAPLE voxel by voxel, as in the paper: without patterns or logarithms.

    `votes` is (raters, voxels) of 0, 1 and NaN for "not annotated".
    """

    votes: np.ndarray
    settings: StapleSettings

    def run(self, iterations: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        marked, left = self.votes == 1, self.votes == 0
        given_votes = marked.sum(axis=0) + left.sum(axis=0)
        counted = np.ones(len(given_votes), bool)
        agreed = (marked.sum(axis=0) == given_votes) | (left.sum(axis=0) == given_votes)
        agreed &= given_votes > 0
        if self.settings.exclude_consensus:
            counted = ~agreed
        share = np.divide(
            marked.sum(axis=0), given_votes, out=np.full(len(agreed), np.nan), where=given_votes > 0
        )
        frequency = share[counted & (given_votes > 0)].mean()
        prior = self.settings.prior
        if prior is None:
            prior = frequency * self.settings.confidence_weight
        truth, p, q = self._start(marked, left, share, frequency, prior)
        g = self.settings.damping
        pseudo_counts = self.settings.pseudo_count_table(2)
        for _ in range(iterations):
            if self.settings.estimate_prior:
                prior = truth[counted].mean()
            new_p = self._performance(marked, left, truth * counted, pseudo_counts[::-1, 1])
            new_q = self._performance(left, marked, (1 - truth) * counted, pseudo_counts[:, 0])
            p = np.where(np.isnan(p), new_p, (1 - g) * new_p + g * p)
            q = np.where(np.isnan(q), new_q, (1 - g) * new_q + g * q)
            truth = self._expect(marked, left, p, q, prior)
        if self.settings.exclude_consensus:
            truth = np.where(agreed, share, truth)
        return truth, p, q

    def _start(self, marked, left, share, frequency, prior):
        unknown = np.full(len(marked), np.nan)
        if self.settings.plan.initialization == "theta":
            sure = np.full(len(marked), 0.9999)
            return self._expect(marked, left, sure, sure, prior), sure, sure
        if self.settings.plan.initialization == "majority_vote":
            share = np.where(np.isnan(share), np.nan, np.sign(share - 0.5) / 2 + 0.5)
        return np.where(np.isnan(share), frequency, share), unknown, unknown

    @staticmethod
    def _performance(right, wrong, mass, pseudo_counts):
        hits = (right * mass).sum(axis=1) + pseudo_counts[0]
        misses = (wrong * mass).sum(axis=1) + pseudo_counts[1]
        with np.errstate(invalid="ignore"):
            return hits / (hits + misses)

    @staticmethod
    def _expect(marked, left, p, q, prior):
        p, q = p[:, None], q[:, None]
        a = np.where(marked, p, np.where(left, 1 - p, 1.0))
        b = np.where(marked, 1 - q, np.where(left, q, 1.0))
        # A class without mass has an undefined performance and gets no posterior.
        foreground = prior * np.where(np.isnan(a), 0.0, a).prod(axis=0)
        background = (1 - prior) * np.where(np.isnan(b), 0.0, b).prod(axis=0)
        total = foreground + background
        # Only voxels left out of the estimate can be impossible under it.
        return np.divide(foreground, total, out=np.zeros_like(total), where=total > 0)


def votes_of(drawn: Drawn, foreground: int = 1) -> np.ndarray:
    digits = drawn.digits(foreground).T.astype(float)
    digits[digits == 2] = np.nan
    return digits if drawn.mask is None else digits[:, (drawn.mask != 0).ravel()]


def is_disputed(drawn: Drawn) -> bool:
    """Return whether raters mark some voxels, but not all, and disagree on at least one."""
    votes = votes_of(drawn)
    marked, left = (votes == 1).any(axis=0), (votes == 0).any(axis=0)
    return bool((marked & left).any())


@st.composite
def all_settings(draw: st.DrawFn) -> StapleSettings:
    beta = st.sampled_from([(1.0, 1.0), (3.0, 1.0), (20.0, 5.0), (1.5, 2.0)])
    return StapleSettings(
        prior=draw(st.sampled_from([None, 0.1, 0.5, 0.93])),
        estimate_prior=draw(st.booleans()),
        exclude_consensus=draw(st.booleans()),
        pseudo_counts=beta_pseudo_counts(draw(beta), draw(beta)),
        damping=draw(st.sampled_from([0.0, 0.3, 0.9])),
        plan=StartPlan(draw(st.sampled_from(["mean", "majority_vote", "theta"]))),
    )


def binary_stacks(**changes: Any) -> st.SearchStrategy[Drawn]:
    return drawn_stacks(dtype="uint8", most_labels=3, raters=(2, 6), **changes).map(_as_masks)


def _as_masks(drawn: Drawn) -> Drawn:
    arrays = [None if a is None else (a != 0).astype(np.uint8) * 1 for a in drawn.arrays]
    return replace(drawn, arrays=arrays, missing_label=None)


# -- against the paper, voxel by voxel --------------------------------------------------------


@given(binary_stacks(), all_settings(), st.integers(1, 6))
def test_patterns_give_what_voxels_give(
    drawn: Drawn, settings: StapleSettings, iterations: int
) -> None:
    assume(is_disputed(drawn))
    settings = replace(settings, stop=StopRule(-1.0, iterations))
    patterns = encode(drawn, foreground=1)
    result = staple(patterns, settings)
    truth, p, q = NaiveStaple(votes_of(drawn), settings).run(iterations)
    volume = patterns.expand(result.foreground, outside=np.nan)
    np.testing.assert_allclose(volume[~np.isnan(volume)], truth, atol=1e-9)
    there = patterns.present.any(axis=0)
    np.testing.assert_allclose(result.sensitivity[there], p[there], atol=1e-9)
    np.testing.assert_allclose(result.specificity[there], q[there], atol=1e-9)
    assert np.isnan(result.sensitivity[~there]).all()
    assert result.iterations == iterations


@pytest.mark.parametrize("variant", ["basic", "restricted", "advanced"])
@pytest.mark.parametrize("damping", [0.0, 0.5])
def test_converged_variants_equal_the_naive_ones(
    masks: list[np.ndarray], variant: str, damping: float
) -> None:
    settings = StapleSettings().for_variant(variant, damping=damping)
    patterns = encode(Drawn(list(masks)), foreground=1)
    result = staple(patterns, settings)
    assert result.converged
    truth, p, q = NaiveStaple(votes_of(Drawn(list(masks))), settings).run(result.iterations + 1)
    np.testing.assert_allclose(patterns.expand(result.foreground).ravel(), truth, atol=1e-9)
    np.testing.assert_allclose(result.sensitivity, p, atol=1e-9)
    np.testing.assert_allclose(result.specificity, q, atol=1e-9)


# -- laws -------------------------------------------------------------------------------------


@given(binary_stacks(), all_settings(), st.randoms(use_true_random=False))
def test_the_order_of_raters_only_orders_their_measures(
    drawn: Drawn, settings: StapleSettings, random: Any
) -> None:
    assume(is_disputed(drawn))
    settings = replace(settings, stop=StopRule(-1.0, 5))
    order = list(range(len(drawn.arrays)))
    random.shuffle(order)
    masks = drawn.rater_masks
    shuffled = replace(
        drawn,
        arrays=[drawn.arrays[k] for k in order],
        rater_masks=None if masks is None else [masks[k] for k in order],
    )
    one, other = encode(drawn, foreground=1), encode(shuffled, foreground=1)
    first, second = staple(one, settings), staple(other, settings)
    np.testing.assert_allclose(
        one.expand(first.foreground), other.expand(second.foreground), atol=1e-9
    )
    np.testing.assert_allclose(first.sensitivity[order], second.sensitivity, atol=1e-9)
    np.testing.assert_allclose(first.specificity[order], second.specificity, atol=1e-9)


@given(binary_stacks(), all_settings(), st.integers(1, 3))
def test_absent_raters_change_nothing(drawn: Drawn, settings: StapleSettings, more: int) -> None:
    assume(is_disputed(drawn))
    masks = drawn.rater_masks
    padded = replace(
        drawn,
        arrays=[*drawn.arrays, *[None] * more],
        rater_masks=None if masks is None else [*masks, *[None] * more],
    )
    settings = replace(settings, plan=replace(settings.plan, number=2), stop=StopRule(1e-7, 50))
    one, other = encode(drawn, foreground=1), encode(padded, foreground=1)
    first, second = staple(one, settings), staple(other, settings)
    assert first.iterations == second.iterations
    assert first.starts.winner == second.starts.winner
    np.testing.assert_array_equal(first.starts.switched, second.starts.switched)
    np.testing.assert_allclose(first.foreground, second.foreground, atol=1e-9)
    np.testing.assert_allclose(first.log_likelihood, second.log_likelihood, rtol=1e-9)


@given(binary_stacks(), all_settings())
def test_swapping_foreground_and_background_swaps_the_answer(
    drawn: Drawn, settings: StapleSettings
) -> None:
    assume(is_disputed(drawn))
    settings = replace(settings, stop=StopRule(-1.0, 5))
    prior = settings.prior
    mirrored = replace(
        settings,
        prior=None if prior is None else 1 - prior,
        pseudo_counts=settings.pseudo_count_table(2)[::-1, ::-1],
    )
    one, other = encode(drawn, foreground=1), encode(drawn, foreground=0)
    first, second = staple(one, settings), staple(other, mirrored)
    np.testing.assert_allclose(
        one.expand(first.foreground), 1 - other.expand(second.foreground, outside=1.0), atol=1e-9
    )
    np.testing.assert_allclose(first.sensitivity, second.specificity, atol=1e-9)


@given(binary_stacks(), all_settings())
def test_answers_are_probabilities_whatever_the_settings(
    drawn: Drawn, settings: StapleSettings
) -> None:
    patterns = encode(drawn, foreground=1)
    assume(patterns.number_of_voxels > 0)
    result = staple(patterns, replace(settings, stop=StopRule(1e-7, 200)))
    assert np.isfinite(result.foreground).all()
    assert ((result.foreground >= 0) & (result.foreground <= 1)).all()
    for measure in (
        result.sensitivity,
        result.specificity,
        result.predictive_values[:, 1],
        result.predictive_values[:, 0],
    ):
        known = measure[~np.isnan(measure)]
        assert ((known >= 0) & (known <= 1)).all()
    assert 0 <= result.prior[1] <= 1


@given(binary_stacks(), st.sampled_from([0.0, 0.5]))
def test_identical_raters_are_believed_exactly(drawn: Drawn, damping: float) -> None:
    only = drawn.present[0]
    twins = Drawn([only] * 4)
    patterns = encode(twins, foreground=1)
    for variant in ("basic", "restricted", "advanced"):
        result = staple(patterns, StapleSettings().for_variant(variant, damping=damping))
        np.testing.assert_array_equal(patterns.expand(result.foreground), only)


def test_1200_raters_do_not_underflow() -> None:
    rng = np.random.default_rng(4)
    truth = rng.random(200) < 0.3
    raters = [(truth ^ (rng.random(200) < 0.3)).astype(np.uint8) for _ in range(1200)]
    patterns = encode(Drawn(raters), foreground=1)
    result = staple(patterns)
    np.testing.assert_array_equal(patterns.expand(result.foreground) > 0.5, truth)
    assert np.isfinite(result.sensitivity).all()


def test_counts_beyond_float32_are_exact() -> None:
    """2^24 + 1 voxels and one more: a float32 counter would lose the last one."""
    small = encode(Drawn([np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])]), foreground=1)
    large = replace(small, counts=np.array([2**24 + 1, 1, 1, 1]))
    result = staple(large, replace(StapleSettings(), stop=StopRule(0.0, 1)))
    assert result.prior[1] == (0.5 + 0.5 + 1) / (2**24 + 4)


# -- limits of priors ----------------------------------------------------------------------------


@pytest.mark.parametrize("weight", [0.0, -1.0, 30.0])
def test_a_confidence_weight_that_leaves_no_prior_is_an_error_that_prints_it(
    masks: list[np.ndarray], weight: float
) -> None:
    patterns = encode(Drawn(list(masks)), foreground=1)
    mean = np.mean(masks)
    with pytest.raises(
        ParameterError, match=f"SomeFilter: ConfidenceWeight.*= {mean * weight:.6g}"
    ):
        staple(patterns, StapleSettings(confidence_weight=weight), owner="SomeFilter")


def test_a_prior_per_pattern_is_used_pattern_by_pattern() -> None:
    votes = [np.array([0, 1, 0, 1, 1, 0], np.uint8), np.array([1, 0, 0, 1, 1, 0], np.uint8)]
    strata = np.array([0, 0, 0, 0, 1, 1], np.uint32)
    patterns = encode(Drawn(list(votes), strata=strata), foreground=1)
    prior = np.where(patterns.strata == 1, 0.9, 0.2)
    settings = StapleSettings(prior=prior, stop=StopRule(-1.0, 4))
    result = staple(patterns, settings)
    by_voxel = replace(settings, prior=np.where(strata == 1, 0.9, 0.2))
    truth, p, _ = NaiveStaple(np.array(votes, float), by_voxel).run(4)
    np.testing.assert_allclose(patterns.expand(result.foreground), truth, atol=1e-12)
    np.testing.assert_allclose(result.sensitivity, p, atol=1e-12)


@pytest.mark.parametrize("everything", [0, 1])
def test_one_class_everywhere_is_that_class_and_its_opposite_undefined(everything: int) -> None:
    patterns = encode(Drawn([np.full(9, everything, np.uint8)] * 3), foreground=1)
    result = staple(patterns)
    assert (result.foreground == everything).all()
    defined, undefined = result.specificity, result.sensitivity
    if everything:
        defined, undefined = undefined, defined
    assert (defined == 1).all()
    assert np.isnan(undefined).all()


def test_restricted_ignores_how_much_agreed_background_surrounds(masks: list[np.ndarray]) -> None:
    small = encode(Drawn(list(masks)), foreground=1)
    large = encode(Drawn([np.pad(mask, 40) for mask in masks]), foreground=1)
    restricted = StapleSettings().for_variant("restricted")
    one, other = staple(small, restricted), staple(large, restricted)
    np.testing.assert_array_equal(
        small.expand(one.foreground), large.expand(other.foreground)[40:-40, 40:-40]
    )
    assert not large.expand(other.foreground)[:40].any()
    basic, padded = staple(small), staple(large)
    assert not np.allclose(basic.sensitivity, padded.sensitivity, atol=1e-3)


# -- several starts ---------------------------------------------------------------------------


def test_the_winner_has_the_highest_log_posterior(masks: list[np.ndarray]) -> None:
    settings = StapleSettings().for_variant("advanced", plan=StartPlan("majority_vote", 12, 5))
    result = staple(encode(Drawn(list(masks)), foreground=1), settings)
    starts = result.starts
    allowed = starts.log_posterior[~starts.switched]
    assert starts.log_posterior[starts.winner] >= allowed.max() - 1e-6
    assert result.log_posterior == starts.log_posterior[starts.winner]
    assert starts.dice.shape == (12, 12)
    np.testing.assert_allclose(np.diag(starts.dice), 1)
    np.testing.assert_array_equal(starts.dice, starts.dice.T)


def test_one_start_is_the_first_of_many(masks: list[np.ndarray]) -> None:
    patterns = encode(Drawn(list(masks)), foreground=1)
    one = staple(patterns)
    many = staple(patterns, StapleSettings(plan=StartPlan("mean", 8)))
    assert many.starts.iterations[0] == one.iterations
    np.testing.assert_allclose(many.starts.log_likelihood[0], one.log_likelihood, rtol=1e-12)


def test_predictive_values_are_those_of_the_posterior(masks: list[np.ndarray]) -> None:
    patterns: DecisionPatterns = encode(Drawn(list(masks)), foreground=1)
    result = staple(patterns)
    truth = patterns.expand(result.foreground)
    for rater, mask in enumerate(masks):
        np.testing.assert_allclose(
            result.predictive_values[rater, 1], truth[mask == 1].mean(), rtol=1e-12
        )
        np.testing.assert_allclose(
            result.predictive_values[rater, 0], 1 - truth[mask == 0].mean(), rtol=1e-12
        )
