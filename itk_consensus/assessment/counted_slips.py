"""Recommend RaterWeights that exclude raters with wrong masks, if the method has weights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from itk_consensus.assessment.findings import Finding
from itk_consensus.fusing.fusion_result import FusionResult

#: Rules according to which a rater should be excluded rather than averaged.
SLIPS = ("no segmentation", "empty mask", "mirrored mask", "shifted mask", "deviating rater")

#: Maximum number of raters; with more raters, the list of weights would be too long for a sentence.
MOST_WEIGHTS = 20


def counted_slips(findings: Sequence[Finding], result: FusionResult[Any]) -> Iterator[Finding]:
    """Suggest weights of 0 for raters with slips that the fusion still includes."""
    parameters, number = result.made_by.parameters, result.case.patterns.number_of_raters
    if "RaterWeights" not in parameters or number > MOST_WEIGHTS:
        return
    given = parameters["RaterWeights"]
    weights = [1.0] * number if given is None else list(given)
    slipped = {who for one in findings if one.rule in SLIPS and one.severity for who in one.who}
    who = tuple(sorted(rater for rater in slipped if weights[rater] > 0))
    others = [0.0 if rater in who else weight for rater, weight in enumerate(weights)]
    # If at least half of the raters slipped, the others are not a majority that should be
    # preferred.
    if not who or 2 * len(who) >= sum(weight > 0 for weight in weights):
        return
    facts = {"weights": " ".join(f"{weight:g}" for weight in others)}
    yield Finding("counted slip", float(len(who)), "note", who, facts=facts)
