"""Training data: cases, and batches of random patches. This module does not use torch.

Random choices depend only on the seed and the iteration, so a resumed training run draws the same
batches as an uninterrupted one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

#: Class index for missing labels; there are at most 255 classes.
MISSING = 255

#: Fraction of the patches that are centred on a disputed voxel.
_DISPUTED_PATCHES = 0.5
#: Fraction of the patches in which an atlas replaces image and truth, if atlases have images.
_STAND_INS = 0.5
#: Maximum number of voxels used to estimate the intensity distribution.
_SAMPLED_VOXELS = 200_000
_RATER_DROPOUT = 0.2
#: Fraction of the patches without atlas labels, if atlases have images. A failed registration
#: affects all atlases, so the network must learn to rely on the image.
_UNLABELLED_PATCHES = 0.3
_IDENTITY_DROPOUT = 0.22


@dataclass(frozen=True)
class Case:
    """One image with its raters' labels."""

    image: NDArray[np.float32]  #: (C, *S) normalised channels
    labels: NDArray[np.uint8]  #: (A, *S) class indices, or `MISSING`
    raters: NDArray[np.int64]  #: (A,) index of each rater; 0 is unknown
    truth: NDArray[np.uint8] | None = None  #: (*S) class indices
    #: (K, *S) class probabilities from joint fusion of atlases with images
    prior: NDArray[np.float32] | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the volume, S."""
        return self.labels.shape[1:]

    @property
    def nbytes(self) -> int:
        """Memory used by its arrays, including the patch centres, in bytes."""
        arrays = (self.image, self.labels, self.truth, self.prior, self.centres)
        return sum(array.nbytes for array in arrays if array is not None)

    @cached_property
    def centres(self) -> NDArray[np.int64]:
        """Flat indices of patch centres: disputed voxels with known labels, or else any
        with known labels.
        """
        present = (self.labels != MISSING).any(0)
        # MISSING is the largest index, so the minimum equals it only if all labels are missing.
        lowest = self.labels.min(0)
        differs = lowest != np.where(self.labels != MISSING, self.labels, 0).max(0)
        known = present if self.truth is None else self.truth != MISSING
        found = np.flatnonzero(present & differs & known)
        return found if len(found) else np.flatnonzero(known)


#: Maps a patch and a random generator to an augmented patch of the same size.
Augmentation: TypeAlias = Callable[[Case, np.random.Generator], Case]


@dataclass(frozen=True)
class Batch:
    """Stacked patches of several cases; if a case has fewer raters, the rest are missing."""

    images: NDArray[np.float32]  #: (N, C, *S)
    labels: NDArray[np.uint8]  #: (N, A, *S)
    raters: NDArray[np.int64]  #: (N, A)
    truths: NDArray[np.uint8]  #: (N, *S) `MISSING` outside the case or without a truth
    priors: NDArray[np.float32] | None = None  #: (N, K, *S)


def normalise(image: NDArray[Any]) -> NDArray[np.float32]:
    """Normalise intensities to mean 0 and standard deviation 1, with outliers clipped.

    Intensities are clipped to the 0.5 to 99.5 percentile range, extended by its width on both sides
    to include small lesions, or to the full range if the image is so flat that the percentiles are
    equal.
    """
    sample = sampled_voxels(image)
    low, high = np.percentile(sample, (0.5, 99.5))
    width = high - low
    low, high = low - width, high + width
    if width == 0:
        low, high = float(np.min(image)), float(np.max(image))
    sample = sample.clip(low, high)
    # Subtract the mean in a dtype that represents the intensities exactly; otherwise a large offset
    # would reduce contrast.
    scaled = np.asarray(image, np.result_type(image, np.float32)).clip(low, high)
    scaled -= sample.mean()
    scaled /= sample.std() or high - low or 1.0
    return scaled.astype(np.float32, copy=False)


def sampled_voxels(image: NDArray[Any]) -> NDArray[np.float64]:
    """Return the intensities, or a random sample of those of a large image."""
    flat = np.asarray(image).reshape(-1)
    if flat.size > _SAMPLED_VOXELS:
        # A regular stride could divide the row length and so sample only one column.
        flat = flat[np.random.default_rng(0).integers(0, flat.size, _SAMPLED_VOXELS)]
    return flat.astype(np.float64)


def split(number: int, fraction: float, seed: int) -> tuple[list[int], list[int]]:
    """Split case numbers into training and validation.

    At least three cases are held out if there are twelve or more, since fewer would not give a
    useful interval; none are held out if there are fewer than five.
    """
    order = [int(i) for i in np.random.default_rng([seed, 0]).permutation(number)]
    spared = max(1, round(fraction * number), min(3, number // 4))
    held = spared if fraction > 0 and number >= 5 else 0
    return sorted(order[held:]), sorted(order[:held])


def patch_shape(
    shapes: Sequence[Sequence[int]], window: Sequence[int], stride: int, least: int = 1
) -> tuple[int, ...]:
    """Return the patch size: that of the median case, at most `window`, rounded up to `stride`.

    The last axis has at least two strides, since batch normalisation needs two values.
    """
    usual = np.ceil(np.median(shapes, axis=0))
    *others, last = (
        -(-max(min(int(side), int(limit)), least) // stride) * stride
        for side, limit in zip(usual, window, strict=True)
    )
    return (*others, max(last, 2 * stride))


def informative_patches(case: Case, shape: Sequence[int]) -> list[Case]:
    """Return the whole case if it fits into a patch, otherwise up to three patches around
    disputed voxels.
    """
    sides = np.array(case.shape)
    centres = case.centres
    if (sides <= shape).all() or not len(centres):
        return [crop(case, _start_around(sides // 2, sides, shape), shape)]
    quartiles = centres[np.linspace(0, len(centres) - 1, 5).astype(int)[1:-1]]
    places = np.stack(np.unravel_index(quartiles, sides), 1)
    starts = dict.fromkeys(tuple(_start_around(place, sides, shape)) for place in places)
    return [crop(case, start, shape) for start in starts]


@dataclass(frozen=True)
class PatchSampler:
    """Draws training batches; the order of cases is reshuffled for each epoch."""

    cases: Sequence[Case]
    shape: Sequence[int]
    batch_size: int
    seed: int
    augment: Augmentation
    #: For each case, the cases in which its atlases replace image and truth; half of its patches
    #: are drawn from these.
    stand_ins: Sequence[Sequence[Case]] = ()

    def draw(self, iteration: int) -> tuple[Batch, np.random.Generator]:
        """Return the batch of an iteration, and the generator for its further random choices."""
        rng = np.random.default_rng([self.seed, 1, iteration])
        first = iteration * self.batch_size
        patches = [self._patch(self._case_number(first + i), rng) for i in range(self.batch_size)]
        return as_batch([self.augment(patch, rng) for patch in patches]), rng

    def _case_number(self, position: int) -> int:
        turn, place = divmod(position, len(self.cases))
        order = np.random.default_rng([self.seed, 2, turn]).permutation(len(self.cases))
        return int(order[place])

    def _patch(self, number: int, rng: np.random.Generator) -> Case:
        case = self.cases[number]
        if self.stand_ins and self.stand_ins[number] and rng.random() < _STAND_INS:
            others = self.stand_ins[number]
            case = others[int(rng.integers(len(others)))]
        centres = case.centres
        sides = np.array(case.shape)
        room = np.maximum(sides - self.shape, 0)
        start = rng.integers(0, room + 1)
        if len(centres) and rng.random() < _DISPUTED_PATCHES:
            centre = np.unravel_index(centres[rng.integers(len(centres))], sides)
            return crop(case, _start_around(np.array(centre), sides, self.shape), self.shape)
        return crop(case, [int(i) for i in start], self.shape)


def crop(case: Case, start: Sequence[int], shape: Sequence[int]) -> Case:
    """Crop a box from a case; outside the case, pad with mean intensity and missing labels."""
    box = tuple(slice(a, a + side) for a, side in zip(start, shape, strict=True))
    truth = None if case.truth is None else _pad(case.truth[box], shape, MISSING)
    labels = _pad(case.labels[(slice(None), *box)], shape, MISSING)
    prior = None
    if case.prior is not None:
        prior = _pad(case.prior[(slice(None), *box)], shape, 1 / len(case.prior))
    image = _pad(case.image[(slice(None), *box)], shape, 0)
    return Case(image, labels, case.raters, truth, prior)


def digest(cases: Sequence[Case]) -> str:
    """Return a hash of all the training data."""
    total = hashlib.blake2b(digest_size=16)
    for case in cases:
        for array in (case.image, case.labels, case.raters, case.truth, case.prior):
            if array is None:
                total.update(b"none")
            else:
                total.update(f"{array.dtype.str}{array.shape}".encode())
                total.update(np.ascontiguousarray(array).data)
    return total.hexdigest()


def as_batch(patches: Sequence[Case]) -> Batch:
    """Stack patches of the same size."""
    shape = patches[0].shape
    most = max(len(patch.raters) for patch in patches)
    labels = np.full((len(patches), most, *shape), MISSING, np.uint8)
    raters = np.zeros((len(patches), most), np.int64)
    truths = np.full((len(patches), *shape), MISSING, np.uint8)
    for row, patch in enumerate(patches):
        labels[row, : len(patch.raters)] = patch.labels
        raters[row, : len(patch.raters)] = patch.raters
        if patch.truth is not None:
            truths[row] = patch.truth
    given = [patch.prior for patch in patches if patch.prior is not None]
    priors = np.stack(given) if len(given) == len(patches) else None
    return Batch(np.stack([patch.image for patch in patches]), labels, raters, truths, priors)


def drop_raters(batch: Batch, rng: np.random.Generator) -> Batch:
    """Drop random raters and hide the ids of others; all raters are dropped only if they
    are atlases.
    """
    here = (batch.labels != MISSING).any(axis=tuple(range(2, batch.labels.ndim)))
    keep = _at_least_one(rng.random(here.shape) >= _RATER_DROPOUT, here, rng)
    names = drop_names(batch.raters, rng)
    priors = batch.priors
    if priors is not None:
        unlabelled = rng.random(len(keep)) < _UNLABELLED_PATCHES
        keep[unlabelled] = False
        unknown = unlabelled.reshape(-1, *(1,) * (priors.ndim - 1))
        priors = np.where(unknown, np.float32(1 / priors.shape[1]), priors)
    return replace(batch, labels=hide_raters(batch.labels, ~keep), raters=names, priors=priors)


def drop_names(raters: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Replace some rater ids by 0, so that the network learns to handle unknown raters."""
    return np.where(rng.random(raters.shape) >= _IDENTITY_DROPOUT, raters, 0)


