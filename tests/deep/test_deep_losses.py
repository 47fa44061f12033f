from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, special

torch = pytest.importorskip("torch")

from itk_consensus.deep.losses import (  # noqa: E402
    expected_cross_entropy,
    kl_to_uniform,
    local_agreement,
    marginal_log_likelihood,
    masked_mean,
    misleading_evidence,
    soft_dice_loss,
)

concentrations = st.lists(st.floats(1.0, 5000.0), min_size=2, max_size=6)


def as_voxel(values):
    return torch.tensor(values, dtype=torch.float64).reshape(1, -1, 1, 1)


@given(concentrations)
def test_kl_agrees_with_torch_distributions(alpha):
    dirichlet = torch.distributions.Dirichlet
    tensor = torch.tensor(alpha, dtype=torch.float64)
    expected = torch.distributions.kl_divergence(
        dirichlet(tensor), dirichlet(torch.ones_like(tensor))
    )
    assert float(kl_to_uniform(as_voxel(alpha))) == pytest.approx(float(expected), abs=1e-9)


def test_kl_survives_single_precision_where_half_precision_would_not():
    alpha = as_voxel([3000.0, 1.0])
    assert float(kl_to_uniform(alpha.float())) == pytest.approx(
        float(kl_to_uniform(alpha)), rel=1e-3
    )


@given(concentrations)
def test_expected_cross_entropy_is_the_closed_form(alpha):
    target = np.zeros(len(alpha))
    target[0] = 1
    expected = special.digamma(sum(alpha)) - special.digamma(alpha[0])
    ours = float(expected_cross_entropy(as_voxel(alpha), as_voxel(target)))
    assert ours == pytest.approx(expected, abs=1e-9)


def test_expected_cross_entropy_is_the_mean_over_the_dirichlet():
    alpha = np.array([4.0, 2.0, 1.5])
    drawn = np.random.default_rng(0).dirichlet(alpha, 200_000)
    expected = -np.log(drawn[:, 1]).mean()
    assert float(expected_cross_entropy(as_voxel(alpha), as_voxel([0, 1, 0]))) == pytest.approx(
        expected, rel=0.01
    )


@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("weight", [0.05, 0.2, 1.0])
def test_raw_kl_has_the_same_total_evidence_everywhere_whatever_the_truth(classes, weight):
    """Why the printed loss is not used: its optimum is S = K + 1 / weight at every voxel."""

    def loss(log_evidence, target):
        alpha = as_voxel([1 + np.exp(log_evidence), *[1.0] * (classes - 1)])
        return float(expected_cross_entropy(alpha, target) + weight * kl_to_uniform(alpha))

    certain = as_voxel([1.0, *[0.0] * (classes - 1)])
    best = optimize.minimize_scalar(
        lambda z: loss(z, certain), bounds=(-5, 12), method="bounded", options={"xatol": 1e-9}
    ).x
    assert classes + np.exp(best) == pytest.approx(classes + 1 / weight, rel=1e-3)


def test_evidence_for_the_truth_is_not_penalised():
    target = as_voxel([1.0, 0.0])
    kl = [float(kl_to_uniform(misleading_evidence(as_voxel([a, 1.0]), target))) for a in (2, 900)]
    assert kl == [0.0, 0.0]
    wrong = misleading_evidence(as_voxel([1.0, 9.0]), target)
    assert float(kl_to_uniform(wrong)) > 1


def test_soft_dice_of_masks_is_their_dice_up_to_its_smoothing():
    rng = np.random.default_rng(1)
    first, second = rng.random((2, 1, 40, 40)) < 0.5
    onehot = [torch.from_numpy(np.stack([~m, m], 1).astype(np.float64)) for m in (first, second)]
    ours = 1 - float(soft_dice_loss(*onehot, torch.ones(1, 40, 40)))
    assert ours == pytest.approx(
        2 * (first & second).sum() / (first.sum() + second.sum()), abs=1e-3
    )


def test_soft_dice_agrees_with_monai():
    losses = pytest.importorskip("monai.losses")
    rng = torch.Generator().manual_seed(0)
    p = torch.softmax(torch.randn(3, 4, 9, 9, generator=rng), 1)
    t = torch.nn.functional.one_hot(torch.randint(0, 4, (3, 9, 9), generator=rng), 4).movedim(-1, 1)
    theirs = losses.DiceLoss(include_background=False, batch=True, smooth_nr=1.0, smooth_dr=1.0)
    ours = soft_dice_loss(p, t.float(), torch.ones(3, 9, 9))
    assert float(ours) == pytest.approx(float(theirs(p, t.float())), abs=1e-6)


def test_voxels_that_do_not_count_change_nothing():
    p = torch.rand(1, 2, 4, 4)
    t = torch.zeros(1, 2, 4, 4)
    valid = torch.zeros(1, 4, 4)
    valid[:, :2] = 1
    spoiled = p.clone()
    spoiled[:, :, 2:] = 0.77
    assert soft_dice_loss(p, t, valid) == soft_dice_loss(spoiled, t, valid)
    assert masked_mean(p[:, 0], valid) == masked_mean(spoiled[:, 0], valid)


def test_marginal_likelihood_sums_over_the_hidden_truth():
    prior, rates = np.array([0.7, 0.3]), np.array([[0.9, 0.1], [0.2, 0.8]])
    drawn = [1, 1, 0]
    expected = np.log(sum(prior[k] * np.prod([rates[k, d] for d in drawn]) for k in range(2)))
    likelihood = [sum(np.log(rates[k, d]) for d in drawn) for k in range(2)]
    ours = marginal_log_likelihood(torch.log(as_voxel(prior)), as_voxel(likelihood))
    assert float(ours) == pytest.approx(expected)


@pytest.mark.parametrize("dimension", [2, 3])
def test_local_agreement_is_one_where_all_agree_and_zero_between_equal_camps(dimension):
    space = (12,) * dimension
    labels = torch.zeros(1, 2, 2, *space)
    labels[:, :, 0] = 1
    assert torch.allclose(local_agreement(labels), torch.ones(1, *space))
    labels[:, 1] = labels[:, 1].flip(1)
    assert torch.allclose(local_agreement(labels), torch.zeros(1, *space), atol=1e-6)
