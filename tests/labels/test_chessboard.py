from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stacks import drawn_stacks, encode

from itk_consensus.errors import InputError
from itk_consensus.labels.chessboard import chessboard, neighbour_weights
from itk_consensus.labels.decision_patterns import DecisionPatterns


def brute_force(
    patterns: DecisionPatterns, settled: np.ndarray, spacing: tuple[float, ...]
) -> tuple[dict[tuple[int, int], float], dict[int, np.ndarray]]:
    """Weights between open voxels, and the labels of settled neighbours, one voxel at a time."""
    rows = patterns.expand(np.arange(len(settled)), outside=-1)
    agreed = patterns.votes().argmax(axis=1)
    axes = range(rows.ndim) if rows.ndim <= 3 else range(1, rows.ndim)
    nearest = min(spacing[axis] for axis in axes)
    links, anchors = {}, {}
    for place in itertools.product(*map(range, rows.shape)):
        if rows[place] < 0 or settled[rows[place]]:
            continue
        here = int(np.ravel_multi_index(place, rows.shape))
        anchors[here] = np.zeros(patterns.number_of_labels)
        for axis, step in itertools.product(axes, (-1, 1)):
            beside = list(place)
            beside[axis] += step
            if not 0 <= beside[axis] < rows.shape[axis] or rows[tuple(beside)] < 0:
                continue
            row = rows[tuple(beside)]
            weight = nearest / spacing[axis]
            if settled[row]:
                anchors[here][agreed[row]] += weight
            else:
                links[here, int(np.ravel_multi_index(beside, rows.shape))] = weight
    return links, anchors


@given(drawn_stacks(), st.data())
def test_links_and_anchors_are_those_of_brute_force(drawn, data):
    patterns = encode(drawn)
    if patterns.number_of_voxels == 0:
        return
    settled = patterns.unanimous
    spacing = tuple(data.draw(st.sampled_from([0.5, 1.0, 3.0])) for _ in drawn.present[0].shape)
    white, black = chessboard(patterns, settled, spacing)
    links, anchors = brute_force(patterns, settled, spacing)
    assert sorted([*white.voxels, *black.voxels]) == sorted(anchors)
    for this, other in ((white, black), (black, white)):
        found = this.links.tocoo()
        pairs = zip(this.voxels[found.row], other.voxels[found.col], found.data, strict=True)
        wanted = {pair: weight for pair, weight in links.items() if pair[0] in set(this.voxels)}
        assert {(int(a), int(b)): pytest.approx(w) for a, b, w in pairs} == wanted
        for voxel, anchor in zip(this.voxels, this.anchor.T, strict=True):
            np.testing.assert_allclose(anchor, anchors[int(voxel)], rtol=1e-6)


@given(drawn_stacks())
def test_every_open_voxel_knows_its_pattern(drawn):
    patterns = encode(drawn)
    if patterns.number_of_voxels == 0:
        return
    rows = patterns.expand(np.arange(len(patterns.counts)), outside=-1).ravel()
    for colour in chessboard(patterns, patterns.unanimous, (1.0,) * drawn.present[0].ndim):
        np.testing.assert_array_equal(colour.pattern, rows[colour.voxels])


def test_the_last_itk_axis_of_four_has_no_neighbours():
    assert neighbour_weights((5.0, 2.0, 1.0, 1.0)) == {1: 0.5, 2: 1.0, 3: 1.0}
    assert neighbour_weights((2.0, 1.0, 1.0)) == {0: 0.5, 1: 1.0, 2: 1.0}


def test_a_table_without_voxels_is_refused():
    table = DecisionPatterns(np.array([[0, 1]], np.uint8), np.array([3]), np.array([0, 1]))
    with pytest.raises(InputError, match="chessboard: a merged table has no voxels"):
        chessboard(table, np.zeros(1, bool), (1.0, 1.0))