def draw_held_out(batch: Batch, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Draw (N, A) raters to predict from the others, at least one of each case."""
    here = (batch.labels != MISSING).any(axis=tuple(range(2, batch.labels.ndim)))
    return _at_least_one(rng.random(here.shape) < rng.uniform(0.2, 0.8), here, rng)


def hide_raters(labels: NDArray[np.uint8], raters: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """Set the labels of the marked (N, A) raters to missing."""
    marked = raters.reshape(*raters.shape, *(1,) * (labels.ndim - 2))
    return np.where(marked, np.uint8(MISSING), labels)


def _at_least_one(
    chosen: NDArray[np.bool_], here: NDArray[np.bool_], rng: np.random.Generator
) -> NDArray[np.bool_]:
    chosen = chosen & here
    lottery = np.where(here, rng.random(here.shape), -1.0).argmax(1)
    for row in np.flatnonzero(~chosen.any(1)):
        chosen[row, lottery[row]] = here[row].any()
    return chosen


def _start_around(centre: NDArray[Any], sides: NDArray[Any], shape: Sequence[int]) -> list[int]:
    """Return the start of a patch around a voxel, shifted into the case if it fits."""
    room = np.maximum(sides - shape, 0)
    return [int(i) for i in np.clip(centre - np.array(shape) // 2, 0, room)]


def _pad(array: NDArray[Any], shape: Sequence[int], value: float) -> NDArray[Any]:
    leading = array.ndim - len(shape)
    lacking = [want - have for want, have in zip(shape, array.shape[leading:], strict=True)]
    if not any(lacking):
        return array
    widths = [(0, 0)] * leading + [(0, lack) for lack in lacking]
    return np.pad(array, widths, constant_values=value)
