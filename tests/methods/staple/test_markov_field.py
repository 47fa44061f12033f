from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.ndimage import label
from stacks import drawn_stacks, encode

from examples.simulation import class_imbalance_case, disc_phantom, heterogeneous_raters
from itk_consensus.core.work import working
from itk_consensus.fusing.iteration import StopRule
from itk_consensus.methods.staple.markov_field import LARGEST_WEIGHT, MarkovField
from itk_consensus.methods.staple.staple import MULTILABEL, StapleSettings, staple
from itk_consensus.methods.staple.staple_result import StapleResult
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.fields.chessboard import LabelLists
from itk_consensus.votes.label_stack import LabelStack

ADVANCED = StapleSettings().for_variant("advanced", stop=StopRule(1e-7, 200))


def encoded(raters: np.ndarray) -> DecisionPatterns:
    return DecisionPatterns.from_stack(LabelStack.binary(list(raters.astype(np.uint8)), 1.0))


def with_field(
    patterns: DecisionPatterns,
    weight: float | None,
    settings: StapleSettings = ADVANCED,
    spacing: tuple[float, ...] = (1.0, 1.0),
) -> tuple[StapleResult, np.ndarray]:
    """Return the result, and the foreground probability of every voxel."""
    result = staple(patterns, settings, field=MarkovField(patterns, spacing, weight))
    volume = patterns.expand(result.foreground)
    volume.reshape(-1)[result.voxels.voxels] = result.voxels.beliefs[1]
    return result, volume


