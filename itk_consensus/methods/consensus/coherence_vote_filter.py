"""CoherenceVoteFilter: keep what the raters share, smooth what they do not."""

from __future__ import annotations

from itk_consensus.fusing.fusion_case import FusionCase
from itk_consensus.fusing.fusion_result import Fused
from itk_consensus.fusing.probability_inputs import SoftInputsMixin
from itk_consensus.fusing.shared_parameters import RaterWeightsMixin
from itk_consensus.methods.consensus.coherence_outputs import ResolutionMixin, settled_fusion
from itk_consensus.methods.consensus.rater_masks import RaterMasks
from itk_consensus.methods.consensus.soft_masks import soft_masks
from itk_consensus.methods.consensus.vote import coherence_vote


class CoherenceVoteFilter(ResolutionMixin, RaterWeightsMixin, SoftInputsMixin):
    """The vote, smoothed only where raters do not share its detail.

    Every rater's mask is split into bands of scale. Where the bands of different raters correlate
    they are kept, elsewhere they go, and the contour is drawn midway between what raters mark
    inside and outside. GetResolution tells, in mm, how fine the raters agree. The scales follow
    the smallest voxel side; there is nothing to set. Probabilities are masks between 0 and 1.
    ``examples/benchmarks/methods/consensus_evidence.py`` prints how it compares.
    """

    whole_because = "its gains are measured on bands of scale of the whole image"
    bytes_per_voxel = 20
    method = "coherence-vote"
    summary = (
        "Assumes that errors finer than three voxels are independent between raters; keeps detail "
        "that they share, smooths the rest, and reports in mm how finely they agree. Keeps thin "
        "and small structures, and handles noise."
    )
    # Not relabelling: of two labels the first is taken for the background.
    laws = frozenset({"rater permutation", "unanimity", "clean background padding"})

    def _fuse(self, case: FusionCase) -> Fused[None]:
        patterns = case.patterns
        weights, soft = self.weights_of(patterns.number_of_raters), case.opinions
        if soft is not None:
            masks = soft_masks(soft.opinions, soft.annotated, soft.mask, weights)
        elif case.stack is not None:
            masks = RaterMasks.from_stack(case.stack, patterns, weights)
        else:
            masks = RaterMasks.from_patterns(patterns, weights)
        found = coherence_vote(masks, case.spacing)
        fusion = settled_fusion(
            patterns, found.decision, found.write_probability, found.frequencies
        )
        return Fused(fusion, None, {"masks": found.masks})
