from __future__ import annotations

import itertools

import numpy as np
import pytest
from coherence_reference import (
    answer,
    answer_label,
    coherence,
    decide,
    foreground_masks,
    keep_share,
    label_masks,
    levels_of_scale,
    probability,
    rater_mean,
    shared_power,
)
from scipy.ndimage import gaussian_filter
from scipy.ndimage import label as components

from examples.simulation import (
    STRUCTURE_SETTINGS,
    contour_error_raters,
    disc_phantom,
    heterogeneous_case,
    heterogeneous_raters,
    nested_phantom,
)
from itk_consensus.core.work import working
from itk_consensus.methods.consensus import scale_bands
from itk_consensus.methods.consensus.coherence_vote import coherence_vote
from itk_consensus.methods.consensus.curve import coherence_curve
from itk_consensus.methods.consensus.cut import (
    Cut,
    cut_levels,
    volume_level,
)
from itk_consensus.methods.consensus.label_answers import PackedShares
from itk_consensus.methods.consensus.rater_masks import RaterMasks
from itk_consensus.methods.consensus.scale_bands import (
    DEFAULT_SETTINGS,
    CoherenceSettings,
    smallest_sides,
)
from itk_consensus.space.band_gains import KeptShares
from itk_consensus.space.contour_cut import CutCounts, count_cut
from itk_consensus.space.rater_field import RaterField
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.label_stack import LabelStack
from itk_consensus.votes.overlap import dice
from itk_consensus.votes.ties import UNDECIDED

UNIT = (1.0, 1.0)
ONES = np.ones(2)


def noisy_disc(seed: int = 0, raters: int = 5, radius: int = 10, shape=(40, 44)) -> np.ndarray:
    truth = disc_phantom(radius, shape=shape).truth
    return heterogeneous_raters(truth, seed, [(0.85, 0.95)] * raters)


def fused(raters: np.ndarray, spacing=UNIT, **options) -> np.ndarray:
    return coherence_vote(foreground_masks(raters, **options), spacing).decision


def close_to_the_formulas(masks: RaterMasks, spacing, settings=DEFAULT_SETTINGS):
    """Return the vote, after checking its probabilities and decisions against the formulas."""
    found = coherence_vote(masks, spacing, settings)
    labels = [1] if masks.number_of_labels == 2 else range(masks.number_of_labels)
    for label in labels:
        wanted = answer_label(masks, label, spacing, settings)
        if wanted is None:
            assert label not in found.answers
            continue
        ours = found.answers[label]
        assert ours.box == wanted.box
        np.testing.assert_allclose(ours.cut, wanted.cut, atol=1e-5)
        width = max(wanted.cut.inside - wanted.cut.outside, 1e-2)
        width *= min(wanted.cut.level, 1 - wanted.cut.level)
        np.testing.assert_allclose(
            ours.probability(ours.box), wanted.probability, atol=1e-5 / width
        )
    wanted_decision, lead = decide(masks, spacing, settings)
    clear = (lead > 1e-4) & (found.decision != UNDECIDED)
    for where in found.restored.values():
        clear.reshape(-1)[where] = False
    assert clear.mean() > 0.5
    np.testing.assert_array_equal(found.decision[clear], wanted_decision[clear])
    return found


@pytest.mark.parametrize("name", sorted(STRUCTURE_SETTINGS))
def test_the_vote_is_what_the_formulas_give_in_double_precision(name):
    case = STRUCTURE_SETTINGS[name](5)
    close_to_the_formulas(foreground_masks(case.raters), case.spacing)


@pytest.mark.parametrize(
    ("shape", "spacing"),
    [((40, 44), (1.0, 1.0)), ((14, 20, 20), (3.0, 1.0, 0.8)), ((2, 10, 14, 14), (1.0,) * 4)],
)
@pytest.mark.parametrize("missing", [False, True])
def test_weights_missing_raters_and_any_dimension_follow_the_formulas(shape, spacing, missing):
    truth = disc_phantom(5, shape=shape[-3:]).truth
    truth = np.broadcast_to(truth, shape)
    raters = heterogeneous_raters(truth, 3, [(0.8, 0.95)] * 4)
    present = np.random.default_rng(0).random(raters.shape) < 0.8 if missing else None
    masks = foreground_masks(raters, present=present, weights=[1.0, 2.0, 1.0, 0.5])
    settings = CoherenceSettings(window=3.0, gain_sharpness=1.5, detail_sharpness=1.0)
    close_to_the_formulas(masks, spacing, settings)


