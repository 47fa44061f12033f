"""Fusion learned from cases with a reference: its laws, rejected inputs, and records."""

from __future__ import annotations

import inspect
import json
import pickle
import warnings
from collections import Counter
from functools import cache
from typing import Any

import numpy as np
import pytest
import SimpleITK as sitk
from learned_cohort import ALIKE, HABITS, Cohort, case, cohort
from scipy.ndimage import gaussian_filter
from scipy.optimize import minimize

import itk_consensus as ic
from itk_consensus.calibration.learned.disputed_label import SHARE_STEPS, disputed_label
from itk_consensus.calibration.learned.label_rule import Learner, learn_label
from itk_consensus.calibration.learned.rater_weights import fit_weights, prior_mean
from itk_consensus.calibration.learned.vote_tables import LabelTable, StackedTables
from itk_consensus.core.errors import (
    ConsensusWarning,
    FileError,
    InputError,
    NotExecutedError,
)
from itk_consensus.fusing.paired_gain import Gain

pytestmark = pytest.mark.filterwarnings("ignore::itk_consensus.core.errors.ConsensusWarning")


@cache
def known(number: int = 12, labels: int = 1) -> Cohort:
    return cohort(number, labels=labels)


def fitted(of: Cohort, **more: Any) -> ic.LearnedFusionFilter:
    filter_ = ic.LearnedFusionFilter()
    filter_.Fit(of.cases, of.truths, **more)
    return filter_


@cache
def _record() -> Any:
    return fitted(known()).GetRecord()


def learned() -> ic.LearnedFusionFilter:
    """Return a filter fitted to the known cases."""
    return ic.LearnedFusionFilter.FromRecord(_record())


def outputs(filter_: Any, images: Any, labels: Any = (0, 1)) -> list[np.ndarray]:
    filter_.Execute(images)
    return [filter_.GetLabelImage(), *(filter_.GetProbabilityImage(k) for k in labels)]


# -- learned weights --------------------------------------------------------------------------


def test_a_good_rater_is_found_and_further_cases_gain() -> None:
    filter_ = learned()
    weights = [one.weight for one in filter_.GetRaterWeights()[1]]
    assert int(np.argmax(weights)) == 0
    gain = filter_.GetHeldOutGain()[1]
    assert gain.low > 0
    new = cohort(10, first=3500)
    ours, theirs = [], []
    for images, truth in zip(new.cases, new.truths, strict=True):
        ours.append(ic.dice(filter_.Execute(images) == 1, truth == 1))
        theirs.append(ic.dice(ic.Consensus(images) == 1, truth == 1))
    gained = np.subtract(ours, theirs)
    assert gained.mean() > gain.low
    assert gained.mean() > 2 * gained.std(ddof=1) / len(gained) ** 0.5
    assert "trusts rater 0" in filter_.GetExplanation()


def test_of_raters_who_differ_by_chance_consensus_answers_bit_by_bit() -> None:
    filter_ = fitted(cohort(10, ALIKE))
    assert not filter_.GetRecord().adopted
    assert "Consensus is used" in filter_.GetExplanation()
    consensus = ic.ConsensusFilter()
    for seed in range(3600, 3603):
        images, _ = case(seed, ALIKE)
        for one, other in zip(outputs(filter_, images), outputs(consensus, images), strict=True):
            np.testing.assert_array_equal(one, other)
            assert one.dtype == other.dtype


def test_unanimous_voxels_and_labels_without_a_rule_keep_consensus_answer() -> None:
    filter_ = learned()
    images, _ = case(3700, HABITS)
    answer, votes = filter_.Execute(images), np.stack(images)
    same = (votes == votes[0]).all(axis=0)
    np.testing.assert_array_equal(answer[same], votes[0][same])
    changed = answer != ic.Consensus(images)
    assert changed.sum() == filter_.GetChangedVoxels() > 0
    assert not (changed & same).any()


def test_the_label_map_is_where_the_probability_leads() -> None:
    filter_ = fitted(known(10, labels=2))
    images, _ = case(3701, HABITS, labels=2)
    label_map = filter_.Execute(images)
    shares = np.stack([filter_.GetProbabilityImage(k) for k in range(3)])
    assert ((shares >= 0) & (shares <= 1)).all()
    np.testing.assert_allclose(shares.sum(axis=0), 1, atol=1e-9)
    ordered = np.sort(shares, axis=0)
    clear = ordered[-1] - ordered[-2] > 1e-6
    np.testing.assert_array_equal(shares.argmax(axis=0)[clear], label_map[clear])


# -- laws -------------------------------------------------------------------------------------


