"""What training minimises: Dirichlet evidence against a truth, or the likelihood of the raters.

Tensors are (N, K, \\*S): cases, classes, space. Sensoy, Kaplan and Kandemir, "Evidential deep
learning to quantify classification uncertainty", NeurIPS 2018; the paper's equation 46.
"""

from __future__ import annotations

import torch
from torch import Tensor

#: Dice of a class that neither the truth nor the prediction holds is 1, not 0 / 0.
_SMOOTH = 1.0
#: Keeps the weights of a flat image finite.
_SMALLEST_CONTRAST = 1e-6


def expected_cross_entropy(alpha: Tensor, target: Tensor) -> Tensor:
    """E[-log p_t] under Dir(alpha), per voxel: sum_k t_k (digamma(S) - digamma(alpha_k)).

    Parameters
    ----------
    alpha : (N, K, \\*S) Tensor, >= 1
        Of at least 32 bits: in half precision digamma and lgamma lose everything.
    target : (N, K, \\*S) Tensor
        Probabilities of the true class, one-hot if it is known.

    Returns
    -------
    (N, \\*S) Tensor
    """
    total = alpha.sum(1, keepdim=True)
    return (target * (torch.digamma(total) - torch.digamma(alpha))).sum(1)


def kl_to_uniform(alpha: Tensor) -> Tensor:
    """KL(Dir(alpha) || Dir(1)) per voxel, the paper's equation 46."""
    total = alpha.sum(1, keepdim=True)
    classes = alpha.new_tensor(float(alpha.shape[1]))
    normaliser = torch.lgamma(total).sum(1) - torch.lgamma(alpha).sum(1) - torch.lgamma(classes)
    return normaliser + ((alpha - 1) * (torch.digamma(alpha) - torch.digamma(total))).sum(1)


def misleading_evidence(alpha: Tensor, target: Tensor) -> Tensor:
    """Sensoy's alpha~ = t + (1 - t) alpha: what is left without the evidence for the truth.

    The paper prints the KL of the raw alpha. Its optimum is S = K + 1 / weight at every voxel, so
    that total evidence would say nothing about uncertainty.
    """
    return target + (1 - target) * alpha


def soft_dice_loss(probability: Tensor, target: Tensor, valid: Tensor) -> Tensor:
    """1 - Dice of the foreground classes, averaged over them; sums run over the whole batch."""
    axes = (0, *range(2, probability.ndim))
    p, t = probability * valid.unsqueeze(1), target * valid.unsqueeze(1)
    overlap = 2 * (p * t).sum(axes) + _SMOOTH
    dice = overlap / ((p + t).sum(axes) + _SMOOTH)
    return 1 - dice[1:].mean()


def marginal_log_likelihood(log_probability: Tensor, log_rater_likelihood: Tensor) -> Tensor:
    """log sum_k p(k | image) prod_a C_a[k, d_a] per voxel.

    Parameters
    ----------
    log_probability : (N, K, \\*S) Tensor
    log_rater_likelihood : (N, K, \\*S) Tensor
        sum_a log C_a[k, d_a] over the raters present at the voxel.
    """
    return torch.logsumexp(log_probability + log_rater_likelihood, 1)


def edge_aware_roughness(probability: Tensor, image: Tensor, valid: Tensor) -> Tensor:
    """How much neighbours differ in probability where they do not differ in intensity.

    Squared differences, weighted by exp(-d^2 / (2 mean d^2)) with d the difference of intensity:
    the contrast term of Rother, Kolmogorov and Blake, "GrabCut", SIGGRAPH 2004, as a loss for weak
    labels (Tang et al., "On regularized losses for weakly-supervised CNN segmentation", ECCV 2018).
    The mean is taken along each axis of each case, so that thick slices have a scale of their own.

    Parameters
    ----------
    probability : (N, K, \\*S) Tensor
    image : (N, 1, \\*S) Tensor
    valid : (N, \\*S) Tensor
        1 at the voxels that count.
    """
    total = probability.new_zeros(())
    for axis in range(2, probability.ndim):
        here, there = (valid.narrow(axis - 1, i, valid.shape[axis - 1] - 1) for i in (0, 1))
        pairs = (here * there).unsqueeze(1)
        contrast = _squared_step(image, axis)
        inside = tuple(range(1, contrast.ndim))
        scale = (contrast * pairs).sum(inside, keepdim=True) / pairs.sum(
            inside, keepdim=True
        ).clamp(min=1)
        similar = torch.exp(-contrast / (2 * scale + _SMALLEST_CONTRAST))
        total = total + masked_mean(similar * _squared_step(probability, axis), pairs)
    return total


def masked_mean(values: Tensor, valid: Tensor) -> Tensor:
    """Mean over the voxels that count; 0 if there are none."""
    return (values * valid).sum() / valid.sum().clamp(min=1)


def _squared_step(values: Tensor, axis: int) -> Tensor:
    """Squared difference of each voxel to the next along an axis, summed over the channels."""
    return values.diff(dim=axis).square().sum(1, keepdim=True)
