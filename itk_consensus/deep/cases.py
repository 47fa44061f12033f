"""Training material: cases, and the random patches that batches are made of. No torch here.

Whatever is random depends on the seed and the number of the iteration only, so a resumed training
draws what an uninterrupted one would have drawn.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

#: Stands for "no label here" among class indices; there are at most 255 classes.
MISSING = 255

#: Share of patches centred on a voxel the raters dispute, where there is something to learn.
_DISPUTED_PATCHES = 0.5
#: Share of patches in which an atlas stands for the truth, where atlases have images.
_STAND_INS = 0.5
#: Voxels looked at to find the intensity range; more would not change it.
_SAMPLED_VOXELS = 200_000
_RATER_DROPOUT = 0.2
#: Share of patches that no atlas labels, where atlases have images: a registration that failed
#: moves all of them alike, and then the image must lead.
_UNLABELLED_PATCHES = 0.3
_IDENTITY_DROPOUT = 0.22


@dataclass(frozen=True)
class Case:
    """One image and what its raters drew."""

    image: NDArray[np.float32]  #: (C, *S) each channel normalised
    labels: NDArray[np.uint8]  #: (A, *S) class indices, or `MISSING`
    raters: NDArray[np.int64]  #: (A,) index of each rater; 0 is unknown
    truth: NDArray[np.uint8] | None = None  #: (*S)
    #: (K, *S) class probabilities by a fusion that looked at the raters' own images
    prior: NDArray[np.float32] | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """S."""
        return self.labels.shape[1:]

    @property
    def nbytes(self) -> int:
        """Memory of its voxels, and of the places that patches may be centred on."""
        arrays = (self.image, self.labels, self.truth, self.prior, self.centres)
        return sum(array.nbytes for array in arrays if array is not None)

    @cached_property
    def centres(self) -> NDArray[np.int64]:
        """Voxels to centre patches on: disputed ones of which something is known, else any such."""
        present = (self.labels != MISSING).any(0)
        # A missing label is the largest, so it is the lowest only where there is no other.
        lowest = self.labels.min(0)
        differs = lowest != np.where(self.labels != MISSING, self.labels, 0).max(0)
        known = present if self.truth is None else self.truth != MISSING
        found = np.flatnonzero(present & differs & known)
        return found if len(found) else np.flatnonzero(known)


#: A patch, and where its random choices come from, to a changed patch of the same size.
Augmentation: TypeAlias = Callable[[Case, np.random.Generator], Case]


@dataclass(frozen=True)
class Batch:
    """Patches of several cases; raters that a case lacks are missing everywhere."""

    images: NDArray[np.float32]  #: (N, C, *S)
    labels: NDArray[np.uint8]  #: (N, A, *S)
    raters: NDArray[np.int64]  #: (N, A)
    truths: NDArray[np.uint8]  #: (N, *S) `MISSING` outside the case or where no truth is known
    priors: NDArray[np.float32] | None = None  #: (N, K, *S)


def normalised(image: NDArray[Any]) -> NDArray[np.float32]:
    """Intensities with mean 0 and deviation 1, outliers clipped.

    Kept is the range of the 0.5 to 99.5 percentiles and as much again on either side, where a small
    lesion may be; all of it, if so much of the image is flat that those percentiles are equal.
    """
    sample = sampled_voxels(image)
    low, high = np.percentile(sample, (0.5, 99.5))
    width = high - low
    low, high = low - width, high + width
    if width == 0:
        low, high = float(np.min(image)), float(np.max(image))
    sample = sample.clip(low, high)
    # In a type that holds the intensities exactly, so that an offset does not swallow contrast.
    scaled = np.asarray(image, np.result_type(image, np.float32)).clip(low, high)
    scaled -= sample.mean()
    scaled /= sample.std() or high - low or 1.0
    return scaled.astype(np.float32, copy=False)


def sampled_voxels(image: NDArray[Any]) -> NDArray[np.float64]:
    """So many of an image's intensities that more would not change their distribution."""
    flat = np.asarray(image).reshape(-1)
    if flat.size > _SAMPLED_VOXELS:
        # Drawn at random: a stride may fall into step with the rows and see one column only.
        flat = flat[np.random.default_rng(0).integers(0, flat.size, _SAMPLED_VOXELS)]
    return flat.astype(np.float64)