def naive_field(
    raters: np.ndarray, weight: float, spacing: tuple[float, float], iterations: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Run EM on whole images in double precision, without patterns."""
    votes = raters.astype(float)
    agreed = votes.min(axis=0) == votes.max(axis=0)
    share = votes.mean(axis=0)
    truth = np.where(share == 0.5, 0.5, share > 0.5)
    row, column = np.indices(truth.shape)
    weights = [min(spacing) / side for side in spacing]
    for _ in range(iterations):
        p = ((votes * truth).sum(axis=(1, 2)) + 2) / (truth.sum() + 2)
        q = (((1 - votes) * (1 - truth)).sum(axis=(1, 2)) + 2) / ((1 - truth).sum() + 2)
        with np.errstate(divide="ignore"):
            odds_if_marked = np.maximum(np.log(p), -1e3) - np.maximum(np.log(1 - q), -1e3)
            odds_if_left = np.maximum(np.log(1 - p), -1e3) - np.maximum(np.log(q), -1e3)
        evidence = np.einsum("jyx,j->yx", votes, odds_if_marked - odds_if_left) + odds_if_left.sum()
        for colour in (0, 1):
            inside = np.pad(np.ones_like(truth), 1)
            around = np.pad(2 * truth - 1, 1) * inside
            pull = weights[0] * (around[2:, 1:-1] + around[:-2, 1:-1])
            pull += weights[1] * (around[1:-1, 2:] + around[1:-1, :-2])
            new = 1 / (1 + np.exp(-np.clip(evidence + weight * pull, -700, 700)))
            truth = np.where(((row + column) % 2 == colour) & ~agreed, new, truth)
    return truth, p, q


@pytest.mark.parametrize("spacing", [(1.0, 1.0), (3.0, 1.0)])
@pytest.mark.parametrize("weight", [0.3, 2.0])
def test_patterns_and_links_give_what_whole_images_give(weight, spacing):
    raters = class_imbalance_case(10, 4).raters[:, 40:88, 40:88]
    settings = replace(ADVANCED, stop=StopRule(0.0, 7))
    result, volume = with_field(encoded(raters), weight, settings, spacing)
    truth, p, q = naive_field(raters, weight, spacing, 7)
    # Either colour of the chessboard may be updated first: compare with both.
    other, p2, q2 = (
        x[..., ::-1] if x.ndim > 1 else x
        for x in naive_field(raters[..., ::-1], weight, spacing, 7)
    )
    errors = [np.abs(volume - truth).max(), np.abs(volume - other).max()]
    best = int(np.argmin(errors))
    assert errors[best] < 1e-4
    np.testing.assert_allclose(result.sensitivity, (p, p2)[best], atol=1e-6)
    np.testing.assert_allclose(result.specificity, (q, q2)[best], atol=1e-6)


@given(drawn_stacks(raters=(2, 5)), st.sampled_from([0.2, 1.0, 3.0]), st.floats(0, 0.8))
def test_the_bound_never_falls(drawn, weight, damping):
    foreground = drawn.labels()[-1]
    patterns = encode(drawn, foreground=foreground)
    assume(patterns.number_of_voxels > 0)
    settings = replace(ADVANCED, stop=StopRule(1e-9, 30), damping=damping)
    field = MarkovField(patterns, (1.0,) * drawn.present[0].ndim, weight)
    trace = staple(patterns, settings, field=field).starts.trace[:, 0]
    # Beliefs are float32, so each term of the bound has a relative error of about 1e-7.
    slack = 1e-5 * (1 + patterns.number_of_voxels)
    assert (np.diff(trace) >= -slack).all()


def test_a_vanishing_weight_gives_staple_with_an_even_prior():
    patterns = encoded(class_imbalance_case(16, 1).raters)
    # Without unanimous voxels, which only the field uses, both are equal.
    settings = replace(ADVANCED, exclude_consensus=True)
    even = staple(patterns, replace(settings, prior=0.5, estimate_prior=False))
    result, _ = with_field(patterns, 1e-9, settings)
    np.testing.assert_allclose(result.posterior, even.posterior, atol=1e-5)
    np.testing.assert_allclose(result.sensitivity, even.sensitivity, atol=1e-5)


@given(drawn_stacks(raters=(2, 5)), st.sampled_from([0.5, 4.0]))
def test_voxels_that_two_raters_agree_on_never_move(drawn, weight):
    foreground = drawn.labels()[-1]
    patterns = encode(drawn, foreground=foreground)
    assume(patterns.number_of_voxels > 0)
    field = MarkovField(patterns, (1.0,) * drawn.present[0].ndim, weight)
    result = staple(patterns, replace(ADVANCED, stop=StopRule(1e-5, 20)), field=field)
    agreed = patterns.unanimous & (patterns.present.sum(axis=1) >= 2)
    marked = (patterns.patterns == 1).any(axis=1)
    np.testing.assert_array_equal(result.foreground[agreed], marked[agreed])


def test_specks_go_and_holes_close():
    truth = disc_phantom(10, shape=(48, 48)).truth
    patterns = encoded(heterogeneous_raters(truth, 5, [(0.75, 0.85)] * 5))
    _, alone = with_field(patterns, 1e-9)
    _, volume = with_field(patterns, 2.0)
    assert label(alone >= 0.5)[1] > 5
    assert label(volume >= 0.5)[1] == label(volume < 0.5)[1] == 1


def test_a_thin_gap_that_nobody_annotated_takes_after_its_neighbours():
    truth = disc_phantom(9, shape=(32, 32)).truth
    raters = heterogeneous_raters(truth, 0, [(0.9, 0.95)] * 4).astype(np.uint8)
    gap = np.zeros_like(truth)
    gap[16] = True
    stack = LabelStack.binary(list(np.where(gap, 9, raters)), 1.0, missing_label=9)
    _, volume = with_field(DecisionPatterns.from_stack(stack), 2.0)
    assert ((volume >= 0.5) == truth)[gap].mean() > 0.9


def test_distant_slices_do_not_touch_each_other():
    case = class_imbalance_case(10, 2).raters[:, 48:80, 48:80]
    stacked = np.stack([case, case[:, ::-1]], axis=1)
    _, far = with_field(encoded(stacked), 1.0, spacing=(1e6, 1.0, 1.0))
    _, time_series = with_field(encoded(stacked[:, :, None]), 1.0, spacing=(1.0,) * 4)
    np.testing.assert_allclose(far, time_series[:, 0], atol=1e-4)


def potts_sample(weight: float, size: int, seed: int) -> np.ndarray:
    """Draw a Potts field of two labels by Gibbs sampling on the chessboard."""
    rng = np.random.default_rng(seed)
    spins = rng.choice([-1.0, 1.0], (size, size))
    colours = np.indices(spins.shape).sum(axis=0) % 2
    for _ in range(300):
        for colour in (0, 1):
            padded = np.pad(spins, 1)
            pull = padded[2:, 1:-1] + padded[:-2, 1:-1] + padded[1:-1, 2:] + padded[1:-1, :-2]
            up = rng.random(spins.shape) < 1 / (1 + np.exp(-weight * pull))
            spins = np.where(colours == colour, np.where(up, 1.0, -1.0), spins)
    return spins > 0


@pytest.mark.parametrize("weight", [0.3, 0.6, 0.8])
def test_pseudo_likelihood_finds_the_weight_a_field_was_drawn_with(weight):
    field_map = potts_sample(weight, 128, 3)
    # Raters who never agree leave every voxel open.
    patterns = encoded(np.stack([field_map, ~field_map]))
    field = MarkovField(patterns, (1.0, 1.0), None)
    beliefs = tuple(
        LabelLists(np.arange(len(at) + 1), at.astype(np.uint16), np.ones(len(at), np.float32))
        for at in (field_map.ravel()[colour.voxels] for colour in field.board.colours)
    )
    estimate = 2.0
    for _ in range(30):
        estimate = field._better_weight(beliefs, estimate)
    assert estimate == pytest.approx(weight, abs=0.05)


def test_an_estimated_weight_is_reported_and_bounded():
    truth = disc_phantom(12, shape=(48, 48)).truth
    noisy = heterogeneous_raters(truth, 1, [(0.8, 0.85)] * 5)
    result, volume = with_field(encoded(noisy), None)
    assert 1.5 < result.voxels.weight <= LARGEST_WEIGHT
    assert ((volume >= 0.5) == truth).mean() > 0.99


def test_an_observer_can_stop_and_sees_every_iteration():
    patterns = encoded(class_imbalance_case(10, 0).raters)
    seen = []

    def twice(number: int) -> bool:
        seen.append(number)
        return number < 2

    field = MarkovField(patterns, (1.0, 1.0), 2.0)
    with working(on_iteration=twice):
        result = staple(patterns, ADVANCED, field=field)
    assert seen == [1, 2]
    assert result.iterations == 2
    assert not result.converged


def test_a_spatial_prior_is_kept_beside_the_field():
    patterns = encoded(class_imbalance_case(10, 0).raters)
    _, even = with_field(patterns, 1.0)
    _, rare = with_field(patterns, 1.0, replace(ADVANCED, prior=1e-6))
    assert rare.sum() < even.sum()


def test_several_labels_obey_the_same_field(label_maps):
    patterns = DecisionPatterns.from_stack(LabelStack.multilabel(label_maps))
    diagonal = replace(MULTILABEL, pseudo_counts=2 * np.eye(4), stop=StopRule(1e-6, 100))
    result = staple(patterns, diagonal, field=MarkovField(patterns, (1.0, 1.0), 1.0))
    assert np.all(np.diff(result.starts.trace[:, 0]) >= -1e-2)
    np.testing.assert_allclose(np.asarray(result.voxels.beliefs).sum(axis=0), 1, atol=1e-5)
    np.testing.assert_allclose(result.posterior.sum(axis=1), 1, atol=1e-5)


def test_two_labels_by_either_staple_are_one_field(masks):
    patterns = encoded(np.stack(masks))
    binary, _ = with_field(patterns, 1.5, replace(ADVANCED, stop=StopRule(1e-6, 60)))
    settings = replace(
        MULTILABEL, pseudo_counts=2 * np.eye(2), plan=ADVANCED.plan, stop=StopRule(1e-6, 60)
    )
    many = staple(patterns, settings, field=MarkovField(patterns, (1.0, 1.0), 1.5))
    np.testing.assert_allclose(many.voxels.beliefs, binary.voxels.beliefs, atol=1e-6)


def test_without_iterations_the_start_is_the_answer(masks):
    patterns = encoded(np.stack(masks))
    settings = replace(MULTILABEL, stop=StopRule(1e-5, 0))
    result = staple(patterns, settings, field=MarkovField(patterns, (1.0, 1.0), 1.0))
    plain = staple(patterns, replace(settings, prior=np.array([0.5, 0.5])))
    # Initial shares that are too small to affect neighbours are dropped.
    np.testing.assert_allclose(result.posterior, plain.posterior, atol=1e-10)


def test_raters_who_agree_everywhere_leave_no_open_voxel():
    truth = disc_phantom(5, shape=(16, 16)).truth
    patterns = encoded(np.stack([truth] * 3))
    result, volume = with_field(patterns, 2.0)
    assert result.voxels.voxels.size == 0
    np.testing.assert_array_equal(volume, truth)
