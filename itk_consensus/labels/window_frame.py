"""The disputed voxels and all that their windows can see, as the window kernels read it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus import _kernels
from itk_consensus.array_types import Floats, Floats32
from itk_consensus.errors import InputError
from itk_consensus.labels.decision_patterns import DecisionPatterns
from itk_consensus.labels.disputed_voxels import DisputedVoxels
from itk_consensus.labels.label_weights import Weighted
from itk_consensus.labels.tiles import four_axes

#: Weights are scaled to whole numbers by at most 2 to this, so that their sums are exact.
_MOST_BITS = 36


class WindowFrame:
    """Sums over a window around each of the N disputed voxels.

    Parameters
    ----------
    radii : sequence of int
        Half width of the window, in voxels per array axis; 0 along axes that are no space.
    """

    def __init__(self, patterns: DecisionPatterns, radii: Sequence[int]) -> None:
        self.patterns = patterns
        self.voxels = DisputedVoxels(patterns, patterns.disputed_region([0] * len(radii)))
        around = DisputedVoxels(patterns, patterns.disputed_region(radii))
        shape, half = four_axes(around.shape), (0,) * (4 - min(len(radii), 3)) + tuple(radii[-3:])
        if int(np.prod(shape)) >= 2**32:
            raise InputError(f"WindowFrame: fewer than 2^32 voxels wanted, got {shape}")
        window = np.prod([min(2 * r + 1, size) for r, size in zip(half, shape, strict=True)])
        self._bits = min(_MOST_BITS, 62 - int(window).bit_length())
        number = len(patterns.counts)
        pattern_of = around.expand(np.arange(number, dtype=np.uint32), outside=number).reshape(-1)
        places = np.flatnonzero(np.append(around.flags, False)[pattern_of]).astype(np.uint32)
        rows = np.arange(int(np.prod(shape[:3])) + 1, dtype=np.int64) * shape[3]
        self.pattern_of_voxel = pattern_of[places]
        self._frame = _kernels.WindowFrame(
            shape,
            [min(r, size) for r, size in zip(half, shape, strict=True)],
            places,
            places.searchsorted(rows).astype(np.uint32),
            self.pattern_of_voxel,
            np.ascontiguousarray(patterns.patterns, np.uint16),
            patterns.number_of_labels,
            *self._agreed_runs(pattern_of, shape[3]),
        )

    def _agreed_runs(self, pattern_of: NDArray[np.uint32], width: int) -> list[NDArray[Any]]:
        """Unanimous voxels as runs by label: places, lengths, patterns; where labels begin."""
        patterns = self.patterns
        labels = patterns.number_of_labels
        agreed = np.where(patterns.unanimous, patterns.lowest_vote, labels)
        first = np.ones(len(pattern_of), bool)
        np.not_equal(pattern_of[1:], pattern_of[:-1], out=first[1:])
        first[:: max(1, width)] = True
        places = np.flatnonzero(first)
        lengths = np.diff(places, append=len(pattern_of))
        label = np.append(agreed, labels)[pattern_of[places]]
        by_label = np.argsort(label, kind="stable")
        begin = label[by_label].searchsorted(np.arange(labels + 1))
        by_label = by_label[: begin[-1]]
        runs = [places, lengths, pattern_of[places]]
        return [*(run[by_label].astype(np.uint32) for run in runs), begin.astype(np.int64)]

    def __len__(self) -> int:
        """N."""
        return len(self.pattern_of_voxel)

    @cached_property
    def gaps(self) -> NDArray[np.uint8]:
        """(J,) whether each rater missed a voxel that another annotated."""
        present = self.patterns.present
        return np.asarray(~present[present.any(axis=1)].all(axis=0), np.uint8)

    @cached_property
    def annotated(self) -> Floats32:
        """(N,) voxels in each window that anybody annotated."""
        return self._annotated(self.patterns.number_of_raters)

    @cached_property
    def _seen(self) -> Floats32:
        """(J, N) the same by rater; empty if no rater has gaps."""
        if not self.gaps.any():
            return np.empty(0, np.float32)
        return np.array([self._annotated(rater) for rater in range(len(self.gaps))])

    def _annotated(self, rater: int) -> Floats32:
        return _kernels.annotated_in_windows(self._frame, rater, self.patterns.threads)

    def scale_factors(self, part: int, kappa: float) -> tuple[Floats32, Floats32]:
        """(J, n) sigma of what each rater said at a part's voxels, and its sum over all labels."""
        voxels = self.parts[part]
        said, total = np.empty((2, len(self.gaps), voxels.stop - voxels.start), np.float32)
        _kernels.window_scale_factors(
            self._frame,
            part,
            kappa,
            self.gaps,
            self.annotated,
            self._seen,
            said,
            total,
            self.patterns.threads,
        )
        return said, total

    @cached_property
    def parts(self) -> list[slice]:
        """Disputed voxels whose windows lie in these and in the parts beside them."""
        return [slice(*ends) for ends in self._frame.parts()]

    def joints(
        self,
        part: int,
        posterior: Sequence[Sequence[Weighted]],
        *,
        kappa: float,
        targets: Floats32,
        alpha: Floats,
        log_prior: Floats | None,
        least: float,
        cut: float,
    ) -> list[Weighted]:
        """Log probability of a voxel's votes, in one part, together with each true label.

        Parameters
        ----------
        posterior : sequence of sequences of (voxels, weights)
            Of every label in the part and in those beside it, in order: what performance is of.
        kappa : float
            Strength of the regularisation.
        targets : (J, K, K) ndarray
            [rater, observed, true] performance that sparse data lean to.
        alpha : (K, K) ndarray
            [observed, true] pseudo-counts.
        log_prior : (K,) ndarray or None
            None: the label's share of the window.
        least : float
            A vote is never less probable.
        cut : float
            Labels that are further below a voxel's most probable one are left out.
        """
        off_diagonal = np.where(np.eye(len(alpha), dtype=bool), np.nan, targets)
        return _kernels.window_joints(
            self._frame,
            part,
            list(posterior),
            kappa,
            np.ascontiguousarray(targets, np.float64),
            np.ascontiguousarray(alpha, np.float64),
            log_prior,
            self.gaps,
            self.annotated,
            self._seen,
            *self.scale_factors(part, kappa),
            _mixed(off_diagonal),
            least,
            self._bits,
            cut,
            self.patterns.threads,
        )


def _mixed(off_diagonal: NDArray[Any]) -> bool:
    """Whether some true label is mistaken for one label more than for another, by some rater."""
    if off_diagonal.shape[1] < 2:
        return False
    return bool((np.nanmax(off_diagonal, axis=1) != np.nanmin(off_diagonal, axis=1)).any())
