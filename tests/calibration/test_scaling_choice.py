"""A scaling is used only if it helps on cases that are left out of the fit."""

from __future__ import annotations

import numpy as np
import pytest

from itk_consensus.calibration.scaling import METHODS, ScalingTable, choose_scaling, log_loss


def case(true_share: float, said: float = 0.9, voxels: int = 400) -> ScalingTable:
    """Return a case in which half of the voxels have probability `said`, the others 1 - `said`."""
    labels = np.arange(voxels) < true_share * voxels
    p = np.full(voxels, said)
    mirrored = np.concatenate([p, 1 - p])
    return ScalingTable.of([mirrored], np.concatenate([labels, ~labels]).astype(np.int64))


@pytest.mark.parametrize("method", METHODS)
def test_cases_that_err_alike_are_scaled(method):
    tables = [case(share) for share in (0.68, 0.7, 0.72)]
    choice = choose_scaling(tables, method)
    assert not choice.is_identity
    assert choice.after < choice.before
    scaled = choice.scaling.apply([np.array([0.9])])[0]
    assert scaled == pytest.approx(0.7, abs=0.02)


@pytest.mark.parametrize("method", METHODS)
def test_cases_that_err_otherwise_are_left_alone(method):
    tables = [case(share, voxels=40) for share in (0.8, 1.0)]
    choice = choose_scaling(tables, method)
    assert choice.is_identity
    probabilities = np.linspace(0.01, 0.99, 9)
    np.testing.assert_allclose(choice.scaling.apply([probabilities])[0], probabilities, atol=1e-12)


def test_one_case_cannot_be_left_out():
    choice = choose_scaling([case(0.7)], "temperature")
    assert np.isnan(choice.before)
    assert not choice.is_identity


def test_log_loss_is_in_nats_of_all_voxels():
    assert log_loss(case(1.0, voxels=10), None) == pytest.approx(-20 * np.log(0.9))
