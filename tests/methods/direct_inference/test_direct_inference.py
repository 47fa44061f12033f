from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from math import lgamma, log
from unittest.mock import patch

import numpy as np
import pytest
from exhaustive import TinyStack, tiny_stacks
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from stacks import Drawn, drawn_stacks, encode

from examples.simulation import class_imbalance_case
from itk_consensus.core.work import working
from itk_consensus.fusing.iteration import StopRule
from itk_consensus.methods.direct_inference import block_scores, evidence_search
from itk_consensus.methods.direct_inference.block_scores import BlockScores
from itk_consensus.methods.direct_inference.evidence_search import climb
from itk_consensus.methods.direct_inference.label_evidence import LabelEvidence
from itk_consensus.methods.direct_inference.most_probable_map import (
    DirectInferenceResult,
    DirectInferenceSettings,
    direct_inference,
)
from itk_consensus.methods.direct_inference.starting_maps import starting_maps
from itk_consensus.methods.staple.expectation_maximization import StartPlan
from itk_consensus.methods.staple.staple import MULTILABEL, StapleSettings, staple
from itk_consensus.methods.voting.majority_vote import majority_vote
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.label_stack import LabelStack
from itk_consensus.votes.overlap import dice

TABLE_3 = {39: 0.933, 32: 0.916, 22: 0.877, 16: 0.834, 10: 0.729, 7: 0.603, 5: 0.558}


def settings_of(tiny: TinyStack, **changes: object) -> DirectInferenceSettings:
    counts = float(tiny.alpha[0, 0]), float(tiny.alpha[1:, 0].sum())
    return replace(DirectInferenceSettings(counts, StartPlan(number=2)), **changes)


def infer(tiny: TinyStack) -> DirectInferenceResult:
    return direct_inference(tiny.encode(), settings_of(tiny))


def by_voxel(patterns: DecisionPatterns, labels: np.ndarray) -> np.ndarray:
    return patterns.expand(np.asarray(labels))


def model_of(tiny: TinyStack) -> LabelEvidence:
    return LabelEvidence(tiny.encode(), tiny.alpha)


# -- the evidence -----------------------------------------------------------------------------


@given(tiny_stacks(labels=3, most_voxels=8, fewest_raters=1), st.data())
def test_evidence_is_the_chance_of_one_voxel_after_another(tiny: TinyStack, data: st.DataObject):
    model = model_of(tiny)
    labels = data.draw(st.lists(st.integers(0, 2), min_size=tiny.voxels, max_size=tiny.voxels))
    # The map has one label per pattern: the label of its first voxel.
    codes = model.patterns.expand(np.arange(len(model.patterns.counts)))
    chosen = np.array(labels)[np.unique(codes, return_index=True)[1]]
    evidence = model.log_evidence(chosen[:, None])[0]
    assert evidence == pytest.approx(log(tiny.evidence_by_urns(chosen[codes])), abs=1e-9)


@pytest.mark.parametrize("fewest_alike", [1, 64], ids=["by size", "one by one"])
@given(tiny=tiny_stacks(labels=3, most_voxels=9), seed=st.integers(0, 2**32 - 1))
def test_a_block_s_best_move_is_that_of_highest_evidence(
    fewest_alike: int, tiny: TinyStack, seed: int
):
    model = model_of(tiny)
    maps = np.random.default_rng(seed).integers(0, 3, (len(model.patterns.counts), 2))
    gain, target = np.full(maps.shape, np.nan), np.full(maps.shape, -1)
    with patch.object(block_scores, "_FEWEST_ALIKE", fewest_alike):
        for patterns, best, label in BlockScores(model, maps).best_moves():
            assert np.isnan(gain[patterns]).all()
            gain[patterns], target[patterns] = best, label
    for pattern, column in np.ndindex(maps.shape):
        moved = np.repeat(maps[:, [column]], 3, axis=1)
        moved[pattern] = np.arange(3)
        gained = model.log_evidence(moved)
        own = maps[pattern, column]
        gained -= gained[own]
        gained[own] = -np.inf
        assert gain[pattern, column] == pytest.approx(gained.max(), abs=1e-9)
        assert gained[target[pattern, column]] == pytest.approx(gained.max(), abs=1e-9)