def test_the_order_of_raters_does_not_matter() -> None:
    order = [2, 0, 3, 1]
    one, other = learned(), fitted(known().permuted(order))
    assert one.GetHeldOutGain()[1] == pytest.approx(other.GetHeldOutGain()[1])
    images, _ = case(3702, HABITS)
    for a, b in zip(outputs(one, images), outputs(other, [images[j] for j in order]), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-6)


def test_the_names_of_labels_do_not_matter() -> None:
    names = np.array([0, 7, 3], np.uint8)
    one, other = fitted(known(10, 2)), fitted(known(10, 2).mapped(lambda a: names[a]))
    images, _ = case(3703, HABITS, labels=2)
    np.testing.assert_array_equal(
        names[one.Execute(images)], other.Execute([names[rater] for rater in images])
    )
    assert one.GetHeldOutGain()[1] == pytest.approx(other.GetHeldOutGain()[7])


def test_a_rater_of_pure_noise_costs_little() -> None:
    rng = np.random.default_rng(3000)

    def noisy(images: list[np.ndarray]) -> list[np.ndarray]:
        return [*images, (rng.random(images[0].shape) < 0.5).astype(np.uint8)]

    of, new = known(), cohort(10, first=3500)
    without = fitted(of)
    with_noise = fitted(Cohort([noisy(images) for images in of.cases], of.truths))
    lost = [
        ic.dice(without.Execute(images) == 1, truth == 1)
        - ic.dice(with_noise.Execute(noisy(images)) == 1, truth == 1)
        for images, truth in zip(new.cases, new.truths, strict=True)
    ]
    assert np.mean(lost) <= 0.001


def test_a_missing_rater_is_as_one_who_says_nothing() -> None:
    filter_ = learned()
    images, _ = case(3704, HABITS)
    gone = [*images[:1], None, *images[2:]]
    silent = [*images[:1], np.full_like(images[1], 9), *images[2:]]
    one = filter_.Execute(gone)
    filter_.SetMissingLabel(9)
    np.testing.assert_array_equal(one, filter_.Execute(silent))


def test_images_of_simpleitk_come_back_as_such_and_arrays_say_the_same() -> None:
    filter_ = learned()
    images, _ = case(3705, HABITS)
    made = filter_.Execute([sitk.GetImageFromArray(rater) for rater in images])
    np.testing.assert_array_equal(sitk.GetArrayFromImage(made), filter_.Execute(images))


def test_a_truth_learned_of_images_is_that_of_arrays() -> None:
    of = known()
    images = [[sitk.GetImageFromArray(r) for r in raters] for raters in of.cases]
    filter_ = ic.LearnedFusionFilter()
    filter_.Fit(iter(images), (sitk.GetImageFromArray(truth) for truth in of.truths))
    assert filter_.GetRecord() == fitted(of).GetRecord()


def test_probabilities_are_learned_from_and_masks_refuse_them() -> None:
    def soft(image: np.ndarray) -> np.ndarray:
        return np.clip(gaussian_filter(image.astype(np.float32), 1.0), 0, 1)

    of = known()
    cases = [[soft(rater) for rater in raters] for raters in of.cases]
    filter_ = ic.LearnedFusionFilter()
    filter_.Fit(cases, of.truths)
    assert filter_.GetRecord().is_soft
    gain = filter_.GetHeldOutGain()[1]
    assert gain.low > 0
    images, truth = case(3706, HABITS)
    answer = filter_.Execute([soft(rater) for rater in images])
    assert ic.dice(answer == 1, truth == 1) > ic.dice(ic.Consensus(images) == 1, truth == 1)
    filter_.Execute(images)  # probabilities of 0 and 1 are masks
    with pytest.raises(InputError, match="masks were learned from, got probabilities"):
        fitted(of).Execute([soft(rater) for rater in images])


# -- tables and estimates, against other implementations
# ------------------------------------------


def test_a_table_tells_the_dice_of_any_rule() -> None:
    images, truth = case(3707, HABITS)
    filter_ = ic.ConsensusFilter()
    result = filter_.fuse(images)
    decision = result.fusion.volume()
    dispute = disputed_label(result.case, 1, [], decision, False)
    assert dispute is not None
    table = LabelTable.count(1, dispute, truth == 1, decision == 1)
    stack = StackedTables.of([table], 4)
    assert stack.dice(stack.consensus)[0] == pytest.approx(ic.dice(decision == 1, truth == 1))
    alone = stack.votes[:, 2] > 0
    assert stack.dice(alone)[0] == pytest.approx(
        ic.dice(
            np.where(np.ptp(np.stack(images), axis=0) > 0, images[2] == 1, decision == 1),
            truth == 1,
        )
    )


