"""Training, in three modes that differ in what they are told.

truth : the network sees image and raters and learns a known truth.
joint : nobody knows the truth. The network sees the image only and learns, together with one
        accuracy per rater, to make what the raters drew likely.
set   : nobody knows the truth. The network sees image and some raters and predicts the others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from itk_consensus.deep.cases import (
    MISSING,
    Batch,
    Case,
    PatchSampler,
    as_batch,
    digest,
    draw_held_out,
    hidden,
    patch_shape,
    split,
    telling_patches,
    with_names_dropped,
    with_raters_dropped,
)
from itk_consensus.deep.losses import (
    edge_aware_roughness,
    expected_cross_entropy,
    kl_to_uniform,
    marginal_log_likelihood,
    masked_mean,
    misleading_evidence,
    soft_dice_loss,
)
from itk_consensus.deep.model import ConsensusModel, precision, seeded
from itk_consensus.deep.network import STRIDE, one_hot, rater_log_likelihood
from itk_consensus.errors import TrainingError

_LARGEST_KL_WEIGHT = 0.05
_DICE_WEIGHT = 0.5
_WEIGHT_DECAY = 1e-2
_GRADIENT_LIMIT = 5.0
#: How fast old tallies of the raters fade: an average over the last fifty batches.
_TALLY_DECAY = 0.98
_EVALUATIONS = 10


@dataclass(frozen=True)
class TrainingSettings:
    """How long and how to train.

    Attributes
    ----------
    iterations, batch_size : int
    learning_rate : float
        The peak of the one-cycle schedule.
    window : tuple of int
        Largest patch, in array axis order.
    validation_fraction : float
        Share of the cases that only decide when to stop.
    patience : int
        Evaluations, of ten in a full training, without improvement before training stops.
    seed : int
    edge_weight : float
        Joint mode: how much it costs if labels change where the image does not.
    mixed_precision : bool
        bfloat16 for the network, on CUDA only.
    """

    iterations: int
    batch_size: int
    learning_rate: float
    window: tuple[int, ...]
    validation_fraction: float
    patience: int
    seed: int
    edge_weight: float
    mixed_precision: bool


@dataclass
class TrainingState:
    """What a checkpoint keeps besides the model."""

    iteration: int = 0
    best_score: float = math.inf
    best_weights: dict[str, Tensor] | None = None
    best_tally: NDArray[np.float64] | None = None
    stale: int = 0


class Trainer:
    """Trains the network of a model in place."""

    def __init__(
        self,
        model: ConsensusModel,
        cases: Sequence[Case],
        settings: TrainingSettings,
    ) -> None:
        self.model = model
        self.settings = settings
        self.state = TrainingState()
        self.cases = cases
        training, validation = split(len(cases), settings.validation_fraction, settings.seed)
        shape = patch_shape(cases, settings.window, STRIDE)
        train_cases = [cases[i] for i in training]
        self._shape = shape
        self._judged = [cases[i] for i in validation] or train_cases
        self._validation = [patch for i in validation for patch in telling_patches(cases[i], shape)]
        self._sampler = PatchSampler(train_cases, shape, settings.batch_size, settings.seed)
        self.optimizer = torch.optim.AdamW(
            model.network.parameters(), lr=settings.learning_rate, weight_decay=_WEIGHT_DECAY
        )
        if not model.rater_model.tally.any():
            _first_tally(model, train_cases)

    @cached_property
    def fingerprint(self) -> str:
        """Of the cases: a checkpoint goes on with the same ones only."""
        return digest(self.cases)

    def checked_cases(self, number: int) -> Sequence[Case]:
        """Patches of a few cases to judge the model by: validation cases if there are any."""
        return [
            patch for one in self._judged[:number] for patch in telling_patches(one, self._shape)
        ]

    def run(self, after_iteration: Callable[[float], bool], checkpoint: Callable[[], None]) -> None:
        """Train until done, no longer improving, or told to stop; keep the best weights.

        Parameters
        ----------
        after_iteration : callable
            Told the share that is done; False stops the training.
        checkpoint : callable
            Called after each evaluation, when the state is worth keeping.

        Raises
        ------
        TrainingError
            The loss or the weights are no longer finite.
        """
        settings, state = self.settings, self.state
        every = max(1, settings.iterations // _EVALUATIONS)
        while state.iteration < settings.iterations and state.stale < settings.patience:
            self._step(state.iteration)
            state.iteration += 1
            if state.iteration % every == 0 or state.iteration == settings.iterations:
                self._evaluate()
                checkpoint()
            if not after_iteration(state.iteration / settings.iterations):
                break
        if state.best_weights is not None:
            self.model.network.load_state_dict(state.best_weights)
            self.model.rater_model.tally[...] = state.best_tally
        weights = self.model.network.parameters()
        self._require_finite(all(bool(torch.isfinite(value).all()) for value in weights))
        self.model.network.eval()

    def _require_finite(self, finite: bool) -> None:
        if not finite:
            raise TrainingError(
                f"training diverged in iteration {self.state.iteration}; lower LearningRate, "
                f"which is {self.settings.learning_rate:g}"
            )

    def _step(self, iteration: int) -> None:
        progress = iteration / self.settings.iterations
        for group in self.optimizer.param_groups:
            group["lr"] = one_cycle(progress) * self.settings.learning_rate
        batch, rng = self._sampler.draw(iteration)
        self.model.network.train()
        kl_weight = _LARGEST_KL_WEIGHT * min(1.0, 2 * progress)
        # A stream of the user's may draw random numbers too, for dropout.
        with seeded((self.settings.seed + iteration) % 2**63, self.model.device):
            loss = self._loss(batch, rng, kl_weight, learn=True)
        self._require_finite(bool(torch.isfinite(loss)))
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.model.network.parameters(), _GRADIENT_LIMIT)
        self.optimizer.step()

    def _evaluate(self) -> None:
        """Score the validation cases; without any, the newest weights are the best."""
        if not self._validation:
            return
        rng = np.random.default_rng([self.settings.seed, 3])
        self.model.network.eval()
        with torch.no_grad():
            scores = [
                float(self._loss(as_batch([case]), rng, 0.0, learn=False))
                for case in self._validation
            ]
        score, state = float(np.mean(scores)), self.state
        self.model.history.append({"iteration": state.iteration, "validation": score})
        if score < state.best_score:
            state.best_score, state.stale = score, 0
            weights = self.model.network.state_dict()
            state.best_weights = {name: value.clone() for name, value in weights.items()}
            state.best_tally = self.model.rater_model.tally.copy()
        else:
            state.stale += 1

    def _loss(
        self, batch: Batch, rng: np.random.Generator, kl_weight: float, *, learn: bool
    ) -> Tensor:
        if self.model.mode == "truth":
            return self._truth_loss(with_raters_dropped(batch, rng) if learn else batch, kl_weight)
        held_out, names = np.ones(batch.raters.shape, bool), batch.raters
        if self.model.mode == "set":
            held_out = draw_held_out(batch, rng)
            names = with_names_dropped(names, rng) if learn else names
        return self._rater_loss(batch, held_out, names, kl_weight, learn=learn)

    def _truth_loss(self, batch: Batch, kl_weight: float) -> Tensor:
        alpha = self._concentrations(batch.images, batch.labels, batch.raters)
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
        """-log likelihood of the held-out raters given the image and the others, so named."""
        alpha = self._concentrations(batch.images, hidden(batch.labels, held_out), names)
        votes = one_hot(self._tensor(hidden(batch.labels, ~held_out)), alpha.shape[1])
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
        # Where contours wander the votes say nothing; the truth follows the edges of the image.
        roughness = edge_aware_roughness(
            torch.exp(log_probability), self._tensor(batch.images), valid
        )
        return loss + self.settings.edge_weight * roughness

    def _concentrations(
        self, images: NDArray[Any], seen: NDArray[np.uint8], raters: NDArray[np.int64]
    ) -> Tensor:
        """Alpha of the network that sees these labels of these raters."""
        network = self.model.network
        votes = one_hot(self._tensor(seen), network.shape.classes)
        likelihood = self._likelihood(votes, raters)
        with precision(self.model.device, self.settings.mixed_precision):
            alpha: Tensor = network(self._tensor(images), votes, self._tensor(raters), likelihood)
        return alpha

    def _likelihood(self, votes: Tensor, raters: NDArray[np.int64]) -> Tensor:
        log_rates = self._tensor(self.model.rater_model.log_rates()[raters])
        return rater_log_likelihood(votes, log_rates)

    def _tally(self, posterior: Tensor, votes: Tensor, raters: NDArray[np.int64]) -> None:
        """Add what the posterior says about each rater: the averaged, closed-form M-step."""
        met = torch.einsum("nks,najs->nakj", posterior.flatten(2), votes.flatten(3))
        tally = self.model.rater_model.tally
        tally *= _TALLY_DECAY
        np.add.at(tally, raters, met.cpu().double().numpy())

    def _tensor(self, array: NDArray[Any]) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(array)).to(self.model.device)


def one_cycle(progress: float, rise: float = 0.3, start: float = 0.04) -> float:
    """Learning rate as a share of its peak: up along a cosine, then down to nothing."""
    if progress < rise:
        return start + (1 - start) * (1 - math.cos(math.pi * progress / rise)) / 2
    return (1 + math.cos(math.pi * (progress - rise) / (1 - rise))) / 2


def _first_tally(model: ConsensusModel, cases: Sequence[Case]) -> None:
    """Count confusions with the truth, or without one with the raters' own vote."""
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
