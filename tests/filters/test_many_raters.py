"""Ten thousand raters of ten voxels, who must not be compared pair by pair."""

from __future__ import annotations

import numpy as np
import pytest
from contract import Fuser

from itk_consensus import (
    ConsensusFilter,
    DirectInferenceFilter,
    InstanceConsensusFilter,
    STAPLEImageFilter,
)
from itk_consensus.methods.direct_inference.label_evidence import LabelEvidence
from itk_consensus.methods.registry import FUSERS
from itk_consensus.votes.decision_patterns import DecisionPatterns

TRUTH = np.array([[0, 0, 0, 1, 1, 1, 1, 0, 0, 0]], np.uint8)


def crowd(number: int) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [TRUTH ^ (rng.random(TRUTH.shape) < 0.2).astype(np.uint8) for _ in range(number)]


@pytest.mark.parametrize(
    ("fuser", "number"),
    [
        (ConsensusFilter, 10_000),
        (DirectInferenceFilter, 2_000),
        (STAPLEImageFilter, 10_000),
        (InstanceConsensusFilter, 400),
        *(pytest.param(fuser, 10_000, marks=pytest.mark.slow) for fuser in FUSERS),
    ],
)
def test_crowds_are_fused_and_diagnosed(fuser: Fuser, number: int) -> None:
    filter_ = fuser()
    filter_.Execute(crowd(number))
    found = filter_.GetLabelImage()
    if fuser is InstanceConsensusFilter:
        # Half of all readers mark the two neighbouring voxels, which are different objects to a
        # filter that matches objects.
        found = np.where(found == 1, found, 0)
    np.testing.assert_array_equal(found, TRUTH)
    findings = {finding.rule: finding for finding in filter_.GetDiagnostics().findings}
    for rule in ("near-identical raters", "deviating rater"):
        assert f"{number} raters are too many to compare" in findings[rule].what


@pytest.mark.parametrize("raters", [4, 40], ids=["fewer", "more"])
def test_votes_are_counted_alike_whether_raters_are_more_than_patterns_or_fewer(
    raters: int,
) -> None:
    rng = np.random.default_rng(1)
    said = rng.integers(0, 4, (20, raters)).astype(np.uint8)  # 3 denotes a missing vote
    counts = rng.integers(1, 9, 20)
    model = LabelEvidence(DecisionPatterns(said, counts, np.arange(3)), np.ones((3, 3)))
    maps = rng.integers(0, 3, (20, 5))
    wanted = np.full((raters, 3, 5, 3), 2.0)
    for pattern, rater, start in np.ndindex(20, raters, 5):
        if said[pattern, rater] < 3:
            wanted[rater, said[pattern, rater], start, maps[pattern, start]] += counts[pattern]
    found = model.parameter_posterior(maps)
    np.testing.assert_array_equal(found.confusion, wanted)
    np.testing.assert_array_equal(found.prior.sum(axis=1), counts.sum() + 3)
