"""Gains of a trained network on held-out cases, and images unlike the training images."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from cohort_lists import QUICK, image_list, label_lists, sitk_image, truth_list
from scipy.ndimage import binary_dilation
from scipy.stats import ttest_1samp

torch = pytest.importorskip("torch")

from itk_consensus import MajorityVote  # noqa: E402
from itk_consensus.core.errors import ConsensusWarning, FileError  # noqa: E402
from itk_consensus.deep.deep_consensus_filter import DeepConsensusFilter  # noqa: E402
from itk_consensus.deep.deep_gain import gain_of, gain_over, mean_dice, vote_of, vote_shares  # noqa: E402
from itk_consensus.deep.deep_inputs import load_input  # noqa: E402
from itk_consensus.deep.worth import Gain, Interval, Likeness, image_figures  # noqa: E402
from itk_consensus.simulation.deep_phantoms import easy_cohort  # noqa: E402

ignored = pytest.mark.filterwarnings("ignore::itk_consensus.core.errors.ConsensusWarning")


@pytest.fixture(scope="module")
def worthy():
    """Return a filter that has learned to use the image, and its cases."""
    cohort = easy_cohort(30, 1, shape=(32, 32))
    filter_ = DeepConsensusFilter(**{**QUICK, "NumberOfIterations": 150, "WithoutGain": "raters"})
    filter_.Fit(image_list(cohort), label_lists(cohort), truth_list(cohort))
    return filter_, cohort


def blank(cohort):
    rng = np.random.default_rng(0)
    return [rng.normal(size=image.shape).astype(np.float32) for image in image_list(cohort)]


def loaded(cohort):
    """Return the cases as Fit reads them."""
    lists = zip(image_list(cohort), label_lists(cohort), truth_list(cohort), strict=True)
    return [load_input(i, d, truth=t, owner="any", tolerances={}) for i, d, t in lists]


# -- the gain --------------------------------------------------------------------------------


def test_the_interval_is_students():
    values = (0.03, 0.05, 0.01, 0.02)
    expected = ttest_1samp(values, 0).confidence_interval(0.9)
    found = Interval.of(values)
    np.testing.assert_allclose(found, (np.mean(values), expected.low, expected.high))


def test_one_case_shows_nothing_and_none_even_less():
    assert not Gain(True, {"the vote": (0.3,)}).is_shown
    assert not Gain(True, {"the vote": ()}).is_shown
    assert Gain(True, {"the vote": (0.3, 0.31, 0.29)}).is_shown


def test_whoever_is_worse_than_joint_fusion_has_shown_no_gain():
    clear = (0.3, 0.31, 0.29)
    assert Gain(True, {"joint fusion": (0.1, -0.01, 0.0), "the vote": clear}).is_shown
    assert not Gain(True, {"joint fusion": (-0.1, 0.01, 0.0), "the vote": clear}).is_shown


@pytest.mark.parametrize("by_truth", [True, False])
def test_the_vote_gains_nothing_on_itself(cohort, by_truth):
    votes = vote_of((0, 1))
    gain = gain_of(votes, loaded(cohort), (0, 1), by_truth=by_truth, with_atlases=False)
    assert gain.over["the vote"] == (0.0,) * 10
    assert len(gain.over["Consensus"]) == 10


def last_of_tied(given):
    """Return the vote, with ties resolved to the last of the tied classes."""
    shares = vote_shares(given, (0, 1))
    return (1 - shares[::-1].argmax(0)).astype(np.uint8)


def test_whoever_votes_and_breaks_ties_otherwise_has_no_gain_with_an_odd_number_of_raters(cohort):
    """Four of five raters can tie, but five cannot."""
    cases = loaded(cohort)
    assert all(len(one.stack.arrays) == 5 for one in cases)
    gain = gain_of(last_of_tied, cases, (0, 1), by_truth=False, with_atlases=False)
    assert gain.over["the vote"] == (0.0,) * 10
    assert not gain.is_shown


def test_whoever_overrules_mistaken_majorities_has_a_gain_with_raters_too():
    rng = np.random.default_rng(0)
    truth = np.zeros((12, 12), np.uint8)
    truth[3:9, 3:9] = 1
    cases = [
        load_input(
            np.zeros(truth.shape),
            [truth ^ (rng.random(truth.shape) < 0.3) for _ in range(5)],
            owner="any",
            tolerances={},
        )
        for _ in range(6)
    ]
    gain = gain_of(lambda _: truth, cases, (0, 1), by_truth=False, with_atlases=False)
    assert gain.is_shown


def test_a_casting_vote_breaks_ties_and_turns_no_majority():
    drawn = np.array([[1, 1, 1, 0], [2, 2, 1, 0], [0, 0, 1, 0], [1, 2, 0, 0], [2, 1, 2, 0]])
    given = load_input(np.zeros((2, 2)), list(drawn.reshape(5, 2, 2)), owner="any", tolerances={})
    casting = np.array([[2, 0], [2, 1]], np.uint8)
    np.testing.assert_array_equal(vote_of((0, 1, 2), casting)(given), [[2, 1], [1, 0]])


def test_dice_is_of_what_the_judge_knows_and_uses():
    judge = np.array([0, 1, 1, 255, 2])
    assert mean_dice(np.array([0, 1, 0, 1, 2]), judge, 4) == pytest.approx((2 / 3 + 1) / 2)
    assert mean_dice(np.zeros(3, np.uint8), np.zeros(3, np.uint8), 2) == 1


# -- voxels on which all raters agree ---------------------------------------------------------


def test_a_gain_over_another_answer_is_one_of_dice_with_the_truth(cohort):
    cases = loaded(cohort)
    votes = vote_of((0, 1))
    assert gain_over(votes, votes, cases, (0, 1)) == (0, 0, 0)
    found = gain_over(lambda given: given.true_classes((0, 1)), votes, cases, (0, 1))
    dices = [mean_dice(votes(one), one.true_classes((0, 1)), 2) for one in cases]
    assert found.mean == pytest.approx(1 - np.mean(dices))


@pytest.fixture(scope="module")
def too_wide():
    """Return a filter whose raters all draw two or three voxels too large, and one of its cases."""
    cohort = easy_cohort(20, 1, shape=(32, 32))
    wide = [
        [binary_dilation(truth, iterations=width).astype(np.uint8) for width in (2, 2, 3)]
        for truth in truth_list(cohort)
    ]
    filter_ = DeepConsensusFilter(**{**QUICK, "NumberOfIterations": 100, "WithoutGain": "raters"})
    filter_.Fit(image_list(cohort), wide, truth_list(cohort))
    return filter_, image_list(cohort)[0], wide[0]


def test_raters_who_are_wrong_together_lose_their_unanimous_voxels(too_wide):
    filter_, image, drawn = too_wide
    assert not filter_.GetChosenLock()
    unanimous = drawn[0] == drawn[2]
    assert (filter_.Execute(image, drawn) != drawn[0])[unanimous].any()
    filter_.SetLockUnanimousVoxels(True)
    assert (filter_.Execute(image, drawn) == drawn[0])[unanimous].all()
    filter_.SetLockUnanimousVoxels(None)


@ignored
def test_without_truths_or_a_clear_gain_unanimous_voxels_stay_as_they_are(cohort, fitted):
    assert fitted.GetChosenLock()
    blind = DeepConsensusFilter(**QUICK)
    blind.Fit(blank(cohort), label_lists(cohort), truth_list(cohort))
    assert blind.GetChosenLock()


def test_a_file_keeps_whether_unanimous_voxels_are_locked(too_wide, tmp_path):
    filter_, *_ = too_wide
    filter_.Save(tmp_path / "model")
    assert not DeepConsensusFilter.Load(tmp_path / "model").GetChosenLock()


def test_a_network_that_gained_answers_and_nothing_speaks_against_it(worthy):
    filter_, cohort = worthy
    gain = filter_.GetHeldOutGain()["vote"]
    assert 0 < gain.low < gain.mean < gain.high
    assert not filter_.GetDiagnostics().concerns
    image, labels = image_list(cohort)[0], label_lists(cohort)[0]
    fused = filter_.Execute(image, labels)
    assert (fused != MajorityVote(labels, TieRule="lowest")).any()
    assert filter_.GetEvidenceImage().max() > 0


@pytest.mark.parametrize("mode", ["truth", "set", "joint"])
def test_where_no_gain_is_found_the_filter_says_so_and_votes(cohort, mode):
    """Images of noise, and too few iterations to learn the raters' errors."""
    filter_ = DeepConsensusFilter(**{**QUICK, "WithoutGain": "raters"}, Mode=mode)
    truths = truth_list(cohort) if mode == "truth" else None
    with pytest.warns(ConsensusWarning, match=r"\. Vote instead, or train"):
        filter_.Fit(blank(cohort), label_lists(cohort), truths)
    finding = filter_.GetDiagnostics()["gain"]
    assert finding.severity == "look"
    assert "Vote instead, or train on more cases" in str(finding)
    assert filter_.GetHeldOutGain()["vote"].low <= 0
    labels = label_lists(cohort)[3]
    fused = filter_.Execute(blank(cohort)[3], labels)
    np.testing.assert_array_equal(fused, MajorityVote(labels, TieRule="lowest"))
    shares = np.mean([rater == 1 for rater in labels], axis=0)
    np.testing.assert_allclose(filter_.GetProbabilityImage(1), shares, atol=1e-6)
    assert not filter_.GetEvidenceImage().any()


