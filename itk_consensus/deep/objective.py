"""Loss functions of training: prediction of the truth, or of held-out raters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from itk_consensus.deep.cases import (
    MISSING,
    Batch,
    Case,
    draw_held_out,
    drop_names,
    drop_raters,
    hide_raters,
)
from itk_consensus.deep.model import ConsensusModel, on_device, precision
from itk_consensus.deep.network import one_hot, rater_log_likelihood

_DICE_WEIGHT = 0.5
#: Decay of the raters' tallies per batch: an average over about the last fifty batches.
_TALLY_DECAY = 0.98
#: Number of batches between reads of a GPU's tallies, each of which forces a synchronisation.
_NOTED_BATCHES = 10


class Objective:
    """Loss of a model on batches; depends on the training mode."""

    def __init__(self, model: ConsensusModel, edge_weight: float, mixed_precision: bool) -> None:
        self.model = model
        self._edge_weight = edge_weight
        self._mixed_precision = mixed_precision
        self._met: list[tuple[NDArray[np.int64], Tensor]] = []

    def loss(
        self, batch: Batch, rng: np.random.Generator, kl_weight: float, *, learn: bool
    ) -> Tensor:
        """Return the mean loss; with `learn`, drop random raters and update tallies."""
        if self.model.mode == "truth":
            return self._truth_loss(drop_raters(batch, rng) if learn else batch, kl_weight)
        held_out, names = np.ones(batch.raters.shape, bool), batch.raters
        if self.model.mode == "set":
            held_out = draw_held_out(batch, rng)
            names = drop_names(names, rng) if learn else names
        return self._rater_loss(batch, held_out, names, kl_weight, learn=learn)

    def _truth_loss(self, batch: Batch, kl_weight: float) -> Tensor:
        alpha = self._concentrations(batch.images, batch.labels, batch.raters, batch.priors)
        truth = self._tensor(batch.truths)
        valid = (truth != MISSING).float()
        target = one_hot(truth.unsqueeze(1), alpha.shape[1]).squeeze(1)
        probability = alpha / alpha.sum(1, keepdim=True)
        kl = kl_to_uniform(misleading_evidence(alpha, target))
        return masked_mean(
            expected_cross_entropy(alpha, target) + kl_weight * kl, valid
        ) + _DICE_WEIGHT * soft_dice_loss(probability, target, valid)

    def _rater_loss(
        self,
        batch: Batch,
        held_out: NDArray[np.bool_],
        names: NDArray[np.int64],
        kl_weight: float,
        *,
        learn: bool,
    ) -> Tensor:
        """Return the negative log likelihood of held-out raters (ids `names`), given the
        image and the others.
        """
        alpha = self._concentrations(batch.images, hide_raters(batch.labels, held_out), names)
        votes = one_hot(self._tensor(hide_raters(batch.labels, ~held_out)), alpha.shape[1])
        valid = (votes.sum((1, 2)) > 0).float()
        likelihood = self._likelihood(votes, batch.raters)
        log_probability = torch.log(alpha / alpha.sum(1, keepdim=True))
        posterior = torch.softmax(log_probability + likelihood, 1).detach()
        if learn:
            self._tally(posterior, votes, batch.raters)
        kl = kl_to_uniform(misleading_evidence(alpha, posterior))
        log_likelihood = marginal_log_likelihood(log_probability, likelihood)
        loss = masked_mean(kl_weight * kl - log_likelihood, valid)
        if self.model.mode == "set":
            return loss
        # Votes alone do not determine the exact position of contours, which follow edges of the
        # image.
        roughness = edge_aware_roughness(
            torch.exp(log_probability), self._tensor(batch.images), valid
        )
        return loss + self._edge_weight * roughness

    def _concentrations(
        self,
        images: NDArray[Any],
        seen: NDArray[np.uint8],
        raters: NDArray[np.int64],
        priors: NDArray[np.float32] | None = None,
    ) -> Tensor:
        """Return the network's alpha, given the seen labels and their raters."""
        network = self.model.network
        votes = one_hot(self._tensor(seen), network.shape.classes)
        if priors is None:
            likelihood = self._likelihood(votes, raters)
        else:
            likelihood = torch.log(self._tensor(priors))
        with precision(self.model.device, self._mixed_precision):
            alpha: Tensor = network(self._tensor(images), votes, self._tensor(raters), likelihood)
        return alpha

    def _likelihood(self, votes: Tensor, raters: NDArray[np.int64]) -> Tensor:
        log_rates = self._tensor(self.model.rater_model.log_rates()[raters])
        return rater_log_likelihood(votes, log_rates)

    def _tally(self, posterior: Tensor, votes: Tensor, raters: NDArray[np.int64]) -> None:
        """Accumulate each rater's expected confusion counts for an averaged, closed-form M-step."""
        met = torch.einsum("nks,najs->nakj", posterior.flatten(2), votes.flatten(3))
        self._met.append((raters, met))
        if self.model.device.type == "cpu" or len(self._met) == _NOTED_BATCHES:
            self.flush_tallies()

    def flush_tallies(self) -> None:
        """Add the accumulated counts to the tallies."""
        tally = self.model.rater_model.tally
        for raters, met in self._met:
            tally *= _TALLY_DECAY
            np.add.at(tally, raters, met.cpu().double().numpy())
        self._met.clear()

    def _tensor(self, array: NDArray[Any]) -> Tensor:
        return on_device(array, self.model.device)


