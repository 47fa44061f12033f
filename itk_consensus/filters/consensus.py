"""ConsensusFilter: the front door. Cheap candidates, a choice by written rules, and the reason."""

from __future__ import annotations

from typing import Any

from itk_consensus.algorithms.corrected_vote import corrected_vote
from itk_consensus.algorithms.findings import Estimate
from itk_consensus.algorithms.majority_vote import VoteResult, majority_vote
from itk_consensus.algorithms.reliability_vote import ReliabilityVote, reliability_vote
from itk_consensus.algorithms.smoothed_vote import smoothed_vote
from itk_consensus.algorithms.staple import staple
from itk_consensus.algorithms.staple_settings import MULTILABEL
from itk_consensus.array_types import Floats
from itk_consensus.errors import ParameterError
from itk_consensus.filters.constraints import LENGTH, optional
from itk_consensus.filters.fusion_case import FusionCase
from itk_consensus.filters.label_fusion import LabelFusionFilter
from itk_consensus.filters.parameters import Measurement, Parameter
from itk_consensus.labels.boxes import voxel_sides
from itk_consensus.labels.decision_patterns import DecisionPatterns
from itk_consensus.labels.fusions import Fusion, PatternFusion

VOTE = "vote"
SMOOTHED = "smoothed vote"
WEIGHTED = "weighted vote"
WEIGHTED_SMOOTHED = "weighted smoothed vote"
CORRECTED = "corrected vote"
STAPLE = "STAPLE (Advanced)"

#: From this share of agreed foreground erased by smoothing, the structure is too thin to smooth.
#: Set well above the few agreed voxels that a small noisy disc loses at its rim; a line one voxel
#: wide, as in the tests, loses all.
THIN_STRUCTURE = 1 / 3

#: With fewer raters nobody can say which of them is right.
RATERS_TO_WEIGH = 3


class ConsensusFilter(LabelFusionFilter):
    """The recommended fuser: runs the cheap methods, chooses by rule, and says why.

    The rules, in this order; ``examples/benchmarks/fusion_benchmark.py`` prints the table behind
    them:

    1. One or two raters: the smoothed vote, since nobody can say which of two is right.
    2. Smoothing would erase more than a third of what all raters agree is foreground: the
       structure is thinner than the smoothing, and the weighted vote is taken as it is.
    3. Else the corrected vote: votes smoothed in mm, and the threshold moved midway between what
       the raters mark inside and outside.
    """

    method = "consensus"
    summary = "Assumes little; compares the cheap methods and explains its choice. Start here."
    # Not relabelling: the rule for thin structures takes label 0 for the background.
    laws = frozenset({"rater permutation"})

    SmoothingSigma = Parameter(
        optional(LENGTH),
        None,
        "Standard deviation, in mm, of the smoothing of the votes; None: the smallest voxel side.",
        default_doc="smallest voxel side",
    )

    Choice: Measurement[str] = Measurement("str", "The candidate that was chosen.")
    Explanation: Measurement[str] = Measurement("str", "One paragraph: what was chosen and why.")
    EstimatedRaterWeights: Measurement[tuple[float, ...]] = Measurement(
        "tuple[float, ...]", "Weight of each rater's vote; they sum to the number of raters."
    )

    def __init__(self, **parameters: Any) -> None:
        super().__init__(**parameters)
        self._candidates: dict[str, Fusion] = {}

    def GetCandidateNames(self) -> tuple[str, ...]:
        """The candidates of the last Execute."""
        _ = self.fused
        return tuple(self._candidates)

    def GetCandidateImage(self, name: str) -> Any:
        """The label map of a candidate of the last Execute."""
        fused = self.fused
        if name not in self._candidates:
            raise ParameterError(
                f"{self.GetName()}: candidate must be one of {tuple(self._candidates)}, "
                f"got {name!r}"
            )
        return fused.label_image(self._candidates[name])

    def _fuse(self, case: FusionCase) -> Fusion:
        patterns = case.patterns
        sigma = self.SmoothingSigma
        sigma = min(voxel_sides(case.spacing)) if sigma is None else sigma
        plain = majority_vote(patterns, ties="prior")
        weighted = reliability_vote(patterns, sigma, case.spacing)
        self._staple = staple(patterns, MULTILABEL.for_variant("Advanced"))

        def smoothed(vote: VoteResult, weights: Floats | None) -> Fusion:
            if sigma == 0:
                return vote
            votes = smoothed_vote(patterns, sigma, case.spacing, weights=weights, ties="prior")
            return votes.fusion()

        self._candidates = {
            VOTE: plain,
            SMOOTHED: smoothed(plain, None),
            WEIGHTED: weighted.vote,
            WEIGHTED_SMOOTHED: smoothed(weighted.vote, weighted.weights),
            CORRECTED: plain
            if sigma == 0
            else corrected_vote(patterns, sigma, case.spacing).fusion(),
            STAPLE: PatternFusion(patterns, self._staple.decision, self._staple.shares),
        }
        erased = _erased(patterns, self._candidates[CORRECTED])
        raters = int(patterns.present.any(axis=0).sum())
        self.EstimatedRaterWeights = tuple(float(weight) for weight in weighted.weights)
        self.Choice, reason = _choose(raters, erased)
        self.Explanation = _explanation(self.Choice, reason, raters, sigma, weighted)
        return self._candidates[self.Choice]

    def _estimate(self, case: FusionCase, fusion: Fusion) -> Estimate:
        """The chosen map with the performance that STAPLE estimates beside it."""
        table = fusion.as_table(case.patterns)
        posterior = self._staple.posterior[table.rows]
        return Estimate(table.patterns, table.decision, posterior, theta=self._staple.theta)


def _choose(raters: int, erased: float) -> tuple[str, str]:
    if raters < RATERS_TO_WEIGH:
        return SMOOTHED, f"with {raters} raters nobody can say who is right"
    if erased > THIN_STRUCTURE:
        return WEIGHTED, f"smoothing would erase {erased:.0%} of what all raters agree on"
    return CORRECTED, (
        "on average it is at or above the smoothed vote in every setting we measured, and no "
        "other method is"
    )


def _explanation(
    choice: str, reason: str, raters: int, sigma: float, weighted: ReliabilityVote
) -> str:
    best, worst = int(weighted.informedness.argmax()), int(weighted.informedness.argmin())
    return (
        f"The {choice} of {raters} raters was taken, because {reason}. Votes are smoothed over "
        f"{sigma:g} mm where smoothing is used. Against the smoothed vote of all, rater {best} "
        f"tells most (informedness {weighted.informedness[best]:.2f}) and rater {worst} least "
        f"({weighted.informedness[worst]:.2f}). The other candidates are at hand with "
        "GetCandidateImage(); GetDiagnostics() says what speaks against the result."
    )


def _erased(patterns: DecisionPatterns, fusion: Fusion) -> float:
    """Share of the voxels that all raters gave one foreground label and the fusion takes away."""
    table, _, decision, _ = fusion.as_table(patterns)
    agreed = table.votes().argmax(axis=1)
    foreground = table.unanimous & (table.labels[agreed] != 0)
    total = table.counts[foreground].sum()
    lost = table.counts[foreground & (decision != agreed)].sum()
    return float(lost / total) if total else 0.0