@ignored
def test_of_too_few_cases_nothing_is_known(cohort):
    filter_ = DeepConsensusFilter(**{**QUICK, "NumberOfIterations": 1})
    filter_.Fit(image_list(cohort)[:4], label_lists(cohort)[:4], truth_list(cohort)[:4])
    assert np.isnan(filter_.GetHeldOutGain()["vote"].mean)
    said = str(filter_.GetDiagnostics()["gain"])
    assert "No case was held out: the gain over the vote is unknown. Vote instead" in said


def test_gain_and_likeness_are_kept_in_the_file(worthy, tmp_path):
    filter_, _ = worthy
    filter_.Save(tmp_path / "model")
    again = DeepConsensusFilter.Load(tmp_path / "model")
    assert again.GetHeldOutGain() == filter_.GetHeldOutGain()
    assert again._model.likeness == filter_._model.likeness


@pytest.mark.parametrize(
    "change",
    [
        {"gain": {"by_truth": True, "over": [["the vote", ["x"]]]}},
        {"gain": {"by_truth": True, "over": [["Consensus", [0.1]]]}},
        {"gain": {"by_truth": True, "over": [["the vote", [float("nan")]]]}},
        {"likeness": {"low": [0.0], "high": [1.0]}},
        {"likeness": 5},
    ],
)
def test_a_worth_that_no_training_gives_is_refused(worthy, tmp_path, change):
    from itk_consensus.deep.weights import pack, unpack

    filter_, _ = worthy
    filter_.Save(tmp_path / "model")
    tensors, description = unpack((tmp_path / "model").read_bytes(), "model")
    (tmp_path / "changed").write_bytes(pack(tensors, {**description, **change}))
    with pytest.raises(FileError, match="damaged"):
        DeepConsensusFilter.Load(tmp_path / "changed")


