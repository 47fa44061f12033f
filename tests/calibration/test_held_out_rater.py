from __future__ import annotations

import numpy as np
import pytest
from cohorts import array, cohort, image

from itk_consensus.calibration.conformal_band_filter import ConformalBandFilter
from itk_consensus.calibration.held_out_rater import hold_out, hold_out_raters
from itk_consensus.calibration.temperature_scaling_filter import TemperatureScalingFilter
from itk_consensus.core.errors import GeometryError, InputError
from itk_consensus.methods.staple.staple_filter import STAPLEImageFilter
from itk_consensus.methods.voting.majority_vote_filter import MajorityVoteFilter


def test_raters_take_turns():
    turns = [hold_out(["a", "b", "c"], case) for case in range(4)]
    assert turns == [("a", ["b", "c"]), ("b", ["a", "c"]), ("c", ["a", "b"]), ("a", ["b", "c"])]


def test_a_lone_rater_cannot_be_held_out():
    with pytest.raises(InputError, match=r"case 7 must have at least 2 raters, got 1"):
        hold_out(["a"], 7)


def test_the_reference_has_no_part_in_the_consensus():
    cases = [case.raters for case in cohort(3)]
    held = hold_out_raters(cases, MajorityVoteFilter())
    for number, raters in enumerate(cases):
        masks = [array(rater) for rater in raters]
        np.testing.assert_array_equal(array(held.references[number]), masks.pop(number))
        np.testing.assert_allclose(array(held.probabilities[number]), np.mean(masks, axis=0))
        assert len(held.raters[number]) == 4
        assert held.probabilities[number].GetOrigin() == raters[0].GetOrigin()


def test_cases_with_unequal_numbers_of_raters_are_named():
    """Issue 44: the message "equally many raters, got 2, 3" gave numbers one too low, and no
    case.
    """
    first, second = (case.raters for case in cohort(2))
    with pytest.raises(
        InputError, match=r"case 1 has 4 raters, case 0 5; .* same number of raters in each case"
    ):
        hold_out_raters([first, second[:4]], MajorityVoteFilter())
    with pytest.raises(InputError, match="case Bea has 4 raters, case Ann 5"):
        hold_out_raters([first, second[:4]], MajorityVoteFilter(), case_ids=["Ann", "Bea"])


def test_one_label_of_many_can_be_held_out():
    one, two = (np.zeros((6, 12, 12), np.uint8) for _ in range(2))
    one[2:4, 3:8, 3:8], one[2:4, 8:10, 3:8] = 3, 1
    two[2:4, 4:9, 3:8] = 3
    held = hold_out_raters(
        [[image(one), image(two), image(two)]], STAPLEImageFilter(), foreground=3
    )
    np.testing.assert_array_equal(array(held.references[0]), one == 3)
    np.testing.assert_array_equal(array(held.raters[0][0]), two == 3)


def test_the_cohort_is_what_calibrate_takes():
    held = hold_out_raters([case.raters for case in cohort(12)], STAPLEImageFilter())
    band = ConformalBandFilter()
    band.Calibrate(**held._asdict())
    record = band.GetRecord()
    assert (record.reference_kind, record.fusion_method) == ("held-out rater", "staple")
    assert record.rater_count == 4
    assert "covers a new rater, not the truth" in band.GetGuarantee()
    scaling = TemperatureScalingFilter()
    scaling.Calibrate(held.probabilities, held.references, held.raters)
    assert scaling.GetRecord().number == 12


def test_raters_in_different_places_are_refused():
    one, two = image(np.ones((4, 5, 6))), image(np.ones((4, 5, 6)))
    two.SetOrigin((0, 0, 0))
    with pytest.raises(GeometryError, match=r"hold_out_raters: case 0.*origin"):
        hold_out_raters([[one, two]], MajorityVoteFilter())


def test_the_only_label_is_the_foreground_and_of_several_one_is_asked_for():
    drawn = np.zeros((6, 12, 12), np.uint8)
    drawn[2:4, 3:8, 3:8] = 255
    held = hold_out_raters([[image(drawn)] * 3], MajorityVoteFilter())
    np.testing.assert_array_equal(array(held.references[0]), drawn == 255)
    with pytest.raises(InputError, match="foreground 1 occurs in no input; the inputs hold 255"):
        hold_out_raters([[image(drawn)] * 3], MajorityVoteFilter(), foreground=1)
    with pytest.raises(InputError, match=r"raters drew 1, 255; which label is the foreground\?"):
        hold_out_raters([[image(drawn), image(drawn // 255)]], MajorityVoteFilter())


@pytest.mark.parametrize("value", [0.5, np.nan])
def test_what_is_no_label_is_held_out_of_nothing(value: float):
    soft = np.zeros((6, 12, 12), np.float32)
    soft[2:4, 3:8, 3:8] = value
    with pytest.raises(InputError, match="case 0: input 0 must hold whole-number labels"):
        hold_out_raters([[soft] * 3], MajorityVoteFilter())
