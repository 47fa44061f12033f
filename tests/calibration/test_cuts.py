from __future__ import annotations

import numpy as np
import pytest
from cohorts import array, cohort, columns, image
from hypothesis import given, settings
from hypothesis import strategies as st

from examples.simulation import LEVEL_FAMILIES, level_case
from itk_consensus.calibration.cut_calibration_filter import CutCalibrationFilter
from itk_consensus.calibration.cuts import CUTS, HALF, CutRecord, LabelCut, best_cut, cut_scores
from itk_consensus.calibration.probabilities import consensus_labels
from itk_consensus.core.errors import ConsensusWarning, InputError, ParameterError
from itk_consensus.votes.overlap import dice


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), raters=st.sampled_from([0, 2, 3, 5, 7, 10]))
def test_scores_of_every_cut_are_those_of_the_mask_above_it(seed, raters):
    rng = np.random.default_rng(seed)
    p = rng.random((7, 8)) ** 2
    if raters:
        p = (np.round(p * raters) / raters).astype(np.float32)
    reference = rng.random((7, 8)) < rng.choice([0.0, 0.3])
    for cut, by_dice, by_volume in zip(
        CUTS, cut_scores(p, reference, "dice"), cut_scores(p, reference, "volume"), strict=True
    ):
        mask = p >= cut - 1e-6
        assert by_dice == pytest.approx(dice(mask, reference))
        sizes = sorted([mask.sum(), reference.sum()])
        assert by_volume == pytest.approx(sizes[0] / sizes[1] if sizes[1] else 1.0)


def test_one_half_stays_unless_another_cut_is_better():
    flat = np.ones(99)
    assert best_cut(flat) == HALF
    flat[20:40] = 2
    assert CUTS[best_cut(flat)] == pytest.approx(0.31)


def test_the_gain_is_that_of_cases_left_out_one_by_one():
    rng = np.random.default_rng(1)
    scores = rng.random((12, 99))
    learned = LabelCut.learn(scores)
    gains = []
    for case in range(12):
        others = np.delete(scores, case, axis=0).mean(axis=0)
        gains.append(scores[case, int(np.argmax(others))] - scores[case, HALF])
    assert learned.gain == pytest.approx(np.mean(gains))
    assert learned.gain_low < learned.gain < learned.gain_high
    assert learned.is_on == (learned.gain_low > 0)
    assert learned.cut == (learned.learned if learned.is_on else 0.5)


def pool(family, number, *, bias, soft):
    """Return the scores of every cut-off on new cases."""
    cases = [level_case(3000 + seed, family, bias=bias, soft=soft) for seed in range(number)]
    return np.stack([cut_scores(c.members.mean(axis=0), c.truth, "dice") for c in cases])


def gains_of(scores, number, repetitions):
    """Yield the mean gain of a learned cut-off over one half, on the cases not used for learning,
    for each repetition.
    """
    rng = np.random.default_rng(0)
    for _ in range(repetitions):
        order = rng.permutation(len(scores))
        cut = round(100 * LabelCut.learn(scores[order[:number]]).cut) - 1
        rest = scores[order[number:]]
        yield float((rest[:, cut] - rest[:, HALF]).mean())


@pytest.mark.parametrize(
    ("cases", "repetitions", "bias"),
    [(40, 20, 1.5), pytest.param(300, 200, 1.0, marks=pytest.mark.slow)],
    ids=["fast", "full"],
)
@pytest.mark.parametrize("soft", [False, True], ids=["readers", "ensemble"])
@pytest.mark.parametrize("family", LEVEL_FAMILIES)
def test_a_cut_gains_where_there_is_a_bias_and_loses_nothing_where_there_is_none(
    family, soft, cases, repetitions, bias
):
    for common in (bias, 0.0, -bias):
        scores = pool(family, cases, bias=common, soft=soft)
        for number in (10, 20):
            gain = np.mean(list(gains_of(scores, number, repetitions)))
            assert gain >= (0.02 if common else -0.002), (common, number)


# -- the filter --------------------------------------------------------------------------------


