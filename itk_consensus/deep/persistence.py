"""Serialize models and training checkpoints, and check them when reading."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from itk_consensus.core.errors import FileError
from itk_consensus.deep.model import ConsensusModel
from itk_consensus.deep.network import OWN_SIDES, ConsensusNetwork, NetworkShape, check_image_stream
from itk_consensus.deep.training import Trainer, TrainingState
from itk_consensus.deep.weights import damage_as_file_error, pack, unpack
from itk_consensus.deep.worth import VOTE, Gain, Likeness, number_of_figures

_MODES = ("truth", "joint", "set")
_WEIGHTS, _BEST, _OPTIMIZER = "network/", "best/", "optimizer/"
_TALLY, _BEST_TALLY = "rater_model/tally", "rater_model/best_tally"
_MOMENTS = ("exp_avg", "exp_avg_sq")
#: Upper bound for valid tallies, in voxels.
_LARGEST_TALLY = 1e15
_MOST_ITERATIONS = 2**40
_COUNTS = ("dimension", "classes", "raters", "channels", "inputs")


def pack_model(model: ConsensusModel) -> bytes:
    """Return the contents of a model file."""
    described = {"kind": "model", **_describe(model), **_describe_worth(model)}
    return pack(_model_tensors(model), described)


def unpack_model(contents: bytes, path: str, image_stream: Any = None) -> ConsensusModel:
    """Restore a model from the contents of a file.

    Parameters
    ----------
    path : str
        Used in error messages.
    image_stream : torch module, optional
        Needed if the model was trained with a custom image stream.
    """
    tensors, description = unpack(contents, path)
    _check_kind(description, "model", path)
    with damage_as_file_error(path):
        model = _build_model(description, path, image_stream, _with_prefix(tensors, _WEIGHTS))
        model.rater_model.tally[...] = _tally(tensors, _TALLY, model, path)
        _read_worth(description, model)
    model.network.eval()
    return model


def pack_checkpoint(trainer: Trainer) -> bytes:
    """Return the contents of a checkpoint file."""
    state = trainer.state
    tensors = _model_tensors(trainer.model)
    if state.best_weights is not None and state.best_tally is not None:
        tensors[_BEST_TALLY] = state.best_tally
        for name, value in state.best_weights.items():
            tensors[_BEST + name] = value.cpu().numpy()
    moments = trainer.optimizer.state_dict()["state"]
    for index, slots in moments.items():
        for slot, value in slots.items():
            tensors[f"{_OPTIMIZER}{index}/{slot}"] = value.cpu().numpy()
    progress = {
        "iteration": state.iteration,
        "best_score": state.best_score,
        "stale": state.stale,
        "fall_from": state.fall_from,
        "seconds": state.seconds,
        "improving": state.improving,
        "history": trainer.model.history,
        "optimized": sorted(moments),
    }
    return pack(
        tensors, {"kind": "checkpoint", **_describe_training(trainer), "progress": progress}
    )


def resume(trainer: Trainer, contents: bytes, path: str) -> None:
    """Restore the state of a training run from its checkpoint."""
    tensors, description = unpack(contents, path)
    _check_kind(description, "checkpoint", path)
    for name, here in _describe_training(trainer).items():
        there = description.get(name)
        if there != here:
            raise FileError(
                f"belongs to another training: its {name.replace('_', ' ')} is {there}, "
                f"here it is {here}; remove the file to start a new training",
                path=path,
            )
    with damage_as_file_error(path):
        model, progress = trainer.model, dict(description["progress"])
        _load_weights(model.network, _with_prefix(tensors, _WEIGHTS), path)
        model.rater_model.tally[...] = _tally(tensors, _TALLY, model, path)
        model.history[:] = progress.pop("history")
        optimized = progress.pop("optimized")
        trainer.state = _read_state(progress)
        if math.isfinite(trainer.state.best_score):
            best = _check_weights(model.network, _with_prefix(tensors, _BEST), path)
            trainer.state.best_weights = best
            trainer.state.best_tally = _tally(tensors, _BEST_TALLY, model, path)
        _load_optimizer(trainer.optimizer, optimized, _with_prefix(tensors, _OPTIMIZER), path)


def _read_state(progress: Mapping[str, Any]) -> TrainingState:
    state = TrainingState(**progress)
    for count in (state.iteration, state.stale, state.fall_from or 0):
        if type(count) is not int or not 0 <= count <= _MOST_ITERATIONS:
            raise ValueError(f"{count} cannot be a number of iterations")
    state.best_score, state.seconds = float(state.best_score), float(state.seconds)
    state.improving = bool(state.improving)
    return state


def _load_optimizer(
    optimizer: torch.optim.Optimizer,
    indices: Sequence[int],
    tensors: Mapping[str, NDArray[Any]],
    path: str,
) -> None:
    """Restore the moments of the parameters that have already been optimised."""
    parameters = [one for group in optimizer.param_groups for one in group["params"]]
    state: dict[int, dict[str, Tensor]] = {}
    for index in indices:
        shapes = dict.fromkeys(_MOMENTS, tuple(parameters[index].shape)) | {"step": ()}
        state[index] = {
            slot: torch.from_numpy(_get_tensor(tensors, f"{index}/{slot}", shape, path))
            for slot, shape in shapes.items()
        }
    groups = optimizer.state_dict()["param_groups"]
    optimizer.load_state_dict({"state": state, "param_groups": groups})


def _model_tensors(model: ConsensusModel) -> dict[str, NDArray[Any]]:
    weights = model.network.state_dict()
    tensors = {_WEIGHTS + name: value.cpu().numpy() for name, value in weights.items()}
    return {**tensors, _TALLY: model.rater_model.tally}


def _describe(model: ConsensusModel) -> dict[str, Any]:
    return {
        "mode": model.mode,
        "labels": list(model.labels),
        "rater_ids": list(model.rater_ids),
        "network": asdict(model.network.shape),
        "own_image_stream": model.network.has_own_image_stream,
        "rater_weight": model.rater_weight,
        "has_prior": model.has_prior,
    }


def _describe_worth(model: ConsensusModel) -> dict[str, Any]:
    """Describe how the trained model was evaluated."""
    return {
        # Stored as a list of pairs, because the keys of a JSON object would be sorted and the order
        # matters: the first fuser is the fallback.
        "gain": model.gain
        and {"by_truth": model.gain.by_truth, "over": [*map(list, model.gain.over.items())]},
        "likeness": model.likeness and asdict(model.likeness),
        "improving": model.improving,
        "locks": model.locks,
    }


def _read_worth(description: Mapping[str, Any], model: ConsensusModel) -> None:
    """Restore a model's evaluation; files of earlier versions do not contain one."""
    gain, likeness = description.get("gain"), description.get("likeness")
    if gain is not None:
        over = {str(name): _finite_numbers(values) for name, values in gain["over"]}
        if VOTE not in over:
            raise ValueError("its gain is not over the vote")
        model.gain = Gain(bool(gain["by_truth"]), over)
    if likeness is not None:
        low, high = _finite_numbers(likeness["low"]), _finite_numbers(likeness["high"])
        shape = model.network.shape
        if not len(low) == len(high) == number_of_figures(shape.dimension, shape.inputs):
            raise ValueError("its likeness contradicts itself")
        model.likeness = Likeness(low, high)
    model.improving = bool(description.get("improving", False))
    model.locks = bool(description.get("locks", True))


