from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from stacks import Drawn, drawn_stacks, encode

from itk_consensus.fusing.iteration import StopRule
from itk_consensus.methods.staple.expectation_maximization import StartPlan
from itk_consensus.methods.staple.staple import MULTILABEL, StapleSettings, staple
from itk_consensus.methods.staple.staple_result import pairwise_overlap
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.expected_counts import label_voting_theta
from itk_consensus.votes.label_stack import LabelStack
from itk_consensus.votes.ties import UNDECIDED


@dataclass
class NaiveMultiLabelStaple:
    """Multi-label STAPLE voxel by voxel, rater by rater, with plain products.

    `digits` is (voxels, raters); a digit equal to the number of labels means "not annotated".
    """

    digits: np.ndarray
    labels: int
    settings: StapleSettings

    def votes(self, voxel: np.ndarray) -> np.ndarray:
        return np.array([(voxel == label).sum() for label in range(self.labels)], float)

    def run(self, iterations: int) -> tuple[np.ndarray, np.ndarray]:
        votes = np.array([self.votes(voxel) for voxel in self.digits])
        weight = np.ones(len(votes))
        if self.settings.exclude_consensus and not ((votes > 0).sum(axis=1) == 1).all():
            weight = ((votes > 0).sum(axis=1) != 1).astype(float)
        seen = (votes.sum(axis=1) > 0) & (weight > 0)
        prior = (votes[seen] / votes[seen].sum(axis=1, keepdims=True)).mean(axis=0)
        frequency = prior
        if self.settings.prior is not None:
            prior = self.settings.prior
        theta, truth = self._start(votes, weight, frequency, prior)
        for _ in range(iterations):
            new = self._confusion(truth, weight)
            g = self.settings.damping
            # ITK's initial matrix is normalised along rows: damp only columns whose sum is one.
            usable = np.abs(theta.sum(axis=1, keepdims=True) - 1) < 1e-6
            theta = np.where(usable, (1 - g) * new + g * theta, new)
            if self.settings.estimate_prior:
                prior = (weight[:, None] * truth).sum(axis=0) / weight.sum()
            truth = self._expect(theta, prior)
        return truth, theta

    def _start(self, votes, weight, frequency, prior) -> tuple[np.ndarray, np.ndarray]:
        raters, name = self.digits.shape[1], self.settings.plan.initialization
        if name == "theta":
            off = (1 - 0.9999) / max(self.labels - 1, 1)
            theta = np.full((raters, self.labels, self.labels), off)
            for label in range(self.labels):
                theta[:, label, label] = 0.9999
            return theta, self._expect(theta, prior)
        if name == "label_voting":
            theta = self._seed(votes, weight)
            return theta, self._expect(theta, prior)
        truth = np.tile(frequency, (len(votes), 1))
        for voxel, row in enumerate(votes):
            if row.sum() > 0:
                best = row if name == "mean" else (row == row.max()).astype(float)
                truth[voxel] = best / best.sum()
        return np.full((raters, self.labels, self.labels), np.nan), truth

    def _seed(self, votes, weight) -> np.ndarray:
        table = np.zeros((self.digits.shape[1], self.labels, self.labels))
        for voxel, row in enumerate(votes):
            winners = np.flatnonzero(row == row.max())
            if row.sum() > 0 and len(winners) == 1:
                for rater, digit in enumerate(self.digits[voxel]):
                    if digit < self.labels:
                        table[rater, digit, winners[0]] += weight[voxel]
        total = table.sum(axis=2, keepdims=True)
        return np.divide(table, total, out=np.zeros_like(table), where=total > 0)

    def _confusion(self, truth, weight) -> np.ndarray:
        pseudo = self.settings.pseudo_count_table(self.labels)
        table = np.zeros((self.digits.shape[1], self.labels, self.labels))
        table += pseudo
        for voxel, row in enumerate(self.digits):
            for rater, digit in enumerate(row):
                if digit < self.labels:
                    table[rater, digit] += weight[voxel] * truth[voxel]
        with np.errstate(invalid="ignore"):
            return table / table.sum(axis=1, keepdims=True)

    def _expect(self, theta, prior) -> np.ndarray:
        truth = np.tile(np.asarray(prior, float), (len(self.digits), 1))
        for voxel, row in enumerate(self.digits):
            for rater, digit in enumerate(row):
                if digit < self.labels:
                    truth[voxel] *= np.nan_to_num(theta[rater, digit], nan=0.0)
        total = truth.sum(axis=1, keepdims=True)
        return np.divide(truth, total, out=np.zeros_like(truth), where=total > 0)


def inside(drawn: Drawn) -> np.ndarray:
    digits = drawn.digits()
    return digits if drawn.mask is None else digits[(drawn.mask != 0).ravel()]


