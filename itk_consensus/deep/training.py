"""Training, in three modes that differ in what they are told.

truth : the network sees image and raters and learns a known truth.
joint : nobody knows the truth. The network sees the image only and learns, together with one
        accuracy per rater, to make what the raters drew likely.
set   : nobody knows the truth. The network sees image and some raters and predicts the others.
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
    patch_shape,
    split,
    telling_patches,
)
from itk_consensus.deep.model import ConsensusModel, seeded
from itk_consensus.deep.objective import Objective, first_tally

_WEIGHT_DECAY = 1e-2
_GRADIENT_LIMIT = 5.0
#: The length of a training that nobody gave and no case can be spared to find.
_USUAL_ITERATIONS = 200
#: Of a training whose length was given.
_EVALUATIONS = 10
#: Of a training that ends when it has learnt: iterations between evaluations, how long the learning
#: rate falls after that as a share of all before, and the most there are before.
_EVALUATED_EVERY = 50
_FALL = 0.5
#: Of all its evaluations it has patience for this share at least: what took long to come may take
#: long to become better.
_PATIENT_SHARE = 1 / 3
#: A learning rate that is held is this share of the peak that one cycle passes through.
_HELD_PACE = 0.5
_MOST_ITERATIONS = 10_000
#: Share of a training, or of the usual one, in which the learning rate rises, and from where.
_RISE = 0.3
_FIRST_PACE = 0.04

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class TrainingSettings:
    """How long and how to train."""

    iterations: int | None  #: None: until held-out cases are predicted no better
    time_budget: float  #: Seconds, of a training that has no number of iterations
    batch_size: int
    learning_rate: float  #: At its peak
    window: tuple[int, ...]  #: Largest patch, in array axis order
    validation_fraction: float  #: Share of the cases that only decide when to stop, and judge
    #: Evaluations without improvement before training stops; before the peak of the learning rate
    #: they do not count.
    patience: int
    seed: int
    edge_weight: float  #: Joint mode: how much it costs if labels change where the image does not
    mixed_precision: bool  #: bfloat16 for the network, on CUDA only
    kl_weight: float = 0.05  #: Of the divergence from the uniform Dirichlet, in the end


@dataclass
class TrainingState:
    """What a checkpoint keeps besides the model."""

    iteration: int = 0
    best_score: float = math.inf
    best_weights: dict[str, Tensor] | None = None
    best_tally: NDArray[np.float64] | None = None
    stale: int = 0
    fall_from: int | None = None  #: Where the learning rate begins to fall, if that is known
    seconds: float = 0.0
    improving: bool = False  #: Whether it was stopped before it had learnt


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
        #: Iterations in all; None while nobody knows.
        self._length = (
            settings.iterations if validation else settings.iterations or _USUAL_ITERATIONS
        )
        self._every = max(1, self._length // _EVALUATIONS) if self._length else _EVALUATED_EVERY
        self._rise = round(_RISE * (self._length or _USUAL_ITERATIONS))
        self.held_out = validation
        shape = patch_shape([case.shape for case in cases], settings.window, *model.network.sides)
        train_cases = ChosenCases(cases, training)
        self._shape = shape
        self._augment = augment
        self._judged = ChosenCases(cases, validation or training)
        self._validation = [patch for i in validation for patch in telling_patches(cases[i], shape)]
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
        state, length = self.state, self._length
        with self._batches() as draw:
            while state.iteration < self._last() and (not length or self._hopes()):
                begin, evaluated = time.monotonic(), False
                self._step(state.iteration, draw)
                state.iteration += 1
                if state.iteration % self._every == 0 or state.iteration == self._last():
                    self._require_finite(bool(self._finite))
                    self._objective.settle()
                    self._evaluate()
                    evaluated = True
                state.seconds += time.monotonic() - begin
                self._fall_if_it_is_time()
                if evaluated:
                    checkpoint()
                if not after_iteration(self._share()):
                    break
        self._keep_best()

    def _hopes(self) -> bool:
        share = 0.0 if self._length else _PATIENT_SHARE * self.state.iteration / self._every
        return self.state.stale < max(self.settings.patience, share)

    def _last(self) -> int:
        """Iterations in all, as far as that is known."""
        if self._length:
            return self._length
        before = self.state.fall_from or _MOST_ITERATIONS
        return before + max(1, round(_FALL * before))

    def _fall_if_it_is_time(self) -> None:
        """Of a training that ends when it has learnt: let the learning rate fall from here on."""
        state = self.state
        if self._length or state.fall_from is not None:
            return
        # Of the time the falling will take its share.
        late = state.seconds * (1 + _FALL) >= self.settings.time_budget
        state.improving = self._hopes()
        if late or not self._hopes() or state.iteration >= _MOST_ITERATIONS:
            state.fall_from = state.iteration

    def _share(self) -> float:
        """How much is done; while nobody knows how much there is, it creeps."""
        state = self.state
        if self._length or state.fall_from is not None:
            return state.iteration / self._last()
        return (1 - math.exp(-state.iteration / (2 * _USUAL_ITERATIONS))) / (1 + _FALL)

    def _batches(self) -> AbstractContextManager[Draw]:
        """Drawn when they are wanted, or ahead for a GPU, which would have to wait for files.

        Not ahead if a transform of the user's may draw random numbers of torch: those are one
        sequence for all threads.
        """
        if self.model.device.type == "cpu" or not isinstance(self._augment, BuiltInAugmentation):
            return nullcontext(self._sampler.draw)
        return drawn_ahead(self._sampler.draw, self._last())

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
        for group in self.optimizer.param_groups:
            group["lr"] = self._pace(iteration) * self.settings.learning_rate
        self.model.network.train()
        half = (self._length or _USUAL_ITERATIONS) / 2
        kl_weight = self.settings.kl_weight * min(1.0, iteration / half)
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

    def _pace(self, iteration: int) -> float:
        """Learning rate as a share of its peak: up along a cosine, ahead, then down to nothing.

        With a given length it falls from the peak on: one cycle.
        """
        fall_from = self._rise if self._length else self.state.fall_from
        if fall_from is None or iteration < fall_from:
            return self._ascent(iteration)
        fallen = _half_wave((iteration - fall_from) / (self._last() - fall_from))
        return self._ascent(fall_from) * (1 - fallen)

    def _ascent(self, iteration: int) -> float:
        top = 1.0 if self._length else _HELD_PACE
        if iteration >= self._rise:
            return top
        return _FIRST_PACE + (top - _FIRST_PACE) * _half_wave(iteration / self._rise)

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
            "iteration %d: validation loss %.4f",
            state.iteration,
            score,
        )
        if score < state.best_score:
            state.best_score, state.stale = score, 0
            weights = self.model.network.state_dict()
            state.best_weights = {name: value.clone() for name, value in weights.items()}
            state.best_tally = self.model.rater_model.tally.copy()
        elif state.iteration > self._rise:
            # Before its peak the learning rate is too low, or too new, to judge by.
            state.stale += 1


def _half_wave(share: float) -> float:
    """From 0 to 1 along a cosine."""
    return (1 - math.cos(math.pi * share)) / 2


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