def test_best_moves_do_not_depend_on_the_number_of_threads():
    rng = np.random.default_rng(5)
    votes = np.unique(rng.integers(0, 40, (9000, 6), np.uint8), axis=0)
    counts = rng.integers(1, 4, len(votes))
    model = LabelEvidence(
        DecisionPatterns(votes, counts, np.arange(40)),
        DirectInferenceSettings().pseudo_count_table(40),
    )
    maps = votes[:, :2]

    def moves(threads: int) -> list[bytes]:
        with working(threads=threads):
            found = BlockScores(model, maps).best_moves()
            return [part.tobytes() for parts in found for part in parts]

    assert moves(1) == moves(2) == moves(7)


@settings(max_examples=20)
@given(tiny_stacks(labels=3, most_voxels=9))
def test_without_samples_a_probability_is_that_of_one_voxel_given_the_others(tiny: TinyStack):
    patterns = tiny.encode()
    result = infer(tiny)
    fused = by_voxel(patterns, result.decision)
    for voxel in range(tiny.voxels):
        changed = np.repeat(fused[None], 3, axis=0)
        changed[:, voxel] = np.arange(3)
        evidence = tiny.log_evidence(changed)
        expected = np.exp(evidence - np.logaddexp.reduce(evidence))
        found = [by_voxel(patterns, result.shares.of_label(k))[voxel] for k in range(3)]
        np.testing.assert_allclose(found, expected, atol=1e-9)


def test_counts_of_a_billion_voxels_keep_every_number_finite():
    votes = np.array([[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 1]], dtype=np.uint8)
    counts = np.array([10**12, 10**7, 3 * 10**6, 10**9], dtype=np.int64)
    result = direct_inference(DecisionPatterns(votes, counts, np.array([0, 1])))
    assert np.isfinite(result.log_evidence)
    assert result.decision[[0, 3]].tolist() == [0, 1]
    np.testing.assert_allclose(result.shares.rows(slice(None)).sum(axis=1), 1)


# -- the optimum ------------------------------------------------------------------------------


def assert_is_the_best_of_all_maps(tiny: TinyStack, result: DirectInferenceResult) -> None:
    fused = by_voxel(tiny.encode(), result.decision)
    best = tiny.log_evidence(tiny.all_maps()).max()
    assert tiny.log_evidence(fused[None])[0] >= best - 1e-9


@given(tiny_stacks())
def test_no_map_of_twelve_voxels_is_more_probable(tiny: TinyStack):
    result = infer(tiny)
    assert result.exact
    assert_is_the_best_of_all_maps(tiny, result)


@settings(max_examples=30)
@given(st.sampled_from([(3, 9), (4, 7)]).flatmap(lambda size: tiny_stacks(*size)))
def test_no_map_of_several_labels_is_more_probable(tiny: TinyStack):
    assert_is_the_best_of_all_maps(tiny, infer(tiny))


def test_block_moves_and_chains_find_the_optimum_without_trying_all_maps(monkeypatch):
    monkeypatch.setattr(evidence_search, "MOST_ENUMERATED", 0)
    rng = np.random.default_rng(0)
    for _ in range(100):
        raters, voxels = rng.integers(2, 6), rng.integers(2, 12)
        votes = rng.integers(0, 2, (raters, voxels))
        votes[0, :2] = 0, 1
        tiny = TinyStack(votes, np.array([[4.0, 2.0], [2.0, 4.0]]))
        assert_is_the_best_of_all_maps(tiny, infer(tiny))


@settings(max_examples=30)
@given(drawn_stacks(raters=(2, 5), most_labels=3))
def test_no_start_of_em_ends_in_a_more_probable_map(drawn: Drawn):
    assume(len(drawn.labels()) > 1 and (drawn.mask is None or drawn.mask.any()))
    patterns = encode(drawn)
    assume(patterns.present.any(axis=0).sum() > 1)
    chosen = DirectInferenceSettings(plan=StartPlan(number=4))
    model = LabelEvidence(patterns, chosen.pseudo_count_table(patterns.number_of_labels))
    result = direct_inference(patterns, chosen)
    for decision in em_maps(patterns):
        if (decision >= 0).all():
            evidence = model.log_evidence(decision[:, None])[0]
            assert result.log_evidence >= evidence - model.resolution


