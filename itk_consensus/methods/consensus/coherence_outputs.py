"""Outputs shared by the filters based on coherence: the fusion and the raters' resolution."""

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
from itk_consensus.fusing.fused_blocks import FusedBlocks
from itk_consensus.methods.consensus.curve import CoherenceCurve, Resolution, coherence_curve
from itk_consensus.space.blocks import Blocked
from itk_consensus.space.boxes import Box
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.fusions import VolumeFusion, VoxelShares
from itk_consensus.votes.ties import BACKGROUND, UNDECIDED

if TYPE_CHECKING:
    from itk_consensus.fusing.fusion_result import FusionResult


class ResolutionMixin(ProcessObject):
    """Measurements of the scale down to which raters agree on each label's detail, computed
    on demand.
    """

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
    """Return the curves by label; with two labels, only that of the second, since both are
    equal.
    """
    return result.memo.get_or_make("coherence curves", lambda: _curves(result))


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
    """Return, by label, the scale at which raters share half of their detail."""
    found = {label: curve.resolution() for label, curve in coherence_curves(result).items()}
    return {label: value for label, value in found.items() if value is not None}


ProbabilityWriter = Callable[[int, NDArray[Any], Box | None], None]
"""Writes the probability of a label index; of a box at least what is in it."""


@dataclass(frozen=True)
class SettledShares(VoxelShares):
    """Probabilities of a result, 0 outside the mask."""

    #: Writes the probability of a label index, ignoring the mask.
    write_probability: ProbabilityWriter
    outside: Mask | None = None  #: Voxels outside the mask; None if there is no mask

    def write(self, label: int, out: NDArray[Any]) -> None:
        self.write_within(label, out, None)

    def write_within(self, label: int, out: NDArray[Any], box: Box | None) -> None:
        self.write_probability(label, out, box)
        if self.outside is not None:
            out[self.outside] = 0.0


def settled_fusion(
    patterns: DecisionPatterns,
    decision: NDArray[Any],
    write_probability: ProbabilityWriter,
    frequencies: Floats,
) -> VolumeFusion:
    """Build a fusion that assigns the most frequent label where no rater annotated."""
    outside = _outside(patterns)
    settled = _settle(decision, outside, frequencies)
    return VolumeFusion(settled, SettledShares(write_probability, outside))


def settled_blocks(
    patterns: DecisionPatterns,
    voted: Blocked,
    write_probability_in: Callable[[Box, int, NDArray[Any]], None],
    frequencies: Floats,
    estimate: Any = None,
) -> FusedBlocks:
    """Make the fusion of `settled_fusion` for votes in blocks."""

    def settle(block: Box) -> NDArray[Any]:
        return _settle(voted.read(block), _outside(patterns.crop(block)), frequencies)

    def write(block: Box, label: int, out: NDArray[Any]) -> None:
        write_probability_in(block, label, out)
        outside = _outside(patterns.crop(block))
        if outside is not None:
            out[outside] = 0.0

    return FusedBlocks(Blocked.made(voted.blocks, settle), estimate, write)


def _outside(patterns: DecisionPatterns) -> Mask | None:
    """Return the voxels outside the mask; None if there is no mask."""
    if patterns.outside_code is None:
        return None
    outside = patterns.expand(np.zeros(len(patterns.counts), bool), outside=True)
    return outside if outside.any() else None


def _settle(decision: NDArray[Any], outside: Mask | None, frequencies: Floats) -> NDArray[Any]:
    unsettled = decision == UNDECIDED
    if unsettled.any():
        decision = np.where(unsettled, decision.dtype.type(frequencies.argmax()), decision)
    if outside is not None:
        decision = np.where(outside, decision.dtype.type(BACKGROUND), decision)
    return decision
