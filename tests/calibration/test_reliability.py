from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import softmax

from itk_consensus.calibration.reliability import BINS, Reliability, ReliabilityCurve


def brute_force_ece(p, happened):
    """Compute the paper's sum over bins explicitly."""
    total = 0.0
    for m in range(BINS):
        last = m == BINS - 1
        inside = (p * BINS >= m) & ((p * BINS < m + 1) | last)
        if inside.any():
            total += inside.sum() * abs(happened[inside].mean() - p[inside].mean())
    return total / len(p)


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=80))
def test_ece_is_the_sum_over_bins(voxels):
    p, happened = (np.array(column) for column in zip(*voxels, strict=True))
    curve = ReliabilityCurve.of(p.astype(float), happened)
    assert curve.expected_calibration_error == pytest.approx(brute_force_ece(p, happened))


def test_binary_measures_are_the_textbook_formulas():
    rng = np.random.default_rng(2)
    p = rng.random(500)
    y = rng.random(500) < p**2
    summary = Reliability.of([1 - p, p], y).summary()
    assert summary.class_ece == pytest.approx(brute_force_ece(p, y))
    assert summary.top_label_ece == pytest.approx(
        brute_force_ece(np.maximum(p, 1 - p), (p >= 0.5) == y)
    )
    assert summary.brier == pytest.approx(np.mean((p - y) ** 2))
    assert summary.nll == pytest.approx(-np.mean(np.log(np.where(y, p, 1 - p))), rel=1e-4)


def test_measures_of_several_labels_are_the_textbook_formulas():
    rng = np.random.default_rng(3)
    p = softmax(rng.normal(size=(3, 400)), axis=0)
    y = rng.integers(0, 3, 400)
    summary = Reliability.of(list(p), y).summary()
    hot = np.eye(3)[y].T
    assert summary.class_ece == pytest.approx(
        np.mean([brute_force_ece(p[k], y == k) for k in (1, 2)])
    )
    assert summary.top_label_ece == pytest.approx(
        brute_force_ece(p.max(axis=0), p.argmax(axis=0) == y)
    )
    assert summary.brier == pytest.approx(((p - hot) ** 2).sum(axis=0).mean() / 2)
    assert summary.nll == pytest.approx(-np.log(p[y, np.arange(400)]).mean())


def test_honest_probabilities_have_no_calibration_error():
    rng = np.random.default_rng(4)
    p = rng.random(200_000)
    y = rng.random(p.size) < p
    summary = Reliability.of([1 - p, p], y).summary()
    # Each of 15 bins contains 13,000 voxels, so its standard error is below .0045.
    assert summary.class_ece < 0.0045
    assert summary.brier == pytest.approx(1 / 6, abs=0.003)


def test_certain_and_wrong_costs_a_finite_log_loss():
    p = np.array([0.0, 1.0])
    summary = Reliability.of([1 - p, p], np.array([1, 0])).summary()
    assert np.isfinite(summary.nll)
    assert summary.class_ece == 1.0
    assert summary.brier == 1.0


@given(st.integers(1, 50), st.integers(0, 2**32 - 1))
def test_parts_add_up_to_the_whole(split, seed):
    rng = np.random.default_rng(seed)
    p, y = rng.random(60), rng.random(60) < 0.5
    whole = Reliability.of([1 - p, p], y).summary()
    parts = [Reliability.of([1 - p[i], p[i]], y[i]) for i in (np.s_[:split], np.s_[split:])]
    joined = (parts[0] + parts[1]).summary()
    for name in ("class_ece", "top_label_ece", "brier", "nll"):
        assert getattr(joined, name) == pytest.approx(getattr(whole, name))
