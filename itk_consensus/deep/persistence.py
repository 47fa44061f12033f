"""Models and unfinished trainings to bytes and back, checked on the way in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from itk_consensus.deep.model import ConsensusModel, RaterModel, new_network
from itk_consensus.deep.network import ConsensusNetwork, NetworkShape
from itk_consensus.deep.training import Trainer, TrainingState
from itk_consensus.deep.weights import pack, unpack
from itk_consensus.errors import FileError

_MODES = ("truth", "joint", "set")
_WEIGHTS, _BEST, _OPTIMIZER = "network/", "best/", "optimizer/"
_TALLY = "rater_model/tally"


def pack_model(model: ConsensusModel) -> bytes:
    """The contents of a model's file."""
    return pack(_model_tensors(model), {"kind": "model", **_describe(model)})


def unpack_model(contents: bytes, path: str, image_stream: Any = None) -> ConsensusModel:
    """The model in a file.

    Parameters
    ----------
    path : str
        For messages.
    image_stream : torch module, optional
        Needed if the model was trained with one of the user's own.
    """
    tensors, description = unpack(contents, path)
    _check_kind(description, "model", path)
    try:
        shape = NetworkShape(**description["network"])
        labels = tuple(int(label) for label in description["labels"])
        mode = description["mode"]
        rater_ids = tuple(description["rater_ids"])
        own_stream = bool(description["own_image_stream"])
    except (KeyError, TypeError, ValueError) as error:
        raise FileError(f"{path}: is damaged: {error}") from error
    _check_description(shape, labels, mode, rater_ids, path)
    if own_stream and image_stream is None:
        raise FileError(f"{path}: was trained with another image stream; pass it to Load")
    network = new_network(shape, 0, image_stream if own_stream else None)
    _load_weights(network, _under(tensors, _WEIGHTS), path)
    tally = _expect(tensors, _TALLY, (shape.raters + 1, shape.classes, shape.classes), path)
    network.eval()
    rater_model = RaterModel(tally.astype(np.float64), symmetric=mode != "truth")
    return ConsensusModel(network, mode, labels, rater_ids, rater_model)


def pack_checkpoint(trainer: Trainer) -> bytes:
    """The contents of an unfinished training's file."""
    state = trainer.state
    tensors = _model_tensors(trainer.model)
    for name, value in (state.best_weights or {}).items():
        tensors[_BEST + name] = value.cpu().numpy()
    for index, slots in trainer.optimizer.state_dict()["state"].items():
        for slot, value in slots.items():
            tensors[f"{_OPTIMIZER}{index}/{slot}"] = value.cpu().numpy()
    progress = {
        "iteration": state.iteration,
        "best_score": state.best_score,
        "best_iteration": state.best_iteration,
        "stale": state.stale,
        "history": trainer.model.history,
    }
    return pack(tensors, {"kind": "checkpoint", **_training(trainer), "progress": progress})


def resume(trainer: Trainer, contents: bytes, path: str) -> None:
    """Put a training where its checkpoint was written."""
    tensors, description = unpack(contents, path)
    _check_kind(description, "checkpoint", path)
    for name, here in _training(trainer).items():
        there = description.get(name)
        if there != here:
            raise FileError(
                f"{path}: belongs to another training: its {name} is {there}, here it is {here}; "
                "remove the file to start anew"
            )
    model, progress = trainer.model, description["progress"]
    _load_weights(model.network, _under(tensors, _WEIGHTS), path)
    model.rater_model.tally[...] = _expect(tensors, _TALLY, model.rater_model.tally.shape, path)
    model.history[:] = progress.pop("history")
    best = {name: torch.from_numpy(array) for name, array in _under(tensors, _BEST).items()}
    trainer.state = TrainingState(best_weights=best or None, **progress)
    slots: dict[int, dict[str, Tensor]] = {}
    for name, array in _under(tensors, _OPTIMIZER).items():
        index, slot = name.split("/")
        slots.setdefault(int(index), {})[slot] = torch.from_numpy(array)
    groups = trainer.optimizer.state_dict()["param_groups"]
    trainer.optimizer.load_state_dict({"state": slots, "param_groups": groups})


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
    }


def _training(trainer: Trainer) -> dict[str, Any]:
    settings = asdict(trainer.settings)
    settings["window"] = list(settings["window"])
    return {**_describe(trainer.model), "settings": settings, "cases": trainer.number_of_cases}


def _check_kind(description: Mapping[str, Any], wanted: str, path: str) -> None:
    kind = description.get("kind")
    if kind != wanted:
        raise FileError(f"{path}: holds a {kind}, a {wanted} was wanted")


def _check_description(
    shape: NetworkShape, labels: tuple[int, ...], mode: str, raters: tuple[Any, ...], path: str
) -> None:
    fits = (
        shape.dimension in (2, 3)
        and shape.classes == len(labels)
        and shape.raters == len(raters)
        and 1 <= shape.channels <= 1024
        and mode in _MODES
    )
    if not fits:
        raise FileError(f"{path}: is damaged: its description contradicts itself")


def _load_weights(
    network: ConsensusNetwork, tensors: Mapping[str, NDArray[Any]], path: str
) -> None:
    wanted = network.state_dict()
    if wanted.keys() != tensors.keys():
        odd = sorted(wanted.keys() ^ tensors.keys())
        raise FileError(
            f"{path}: does not fit the network: {odd[0]} and {len(odd) - 1} more differ"
        )
    for name, value in wanted.items():
        _expect(tensors, name, tuple(value.shape), path)
    network.load_state_dict({name: torch.from_numpy(array) for name, array in tensors.items()})


def _expect(
    tensors: Mapping[str, NDArray[Any]], name: str, shape: tuple[int, ...], path: str
) -> NDArray[Any]:
    found = tensors[name].shape if name in tensors else None
    if found != shape:
        raise FileError(f"{path}: does not fit the network: {name} must be {shape}, it is {found}")
    return tensors[name]


def _under(tensors: Mapping[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    return {n.removeprefix(prefix): array for n, array in tensors.items() if n.startswith(prefix)}