def is_annotated(drawn: Drawn) -> bool:
    return bool((inside(drawn) < len(drawn.labels())).any())


def is_disputed(drawn: Drawn) -> bool:
    labels = len(drawn.labels())
    return any(len(set(row[row < labels])) > 1 for row in inside(drawn))


def is_decided_somewhere(drawn: Drawn, disputed_only: bool) -> bool:
    """Return whether any counted voxel has a plurality; otherwise ITK's initial estimate is
    empty.
    """
    for row in inside(drawn):
        votes = np.bincount(row[row < len(drawn.labels())], minlength=1)
        counts = not disputed_only or (votes > 0).sum() > 1
        if counts and votes.sum() and (votes == votes.max()).sum() == 1:
            return True
    return False


label_stacks = drawn_stacks(dtype="int16", raters=(2, 4), most_labels=4).filter(is_annotated)


@st.composite
def all_settings(draw: st.DrawFn, labels: int) -> StapleSettings:
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    pseudo = draw(st.sampled_from([0.0, 2.0])) * np.eye(labels)
    if draw(st.booleans()):
        pseudo = pseudo + rng.random((labels, labels))
    return replace(
        MULTILABEL,
        prior=rng.dirichlet(np.ones(labels)) if draw(st.booleans()) else None,
        estimate_prior=draw(st.booleans()),
        exclude_consensus=draw(st.booleans()),
        pseudo_counts=pseudo,
        damping=draw(st.sampled_from([0.0, 0.4])),
        plan=StartPlan(draw(st.sampled_from(["label_voting", "mean", "majority_vote", "theta"]))),
    )


@given(st.data())
def test_patterns_give_what_voxels_give(data: st.DataObject) -> None:
    drawn = data.draw(label_stacks)
    iterations = data.draw(st.integers(1, 4))
    settings = data.draw(all_settings(len(drawn.labels())))
    if settings.exclude_consensus:
        assume(is_disputed(drawn))
    if settings.plan.initialization == "label_voting":
        assume(is_decided_somewhere(drawn, settings.exclude_consensus))
    settings = replace(settings, stop=StopRule(-1.0, iterations))
    patterns = encode(drawn)
    result = staple(patterns, settings)
    naive = NaiveMultiLabelStaple(inside(drawn), len(drawn.labels()), settings)
    truth, theta = naive.run(iterations)
    if not settings.exclude_consensus:
        # At voxels where no label is possible, this implementation gives zeros, and the filter the
        # shares of the votes.
        possible = truth.sum(axis=1) > 0
        for label in range(len(drawn.labels())):
            volume = patterns.expand(result.posterior[:, label].copy(), outside=np.nan)
            found = volume[~np.isnan(volume)]
            np.testing.assert_allclose(found[possible], truth[possible, label], atol=1e-9)
    there = patterns.present.any(axis=0)
    np.testing.assert_allclose(result.theta[there], np.nan_to_num(theta[there]), atol=1e-9)
    assert np.isnan(result.theta[~there]).all()


@given(drawn_stacks(dtype="uint8", raters=(2, 5), most_labels=2), st.data())
def test_two_labels_are_binary_staple(drawn: Drawn, data: st.DataObject) -> None:
    drawn = replace(drawn, missing_label=None)
    assume(len(drawn.labels()) == 2 and is_annotated(drawn))
    binary = encode(drawn, foreground=drawn.labels()[1])
    votes = binary.patterns[binary.present]
    assume((votes == 0).any() and (votes == 1).any())
    estimate = data.draw(st.booleans())
    start = data.draw(st.sampled_from(["mean", "majority_vote", "theta"]))
    stop = StopRule(-1.0, data.draw(st.integers(1, 8)))
    one = staple(binary, StapleSettings(estimate_prior=estimate, stop=stop, plan=StartPlan(start)))
    other = staple(
        encode(drawn),
        replace(MULTILABEL, estimate_prior=estimate, stop=stop, plan=StartPlan(start)),
    )
    np.testing.assert_allclose(one.foreground, other.foreground, atol=1e-12)
    np.testing.assert_allclose(one.log_likelihood, other.log_likelihood, atol=1e-9)


