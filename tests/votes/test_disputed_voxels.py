from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from stacks import Drawn, drawn_stacks, encode

from itk_consensus.core.errors import InputError
from itk_consensus.space.boxes import intersection
from itk_consensus.votes.disputed_voxels import (
    DisputedVoxels,
    chunks,
    decide_voxels,
)
from itk_consensus.votes.ties import UNDECIDED, decide


def disputed(drawn: Drawn) -> np.ndarray:
    """Return whether the raters who annotated a voxel differ, voxel by voxel."""
    digits, missing = drawn.digits(), len(drawn.labels())
    differ = [len(set(row) - {missing}) > 1 for row in digits.tolist()]
    mask = np.ones(len(digits), bool) if drawn.mask is None else (drawn.mask != 0).ravel()
    return (np.array(differ) & mask).reshape(drawn.present[0].shape)


@given(drawn_stacks())
def test_the_box_holds_exactly_the_disputed_voxels_in_c_order(drawn):
    patterns = encode(drawn)
    voxels = DisputedVoxels(patterns, patterns.disputed_region([0] * drawn.present[0].ndim))
    where = disputed(drawn)
    assert len(voxels.places) == where.sum()
    numbers = np.arange(where.size).reshape(where.shape)
    np.testing.assert_array_equal(voxels.take(numbers[voxels.region]), numbers[where])
    volume = np.full(where.shape, -1.0)
    voxels.write(np.arange(len(voxels.places)), volume)
    np.testing.assert_array_equal(volume[where], np.arange(where.sum()))
    assert (volume[~where] == -1).all()


def test_inside_tells_which_voxels_lie_in_a_part():
    first, second = np.zeros((2, 5, 6), np.uint8)
    second[1:4, 1:5] = 1
    patterns = encode(Drawn([first, second]))
    voxels = DisputedVoxels(patterns, patterns.disputed_region([1, 1]))
    part = (slice(0, 2), slice(2, 9))
    members, places = voxels.inside(intersection(part, voxels.region))
    np.testing.assert_array_equal(members, [1, 2, 3])
    np.testing.assert_array_equal(places, np.array([0, 1, 2]) + 4)


def test_a_merged_table_has_no_voxels():
    patterns = encode(Drawn([np.array([0, 1]), np.array([1, 1])]))
    with pytest.raises(InputError, match="merged table"):
        DisputedVoxels(patterns.merge(patterns), (slice(0, 2),)).places


def test_deciding_in_chunks_equals_deciding_at_once():
    scores = np.random.default_rng(0).integers(0, 3, (4, 70_000)).astype(np.float32)
    labels = np.arange(4)
    expected = decide(scores.T.astype(float), labels)
    decision = decide_voxels(scores, labels, "undecided", tolerance=0.0)
    np.testing.assert_array_equal(decision, expected)
    assert (decision == UNDECIDED).any()


def test_boxes_that_do_not_meet_share_nothing():
    assert intersection((slice(0, 3),), (slice(5, 9),)) == (slice(5, 5),)
    assert intersection((slice(0, 6),), (slice(5, 9),)) == (slice(5, 6),)


def test_chunks_cover_all_and_overlap_nowhere():
    assert [(c.start, c.stop) for c in chunks(7, 3)] == [(0, 3), (3, 6), (6, 7)]
    assert list(chunks(0, 3)) == []
