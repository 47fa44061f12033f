"""Augmentation of patches: built in, or by the user's transform. No torch here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from itk_consensus.deep.cases import Augmentation, Case
from itk_consensus.errors import ParameterError

#: From a dict of arrays, channels first, to such a dict.
Transform: TypeAlias = Callable[[dict[str, Any]], Mapping[str, Any]]


def augmented(patch: Case, rng: np.random.Generator) -> Case:
    """Flipped and turned at random; each channel brighter or darker, with more or less contrast.

    Turns are by right angles in the plane of the last two axes, if the patch is square there: they
    change no voxel, and across thick slices they would not give images that exist.
    """
    space = len(patch.shape)
    axes = tuple(int(a) for a in np.flatnonzero(rng.random(space) < 0.5) - space)
    turned = rng.random() < 0.5 and patch.shape[-1] == patch.shape[-2]

    def moved(array: NDArray[Any]) -> NDArray[Any]:
        flipped = np.flip(array, axes)
        return flipped.swapaxes(-1, -2) if turned else flipped

    channels = (len(patch.image), *(1,) * space)
    gain = rng.uniform(0.9, 1.1, channels).astype(np.float32)
    offset = rng.uniform(-0.1, 0.1, channels).astype(np.float32)
    truth = None if patch.truth is None else moved(patch.truth)
    return Case(moved(patch.image) * gain + offset, moved(patch.labels), patch.raters, truth)


def by_transform(transform: Transform, owner: str) -> Augmentation:
    """The user's transform as an augmentation.

    One with a method `set_random_state`, as MONAI's have, is seeded anew for every patch, so that a
    resumed training sees what an uninterrupted one would have seen.
    """
    if not callable(transform):
        raise ParameterError(f"transform must be callable, got {transform!r:.80}", owner=owner)

    def augment(patch: Case, rng: np.random.Generator) -> Case:
        seed = int(rng.integers(2**31))
        if hasattr(transform, "set_random_state"):
            transform.set_random_state(seed)
        given: dict[str, Any] = {"image": patch.image.copy(), "labels": patch.labels.copy()}
        if patch.truth is not None:
            given["truth"] = patch.truth[None].copy()
        wanted = {name: array.shape for name, array in given.items()}
        changed = transform(given)
        arrays = {name: _array(changed, name, shape, owner) for name, shape in wanted.items()}
        labels = arrays["labels"].astype(np.uint8)
        truth = arrays["truth"][0].astype(np.uint8) if "truth" in arrays else None
        return Case(arrays["image"].astype(np.float32), labels, patch.raters, truth)

    return augment


def _array(changed: Any, name: str, shape: tuple[int, ...], owner: str) -> NDArray[Any]:
    if not isinstance(changed, Mapping) or name not in changed:
        raise ParameterError(f"transform must return a dict with {name}, got none", owner=owner)
    array = np.asarray(changed[name])
    if array.shape != shape:
        raise ParameterError(
            f"transform must keep the shape of {name}, {shape}, got {array.shape}", owner=owner
        )
    return array
