from __future__ import annotations

import warnings

import numpy as np
import pytest
from cohort_lists import QUICK, image_list, label_lists, truth_list
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, special

torch = pytest.importorskip("torch")

from itk_consensus.core.errors import ConsensusWarning  # noqa: E402
from itk_consensus.deep.deep_consensus_filter import DeepConsensusFilter  # noqa: E402
from itk_consensus.deep.objective import (  # noqa: E402
    edge_aware_roughness,
    expected_cross_entropy,
    kl_to_uniform,
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
    """Reason for not using the published loss: its optimum is S = K + 1 / weight at every voxel."""

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


def brute_force_roughness(probability, image, valid):
    """Sum over all pairs of neighbours, one after the other."""
    total = 0.0
    for axis in range(image.ndim - 2):
        pairs = []
        for case in range(len(image)):
            found = []
            for here in np.ndindex(image.shape[2:]):
                there = tuple(x + (a == axis) for a, x in enumerate(here))
                if there[axis] == image.shape[2 + axis]:
                    continue
                if valid[(case, *here)] and valid[(case, *there)]:
                    at, to = (case, slice(None), *here), (case, slice(None), *there)
                    step = np.sum((probability[at] - probability[to]) ** 2)
                    found.append((float(np.sum((image[at] - image[to]) ** 2)), step))
            scale = np.mean([contrast for contrast, _ in found])
            pairs += [np.exp(-contrast / (2 * scale)) * step for contrast, step in found]
        total += np.mean(pairs)
    return total


@pytest.mark.parametrize("space", [(7, 6), (4, 5, 3)])
def test_roughness_equals_a_sum_over_pairs_of_neighbours(space):
    rng = np.random.default_rng(0)
    p, image = rng.random((2, 3, *space)), rng.normal(size=(2, 1, *space))
    valid = (rng.random((2, *space)) < 0.8).astype(float)
    ours = edge_aware_roughness(*(torch.from_numpy(one) for one in (p, image, valid)))
    assert float(ours) == pytest.approx(brute_force_roughness(p, image, valid), rel=1e-5)


def test_a_contour_on_an_edge_of_the_image_is_cheaper_than_one_beside_it():
    image = torch.zeros(1, 1, 8, 8)
    image[..., 4:] = 1
    valid = torch.ones(1, 8, 8)
    inside = torch.arange(8) >= torch.tensor([[4], [5]])
    on, beside = (
        edge_aware_roughness(
            torch.stack([~mask, mask])[None, :, None].expand(1, 2, 8, 8).float(), image, valid
        )
        for mask in inside
    )
    assert on < 0.1 * beside


def test_brightness_and_contrast_do_not_change_roughness_and_a_flat_image_is_finite():
    rng = torch.Generator().manual_seed(0)
    p = torch.rand(1, 2, 6, 6, generator=rng)
    image, valid = torch.rand(1, 1, 6, 6, generator=rng), torch.ones(1, 6, 6)
    first = float(edge_aware_roughness(p, image, valid))
    assert float(edge_aware_roughness(p, 30 * image - 5, valid)) == pytest.approx(first, rel=1e-3)
    flat = float(edge_aware_roughness(p, torch.zeros_like(image), valid))
    assert flat == pytest.approx(sum(float(p.diff(dim=a).square().sum(1).mean()) for a in (2, 3)))
    assert float(edge_aware_roughness(p, image, torch.zeros_like(valid))) == 0


def test_a_larger_kl_weight_leaves_less_evidence(cohort):
    """With otherwise identical training, misleading evidence costs more, so the network gives
    less evidence.
    """
    evidence = []
    for weight in (0.0, 50.0):
        deep = DeepConsensusFilter(**QUICK, KLWeight=weight)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConsensusWarning)
            deep.Fit(image_list(cohort), label_lists(cohort), truth_list(cohort))
            deep.Execute(image_list(cohort)[0], label_lists(cohort)[0])
        evidence.append(float(np.asarray(deep.GetEvidenceImage()).mean()))
    assert evidence[1] < evidence[0]
