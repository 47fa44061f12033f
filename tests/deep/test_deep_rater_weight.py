"""Choice of the weight of raters relative to the image, without references."""

from __future__ import annotations

import numpy as np
import pytest
from cohort_lists import QUICK, image_list, label_lists

torch = pytest.importorskip("torch")

from itk_consensus.deep.cases import Case  # noqa: E402
from itk_consensus.deep.deep_consensus_filter import DeepConsensusFilter  # noqa: E402
from itk_consensus.deep.held_out import choose_rater_weight  # noqa: E402
from itk_consensus.deep.model import ConsensusModel  # noqa: E402
from itk_consensus.deep.network import NetworkShape  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::itk_consensus.core.errors.ConsensusWarning")


def model_that_sees(certainty):
    """Return a model of four raters who are right 8 times out of 10; intensity 1 indicates
    class 1.
    """
    model = ConsensusModel.untrained(NetworkShape(2, 2, 4, 4, False), "joint", (0, 1), (), 0)
    model.rater_model.tally = np.tile(np.array([[8e5, 2e5], [2e5, 8e5]]), (5, 1, 1))
    right = np.log(certainty / (1 - certainty))

    def alpha(image, *_):
        return 1 + 1e4 * torch.softmax(right * torch.cat([1 - image, image], 1), 1)

    model.network.forward = alpha
    return model


def drawn_cases(copies, number=8, side=24):
    """Return images that show the true mask, and four raters, `copies` of whom drew equal masks."""
    rng = np.random.default_rng(0)
    cases = []
    for _ in range(number):
        truth = (rng.random((side, side)) < 0.5).astype(np.uint8)
        errors = rng.random((4, side, side)) < 0.2
        errors[:copies] = errors[0]
        labels = (truth ^ errors).astype(np.uint8)
        cases.append(Case(truth[None].astype(np.float32), labels, np.arange(1, 5)))
    return cases


def test_raters_with_errors_of_their_own_count_fully_where_the_image_tells_nothing():
    assert choose_rater_weight(model_that_sees(0.5), drawn_cases(copies=0)) == 1


def test_raters_count_less_beside_an_image_that_is_right_than_beside_one_that_is_wrong():
    cases = drawn_cases(copies=0)
    wrong = [Case(one.image[:, ::-1].copy(), one.labels, one.raters) for one in cases]
    # Of three other raters, two outvote one with log odds of log 4; up to this weight, an image
    # with odds of 7 : 3 prevails.
    prevails = np.log(7 / 3) / np.log(4)
    assert 0.5 < prevails < 0.7
    assert choose_rater_weight(model_that_sees(0.7), cases) == 0.5
    assert choose_rater_weight(model_that_sees(0.7), wrong) == 1


def test_a_weight_that_changes_no_label_is_not_avoided_for_being_less_sure():
    """An image with odds of 9 : 1 prevails at any weight, but the likelihood preferred weights
    below .5.
    """
    assert choose_rater_weight(model_that_sees(0.9), drawn_cases(copies=0)) == 1


def test_without_disputed_voxels_raters_count_fully():
    cases = drawn_cases(copies=4)
    assert choose_rater_weight(model_that_sees(0.9), cases) == 1
    alone = [Case(one.image, one.labels[:1], one.raters[:1]) for one in cases]
    assert choose_rater_weight(model_that_sees(0.9), alone) == 1


def test_the_chosen_weight_is_used_saved_and_can_be_overruled(cohort, tmp_path):
    filter_ = DeepConsensusFilter(**QUICK, Mode="joint")
    filter_.Fit(image_list(cohort), label_lists(cohort))
    assert filter_.GetRaterWeight() is None
    assert 0 <= filter_.GetChosenRaterWeight() <= 1
    filter_._model.rater_weight = 0.35

    def probability(one, weight):
        one.SetRaterWeight(weight)
        one.SetNumberOfThreads(1)
        one.Execute(cohort.images[0, 0], label_lists(cohort)[0])
        return one.GetProbabilityImage(1)

    filter_.Save(tmp_path / "model")
    loaded = DeepConsensusFilter.Load(tmp_path / "model")
    loaded.SetWithoutGain("network")
    assert loaded.GetChosenRaterWeight() == 0.35
    chosen = probability(loaded, None)
    np.testing.assert_array_equal(chosen, probability(filter_, 0.35))
    assert (chosen != probability(loaded, 1.0)).any()
