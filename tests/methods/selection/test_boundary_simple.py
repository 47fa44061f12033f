from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from itk_consensus.core.work import working
from itk_consensus.methods.selection.boundary_simple.weighted_vote import (
    BoundarySettings,
    boundary_simple,
)
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.disputed_voxels import DisputedVoxels
from itk_consensus.votes.fields.window_frame import WindowFrame
from itk_consensus.votes.label_stack import LabelStack

MISSING = 9


def fuse(raters, radii, *, mask=None, missing_label=None, gate=None, **settings):
    stack = LabelStack.multilabel(
        [np.asarray(rater, np.uint8) for rater in raters], mask=mask, missing_label=missing_label
    )
    patterns = DecisionPatterns.from_stack(stack)
    voxels = DisputedVoxels(patterns, patterns.disputed_region(radii))
    result = boundary_simple(voxels, BoundarySettings(radii, **settings), gate=gate)
    return voxels, result


def brute_force_step(raters, radii, mask, shares, alpha=0.8):
    """Run one iteration of section 2.6 voxel by voxel with np.corrcoef; shares are (K, *shape)."""
    shape, labels = raters.shape[1:], range(len(shares))
    present = (raters != MISSING) & mask
    told = [np.unique(raters[(..., *at)][present[(..., *at)]]) for at in np.ndindex(shape)]
    disputed = [at for at, said in zip(np.ndindex(shape), told, strict=True) if len(said) > 1]
    similarity = np.zeros((len(raters), len(disputed)))
    for n, at in enumerate(disputed):
        box = tuple(slice(max(c - r, 0), c + r + 1) for c, r in zip(at, radii, strict=True))
        for j, rater in enumerate(raters):
            inside = present[j][box]
            if not present[j][at]:
                continue
            own = np.concatenate(
                [(rater[box] == k)[inside] - (rater[box] == k)[inside].mean() for k in labels]
            )
            other = np.concatenate(
                [shares[k][box][inside] - shares[k][box][inside].mean() for k in labels]
            )
            norm = np.sqrt((own**2).sum() * (other**2).sum())
            similarity[j, n] = ((own @ other / norm if norm > 1e-9 else 0) + 1) / 2
    here = np.array([[present[j][at] for at in disputed] for j in range(len(raters))])
    overall = similarity.sum(axis=1) / here.sum(axis=1)
    weights = (alpha * similarity + (1 - alpha) * overall[:, None] / overall.sum()) * here
    new = shares.copy()
    for n, at in enumerate(disputed):
        for k in labels:
            new[k][at] = weights[raters[(..., *at)] == k, n].sum() / weights[:, n].sum()
    return disputed, weights, new


@pytest.mark.parametrize("highest", [1, 3])
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize(("shape", "radii"), [((7, 9), (2, 1)), ((4, 5, 6), (1, 0, 2))])
def test_two_iterations_equal_brute_force(highest, gaps, shape, radii):
    rng = np.random.default_rng(3)
    truth = rng.integers(0, highest + 1, shape)
    raters = np.array(
        [
            np.where(rng.random(shape) < 0.3, rng.integers(0, highest + 1, shape), truth)
            for _ in range(4)
        ]
    )
    mask = np.ones(shape, bool)
    if gaps:
        raters[1][rng.random(shape) < 0.2] = MISSING
        mask = rng.random(shape) < 0.9
    votes = np.stack([((raters == k) & mask).sum(axis=0) for k in range(highest + 1)])
    shares = np.divide(votes, votes.sum(axis=0), where=mask, out=np.zeros(votes.shape))
    for iterations in (1, 2):
        disputed, weights, shares = brute_force_step(raters, radii, mask, shares)
        voxels, result = fuse(
            raters,
            radii,
            mask=mask if gaps else None,
            missing_label=MISSING if gaps else None,
            maximum_iterations=iterations,
        )
        places = np.unravel_index(voxels.places, voxels.shape)
        found = np.transpose([p + s.start for p, s in zip(places, voxels.region, strict=True)])
        assert [tuple(at) for at in found.tolist()] == disputed
        expected = np.transpose([shares[(..., *at)] for at in disputed])
        np.testing.assert_allclose(result.shares, expected, atol=1e-9)
        means = weights.sum(axis=1)
        np.testing.assert_allclose(result.weights, means / means.sum(), atol=1e-9)


