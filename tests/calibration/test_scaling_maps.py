from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.optimize import minimize
from scipy.special import expit, softmax

from itk_consensus.calibration.probabilities import log_odds, smoothed_votes
from itk_consensus.calibration.scaling import (
    METHODS,
    IsotonicScaling,
    LogitScaling,
    ScalingTable,
    fit_scaling,
)

probabilities = hnp.arrays(float, 40, elements=st.floats(0, 1))


def drawn(temperature, bias, size=200_000, seed=0):
    """Draw overconfident probabilities whose calibrated version is known."""
    rng = np.random.default_rng(seed)
    p = expit(rng.normal(0, 4, size))
    labels = rng.random(size) < expit(log_odds(p) / temperature + bias)
    return p, labels.astype(np.uint16)


@pytest.mark.parametrize(("temperature", "bias"), [(1.0, 0.0), (2.5, -0.8), (0.5, 0.4)])
def test_temperature_and_bias_are_recovered(temperature, bias):
    p, labels = drawn(temperature, bias)
    scaling = LogitScaling.fit(ScalingTable.of([p], labels), with_bias=True)
    # Standard errors for 200,000 voxels are below .01.
    assert scaling.temperature == pytest.approx(temperature, rel=0.03)
    assert scaling.bias == pytest.approx((0.0, bias), abs=0.03)


def test_fit_is_the_optimum_scipy_finds_without_our_gradient():
    p, labels = drawn(2.0, 0.5, size=400, seed=5)

    def loss(parameters):
        odds = log_odds(p) * parameters[0] + parameters[1]
        return -np.mean(np.where(labels == 1, np.log(expit(odds)), np.log(expit(-odds))))

    expected = minimize(
        loss, [1.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-13}
    )
    found = LogitScaling.fit(ScalingTable.of([p], labels), with_bias=True)
    assert 1 / found.temperature == pytest.approx(expected.x[0], rel=1e-4)
    assert found.bias[1] == pytest.approx(expected.x[1], abs=1e-4)


def test_temperature_alone_has_no_bias():
    p, labels = drawn(3.0, -1.0, size=5_000)
    assert fit_scaling(ScalingTable.of([p], labels), "temperature").bias == (0.0, 0.0)


def test_perfectly_separated_voxels_keep_the_fit_finite():
    p = np.array([0.1, 0.2, 0.8, 0.9])
    scaling = LogitScaling.fit(ScalingTable.of([p], np.array([0, 0, 1, 1])), with_bias=True)
    assert np.isfinite([scaling.temperature, *scaling.bias]).all()


@given(probabilities, st.floats(0.05, 20), st.floats(-3, 3))
def test_scaling_keeps_the_order_of_voxels(p, temperature, bias):
    (scaled,) = LogitScaling(temperature, (0.0, bias)).apply([p])
    order = np.argsort(p, kind="stable")
    assert (np.diff(scaled[order]) >= 0).all()
    assert ((scaled >= 0) & (scaled <= 1)).all()


@given(probabilities)
def test_temperature_one_without_bias_changes_only_certainties(p):
    (scaled,) = LogitScaling(1.0, (0.0, 0.0)).apply([p])
    np.testing.assert_allclose(scaled, np.clip(p, 1e-6, 1 - 1e-6), atol=1e-12)


@given(probabilities, st.floats(0.1, 10), st.floats(-3, 3))
def test_one_image_and_one_per_label_scale_alike(p, temperature, bias):
    scaling = LogitScaling(temperature, (0.0, bias))
    background, foreground = scaling.apply([1 - p, p])
    np.testing.assert_allclose(foreground, scaling.apply([p])[0], atol=1e-9)
    np.testing.assert_allclose(background + foreground, 1)


@pytest.mark.parametrize("method", METHODS)
def test_labels_stay_a_distribution(method):
    rng = np.random.default_rng(1)
    p = softmax(3 * rng.normal(size=(3, 2_000)), axis=0)
    labels = np.array([rng.choice(3, p=column) for column in (p**0.4 / (p**0.4).sum(axis=0)).T])
    scaling = fit_scaling(ScalingTable.of(list(p), labels), method)
    scaled = np.array(scaling.apply(list(p)))
    np.testing.assert_allclose(scaled.sum(axis=0), 1)
    if method != "isotonic":
        # The standard error is about .06 for 2,000 voxels.
        assert scaling.temperature == pytest.approx(2.5, abs=0.3)


def brute_force_isotonic(means, weights):
    """Apply the min-max formula: the value at i is the maximum over a <= i of the minimum over
    b >= i of the block mean.
    """
    n = len(means)
    block = lambda a, b: np.average(means[a : b + 1], weights=weights[a : b + 1])  # noqa: E731
    return [max(min(block(a, b) for b in range(i, n)) for a in range(i + 1)) for i in range(n)]


@given(st.lists(st.tuples(st.integers(0, 9), st.booleans()), min_size=2, max_size=40))
def test_isotonic_curve_is_the_min_max_formula(voxels):
    p, labels = (np.array(column) for column in zip(*voxels, strict=True))
    p = p / 9
    scaling = IsotonicScaling.fit(ScalingTable.of([p], labels.astype(int)))
    distinct = np.unique(p)
    means = [labels[p == value].mean() for value in distinct]
    weights = [np.sum(p == value) for value in distinct]
    np.testing.assert_allclose(
        scaling.apply([distinct])[0], brute_force_isotonic(means, weights), atol=1e-12
    )


def test_votes_are_smoothed_by_half_a_vote_per_label():
    (share,) = smoothed_votes([np.array([0.0, 0.4, 1.0])], 5)
    np.testing.assert_allclose(share, [0.5 / 6, 2.5 / 6, 5.5 / 6])
    labels = smoothed_votes([np.array([1.0]), np.array([0.0]), np.array([0.0])], 4)
    np.testing.assert_allclose(np.sum(labels, axis=0), 1)


def test_tables_of_cases_join_into_one():
    p, labels = drawn(2.0, 0.3, size=3_000)
    whole = LogitScaling.fit(ScalingTable.of([p], labels), with_bias=True)
    parts = [ScalingTable.of([p[i]], labels[i]) for i in (np.s_[:1_000], np.s_[1_000:])]
    joined = LogitScaling.fit(ScalingTable.concatenate(parts), with_bias=True)
    assert joined.temperature == pytest.approx(whole.temperature, rel=1e-6)
