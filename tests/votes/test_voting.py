"""The vote without patterns equals the vote on patterns, and SimpleITK's."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import SimpleITK as sitk
from hypothesis import given
from hypothesis import strategies as st
from stacks import Drawn, drawn_stacks

from itk_consensus.core.errors import InputError
from itk_consensus.core.work import working
from itk_consensus.methods.voting.majority_vote import majority_vote
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.kept_stack import KeptStack
from itk_consensus.votes.label_stack import LabelStack
from itk_consensus.votes.ties import TIE_RULES
from itk_consensus.votes.uncertainty import UNCERTAINTY_KINDS
from itk_consensus.votes.voting import StackVote, VoteRules

#: Written at background and undecided voxels; different from the labels of all drawn stacks.
BACKGROUND_VALUE, UNDECIDED_VALUE = -7, -8


def labels_of(vote: StackVote) -> np.ndarray:
    """Return the label index of every voxel."""
    values = np.array([*range(len(vote.stack.labels)), BACKGROUND_VALUE, UNDECIDED_VALUE])
    out = np.empty(vote.stack.shape, values.dtype)
    vote.write_labels(values, out)
    return out


def assert_is_the_vote_on_patterns(stack: LabelStack, **options: Any) -> None:
    patterns = DecisionPatterns.from_stack(stack)
    if not patterns.counts.size or not patterns.present.any():
        return
    result = majority_vote(patterns, **options)
    vote = StackVote(stack, VoteRules(**options))
    answers = labels_of(vote)
    table = np.array([*range(len(stack.labels)), BACKGROUND_VALUE, UNDECIDED_VALUE])
    wanted = patterns.expand(table[result.decision], outside=BACKGROUND_VALUE)
    np.testing.assert_array_equal(answers, wanted)
    np.testing.assert_allclose(vote.frequencies, result.frequencies, rtol=1e-13)
    for label in range(len(stack.labels)):
        share = np.empty(stack.shape)
        vote.write_share(label, share)
        expected = patterns.expand(np.ascontiguousarray(result.probabilities[:, label]))
        np.testing.assert_allclose(share, expected, rtol=1e-13)
    for kind in UNCERTAINTY_KINDS:
        unsure, wanted = np.empty((2, *stack.shape), np.float32)
        vote.write_uncertainty(kind, unsure)
        result.write_uncertainty(kind, len(stack.labels), wanted)
        np.testing.assert_allclose(unsure, wanted, atol=1e-6)


@given(
    drawn_stacks(raters=(1, 9), most_labels=5),
    st.sampled_from(TIE_RULES),
    st.sampled_from([None, 0.0, 0.34, 0.5, 0.75, 1.0]),
    st.sampled_from([None, "dyadic", "some zero"]),
)
def test_any_stack_any_rule(drawn: Drawn, ties: Any, threshold: float | None, kind: Any) -> None:
    rng = np.random.default_rng(len(drawn.arrays))
    present = np.array([array is not None for array in drawn.arrays])
    weights = None
    if kind is not None:
        # Sums of these weights are exact, so both implementations find the same ties.
        weights = rng.integers(1, 4, len(present)) / 4
        if kind == "some zero":
            weights[np.flatnonzero(present)[1:]] = 0.0
    stack = LabelStack.multilabel(drawn.arrays, **drawn.common())
    options = {"ties": ties, "threshold": threshold, "weights": weights}
    patterns = DecisionPatterns.from_stack(stack)
    if weights is not None and not (patterns.counts @ patterns.votes(weights)).any():
        return
    assert_is_the_vote_on_patterns(stack, **options)


@given(drawn_stacks(raters=(1, 6)), st.integers(0, 2), st.sampled_from(TIE_RULES))
def test_binary_stacks_count_everything_else_as_background(
    drawn: Drawn, foreground: int, ties: Any
) -> None:
    stack = LabelStack.binary(drawn.arrays, float(foreground), **drawn.common())
    assert_is_the_vote_on_patterns(stack, ties=ties)


@pytest.mark.parametrize("weights", [[0.1, 0.2, 0.3], [0.3, 0.3, 0.6], [1e-3, 0.7, 0.7]])
def test_sums_that_are_equal_on_paper_tie(weights: list[float]) -> None:
    arrays = [np.array([1, 1, 2], "u1"), np.array([1, 2, 3], "u1"), np.array([2, 2, 3], "u1")]
    stack = LabelStack.multilabel(arrays)
    assert_is_the_vote_on_patterns(stack, weights=np.array(weights))


def noisy_raters(rng: np.random.Generator, shape: tuple[int, ...], raters: int, labels: int):
    truth = np.sort(rng.integers(0, labels, shape), axis=-1)
    return [
        np.where(rng.random(shape) < 0.7, truth, rng.integers(0, labels, shape))
        for _ in range(raters)
    ]


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32", "uint64"])
@pytest.mark.parametrize(("raters", "labels"), [(2, 3), (5, 2), (8, 40), (15, 100)])
def test_simpleitk_votes_the_same(dtype: str, raters: int, labels: int) -> None:
    rng = np.random.default_rng(raters)
    arrays = [a.astype(dtype) for a in noisy_raters(rng, (5, 11, 37), raters, labels)]
    undecided = labels + 3
    expected = sitk.LabelVoting([sitk.GetImageFromArray(a) for a in arrays], undecided)
    stack = LabelStack.multilabel(arrays)
    out = np.empty(stack.shape, dtype)
    StackVote(stack).write_labels(np.array([*stack.labels, 0, undecided], dtype), out)
    np.testing.assert_array_equal(out, sitk.GetArrayViewFromImage(expected))


def test_more_raters_than_a_byte_counts() -> None:
    rng = np.random.default_rng(3)
    arrays = [a.astype("u1") for a in noisy_raters(rng, (3, 64), 300, 3)]
    assert_is_the_vote_on_patterns(LabelStack.multilabel(arrays))


@pytest.mark.parametrize("dtype", ["uint8", "int32"])
def test_threads_do_not_show(dtype: str) -> None:
    rng = np.random.default_rng(4)
    arrays = [a.astype(dtype) for a in noisy_raters(rng, (8, 256, 256), 5, 6)]
    stack = LabelStack.multilabel(arrays, mask=rng.random((8, 256, 256)) < 0.8)
    weights = rng.uniform(0.2, 1.0, 5)
    answers, shares = [], []
    for threads in (1, 2, 7):
        vote = StackVote(stack, VoteRules(weights, ties="prior"))
        share = np.empty(stack.shape)
        unsure = np.empty(stack.shape, np.float32)
        with working(threads=threads):
            answers.append(labels_of(vote).tobytes())
            vote.write_share(2, share)
            vote.write_uncertainty("entropy", unsure)
            shares.append(share.tobytes() + vote.frequencies.tobytes() + unsure.tobytes())
    assert len(set(answers)) == len(set(shares)) == 1


def test_label_tables_are_those_of_every_rater() -> None:
    rng = np.random.default_rng(5)
    for dtype in ("uint8", "int16", "int64", "float32"):
        arrays = [a.astype(dtype) for a in noisy_raters(rng, (3, 700), 4, 3)]
        for rater in range(4):
            arrays[rater][2, rng.integers(700)] = 50 + rater
        assert LabelStack.multilabel(arrays).labels.tolist() == [0, 1, 2, 50, 51, 52, 53]


def test_wrong_weights_values_and_outputs_are_refused() -> None:
    stack = LabelStack.multilabel([np.arange(4, dtype="u1"), None])
    values = np.zeros(6, "u1")
    with pytest.raises(InputError, match="must have 2 weights >= 0"):
        StackVote(stack, VoteRules(np.ones(1))).write_labels(values, np.empty(4, "u1"))
    with pytest.raises(InputError, match="must get 6 values"):
        StackVote(stack).write_labels(values[:5], np.empty(4, "u1"))
    for out in (np.empty(4, "u2"), np.empty(5, "u1"), np.empty(8, "u1")[::2]):
        with pytest.raises(InputError, match="out must be"):
            StackVote(stack).write_labels(values, out)
    with pytest.raises(InputError, match="out must be float64"):
        StackVote(stack).write_share(0, np.empty(4, "u1"))
    with pytest.raises(InputError, match="label index must be 0 to 3"):
        StackVote(stack).write_share(4, np.empty(4))


@pytest.mark.parametrize("seed", range(60))
def test_masks_are_counted_as_numpy_counts_them(seed: int) -> None:
    rng = np.random.default_rng(seed)
    raters, extent = int(rng.choice([1, 2, 3, 4, 5, 9, 254, 255])), int(rng.integers(1, 3000))
    low, high = sorted(rng.choice(256, 2, replace=False).tolist())
    rate = rng.choice([0.001, 0.5, 0.9])
    said = rng.random((raters, extent)) < rate
    said[0, 0], said[-1, -1] = True, False
    arrays = [np.where(one, high, low).astype(np.uint8) for one in said]
    stack = LabelStack.multilabel(arrays)
    if len(stack.labels) < 2:
        return
    threshold = rng.choice([None, 0.2, 0.5, 0.75])
    ties = str(rng.choice(TIE_RULES))
    out = np.empty(extent, np.uint8)
    vote = StackVote(stack, VoteRules(threshold=threshold, ties=ties))
    vote.write_labels(np.array([10, 11, 12, 13], np.uint8), out)

    share = said.sum(axis=0) / raters
    needed = -1.0 if threshold is None else threshold
    wins = np.maximum(share, 1 - share) > needed + 1e-9
    chosen = np.where(share > 0.5, 11, 10)
    tied = wins & (share == 0.5)
    by_prior = 11 if said.mean() > 0.5 else 10
    chosen[tied] = {"undecided": 13, "background": 12, "lowest": 10, "highest": 11,
                    "prior": by_prior}[ties]  # fmt: skip
    chosen[~wins] = 12 if ties == "background" else 13
    np.testing.assert_array_equal(out, chosen)


@pytest.mark.parametrize("seed", range(40))
def test_masks_packed_while_read_are_voted_and_kept_as_bytes_are(seed: int) -> None:
    rng = np.random.default_rng(seed)
    raters, extent = int(rng.integers(1, 10)), int(rng.choice([1, 31, 256, 257, 700, 200_000]))
    values = rng.choice(256, 2 if rng.random() < 0.8 else 3, replace=False)
    said = rng.choice(
        values, (raters, extent), p=None if rng.random() < 0.5 else _rare(len(values))
    )
    arrays = [None, *said.astype(np.uint8)]
    plain, packed = (LabelStack.multilabel(arrays, packed=flag) for flag in (False, True))
    few = len(plain.labels) == 2 and raters <= 8
    assert (packed.bits is not None) == few
    np.testing.assert_array_equal(packed.labels, plain.labels)
    rules = VoteRules(threshold=rng.choice([None, 0.2, 0.5, 0.8]), ties=str(rng.choice(TIE_RULES)))
    table = np.arange(10, 12 + len(plain.labels), dtype=np.uint8)
    answers = []
    for stack, threads in ((plain, 1), (packed, 1), (packed, 2)):
        out = np.empty(extent, np.uint8)
        with working(threads=threads):
            StackVote(stack, rules).write_labels(table, out)
        answers.append(out)
    np.testing.assert_array_equal(answers[1], answers[0])
    np.testing.assert_array_equal(answers[2], answers[0])
    for array, kept in zip(arrays, KeptStack.of(packed).to_stack().arrays, strict=True):
        np.testing.assert_array_equal(array, kept)


def test_a_stack_with_other_arrays_has_no_bits_of_the_first_ones() -> None:
    masks = [np.array([0, 1, 1], np.uint8)] * 3
    stack = LabelStack.multilabel(masks, packed=True)
    assert stack.bits is not None
    assert replace(stack, arrays=(masks[0],)).bits is None


def _rare(values: int) -> list[float]:
    """Return the probability with which each value is drawn; the first one is by far the most
    likely.
    """
    return [1 - 1e-4 * (values - 1), *[1e-4] * (values - 1)]
