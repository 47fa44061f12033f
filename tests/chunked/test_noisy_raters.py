"""Many noisy raters, with too many patterns for 16-bit codes: results are bitwise equal."""

from __future__ import annotations

from typing import Any

import dask.array as da
import numpy as np
import pytest

import itk_consensus as ic
from itk_consensus.fusing.accumulators import PatternAccumulator
from itk_consensus.methods.staple.votes_without_patterns import PackedFusion
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.encoding import MOST_FEW
from itk_consensus.votes.label_stack import LabelStack
from itk_consensus.votes.packed_votes import PackedVotes

SHAPE = (40, 50, 60)


def noisy_raters(number: int = 24) -> list[Any]:
    """Return masks with nearly random votes, except for a block on which all raters agree."""
    rng = np.random.default_rng(7)
    truth = rng.random(SHAPE) < 0.3
    raters = [truth ^ (rng.random(SHAPE) < 0.2 + 0.01 * j) for j in range(number)]
    for rater in raters:
        rater[:4] = False
    return [rater.astype(np.uint8) for rater in raters]


def in_chunks(arrays: list[Any], chunks: Any) -> list[Any]:
    return [None if array is None else da.from_array(array, chunks=chunks) for array in arrays]


@pytest.mark.parametrize(
    ("chunks", "variant"),
    [((40, 50, 60), "basic"), ((7, 50, 31), "advanced"), (((1, 30, 9), (25, 25), 60), "basic")],
    ids=str,
)
def test_staple_of_noisy_raters_gives_the_same_bits_in_any_chunks(
    chunks: Any, variant: str
) -> None:
    arrays = noisy_raters()
    mask = (np.random.default_rng(1).random(SHAPE) < 0.95).astype(np.uint8)
    arrays[3] = None
    whole, parts = (ic.STAPLEImageFilter(Variant=variant, MaximumIterations=6) for _ in range(2))
    whole.SetMaskImage(mask)
    parts.SetMaskImage(da.from_array(mask, chunks=chunks))
    expected = whole.Execute(arrays)
    assert isinstance(whole.fused.fusion, PackedFusion)
    found = parts.Execute(in_chunks(arrays, chunks))
    np.testing.assert_array_equal(found.compute(), expected)
    np.testing.assert_array_equal(parts.GetLabelImage().compute(), whole.GetLabelImage())
    np.testing.assert_array_equal(
        parts.GetUncertaintyImage().compute(), whole.GetUncertaintyImage()
    )
    np.testing.assert_array_equal(parts.GetSensitivity(), whole.GetSensitivity())
    assert parts.GetLogPosterior() == whole.GetLogPosterior()


def test_raters_one_at_a_time_give_the_same_bits() -> None:
    arrays = noisy_raters()
    accumulator = PatternAccumulator()
    for array in arrays:
        accumulator.add(array)
    one, other = ic.STAPLEImageFilter(), ic.STAPLEImageFilter()
    np.testing.assert_array_equal(accumulator.fuse(one), other.Execute(arrays))
    assert one.GetSensitivity() == other.GetSensitivity()


def test_a_missing_label_that_nobody_used_changes_no_bit() -> None:
    arrays = noisy_raters()
    plain = ic.STAPLE(arrays)
    filter_ = ic.STAPLEImageFilter(MissingLabel=9)
    np.testing.assert_array_equal(filter_.Execute(arrays), plain)
    np.testing.assert_array_equal(filter_.Execute(in_chunks(arrays, (9, 50, 60))), plain)


def test_sums_over_a_pattern_table_are_those_over_voxels_to_the_last_bit() -> None:
    stack = LabelStack.binary(noisy_raters(), 1)
    patterns = DecisionPatterns.from_stack(stack)
    assert MOST_FEW < len(patterns.counts) < np.prod(SHAPE)
    packed = PackedVotes.from_stack(stack), PackedVotes.from_patterns(patterns)
    rng = np.random.default_rng(2)
    theta = rng.dirichlet([1, 9], (24, 1, 2)).transpose(0, 3, 1, 2)
    theta[5, 1] = 1e-40  # tiny probabilities are not 0
    prior = np.array([[0.3, 0.7]])
    voxels, rows = (votes.expectation(theta, prior) for votes in packed)
    for one, other in zip(voxels, rows, strict=True):
        np.testing.assert_array_equal(one, other)
    assert (voxels.counts > 0).all()
    shares = rng.random(25)
    voxels, rows = (votes.expectation_of_votes(shares) for votes in packed)
    for one, other in zip(voxels, rows, strict=True):
        np.testing.assert_array_equal(one, other)


def test_exact_sums_agree_with_sums_of_fractions() -> None:
    """Floating-point sums over many equal voxels drift; integer sums do not."""
    raters = [np.ones((100, 1000), np.uint8) for _ in range(18)]
    raters[0][:, ::2] = 0
    packed = PackedVotes.from_stack(LabelStack.binary(raters, 1))
    theta = np.empty((18, 2, 1, 2))
    theta[:, 0, 0], theta[:, 1, 0] = (0.8, 0.3), (0.2, 0.7)
    found = packed.expectation(theta, np.array([[0.6, 0.4]])).log_likelihood[0]
    joints = [
        np.log(0.6 * 0.2**17 * first[0] + 0.4 * 0.7**17 * first[1])
        for first in ((0.2, 0.7), (0.8, 0.3))
    ]
    assert found == pytest.approx(50_000 * sum(joints), rel=1e-14)