def em_maps(patterns: DecisionPatterns) -> Iterator[np.ndarray]:
    """Yield the maps of STAPLE from all starts; undecided where tied."""
    for number in (1, 4):
        if patterns.number_of_labels == 2:
            stop = StopRule(1e-7, 1000)
            for variant, first in product(("basic", "advanced"), ("mean", "majority_vote")):
                plan = StartPlan(first, number)
                chosen = StapleSettings().for_variant(variant, plan=plan, stop=stop)
                yield staple(patterns, chosen).decision
        else:
            stop = StopRule(1e-5, 1000)
            basic = replace(MULTILABEL, plan=StartPlan("label_voting", number), stop=stop)
            yield staple(patterns, basic).decision
            plan = StartPlan("majority_vote", number)
            yield staple(
                patterns, MULTILABEL.for_variant("advanced", stop=stop, plan=plan)
            ).decision


@pytest.mark.parametrize("radius", TABLE_3)
def test_small_discs_are_found_as_the_issue_says(radius: int):
    found = []
    for seed in range(10):
        truth, raters = class_imbalance_case(radius, seed)
        patterns = DecisionPatterns.from_stack(LabelStack.binary(list(raters), 1.0))
        found.append(dice(patterns.expand(direct_inference(patterns).decision) == 1, truth))
    assert np.mean(found) == pytest.approx(TABLE_3[radius], abs=0.01)


# -- the search -------------------------------------------------------------------------------


@given(tiny_stacks(labels=3, most_voxels=12), st.integers(0, 2**32 - 1))
def test_every_round_of_moves_raises_the_evidence(tiny: TinyStack, seed: int):
    model = model_of(tiny)
    starts = np.random.default_rng(seed).integers(0, 3, (len(model.patterns.counts), 4))
    climbed = climb(model, starts)
    before = model.log_evidence(starts)
    for row in climbed.trace:
        going = ~np.isnan(row)
        assert (row[going] >= before[going]).all()
        before = np.where(going, row, before)
    np.testing.assert_allclose(climbed.log_evidence, model.log_evidence(climbed.maps))
    assert all((gain <= 1e-9).all() for _, gain, _ in BlockScores(model, climbed.maps).best_moves())


def test_a_table_too_large_to_climb_from_every_start_is_still_above_all_starts(monkeypatch):
    monkeypatch.setattr(evidence_search, "_CLIMB_WORK", 0)
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 3, 900)
    arrays = [
        np.where(rng.random(900) < share, rng.integers(0, 3, 900), truth).astype(np.uint8)
        for share in (0.1, 0.3, 0.5, 0.6)
    ]
    patterns = DecisionPatterns.from_stack(LabelStack.multilabel(arrays))
    result = direct_inference(patterns)
    model = LabelEvidence(patterns, result.settings.pseudo_count_table(3))
    names, maps = starting_maps(patterns, result.settings.plan)
    assert result.start_names == tuple(names)
    assert result.log_evidence >= model.log_evidence(maps).max()
    assert (result.starts.iterations == 0).any()


@settings(max_examples=20)
@given(tiny_stacks(most_voxels=10), st.randoms(use_true_random=False))
def test_the_order_of_raters_and_labels_does_not_change_the_evidence(tiny: TinyStack, random):
    order = list(range(len(tiny.votes)))
    random.shuffle(order)
    swapped = np.where(tiny.votes < 0, -1, 1 - tiny.votes)
    expected = infer(tiny).log_evidence
    for votes in (tiny.votes[order], swapped):
        assert infer(TinyStack(votes, tiny.alpha)).log_evidence == pytest.approx(expected)


@given(tiny_stacks())
def test_labels_that_the_evidence_cannot_tell_apart_agree_with_the_votes(tiny: TinyStack):
    flat = TinyStack(tiny.votes, np.zeros((2, 2)))
    patterns, result = flat.encode(), infer(flat)
    model = model_of(flat)
    mirrored = np.stack([result.decision, 1 - result.decision], axis=1)
    np.testing.assert_allclose(*model.log_evidence(mirrored))
    agreed, against = model.agreement(mirrored)
    assert agreed >= against
    assert patterns.number_of_voxels == flat.voxels


def test_a_prior_that_expects_wrong_raters_gives_a_switched_optimum_that_is_named(masks):
    patterns = DecisionPatterns.from_stack(LabelStack.binary(masks, 1.0))
    result = direct_inference(patterns, DirectInferenceSettings((0.0, 5000.0)))
    assert result.starts.switched[result.starts.winner]
    assert not direct_inference(patterns).starts.switched.any()


# -- raters -----------------------------------------------------------------------------------