@given(st.data())
def test_the_names_of_labels_do_not_matter(data: st.DataObject) -> None:
    drawn = data.draw(label_stacks)
    labels = drawn.labels()
    names = data.draw(st.permutations(range(100, 100 + len(labels))))
    missing = drawn.missing_label
    table = dict(zip(labels, names, strict=True)) | ({} if missing is None else {missing: missing})
    renamed = replace(
        drawn,
        arrays=[
            None if a is None else np.vectorize(lambda v: table[int(v)])(a).astype(np.int32)
            for a in drawn.arrays
        ],
    )
    settings = replace(MULTILABEL, stop=StopRule(-1.0, 4))
    one, other = encode(drawn), encode(renamed)
    first, second = staple(one, settings), staple(other, settings)
    order = [other.labels.tolist().index(table[label]) for label in labels]
    for label, twin in enumerate(order):
        np.testing.assert_allclose(
            one.expand(first.posterior[:, label].copy()),
            other.expand(second.posterior[:, twin].copy()),
            atol=1e-9,
        )
    np.testing.assert_allclose(first.theta, second.theta[:, order][:, :, order], atol=1e-9)


@given(st.data())
def test_the_order_of_raters_only_orders_their_matrices(data: st.DataObject) -> None:
    drawn = data.draw(label_stacks)
    order = data.draw(st.permutations(range(len(drawn.arrays))))
    masks = drawn.rater_masks
    shuffled = replace(
        drawn,
        arrays=[drawn.arrays[k] for k in order],
        rater_masks=None if masks is None else [masks[k] for k in order],
    )
    settings = replace(MULTILABEL, stop=StopRule(-1.0, 4))
    one, other = encode(drawn), encode(shuffled)
    first, second = staple(one, settings), staple(other, settings)
    np.testing.assert_allclose(first.theta[order], second.theta, atol=1e-9)
    np.testing.assert_allclose(
        one.expand(first.posterior[:, 0].copy()),
        other.expand(second.posterior[:, 0].copy()),
        atol=1e-9,
    )


@given(label_stacks, st.integers(1, 3))
def test_absent_raters_change_nothing(drawn: Drawn, more: int) -> None:
    masks = drawn.rater_masks
    padded = replace(
        drawn,
        arrays=[*drawn.arrays, *[None] * more],
        rater_masks=None if masks is None else [*masks, *[None] * more],
    )
    settings = replace(MULTILABEL, stop=StopRule(1e-5, 30))
    first, second = (staple(encode(d), settings) for d in (drawn, padded))
    np.testing.assert_array_equal(first.posterior, second.posterior)
    np.testing.assert_array_equal(first.decision, second.decision)
    np.testing.assert_array_equal(first.starts.switched, second.starts.switched)
    assert first.iterations == second.iterations


@given(drawn_stacks(dtype="int16", raters=(1, 1), most_labels=5), st.integers(2, 5))
def test_identical_raters_are_believed_exactly(drawn: Drawn, raters: int) -> None:
    only = drawn.present[0]
    patterns = encode(Drawn([only] * raters))
    for plan in ("label_voting", "mean", "majority_vote", "theta"):
        settings = replace(MULTILABEL, stop=StopRule(1e-5, 100), plan=StartPlan(plan))
        result = staple(patterns, settings)
        labels = patterns.expand(patterns.labels[result.decision])
        np.testing.assert_array_equal(labels, only)
        np.testing.assert_allclose(result.theta[0], np.eye(patterns.number_of_labels), atol=1e-12)


def test_the_seed_leaves_tied_voxels_out() -> None:
    """ITK pull request 6579: tied voxels corrupted the row of the largest label."""
    patterns = encode(Drawn([np.array([0, 1, 0, 1]), np.array([0, 1, 1, 0])]))
    seed = label_voting_theta(patterns, patterns.counts.astype(float))
    np.testing.assert_array_equal(seed, np.tile(np.eye(2), (2, 1, 1)))
    result = staple(patterns, replace(MULTILABEL, stop=StopRule(1e-5, 0)))
    assert patterns.expand(result.decision).tolist() == [0, 1, UNDECIDED, UNDECIDED]


@pytest.mark.parametrize("estimate_prior", [False, True])
@pytest.mark.parametrize("start", ["label_voting", "mean", "majority_vote", "theta"])
@pytest.mark.parametrize("iterations", [0, 1, 50])
def test_two_raters_who_never_agree_leave_everything_undecided(
    estimate_prior: bool, start: Any, iterations: int
) -> None:
    patterns = encode(Drawn([np.array([0, 1, 0, 1]), np.array([1, 0, 1, 0])]))
    settings = replace(
        MULTILABEL,
        estimate_prior=estimate_prior,
        stop=StopRule(1e-5, iterations),
        plan=StartPlan(start),
    )
    result = staple(patterns, settings)
    assert (result.decision == UNDECIDED).all()
    assert np.isfinite(result.posterior).all()
    assert np.isfinite(result.prior).all()


