from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta

from itk_consensus.calibration.conformal import (
    case_loss,
    cases_needed,
    conformal_rank,
    conformal_threshold,
    coverage_range,
    risk_threshold,
)
from itk_consensus.calibration.scores import ScoreDistribution

step_scores = st.lists(st.integers(-6, 6).map(float), min_size=1, max_size=12)
cases_of_two_labels = st.lists(st.tuples(step_scores, step_scores), min_size=4, max_size=12)


@pytest.mark.parametrize(("alpha", "needed"), [(0.1, 9), (0.05, 19), (0.01, 99), (0.3, 3)])
def test_the_fewest_cases_are_those_whose_rank_exists(alpha, needed):
    assert cases_needed(alpha) == needed
    assert conformal_rank(alpha, needed) == needed
    assert conformal_rank(alpha, needed - 1) == needed
    assert conformal_threshold([0.0] * (needed - 1), alpha) == np.inf


@pytest.mark.parametrize(("n", "rank"), [(9, 9), (19, 18), (20, 19), (29, 27), (99, 90)])
def test_rank_takes_alpha_at_its_decimal_word(n, rank):
    assert conformal_rank(0.1, n) == rank


@pytest.mark.slow
@pytest.mark.parametrize(("n", "alpha"), [(20, 0.1), (45, 0.05)])
def test_coverage_of_continuous_scores_is_the_closed_form(n, alpha):
    """Given the calibration set, coverage follows Beta(k, n + 1 - k); tested with uniform
    scores.
    """
    _coverage_follows_beta(n, alpha, draws=20_000)


def test_coverage_of_continuous_scores_is_the_closed_form_quickly():
    _coverage_follows_beta(20, 0.1, draws=4_000)


def _coverage_follows_beta(n, alpha, draws):
    rng = np.random.default_rng(1)
    # For uniform scores, coverage equals the threshold.
    coverage = [conformal_threshold(rng.random(n).tolist(), alpha) for _ in range(draws)]
    rank = conformal_rank(alpha, n)
    law = beta(rank, n + 1 - rank)
    assert np.mean(coverage) == pytest.approx(law.mean(), abs=4 * law.std() / draws**0.5)
    low, high = coverage_range(alpha, n)
    share = np.mean((low <= np.array(coverage)) & (np.array(coverage) <= high))
    assert share == pytest.approx(0.8, abs=4 * (0.16 / draws) ** 0.5)


def distributions(cases):
    return [[ScoreDistribution.of(np.array(label)) for label in case] for case in cases]


@given(cases_of_two_labels, st.sampled_from([0.2, 0.25, 0.3, 0.5]))
def test_risk_threshold_is_the_smallest_that_keeps_the_bound(cases, alpha):
    def bound(tau):
        losses = [max(np.mean(np.array(label) > tau) for label in case) for case in cases]
        return (sum(losses) + 1) / (len(cases) + 1)

    threshold = risk_threshold(distributions(cases), alpha)
    assert bound(threshold) <= alpha + 1e-12
    lower = {score for case in cases for label in case for score in label if score < threshold}
    assert all(bound(score) > alpha - 1e-12 for score in lower)


def test_too_few_cases_leave_no_finite_risk_threshold():
    few = distributions([([0.0, 1.0],)] * 8)
    assert risk_threshold(few, 0.1) == np.inf
    assert risk_threshold([*few, *few[:1]], 0.1) == 1.0


@given(cases_of_two_labels, st.floats(-7, 7), st.floats(0, 5))
def test_case_loss_never_rises_with_the_threshold(cases, threshold, step):
    for case in distributions(cases):
        assert case_loss(case, threshold + step) <= case_loss(case, threshold)


@given(cases_of_two_labels)
def test_larger_alpha_never_widens_the_band(cases):
    thresholds = [risk_threshold(distributions(cases), alpha) for alpha in (0.2, 0.3, 0.5)]
    assert thresholds == sorted(thresholds, reverse=True)


GRID_STEP = 0.01
# Thresholds of MAPIE 1.6 for `segmentations`; a test below recomputes them if it is installed.
MAPIE_THRESHOLDS = {0.05: 0.18, 0.1: 0.3, 0.2: 0.45}


def segmentations():
    """Return 40 small probability maps of varying quality, and the true masks."""
    rng = np.random.default_rng(3)
    truth = rng.random((40, 1, 12, 12)) < 0.4
    logits = rng.normal(np.where(truth, 1.0, -1.0) + rng.normal(0, 0.7, (40, 1, 1, 1)), 1.0)
    return 1 / (1 + np.exp(-logits)), truth


@pytest.mark.parametrize("alpha", MAPIE_THRESHOLDS)
def test_risk_threshold_agrees_with_mapie_within_one_grid_step(alpha):
    probability, truth = segmentations()
    # Scores decrease with the probability: a voxel is kept if its score is low enough.
    cases = [[ScoreDistribution.of(-p[t])] for p, t in zip(probability, truth, strict=True)]
    assert -risk_threshold(cases, alpha) == pytest.approx(MAPIE_THRESHOLDS[alpha], abs=GRID_STEP)


@pytest.mark.parametrize("alpha", MAPIE_THRESHOLDS)
def test_mapie_still_finds_the_thresholds_written_here(alpha):
    mapie = pytest.importorskip("mapie.risk_control", reason="MAPIE is a test oracle only")
    probability, truth = segmentations()
    controller = mapie.SemanticSegmentationController(
        predict_function=lambda maps: maps,
        risk="recall",
        method="crc",
        target_level=1 - alpha,
        predict_params=np.arange(0, 1, GRID_STEP),
    )
    controller.calibrate(probability, truth.reshape(len(truth), -1).astype(int))
    assert controller.best_predict_param[0] == pytest.approx(MAPIE_THRESHOLDS[alpha])
