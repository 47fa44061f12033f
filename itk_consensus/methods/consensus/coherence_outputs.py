"""What the filters built on coherence report alike: their fusion, and how fine the raters agree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats, Mask
from itk_consensus.core.parameters import Measurement
from itk_consensus.core.process_object import ProcessObject
from itk_consensus.core.work import in_threads
from itk_consensus.methods.consensus.curve import CoherenceCurve, Resolution, coherence_curve
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.fusions import VolumeFusion, VoxelShares
from itk_consensus.votes.ties import BACKGROUND, UNDECIDED

if TYPE_CHECKING:
    from itk_consensus.fusing.fusion_result import FusionResult


class ResolutionMixin(ProcessObject):
    """How finely raters agree about each label, measured on demand."""

    CoherenceCurves = Measurement(
        dict[int, CoherenceCurve],
        "For each disputed label: the share of detail that raters have in common, and "
        "the scales in mm at which it was measured.",
        lambda result: coherence_curves(result),
    )
    Resolution = Measurement(
        dict[int, Resolution],
        "For each disputed label: the scale in mm at which raters share half of their detail; "
        "'<=' if they do so at the finest scale measured, '>=' if not even at the coarsest.",
        lambda result: resolutions(result),
    )


def coherence_curves(result: FusionResult[Any]) -> dict[int, CoherenceCurve]:
    """By label; of two labels only the second, since the first mirrors it."""
    return result.memo.made("coherence curves", lambda: _curves(result))


def _curves(result: FusionResult[Any]) -> dict[int, CoherenceCurve]:
    masks, spacing = result.extras["masks"], result.case.spacing
    indices = range(1 if masks.number_of_labels == 2 else 0, masks.number_of_labels)
    found = in_threads(lambda index: coherence_curve(masks, index, spacing), indices)
    return {
        result.labels[index]: curve
        for index, curve in zip(indices, found, strict=True)
        if curve is not None
    }


def resolutions(result: FusionResult[Any]) -> dict[int, Resolution]:
    """By label: the scale at which raters share half of their detail."""
    found = {label: curve.resolution() for label, curve in coherence_curves(result).items()}
    return {label: value for label, value in found.items() if value is not None}


@dataclass(frozen=True)
class SettledShares(VoxelShares):
    """What a result says inside the mask."""

    #: A result's method: writes the probability of a label index, whatever the mask.
    write_probability: Callable[[int, NDArray[Any]], None]
    outside: Mask | None = None  #: Where the mask is not; None: nowhere

    def write(self, label: int, out: NDArray[Any]) -> None:
        self.write_probability(label, out)
        if self.outside is not None:
            out[self.outside] = 0.0


def settled_fusion(
    patterns: DecisionPatterns,
    decision: NDArray[Any],
    write_probability: Callable[[int, NDArray[Any]], None],
    frequencies: Floats,
) -> VolumeFusion:
    """A decision for every voxel: the most frequent label where no rater annotated."""
    unsettled = decision == UNDECIDED
    settled = decision
    if unsettled.any():
        settled = np.where(unsettled, decision.dtype.type(frequencies.argmax()), decision)
    assert patterns.codes is not None
    if patterns.number_of_voxels == patterns.codes.size:
        return VolumeFusion(settled, SettledShares(write_probability))
    outside = patterns.expand(np.zeros(len(patterns.counts), bool), outside=True)
    settled = np.where(outside, settled.dtype.type(BACKGROUND), settled)
    return VolumeFusion(settled, SettledShares(write_probability, outside))
