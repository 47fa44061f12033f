from __future__ import annotations

import numpy as np
import pytest
from scipy import ndimage

from itk_consensus.images.geometry import ArrayGeometry
from itk_consensus.methods.consensus.components import (
    changed_components,
    count_lone_components,
    describe_components,
    lost_components,
)
from itk_consensus.methods.consensus.consensus_explanation import listed_components, lone_components
from itk_consensus.methods.consensus.rater_masks import RaterMasks
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.label_stack import LabelStack


def test_lost_and_gained_components_have_a_size_and_a_place():
    share = np.zeros((10, 12, 14))
    share[1:3, 1:3, 1:3] = 0.8
    share[6, 6, 6:9] = 0.6
    share[8, 2, 2:4] = 0.4
    chosen = np.zeros(share.shape, bool)
    chosen[1:3, 1, 1:3] = True
    chosen[4, 9:11, 12] = True
    found = changed_components(chosen, share, (2.0, 1.0, 0.5))
    assert found.lost == [(3, pytest.approx(0.003), (6, 6, 7))]
    assert found.gained == [(2, pytest.approx(0.002), (4, 9, 12))]


def test_single_voxels_are_not_listed():
    share = np.zeros((6, 6))
    share[2, 2] = 1
    found = changed_components(np.zeros((6, 6), bool), share, (1.0, 1.0))
    assert found.lost == found.gained == []


def test_components_are_lost_whether_voxels_connect_by_faces_or_by_corners():
    mask = np.array([[1, 0, 0, 0, 0], [0, 1, 0, 0, 0], [0, 0, 0, 1, 1], [0, 0, 1, 0, 0]], bool)
    kept = np.zeros(mask.shape, bool)
    kept[3, 2] = True  # touches the pair above at a corner
    expected = mask & ~kept
    np.testing.assert_array_equal(lost_components(mask, kept), expected)


def test_time_connects_nothing():
    mask = np.zeros((2, 3, 3, 3), bool)
    mask[:, 1, 1, 1] = True
    assert not lost_components(mask, np.zeros_like(mask)).any()
    mask[1, 1, 1, 2] = True
    lost = lost_components(mask, np.zeros_like(mask))
    assert lost[1].sum() == 2
    assert not lost[0].any()
    assert [c.voxels for c in describe_components(mask, (1.0,) * 4)] == [2, 1]


def test_lost_components_by_brute_force():
    rng = np.random.default_rng(0)
    for _ in range(40):
        mask, kept = rng.random((2, 6, 7)) < [[[0.35]], [[0.2]]]
        expected = np.zeros(mask.shape, bool)
        for connect in (_faces, _corners):
            for piece in _pieces(mask, connect):
                if len(piece) > 1 and not any(kept[voxel] for voxel in piece):
                    expected[tuple(zip(*piece, strict=True))] = True
        lost = lost_components(mask, kept)
        assert (lost | ~expected).all()
        assert not (lost & kept).any()


def _faces(a, b):
    return abs(a[0] - b[0]) + abs(a[1] - b[1]) == 1


def _corners(a, b):
    return max(abs(a[0] - b[0]), abs(a[1] - b[1])) == 1


def _pieces(mask, connect):
    voxels = {tuple(v) for v in np.argwhere(mask).tolist()}
    while voxels:
        piece = [voxels.pop()]
        for voxel in piece:
            beside = {other for other in voxels if connect(voxel, other)}
            voxels -= beside
            piece += beside
        yield piece


def test_components_found_in_the_boxes_of_labels_are_those_of_the_whole_volume():
    rng = np.random.default_rng(6)
    maps = [rng.choice(5, (12, 14, 10), p=[0.7, 0.1, 0.1, 0.1, 0.0]) for _ in range(3)]
    for one in maps:
        one[:, :, 6:][one[:, :, 6:] == 2] = 0  # label 2 has its own box
    patterns = DecisionPatterns.from_stack(LabelStack.multilabel(maps))
    masks = RaterMasks.from_patterns(patterns)
    decision = rng.choice(4, (12, 14, 10), p=[0.8, 0.1, 0.05, 0.05]).astype(np.int16)
    decision[3, 3, 3] = -1
    decision[5:7, 5, 8] = 2  # label 2 at voxels at which no rater marked it
    grid = ArrayGeometry.of_shape((12, 14, 10))
    found = listed_components(masks, decision, [0, 1, 2, 3], grid)
    lost, gained, lone = [], [], np.zeros(2, int)
    for label in (1, 2, 3):
        whole = changed_components(decision == label, masks.share(label), grid.array_spacing)
        lost += [(label, one.voxels, grid.position(one.place)) for one in whole.lost]
        gained += [(label, one.voxels, grid.position(one.place)) for one in whole.gained]
        lone += count_lone_components(masks.marks(label, ()))
    assert [(one.label, one.voxels, one.position) for one in found.lost] == lost
    assert [(one.label, one.voxels, one.position) for one in found.gained] == gained
    assert any(label == 2 for label, *_ in gained)
    assert lone_components(masks) == tuple(lone)


@pytest.mark.parametrize("seed", range(20))
def test_lone_components_are_those_in_which_one_rater_marked_anything(seed):
    rng = np.random.default_rng(seed)
    raters = rng.random((rng.integers(1, 5), 4, 9, 9)) < 0.06
    pieces, number = ndimage.label(raters.any(axis=0), np.ones((3, 3, 3)))
    large = [n for n in range(1, number + 1) if np.count_nonzero(pieces == n) > 1]
    lone = [n for n in large if sum(marked[pieces == n].any() for marked in raters) == 1]
    assert count_lone_components(raters) == (len(lone), len(large))