def test_labels_follow_the_formulas_each_in_its_own_box():
    truth = nested_phantom((16, 20, 20), 4, 0).truth
    raters = contour_error_raters(truth, 5, 0)
    unit = (1.0, 1.0, 1.0)
    found = close_to_the_formulas(label_masks(raters, 4), unit)
    patterns = DecisionPatterns.from_stack(LabelStack.multilabel(list(raters.astype(np.uint8))))
    again = coherence_vote(RaterMasks.from_patterns(patterns), unit)
    np.testing.assert_array_equal(again.decision, found.decision)
    np.testing.assert_allclose(again.frequencies, found.frequencies, atol=1e-12)
    for label in range(4):
        np.testing.assert_array_equal(probability(again, label), probability(found, label))


def test_the_number_of_threads_does_not_show():
    raters = noisy_disc(3, shape=(20, 40, 44))
    shape = raters.shape[1:]
    scales = scale_bands.Scales(np.ones(3), CoherenceSettings(), (1, 1, 1), shape)
    whole = tuple(slice(0, size) for size in shape)
    runs = [
        working(threads=threads)(scale_bands.coherence)(
            RaterField.of(raters), whole, np.ones(5), scales
        )
        for threads in (1, 2, 7)
    ]
    for other in runs[1:]:
        assert other.base == runs[0].base
        np.testing.assert_array_equal(other.answer, runs[0].answer)
        np.testing.assert_array_equal(other.kept.gains, runs[0].kept.gains)


@pytest.mark.parametrize("name", ["organ 3D", "vessels 3D r1.5", "tiny and big 3D"])
def test_power_at_every_second_voxel_hardly_changes_the_answer(name, monkeypatch):
    case = STRUCTURE_SETTINGS[name](1)
    masks = foreground_masks(case.raters.astype(bool))
    everywhere = coherence_vote(masks, case.spacing)
    monkeypatch.setattr(scale_bands, "VOXELS_OF_FULL_GRID", 0)
    found = coherence_vote(masks, case.spacing)
    assert found.answers[1].cut != everywhere.answers[1].cut
    assert dice(found.decision, everywhere.decision) > 0.999
    padded = np.pad(case.raters.astype(bool), 5 * _not_raters(case.raters))
    again = coherence_vote(foreground_masks(padded), case.spacing)
    np.testing.assert_array_equal(again.decision[5:-5, 5:-5, 5:-5], found.decision)


def test_bands_are_differences_of_gaussians_by_direct_summation():
    rng = np.random.default_rng(0)
    mask = rng.random((1, 9, 11))
    sigma, reach = 1.4, int(3 * 1.4 + 0.5)
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) / sigma) ** 2)
    kernel /= kernel.sum()
    padded = np.pad(mask[0], reach, mode="edge")
    expected = np.array(
        [
            [
                sum(
                    kernel[a] * kernel[b] * padded[y + a, x + b]
                    for a in range(len(kernel))
                    for b in range(len(kernel))
                )
                for x in range(11)
            ]
            for y in range(9)
        ]
    )
    plain, smoothed = levels_of_scale(mask, (0.0, sigma), ONES)
    np.testing.assert_array_equal(plain, mask)
    np.testing.assert_allclose(smoothed[0], expected, atol=1e-12)


def test_scales_are_in_smallest_voxel_sides_and_time_is_not_smoothed():
    np.testing.assert_allclose(smallest_sides((4.0, 1.0, 2.0)), [0.25, 1.0, 0.5])
    np.testing.assert_allclose(smallest_sides((0.5, 4.0, 1.0, 2.0)), [0.0, 0.25, 1.0, 0.5])


def test_missing_raters_are_left_out_of_their_own_smoothing():
    rng = np.random.default_rng(1)
    masks, present = rng.random((2, 12, 12)), rng.random((2, 12, 12)) < 0.7
    (level,) = levels_of_scale(masks, (1.0,), ONES, present)
    expected = [
        gaussian_filter(m * p, 1.0, mode="nearest", truncate=3.0)
        / gaussian_filter(p.astype(float), 1.0, mode="nearest", truncate=3.0)
        for m, p in zip(masks, present, strict=True)
    ]
    np.testing.assert_allclose(level, expected, atol=1e-12)


