"""Scoring of one case for a conformal band."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from itk_consensus.calibration.conformal import BandOptions
from itk_consensus.calibration.probabilities import (
    CaseFacts,
    ProbabilityCase,
    Spreads,
    box_around,
    disputed_voxels_of_fractions,
    disputed_voxels_of_raters,
    rater_spread,
)
from itk_consensus.calibration.scores import (
    ScoreDistribution,
    ScoreMaps,
    distance_scores,
    probability_scores,
)
from itk_consensus.core.errors import InputError, ParameterError
from itk_consensus.space.boxes import Box
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.label_stack import LabelStack


@dataclass(frozen=True)
class ScoredCase:
    """The data of a case that are needed for calibration."""

    distributions: tuple[ScoreDistribution, ...]  #: Scores of the reference's voxels, by label
    facts: CaseFacts


def score_case(case: ProbabilityCase, options: BandOptions, owner: str) -> ScoredCase:
    """Score a calibration case; `owner` names filter and case in messages."""
    reference = case.reference_labels()
    spreads = label_spreads(case, options, owner)
    box = box_around((case.consensus | reference) != 0, options.region_margin, case.spacing)
    maps = score_maps(case, options, spreads, box)
    distributions = maps.distributions(reference)
    return ScoredCase(distributions, case.facts(spreads))


def is_circular(case: ProbabilityCase) -> bool:
    """Return whether the reference equals the consensus and so cannot be used to calibrate it."""
    return np.array_equal(case.reference_labels(), case.consensus)


def check_contour(case: ProbabilityCase, owner: str) -> None:
    """Raise an `InputError` unless the consensus has a contour."""
    marked = case.consensus != 0
    if not marked.any() or marked.all():
        what = "the whole image" if marked.any() else "empty"
        raise InputError(
            f"the consensus (probability >= 0.5) is {what}, so it has no contour", owner=owner
        )


def score_maps(
    case: ProbabilityCase, options: BandOptions, spreads: Spreads, box: Box
) -> ScoreMaps:
    """Return the scores of all labels in a box that contains the consensus."""
    where = (case.consensus, box, case.spacing, options.region_margin)
    if options.score == "probability":
        return probability_scores(case.probabilities, *where)
    return distance_scores(*where, spreads or (1.0,) * case.labels)


def band_box(
    case: ProbabilityCase, options: BandOptions, spreads: Spreads, tau: tuple[float, ...]
) -> Box:
    """Return the box outside which only background is possible."""
    reach = options.region_margin
    if options.score == "distance":
        foreground_tau = tau[1:] or tau * (case.labels - 1)
        units = spreads[1:] or (1.0,) * (case.labels - 1)
        reach = max(t * unit for t, unit in zip(foreground_tau, units, strict=True))
    return box_around(case.consensus != 0, max(reach, 0.0), case.spacing)


def label_spreads(case: ProbabilityCase, options: BandOptions, owner: str) -> Spreads:
    """Return the raters' spread for each label, in mm; empty if the score does not use it."""
    if not options.uses_spread:
        return ()
    spreads = known_spreads(case, options.probability_is_vote_fraction, owner)
    if not spreads:
        raise ParameterError(
            "rater_spread needs the raters' images; pass raters, or, if the probabilities are "
            "shares of votes, set {ProbabilityIsVoteFraction} to True",
            owner=owner,
            parameter="Normalization",
            mentions=("ProbabilityIsVoteFraction",),
        )
    return spreads


def known_spreads(case: ProbabilityCase, is_vote_fraction: bool, owner: str) -> Spreads:
    """Return the raters' spread for each label, in mm; empty if it cannot be computed."""
    if case.raters is not None:
        stack = LabelStack.multilabel(case.raters, owner=f"{owner}: raters")
        patterns = DecisionPatterns.from_stack(stack)
        disputed = disputed_voxels_of_raters(patterns, case.labels)
    elif is_vote_fraction:
        disputed = disputed_voxels_of_fractions(case.probabilities)
    else:
        return ()
    voxel = prod(case.spacing)
    areas = case.contour_areas
    return tuple(rater_spread(n * voxel, area) for n, area in zip(disputed, areas, strict=True))