def test_shares_are_smoothed_votes() -> None:
    images, _ = case(3708, HABITS)
    result = ic.ConsensusFilter().fuse(images)
    dispute = disputed_label(result.case, 1, [], result.fusion.volume(), False)
    assert dispute is not None
    smooth = gaussian_filter(np.mean(images, axis=0), 2.0)
    expected = np.clip((smooth * SHARE_STEPS).astype(int), 0, SHARE_STEPS - 1)
    np.testing.assert_array_equal(dispute.share, expected.reshape(-1)[dispute.places])
    kinds = dispute.kinds()
    np.testing.assert_array_equal(kinds.votes[kinds.which], dispute.votes[dispute.pattern])
    np.testing.assert_array_equal(kinds.share[kinds.which], dispute.share)


def test_newton_finds_the_optimum_that_scipy_finds() -> None:
    rng = np.random.default_rng(3)
    rows = np.column_stack([rng.choice([-1, 0, 1], (60, 9)), rng.normal(size=60), np.ones(60)])
    true, weights = rng.random(60), rng.random(60) * 3
    mean = prior_mean(8)
    penalty = np.full(11, 0.1)
    penalty[-1] = 0.01

    def loss(at: np.ndarray) -> float:
        odds = rows @ at
        prior = 0.5 * penalty @ (at - mean) ** 2
        return float(prior - weights @ (true * odds - np.logaddexp(0, odds)))

    wanted = minimize(loss, mean, options={"gtol": 1e-10}).x
    np.testing.assert_allclose(fit_weights(rows, true, weights, 0.1), wanted, atol=1e-4)


def test_without_cases_the_weights_are_those_of_consensus() -> None:
    for raters in (2, 4, 8, 15, 40):
        found = fit_weights(np.zeros((0, raters + 3)), np.zeros(0), np.zeros(0), 0.3)
        np.testing.assert_array_equal(found, prior_mean(raters))
        assert found[raters] > (raters - 2) * found[0]  # for any votes of the raters


def test_a_gain_is_that_of_cases_left_out_one_by_one() -> None:
    record = learned().GetRecord()
    tables = [one.tables[0] for one in record.cases]
    rule = learn_label(1, tables, 4)
    assert rule is not None
    gains = []
    for left in range(len(tables)):
        others = Learner(StackedTables.of(tables[:left] + tables[left + 1 :], 4))
        own = Learner(StackedTables.of(tables[left : left + 1], 4))
        kind = rule.rule.kind
        found = others.learn(kind, np.ones(len(tables) - 1, bool))
        gained = own.stack.dice(found.choose(own.rows)) - own.consensus_dice
        gains.append(gained[0])
    assert rule.gain == pytest.approx(Gain.of(np.array(gains)))


# -- records ------------------------------------------------------------------------------------


def test_a_saved_record_answers_the_same_and_says_what_it_means(tmp_path: Any) -> None:
    filter_ = learned()
    filter_.Save(tmp_path / "record.json")
    loaded = ic.LearnedFusionFilter.Load(tmp_path / "record.json")
    assert loaded.GetRecord() == filter_.GetRecord()
    written = json.loads((tmp_path / "record.json").read_text())
    assert written["meaning"] == filter_.GetExplanation()
    assert written["versions"]["itk_consensus"] == ic.__version__
    images, _ = case(3709, HABITS)
    copied = pickle.loads(pickle.dumps(loaded))
    for other in (loaded, copied):
        np.testing.assert_array_equal(filter_.Execute(images), other.Execute(images))


def test_tables_of_two_sites_are_as_one_cohort(tmp_path: Any) -> None:
    of = known()
    fitted(of.part(range(6))).Save(tmp_path / "site.json")
    both = fitted(of.part(range(6, 12)), records=[tmp_path / "site.json"])
    whole = fitted(of)
    assert Counter(both.GetRecord().cases) == Counter(whole.GetRecord().cases)
    assert both.GetHeldOutGain()[1] == pytest.approx(whole.GetHeldOutGain()[1])
    merged = ic.LearnedFusionFilter()
    merged.Fit([], [], records=[both.GetRecord()])
    assert merged.GetRecord() == both.GetRecord()
    with pytest.raises(InputError, match="is a copy of case 0"):
        fitted(of.part(range(3)), records=[tmp_path / "site.json"])


def test_an_edited_record_is_refused(tmp_path: Any) -> None:
    path = tmp_path / "record.json"
    learned().Save(path)
    path.write_text(path.read_text().replace('"agreed": ', '"agreed": 1', 1))
    with pytest.raises(FileError, match="was edited"):
        ic.LearnedFusionFilter.Load(path)


