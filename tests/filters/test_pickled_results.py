"""A fused result is data: its pickle gives what it gives, bit by bit, and no more is in it."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import contract
import numpy as np
import pytest

import itk_consensus as ic
from itk_consensus.filters.registry import FUSERS
from itk_consensus.votes.fusions import Fusion
from itk_consensus.votes.uncertainty import UNCERTAINTY_KINDS

SHAPE = (10, 11, 12)


def raters(labels: int = 3, number: int = 5) -> list[np.ndarray]:
    """Label maps with errors of their own; of the second label there is a smaller box."""
    maps = contract.raters(SHAPE, number, seed=3)
    if labels > 2:
        for one, other in zip(maps, contract.raters(SHAPE, number, seed=4), strict=True):
            one[4:7, 4:8, 4:8] *= 1 + other[4:7, 4:8, 4:8]
    return maps


def probabilities() -> list[np.ndarray]:
    """Foreground probabilities, none of which is certain."""
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


def refined(image: np.ndarray) -> tuple[Any, list[np.ndarray]]:
    return ic.IntensityRefinementFilter(Image=image, Filter=ic.MajorityVoteFilter()), raters()


#: Filters that have not been executed, and their inputs; made when they are asked for.
CASES: dict[str, Callable[[], tuple[Any, list[np.ndarray]]]] = {
    **{one.__name__: lambda one=one: (one(), raters()) for one in FUSERS},
    **{f"{one.__name__} with gaps": lambda one=one: (one(**gaps()), raters()) for one in FUSERS},
    "locally weighted": lambda: (atlas_fuser(ic.LocallyWeightedVoteFilter), raters()),
    "joint": lambda: (atlas_fuser(ic.JointLabelFusionFilter), raters()),
    "image helps": lambda: refined(target()),
    "image does not help": lambda: refined(np.random.default_rng(8).normal(size=SHAPE)),
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
    """All that is made of a fusion."""
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
def test_a_result_survives_a_pickle_bit_by_bit(name: str) -> None:
    filter_, images = CASES[name]()
    filter_.Execute(images)
    fusion, labels = filter_.fused.fusion, len(filter_.GetLabels())
    pickled = pickle.dumps(fusion)
    for again in (pickle.loads(pickled), pickle.loads(pickle.dumps(fusion))):
        for what, array in outputs(fusion, labels).items():
            np.testing.assert_array_equal(outputs(again, labels)[what], array, err_msg=what)