# -- likeness --------------------------------------------------------------------------------


def like_cases(rng, number=12):
    """Return images of one kind."""
    return [rng.normal(100, 20, (30, 40)) for _ in range(number)]


@pytest.mark.parametrize(
    ("change", "spacing", "unlike"),
    [
        (lambda image: image, (1.0, 1.0), ()),
        (lambda image: image * 3, (1.0, 1.0), ("intensities",)),
        (lambda image: np.exp(image / 20), (1.0, 1.0), ("intensities",)),
        (lambda image: image, (1.0, 2.0), ("spacing", "field of view")),
        (lambda image: image[:10], (1.0, 1.0), ("field of view",)),
    ],
)
def test_images_of_another_kind_are_told(change, spacing, unlike):
    rng = np.random.default_rng(0)
    likeness = Likeness.of((image_figures([one], (1.0, 1.0)) for one in like_cases(rng)), 2)
    figures = image_figures([change(like_cases(rng, 1)[0])], spacing)
    assert likeness.unlike(figures, 2) == unlike


def test_images_of_the_same_kind_are_hardly_ever_called_unlike():
    rng = np.random.default_rng(1)
    likeness = Likeness.of((image_figures([one], (1.0, 1.0)) for one in like_cases(rng, 8)), 2)
    alarms = [likeness.unlike(image_figures([one], (1, 1)), 2) for one in like_cases(rng, 200)]
    assert sum(map(bool, alarms)) <= 4


