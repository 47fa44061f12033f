from __future__ import annotations

import numpy as np
import pytest
import SimpleITK as sitk
from cohorts import array, cohort, columns, image

from itk_consensus.calibration.conformal import conformal_threshold
from itk_consensus.calibration.conformal_band_filter import ConformalBandFilter
from itk_consensus.calibration.conformal_margin_filter import ConformalMarginFilter
from itk_consensus.calibration.held_out_rater import hold_out_raters
from itk_consensus.core.errors import ConsensusWarning, FileError, InputError, ParameterError
from itk_consensus.methods.voting.majority_vote_filter import MajorityVoteFilter

# Warnings about individual cases occur by chance in one of ten cases; they are tested separately.
pytestmark = [
    pytest.mark.filterwarnings("ignore:.*of the calibration cases:UserWarning"),
    pytest.mark.filterwarnings("ignore:.*of no use here:UserWarning"),
]

N = 20


def calibrated(cases, **options):
    margin = ConformalMarginFilter(**options)
    margin.Calibrate(*columns(cases))
    return margin


@pytest.fixture(scope="module")
def margin():
    return calibrated(cohort(N))


def test_the_widened_consensus_covers_a_case_exactly_when_the_margin_reaches_its_score(margin):
    tests = cohort(10, first=N)
    (mm,) = margin.GetRecord().tau
    scores = [score for (score,) in calibrated(tests).GetRecord().case_scores]
    for case, score in zip(tests, scores, strict=True):
        codes = array(margin.Execute(case.fraction, case.raters))
        assert set(np.unique(codes)) == {0, 1, 2}
        np.testing.assert_array_equal(codes == 1, array(case.fraction) >= 0.5)
        assert (codes[array(case.truth) != 0] != 0).all() == (score <= mm)


def test_the_widened_consensus_is_what_simpleitk_finds_within_so_many_mm(margin):
    case = cohort(1, first=N)[0]
    codes = array(margin.Execute(case.fraction, case.raters))
    consensus = sitk.Cast(case.fraction >= 0.5, sitk.sitkUInt8)
    distance = sitk.SignedMaurerDistanceMap(
        consensus, insideIsPositive=False, squaredDistance=False, useImageSpacing=True
    )
    # Maurer's distance outside is measured from the mask's outermost voxels, whose distance is 0.
    within = (array(distance) <= margin.GetRecord().tau[0]) | (array(consensus) != 0)
    assert np.mean((codes != 0) == within) > 0.9999


def test_inward_and_both_mark_a_certain_core():
    case = cohort(1, first=N)[0]
    consensus = array(case.fraction) >= 0.5
    for direction in ("inward", "both"):
        made = calibrated(cohort(N), Direction=direction)
        codes = array(made.Execute(case.fraction, case.raters))
        assert (codes == 1).sum() < consensus.sum()
        assert ((codes != 0) == consensus).all() == (direction == "inward")
        assert made.GetAmbiguousVolume() == (codes == 2).sum() * 2.5
        assert made.GetBandThickness() > 0


def test_the_promise_is_one_sentence_with_the_margin_in_it(margin):
    (mm,) = margin.GetRecord().tau
    words = ["20 calibration cases", "at least 90%", f"within {mm:.3g} mm of the consensus"]
    assert all(word in margin.GetGuarantee() for word in words)
    assert margin.GetGuarantee().endswith("can see an error that all of them share.")
    both = calibrated(cohort(N), Direction="both", CoveredShare=0.99, CraniocaudalRatio=2.0)
    (mm,) = both.GetRecord().tau
    assert f"at least 99% of the true foreground lies within {mm:.3g} mm" in both.GetGuarantee()
    assert f"({2 * mm:.3g} mm along the patient)" in both.GetGuarantee()
    assert "but for at most 1% of the consensus" in both.GetGuarantee()


def test_a_margin_of_99_percent_is_narrower(margin):
    loose = calibrated(cohort(N), CoveredShare=0.99)
    assert loose.GetRecord().tau < margin.GetRecord().tau


def test_held_out_raters_calibrate_and_the_promise_names_them():
    held = hold_out_raters([case.raters for case in cohort(12)], MajorityVoteFilter())
    margin = ConformalMarginFilter()
    margin.Calibrate(**held._asdict())
    assert "covers a new rater, not the truth" in margin.GetGuarantee()
    with pytest.raises(ParameterError, match="made with rater_count 4, this is 5"):
        margin.Execute(cohort(1)[0].fraction, cohort(1)[0].raters)