@pytest.mark.parametrize("start", ["label_voting", "mean", "majority_vote", "theta"])
def test_excluded_consensus_beside_voxels_nobody_annotated_keeps_its_label(start: Any) -> None:
    annotated = np.array([1, 1, 1, 0], np.uint8)
    labels = np.array([0, 2, 2, 0], np.uint8)
    patterns = encode(Drawn([labels, labels], rater_masks=[annotated, annotated]))
    result = staple(patterns, replace(MULTILABEL, exclude_consensus=True, plan=StartPlan(start)))
    decision = patterns.expand(result.decision)
    assert patterns.labels[decision[:3]].tolist() == [0, 2, 2]
    assert np.isfinite(result.posterior).all()


@pytest.mark.parametrize("start", ["label_voting", "mean", "majority_vote", "theta"])
def test_without_iterations_the_labels_are_those_of_the_probabilities(
    label_maps: list[np.ndarray], start: Any
) -> None:
    patterns = encode(Drawn(list(label_maps)))
    settings = replace(MULTILABEL, stop=StopRule(1e-5, 0), plan=StartPlan(start))
    result = staple(patterns, settings)
    best = result.posterior.max(axis=1, keepdims=True)
    clear = (np.abs(result.posterior - best) < 1e-9).sum(axis=1) == 1
    np.testing.assert_array_equal(result.decision[clear], result.posterior[clear].argmax(axis=1))


@pytest.mark.parametrize("labels", [65, 256, 300])
def test_many_labels_are_recovered(labels: int) -> None:
    rng = np.random.default_rng(labels)
    truth = np.repeat(np.arange(labels), 12)
    raters = [
        np.where(rng.random(truth.size) < 0.1, rng.integers(0, labels, truth.size), truth)
        for _ in range(4)
    ]
    patterns = encode(Drawn([r.astype(np.uint16) for r in raters]))
    result = staple(patterns, MULTILABEL)
    fused = np.where(result.decision >= 0, patterns.labels[result.decision], -1)
    wrong = patterns.expand(fused) != truth
    single = np.mean([r != truth for r in raters])
    assert wrong.mean() < single / 5


def test_1200_raters_do_not_underflow() -> None:
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 3, 150)
    raters = [
        np.where(rng.random(150) < 0.4, rng.integers(0, 3, 150), truth).astype(np.uint8)
        for _ in range(1200)
    ]
    patterns = encode(Drawn(raters))
    result = staple(patterns, MULTILABEL)
    np.testing.assert_array_equal(patterns.expand(result.decision), truth)
    np.testing.assert_allclose(result.posterior.sum(axis=1), 1)


def test_excluded_consensus_keeps_its_label(label_maps: list[np.ndarray]) -> None:
    patterns = encode(Drawn(list(label_maps)))
    result = staple(patterns, replace(MULTILABEL, exclude_consensus=True))
    agreed = patterns.unanimous
    np.testing.assert_array_equal(result.decision[agreed], patterns.patterns[agreed, 0])
    np.testing.assert_array_equal(
        result.posterior[agreed], np.eye(patterns.number_of_labels)[patterns.patterns[agreed, 0]]
    )


def test_overlap_is_the_dice_of_everything_but_the_first_label() -> None:
    rng = np.random.default_rng(0)
    decisions = rng.integers(0, 3, (40, 3))
    counts = rng.integers(1, 9, 40)
    volumes = [np.repeat(decisions[:, start], counts) for start in range(3)]
    overlap = pairwise_overlap(decisions, counts)
    for i, a in enumerate(volumes):
        for j, b in enumerate(volumes):
            both = ((a == b) & (a != 0)).sum()
            assert overlap[i, j] == pytest.approx(2 * both / ((a != 0).sum() + (b != 0).sum()))


@pytest.mark.parametrize("seed", [188, 195])
def test_votes_that_no_label_explains_keep_the_shares_of_the_votes(seed: int) -> None:
    """With two raters of noise, the model rules out every label at most voxels."""
    rng = np.random.default_rng(seed)
    labels, raters = int(rng.integers(3, 8)), int(rng.integers(2, 7))
    images = [rng.integers(0, labels, (7, 10, 10)).astype(np.uint8) for _ in range(raters)]
    patterns = DecisionPatterns.from_stack(LabelStack.multilabel(images))
    result = staple(patterns, MULTILABEL)
    with np.errstate(divide="ignore"):
        log_theta = np.log(result.theta)
    likelihood = patterns.one_hot @ log_theta.reshape(-1, patterns.number_of_labels)
    impossible = np.isneginf(likelihood).all(axis=1)
    assert patterns.counts[impossible].sum() > 500
    np.testing.assert_allclose(result.posterior.sum(axis=1), 1.0)
    np.testing.assert_array_equal(
        result.posterior[impossible], patterns.votes()[impossible] / raters
    )
    assert (result.decision[impossible] == UNDECIDED).all()
