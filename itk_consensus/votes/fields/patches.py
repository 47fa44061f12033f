"""Patch-based label fusion: atlases vote where their images resemble the target image."""

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

#: Number of voxels per axis of a tile; patches that cross its border are computed by both tiles.
TILE = (32, 48, 40)

#: Number of tiles per thread between two progress reports; one tile may take a second.
TILES_AT_ONCE = 8

#: Maximum number of shifts in a search, and maximum number of voxels in a patch.
MOST_STEPS = 2**16 - 1


class ScaledImage(NamedTuple):
    """An image whose intensities are scale * (value - centre)."""

    values: NDArray[Any]  #: Finite values of any numeric type
    centre: float
    scale: float


@dataclass(frozen=True)
class PatchRule:
    """Rule for comparing patches and weighting the atlases accordingly."""

    #: Radii, in voxels per array axis, of the patch, and of the box in which each atlas is searched
    #: for the most similar patch. Among equal normalised patches, the one with the closest mean is
    #: used; if these are equal too, the one with the smallest shift.
    patch: tuple[int, ...]
    search: tuple[int, ...]
    #: Whether patches are standardised by subtracting the mean and dividing by the standard
    #: deviation, whose lower bound is `smallest_spread`. Otherwise scaled intensities are compared.
    normalised: bool = True
    smallest_spread: float = 0.1
    #: Whether weights account for correlated errors of atlases, (M + alpha I)^-1 1; otherwise each
    #: atlas is weighted by its own mean squared error, (1 + error / alpha)^-beta.
    joint: bool = True
    beta: float = 2.0  #: Exponent of the errors
    alpha: float = 0.1  #: Regularisation, greater than 0
    #: Whether joint weights are optimised under the constraint >= 0; otherwise they are optimised
    #: without it, and negative weights are set to 0.
    constrained: bool = False


class PatchShares(NamedTuple):
    """Shares of the labels at N voxels."""

    places: NDArray[np.int64]  #: (N,) flat indices in the volume
    numbers: NDArray[np.uint16]  #: (N,) number of labels at each voxel
    labels: NDArray[np.uint16]  #: Label indices, in increasing order at each voxel
    #: Share of each label; the sum is 1 at each voxel with at least one label
    shares: NDArray[np.float32]


class PatchVotes(NamedTuple):
    """Result of patch-based voting."""

    decision: NDArray[Any]  #: Label index of each voxel of the volume, or a code of `votes.ties`
    parts: list[PatchShares]  #: Shares at the voxels on which atlases disagree, by groups of tiles
    weights: Floats  #: (J,) summed weight of each atlas over these voxels
    #: (K,) share of each label in all votes, for voxels that no atlas annotated
    frequencies: Floats
    images: list[NDArray[np.float32]]  #: Fused atlas images by modality, if requested


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
    """Let the atlases vote patch by patch; the result does not depend on tiles or threads.

    Parameters
    ----------
    stack : LabelStack
        Votes of the atlases. Edge voxels of images and votes are repeated beyond the image.
    target, atlases : sequence of images
        Images by modality, for the present atlases only.
    weights : (J,) sequence of float, optional
        Weight of each present atlas, in addition to the weights derived from its images.
    exclusions : mapping from label index to ndarray, optional
        Masks (not 0) of the voxels where a label is impossible.
    fuse_images : bool
        Whether to also fuse the atlases' intensities, at each voxel inside the mask.
    """
    votes = stack.votes()
    if len(votes) != len(atlases) or not rule.alpha > 0:
        raise InputError(
            "every present atlas must have an image, and alpha must be > 0", owner="patch_votes"
        )
    shape = four_axes(stack.shape)
    shifts = nearest_first(rule.search)
    threads = current().threads
    size = (1, *map(_even_side, tile, shape[1:]))
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
    """Return (S, axes) offsets in a box by distance from its centre; mirroring keeps the order."""
    steps = np.array(list(product(*(range(-r, r + 1) for r in radii))), dtype=np.int64)
    away = np.abs(steps)
    return steps[np.lexsort((*away.T[::-1], np.square(away).sum(axis=1)))]


def in_four(values: Sequence[int]) -> tuple[int, ...]:
    """Pad values of the last axes with leading zeros, to four axes."""
    return (*(0,) * (4 - len(values[-3:])), *values[-3:])


def _kernel_image(image: ScaledImage) -> _kernels.AtlasImage:
    values = image.values
    if values.dtype.kind == "b":
        values = values.view(np.uint8)
    native = values.dtype.newbyteorder("=")
    # The kernel does not support these dtypes, so convert to float64.
    if native.kind not in "uif" or native in (np.float16, np.int64, np.uint64, np.longdouble):
        native = np.dtype(np.float64)
    return _kernels.AtlasImage(np.require(values, native, ["C", "A"]), image.centre, image.scale)


def _even_side(side: int, extent: int) -> int:
    """Return a tile side, at most `side`, that divides the extent into about equal tiles."""
    return -(-extent // max(1, -(-extent // side)))