def _finite_numbers(values: Sequence[Any]) -> tuple[float, ...]:
    numbers = tuple(float(value) for value in values)
    if not np.isfinite(numbers).all():
        raise ValueError("it holds numbers that are not finite")
    return numbers


def _describe_training(trainer: Trainer) -> dict[str, Any]:
    settings = asdict(trainer.settings)
    settings["window"] = list(settings["window"])
    fingerprint = {"fingerprint_of_cases": trainer.fingerprint}
    return {**_describe(trainer.model), **settings, **fingerprint}


def _check_kind(description: Mapping[str, Any], wanted: str, path: str) -> None:
    kind = description.get("kind")
    if kind != wanted:
        raise FileError(f"holds a {kind}, but a {wanted} is needed", path=path)


def _build_model(
    description: Mapping[str, Any],
    path: str,
    image_stream: Any,
    weights: Mapping[str, NDArray[Any]],
) -> ConsensusModel:
    shape, mode = NetworkShape(**description["network"]), description["mode"]
    labels, rater_ids = tuple(description["labels"]), tuple(description["rater_ids"])
    fits = (
        all(type(getattr(shape, name)) is int for name in _COUNTS)
        and shape.dimension in (2, 3)
        and 1 <= shape.channels <= 1024
        and 1 <= shape.inputs <= 1024
        and mode in _MODES
        and shape.sees_labels is (mode != "joint")
        and all(type(label) is int for label in labels)
        and all(type(name) in (int, str) for name in rater_ids)
        and shape.classes == len(set(labels)) == len(labels) >= 2
        and shape.raters == len(set(rater_ids)) == len(rater_ids)
    )
    if not fits:
        raise ValueError("its description contradicts itself")
    if description["own_image_stream"] is not (image_stream is not None):
        raise FileError(
            f"{path}: was trained with another image stream; pass it to Load"
            if image_stream is None
            else f"{path}: was trained with the built-in image stream; pass none to Load"
        )
    sides = OWN_SIDES
    if image_stream is not None:
        sides = check_image_stream(image_stream, shape, path)
    with torch.device("meta"):
        # Created on the meta device, so that a damaged description cannot allocate much memory.
        _check_weights(ConsensusNetwork(shape, copy.deepcopy(image_stream)), weights, path)
    model = ConsensusModel.untrained(shape, mode, labels, rater_ids, 0, image_stream, sides)
    _load_weights(model.network, weights, path)
    model.rater_weight = _read_rater_weight(description.get("rater_weight", model.rater_weight))
    model.has_prior = bool(description.get("has_prior", False))
    return model


