"""What training minimises: Dirichlet evidence against a truth, or the likelihood of the raters.

Tensors are (N, K, \\*S): cases, classes, space. Sensoy, Kaplan and Kandemir, "Evidential deep
learning to quantify classification uncertainty", NeurIPS 2018; the paper's equation 46.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

#: Reach, in voxels, of the neighbourhood whose votes tell agreement from chance.
_NEIGHBOURHOOD = 2
#: Dice of a class that neither the truth nor the prediction holds is 1, not 0 / 0.
_SMOOTH = 1.0


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


def local_agreement(votes: Tensor) -> Tensor:
    """Lead of the most over the second most voted class around each voxel, 0 to 1.

    Parameters
    ----------
    votes : (N, A, K, \\*S) Tensor

    Returns
    -------
    (N, \\*S) Tensor
    """
    counts = votes.sum(1)
    pool = functional.avg_pool2d if counts.ndim == 4 else functional.avg_pool3d
    around = pool(counts, 2 * _NEIGHBOURHOOD + 1, stride=1, padding=_NEIGHBOURHOOD)
    first, second = around.topk(2, 1).values.unbind(1)
    return (first - second) / around.sum(1).clamp(min=1e-6)


def masked_mean(values: Tensor, valid: Tensor) -> Tensor:
    """Mean over the voxels that count; 0 if there are none."""
    return (values * valid).sum() / valid.sum().clamp(min=1)
