from __future__ import annotations

import itertools

import numpy as np
import pytest

from examples.simulation import class_imbalance_case
from itk_consensus.core.errors import InputError
from itk_consensus.core.work import working
from itk_consensus.fusing.dice_optimal_cut import dice_optimal_cut
from itk_consensus.methods.shape.frechet_consensus import frechet_consensus, frechet_labels
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.label_stack import LabelStack
from itk_consensus.votes.overlap import dice


def encoded(raters: np.ndarray) -> DecisionPatterns:
    return DecisionPatterns.from_stack(LabelStack.binary(list(raters.astype(np.uint8)), 1.0))


def jaccard(a: np.ndarray, b: np.ndarray) -> float:
    union = (a | b).sum()
    return (a & b).sum() / union if union else 1.0


def all_masks(voxels: int) -> np.ndarray:
    return np.array(list(itertools.product([False, True], repeat=voxels)))


@pytest.mark.parametrize("raters", [1, 2, 3, 4, 9])
def test_the_dice_consensus_is_the_best_of_all_masks(raters):
    rng = np.random.default_rng(raters)
    for _ in range(15):
        stack = rng.random((raters, 9)) < rng.uniform(0.1, 0.9, (raters, 1))
        expected = max(np.mean([dice(m, r) for r in stack]) for m in all_masks(9))
        patterns = encoded(stack)
        found = frechet_consensus(patterns)
        assert found.overlap == pytest.approx(expected, abs=1e-12)
        assert np.mean([dice(mask_of(patterns, found.taken), r) for r in stack]) == pytest.approx(
            expected
        )


def mask_of(patterns: DecisionPatterns, taken: np.ndarray) -> np.ndarray:
    mask = np.zeros(patterns.codes.size, bool)
    for row, number in enumerate(taken):
        here = patterns.expand(np.arange(len(taken)) == row).ravel()
        mask[np.flatnonzero(here)[:number]] = True
    return mask


def test_raters_with_small_and_large_masks_may_split_a_pattern():
    """Two raters draw ten voxels, seven draw another hundred: the best mask contains some of
    the ten.
    """
    stack = np.zeros((9, 110), bool)
    stack[:2, :10] = True
    stack[2:, 10:] = True
    found = frechet_consensus(encoded(stack))
    values = [np.mean([2 * t / (10 + 100 + t)] * 2 + [200 / (200 + t)] * 7) for t in range(11)]
    assert found.overlap == pytest.approx(max(values))
    assert found.taken.sum() == 100 + int(np.argmax(values))


def test_the_consensus_does_not_depend_on_background():
    stack = class_imbalance_case(10, 0).raters[:, 30:-30, 30:-30]
    padded = np.pad(stack, [(0, 0), (50, 50), (50, 50)])
    for measure in ("dice", "jaccard"):
        once, again = (frechet_consensus(encoded(s), measure) for s in (stack, padded))
        assert once.overlap == pytest.approx(again.overlap)
        assert once.taken.sum() == again.taken.sum()


def test_the_dice_consensus_is_closer_to_the_raters_than_the_vote():
    stack = class_imbalance_case(22, 1).raters
    found = frechet_consensus(encoded(stack))
    vote = stack.mean(axis=0) > 0.5
    assert found.overlap >= np.mean([dice(vote, r) for r in stack])


def test_the_jaccard_consensus_cannot_be_bettered_by_any_pattern():
    rng = np.random.default_rng(5)
    gaps = []
    for _ in range(25):
        stack = rng.random((4, 8)) < rng.uniform(0.2, 0.8, (4, 1))
        patterns = encoded(stack)
        found = frechet_consensus(patterns, "jaccard")
        mask = mask_of(patterns, found.taken)
        assert found.overlap == pytest.approx(np.mean([jaccard(mask, r) for r in stack]))
        for row in range(len(patterns.counts)):
            flipped = mask ^ patterns.expand(np.arange(len(patterns.counts)) == row).ravel()
            assert np.mean([jaccard(flipped, r) for r in stack]) <= found.overlap + 1e-12
        best = max(np.mean([jaccard(m, r) for r in stack]) for m in all_masks(8))
        gaps.append(best - found.overlap)
    assert np.mean(np.array(gaps) < 1e-12) >= 0.8


def test_empty_raters_and_missing_raters():
    assert frechet_consensus(encoded(np.zeros((3, 5), bool))).overlap == 1
    one_empty = np.array([[True, True, False], [True, True, False], [False] * 3])
    assert frechet_consensus(encoded(one_empty)).overlap == pytest.approx(2 / 3)
    arrays = [np.array([0, 1, 7]), np.array([0, 1, 1])]
    stack = LabelStack.binary([a.astype(np.uint8) for a in arrays], 1.0, missing_label=7)
    with pytest.raises(InputError, match="every rater"):
        frechet_consensus(DecisionPatterns.from_stack(stack))


def test_the_dice_optimal_cut_is_the_best_of_all_masks():
    rng = np.random.default_rng(6)
    for _ in range(30):
        probability = rng.choice([0.0, 0.05, 0.2, 0.2, 0.5, 0.7, 0.95], 9)
        chosen, expected = dice_optimal_cut(probability)
        total = probability.sum()
        values = [
            2 * probability[m].sum() / (m.sum() + total) if total else 1.0 for m in all_masks(9)
        ]
        assert expected == pytest.approx(max(values))
        if total:
            value = 2 * probability[chosen].sum() / (chosen.sum() + total)
            assert value == pytest.approx(expected)


def test_the_dice_optimal_cut_of_patterns_is_that_of_their_voxels():
    probability, counts = np.array([0.1, 0.45, 0.9, 0.3]), np.array([50, 3, 4, 7])
    chosen, expected = dice_optimal_cut(probability, counts)
    voxels, same = dice_optimal_cut(np.repeat(probability, counts))
    assert expected == pytest.approx(same)
    np.testing.assert_array_equal(np.repeat(chosen, counts), voxels)
    assert not dice_optimal_cut(np.zeros(3))[0].any()


def test_a_label_against_all_others_is_its_binary_consensus(label_maps):
    """Votes for other labels must not matter, except that they differ from the label."""
    many = DecisionPatterns.from_stack(LabelStack.multilabel(label_maps))
    for index in range(1, many.number_of_labels):
        masks = np.stack(label_maps) == many.labels[index]
        assert frechet_consensus(many, foreground=index).overlap == pytest.approx(
            frechet_consensus(encoded(masks)).overlap, abs=1e-12
        )


def test_progress_comes_with_every_label(label_maps):
    seen: list[float] = []
    with working(on_progress=seen.append):
        frechet_labels(DecisionPatterns.from_stack(LabelStack.multilabel(label_maps)), "dice")
    assert len(seen) > 6
    assert seen == sorted(seen)
