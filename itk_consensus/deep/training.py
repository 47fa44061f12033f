"""Training in one of three modes.

truth : the network sees the image and the raters' labels, and learns the known true segmentation.
joint : without true segmentations. The network sees only the image; it is trained, together with
        one accuracy per rater, to maximise the likelihood of the raters' labels.
set   : without true segmentations. The network sees the image and the labels of some raters, and
        predicts those of the others.
"""

from __future__ import annotations

import logging
import math
import time
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

from itk_consensus.core.errors import TrainingError
from itk_consensus.deep.augmentation import BuiltInAugmentation
from itk_consensus.deep.case_store import ChosenCases
from itk_consensus.deep.cases import (
    Augmentation,
    Batch,
    Case,
    PatchSampler,
    as_batch,
    digest,
    informative_patches,
    patch_shape,
    split,
)
from itk_consensus.deep.model import ConsensusModel, fixed_seed
from itk_consensus.deep.objective import Objective, initialize_tally

_WEIGHT_DECAY = 1e-2
_GRADIENT_LIMIT = 5.0
#: Default number of iterations if no cases are held out for early stopping.
_USUAL_ITERATIONS = 200
#: Number of evaluations if the number of iterations is given.
_EVALUATIONS = 10
#: With early stopping: iterations between evaluations; length of the learning-rate decay relative
#: to the iterations before it; and (below) the maximum number of iterations before the decay.
_EVALUATED_EVERY = 50
_FALL = 0.5
#: With early stopping, the patience is at least this fraction of the evaluations so far.
_PATIENT_SHARE = 1 / 3
#: With early stopping: the constant learning rate, relative to the peak of a one-cycle schedule.
_HELD_PACE = 0.5
_MOST_ITERATIONS = 10_000
#: Warm-up of the learning rate: fraction of the iterations (or of their default number), and
#: initial value relative to the peak.
_RISE = 0.3
_FIRST_PACE = 0.04

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class TrainingSettings:
    """Settings of training."""

    iterations: int | None  #: None: train until the loss on held-out cases no longer improves
    time_budget: float  #: Seconds, used if `iterations` is None
    batch_size: int
    learning_rate: float  #: Peak learning rate
    window: tuple[int, ...]  #: Largest patch, in array axis order
    validation_fraction: float  #: Fraction of the cases held out for stopping and evaluation
    #: Number of evaluations without improvement before training stops; evaluations before the peak
    #: of the learning rate do not count.
    patience: int
    seed: int
    edge_weight: float  #: Joint mode: weight of `edge_aware_roughness`
    mixed_precision: bool  #: bfloat16 for the network, on CUDA only
    kl_weight: float = 0.05  #: Final weight of the divergence from the uniform Dirichlet


@dataclass
class TrainingState:
    """State of a training run that checkpoints store in addition to the model."""

    iteration: int = 0
    best_score: float = math.inf
    best_weights: dict[str, Tensor] | None = None
    best_tally: NDArray[np.float64] | None = None
    stale: int = 0
    fall_from: int | None = None  #: Iteration at which the decay of the learning rate starts
    seconds: float = 0.0
    improving: bool = False  #: Whether training stopped while the loss was still improving