def _read_rater_weight(value: Any) -> float:
    if type(value) is not float or not 0 <= value <= 1:
        raise ValueError(f"its rater weight is {value!r:.40}")
    return value


def _load_weights(
    network: ConsensusNetwork, tensors: Mapping[str, NDArray[Any]], path: str
) -> None:
    network.load_state_dict(_check_weights(network, tensors, path))


def _check_weights(
    network: ConsensusNetwork, tensors: Mapping[str, NDArray[Any]], path: str
) -> dict[str, Tensor]:
    """Return the tensors; raise unless they fit the network and have valid values."""
    wanted = network.state_dict()
    if wanted.keys() != tensors.keys():
        odd = sorted(wanted.keys() ^ tensors.keys())
        raise FileError(
            f"does not fit the network: {odd[0]} and {len(odd) - 1} more differ", path=path
        )
    learned = {name for name, _ in network.named_parameters()}
    for name, value in wanted.items():
        array = _get_tensor(tensors, name, tuple(value.shape), path)
        infinite = name in learned and not np.isfinite(array).all()
        if infinite or (name.endswith("running_var") and not array.min() >= 0):
            raise ValueError(f"{name} holds values that no training gives")
    return {name: torch.from_numpy(array) for name, array in tensors.items()}


def _tally(
    tensors: Mapping[str, NDArray[Any]], name: str, model: ConsensusModel, path: str
) -> NDArray[np.float64]:
    tally = _get_tensor(tensors, name, model.rater_model.tally.shape, path).astype(np.float64)
    if not (tally.min() >= 0 and tally.max() <= _LARGEST_TALLY):
        raise ValueError(f"{name} holds values that no training gives")
    return tally


def _get_tensor(
    tensors: Mapping[str, NDArray[Any]], name: str, shape: tuple[int, ...], path: str
) -> NDArray[Any]:
    found = tensors[name].shape if name in tensors else None
    if found != shape:
        raise FileError(
            f"does not fit the network: {name} must be {shape}, it is {found}", path=path
        )
    return tensors[name]


def _with_prefix(tensors: Mapping[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    return {n.removeprefix(prefix): array for n, array in tensors.items() if n.startswith(prefix)}
