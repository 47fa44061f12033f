from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stacks import drawn_stacks, encode

from itk_consensus.core.errors import InputError
from itk_consensus.core.work import working
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.fields.chessboard import LabelLists, chessboard, neighbour_weights
from itk_consensus.votes.label_stack import LabelStack


def brute_force(
    patterns: DecisionPatterns, settled: np.ndarray, spacing: tuple[float, ...]
) -> tuple[dict[tuple[int, int], float], dict[int, np.ndarray]]:
    """Return weights between open voxels, and settled neighbours' labels, one voxel at a time."""
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


def drawn_beliefs(number: int, labels: int, rng: np.random.Generator) -> np.ndarray:
    """Draw (n, K) random beliefs, most of which are zero."""
    beliefs = rng.random((number, labels)) * (rng.random((number, labels)) < 0.5)
    beliefs[np.arange(number), rng.integers(0, labels, number)] += 0.1
    return beliefs / beliefs.sum(axis=1, keepdims=True)


def as_lists(rows: np.ndarray, dtype: type = np.float32) -> LabelLists:
    place, labels = np.nonzero(rows)
    ends = np.append(0, np.bincount(place, minlength=len(rows)).cumsum()).astype(np.int64)
    return LabelLists(ends, labels.astype(np.uint16), rows[place, labels].astype(dtype))


def as_rows(lists: LabelLists, labels: int) -> np.ndarray:
    rows = np.zeros((len(lists.ends) - 1, labels))
    rows[np.repeat(np.arange(len(rows)), np.diff(lists.ends)), lists.labels] = lists.values
    return rows


@given(drawn_stacks(), st.data())
def test_a_sweep_is_that_of_brute_force_for_any_number_of_threads(drawn, data):
    patterns = encode(drawn)
    if patterns.number_of_voxels == 0:
        return
    settled = patterns.unanimous
    spacing = tuple(data.draw(st.sampled_from([0.5, 1.0, 3.0])) for _ in drawn.present[0].shape)
    board = chessboard(patterns, settled, spacing)
    links, anchors = brute_force(patterns, settled, spacing)
    voxels = [colour.voxels.tolist() for colour in board.colours]
    assert sorted(voxels[0] + voxels[1]) == sorted(anchors)
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    labels, number = patterns.number_of_labels, len(patterns.counts)
    scores = as_lists(rng.normal(0, 3, (number, labels)), np.float64)
    logs = as_rows(scores, labels)
    counted = rng.integers(0, 2, number).astype(np.float64)
    for colour in (0, 1):
        theirs = drawn_beliefs(len(voxels[1 - colour]), labels, rng)
        of_voxel = dict(zip(voxels[1 - colour], theirs, strict=True))
        pull = np.array([anchors[voxel] for voxel in voxels[colour]]).reshape(-1, labels)
        settled_pull = pull.copy()
        for row, voxel in enumerate(voxels[colour]):
            for (here, there), weight in links.items():
                if here == voxel:
                    pull[row] += weight * of_voxel[there]
        rows = board.colours[colour].pattern
        odds = np.exp(logs[rows] + 1.5 * pull)
        beliefs = odds / odds.sum(axis=1, keepdims=True)
        entropy = -(beliefs * np.log(beliefs)).sum()
        votes = (counted[rows, None] * beliefs * logs[rows]).sum()
        found = board.sweep(colour, as_lists(theirs), scores, counted, 1.5)
        np.testing.assert_allclose(as_rows(found.beliefs, labels), beliefs, atol=1e-6)
        np.testing.assert_allclose(
            found[1:3], [(beliefs * p).sum() for p in (pull, settled_pull)], rtol=1e-5, atol=1e-6
        )
        np.testing.assert_allclose(found[3:], [entropy, votes], rtol=1e-5, atol=1e-6)
        slope = board.weight_slope(colour, found.beliefs, as_lists(theirs), 1.5)
        guess = np.exp(1.5 * pull)
        guess /= guess.sum(axis=1, keepdims=True)
        spread = (guess * pull**2).sum() - ((guess * pull).sum(axis=1) ** 2).sum()
        np.testing.assert_allclose(
            slope, [((beliefs - guess) * pull).sum(), spread], rtol=1e-4, atol=1e-5
        )
        counts = board.counts(colour, found.beliefs, counted)
        weighted = counted[rows, None] * as_rows(found.beliefs, labels)
        for rater, said in enumerate(patterns.patterns[rows].T):
            for label in range(labels):
                np.testing.assert_allclose(
                    counts[rater, label], weighted[said == label].sum(axis=0), atol=1e-9
                )
        for threads in (2, 7):
            with working(threads=threads):
                other = chessboard(patterns, settled, spacing)
                again = other.sweep(colour, as_lists(theirs), scores, counted, 1.5)
                counted_again = other.counts(colour, found.beliefs, counted)
            assert again[1:] == found[1:]
            for mine, same in zip(again.beliefs, found.beliefs, strict=True):
                np.testing.assert_array_equal(mine, same)
            np.testing.assert_array_equal(counted_again, counts)


