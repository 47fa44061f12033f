"""ConsensusFilter: the recommended fuser, which keeps shared detail and explains its result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from itk_consensus.core.errors import ParameterError
from itk_consensus.core.parameters import Measurement
from itk_consensus.core.process_object import output_method
from itk_consensus.core.rater_names import name_raters
from itk_consensus.fusing.estimates import AnswerFacts, Estimate
from itk_consensus.fusing.fused_blocks import FusedBlocks
from itk_consensus.fusing.fusion_case import FusionCase
from itk_consensus.fusing.fusion_result import Fused, FusionResult
from itk_consensus.fusing.label_fusion import LabelFusionFilter
from itk_consensus.fusing.vote_facts import MANY_LABELS
from itk_consensus.methods.consensus.coherence_outputs import (
    ResolutionMixin,
    resolutions,
    settled_blocks,
    settled_fusion,
)
from itk_consensus.methods.consensus.consensus_explanation import (
    ListedComponent,
    ListedComponents,
    explain,
    listed_components,
    lone_components,
)
from itk_consensus.methods.consensus.shared_consensus import SharedConsensus, shared_consensus
from itk_consensus.methods.staple.staple import MULTILABEL, staple
from itk_consensus.methods.voting.corrected_vote import corrected_vote
from itk_consensus.methods.voting.majority_vote import majority_vote
from itk_consensus.methods.voting.smoothed_vote import smoothed_vote
from itk_consensus.space.boxes import voxel_sides
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.fusions import Fusion

COHERENCE = "coherence vote"


@dataclass(frozen=True)
class ConsensusEstimate(Estimate):
    """Facts about the raters and the majority vote, as estimated by ConsensusFilter."""

    choice: str  #: Name of the rule that produced the label map
    copied_raters: tuple[tuple[int, ...], ...]  #: Groups of near copies
    vote_dice: float  #: Dice of the result with the majority vote
    vote_is_noise: bool  #: Whether the majority vote contains specks that the result does not

    def answer_facts(self, patterns: DecisionPatterns) -> AnswerFacts:
        """Return facts about copies and about how the result relates to the majority vote."""
        return AnswerFacts(
            merges_copies=True,
            vote_dice=self.vote_dice,
            vote_is_noise=self.vote_is_noise,
            is_shared=True,
        )


class ConsensusFilter(ResolutionMixin, LabelFusionFilter):
    """The recommended fuser: keeps shared detail by explicit rules, and explains the result.

    The rules are as follows; ``examples/benchmarks/methods/consensus_evidence.py`` prints the table
    on which they are based:

    1. If there is one rater, that rater's labels are returned.
    2. Raters whose contours coincide where other raters' contours differ are copies and count once.
    3. A label that more than half of the raters left empty is absent. The outline of an object is
       fused from the raters who found it, excluding outliers if the other raters agree. An object
       that no majority found is added if the raters miss the other objects often enough to make
       this plausible.
    4. The coherence vote keeps the detail that raters share and smooths the rest.
    5. Other deviations from the majority vote are reverted: components that a majority marked are
       kept, no others are added, and no rater loses more Dice than the spread between raters
       explains.

    GetCandidateImage computes other fusions of the same raters on demand.
    """

    chunking_unsupported_reason = ""
    bytes_per_voxel = 20
    method = "consensus"
    summary = (
        "Assumes little; keeps what raters share and explains the result in numbers. Start here."
    )
    # Not invariant to relabelling: the first label is taken to be the background.
    laws = frozenset({"rater permutation", "unanimity", "clean background padding"})

    Choice = Measurement(str, "The rule that made the label map.", "estimate.choice")
    Explanation = Measurement(
        str,
        "One paragraph: how the result was made and why, with the numbers of this case.",
        lambda result: explanation(result),
    )
    CopiedRaters = Measurement(
        tuple[tuple[int, ...], ...],
        "Groups of raters who are near copies of each other; each group counts once.",
        "estimate.copied_raters",
    )
    VoteDice = Measurement(
        float,
        "Dice of the result with the plain vote, in which ties are background.",
        "estimate.vote_dice",
    )
    VoteIsNoise = Measurement(
        bool, "Whether the vote has specks that the result does not have.", "estimate.vote_is_noise"
    )
    ComponentsLost = Measurement(
        tuple[ListedComponent, ...],
        "Components of two or more voxels that more than half of the raters marked and "
        "the result lacks: label, voxels, ml, and position in mm.",
        lambda result: changed_components_of(result).lost,
    )
    ComponentsGained = Measurement(
        tuple[ListedComponent, ...],
        "Components of two or more voxels that the result has and no rater marked: label, voxels, "
        "ml, and position in mm.",
        lambda result: changed_components_of(result).gained,
    )

    def GetCandidateNames(self) -> tuple[str, ...]:
        """Return the names of the candidates of the last Execute."""
        return tuple(self.fused.extras["candidates"])

    @output_method
    def GetCandidateImage(self, name: str) -> Any:
        """Return the label map of a candidate of the last Execute, computed on demand."""
        result = self.fused
        candidates = result.extras["candidates"]
        if name not in candidates:
            raise ParameterError(
                f"candidate must be one of {tuple(candidates)}, got {name!r}",
                owner=self.GetName(),
            )
        found = candidates[name]
        return result.label_image(found if isinstance(found, Fusion) else found())

    def _fuse(self, case: FusionCase) -> Fused[ConsensusEstimate]:
        patterns = case.patterns
        found = shared_consensus(patterns, case.spacing, case.stack, case.facts)
        frequencies = found.coherence.frequencies
        chosen = settled_fusion(patterns, found.decision, found.write_probability, frequencies)
        choice = _choice(found)
        extras = {
            "shared": found,
            "masks": found.coherence.masks,
            "candidates": {choice: chosen} | _candidates(case, found),
        }
        return Fused(chosen, _estimate(found), extras)

    def fuse_blocks(self, patterns: DecisionPatterns, spacing: Sequence[float]) -> FusedBlocks:
        """Fuse votes stored in blocks; return the decision in blocks and the estimate."""
        found = shared_consensus(patterns, spacing)
        frequencies = found.coherence.frequencies
        return settled_blocks(
            patterns, found.bounded, found.write_probability_in, frequencies, _estimate(found)
        )


def _estimate(found: SharedConsensus) -> ConsensusEstimate:
    copies = tuple(tuple(group) for group in found.groups if len(group) > 1)
    return ConsensusEstimate(_choice(found), copies, found.vote_dice, found.vote_is_noise)


def changed_components_of(result: FusionResult[ConsensusEstimate]) -> ListedComponents:
    """Return lost components that most raters marked, and gained ones that none marked."""
    found, geometry = result.extras["shared"], result.like.geometry
    return result.memo.get_or_make(
        "components",
        lambda: listed_components(found.raters, found.decision, result.labels, geometry),
    )


def explanation(result: FusionResult[ConsensusEstimate]) -> str:
    """Return the explanation as text, with the raters' names."""
    found = result.extras["shared"]
    text = result.memo.get_or_make(
        "explanation",
        lambda: explain(
            result.estimate.choice,
            found,
            resolutions(result) if len(result.labels) <= MANY_LABELS else None,
            lone_components(found.raters),
            changed_components_of(result),
            result.labels,
        ),
    )
    return name_raters(text, result.case.names)


