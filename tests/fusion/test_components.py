from __future__ import annotations

import numpy as np
import pytest

from itk_consensus.fusion.components import (
    changed_components,
    describe_components,
    lost_components,
)


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
    kept[3, 2] = True  # hangs on the pair above by a corner
    expected = mask & ~kept
    np.testing.assert_array_equal(lost_components(mask, kept), expected)


def test_time_connects_nothing():
    mask = np.zeros((2, 3, 3, 3), bool)
    mask[:, 1, 1, 1] = True
    assert not lost_components(mask, np.zeros_like(mask), time_axis=True).any()
    mask[1, 1, 1, 2] = True
    lost = lost_components(mask, np.zeros_like(mask), time_axis=True)
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
