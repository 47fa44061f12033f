"""CoherenceVoteFilter: keep the detail that raters share and smooth the rest."""

from __future__ import annotations

from collections.abc import Sequence

from itk_consensus.fusing.fused_blocks import FusedBlocks
from itk_consensus.fusing.fusion_case import FusionCase
from itk_consensus.fusing.fusion_result import Fused
from itk_consensus.fusing.probability_inputs import SoftInputsMixin
from itk_consensus.fusing.shared_parameters import RaterWeightsMixin
from itk_consensus.methods.consensus.blocked_masks import masks_of
from itk_consensus.methods.consensus.coherence_outputs import (
    ResolutionMixin,
    settled_blocks,
    settled_fusion,
)
from itk_consensus.methods.consensus.coherence_vote import coherence_vote
from itk_consensus.methods.consensus.soft_masks import soft_masks
from itk_consensus.votes.decision_patterns import DecisionPatterns


class CoherenceVoteFilter(ResolutionMixin, RaterWeightsMixin, SoftInputsMixin):
    """Majority vote smoothed only where raters do not share its detail.

    Every rater's mask is decomposed into scale bands. Bands are kept where those of different
    raters correlate, and removed elsewhere; the threshold for the contour lies between the mean
    vote shares inside and outside. GetResolution returns the finest scale, in mm, at which the
    raters agree. The scales are multiples of the smallest voxel side, so there are no parameters to
    tune. Probability inputs are treated as masks with values between 0 and 1.
    ``examples/benchmarks/methods/consensus_evidence.py`` compares this filter with other fusers.
    """

    chunking_unsupported_reason = ""
    bytes_per_voxel = 20
    method = "coherence-vote"
    summary = (
        "Assumes that errors finer than three voxels are independent between raters; keeps detail "
        "that they share, smooths the rest, and reports in mm how finely they agree. Keeps thin "
        "and small structures, and handles noise."
    )
    # Not invariant to relabelling: with two labels the first is treated as background.
    laws = frozenset({"rater permutation", "unanimity", "clean background padding"})

    def _fuse(self, case: FusionCase) -> Fused[None]:
        patterns = case.patterns
        weights, soft = self.weights_of(patterns.number_of_raters), case.opinions
        if soft is not None:
            masks = soft_masks(soft.opinions, soft.annotated, soft.mask, weights)
        else:
            masks = masks_of(case.stack, patterns, weights)
        found = coherence_vote(masks, case.spacing)
        fusion = settled_fusion(
            patterns, found.decision, found.write_probability, found.frequencies
        )
        return Fused(fusion, None, {"masks": found.masks})

    def fuse_blocks(self, patterns: DecisionPatterns, spacing: Sequence[float]) -> FusedBlocks:
        """Fuse votes stored in blocks; return the decision in blocks."""
        masks = masks_of(None, patterns, self.weights_of(patterns.number_of_raters))
        found = coherence_vote(masks, spacing)
        return settled_blocks(patterns, found.voted, found.write_probability_in, found.frequencies)
