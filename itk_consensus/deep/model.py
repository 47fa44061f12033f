"""Trained model: the network, the labels of its classes, and its raters' error rates."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from itk_consensus.core.errors import ParameterError
from itk_consensus.deep.network import (
    OWN_SIDES,
    ConsensusNetwork,
    NetworkShape,
    StreamSides,
    rater_log_likelihood,
)
from itk_consensus.deep.worth import Gain, Likeness

RaterId = int | str

#: Number of pseudo-votes added to every rater's tally, and their accuracy.
_PRIOR_VOTES = 10.0
_PRIOR_ACCURACY = 0.8
#: Lower bound of rates, so that log C stays finite.
_SMALLEST_RATE = 1e-4
#: CUDA compute capability of the first GPUs with native bfloat16 (Ampere).
_FIRST_BFLOAT16 = (8, 0)


@dataclass
class RaterModel:
    """Confusion rates of each rater, estimated from tallies."""

    #: (R + 1, K, K) weight of (true class, drawn class) for each rater; row 0 is for raters
    #: without an id.
    tally: NDArray[np.float64]
    #: Whether each rater has a single accuracy for all classes, with all errors equally likely.
    #: Without truths, full confusion matrices drift until the rater who over-segments most seems
    #: the best.
    symmetric: bool

    @classmethod
    def empty(cls, raters: int, classes: int, *, symmetric: bool) -> RaterModel:
        """Return a model with empty tallies."""
        return cls(np.zeros((raters + 1, classes, classes)), symmetric)

    @property
    def pooled(self) -> NDArray[np.float64]:
        """The tallies, with row 0 replaced by the mean over raters, which serves unknown raters."""
        tally = self.tally.copy()
        tally[0] = tally.sum(0) / max(1, np.count_nonzero(tally.sum((1, 2))))
        return tally

    def accuracy(self) -> NDArray[np.float64]:
        """Return each rater's (R + 1,) probability of drawing the true class."""
        tally = self.pooled
        right = np.trace(tally, axis1=1, axis2=2) + _PRIOR_ACCURACY * _PRIOR_VOTES
        return np.asarray(right / (tally.sum((1, 2)) + _PRIOR_VOTES))

    def log_rates(self) -> NDArray[np.float32]:
        """Return the (R + 1, K, K) logarithms of the confusion rates, log C_a[true, drawn]."""
        classes = self.tally.shape[1]
        right = self.accuracy()[:, None, None]
        same = np.eye(classes, dtype=bool)
        rates = np.where(same, right, (1 - right) / max(1, classes - 1))
        if not self.symmetric:
            tally = self.pooled + _PRIOR_VOTES * rates
            rates = tally / tally.sum(2, keepdims=True)
        return np.asarray(np.log(rates.clip(_SMALLEST_RATE, 1 - _SMALLEST_RATE)), np.float32)