@given(drawn_stacks(), st.integers(0, 99), st.sampled_from([1.0, 8.0, 50.0]))
def test_candidates_are_the_labels_that_votes_leave(drawn, seed, reach):
    patterns = encode(drawn)
    if patterns.number_of_voxels == 0:
        return
    rng = np.random.default_rng(seed)
    raters, labels = patterns.number_of_raters, patterns.number_of_labels
    theta = rng.random((raters, labels, labels)) ** 4 * (rng.random((raters, labels, labels)) < 0.8)
    prior = rng.random((1, labels))
    is_open = rng.random(len(patterns.counts)) < 0.7
    board = chessboard(patterns, patterns.unanimous, (1.0,) * drawn.present[0].ndim)
    lists = board.candidates(theta, prior, None, is_open, reach, -100.0)
    for row, said in enumerate(patterns.patterns):
        with np.errstate(divide="ignore"):
            score = np.log(prior[0]) + sum(
                np.log(theta[j, d]) for j, d in enumerate(said) if d < labels
            )
        score = np.maximum(score, -100.0)
        near = np.flatnonzero(score > score.max() - reach) if is_open[row] else []
        here = slice(*lists.ends[row : row + 2])
        np.testing.assert_array_equal(lists.labels[here], near)
        np.testing.assert_allclose(lists.values[here], score[near], rtol=1e-12)


@given(drawn_stacks())
def test_every_open_voxel_knows_its_pattern(drawn):
    patterns = encode(drawn)
    if patterns.number_of_voxels == 0:
        return
    rows = patterns.expand(np.arange(len(patterns.counts)), outside=-1).ravel()
    board = chessboard(patterns, patterns.unanimous, (1.0,) * drawn.present[0].ndim)
    for colour in board.colours:
        np.testing.assert_array_equal(colour.pattern, rows[colour.voxels])


def test_lists_are_selected_in_any_order():
    rows = np.array([[0.0, 0.5, 0.5], [1.0, 0.0, 0.0], [0.2, 0.3, 0.5]])
    which = np.array([2, 0, 0, 1])
    np.testing.assert_allclose(as_rows(as_lists(rows).select(which), 3), rows[which], rtol=1e-6)


def test_beliefs_by_label_are_those_by_voxel():
    rng = np.random.default_rng(3)
    stack = list(rng.integers(0, 4, (3, 5, 6)).astype(np.uint8))
    patterns = DecisionPatterns.from_stack(LabelStack.multilabel(stack))
    board = chessboard(patterns, patterns.unanimous, (1.0, 1.0))
    rows = [drawn_beliefs(len(colour.voxels), 4, rng) for colour in board.colours]
    found = np.asarray(board.by_label(*map(as_lists, rows)))
    np.testing.assert_allclose(found, np.concatenate(rows).T, rtol=1e-6)


def test_the_last_itk_axis_of_four_has_no_neighbours():
    assert neighbour_weights((5.0, 2.0, 1.0, 1.0)) == {1: 0.5, 2: 1.0, 3: 1.0}
    assert neighbour_weights((2.0, 1.0, 1.0)) == {0: 0.5, 1: 1.0, 2: 1.0}


def test_a_table_without_voxels_is_refused():
    table = DecisionPatterns(np.array([[0, 1]], np.uint8), np.array([3]), np.array([0, 1]))
    with pytest.raises(InputError, match="chessboard: a merged table has no voxels"):
        chessboard(table, np.zeros(1, bool), (1.0, 1.0))