def test_one_image_says_nothing_of_others():
    rng = np.random.default_rng(2)
    likeness = Likeness.of([image_figures(like_cases(rng, 1), (1.0, 1.0))], 2)
    assert likeness.unlike(image_figures([like_cases(rng, 1)[0][:5] * 9], (5, 5)), 2) == ()


def test_an_image_unlike_the_training_is_noticed_in_execute(worthy):
    filter_, cohort = worthy
    image, labels = image_list(cohort)[0], label_lists(cohort)[0]
    filter_.Execute(image, labels)
    assert filter_.GetDiagnostics()["likeness"].severity is None
    with pytest.warns(ConsensusWarning, match="differs from the training images in intensities"):
        filter_.Execute(50 * image + 1000, labels)
    assert filter_.GetDiagnostics()["likeness"].severity == "look"
    wide = [sitk_image(one, (3.0, 3.0), (0.0, 0.0)) for one in (image, *labels)]
    with pytest.warns(ConsensusWarning, match="spacing and field of view"):
        filter_.Execute(wide[0], wide[1:])


# -- how long it trains ----------------------------------------------------------------------


@pytest.fixture
def hasty(monkeypatch):
    """Return settings without a number of iterations, with which every second iteration is
    evaluated.
    """
    monkeypatch.setattr("itk_consensus.deep.training._EVALUATED_EVERY", 2)
    monkeypatch.setattr("itk_consensus.deep.training._USUAL_ITERATIONS", 10)
    monkeypatch.setattr("itk_consensus.deep.training._PATIENT_SHARE", 0.0)
    return {**QUICK, "NumberOfIterations": None, "Patience": 1}


@ignored
def test_training_goes_on_until_held_out_cases_improve_no_more(cohort, hasty):
    filter_ = DeepConsensusFilter(**hasty)
    filter_.Fit(image_list(cohort), label_lists(cohort), truth_list(cohort))
    history = filter_.GetTrainingHistory()
    scores = [entry["validation"] for entry in history]
    # The learning rate decreases from the first evaluation after the warm-up that shows no
    # improvement.
    stale = next(i for i in range(2, len(scores)) if scores[i] >= min(scores[:i]))
    fall_from = history[stale]["iteration"]
    assert history[-1]["iteration"] == fall_from + round(fall_from / 2)
    assert filter_.GetDiagnostics()["training"].severity is None


def test_what_took_long_to_come_may_take_long_to_become_better():
    from itk_consensus.deep.training import Trainer, TrainingState

    def hopes(iteration, stale, length=None):
        settings = SimpleNamespace(patience=5)
        state = TrainingState(iteration=iteration, stale=stale)
        one = SimpleNamespace(state=state, settings=settings, _length=length, _every=50)
        return Trainer._within_patience(one)

    assert hopes(200, 4)
    assert not hopes(200, 5)
    assert hopes(3000, 19)
    assert not hopes(3000, 20)
    assert not hopes(3000, 5, length=4000)


@ignored
def test_a_training_that_time_ended_says_that_it_was_still_improving(cohort, hasty):
    filter_ = DeepConsensusFilter(**{**hasty, "Patience": 100}, TimeBudget=1e-3)
    filter_.Fit(image_list(cohort), label_lists(cohort), truth_list(cohort))
    assert filter_.GetTrainingHistory()[-1]["iteration"] == 2
    assert "still improving" in str(filter_.GetDiagnostics()["training"])


@ignored
def test_a_training_of_unknown_length_resumes_to_the_same_weights(cohort, hasty, tmp_path):
    from cohort_lists import abort_after

    def trained(stop_after, **options):
        filter_ = DeepConsensusFilter(**hasty)
        abort_after(filter_, stop_after)
        filter_.Fit(image_list(cohort), label_lists(cohort), truth_list(cohort), **options)
        filter_.Save(tmp_path / "model")
        return (tmp_path / "model").read_bytes()

    whole = trained(1000)
    trained(5, checkpoint=tmp_path / "state")
    assert trained(1000, checkpoint=tmp_path / "state") == whole