def test_beside_the_margin_stands_the_width_of_a_band_with_the_same_promise(margin):
    """The band is calibrated on the foreground only, without tolerance, in units of the spread of
    the raters.
    """
    record = margin.GetRecord()
    band = ConformalBandFilter(Risk="max", Mondrian=True)
    band.Calibrate(*columns(cohort(N)))
    scores = [foreground for _, foreground in band.GetRecord().case_scores]
    tau = max(conformal_threshold(scores, 0.1), 0.0)
    spreads = [case.spread_mm[1] for case in band.GetRecord().cases]
    widths = record.band_widths()
    assert widths.mean == pytest.approx(tau * np.mean(spreads))
    assert widths.narrowest < widths.mean < widths.widest
    without = ConformalMarginFilter()
    without.Calibrate(*columns(cohort(N))[:2])
    assert without.GetRecord().tau == record.tau
    assert without.GetRecord().band_widths() is None


def test_each_label_has_a_margin_of_its_own():
    def labels(case):
        """Return the case with two labels: slabs of the true mask along x."""
        truth, share = array(case.truth) != 0, array(case.fraction)
        left = np.arange(truth.shape[2]) < 34
        return (
            [image(p, np.float64) for p in (1 - share, share * left, share * ~left)],
            image(truth * np.where(left, 1, 2)),
        )

    cases = [labels(case) for case in cohort(N)]
    margin = ConformalMarginFilter()
    margin.Calibrate([p for p, _ in cases], [truth for _, truth in cases])
    record = margin.GetRecord()
    assert len(record.tau) == 2
    assert "each of the true labels" in record.guarantee
    assert "separately" in record.guarantee
    covered = []
    for (probabilities, truth), scores in zip(cases, record.case_scores, strict=True):
        bits, labels_ = array(margin.Execute(probabilities)), array(truth)
        for label in (1, 2):
            held = (bits[labels_ == label] & (1 << label) != 0).all()
            assert held == (scores[label - 1] <= record.tau[label - 1])
            covered.append(held)
    assert np.mean(covered) >= 0.9
    assert array(margin.GetSetSizeImage()).max() >= 2


def test_empty_consensuses_count_as_not_covered():
    fractions, truths, raters = columns(cohort(N))
    nothing = image(np.zeros((28, 68, 68)), np.float64)
    margin = ConformalMarginFilter()
    margin.Calibrate([nothing, *fractions[1:]], truths, raters)
    assert margin.GetRecord().case_scores[0] == (np.inf,)
    assert np.isfinite(margin.GetRecord().tau[0])
    with pytest.raises(
        InputError, match=r"no margin covers enough cases: in 3 of 20 the consensus"
    ):
        margin.Calibrate([*[nothing] * 3, *fractions[3:]], truths, raters)
    margin = calibrated(cohort(N))
    margin.SetWithoutPromise(True)
    with pytest.warns(ConsensusWarning, match="consensus is empty"):
        marked = margin.Execute(nothing)
    assert not array(marked).any()


def test_the_consensus_cannot_be_its_own_reference():
    fractions, _, raters = columns(cohort(10))
    circular = [sitk.Cast(fraction >= 0.5, sitk.sitkUInt8) for fraction in fractions]
    with pytest.raises(InputError, match="every reference equals its consensus"):
        ConformalMarginFilter().Calibrate(fractions, circular, raters)


def test_options_that_do_not_fit_are_refused(margin, tmp_path):
    with pytest.raises(InputError, match=r"Alpha 0.05 needs at least 19 calibration cases, got 10"):
        calibrated(cohort(10), Alpha=0.05)
    flat = [fraction[:, :, 14] for fraction in columns(cohort(10))[0]]
    with pytest.raises(ParameterError, match="CraniocaudalRatio must be 1 for 2D images, got 2"):
        ConformalMarginFilter(CraniocaudalRatio=2.0).Calibrate(flat, [one > 0.5 for one in flat])
    margin.Save(tmp_path / "margin.json")
    with pytest.raises(
        FileError, match="is not a record of the kind 'itk_consensus conformal band'"
    ):
        ConformalBandFilter.Load(tmp_path / "margin.json")
    loaded = ConformalMarginFilter.Load(tmp_path / "margin.json")
    assert loaded.GetRecord() == margin.GetRecord()
    loaded.SetDirection("both")
    with pytest.raises(ParameterError, match="made with direction outward, this is both"):
        loaded.Execute(cohort(1)[0].fraction)


def test_a_margin_notices_readers_who_copy_each_other(margin):
    case = cohort(1, first=N)[0]
    copies = [case.raters[0]] * len(case.raters)
    margin.Execute(case.fraction, copies)
    assert any("closer than in" in doubt for doubt in margin.GetDoubts())


def test_a_margin_calibrated_without_raters_has_no_doubts_about_them():
    cases = cohort(N)
    made = ConformalMarginFilter()
    made.Calibrate([case.fraction for case in cases], [case.truth for case in cases])
    made.Execute(cases[0].fraction, [cases[0].raters[0]] * len(cases[0].raters))
    assert made.GetDoubts() == ()
