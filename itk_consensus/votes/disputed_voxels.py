"""The voxels on which raters disagree, the only ones that a spatial method must decide."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.pickled_fields import FieldsOnly
from itk_consensus.space.boxes import Box, relative_to
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.label_weights import LabelWeights
from itk_consensus.votes.ties import TieRule, decide

#: Number of voxels processed at a time in steps that require large temporary arrays.
CHUNK = 1 << 16


@dataclass(frozen=True)
class DisputedVoxels(FieldsOnly):
    """The disputed voxels of a box, in C order."""

    patterns: DecisionPatterns  #: Patterns of the whole volume
    region: Box  #: The box

    @cached_property
    def _cropped(self) -> DecisionPatterns:
        """The patterns with only the codes of the box, for expanding values within the box."""
        return self.patterns.crop(self.region)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the box."""
        return tuple(part.stop - part.start for part in self.region)

    @cached_property
    def flags(self) -> NDArray[np.bool_]:
        """(P,) whether each pattern is disputed."""
        return ~self.patterns.unanimous & self.patterns.present.any(axis=1)

    def expand(self, values: NDArray[Any], outside: Any = 0) -> NDArray[Any]:
        """Map each voxel of the box to the value of its pattern."""
        return self._cropped.expand(np.ascontiguousarray(values), outside=outside)

    @property
    def mask(self) -> NDArray[np.bool_]:
        """Mask of the disputed voxels in the box."""
        # Used once or twice, so the cropped codes are not cached.
        return self.patterns.crop(self.region).expand(self.flags)

    @cached_property
    def places(self) -> NDArray[np.intp]:
        """(N,) flat indices of the disputed voxels in the box."""
        return np.flatnonzero(self.mask)

    @cached_property
    def rows(self) -> NDArray[np.unsignedinteger[Any]]:
        """(N,) pattern index of each disputed voxel."""
        numbers = np.arange(len(self.patterns.counts))
        # Used once, so the cropped codes are not cached.
        cropped = self.patterns.crop(self.region)
        return self.take(cropped.expand(numbers.astype(np.min_scalar_type(len(numbers)))))

    def take(self, volume: NDArray[Any]) -> NDArray[Any]:
        """Return the (N,) values at the disputed voxels of a volume of the box's shape."""
        return np.asarray(volume.reshape(-1)[self.places])

    def inside(self, box: Box) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return (n,) indices of the disputed voxels in a sub-box, and flat indices in that box."""
        if box == self.region:
            return np.arange(len(self.places)), self.places
        part = relative_to(box, self.region)
        rows = [np.arange(side.start, side.stop) for side in part[:-1]]
        first_in_row = np.zeros(1, np.intp)
        for sides, size in zip(rows, self.shape, strict=False):
            first_in_row = np.add.outer(first_in_row * size, sides).reshape(-1)
        first_in_row = first_in_row * self.shape[-1] + part[-1].start
        width = part[-1].stop - part[-1].start
        begin = self.places.searchsorted(first_in_row)
        number = self.places.searchsorted(first_in_row + width) - begin
        ends = number.cumsum()
        total = int(ends[-1]) if len(ends) else 0
        members = np.arange(total) + np.repeat(begin - (ends - number), number)
        shift = np.arange(len(first_in_row)) * width - first_in_row
        return members, self.places[members] + np.repeat(shift, number)

    def write(self, values: NDArray[Any], volume: NDArray[Any]) -> None:
        """Write (N,) values into the whole volume's array."""
        volume[self.region][self.mask] = values


def decide_voxels(
    scores: NDArray[Any] | LabelWeights,
    labels: NDArray[Any],
    rule: TieRule,
    *,
    tolerance: float,
    prior: NDArray[np.float64] | None = None,
) -> NDArray[np.int32]:
    """Return (N,) the label index of the highest of (K, N) scores; see `decide` for parameters."""
    number = scores.shape[1] if isinstance(scores, np.ndarray) else scores.number
    decision = np.empty(number, np.int32)
    for part in chunks(number, max(1, CHUNK * 16 // max(16, len(scores)))):
        table = scores[:, part] if isinstance(scores, np.ndarray) else scores.columns(part)
        rows = table.T.astype(np.float64)
        decision[part] = decide(rows, labels, rule, tolerance=tolerance, prior=prior)
    return decision


def chunks(number: int, size: int) -> Iterator[slice]:
    """Yield slices of at most `size` elements that cover 0 to `number`."""
    return (slice(at, min(at + size, number)) for at in range(0, number, size))