def split(number: int, fraction: float, seed: int) -> tuple[list[int], list[int]]:
    """Which cases train and which judge.

    Three judge as soon as that is a quarter of the cases, since fewer give no useful interval;
    fewer than five cases cannot spare any.
    """
    order = [int(i) for i in np.random.default_rng([seed, 0]).permutation(number)]
    spared = max(1, round(fraction * number), min(3, number // 4))
    held = spared if fraction > 0 and number >= 5 else 0
    return sorted(order[held:]), sorted(order[:held])


def patch_shape(
    shapes: Sequence[Sequence[int]], window: Sequence[int], stride: int, least: int = 1
) -> tuple[int, ...]:
    """The largest patch that half of the cases fill and `window` allows, in multiples of `stride`.

    Along the last axis it is two strides at least: the normalisation of a batch needs two values.
    """
    usual = np.ceil(np.median(shapes, axis=0))
    *others, last = (
        -(-max(min(int(side), int(limit)), least) // stride) * stride
        for side, limit in zip(usual, window, strict=True)
    )
    return (*others, max(last, 2 * stride))


def telling_patches(case: Case, shape: Sequence[int]) -> list[Case]:
    """The whole case if a patch holds it, else up to three patches around disputed voxels."""
    sides = np.array(case.shape)
    centres = case.centres
    if (sides <= shape).all() or not len(centres):
        return [cropped(case, _start_around(sides // 2, sides, shape), shape)]
    quartiles = centres[np.linspace(0, len(centres) - 1, 5).astype(int)[1:-1]]
    places = np.stack(np.unravel_index(quartiles, sides), 1)
    starts = dict.fromkeys(tuple(_start_around(place, sides, shape)) for place in places)
    return [cropped(case, start, shape) for start in starts]


@dataclass(frozen=True)
class PatchSampler:
    """Draws training batches: each pass over the cases is shuffled anew."""

    cases: Sequence[Case]
    shape: Sequence[int]
    batch_size: int
    seed: int
    augment: Augmentation
    #: For each case others to draw half of its patches from: its atlases, each in the truth's place
    stand_ins: Sequence[Sequence[Case]] = ()

    def draw(self, iteration: int) -> tuple[Batch, np.random.Generator]:
        """The batch of an iteration, and the generator that continues its random choices."""
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
            return cropped(case, _start_around(np.array(centre), sides, self.shape), self.shape)
        return cropped(case, [int(i) for i in start], self.shape)


def cropped(case: Case, start: Sequence[int], shape: Sequence[int]) -> Case:
    """A box of a case, padded with the mean intensity and missing labels where it sticks out."""
    box = tuple(slice(a, a + side) for a, side in zip(start, shape, strict=True))
    truth = None if case.truth is None else _padded(case.truth[box], shape, MISSING)
    labels = _padded(case.labels[(slice(None), *box)], shape, MISSING)
    prior = None
    if case.prior is not None:
        prior = _padded(case.prior[(slice(None), *box)], shape, 1 / len(case.prior))
    image = _padded(case.image[(slice(None), *box)], shape, 0)
    return Case(image, labels, case.raters, truth, prior)


def digest(cases: Sequence[Case]) -> str:
    """A fingerprint of everything that training learns from."""
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
    """Stack equally large patches."""
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


def with_raters_dropped(batch: Batch, rng: np.random.Generator) -> Batch:
    """Drop some raters, but not all of a case unless they are atlases, and make some unknown."""
    here = (batch.labels != MISSING).any(axis=tuple(range(2, batch.labels.ndim)))
    keep = _at_least_one(rng.random(here.shape) >= _RATER_DROPOUT, here, rng)
    names = with_names_dropped(batch.raters, rng)
    priors = batch.priors
    if priors is not None:
        unlabelled = rng.random(len(keep)) < _UNLABELLED_PATCHES
        keep[unlabelled] = False
        unknown = unlabelled.reshape(-1, *(1,) * (priors.ndim - 1))
        priors = np.where(unknown, np.float32(1 / priors.shape[1]), priors)
    return replace(batch, labels=hidden(batch.labels, ~keep), raters=names, priors=priors)


def with_names_dropped(raters: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Make some raters unknown, so that the network learns to handle those too."""
    return np.where(rng.random(raters.shape) >= _IDENTITY_DROPOUT, raters, 0)


def draw_held_out(batch: Batch, rng: np.random.Generator) -> NDArray[np.bool_]:
    """(N, A): raters to predict from the others, one of each case at least."""
    here = (batch.labels != MISSING).any(axis=tuple(range(2, batch.labels.ndim)))
    return _at_least_one(rng.random(here.shape) < rng.uniform(0.2, 0.8), here, rng)


def hidden(labels: NDArray[np.uint8], raters: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """The labels without those of the marked raters, (N, A)."""
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
    """Where a patch around a voxel begins, inside the case if it fits."""
    room = np.maximum(sides - shape, 0)
    return [int(i) for i in np.clip(centre - np.array(shape) // 2, 0, room)]


def _padded(array: NDArray[Any], shape: Sequence[int], value: float) -> NDArray[Any]:
    leading = array.ndim - len(shape)
    lacking = [want - have for want, have in zip(shape, array.shape[leading:], strict=True)]
    if not any(lacking):
        return array
    widths = [(0, 0)] * leading + [(0, lack) for lack in lacking]
    return np.pad(array, widths, constant_values=value)