@pytest.mark.parametrize("weights", [[1.0] * 5, [3.0, 1.0, 1.0, 2.0, 0.5]])
def test_shared_power_is_unbiased_where_errors_are_independent(weights):
    """Monte Carlo: a signal of power .49 in errors of five different powers."""
    rng = np.random.default_rng(2)
    signal = 0.7 * rng.choice([-1.0, 1.0], 400_000)
    # The weights are independent of the errors here, as the effective number of raters assumes.
    errors = rng.standard_normal((5, signal.size))
    shared = shared_power(rater_mean(signal + errors, np.array(weights)))
    standard_error = shared.std() / np.sqrt(signal.size)
    assert abs(shared.mean() - 0.49) < 4 * standard_error
    alone = shared_power(rater_mean(errors, np.array(weights)))
    assert abs(alone.mean()) < 4 * alone.std() / np.sqrt(signal.size)


def test_shared_power_is_the_mean_product_of_different_raters():
    bands = np.random.default_rng(3).standard_normal((4, 7))
    pairs = [bands[i] * bands[j] for i in range(4) for j in range(4) if i != j]
    shared = shared_power(rater_mean(bands, np.ones(4)))
    np.testing.assert_allclose(shared, np.mean(pairs, axis=0), atol=1e-12)


def test_a_rater_alone_shares_everything_also_where_others_are_missing():
    bands = np.random.default_rng(4).standard_normal((3, 6))
    present = np.zeros((3, 6), bool)
    present[1] = True
    np.testing.assert_allclose(shared_power(rater_mean(bands, np.ones(3), present)), bands[1] ** 2)
    np.testing.assert_allclose(shared_power(rater_mean(bands[:1], np.ones(1))), bands[0] ** 2)


def test_the_gain_of_sharpness_one_is_wieners():
    shared, noise = np.array([0.0, 0.3, 0.3, 0.5]), np.array([0.2, 0.3, 0.0, 0.1])
    np.testing.assert_allclose(keep_share(shared, noise, 1.0), [0, 0.5, 1, 0.5 / 0.6])
    np.testing.assert_allclose(keep_share(shared, noise, 2.0), [0, 0.5, 1, 0.25 / 0.26])


def test_bands_that_are_kept_whole_give_back_the_votes():
    votes, *levels = (np.random.default_rng(k).random((5, 6)) for k in range(4))
    bands = [votes - levels[0], levels[0] - levels[1]]
    ones, zero = np.ones_like(votes), np.zeros_like(votes)
    np.testing.assert_allclose(answer(votes, levels[1], bands, [ones, ones], zero), votes)
    np.testing.assert_allclose(answer(votes, levels[1], bands, [zero, zero], ones), votes)
    np.testing.assert_allclose(answer(votes, levels[1], bands, [zero, zero], zero), levels[1])


def test_the_answer_by_the_formulas_written_out():
    raters = noisy_disc(5).astype(float)
    settings = CoherenceSettings(detail_sharpness=50.0)
    smooth = [gaussian_filter(r, s, mode="nearest", truncate=3.0) for r in raters for s in [0.7]]
    first = raters - smooth
    mean, power = first.mean(axis=0), (first**2).mean(axis=0)

    def window(values: np.ndarray) -> np.ndarray:
        return gaussian_filter(values, 5.0, mode="constant", truncate=3.0)

    a, m = window(power), window(mean**2)
    c = np.maximum(0, (5 * m - a) / 4)
    expected = c**2 / (c**2 + ((a - c) / 5) ** 2)
    found = coherence(raters, np.ones(5), None, ONES, settings)
    np.testing.assert_allclose(found.gains[0], expected, atol=1e-9)


def test_the_cut_counts_far_from_the_contour_and_within_reach_of_marks():
    votes = np.zeros((30, 30))
    votes[5:25, 5:25] = 0.8
    votes[2, 2] = 0.2
    chosen = votes > 0.5
    counted = np.ones_like(chosen)
    # All of the detail is kept, so the filtered mean of a clean mask is the mask.
    kept = KeptShares(np.zeros((1, 30, 30), np.float32), np.ones((30, 30), np.float32), (1, 1))
    raters, scales = RaterField.of(votes[None]), [(0.0, 0.0), (0.7, 0.7)]
    cut = cut_levels(count_cut(raters, np.ones(1), chosen, counted, (3, 3), kept, scales))
    assert cut.inside == pytest.approx(0.8)
    outer = np.ones_like(chosen)
    outer[2:28, 2:28] = False
    outside = ~chosen
    expected = 10 * votes[outside].mean() / (outer.sum() + 10)
    assert cut.outside == pytest.approx(expected)
    assert cut.level == 0.5
    assert Cut(0.1, 0.7, 0.5).between == pytest.approx(0.4)


