"""Adding raters one at a time gives the same result as all of them together."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
import SimpleITK as sitk

import itk_consensus as ic
from itk_consensus.core.errors import GeometryError, InputError, NotExecutedError
from itk_consensus.fusing.label_fusion import LabelFusionFilter
from itk_consensus.methods.registry import FUSERS

SHAPE = (13, 18, 21)
BY_PATTERNS = [fuser for fuser in FUSERS if fuser().chunking == "patterns"]


def raters(labels: int, number: int = 5, dtype: Any = np.uint8) -> list[np.ndarray]:
    rng = np.random.default_rng(labels)
    truth = rng.integers(0, labels, (3, 3, 3)).repeat(5, 0).repeat(6, 1).repeat(7, 2)[:13]
    noise = rng.integers(0, labels, (number, *SHAPE))
    return list(np.where(rng.random(noise.shape) < 0.3, noise, truth).astype(dtype))


@pytest.mark.parametrize("labels", [2, 5, 300])
@pytest.mark.parametrize("parameters", [{}, {"TieRule": "prior"}, {"Threshold": 0.5}], ids=str)
def test_votes_one_by_one_are_the_vote_of_all(labels: int, parameters: dict[str, Any]) -> None:
    arrays = raters(labels, 4, np.int16)
    votes = ic.PatternAccumulator(inputs_are_labels=True)
    for array in arrays:
        votes.add(array)
    part = ic.MajorityVoteFilter(**parameters)
    whole = ic.MajorityVoteFilter(InputsAreLabels=True, **parameters)
    np.testing.assert_array_equal(votes.fuse(part), whole.Execute(arrays))
    np.testing.assert_array_equal(part.GetProbabilityImage(1), whole.GetProbabilityImage(1))
    assert part.GetLabels() == whole.GetLabels()


@pytest.mark.parametrize("fuser", BY_PATTERNS, ids=lambda fuser: fuser.__name__)
def test_patterns_one_by_one_give_the_bits_of_all(fuser: type[LabelFusionFilter]) -> None:
    few = {"MaximumIterations": 5} if hasattr(fuser, "MaximumIterations") else {}
    arrays = raters(4)
    patterns = ic.PatternAccumulator()
    for array in arrays:
        patterns.add(array)
    whole, part = fuser(**few), fuser(**few)
    np.testing.assert_array_equal(patterns.fuse(part), whole.Execute(arrays))
    np.testing.assert_array_equal(part.GetLabelImage(), whole.GetLabelImage())


def test_the_answer_takes_after_the_first_image() -> None:
    images = [sitk.GetImageFromArray(array) for array in raters(3)]
    for image in images:
        image.SetSpacing((0.5, 0.75, 2.0))
    patterns = ic.PatternAccumulator()
    for image in images:
        patterns.add(image)
    assert patterns.fuse(ic.MajorityVoteFilter()).GetSpacing() == (0.5, 0.75, 2.0)
    assert patterns.fuse(ic.MultiLabelSTAPLEImageFilter()).GetSpacing() == (0.5, 0.75, 2.0)


def test_an_image_elsewhere_is_refused() -> None:
    votes = ic.PatternAccumulator()
    votes.add(np.zeros((3, 4), np.uint8))
    with pytest.raises(GeometryError, match="input 1"):
        votes.add(np.zeros((3, 5), np.uint8))
    assert votes.NumberOfRaters == 1


def test_outputs_come_after_the_first_image() -> None:
    with pytest.raises(NotExecutedError, match="add a rater first"):
        ic.PatternAccumulator().fuse(ic.MajorityVoteFilter())


def test_what_looks_at_neighbours_is_no_matter_of_votes() -> None:
    patterns = ic.PatternAccumulator()
    patterns.add(np.eye(5, dtype=np.uint8))
    with pytest.raises(InputError, match="cannot be exact in chunks"):
        patterns.fuse(ic.SpatialSTAPLEFilter())
    with pytest.raises(InputError, match="has votes only"):
        patterns.fuse(ic.MajorityVoteFilter(SmoothingSigma=1.0))


def test_many_candidates_need_less_than_four_volumes() -> None:
    shape = (160, 96, 160)
    grid = np.stack(np.meshgrid(*map(np.arange, shape), indexing="ij"))
    rng = np.random.default_rng(0)

    def candidate() -> np.ndarray:
        centre = 48 + rng.normal(0, 2, 3)
        distance = np.sqrt(((grid.T - centre) ** 2).sum(axis=-1)).T
        return (20 + rng.normal(0, 2) > distance).astype(np.uint8) + (distance < 10)

    candidates = [candidate() for _ in range(8)]

    for filter_, whole in (
        (ic.MajorityVoteFilter(), ic.MajorityVote),
        (ic.LabelVotingImageFilter(), ic.LabelVoting),
    ):
        expected, accumulator = whole(candidates), ic.PatternAccumulator()
        tracemalloc.start()
        for array in candidates:
            accumulator.add(array)
        adding = tracemalloc.get_traced_memory()[1] + array.nbytes
        tracemalloc.reset_peak()
        fused = accumulator.fuse(filter_)
        fusing = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert max(adding, fusing) < 4 * array.nbytes, filter_
        np.testing.assert_array_equal(fused, expected)


def test_patterns_beyond_a_byte_and_two_bytes_are_told_apart() -> None:
    rng = np.random.default_rng(1)
    candidates = [rng.integers(0, 7, (41, 42, 43)).astype(np.uint8) for _ in range(7)]
    grown = ic.PatternAccumulator()
    for array in candidates:
        grown.add(array)
    table = grown.patterns()
    assert len(table.counts) > 1 << 16
    for rater, array in enumerate(candidates):
        np.testing.assert_array_equal(table.expand(table.patterns[:, rater].copy()), array)
    np.testing.assert_array_equal(
        grown.patterns(3).expand(grown.patterns(3).patterns[:, 0].copy()), candidates[0] == 3
    )