@settings(max_examples=20)
@given(tiny_stacks(labels=3, most_voxels=8))
def test_a_rater_who_never_annotated_changes_nothing(tiny: TinyStack):
    nobody = np.full((1, tiny.voxels), -1)
    joined = TinyStack(np.concatenate([tiny.votes, nobody]), tiny.alpha)
    result, expected = infer(joined), infer(tiny)
    assert result.log_evidence == pytest.approx(expected.log_evidence)
    np.testing.assert_array_equal(
        by_voxel(joined.encode(), result.decision), by_voxel(tiny.encode(), expected.decision)
    )
    assert np.isnan(result.theta[-1]).all()
    assert np.isnan(result.performance.quantiles[-1]).all()
    np.testing.assert_allclose(result.theta[:-1], expected.theta)


def test_a_single_rater_is_believed(masks):
    patterns = DecisionPatterns.from_stack(LabelStack.binary([masks[0], None], 1.0))
    result = direct_inference(patterns)
    np.testing.assert_array_equal(by_voxel(patterns, result.decision), masks[0])
    assert not result.exact


def test_performance_given_the_map_has_the_moments_of_its_beta_distribution(masks):
    patterns = DecisionPatterns.from_stack(LabelStack.binary(masks, 1.0))
    result = direct_inference(patterns)
    fused = by_voxel(patterns, result.decision)
    for rater, mask in enumerate(masks):
        for label in (0, 1):
            right = int(((mask == label) & (fused == label)).sum()) + 5
            wrong = int(((mask != label) & (fused == label)).sum()) + 3
            mean = right / (right + wrong)
            assert result.performance.mean[rater, label] == pytest.approx(mean)
            assert result.theta[rater, label, label] == pytest.approx(mean)
            variance = mean * (1 - mean) / (right + wrong + 1)
            assert result.performance.deviation[rater, label] == pytest.approx(variance**0.5)
            middle = result.performance.quantiles[rater, label, 1]
            assert beta_cdf(middle, right, wrong) == pytest.approx(0.5, abs=1e-6)


def beta_cdf(x: float, a: int, b: int) -> float:
    """Integrate the Beta density with the trapezoidal rule."""
    t = np.linspace(0, x, 200_001)[1:]
    norm = lgamma(a + b) - lgamma(a) - lgamma(b)
    density = np.exp((a - 1) * np.log(t) + (b - 1) * np.log1p(-t) + norm)
    return float(np.trapezoid(density, t))


@pytest.mark.parametrize("value", [0, 1])
def test_raters_who_saw_one_label_only_give_that_label(value: int):
    arrays = [np.full((3, 4), value, np.uint8)] * 3
    patterns = DecisionPatterns.from_stack(LabelStack.multilabel(arrays))
    result = direct_inference(patterns)
    assert result.log_evidence == pytest.approx(0)
    assert (patterns.labels[by_voxel(patterns, result.decision)] == value).all()
    np.testing.assert_allclose(result.theta, 1)
    np.testing.assert_allclose(result.performance.quantiles, 1)


def test_where_nobody_annotated_the_most_frequent_label_is_taken():
    votes = np.array([[0] * 8 + [1] * 3 + [-1]] * 3)
    tiny = TinyStack(votes, np.array([[4.0, 2.0], [2.0, 4.0]]))
    fused = by_voxel(tiny.encode(), infer(tiny).decision)
    assert fused.tolist() == [0] * 8 + [1] * 3 + [0]


def test_the_vote_is_the_first_start(masks):
    patterns = DecisionPatterns.from_stack(LabelStack.binary(masks[:3], 1.0))
    names, maps = starting_maps(patterns, StartPlan(number=1))
    assert names[0] == "majority_vote"
    np.testing.assert_array_equal(maps[:, 0], majority_vote(patterns).decision)


def test_stopping_at_once_still_gives_a_map(masks):
    patterns = DecisionPatterns.from_stack(LabelStack.binary(masks, 1.0))
    calls = []
    with working(on_iteration=lambda number: bool(calls.append(number))):
        result = direct_inference(patterns)
    assert calls
    assert set(result.decision.tolist()) <= {0, 1}


@pytest.mark.parametrize("calls", [1, 2, 5, 9, 20])
def test_stopping_anywhere_leaves_every_start_with_its_name(masks, calls: int):
    patterns = DecisionPatterns.from_stack(LabelStack.binary(masks, 1.0))
    left = iter([True] * (calls - 1))
    with working(on_iteration=lambda _: next(left, False)):
        result = direct_inference(patterns)
    assert len(result.start_names) == len(result.starts.log_posterior)
    assert result.start_names[0] == "majority_vote"
    assert result.log_evidence == result.starts.log_posterior.max()
