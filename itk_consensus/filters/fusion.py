"""What a fuser's _fuse returns: labels and probabilities, by pattern or by voxel.

Outputs are written only when asked for, straight into the image's own memory.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from itk_consensus.images.loaded_images import LoadedImages
from itk_consensus.labels.decision_patterns import DecisionPatterns
from itk_consensus.labels.label_stack import LabelStack
from itk_consensus.labels.ties import UNDECIDED


@dataclass(frozen=True)
class FusionCase:
    """One Execute's input, as _fuse sees it.

    Attributes
    ----------
    loaded : LoadedImages
    stack : LabelStack
    patterns : DecisionPatterns
    """

    loaded: LoadedImages
    stack: LabelStack
    patterns: DecisionPatterns

    @property
    def spacing(self) -> tuple[float, ...]:
        """Voxel size in mm, in the order of the array axes."""
        return self.loaded.geometry.array_spacing


class Fusion(Protocol):
    """A fused result that can still be written in several forms."""

    @property
    def has_undecided(self) -> bool:
        """Whether any voxel is undecided."""

    def write_labels(self, values: NDArray[Any], out: NDArray[Any]) -> None:
        """Write values[k] for label k; values[-1] is undecided, values[-2] background."""

    def write_probability(self, label: int, out: NDArray[Any]) -> None:
        """Write the probability of the label with this index."""


@dataclass(frozen=True)
class PatternFusion:
    """A result with one answer per pattern.

    Attributes
    ----------
    patterns : DecisionPatterns
    decision : (P,) ndarray of int64
    probabilities : (P, K) ndarray
    """

    patterns: DecisionPatterns
    decision: NDArray[np.int64]
    probabilities: NDArray[np.float64]

    @property
    def has_undecided(self) -> bool:
        return bool((self.decision == UNDECIDED).any())

    def write_labels(self, values: NDArray[Any], out: NDArray[Any]) -> None:
        # Negative decisions are Python indices from the end: undecided, background.
        self.patterns.expand(values[self.decision], out=out)

    def write_probability(self, label: int, out: NDArray[Any]) -> None:
        values = np.ascontiguousarray(self.probabilities[:, label], dtype=out.dtype)
        self.patterns.expand(values, out=out)


@dataclass(frozen=True)
class VolumeFusion:
    """A result with its own answer at each voxel, as spatial methods give.

    Attributes
    ----------
    decision : ndarray of int
        Label index per voxel, or a code of `labels.ties`.
    probability : callable
        Gives the probability volume of a label index; made when asked for, to keep memory small.
    """

    decision: NDArray[Any]
    probability: Callable[[int], NDArray[np.float64]]

    @property
    def has_undecided(self) -> bool:
        return bool((self.decision == UNDECIDED).any())

    def write_labels(self, values: NDArray[Any], out: NDArray[Any]) -> None:
        np.take(values, self.decision, out=out, mode="wrap")

    def write_probability(self, label: int, out: NDArray[Any]) -> None:
        out[...] = self.probability(label)
