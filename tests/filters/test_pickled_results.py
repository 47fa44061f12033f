"""Pickled results reproduce all outputs bitwise, and contain nothing else."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import contract
import numpy as np
import pytest

import itk_consensus as ic
from itk_consensus.methods.consensus.consensus_filter import OTHER_CANDIDATES, Candidate
from itk_consensus.methods.consensus.rater_masks import RaterMasks
from itk_consensus.methods.registry import FUSERS
from itk_consensus.methods.staple.markov_field import MarkovField
from itk_consensus.methods.staple.staple import MULTILABEL, StapleSettings, staple
from itk_consensus.methods.staple.votes_without_patterns import PackedFusion
from itk_consensus.votes.class_probabilities import SoftVotes
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.fusions import Fusion
from itk_consensus.votes.label_stack import LabelStack
from itk_consensus.votes.packed_votes import PackedVotes
from itk_consensus.votes.uncertainty import UNCERTAINTY_KINDS

SHAPE = (10, 11, 12)


def raters(labels: int = 3, number: int = 5) -> list[np.ndarray]:
    """Return label maps with independent errors; the second label is a smaller box."""
    maps = contract.raters(SHAPE, number, seed=3)
    if labels > 2:
        for one, other in zip(maps, contract.raters(SHAPE, number, seed=4), strict=True):
            one[4:7, 4:8, 4:8] *= 1 + other[4:7, 4:8, 4:8]
    return maps


def probabilities() -> list[np.ndarray]:
    """Return foreground probabilities, none of which is 0 or 1."""
    rng = np.random.default_rng(5)
    return [0.1 + 0.7 * one + 0.2 * rng.random(SHAPE) for one in raters(2)]


def gaps() -> dict[str, Any]:
    rng = np.random.default_rng(1)
    mask, *seen = ((rng.random(SHAPE) < share).astype(np.uint8) for share in (0.8, 0.6, 0.7))
    return {"MaskImage": mask, "RaterMasks": [seen[0], None, seen[1], None, None]}


def target() -> np.ndarray:
    return np.mean(raters(), axis=0) + np.random.default_rng(6).normal(0, 0.1, SHAPE)


def atlas_fuser(kind: Any) -> Any:
    rng = np.random.default_rng(7)
    images = [target() + rng.normal(0, 0.1, SHAPE) for _ in raters()]
    return kind(Image=target(), AtlasImages=images)


def refined(noise: float) -> tuple[Any, list[np.ndarray]]:
    """Return a filter for intensity refinement and raters who misplace the faces of a slab.

    The filter's image shows the slab or, if `noise` is large, almost only noise.
    """
    rng, along = np.random.default_rng(8), np.arange(SHAPE[2])
    wall = np.broadcast_to((along >= 3) & (along < 9), SHAPE)
    shift = rng.choice([-1, 0, 0, 0, 0, 1], (2, 4, *SHAPE[:2], 1))
    maps = list(((along >= 3 + shift[0]) & (along < 9 + shift[1])).astype(np.uint8))
    image = wall + rng.normal(0, noise, SHAPE)
    return ic.IntensityRefinementFilter(Image=image, Filter=ic.MajorityVoteFilter()), maps


#: Filters that have not been executed, and their inputs; created when requested.
CASES: dict[str, Callable[[], tuple[Any, list[np.ndarray]]]] = {
    **{one.__name__: lambda one=one: (one(), raters()) for one in FUSERS},
    **{f"{one.__name__} with gaps": lambda one=one: (one(**gaps()), raters()) for one in FUSERS},
    "locally weighted": lambda: (atlas_fuser(ic.LocallyWeightedVoteFilter), raters()),
    "joint": lambda: (atlas_fuser(ic.JointLabelFusionFilter), raters()),
    "image helps": lambda: refined(0.05),
    "image does not help": lambda: refined(100.0),
    "smoothed": lambda: (ic.MajorityVoteFilter(SmoothingSigma=1.0), raters()),
    "smoothed with gaps": lambda: (ic.MajorityVoteFilter(SmoothingSigma=1.0, **gaps()), raters()),
    "field of two labels": lambda: (ic.STAPLEImageFilter(SmoothnessWeight=2.0), raters(2)),
    "field": lambda: (ic.MultiLabelSTAPLEImageFilter(SmoothnessWeight=2.0), raters()),
    "several starts": lambda: (
        ic.MultiLabelSTAPLEImageFilter(NumberOfInitializations=3, Variant="advanced"),
        raters(),
    ),
    "samples": lambda: (ic.DirectInferenceFilter(NumberOfSamples=50, BurnIn=5), raters()),
    "mask of lesions": lambda: (ic.InstanceConsensusFilter(OutputMap="mask"), raters(2)),
    "hybrid of others": lambda: (
        ic.HybridFusionFilter(
            InteriorFilter=ic.CorrectedVoteFilter(), BoundaryFilter=ic.SIMPLEFilter()
        ),
        raters(),
    ),
    **{
        f"{one.__name__} of probabilities": lambda one=one: (one(), probabilities())
        for one in FUSERS
        if one.soft_inputs or one.takes_probabilities
    },
}


def outputs(fusion: Fusion, labels: int) -> dict[str, np.ndarray]:
    """Return all outputs of a fusion."""
    made: dict[str, np.ndarray] = {"labels": np.empty(SHAPE, np.int32)}
    fusion.write_labels(np.array([*range(labels), -1, -2], np.int32), made["labels"])
    for label in range(labels):
        made[f"probability {label}"] = np.empty(SHAPE)
        fusion.write_probability(label, made[f"probability {label}"])
    for kind in UNCERTAINTY_KINDS:
        made[kind] = np.empty(SHAPE, np.float32)
        fusion.write_uncertainty(kind, labels, made[kind])
    return made


@pytest.mark.parametrize("name", CASES)
def test_a_result_survives_a_pickle_bit_by_bit_and_without_what_was_derived(name: str) -> None:
    filter_, images = CASES[name]()
    filter_.Execute(images)
    fusion, labels = filter_.fused.fusion, len(filter_.GetLabels())
    before = pickle.dumps(fusion)
    wanted = outputs(fusion, labels)
    fusion.as_table(filter_.votes)
    after = pickle.dumps(fusion)
    assert len(after) == len(before)
    for pickled in (before, after):
        found = outputs(pickle.loads(pickled), labels)
        for what, array in wanted.items():
            np.testing.assert_array_equal(found[what], array, err_msg=what)


def patterns(labels: int = 3) -> DecisionPatterns:
    return DecisionPatterns.from_stack(LabelStack.multilabel(raters(labels)))


def test_staple_on_bits_survives_a_pickle() -> None:
    votes = PackedVotes.from_stack(LabelStack.binary(raters(2), 1))
    result = staple(votes, StapleSettings())
    again = pickle.loads(pickle.dumps(result))
    assert isinstance(again.fusion, PackedFusion)
    for what, array in outputs(result.fusion, 2).items():
        np.testing.assert_array_equal(outputs(again.fusion, 2)[what], array, err_msg=what)
    np.testing.assert_array_equal(again.predictive_values, result.predictive_values)


@pytest.mark.parametrize("field", [False, True])
def test_votes_that_staple_expects_survive_a_pickle(field: bool) -> None:
    table = patterns()
    potts = MarkovField(table, (1.0, 1.0, 1.0)) if field else None
    result = staple(table, MULTILABEL, field=potts)
    again = pickle.loads(pickle.dumps(result))
    np.testing.assert_array_equal(again.expected_votes(), result.expected_votes())


def test_votes_that_staple_expects_of_probabilities_survive_a_pickle() -> None:
    result = staple(SoftVotes([[one] for one in probabilities()]), StapleSettings())
    again = pickle.loads(pickle.dumps(result))
    np.testing.assert_array_equal(again.expected_votes(), result.expected_votes())


@pytest.mark.parametrize("name", OTHER_CANDIDATES)
def test_a_candidate_survives_a_pickle_before_it_is_made(name: str) -> None:
    candidate = Candidate(name, patterns(), (1.0, 1.0, 1.5))
    again = pickle.loads(pickle.dumps(candidate))
    np.testing.assert_array_equal(again().volume(), candidate().volume())


def test_masks_of_raters_survive_a_pickle_after_they_were_read() -> None:
    stack, table = LabelStack.multilabel(raters()), patterns()
    of_patterns = RaterMasks.from_patterns(table)
    pairs = [[0, 1], [2], [3, 4]]
    for masks in (of_patterns, RaterMasks.from_stack(stack, table), of_patterns.merged(pairs)):
        wanted = [masks.read(label) for label in range(3)], [masks.share(k) for k in range(3)]
        again = pickle.loads(pickle.dumps(masks))
        found = [again.read(label) for label in range(3)], [again.share(k) for k in range(3)]
        np.testing.assert_array_equal(found[0], wanted[0])
        np.testing.assert_array_equal(found[1], wanted[1])