def tight(number=12):
    """Return readers who all draw too small, as arguments of Calibrate."""
    cases = [level_case(seed, "thick slices", bias=1.5) for seed in range(number)]
    return [case.members.mean(axis=0) for case in cases], [case.truth for case in cases]


def test_readers_who_draw_too_tight_are_cut_below_one_half():
    probabilities, truths = tight()
    cut = CutCalibrationFilter()
    cut.Calibrate([p.astype(float) for p in probabilities], [t.astype(np.uint8) for t in truths])
    (one,) = cut.GetRecord().cuts
    assert one.is_on
    assert one.cut < 0.5
    assert "instead of 0.5 gains +0." in cut.GetMeaning()
    labels = cut.Execute(probabilities[0].astype(float))
    assert labels.dtype == np.uint8
    np.testing.assert_array_equal(labels, probabilities[0] >= one.cut)


def test_where_the_gain_may_be_chance_the_cut_stays_at_one_half():
    cut = CutCalibrationFilter()
    cut.Calibrate(*columns(cohort(10))[:2])
    (one,) = cut.GetRecord().cuts
    assert not one.is_on
    assert "may be chance, so 0.5 is used" in cut.GetMeaning()
    case = cohort(1)[0]
    np.testing.assert_array_equal(array(cut.Execute(case.fraction)), array(case.fraction) >= 0.5)


def test_a_cut_that_stays_at_one_half_is_told_without_a_gain():
    one = LabelCut(0.5, 0.5, 0.0, 0.0, 0.0)
    record = CutRecord((one,), "dice", 12, 2, None, None, (), {})
    assert record.meaning == "label 1 is best cut at 0.5, as without calibration."


def test_several_labels_have_cuts_of_their_own_and_unlearned_ones_change_nothing():
    rng = np.random.default_rng(0)
    truths = [rng.integers(0, 3, (20, 20)) for _ in range(12)]

    def probabilities(truth, weak):
        """Return probabilities that are too low for the label `weak`."""
        odds = np.stack([2.0 * (truth == label) for label in range(3)])
        odds += rng.normal(0, 0.7, odds.shape)
        if weak:
            odds[weak] -= 2.0
        p = np.exp(odds) / np.exp(odds).sum(axis=0)
        return list(p)

    def mean_dice(labels, truth):
        return np.mean([dice(labels == label, truth == label) for label in (1, 2)])

    for weak in (0, 2):
        maps = [probabilities(truth, weak) for truth in truths]
        cut = CutCalibrationFilter()
        cut.Calibrate(maps, truths)
        first, second = cut.GetRecord().cuts
        assert second.cut < 0.3 if weak else True
        gains = [
            mean_dice(cut.Execute(p), truth) - mean_dice(consensus_labels(p), truth)
            for p, truth in zip(maps, truths, strict=True)
        ]
        assert np.mean(gains) > 0.05 if weak else np.mean(gains) >= 0
        if not (first.is_on or second.is_on):
            np.testing.assert_array_equal(cut.Execute(maps[0]), consensus_labels(maps[0]))


def test_other_probabilities_than_the_learned_ones_are_refused(tmp_path):
    fractions, truths, raters = columns(cohort(10))
    cut = CutCalibrationFilter(FusionMethod="vote")
    cut.Calibrate(fractions, truths, raters)
    cut.Save(tmp_path / "cut.json")
    loaded = CutCalibrationFilter.Load(tmp_path / "cut.json")
    assert loaded.GetRecord() == cut.GetRecord()
    with pytest.raises(ParameterError, match="made with rater_count 5, this is 4; calibrate again"):
        loaded.Execute(fractions[0], raters[0][:4])
    with pytest.raises(ParameterError, match="made on vote fractions, this holds binary masks"):
        loaded.Execute(image(array(fractions[0]) >= 0.5, np.float64))
    loaded.SetFusionMethod("staple")
    with pytest.raises(ParameterError, match="made with fusion_method vote, this is staple"):
        loaded.Execute(fractions[0])
    with pytest.raises(InputError, match="Calibrate needs at least 3 cases, got 2"):
        cut.Calibrate(fractions[:2], truths[:2])
    with pytest.warns(ConsensusWarning, match="learned from 4 cases"):
        cut.Calibrate(fractions[:4], truths[:4])