def test_the_level_moves_towards_where_a_clean_mask_keeps_its_volume():
    sides, values = np.array([[2, 1 << 30], [2, 1 << 30], [0, 0], [0, 0]]), np.zeros(262145, int)
    values[[int((0.125 + 0.5) * (1 << 17)), int((0.375 + 0.5) * (1 << 17))]] = 2
    assert volume_level(CutCounts(sides, values)) == pytest.approx(0.5 + (0.25 - 0.5) * 0.5**0.5)
    for side in (0, 1):
        one_sided = sides.copy()
        one_sided[side] = 0
        assert volume_level(CutCounts(one_sided, values)) == 0.5


@pytest.mark.parametrize("shape", [(40, 44), (14, 20, 20)])
def test_adding_background_changes_nothing(shape):
    truth = disc_phantom(5, shape=shape).truth
    noisy = heterogeneous_raters(truth, 0, [(0.85, 0.9)] * 5)
    raters = np.pad(noisy[(slice(None), *[slice(4, -4)] * len(shape))], 4 * _not_raters(noisy))
    spacing = (1.0,) * len(shape)
    once = coherence_vote(foreground_masks(raters), spacing)
    padded = np.pad(raters, 37 * _not_raters(raters))
    again = coherence_vote(foreground_masks(padded), spacing)
    part = tuple(slice(37, -37) for _ in shape)
    np.testing.assert_array_equal(once.decision, again.decision[part])
    np.testing.assert_array_equal(probability(once, 1), probability(again, 1)[part])
    assert np.count_nonzero(again.decision) == np.count_nonzero(once.decision) > 0


def _not_raters(stack: np.ndarray) -> np.ndarray:
    widths = np.ones((stack.ndim, 2), int)
    widths[0] = 0
    return widths


def test_the_order_of_raters_is_irrelevant():
    raters = noisy_disc(6)
    expected = fused(raters)
    for seed in range(3):
        np.testing.assert_array_equal(
            fused(np.random.default_rng(seed).permutation(raters)), expected
        )


def test_one_rater_is_returned_as_he_is():
    raters = noisy_disc(7, raters=1)
    result = coherence_vote(foreground_masks(raters), UNIT)
    np.testing.assert_array_equal(result.decision, raters[0])
    np.testing.assert_array_equal(probability(result, 1), raters[0])


def test_what_all_raters_draw_alike_stays_to_the_voxel():
    truth = STRUCTURE_SETTINGS["vessels 2D r0.5"](0).truth
    np.testing.assert_array_equal(fused(np.stack([truth] * 4)), truth)


def test_noise_goes_and_shared_lines_stay():
    noise = heterogeneous_case(10, 0, ((0.9, 0.9),) * 5)
    assert dice(fused(noise.raters), noise.truth) > 0.97
    vessels = STRUCTURE_SETTINGS["vessels 2D r0.5"](1)
    vote = dice(vessels.raters.mean(axis=0) > 0.5, vessels.truth)
    smoothed = gaussian_filter(vessels.raters.mean(axis=0), 1.0) > 0.5
    assert dice(fused(vessels.raters), vessels.truth) > vote - 0.01
    assert dice(smoothed, vessels.truth) < vote - 0.2


def test_structures_that_most_raters_miss_are_found():
    truth = disc_phantom(12, shape=(60, 60)).truth
    raters = heterogeneous_raters(truth, 0, [(0.4, 0.99)] * 5)
    assert dice(raters.mean(axis=0) > 0.5, truth) < 0.6
    assert dice(fused(raters), truth) > 0.95


@pytest.mark.parametrize("name", ["3 raters", "2 raters", "missed lesions .45", "one inverted"])
def test_two_labels_are_chosen_exactly_where_their_probability_is_at_least_one_half(name):
    case = STRUCTURE_SETTINGS[name](3)
    result = coherence_vote(foreground_masks(case.raters), case.spacing)
    one = probability(result, 1)
    assert one.min() >= 0
    assert one.max() <= 1
    np.testing.assert_array_equal(one >= 0.5, result.decision == 1)
    np.testing.assert_allclose(probability(result, 0), 1 - one)