def initialize_tally(model: ConsensusModel, cases: Sequence[Case]) -> None:
    """Initialise the tallies from each rater's confusion with the truth or, if training uses none,
    with the vote shares.
    """
    classes = len(model.labels)
    for case in cases:
        present = np.maximum((case.labels != MISSING).sum(0), 1)
        for true in range(classes):
            if model.mode == "truth" and case.truth is not None:
                share = (case.truth == true).astype(np.float32)
            else:
                share = np.float32((case.labels == true).sum(0) / present)
            for rater, drawn in zip(case.raters, case.labels, strict=True):
                counts = np.bincount(drawn.ravel(), share.ravel(), minlength=MISSING + 1)
                model.rater_model.tally[rater, true] += counts[:classes]


#: Makes the Dice of a class that is neither in the truth nor predicted 1 instead of 0 / 0.
_SMOOTH = 1.0
#: Keeps the weights of a flat image finite.
_SMALLEST_CONTRAST = 1e-6


def expected_cross_entropy(alpha: Tensor, target: Tensor) -> Tensor:
    """Return E[-log p_t] under Dir(alpha) per voxel: sum_k t_k (digamma(S) - digamma(alpha_k)).

    Parameters
    ----------
    alpha : (N, K, \\*S) Tensor, >= 1
        At least float32, since digamma and lgamma are too inaccurate in half precision.
    target : (N, K, \\*S) Tensor
        Probabilities of the true class; one-hot if the class is known.

    Returns
    -------
    (N, \\*S) Tensor
    """
    total = alpha.sum(1, keepdim=True)
    return (target * (torch.digamma(total) - torch.digamma(alpha))).sum(1)


def kl_to_uniform(alpha: Tensor) -> Tensor:
    """Return KL(Dir(alpha) || Dir(1)) per voxel (equation 46 of "When Does Consensus Beat
    Voting?").
    """
    total = alpha.sum(1, keepdim=True)
    classes = alpha.new_tensor(float(alpha.shape[1]))
    normaliser = torch.lgamma(total).sum(1) - torch.lgamma(alpha).sum(1) - torch.lgamma(classes)
    return normaliser + ((alpha - 1) * (torch.digamma(alpha) - torch.digamma(total))).sum(1)


def misleading_evidence(alpha: Tensor, target: Tensor) -> Tensor:
    """Return Sensoy's alpha~ = t + (1 - t) alpha: alpha without the evidence for the truth.

    The paper uses the KL divergence of alpha itself. Its optimum is S = K + 1 / weight at every
    voxel, so the total evidence would not depend on uncertainty.
    """
    return target + (1 - target) * alpha


def soft_dice_loss(probability: Tensor, target: Tensor, valid: Tensor) -> Tensor:
    """Return 1 - mean Dice of the foreground classes, with sums over the whole batch."""
    axes = (0, *range(2, probability.ndim))
    p, t = probability * valid.unsqueeze(1), target * valid.unsqueeze(1)
    overlap = 2 * (p * t).sum(axes) + _SMOOTH
    dice = overlap / ((p + t).sum(axes) + _SMOOTH)
    return 1 - dice[1:].mean()


def marginal_log_likelihood(log_probability: Tensor, log_rater_likelihood: Tensor) -> Tensor:
    """Return log sum_k p(k | image) prod_a C_a[k, d_a] per voxel.

    Parameters
    ----------
    log_probability : (N, K, \\*S) Tensor
    log_rater_likelihood : (N, K, \\*S) Tensor
        sum_a log C_a[k, d_a] over the raters present at the voxel.
    """
    return torch.logsumexp(log_probability + log_rater_likelihood, 1)


def edge_aware_roughness(probability: Tensor, image: Tensor, valid: Tensor) -> Tensor:
    """Return the roughness of probabilities between neighbours with similar intensities.

    The mean squared difference is weighted by exp(-d^2 / (2 mean d^2)), where d is the difference
    of intensities: this is the contrast term of Rother, Kolmogorov and Blake, "GrabCut", SIGGRAPH
    2004, used as a loss for weak labels (Tang et al., "On regularized losses for weakly-supervised
    CNN segmentation", ECCV 2018). The mean of d^2 is computed per axis and case, so that thick
    slices have their own scale.

    Parameters
    ----------
    probability : (N, K, \\*S) Tensor
    image : (N, 1, \\*S) Tensor
    valid : (N, \\*S) Tensor
        1 at voxels to include.
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
    """Return the mean over valid voxels; 0 if there are none."""
    return (values * valid).sum() / valid.sum().clamp(min=1)


def _squared_step(values: Tensor, axis: int) -> Tensor:
    """Return squared differences between neighbours along an axis, summed over channels."""
    return values.diff(dim=axis).square().sum(1, keepdim=True)
