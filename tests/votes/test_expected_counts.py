"""Compiled EM sums, compared with the confusion model in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stacks import Drawn, drawn_stacks

from itk_consensus.core.errors import InputError
from itk_consensus.core.work import working
from itk_consensus.fusing.iteration import largest_change
from itk_consensus.methods.staple.confusion_model import ConfusionModel
from itk_consensus.methods.staple.staple import MULTILABEL, staple
from itk_consensus.simulation.atlas_phantoms import atlas_labels
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.expected_counts import VoteTable, majority_of_votes, mean_of_votes
from itk_consensus.votes.label_stack import LabelStack
from itk_consensus.votes.packed_votes import PackedVotes
from itk_consensus.votes.ties import decide

CLOSE: dict[str, Any] = {"rtol": 1e-12, "atol": 0}


def random_theta(rng: np.random.Generator, raters: int, labels: int, starts: int) -> np.ndarray:
    """Draw (J, K, S, K) with columns that sum to one, exact zeros and, sometimes, undefined
    columns.
    """
    theta = rng.dirichlet(np.full(labels, 0.7), (raters, starts, labels)).transpose(0, 3, 1, 2)
    theta = np.where(rng.random(theta.shape) < 0.2, 0.0, theta)
    if rng.random() < 0.3:
        theta[:, :, :, rng.integers(labels)] = np.nan
    return theta


def random_table(rng: np.random.Generator, size: int, raters: int, labels: int) -> DecisionPatterns:
    digits = rng.integers(0, labels + 1, (size, raters)).astype("u1" if labels < 256 else "u2")
    return DecisionPatterns(digits, rng.integers(1, 500, size), np.arange(labels))


def numpy_sums(model: ConfusionModel, theta: np.ndarray, prior: np.ndarray) -> tuple:
    expectation = model.e_step(theta, prior)
    weighted = model.weights[:, None, None] * expectation.responsibilities
    return model.patterns.tally(weighted), weighted, expectation


@pytest.mark.parametrize("seed", range(12))
def test_sums_are_those_of_the_numpy_model(seed: int) -> None:
    rng = np.random.default_rng(seed)
    raters, labels, starts = (int(rng.integers(1, high)) for high in (7, 9, 4))
    patterns = random_table(rng, 300, raters, labels)
    weights = np.where(rng.random(300) < 0.2, 0.0, patterns.counts)
    theta = random_theta(rng, raters, labels, starts)
    prior = rng.dirichlet(np.ones(labels), starts)
    prior[:, rng.integers(labels)] *= rng.integers(0, 2)
    model = ConfusionModel(patterns, weights, np.zeros((labels, labels)), False)
    counts, weighted, expectation = numpy_sums(model, theta, prior)
    table = VoteTable.of(patterns, weights)
    sums = table.expectation(theta, prior)
    np.testing.assert_allclose(sums.counts, counts, **CLOSE)
    np.testing.assert_allclose(sums.mass[0], weighted.sum(axis=0), **CLOSE)
    np.testing.assert_allclose(sums.log_likelihood, expectation.log_likelihood, **CLOSE)
    np.testing.assert_allclose(
        table.probabilities(theta, prior), expectation.responsibilities, **CLOSE
    )
    one = int(rng.integers(labels))
    np.testing.assert_allclose(
        table.probabilities(theta, prior, [one])[..., 0],
        expectation.responsibilities[..., one],
        **CLOSE,
    )
    decisions = table.decisions(theta, prior, 1e-12)
    for start in range(starts):
        expected = decide(expectation.log_joint[:, start], patterns.labels, tolerance=1e-12)
        np.testing.assert_array_equal(decisions[:, start], expected)


@pytest.mark.parametrize("shared", [True, False])
def test_every_pattern_may_have_its_own_prior(shared: bool) -> None:
    rng = np.random.default_rng(21)
    patterns = random_table(rng, 200, 4, 5)
    rows = rng.integers(0, 7, 200).astype(np.uint32)
    theta = random_theta(rng, 4, 5, 3)
    prior = rng.dirichlet(np.ones(5), (7, 1 if shared else 3))
    weights = patterns.counts.astype(float)
    model = ConfusionModel(patterns, weights, np.zeros((5, 5)), False)
    counts, weighted, expectation = numpy_sums(model, theta, prior[rows])
    sums = VoteTable.of(patterns, weights, rows).expectation(theta, prior, mass_by_row=True)
    np.testing.assert_allclose(sums.counts, counts, **CLOSE)
    np.testing.assert_allclose(sums.log_likelihood, expectation.log_likelihood, **CLOSE)
    for row in range(7):
        np.testing.assert_allclose(sums.mass[row], weighted[rows == row].sum(axis=0), **CLOSE)


@given(drawn_stacks(raters=(1, 6), most_labels=5))
def test_sums_from_votes(drawn: Drawn) -> None:
    patterns = DecisionPatterns.from_stack(LabelStack.multilabel(drawn.arrays, **drawn.common()))
    if not patterns.present.any():
        return
    weights = patterns.counts.astype(float)
    table = VoteTable.of(patterns, weights)
    majority = np.nan_to_num(majority_of_votes(patterns))
    decided = np.where((majority == 1).any(axis=1, keepdims=True), majority, 0.0)
    shares = {
        "mean": np.nan_to_num(mean_of_votes(patterns)),
        "majority": majority,
        "plurality": decided,
    }
    for kind, share in shares.items():
        sums = table.expectation_of_votes(kind)  # type: ignore[arg-type]
        weighted = weights[:, None] * share
        np.testing.assert_allclose(sums.counts[:, :, 0], patterns.tally(weighted), **CLOSE)
        np.testing.assert_allclose(sums.mass[0, 0], weighted.sum(axis=0), **CLOSE)


def test_posteriors_far_below_the_peak_are_kept_down_to_underflow() -> None:
    """Posteriors that are not 0 may increase again, so nothing above 1e-300 is dropped."""
    digits = np.zeros((1, 3), np.uint8)
    theta = np.array([[1.0, 1e-90], [0.0, 1.0 - 1e-90]])[None, :, None].repeat(3, axis=0)
    sums = VoteTable(digits, np.ones(1), 2).expectation(theta, np.array([[0.5, 0.5]]))
    np.testing.assert_allclose(sums.mass[0, 0], [1.0, 1e-270], rtol=1e-10)


def test_impossible_patterns_count_for_nothing_but_the_likelihood() -> None:
    theta = np.zeros((2, 2, 1, 2))
    theta[0, 0], theta[1, 1] = 1.0, 1.0
    table = VoteTable(np.array([[0, 0], [1, 1]], np.uint8), np.array([2.0, 0.0]), 2)
    sums = table.expectation(theta, np.full((1, 2), 0.5))
    assert sums.counts.sum() == sums.mass.sum() == 0
    assert sums.log_likelihood[0] == -np.inf
    assert (table.decisions(theta, np.full((1, 2), 0.5), 0.0) == -1).all()


def test_threads_do_not_show_in_sums() -> None:
    rng = np.random.default_rng(5)
    patterns = random_table(rng, 30_000, 5, 12)
    theta, prior = random_theta(rng, 5, 12, 2), rng.dirichlet(np.ones(12), 2)
    weights = rng.uniform(0, 3, 30_000)
    results = set()
    for threads in (1, 2, 7):
        table = VoteTable(patterns.patterns, weights, 12)
        with working(threads=threads):
            parts = [*table.expectation(theta, prior), *table.expectation_of_votes("mean")]
            parts += [table.decisions(theta, prior, 0.0), table.probabilities(theta, prior, [3])]
        results.add(b"".join(part.tobytes() for part in parts))
    assert len(results) == 1


def test_tables_of_another_kind_are_refused() -> None:
    with pytest.raises(InputError, match="digits of uint8 or uint16"):
        VoteTable(np.zeros((2, 3), np.int64), np.ones(2), 2)
    with pytest.raises(InputError, match=r"\(P,\) weights, got"):
        VoteTable(np.zeros((2, 3), np.uint8), np.ones(3), 2)


# -- votes as bits ----------------------------------------------------------------------------


def binary_stack(
    rng: np.random.Generator, shape: tuple[int, ...], raters: int, masked: bool = False
) -> LabelStack:
    truth = np.sort(rng.random(shape), axis=-1) > 0.6
    arrays: list[Any] = [(truth ^ (rng.random(shape) < 0.1)).astype("u1") for _ in range(raters)]
    if raters > 2:
        arrays[1] = None
    mask = rng.random(shape) < 0.7 if masked else None
    return LabelStack.binary(arrays, 1.0, mask=mask)


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("raters", [1, 2, 8, 9, 10, 30, 41])
def test_packed_sums_are_those_of_patterns(raters: int, masked: bool) -> None:
    rng = np.random.default_rng(raters)
    stack = binary_stack(rng, (7, 60), raters, masked)
    patterns = DecisionPatterns.from_stack(stack)
    theta = (
        random_theta(rng, raters, 2, 2)
        if raters < 9
        else rng.dirichlet((2, 2), (raters, 2, 2)).transpose(0, 3, 1, 2)
    )
    prior = np.array([[0.7, 0.3], [0.4, 0.6]])
    weights = patterns.counts.astype(float)
    model = ConfusionModel(patterns, weights, np.zeros((2, 2)), False)
    counts, weighted, expectation = numpy_sums(model, theta, prior)
    packed = PackedVotes.from_stack(stack)
    sums = packed.expectation(theta, prior)
    np.testing.assert_allclose(sums.counts, counts, **CLOSE)
    np.testing.assert_allclose(sums.mass[0], weighted.sum(axis=0), **CLOSE)
    np.testing.assert_allclose(sums.log_likelihood, expectation.log_likelihood, **CLOSE)
    present = int(packed.present.sum())
    for kind, foreground in (
        ("mean", np.arange(present + 1) / present),
        ("majority", np.sign(np.arange(present + 1) - present / 2) / 2 + 0.5),
    ):
        from_votes = VoteTable.of(patterns, weights).expectation_of_votes(kind)  # type: ignore[arg-type]
        ours = packed.expectation_of_votes(foreground)
        np.testing.assert_allclose(ours.counts, from_votes.counts, **CLOSE)
        np.testing.assert_allclose(ours.mass, from_votes.mass, **CLOSE)
    out = np.empty(stack.shape)
    packed.write_probability(theta[:, :, :1], prior[:1], out)
    wanted = patterns.expand(np.ascontiguousarray(expectation.responsibilities[:, 0, 1]))
    np.testing.assert_allclose(out, wanted, **CLOSE)


def test_threads_do_not_show_in_packed_sums() -> None:
    rng = np.random.default_rng(6)
    stack = binary_stack(rng, (9, 256, 256), 11, masked=True)
    theta = rng.uniform(0.05, 0.95, (11, 2, 1, 2))
    prior = np.array([[0.6, 0.4]])
    results = set()
    for threads in (1, 2, 7):
        out = np.empty(stack.shape)
        with working(threads=threads):
            packed = PackedVotes.from_stack(stack)
            packed.write_probability(theta, prior, out)
            parts = [packed.planes, out, *packed.expectation(theta, prior)]
            parts += packed.expectation_of_votes(np.linspace(0, 1, 11))
        results.add(b"".join(np.asarray(part).tobytes() for part in parts))
    assert len(results) == 1


@given(st.integers(3, 5))
def test_packing_refuses_what_two_bits_cannot_say(labels: int) -> None:
    with pytest.raises(InputError, match="two labels"):
        PackedVotes.from_stack(LabelStack.multilabel([np.arange(labels)]))
    with pytest.raises(InputError, match="may be missing"):
        PackedVotes.from_stack(LabelStack.binary([np.arange(labels)], 1.0, missing_label=2))
    packed = PackedVotes.from_stack(LabelStack.binary([np.arange(labels)], 1.0))
    with pytest.raises(InputError, match="must have 2 probabilities"):
        packed.expectation_of_votes(np.zeros(3))
    with pytest.raises(InputError, match="out must be floating"):
        packed.write_probability(np.ones((1, 2, 1, 2)), np.ones((1, 2)), np.empty(1))


# -- a whole run ------------------------------------------------------------------------------


def test_multilabel_staple_on_compiled_sums_is_em_as_numpy_writes_it() -> None:
    """Iterations, confusion matrices, label map and probabilities equal those of the NumPy loop."""
    maps = atlas_labels(2201, (20, 24, 20), labels=12, atlases=5).maps
    patterns = DecisionPatterns.from_stack(LabelStack.multilabel(maps))
    ours = staple(patterns, MULTILABEL)
    weights = patterns.counts.astype(float)
    model = ConfusionModel(patterns, weights, np.zeros((13, 13)), False)
    majority = majority_of_votes(patterns)
    decided = np.where((majority == 1).any(axis=1, keepdims=True), majority, 0.0)
    seed = patterns.tally(weights[:, None] * decided)[:, :, None, :]
    rows = seed.sum(axis=3, keepdims=True)
    theta = np.divide(seed, rows, out=np.zeros_like(seed), where=rows > 0)
    prior = (weights @ mean_of_votes(patterns))[None] / weights.sum()
    iterations, change = -1, np.inf
    expected = model.e_step(theta, prior)
    while change > 1e-5:
        new, _ = model.m_step(expected.responsibilities, prior)
        change = largest_change(new, theta)[0]
        theta, iterations = new, iterations + 1
        expected = model.e_step(theta, prior)
    assert ours.iterations == iterations
    np.testing.assert_allclose(ours.theta, np.nan_to_num(theta[:, :, 0]), rtol=1e-9, atol=1e-15)
    decision = decide(expected.log_joint[:, 0], patterns.labels, tolerance=1e-12)
    np.testing.assert_array_equal(ours.decision, decision)
    probabilities = expected.responsibilities[:, 0]
    explained = probabilities.any(axis=1)  # at other voxels STAPLE keeps the shares of the votes
    np.testing.assert_allclose(
        ours.posterior[explained], probabilities[explained], rtol=1e-9, atol=1e-15
    )
    np.testing.assert_allclose(ours.log_likelihood, expected.log_likelihood[0], rtol=1e-12)


def test_a_step_leaves_out_labels_further_below_the_best_than_told_and_no_others() -> None:
    """With 40 nats, the dropped terms are below 5e-18, and no other count changes by more."""
    table = VoteTable(np.array([[0], [1]], np.uint8), np.ones(2), 2, negligible=40.0)
    for nats, kept in ((39.9, True), (40.1, False)):
        small = np.exp(-nats)
        theta = np.array([[1 - small, small], [small, 1 - small]])[None, :, None, :]
        counts = table.expectation(theta, np.full((1, 2), 0.5)).counts[0, :, 0]
        np.testing.assert_allclose(np.diag(counts), 1.0, rtol=1e-15)
        np.testing.assert_allclose(counts[[0, 1], [1, 0]], small if kept else 0.0, rtol=1e-12)


def test_there_may_be_more_truths_than_labels() -> None:
    rng = np.random.default_rng(8)
    digits = rng.integers(0, 4, (50, 3)).astype(np.uint8)
    theta = rng.dirichlet(np.ones(3), (3, 7)).transpose(0, 2, 1)[:, :, None, :]
    prior = rng.dirichlet(np.ones(7), 1)
    weights = rng.random(50)
    joint = np.ones((50, 7)) * prior
    for j in range(3):
        known = digits[:, j] < 3
        joint[known] *= theta[j, digits[known, j], 0]
    shares = joint / joint.sum(axis=1, keepdims=True)
    sums = VoteTable(digits, weights, 3).expectation(theta, prior)
    for j, d in np.ndindex(3, 3):
        said = digits[:, j] == d
        np.testing.assert_allclose(
            sums.counts[j, d, 0], (weights[:, None] * shares)[said].sum(axis=0), rtol=1e-12
        )
    np.testing.assert_allclose(sums.mass[0, 0], weights @ shares, rtol=1e-12)
    np.testing.assert_allclose(sums.log_likelihood[0], weights @ np.log(joint.sum(axis=1)))
