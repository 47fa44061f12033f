"""Training, in three modes that differ in what they are told.

truth : the network sees image and raters and learns a known truth.
joint : nobody knows the truth. The network sees the image only and learns, together with one
        accuracy per rater, to make what the raters drew likely.
set   : nobody knows the truth. The network sees image and some raters and predicts the others.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from itk_consensus.deep.augmentation import augmented
from itk_consensus.deep.case_store import ChosenCases
from itk_consensus.deep.cases import (
    Augmentation,
    Batch,
    Case,
    PatchSampler,
    as_batch,
    digest,
    patch_shape,
    split,
    telling_patches,
)
from itk_consensus.deep.model import ConsensusModel, seeded
from itk_consensus.deep.objective import Objective, first_tally
from itk_consensus.errors import TrainingError

_LARGEST_KL_WEIGHT = 0.05
_WEIGHT_DECAY = 1e-2
_GRADIENT_LIMIT = 5.0
_EVALUATIONS = 10
#: Share of a training in which the learning rate rises.
_RISE = 0.3

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class TrainingSettings:
    """How long and how to train."""

    iterations: int
    batch_size: int
    learning_rate: float  #: The peak of the one-cycle schedule
    window: tuple[int, ...]  #: Largest patch, in array axis order
    validation_fraction: float  #: Share of the cases that only decide when to stop
    #: Evaluations, of ten in a full training, without improvement after the peak of the learning
    #: rate before training stops.
    patience: int
    seed: int
    edge_weight: float  #: Joint mode: how much it costs if labels change where the image does not
    mixed_precision: bool  #: bfloat16 for the network, on CUDA only


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
        augment: Augmentation = augmented,
    ) -> None:
        self.model = model
        self.settings = settings
        self.state = TrainingState()
        self.cases = cases
        training, validation = split(len(cases), settings.validation_fraction, settings.seed)
        shape = patch_shape([case.shape for case in cases], settings.window, *model.network.sides)
        train_cases = ChosenCases(cases, training)
        self._shape = shape
        self._augment = augment
        self._judged = ChosenCases(cases, validation or training)
        self._validation = [patch for i in validation for patch in telling_patches(cases[i], shape)]
        self._sampler = PatchSampler(
            train_cases, shape, settings.batch_size, settings.seed, augment
        )
        self.optimizer = torch.optim.AdamW(
            model.network.parameters(), lr=settings.learning_rate, weight_decay=_WEIGHT_DECAY
        )
        self._objective = Objective(model, settings.edge_weight, settings.mixed_precision)
        self._finite = torch.tensor(True, device=model.device)
        first_tally(model, train_cases)

    @cached_property
    def fingerprint(self) -> str:
        """Of the cases: a checkpoint goes on with the same ones only."""
        return digest(self.cases)

    def checked_cases(self, number: int) -> Iterator[Case]:
        """Patches of a few cases to judge the model by: validation cases if there are any."""
        for one in self._judged[:number]:
            yield from telling_patches(one, self._shape)

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
        with self._batches() as draw:
            while state.iteration < settings.iterations and state.stale < settings.patience:
                self._step(state.iteration, draw)
                state.iteration += 1
                if state.iteration % every == 0 or state.iteration == settings.iterations:
                    self._require_finite(bool(self._finite))
                    self._objective.settle()
                    self._evaluate()
                    checkpoint()
                if not after_iteration(state.iteration / settings.iterations):
                    break
        self._keep_best()

    def _batches(self) -> AbstractContextManager[Draw]:
        """Drawn when they are wanted, or ahead for a GPU, which would have to wait for files.

        Not ahead if a transform of the user's may draw random numbers of torch: those are one
        sequence for all threads.
        """
        if self.model.device.type == "cpu" or self._augment is not augmented:
            return nullcontext(self._sampler.draw)
        return drawn_ahead(self._sampler.draw, self.settings.iterations)

    def _keep_best(self) -> None:
        self._objective.settle()
        state = self.state
        if state.best_weights is not None:
            self.model.network.load_state_dict(state.best_weights)
            self.model.rater_model.tally[...] = state.best_tally
        weights = self.model.network.parameters()
        self._require_finite(all(bool(torch.isfinite(value).all()) for value in weights))
        self.model.network.eval()

    def _require_finite(self, finite: bool) -> None:
        if not finite:
            raise TrainingError(
                f"training diverged in iteration {self.state.iteration}; lower {{LearningRate}}, "
                f"which is {self.settings.learning_rate:g}",
                mentions=("LearningRate",),
            )

    def _step(self, iteration: int, draw: Draw) -> None:
        progress = iteration / self.settings.iterations
        for group in self.optimizer.param_groups:
            group["lr"] = one_cycle(progress) * self.settings.learning_rate
        self.model.network.train()
        kl_weight = _LARGEST_KL_WEIGHT * min(1.0, 2 * progress)
        # A transform or stream of the user's may draw random numbers of torch too.
        with seeded((self.settings.seed + iteration) % 2**63, self.model.device):
            batch, rng = draw(iteration)
            loss = self._objective.loss(batch, rng, kl_weight, learn=True)
        self._finite &= torch.isfinite(loss.detach())
        if self.model.device.type == "cpu":
            # A GPU would have to be waited for; it is asked at the next evaluation.
            self._require_finite(bool(self._finite))
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
                float(self._objective.loss(as_batch([case]), rng, 0.0, learn=False))
                for case in self._validation
            ]
        score, state = float(np.mean(scores)), self.state
        self.model.history.append({"iteration": state.iteration, "validation": score})
        _LOG.info(
            "iteration %d of %d: validation loss %.4f",
            state.iteration,
            self.settings.iterations,
            score,
        )
        if score < state.best_score:
            state.best_score, state.stale = score, 0
            weights = self.model.network.state_dict()
            state.best_weights = {name: value.clone() for name, value in weights.items()}
            state.best_tally = self.model.rater_model.tally.copy()
        elif state.iteration > _RISE * self.settings.iterations:
            # Before its peak the learning rate is too low, or too new, to judge by.
            state.stale += 1


def one_cycle(progress: float, rise: float = _RISE, start: float = 0.04) -> float:
    """Learning rate as a share of its peak: up along a cosine, then down to nothing."""
    if progress < rise:
        return start + (1 - start) * (1 - math.cos(math.pi * progress / rise)) / 2
    return (1 + math.cos(math.pi * (progress - rise) / (1 - rise))) / 2


#: The batch of an iteration, and the generator that continues its random choices.
Draw: TypeAlias = Callable[[int], tuple[Batch, np.random.Generator]]

#: Threads that read files and cut patches.
_WORKERS = 2


@contextmanager
def drawn_ahead(draw: Draw, iterations: int) -> Iterator[Draw]:
    """The same draws, begun before they are asked for; what an iteration draws is its own affair.

    Parameters
    ----------
    draw : callable
        May be called by several threads at once.
    iterations : int
        There are no batches from this one on.
    """
    begun: dict[int, Future[tuple[Batch, np.random.Generator]]] = {}
    pool = ThreadPoolExecutor(_WORKERS, thread_name_prefix="itk-consensus-batches")

    def take(iteration: int) -> tuple[Batch, np.random.Generator]:
        for later in range(iteration, min(iteration + _WORKERS + 1, iterations)):
            if later not in begun:
                begun[later] = pool.submit(draw, later)
        return begun.pop(iteration).result()

    try:
        yield take
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