# -- rejected inputs and warnings
# -----------------------------------------------------------------


def test_before_fit_there_is_nothing() -> None:
    filter_ = ic.LearnedFusionFilter()
    for ask in (filter_.GetExplanation, filter_.GetRecord, filter_.GetHeldOutGain):
        with pytest.raises(NotExecutedError, match="needs Fit or Load first"):
            ask()
    with pytest.raises(NotExecutedError, match="needs Fit or Load first"):
        filter_.Execute(known().cases[0])


def test_fewer_than_five_cases_are_refused_and_fewer_than_ten_warned_of() -> None:
    with pytest.raises(InputError, match="at least 5 cases, got 4"):
        fitted(known().part(range(4)))
    with pytest.warns(ConsensusWarning, match="from 7 cases; 10 are recommended"):
        fitted(known().part(range(7)))


def test_one_rater_who_explains_the_gain_is_warned_of() -> None:
    of = known()
    cases = [[truth, *raters[1:]] for raters, truth in zip(of.cases, of.truths, strict=True)]
    with pytest.warns(ConsensusWarning, match="rater 0 alone gains .* was it trained on these"):
        fitted(Cohort(cases, of.truths))


def test_others_than_the_raters_of_fit_are_refused() -> None:
    of = known()
    names = ("A", "B", "C", "D")
    named = [dict(zip(names, raters, strict=True)) for raters in of.cases]
    filter_ = ic.LearnedFusionFilter()
    filter_.Fit(named, of.truths)
    filter_.Execute(of.cases[0])  # the raters' names are unknown
    filter_.Execute(named[0])
    assert "A" in filter_.GetExplanation()
    turned = {name: named[0][name] for name in reversed(names)}
    with pytest.raises(InputError, match="A, B, C, D were learned from, in this order, got D, C"):
        filter_.Execute(turned)
    with pytest.raises(InputError, match=r"4 raters were learned from.* got 3"):
        filter_.Execute(of.cases[0][:3])
    with pytest.raises(InputError, match=r"case 1.*4 raters were learned from"):
        ic.LearnedFusionFilter().Fit([of.cases[0], of.cases[1][:2]], of.truths[:2])


def test_cases_that_come_twice_and_truths_of_other_labels_are_refused() -> None:
    of = known()
    with pytest.raises(InputError, match="case 3 is a copy of case 0"):
        fitted(of.part([0, 1, 2, 0, 3, 4]))
    with pytest.raises(InputError, match=r"raters mark the labels \[1\], the truths \[5\]"):
        fitted(Cohort(of.cases, [truth * 5 for truth in of.truths]))
    with pytest.raises(InputError, match="a truth for each case; there are only 3 truths"):
        ic.LearnedFusionFilter().Fit(of.cases, of.truths[:3])


def test_a_truth_on_another_grid_is_refused_with_its_case() -> None:
    of = known()
    with pytest.raises(InputError, match=r"case 2.*truth"):
        fitted(Cohort(of.cases, [*of.truths[:2], of.truths[2][:5], *of.truths[3:]]))


def test_nothing_of_the_images_is_kept() -> None:
    record = learned().GetRecord()
    size = len(record.to_json())
    assert size < 4000 * len(record.cases)
    assert "Warnings" not in inspect.getsource(type(record))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert pickle.loads(pickle.dumps(record)) == record


def test_what_most_raters_left_empty_stays_empty_and_what_is_there_does_not_vanish() -> None:
    """The presence of a structure is decided separately from its outline."""
    filter_ = learned()
    images, _ = case(3710, HABITS)
    lone = [images[0], *(np.zeros_like(image) for image in images[1:])]
    assert not filter_.Execute(lone).any()
    only_wide = [np.zeros_like(images[0]), *images[1:3], np.zeros_like(images[0])]
    np.testing.assert_array_equal(filter_.Execute(only_wide), ic.Consensus(only_wide))


def test_an_answer_unlike_that_of_consensus_gives_way_to_it() -> None:
    votes = ("+-", "-+")
    table = LabelTable(1, votes, (1, 0), (6, 6), (90, 90), (0, 90), 10, 10, 100)
    learner = Learner(StackedTables.of([table], 2))
    # Only 10 of 100 voxels of Consensus remain: the Dice with it is too low.
    assert learner.dice(np.array([False, True])) == pytest.approx(learner.consensus_dice)
    assert learner.dice(np.array([True, True])) == pytest.approx(2 * 100 / (190 + 100))
