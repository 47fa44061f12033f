"""Signed distances of selected voxels to the raters' contours, within a box of the volume."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus import _kernels
from itk_consensus.core.array_types import Floats, Floats32
from itk_consensus.core.errors import InputError
from itk_consensus.core.work import current
from itk_consensus.space.boxes import Box, in_space
from itk_consensus.votes.decision_patterns import DecisionPatterns


@dataclass(frozen=True)
class LabelDistances:
    """Signed distances to each rater's contour in mm, as computed by `signed_distance`."""

    patterns: DecisionPatterns
    spacing: Sequence[float]

    def of(
        self,
        raters: Sequence[int],
        label: int,
        region: Box,
        places: NDArray[np.intp],
        *,
        with_missing: bool = False,
    ) -> Floats32:
        """Return (R, n) distances of voxels in a box to a label, as drawn by some raters.

        Parameters
        ----------
        region : Box
            Contours outside the box are ignored.
        places : (n,) ndarray
            Flat indices of the voxels in the box.
        with_missing : bool
            Whether voxels that are not annotated, or outside the mask, count as part of the label.
        """
        distances = np.empty((len(raters), len(places)), np.float32)
        self._measure(raters, label, region, places, with_missing, None, distances)
        return distances

    def add_weighted(
        self,
        sums: Floats,
        weights: Floats,
        raters: Sequence[int],
        label: int,
        region: Box,
        places: NDArray[np.intp],
    ) -> None:
        """Add the distances to each rater's label, multiplied by (R,) weights, to the (n,) sums."""
        self._measure(raters, label, region, places, False, weights, sums)

    def _measure(
        self,
        raters: Sequence[int],
        label: int,
        region: Box,
        places: NDArray[np.intp],
        with_missing: bool,
        weights: Floats | None,
        out: NDArray[Any],
    ) -> None:
        votes = self._votes_by_code
        codes, threads = self.patterns.codes, current().threads
        assert codes is not None, "checked by _votes_by_code"
        size = [part.stop - part.start for part in region]
        # Each thread needs a temporary box of distances: process several at a time only if they are
        # small.
        at_once = min(max(1, codes.size // max(1, int(np.prod(size)))), threads)
        _kernels.label_distances(
            codes,
            [part.start for part in region],
            size,
            votes[raters],
            label,
            self.patterns.number_of_labels if with_missing else label,
            in_space([float(side) for side in self.spacing], 0.0),
            np.ascontiguousarray(places, np.int64),
            weights,
            out,
            at_once,
            max(1, threads // at_once),
        )

    @cached_property
    def _votes_by_code(self) -> NDArray[Any]:
        """(J, codes) label index assigned by each rater to the voxels of each code."""
        patterns = self.patterns
        if patterns.codes is None or patterns.slots is None:
            raise InputError("LabelDistances: a merged table has no voxels")
        shape = (patterns.number_of_raters, patterns.number_of_codes)
        votes = np.full(shape, patterns.number_of_labels, patterns.patterns.dtype)
        votes[:, patterns.slots] = patterns.patterns.T
        return votes
