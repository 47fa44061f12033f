"""Votes of atlases for whole patches of labels, from where their images look like the target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from itk_consensus import _kernels
from itk_consensus.core.array_types import Floats
from itk_consensus.core.errors import InputError
from itk_consensus.core.work import current, report
from itk_consensus.space.tiles import four_axes
from itk_consensus.votes.label_stack import LabelStack
from itk_consensus.votes.vote_tiles import label_frequencies

#: A tile, in voxels per axis: patches beyond its border are weighed again by the tile beside it.
TILE = (32, 48, 40)

#: Tiles per thread between two reports of progress; one may take a second.
TILES_AT_ONCE = 8

#: Shifts of a search, and voxels of a patch, each of which is looked at.
MOST_STEPS = 2**16 - 1


class ScaledImage(NamedTuple):
    """An image whose values count as scale * (value - centre)."""

    values: NDArray[Any]  #: Finite numbers of any type
    centre: float
    scale: float


@dataclass(frozen=True)
class PatchRule:
    """How patches are compared, and what the comparison is worth."""

    #: Radii, in voxels per array axis, of the patch, and of the box in which each atlas is searched
    #: for the patch nearest to the target's; of normalised patches that are one the nearest in
    #: mean is taken, and of equal ones the least shifted.
    patch: tuple[int, ...]
    search: tuple[int, ...]
    #: Whether a patch's mean is taken out and its standard deviation, of `smallest_spread` at
    #: least, made 1; else scaled intensities are compared.
    normalised: bool = True
    smallest_spread: float = 0.1
    #: Whether atlases that err alike share one voice, (M + alpha I)^-1 1; else each counts by its
    #: own mean squared error, (1 + error / alpha)^-beta.
    joint: bool = True
    beta: float = 2.0  #: Exponent of the errors
    alpha: float = 0.1  #: Above 0
    #: Whether joint weights are the best of those not below 0, and not the best with negative ones
    #: then taken for 0.
    constrained: bool = False


class PatchShares(NamedTuple):
    """What patches say of N voxels."""

    places: NDArray[np.int64]  #: (N,) flat indices in the volume
    numbers: NDArray[np.uint16]  #: (N,) of the labels at each of them
    labels: NDArray[np.uint16]  #: Label indices, increasing at each voxel
    shares: NDArray[np.float32]  #: Of the votes; they sum to 1, or there are none


class PatchVotes(NamedTuple):
    """What patches say."""

    decision: NDArray[Any]  #: Of the volume: label index, or a code of `votes.ties`
    parts: list[PatchShares]  #: Of the voxels that atlases do not agree on, some tiles at a time
    weights: Floats  #: (J,) summed weight of each atlas over these voxels
    frequencies: Floats  #: (K,) of the labels among all votes, for voxels that nobody annotated
    images: list[NDArray[np.float32]]  #: The atlases' fused images by modality, if they were wanted


def patch_votes(
    stack: LabelStack,
    target: Sequence[ScaledImage],
    atlases: Sequence[Sequence[ScaledImage]],
    rule: PatchRule,
    *,
    weights: Sequence[float] | None = None,
    exclusions: Mapping[int, NDArray[np.uint8]] | None = None,
    fuse_images: bool = False,
    tile: tuple[int, int, int] = TILE,
) -> PatchVotes:
    """Let every atlas vote, patch by patch, in tiles; results depend on no tile and no thread.

    Parameters
    ----------
    stack : LabelStack
        Votes of the atlases. Beyond the border of images and votes the last voxel goes on.
    target, atlases : sequence of images
        By modality; of the present atlases only.
    weights : (J,) sequence of float, optional
        Of the present atlases, whatever their images.
    exclusions : mapping from label index to ndarray, optional
        Where a label cannot be (not 0).
    fuse_images : bool
        Whether the atlases' intensities are fused too, at every voxel inside the mask.
    """
    votes = stack.votes()
    if len(votes) != len(atlases) or not rule.alpha > 0:
        raise InputError(
            "every present atlas must have an image, and alpha be above 0", owner="patch_votes"
        )
    shape = four_axes(stack.shape)
    shifts = nearest_first(rule.search)
    threads = current().threads
    size = (1, *map(_evenly, tile, shape[1:]))
    settings = _kernels.AtlasSettings(
        shape,
        size,
        in_four(rule.patch),
        in_four(rule.search),
        [in_four(shift) for shift in shifts.tolist()],
        rule.normalised,
        rule.smallest_spread,
        rule.joint,
        rule.beta,
        rule.alpha,
        rule.constrained,
    )
    narrow = len(stack.labels) < np.iinfo(np.int16).max
    decision = np.empty(stack.shape, np.int16 if narrow else np.int32)
    images = [np.zeros(stack.shape, np.float32) for _ in target] if fuse_images else []
    given = (
        votes,
        [_kernel_image(image) for image in target],
        [[_kernel_image(image) for image in modalities] for modalities in atlases],
        [1.0] * len(votes) if weights is None else list(weights),
        stack.mask,
        list((exclusions or {}).items()),
        len(stack.labels),
        settings,
    )
    count = int(np.prod([-(-extent // side) for extent, side in zip(shape, size, strict=True)]))
    parts, summed = [], np.zeros(len(votes))
    for first in range(0, count, TILES_AT_ONCE * threads):
        last = min(first + TILES_AT_ONCE * threads, count)
        places, numbers, labels, shares, sums = _kernels.patch_fusion(
            *given, (first, last), threads, decision, images
        )
        parts.append(PatchShares(places, numbers, labels, shares))
        summed += sums.reshape(-1, len(votes)).sum(axis=0)
        report(last / count)
    counts = _kernels.count_votes(votes, None, decision.size, len(stack.labels) + 1, threads)
    frequencies = label_frequencies(counts[:, :-1], np.ones(len(votes)))
    return PatchVotes(decision, parts, summed, frequencies, images)


def nearest_first(radii: Sequence[int]) -> NDArray[np.int64]:
    """(S, axes) steps of a box, from its centre outwards; those of a mirrored box come alike."""
    steps = np.array(list(product(*(range(-r, r + 1) for r in radii))), dtype=np.int64)
    away = np.abs(steps)
    return steps[np.lexsort((*away.T[::-1], np.square(away).sum(axis=1)))]


def in_four(values: Sequence[int]) -> tuple[int, ...]:
    """Numbers of the last axes as those of four, with 0 for axes in front."""
    return (*(0,) * (4 - len(values[-3:])), *values[-3:])


def _kernel_image(image: ScaledImage) -> _kernels.AtlasImage:
    values = image.values
    if values.dtype.kind == "b":
        values = values.view(np.uint8)
    native = values.dtype.newbyteorder("=")
    # The kernel has no type for these; a double holds them.
    if native.kind not in "uif" or native in (np.float16, np.int64, np.uint64, np.longdouble):
        native = np.dtype(np.float64)
    return _kernels.AtlasImage(np.require(values, native, ["C", "A"]), image.centre, image.scale)


def _evenly(side: int, extent: int) -> int:
    """Up to this side of a tile, what makes tiles of about one size."""
    return -(-extent // max(1, -(-extent // side)))
