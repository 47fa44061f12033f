"""The disputed voxels and the votes in the windows around them, in the window kernels' format."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from itk_consensus import _kernels
from itk_consensus.core.array_types import Floats, Floats32
from itk_consensus.core.errors import InputError
from itk_consensus.core.work import current, report
from itk_consensus.space.tiles import four_axes
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.disputed_voxels import DisputedVoxels
from itk_consensus.votes.label_weights import LabelWeights

#: Float32 weights are scaled by at most 2 to this power and converted to integers, whose sums are
#: exact.
_BITS_OF_SINGLE = 36


#: Volume index, first plane and last plane.
Planes = tuple[int, int, int]


class WindowCounts(NamedTuple):
    """Counts of votes in the windows around n voxels."""

    #: (n, 1) annotated voxels; if some annotations are missing, (n, 1 + J): by any rater, and by
    #: each
    seen: Floats32
    #: (n, J) voxels to which each rater assigned the higher of two labels; or (n, 0)
    said: Floats32


class WindowFrame:
    """Sums over a window around each of the N disputed voxels.

    A mention is a pair of a disputed voxel and a label that some rater assigned to it. The M
    mentions are sorted by label, then by voxel.

    Parameters
    ----------
    radii : sequence of int
        Half width of the window, in voxels per array axis; 0 along axes that are not spatial.
    """

    def __init__(self, patterns: DecisionPatterns, radii: Sequence[int]) -> None:
        self.patterns = patterns
        self.voxels = DisputedVoxels(patterns, patterns.disputed_region([0] * len(radii)))
        around = DisputedVoxels(patterns, patterns.disputed_region(radii))
        shape, half = four_axes(around.shape), (0,) * (4 - min(len(radii), 3)) + tuple(radii[-3:])
        if int(np.prod(shape)) >= 2**32:
            raise InputError(f"WindowFrame: must have fewer than 2^32 voxels, got {shape}")
        window = np.prod([min(2 * r + 1, size) for r, size in zip(half, shape, strict=True)])
        self._most_bits = 62 - int(window).bit_length()
        self._bits = min(_BITS_OF_SINGLE, self._most_bits)
        number, labels = len(patterns.counts), patterns.number_of_labels
        pattern_of = around.expand(np.arange(number, dtype=np.uint32), outside=number).reshape(-1)
        runs = self._agreed_runs(pattern_of, shape[3])
        places = np.flatnonzero(np.append(around.flags, False)[pattern_of]).astype(np.uint32)
        votes = np.ascontiguousarray(patterns.patterns)
        self.pattern_of_voxel = pattern_of[places]
        del pattern_of, around
        rows = np.arange(int(np.prod(shape[:3])) + 1, dtype=np.int64) * shape[3]
        row_begin = places.searchsorted(rows).astype(np.uint32)
        self.mentions, self._begin = _kernels.label_mentions(self.pattern_of_voxel, votes, labels)
        present = patterns.present[patterns.present.any(axis=1)]
        #: Whether some rater did not annotate a voxel that another rater annotated.
        self.gaps = not present.all()
        self._frame = _kernels.WindowFrame(
            shape,
            [min(r, size) for r, size in zip(half, shape, strict=True)],
            places,
            row_begin,
            self.pattern_of_voxel,
            votes,
            labels,
            self.gaps,
            *runs,
            self.mentions,
            self._begin,
        )
        self._plane_begin, self._shape = row_begin[:: max(1, shape[2])].copy(), shape
        # The counts depend only on the votes, so they are cached if they need little memory.
        few = len(self) * patterns.number_of_raters <= np.prod(shape)
        self._kept: dict[Planes, WindowCounts] | None = {} if few else None
        #: Planes whose counts are computed together.
        self.parts = self.planes_in_parts(0 if few else 4)

    def planes_in_parts(self, numbers: int) -> list[Planes]:
        """Split the planes so that a part needs fewer values than the frame has voxels.

        `numbers` is the number of values required for each disputed voxel and rater.
        """
        all_numbers = numbers * len(self) * self.patterns.number_of_raters
        parts = max(1, -(-all_numbers // max(1, int(np.prod(self._shape)))))
        volumes, depth = self._shape[:2]
        step = max(1, depth // parts)
        return [
            (volume, low, min(low + step, depth))
            for volume in range(volumes)
            for low in range(0, depth, step)
        ]

    def _agreed_runs(
        self, pattern_of: NDArray[np.uint32], width: int
    ) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Return the runs of unanimous voxels, sorted by label.

        Returns places, lengths and patterns of the runs, and the first run of each label.
        """
        patterns = self.patterns
        labels = patterns.number_of_labels
        agreed = np.append(np.where(patterns.unanimous, patterns.lowest_vote, labels), labels)
        first = np.ones(len(pattern_of), bool)
        np.not_equal(pattern_of[1:], pattern_of[:-1], out=first[1:])
        first[:: max(1, width)] = True
        places = np.flatnonzero(first).astype(np.uint32)
        lengths = np.diff(places, append=np.uint32(len(pattern_of)))
        # Most runs are disputed voxels; they are dropped before the others are sorted.
        some = np.flatnonzero(agreed[pattern_of[places]] < labels)
        places, lengths = places[some], lengths[some]
        label = agreed[pattern_of[places]]
        by_label = np.argsort(label, kind="stable")
        begin = label[by_label].searchsorted(np.arange(labels + 1))
        places, lengths = places[by_label], lengths[by_label]
        return places, lengths, pattern_of[places], begin.astype(np.int64)

    def __len__(self) -> int:
        """Return the number of disputed voxels, N."""
        return len(self.pattern_of_voxel)

    def labels_of(self, mentions: slice) -> NDArray[np.intp]:
        """Return the (m,) label indices for a range of mentions."""
        some = np.arange(mentions.start, mentions.stop)
        return np.asarray(self._begin.searchsorted(some, side="right") - 1)

    @property
    def ranges(self) -> list[slice]:
        """Range of mentions for each label."""
        return [slice(*ends) for ends in pairwise(self._begin.tolist())]

    def by_label(self, weights: NDArray[Any]) -> LabelWeights:
        """Convert (M,) weights of mentions to lists by label."""
        return LabelWeights([(self.mentions[of], weights[of]) for of in self.ranges], len(self))

    def voxels_of(self, planes: Planes) -> slice:
        """Return the range of disputed voxels in some planes."""
        volume, low, high = planes
        first = volume * self._shape[1]
        return slice(*self._plane_begin[[first + low, first + high]].tolist())

    def counts(self, planes: Planes) -> WindowCounts:
        """Return the counts of votes in the windows of some planes."""
        if self._kept is not None and planes in self._kept:
            return self._kept[planes]
        voxels = self.voxels_of(planes)
        raters = self.patterns.number_of_raters
        lanes = (1 + raters if self.gaps else 1), raters * (self.patterns.number_of_labels == 2)
        counts = WindowCounts(
            *(np.zeros((voxels.stop - voxels.start, number), np.float32) for number in lanes)
        )
        _kernels.window_counts(self._frame, planes, *counts, current().threads)
        if self._kept is not None:
            self._kept[planes] = counts
        return counts

    def step(
        self,
        posterior: Floats32,
        *,
        kappa: float,
        targets: Floats32,
        pseudo_counts: tuple[float, float],
        log_prior: Floats | None,
        least: float,
    ) -> tuple[Floats32, float, float]:
        """Run one EM step; return the next posterior, log likelihood, and change of the posterior.

        Parameters
        ----------
        posterior : (M,) ndarray
            Posterior from which performance is estimated.
        kappa : float
            Strength of the regularisation.
        targets : (J, K, K) ndarray
            Performance [rater, observed, true] towards which the estimate is regularised; columns
            sum to one.
        pseudo_counts : pair of float
            Pseudo-counts on and off the diagonal.
        log_prior : (K,) ndarray or None
            Log prior of the labels; None: each label's share in the window.
        least : float
            Lower bound of the probability of a vote; labels with a smaller posterior are dropped.
        """
        joints = np.empty_like(posterior)
        arguments: tuple[Any, ...] = (
            np.ascontiguousarray(targets, np.float64),
            pseudo_counts,
            log_prior,
            least,
            self._bits,
            joints,
            current().threads,
        )
        for number, planes in enumerate(self.parts):
            report(number / len(self.parts))
            counts = self.counts(planes)
            report((number + 0.5) / len(self.parts))
            _kernels.window_joints(self._frame, planes, posterior, kappa, *counts, *arguments)
            del counts  # Free memory before the next counts are computed
        sums = _kernels.normalise_joints(self._frame, posterior, joints, least, current().threads)
        return joints, *sums

    def similarity(self, planes: Planes, shares: Floats) -> Floats:
        """Return the (n, J) correlation, from 0 to 1, of raters and consensus in some windows.

        The windows are those of some planes. The correlation is 0 where a rater annotated nothing.
        `shares` are the (M,) shares of the consensus.
        """
        voxels = self.voxels_of(planes)
        found = np.empty((voxels.stop - voxels.start, self.patterns.number_of_raters))
        _kernels.patch_similarity(
            self._frame, planes, shares, self._most_bits, found, current().threads
        )
        return found

    def add_votes(self, planes: Planes, weights: Floats, votes: Floats) -> None:
        """Add the raters' (n, J) weights in some planes to the (M,) votes for their labels."""
        weights = np.ascontiguousarray(weights)
        _kernels.add_votes(self._frame, planes, weights, votes, current().threads)
