from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from itk_consensus.votes.ties import BACKGROUND, TIE_RULES, UNDECIDED, decide

votes = arrays(
    np.float64,
    st.tuples(st.integers(1, 6), st.integers(1, 5)),
    elements=st.sampled_from([0.0, 1.0, 2.0, 3.0, -np.inf]),
)


def decide_one(row: list[float], rule: str, prior: list[float]) -> int:
    best = max(row)
    if best == -np.inf:
        return BACKGROUND if rule == "background" else UNDECIDED
    tied = [label for label, score in enumerate(row) if score == best]
    if len(tied) == 1 or rule == "lowest":
        return tied[0]
    if rule == "highest":
        return tied[-1]
    if rule == "prior":
        return max(tied, key=lambda label: prior[label])
    return {"undecided": UNDECIDED, "background": BACKGROUND}[rule]


@given(votes, st.sampled_from(TIE_RULES), st.integers(0, 2**32 - 1))
def test_decisions_are_those_made_row_by_row(scores: np.ndarray, rule: str, seed: int) -> None:
    labels = np.arange(scores.shape[1])
    prior = np.random.default_rng(seed).choice([0.1, 0.2, 0.3], scores.shape[1])
    decision = decide(scores, labels, rule, prior=prior)
    expected = [decide_one(row.tolist(), rule, prior.tolist()) for row in scores]
    assert decision.tolist() == expected
    assert decision.dtype == np.int64


@given(votes)
def test_any_tie_at_the_top_is_undecided_by_default(scores: np.ndarray) -> None:
    best = scores.max(axis=1, keepdims=True)
    tied = (scores == best).sum(axis=1) > 1
    impossible = np.isneginf(best[:, 0])
    decision = decide(scores, np.arange(scores.shape[1]))
    np.testing.assert_array_equal(decision == UNDECIDED, tied | impossible)


@pytest.mark.parametrize("rule", TIE_RULES)
def test_scores_within_the_tolerance_are_tied(rule: str) -> None:
    scores = np.array([[1.0, 1.0 + 1e-13], [1.0, 1.0 + 1e-9]])
    exact = np.array([[1.0, 1.0], [1.0, 2.0]])
    prior = np.array([0.7, 0.3])
    labels = np.arange(2)
    np.testing.assert_array_equal(
        decide(scores, labels, rule, tolerance=1e-12, prior=prior),
        decide(exact, labels, rule, prior=prior),
    )


def test_no_scores_give_no_decisions() -> None:
    assert decide(np.zeros((0, 3)), np.arange(3)).tolist() == []


def test_one_label_always_wins() -> None:
    assert decide(np.zeros((4, 1)), np.arange(1)).tolist() == [0, 0, 0, 0]


def test_the_prior_rule_asks_for_the_frequencies() -> None:
    with pytest.raises(ValueError, match="needs the label frequencies"):
        decide(np.zeros((1, 2)), np.arange(2), "prior")