@dataclass
class ConsensusModel:
    """A trained model, as written by `Save`, and its training history."""

    network: ConsensusNetwork
    mode: str  #: Training mode: "truth", "joint" or "set"
    labels: tuple[int, ...]  #: The label value of each class
    rater_ids: tuple[RaterId, ...]  #: Ids of raters 1, 2, ...
    rater_model: RaterModel
    #: Joint mode: exponent of the raters' likelihood, chosen by predicting held-out raters.
    rater_weight: float = 1.0
    gain: Gain | None = None  #: Gain on held-out cases; None if unknown
    #: Ranges of the training images' summary statistics, to detect images that differ from them
    likeness: Likeness | None = None
    improving: bool = False  #: Whether training stopped while the loss was still improving
    has_prior: bool = False  #: Whether it was trained with atlas images
    locks: bool = True  #: Whether voxels on which all raters agree keep their labels
    #: Iteration and score of each evaluation; not saved.
    history: list[dict[str, float]] = field(default_factory=list)
    _elsewhere: dict[torch.device, ConsensusModel] = field(default_factory=dict, repr=False)

    @classmethod
    def untrained(
        cls,
        shape: NetworkShape,
        mode: str,
        labels: tuple[int, ...],
        rater_ids: tuple[RaterId, ...],
        seed: int,
        image_stream: Any = None,
        sides: StreamSides = OWN_SIDES,
    ) -> ConsensusModel:
        """Return an untrained model; its weights depend only on the seed."""
        rater_model = RaterModel.empty(len(rater_ids), len(labels), symmetric=mode != "truth")
        network = new_network(shape, seed, image_stream, sides)
        return cls(network, mode, labels, rater_ids, rater_model)

    def with_new_raters(self, others: Iterable[RaterId]) -> ConsensusModel:
        """Return a copy that also has these raters, initialised like the unknown rater."""
        new = tuple(dict.fromkeys(name for name in others if name not in self.rater_ids))
        shape = replace(self.network.shape, raters=self.network.shape.raters + len(new))
        stream = self.network.image_stream if self.network.has_own_image_stream else None
        network = new_network(shape, 0, stream, self.network.sides)
        weights = self.network.state_dict()
        for name, value in network.state_dict().items():
            if value.shape != weights[name].shape:
                # This is an embedding with one row per rater; row 0 is the unknown rater.
                unknown = weights[name][:1].expand(len(new), *value.shape[1:])
                weights[name] = torch.cat([weights[name], unknown])
        network.load_state_dict(weights)
        nobody = np.zeros((len(new), *self.rater_model.tally.shape[1:]))
        tally = np.concatenate([self.rater_model.tally, nobody])
        raters = RaterModel(tally, self.rater_model.symmetric)
        return ConsensusModel(network, self.mode, self.labels, self.rater_ids + new, raters)

    def on(self, device: torch.device) -> ConsensusModel:
        """Return the model on a device: itself, or a cached copy."""
        if device == self.device:
            return self
        if device not in self._elsewhere:
            network = copy.deepcopy(self.network).to(device)
            self._elsewhere[device] = replace(self, network=network, _elsewhere={})
        return self._elsewhere[device]

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_elsewhere": {}}

    @property
    def device(self) -> torch.device:
        """Device of the network."""
        return next(self.network.parameters()).device

    @property
    def rater_numbers(self) -> dict[RaterId, int]:
        """Index of each rater by id, excluding raters who drew nothing in the training data."""
        seen = self.rater_model.tally.sum((1, 2)) > 0
        return {name: i for i, name in enumerate(self.rater_ids, start=1) if seen[i]}

    def reliability(self) -> dict[RaterId, float]:
        """Return each rater's probability of drawing the true class, keyed by rater id.

        The id 0, for an average rater, is present only if training had raters without an id.
        """
        accuracy = self.rater_model.accuracy()
        named = {name: float(accuracy[number]) for name, number in self.rater_numbers.items()}
        unnamed = self.rater_model.tally[0].any()
        return {0: float(accuracy[0]), **named} if unnamed else named

    def posterior(
        self,
        image: Tensor,
        votes: Tensor,
        raters: Tensor,
        rater_weight: float,
        mixed_precision: bool = False,
        prior: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Return class probabilities and total evidence.

        Parameters
        ----------
        image : (N, inputs, \\*S) Tensor
        votes : (N, A, K, \\*S) Tensor of the image's dtype
        raters : (N, A) Tensor of int64
        rater_weight : float
            Joint mode: the exponent of the raters' likelihood; 0 uses the image alone.
        prior : (N, K, \\*S) Tensor, optional
            Replaces the likelihood of independent raters, if the model was trained with it.

        Returns
        -------
        probability : (N, K, \\*S) Tensor of float32
        evidence : (N, \\*S) Tensor of float32
        """
        log_rates = torch.from_numpy(self.rater_model.log_rates()).to(image.device)
        likelihood = rater_log_likelihood(votes, log_rates[raters])
        if prior is not None:
            likelihood = torch.log(prior)
        with precision(image.device, mixed_precision):
            alpha = self.network(image, votes, raters, likelihood)
        total = alpha.sum(1, keepdim=True)
        probability = alpha / total
        if self.mode == "joint":
            probability = torch.softmax(torch.log(probability) + rater_weight * likelihood, 1)
        return probability, total.squeeze(1) - alpha.shape[1]


def new_network(
    shape: NetworkShape, seed: int, image_stream: Any = None, sides: StreamSides = OWN_SIDES
) -> ConsensusNetwork:
    """Return a network with a copy of the image stream; initial weights depend only on the seed."""
    with fixed_seed(seed, torch.device("cpu")):
        return ConsensusNetwork(shape, copy.deepcopy(image_stream), sides)


@contextmanager
def fixed_seed(seed: int, device: torch.device) -> Iterator[None]:
    """Seed torch's random generators, and restore the caller's state afterwards."""
    on_cuda = device.type == "cuda"
    with torch.random.fork_rng(devices=[device] if on_cuda else []):
        torch.default_generator.manual_seed(seed)
        if on_cuda:
            torch.cuda.manual_seed(seed)
        yield


def precision(device: torch.device, mixed: bool) -> AbstractContextManager[Any]:
    """Return a context for bfloat16 on CUDA devices that support it; elsewhere for float32."""
    if mixed and device.type == "cuda" and _has_bfloat16(device):
        return torch.autocast("cuda", torch.bfloat16)
    return nullcontext()


def _has_bfloat16(device: torch.device) -> bool:
    """Return whether the device has native bfloat16 instead of emulating it."""
    return torch.cuda.get_device_capability(device) >= _FIRST_BFLOAT16


def on_device(array: NDArray[Any], device: torch.device) -> Tensor:
    """Copy an array to a tensor on the device; to a GPU asynchronously, from pinned memory."""
    tensor = torch.from_numpy(np.ascontiguousarray(array))
    if device.type == "cuda":
        return tensor.pin_memory().to(device, non_blocking=True)
    return tensor.to(device)


def find_device(name: str, owner: str) -> torch.device:
    """Return the device with a given name; "auto" is the first available of CUDA, MPS and CPU."""
    there = {
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
        "cpu": True,
    }
    if name == "auto":
        name = next(kind for kind, available in there.items() if available)
    kind, _, number = name.partition(":")
    count = torch.cuda.device_count() if there["cuda"] else 0
    if not there[kind] or (number and int(number) >= count):
        usable = [kind for kind, available in there.items() if available and kind != "cuda"]
        usable += [f"cuda:{index}" for index in range(count)]
        raise ParameterError(
            f"must be one this machine's torch can use ({', '.join(sorted(usable))}), got {name}",
            owner=owner,
            parameter="Device",
        )
    return torch.device(name)
