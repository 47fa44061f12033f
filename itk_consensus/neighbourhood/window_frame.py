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
from itk_consensus.neighbourhood.tiles import four_axes
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.disputed_voxels import DisputedVoxels
from itk_consensus.votes.label_weights import LabelWeights, Weighted
from itk_consensus.work import current, report

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
            np.ascontiguousarray(patterns.patterns),
            patterns.number_of_labels,
            *self._agreed_runs(pattern_of, shape[3]),
        )

    def _agreed_runs(self, pattern_of: NDArray[np.uint32], width: int) -> list[NDArray[Any]]:
        """Unanimous voxels as runs by label: places, lengths, patterns; where labels begin."""
        patterns = self.patterns
        labels = patterns.number_of_labels
        agreed = np.append(np.where(patterns.unanimous, patterns.lowest_vote, labels), labels)
        first = np.ones(len(pattern_of), bool)
        np.not_equal(pattern_of[1:], pattern_of[:-1], out=first[1:])
        first[:: max(1, width)] = True
        places = np.flatnonzero(first).astype(np.uint32)
        lengths = np.diff(places, append=np.uint32(len(pattern_of)))
        # Most runs are of disputed voxels, which are freed before the others are sorted.
        some = np.flatnonzero(agreed[pattern_of[places]] < labels)
        places, lengths = places[some], lengths[some]
        label = agreed[pattern_of[places]]
        by_label = np.argsort(label, kind="stable")
        begin = label[by_label].searchsorted(np.arange(labels + 1))
        runs = [places, lengths, pattern_of[places]]
        return [*(run[by_label] for run in runs), begin.astype(np.int64)]

    def __len__(self) -> int:
        """N."""
        return len(self.pattern_of_voxel)

    @cached_property
    def gaps(self) -> NDArray[np.uint8]:
        """(J,) whether each rater missed a voxel that another annotated."""
        present = self.patterns.present
        return np.asarray(~present[present.any(axis=1)].all(axis=0), np.uint8)

    def annotated(self, part: int, piece: int) -> Floats32:
        """(1 + J, n) annotated voxels in each window of a piece: by anybody, then by each rater.

        Without gaps all rows would be the same, and there is but one; with gaps, those of raters
        who have none are not made.
        """
        rows = 1 + len(self.gaps) if self.gaps.any() else 1
        seen = self._of_piece(part, piece, rows)
        _kernels.annotated_in_windows(self._frame, part, piece, self.gaps, seen, current().threads)
        return seen

    def scale_factors(
        self, part: int, piece: int, kappa: float, seen: Floats32
    ) -> tuple[Floats32, Floats32]:
        """(J, n) sigma of what each rater said at a piece's voxels, and its sum over all labels."""
        said, total = (self._of_piece(part, piece, len(self.gaps)) for _ in range(2))
        _kernels.window_scale_factors(
            self._frame, part, piece, kappa, self.gaps, seen, said, total, current().threads
        )
        return said, total

    def _of_piece(self, part: int, piece: int, rows: int) -> Floats32:
        voxels = self.pieces(part)[piece]
        return np.zeros((rows, voxels.stop - voxels.start), np.float32)

    @cached_property
    def parts(self) -> list[slice]:
        """Disputed voxels whose windows lie in these and in the parts beside them."""
        return [slice(*ends) for ends in self._frame.parts()]

    def pieces(self, part: int) -> list[slice]:
        """A part in pieces, more of them for more raters, whose scale factors are much memory."""
        return [slice(*ends) for ends in self._frame.pieces(part)]

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
        mixed = _mixed(off_diagonal)
        pieces: list[Any] = []
        number = len(self.pieces(part))
        for piece in range(number):
            report(piece / number)
            seen = self.annotated(part, piece)
            factors = self.scale_factors(part, piece, kappa, seen)
            report((piece + 0.5) / number)
            joints = _kernels.window_joints(
                self._frame,
                part,
                piece,
                list(posterior),
                kappa,
                np.ascontiguousarray(targets, np.float64),
                np.ascontiguousarray(alpha, np.float64),
                log_prior,
                self.gaps,
                seen,
                *factors,
                mixed,
                least,
                self._bits,
                cut,
                current().threads,
            )
            pieces.append(joints)
        return list(LabelWeights.joined(pieces, len(alpha), len(self)).of)


def _mixed(off_diagonal: NDArray[Any]) -> bool:
    """Whether some true label is mistaken for one label more than for another, by some rater."""
    if off_diagonal.shape[1] < 2:
        return False
    return bool((np.nanmax(off_diagonal, axis=1) != np.nanmin(off_diagonal, axis=1)).any())