def test_labels_have_probabilities_that_sum_to_one_and_are_highest_where_chosen():
    truth = nested_phantom((16, 20, 20), 3, 0).truth
    raters = contour_error_raters(truth, 5, 0)
    result = coherence_vote(label_masks(raters, 3), (1.0, 1.0, 1.0))
    shares = np.stack([probability(result, k) for k in range(3)])
    np.testing.assert_allclose(shares.sum(axis=0), 1)
    np.testing.assert_array_equal(shares.argmax(axis=0), result.decision)


def test_masks_and_missing_raters_are_left_out():
    raters = noisy_disc(8)
    mask = np.zeros(raters.shape[1:], bool)
    mask[:, 10:34] = True
    masked = np.broadcast_to(mask, raters.shape)
    inside = fused(raters, present=masked)
    assert (inside[~mask] == UNDECIDED).all()
    assert (inside[mask] != UNDECIDED).all()
    changed = np.where(mask, raters, ~raters)
    np.testing.assert_array_equal(fused(changed, present=masked), inside)
    present = np.ones(raters.shape, bool)
    present[4] = False
    np.testing.assert_array_equal(fused(raters, present=present), fused(raters[:4]))


def test_patterns_give_the_same_answer_as_masks():
    raters = noisy_disc(9)
    patterns = DecisionPatterns.from_stack(LabelStack.binary(list(raters.astype(np.uint8)), 1.0))
    ours = coherence_vote(RaterMasks.from_patterns(patterns), UNIT).decision
    np.testing.assert_array_equal(ours, fused(raters))


def test_unanimous_components_are_kept_where_a_sixth_rater_is_missing():
    raters = np.random.default_rng(0).random((6, 40, 40)) < 0.3
    raters[:, 12:28, 12:28] |= np.random.default_rng(1).random((6, 16, 16)) < 0.85
    raters[:, 4:7, 4:8] = False
    raters[:5, 5, 5:7] = True
    present = np.ones(raters.shape, bool)
    present[5, :10] = False
    assert (fused(raters, present=present)[5, 5:7] == 1).all()
    assert (fused(raters)[5, 5:7] == 0).all()


def test_probabilities_may_be_given_for_masks():
    raters = noisy_disc(10)
    np.testing.assert_array_equal(fused(raters.astype(np.float64)), fused(raters))
    assert (fused(0.05 + 0.9 * raters) == fused(raters)).mean() > 0.99


def test_merged_copies_count_as_one():
    raters = noisy_disc(11, raters=4)
    copied = np.concatenate([raters, raters[:1], raters[:1]])
    masks = foreground_masks(copied)
    result = coherence_vote(masks, UNIT, groups=[[0, 4, 5], [1], [2], [3]])
    np.testing.assert_array_equal(result.decision, fused(raters))


def test_volumes_at_different_times_are_independent():
    first, second = (noisy_volume(seed) for seed in (0, 1))
    both = np.stack([first, second], axis=1)
    later = np.stack([first, noisy_volume(2)], axis=1)
    spacing = (1.0,) * 4
    settings = CoherenceSettings()
    ours, theirs = (
        coherence(stack.astype(float), np.ones(5), None, smallest_sides(spacing), settings)
        for stack in (both, later)
    )
    np.testing.assert_array_equal(ours.answer[0], theirs.answer[0])
    assert fused(both, spacing).shape == both.shape[1:]


def noisy_volume(seed: int) -> np.ndarray:
    return noisy_disc(seed, shape=(10, 12, 12), radius=4)


def test_unanimous_components_of_two_voxels_are_never_removed():
    rng = np.random.default_rng(0)
    # Noise that conceals a pair of voxels marked by all raters.
    raters = rng.random((5, 40, 40)) < 0.3
    raters[:, 12:28, 12:28] = rng.random((5, 16, 16)) < 0.9
    raters[:, 4:7, 4:8] = False
    raters[:, 5, 5:7] = True
    decision = fused(raters) == 1
    unanimous, number = components(raters.all(axis=0))
    for index in range(1, number + 1):
        piece = unanimous == index
        assert piece.sum() < 2 or (decision & piece).any()
    result = coherence_vote(foreground_masks(raters), UNIT)
    # Without the guarantee this pair would be lost.
    assert set(result.restored[1]) >= {5 * 40 + 5, 5 * 40 + 6}
    np.testing.assert_array_equal(probability(result, 1) >= 0.5, decision)
    four = coherence_vote(foreground_masks(raters[:4]), UNIT)
    assert not four.restored