class Trainer:
    """Trains the network of a model in place."""

    def __init__(
        self,
        model: ConsensusModel,
        cases: Sequence[Case],
        settings: TrainingSettings,
        augment: Augmentation,
        stand_ins: Sequence[Sequence[Case]] = (),
    ) -> None:
        self.model = model
        self.settings = settings
        self.state = TrainingState()
        self.cases = cases
        training, validation = split(len(cases), settings.validation_fraction, settings.seed)
        #: Total number of iterations; None with early stopping.
        self._length = (
            settings.iterations if validation else settings.iterations or _USUAL_ITERATIONS
        )
        self._every = max(1, self._length // _EVALUATIONS) if self._length else _EVALUATED_EVERY
        self._warmup = round(_RISE * (self._length or _USUAL_ITERATIONS))
        self.held_out = validation
        shape = patch_shape([case.shape for case in cases], settings.window, *model.network.sides)
        train_cases = ChosenCases(cases, training)
        self._shape = shape
        self._augment = augment
        self._judged = ChosenCases(cases, validation or training)
        self._validation = [
            patch for i in validation for patch in informative_patches(cases[i], shape)
        ]
        self._sampler = PatchSampler(
            train_cases,
            shape,
            settings.batch_size,
            settings.seed,
            augment,
            [stand_ins[i] for i in training] if stand_ins else (),
        )
        self.optimizer = torch.optim.AdamW(
            model.network.parameters(), lr=settings.learning_rate, weight_decay=_WEIGHT_DECAY
        )
        self._objective = Objective(model, settings.edge_weight, settings.mixed_precision)
        self._finite = torch.tensor(True, device=model.device)
        initialize_tally(model, train_cases)

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the cases; a checkpoint can only be resumed with the same cases."""
        return digest(self.cases)

    def judged_patches(self, number: int) -> Iterator[Case]:
        """Yield patches of a few cases for evaluation, from validation cases if there are any."""
        for one in self._judged[:number]:
            yield from informative_patches(one, self._shape)

    def run(self, after_iteration: Callable[[float], bool], checkpoint: Callable[[], None]) -> None:
        """Train until finished, no longer improving, or aborted; then restore the best weights.

        Parameters
        ----------
        after_iteration : callable
            Called with the fraction done; training stops if it returns False.
        checkpoint : callable
            Called after each evaluation to save the state.

        Raises
        ------
        TrainingError
            The loss or the weights are no longer finite.
        """
        state, length = self.state, self._length
        with self._batches() as draw:
            while state.iteration < self._total_iterations() and (
                not length or self._within_patience()
            ):
                begin, evaluated = time.monotonic(), False
                self._step(state.iteration, draw)
                state.iteration += 1
                if (
                    state.iteration % self._every == 0
                    or state.iteration == self._total_iterations()
                ):
                    self._require_finite(bool(self._finite))
                    self._objective.flush_tallies()
                    self._evaluate()
                    evaluated = True
                state.seconds += time.monotonic() - begin
                self._start_decay_if_due()
                if evaluated:
                    checkpoint()
                if not after_iteration(self._fraction_done()):
                    break
        self._restore_best()

    def _within_patience(self) -> bool:
        share = 0.0 if self._length else _PATIENT_SHARE * self.state.iteration / self._every
        return self.state.stale < max(self.settings.patience, share)

    def _total_iterations(self) -> int:
        """Return the total number of iterations; with early stopping, an upper bound."""
        if self._length:
            return self._length
        before = self.state.fall_from or _MOST_ITERATIONS
        return before + max(1, round(_FALL * before))

    def _start_decay_if_due(self) -> None:
        """With early stopping, start the decay of the learning rate when it is due."""
        state = self.state
        if self._length or state.fall_from is not None:
            return
        # Reserve time for the decay.
        late = state.seconds * (1 + _FALL) >= self.settings.time_budget
        state.improving = self._within_patience()
        if late or not self._within_patience() or state.iteration >= _MOST_ITERATIONS:
            state.fall_from = state.iteration

    def _fraction_done(self) -> float:
        """Return the fraction done; while the length is unknown, it approaches 1 / (1 + _FALL)."""
        state = self.state
        if self._length or state.fall_from is not None:
            return state.iteration / self._total_iterations()
        return (1 - math.exp(-state.iteration / (2 * _USUAL_ITERATIONS))) / (1 + _FALL)

    def _batches(self) -> AbstractContextManager[Draw]:
        """Return a context for drawing batches: on demand, or prefetched for a GPU.

        There is no prefetching with a custom transform, which may use torch's random generator,
        shared by all threads.
        """
        if self.model.device.type == "cpu" or not isinstance(self._augment, BuiltInAugmentation):
            return nullcontext(self._sampler.draw)
        return prefetch(self._sampler.draw, self._total_iterations())

    def _restore_best(self) -> None:
        self._objective.flush_tallies()
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
        for group in self.optimizer.param_groups:
            group["lr"] = self._learning_rate_factor(iteration) * self.settings.learning_rate
        self.model.network.train()
        half = (self._length or _USUAL_ITERATIONS) / 2
        kl_weight = self.settings.kl_weight * min(1.0, iteration / half)
        # A custom transform or image stream may use torch's random generator, too.
        with fixed_seed((self.settings.seed + iteration) % 2**63, self.model.device):
            batch, rng = draw(iteration)
            loss = self._objective.loss(batch, rng, kl_weight, learn=True)
        self._finite &= torch.isfinite(loss.detach())
        if self.model.device.type == "cpu":
            # On a GPU this would force a synchronisation, so it is checked at the next evaluation.
            self._require_finite(bool(self._finite))
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.model.network.parameters(), _GRADIENT_LIMIT)
        self.optimizer.step()

    def _learning_rate_factor(self, iteration: int) -> float:
        """Return the learning rate relative to its peak: cosine warm-up, constant, cosine decay.

        If the number of iterations is given, the decay starts after the warm-up (one cycle).
        """
        fall_from = self._warmup if self._length else self.state.fall_from
        if fall_from is None or iteration < fall_from:
            return self._warmup_factor(iteration)
        fallen = _cosine_ramp((iteration - fall_from) / (self._total_iterations() - fall_from))
        return self._warmup_factor(fall_from) * (1 - fallen)

    def _warmup_factor(self, iteration: int) -> float:
        top = 1.0 if self._length else _HELD_PACE
        if iteration >= self._warmup:
            return top
        return _FIRST_PACE + (top - _FIRST_PACE) * _cosine_ramp(iteration / self._warmup)

    def _evaluate(self) -> None:
        """Compute the validation loss; without validation cases, use the last weights."""
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
            "iteration %d: validation loss %.4f",
            state.iteration,
            score,
        )
        if score < state.best_score:
            state.best_score, state.stale = score, 0
            weights = self.model.network.state_dict()
            state.best_weights = {name: value.clone() for name, value in weights.items()}
            state.best_tally = self.model.rater_model.tally.copy()
        elif state.iteration > self._warmup:
            # Evaluations during warm-up do not count.
            state.stale += 1


def _cosine_ramp(share: float) -> float:
    """Return a half cosine wave that rises from 0 to 1."""
    return (1 - math.cos(math.pi * share)) / 2


#: Returns the batch of an iteration, and the generator for its further random choices.
Draw: TypeAlias = Callable[[int], tuple[Batch, np.random.Generator]]

#: Number of threads that read files and crop patches.
_WORKERS = 2


@contextmanager
def prefetch(draw: Draw, iterations: int) -> Iterator[Draw]:
    """Draw batches ahead in threads; the batch of an iteration does not depend on the others.

    Parameters
    ----------
    draw : callable
        Must be thread-safe.
    iterations : int
        Total number of iterations; no batches are drawn beyond it.
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