@given(st.integers(0, 2**32 - 1))
def test_names_of_labels_and_order_of_raters_do_not_matter(seed):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, (6, 7))
    raters = np.array(
        [
            np.where(rng.random(truth.shape) < 0.4, rng.integers(0, 3, truth.shape), truth)
            for _ in range(4)
        ]
    )
    raters[:, 0, :3] = [0, 1, 2]
    _, plain = fuse(raters, (2, 2))
    names, order = rng.permutation(3), rng.permutation(4)
    _, other = fuse(names[raters][order], (2, 2))
    np.testing.assert_allclose(np.asarray(other.shares)[names], plain.shares, atol=1e-9)
    np.testing.assert_allclose(other.weights, plain.weights[order], atol=1e-9)


def noisy_raters(seed=0):
    rng = np.random.default_rng(seed)
    truth = np.zeros((20, 20), bool)
    truth[6:14, 5:15] = True
    return truth ^ (rng.random((5, 20, 20)) < 0.15)


def test_a_gate_common_to_all_raters_cancels_as_the_paper_prints_it():
    voxels, plain = fuse(noisy_raters(), (3, 3))
    gate = np.tile(np.random.default_rng(1).uniform(0.5, 3, len(voxels.places)), (5, 1))
    _, gated = fuse(noisy_raters(), (3, 3), gate=gate)
    np.testing.assert_allclose(gated.shares, plain.shares, atol=1e-12)


def test_a_gate_of_one_rater_moves_the_shares_to_that_rater():
    raters = noisy_raters()
    voxels, plain = fuse(raters, (3, 3))
    gate = np.ones((5, len(voxels.places)))
    gate[2] = 1e6
    _, gated = fuse(raters, (3, 3), gate=gate)
    own = raters[2][voxels.region].reshape(-1)[voxels.places]
    np.testing.assert_array_equal(gated.decision == 1, own)
    assert gated.weights.argmax() == 2
    assert not np.array_equal(plain.decision, gated.decision)


def test_a_rater_unlike_the_others_here_counts_less_here_only():
    raters = np.zeros((5, 10, 40), bool)
    raters[:, 3:7, 2:38] = True
    raters[:, 3:7, 2:8] = [[[j % 2]] for j in range(5)]
    raters[0, :, :20] = np.random.default_rng(0).random((10, 20)) < 0.5
    raters[1, 2, 25:35] = True
    _, result = fuse(raters, (2, 2))
    assert result.weights[0] < result.weights[2]
    assert result.trace[-1] < result.trace[0]


def test_raters_who_agree_leave_nothing_to_iterate():
    _, result = fuse(np.tile(noisy_raters()[0], (3, 1, 1)), (2, 2))
    assert np.asarray(result.shares).shape == (2, 0)
    assert result.trace == ()
    assert result.converged


def test_shares_stay_probabilities_however_many_iterations():
    for iterations, seed in itertools.product((1, 5, 50), range(3)):
        _, result = fuse(noisy_raters(seed), (1, 1), maximum_iterations=iterations)
        np.testing.assert_allclose(np.sum(result.shares, axis=0), 1, atol=1e-12)
        assert (np.asarray(result.shares) >= 0).all()
        assert len(result.trace) <= iterations


def test_one_two_and_seven_threads_give_the_same_bits():
    rng = np.random.default_rng(4)
    raters = rng.integers(0, 4, (4, 11, 6, 5)) * (rng.random((4, 11, 6, 5)) < 0.3)
    results = [
        working(threads=n)(fuse)(raters, (2, 1, 1), maximum_iterations=3)[1] for n in (1, 2, 7)
    ]
    for other in results[1:]:
        np.testing.assert_array_equal(np.asarray(results[0].shares), other.shares)
        np.testing.assert_array_equal(results[0].decision, other.decision)
        np.testing.assert_array_equal(results[0].weights, other.weights)


@pytest.mark.parametrize("slabs", [1, 3, 20])
def test_parts_do_not_show_in_the_result(slabs, monkeypatch):
    rng = np.random.default_rng(4)
    raters = rng.integers(0, 4, (4, 11, 6, 5)) * (rng.random((4, 11, 6, 5)) < 0.3)
    _, wanted = fuse(raters, (2, 1, 1), maximum_iterations=3)
    step = -(-11 // slabs)
    cut = [(0, low, min(low + step, 11)) for low in range(0, 11, step)]
    monkeypatch.setattr(WindowFrame, "planes_in_parts", lambda *_: cut)
    _, found = fuse(raters, (2, 1, 1), maximum_iterations=3)
    np.testing.assert_allclose(found.shares, wanted.shares, atol=1e-12)
    np.testing.assert_array_equal(found.decision, wanted.decision)