def _choice(found: SharedConsensus) -> str:
    if len(found.groups) == 1 and len(found.groups[0]) == 1:
        return "the only rater"
    rescued = any(asked.rescued for asked in found.voters.values())
    return f"{COHERENCE} with overlooked lesions" if rescued else COHERENCE


@dataclass(frozen=True)
class Candidate:
    """Another fusion of the same raters, computed when called."""

    name: str  #: Key of `OTHER_CANDIDATES`
    patterns: DecisionPatterns
    spacing: tuple[float, ...]  #: Voxel size in mm, in array order

    def __call__(self) -> Fusion:
        return OTHER_CANDIDATES[self.name](self)

    @property
    def sigma(self) -> float:
        """Standard deviation for smoothing the votes, in mm: the smallest voxel side."""
        return float(min(voxel_sides(self.spacing)))


OTHER_CANDIDATES: dict[str, Callable[[Candidate], Fusion]] = {
    "vote": lambda of: majority_vote(of.patterns, ties="prior"),
    "smoothed vote": lambda of: smoothed_vote(
        of.patterns, of.sigma, of.spacing, ties="prior"
    ).fusion(),
    "corrected vote": lambda of: corrected_vote(of.patterns, of.sigma, of.spacing).fusion(),
    "STAPLE (advanced)": lambda of: staple(of.patterns, MULTILABEL.for_variant("advanced")).fusion,
}


def _candidates(case: FusionCase, found: SharedConsensus) -> dict[str, Fusion | Candidate]:
    """Return other fusions of the same raters, by name."""
    patterns, alone = case.patterns, found.coherence
    others: dict[str, Fusion | Candidate] = {
        name: Candidate(name, patterns, case.spacing) for name in OTHER_CANDIDATES
    }
    if not len(found.changed):
        return others
    before = settled_fusion(patterns, alone.decision, alone.write_probability, alone.frequencies)
    return {f"{COHERENCE} alone": before} | others