@pytest.mark.parametrize("cutoff", [2.0, 3.0])
@pytest.mark.parametrize("side", [1.0, 0.5])
def test_the_resolution_is_the_scale_down_to_which_raters_share_detail(cutoff, side):
    """The fields have common waves above a certain length and individual waves below it.

    A band from s to s sqrt(2) is centred on the angular frequency sqrt(2 ln 2) / s.
    """
    rng = np.random.default_rng(0)
    frequency = 2 * np.pi * np.hypot(*np.meshgrid(np.fft.fftfreq(128), np.fft.fftfreq(128)))
    coarse = frequency < np.sqrt(2 * np.log(2)) * 2**0.25 / cutoff
    white = np.fft.fft2(rng.standard_normal((6, 128, 128)))
    # The power per octave is constant, as in contours, so neither end dominates.
    white /= np.maximum(frequency, 0.01)
    waves = np.where(coarse, white[0], white[1:])
    raters = np.fft.ifft2(waves).real
    curve = coherence_curve(foreground_masks(raters), 1, (side, side))
    assert curve is not None
    found = curve.resolution()
    assert found is not None
    assert found.bound == "="
    assert found.millimetres == pytest.approx(cutoff * side, rel=0.2)


@pytest.mark.parametrize("touching", [False, True])
@pytest.mark.parametrize("spacing", [(1.0, 1.0, 1.0), (2.5, 1.0, 1.0)])
def test_the_curve_on_coarse_grids_is_that_of_every_voxel(spacing, touching):
    """Computed with scipy's Gaussians at every voxel within reach of disagreement."""
    rng = np.random.default_rng(4)
    raters = np.zeros((4, 60, 64, 62))
    inner = raters[:, 22:36, 24:40, 23:41]
    inner[:] = gaussian_filter(rng.random(inner.shape), (0, 1, 1, 1)) > 0.5
    raters[:, :, :, :12] = 1  # the structure common to all raters extends beyond the box
    if touching:
        raters[:, :3] = rng.random(raters[:, :3].shape) < 0.1
    found = coherence_curve(foreground_masks(raters), 1, spacing)
    scales = 0.5 * np.sqrt(2) ** np.arange(9)[:, None] * smallest_sides(spacing)
    levels = [
        gaussian_filter(raters, (0, *sigmas), truncate=3, mode="nearest") for sigmas in scales
    ]
    differ = np.nonzero(raters.min(axis=0) != raters.max(axis=0))
    reach = (3 * scales[-1] + 0.5).astype(int)
    near = tuple(
        slice(max(int(at.min()) - room, 0), int(at.max()) + room + 1)
        for at, room in zip(differ, reach, strict=True)
    )
    expected = []
    for fine, coarse in itertools.pairwise(levels):
        band = (fine - coarse)[(slice(None), *near)]
        # Sums of products of different raters over all pairs.
        square, both = np.square(band).sum(), np.square(band.sum(axis=0)).sum()
        expected.append((both - square) / 3 / square)
    np.testing.assert_allclose(found.coherence, expected, atol=0.02)


def test_resolutions_beyond_the_curve_are_bounds():
    rng = np.random.default_rng(0)
    noise = rng.random((5, 64, 64)) < 0.5
    found = coherence_curve(foreground_masks(noise), 1, UNIT).resolution()
    assert found.bound == ">="
    assert str(found).startswith(">= ")
    truth = disc_phantom(12, shape=(64, 64)).truth
    almost = np.stack([truth] * 5)
    almost[0, 32, 44] ^= True
    found = coherence_curve(foreground_masks(almost), 1, (2.0, 2.0)).resolution()
    assert found.bound == "<="
    assert found.millimetres == pytest.approx(2**0.25)
    assert coherence_curve(foreground_masks(almost[1:]), 1, UNIT) is None


@pytest.mark.parametrize("shape", [(5,), (4, 9), (3, 5, 6), (2, 3, 4, 5)])
def test_volumes_of_zeros_and_ones_come_back_as_they_were(shape):
    rng = np.random.default_rng(8)
    volume = np.where(rng.random(shape) < 0.3, rng.random(shape), rng.random(shape) < 0.6)
    box = (slice(1, shape[0]), *(slice(1, size - 1) for size in shape[1:]))
    nothing = (slice(shape[0] + 3, shape[0] + 3), *box[1:])
    parts = PackedShares.pack(volume[:1]), PackedShares.pack(volume[1:])
    for packed in (PackedShares.pack(volume), PackedShares.joined(parts)):
        np.testing.assert_array_equal(packed.part(box), volume[box])
        assert packed.part(nothing).shape == volume[nothing].shape
