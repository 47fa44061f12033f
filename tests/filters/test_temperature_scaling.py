from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
import SimpleITK as sitk
from cohorts import FAST, FULL, array, cohort, columns, image, staple_columns
from scipy.ndimage import distance_transform_edt

from itk_consensus.calibration.conformal_band_filter import ConformalBandFilter
from itk_consensus.calibration.reliability import Reliability
from itk_consensus.calibration.temperature_scaling_filter import TemperatureScalingFilter
from itk_consensus.core.errors import (
    ConsensusWarning,
    FileError,
    GeometryError,
    InputError,
    NotExecutedError,
    ParameterError,
)
from itk_consensus.report.pictures import draw_reliability

METHODS = ("temperature_bias", "temperature", "isotonic")


def fitted(cases, **options):
    scaling = TemperatureScalingFilter(**options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConsensusWarning)
        scaling.Calibrate(*cases)
    return scaling


@pytest.fixture(scope="module")
def staple():
    """Return STAPLE's posteriors of the first cases, with references and raters."""
    return staple_columns(FAST)


# -- purpose -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "number", [24, pytest.param(FULL, marks=pytest.mark.slow)], ids=["fast", "full"]
)
def test_a_temperature_moves_no_voxel_of_the_band(number):
    """A temperature changes every probability, but not their order."""
    cases = staple_columns(number)
    scaling = fitted(cases, Method="temperature")
    assert scaling.GetRecord().scaling.temperature > 1.5
    scaled = [scaling.Execute(p) for p in cases[0]]
    half = number // 2
    before, after = (ConformalBandFilter(Score="probability", Alpha=0.1) for _ in range(2))
    before.Calibrate(cases[0][:half], cases[1][:half])
    after.Calibrate(scaled[:half], cases[1][:half])
    assert before.GetRecord().tau != after.GetRecord().tau
    moved, ambiguous = 0, 0
    for raw, new in zip(cases[0][half:], scaled[half:], strict=True):
        with warnings.catch_warnings():
            # For a small object, the band from the probabilities of STAPLE contains all voxels,
            # which a warning reports.
            warnings.filterwarnings("ignore", "ConformalBandFilter: no voxel", ConsensusWarning)
            band, again = array(before.Execute(raw)), array(after.Execute(new))
        assert before.GetDoubts() == after.GetDoubts()
        moved += np.sum(band != again)
        ambiguous += np.sum(band == 2)
    assert moved == 0
    assert ambiguous > 0


@pytest.mark.parametrize("temperature", [0.4, 3.0])
def test_a_temperature_moves_no_voxel_of_the_band_of_continuous_probabilities_either(temperature):
    """This also holds for underconfident probabilities, which a temperature below 1 sharpens."""
    cases = cohort(10)
    smooth = [
        sitk.Clamp(sitk.SmoothingRecursiveGaussian(c.fraction, 1.5), sitk.sitkFloat64, 0, 1)
        for c in cases
    ]
    truths = [c.truth for c in cases]

    def scaled(p):
        odds = np.log(array(p).clip(1e-6, 1 - 1e-6)) - np.log1p(-array(p).clip(1e-6, 1 - 1e-6))
        return image(1 / (1 + np.exp(-odds / temperature)), np.float64)

    before, after = (
        ConformalBandFilter(Score="probability"),
        ConformalBandFilter(Score="probability"),
    )
    before.Calibrate(smooth, truths)
    after.Calibrate([scaled(p) for p in smooth], truths)
    for p in smooth:
        np.testing.assert_array_equal(array(before.Execute(p)), array(after.Execute(scaled(p))))


def test_bias_repairs_staple_and_a_temperature_alone_does_not(staple):
    assert fitted(staple).GetReport().region_after.class_ece <= 0.015
    worse = TemperatureScalingFilter(Method="temperature")
    with pytest.warns(ConsensusWarning, match=r"Method temperature raised .* from 0\.0\d+ to 0\.0"):
        worse.Calibrate(*staple)


@pytest.mark.slow
def test_the_repair_holds_on_cases_the_fit_has_not_seen():
    seen, unseen = staple_columns(FULL // 2), staple_columns(FULL // 2, first=FULL // 2)
    report = fitted(seen).Evaluate(*unseen)
    assert report.region_after.class_ece <= 0.015 < report.region_before.class_ece
    assert report.image_after.class_ece < report.image_before.class_ece
    assert fitted(seen, Method="isotonic").Evaluate(*unseen).region_after.class_ece <= 0.015
    alone = fitted(seen, Method="temperature").Evaluate(*unseen)
    assert alone.region_after.class_ece > alone.region_before.class_ece


# -- the fit and its data -----------------------------------------------------------------------


def test_report_counts_the_region_and_the_whole_image(staple):
    probabilities, truths, raters = (column[:5] for column in staple)
    scaling = fitted((probabilities, truths, raters), RegionMargin=6.0)
    parts = {"region": [], "image": []}
    for p, truth, masks in zip(probabilities, truths, raters, strict=True):
        union = np.any([array(mask) for mask in masks], axis=0)
        region = distance_transform_edt(~union, sampling=(2.5, 1.0, 1.0)) <= 6.0
        for name, where in (("region", region), ("image", np.ones_like(region))):
            values = array(p)[where]
            parts[name].append(Reliability.of([1 - values, values], array(truth)[where]))
    for name, cases in parts.items():
        expected = sum(cases[1:], cases[0]).summary()
        found = getattr(scaling.GetReport(), f"{name}_before")
        assert found.class_ece == pytest.approx(expected.class_ece)
        assert found.top_label_ece == pytest.approx(expected.top_label_ece)
        assert found.brier == pytest.approx(expected.brier)
        assert found.nll == pytest.approx(expected.nll)


def test_without_raters_the_region_surrounds_the_consensus(staple):
    probabilities, truths, _ = (column[:3] for column in staple)
    scaling = fitted((probabilities, truths), RegionMargin=4.0)
    voxels = 0
    for p in probabilities:
        consensus = array(p) >= 0.5
        voxels += np.sum(distance_transform_edt(~consensus, sampling=(2.5, 1, 1)) <= 4.0)
    assert scaling.GetComparison().region_before.top_curve.counts.sum() == voxels


@pytest.mark.parametrize("method", METHODS)
def test_log_loss_never_rises_where_it_was_fitted(staple, method):
    report = fitted(tuple(column[:10] for column in staple), Method=method).GetReport()
    assert report.region_after.nll <= report.region_before.nll + 1e-9
    assert report.region_after.brier < report.region_before.brier


def test_votes_are_smoothed_before_the_fit():
    cases = columns(cohort(10))
    scaling = fitted(cases, ProbabilityIsVoteFraction=True)
    record = scaling.GetRecord()
    assert record.rater_count == 5
    fractions = array(cases[0][0])
    smoothed = (fractions * 5 + 0.5) / 6
    expected = record.scaling.apply([smoothed])[0]
    np.testing.assert_allclose(array(scaling.Execute(cases[0][0])), expected)


def test_several_labels_are_scaled_together():
    cases = []
    for case in cohort(6):
        f = array(case.fraction)
        left = np.arange(f.shape[2]) < 34
        shares = [1 - f, f * left, f * ~left]
        truth = array(case.truth) * (1 + ~left)
        cases.append(([image(s, np.float64) for s in shares], image(truth)))
    probabilities, truths = (list(column) for column in zip(*cases, strict=True))
    for method in METHODS:
        scaled = fitted((probabilities, truths), Method=method).Execute(probabilities[0])
        assert len(scaled) == 3
        np.testing.assert_allclose(np.sum([array(s) for s in scaled], axis=0), 1)


# -- common behaviour of filters -----------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_a_loaded_scaling_is_the_saved_one(staple, tmp_path, method):
    probabilities, truths, raters = (column[:4] for column in staple)
    scaling = fitted((probabilities, truths, raters), Method=method)
    first, second = tmp_path / "a.json", tmp_path / "b.json"
    scaling.Save(first)
    loaded = TemperatureScalingFilter.Load(first)
    loaded.Save(second)
    assert first.read_bytes() == second.read_bytes()
    assert loaded.GetMethod() == method
    for twin in (loaded, pickle.loads(pickle.dumps(scaling))):
        np.testing.assert_array_equal(
            array(twin.Execute(probabilities[0])), array(scaling.Execute(probabilities[0]))
        )
    assert loaded.GetReport() == scaling.GetReport()


def test_geometry_and_family_are_kept(staple):
    scaling = fitted(tuple(column[:2] for column in staple))
    p = staple[0][0]
    out = scaling.Execute(p)
    assert out.GetPixelID() == sitk.sitkFloat64
    for field in ("Size", "Spacing", "Origin", "Direction"):
        assert getattr(out, f"Get{field}")() == getattr(p, f"Get{field}")()
    assert isinstance(scaling.Execute(array(p)), np.ndarray)


def test_an_image_without_foreground_is_scaled_but_cannot_be_fitted(staple):
    scaling = fitted(tuple(column[:2] for column in staple))
    nothing = staple[0][0] * 0
    assert len(np.unique(array(scaling.Execute(nothing)))) == 1
    with pytest.raises(InputError, match="every reference is empty"):
        TemperatureScalingFilter().Calibrate([nothing], [nothing])


def test_report_is_a_table_of_four_rows(staple):
    lines = str(fitted(tuple(column[:2] for column in staple)).GetReport()).splitlines()
    assert lines[0].split() == ["class", "ece", "top", "label", "ece", "brier", "nll"]
    assert [line[:14].strip() for line in lines[1:]] == [
        "region before",
        "region after",
        "image before",
        "image after",
    ]


def test_reliability_diagram_is_drawn_from_the_comparison(staple, tmp_path):
    pytest.importorskip("matplotlib")
    comparison = fitted(tuple(column[:4] for column in staple)).GetComparison()
    curves = {
        "before": comparison.region_before.label_curves[0],
        "after": comparison.region_after.label_curves[0],
    }
    draw_reliability(tmp_path / "reliability.png", curves, "STAPLE")
    picture = sitk.GetArrayFromImage(sitk.ReadImage(str(tmp_path / "reliability.png")))
    for color in ((0, 114, 178), (230, 159, 0)):
        assert (np.abs(picture[..., :3].astype(int) - color).max(axis=-1) < 8).any()


def test_unusable_inputs_are_named(staple):
    probabilities, truths, raters = (column[:2] for column in staple)
    scaling = TemperatureScalingFilter()
    with pytest.raises(NotExecutedError, match="needs Calibrate or Load first"):
        scaling.Execute(probabilities[0])
    with pytest.raises(NotExecutedError, match="needs Calibrate or Evaluate first"):
        scaling.GetComparison()
    with pytest.raises(InputError, match="at least one case, got none"):
        scaling.Calibrate([], [])
    moved = sitk.Image(truths[1])
    moved.SetSpacing((1, 1, 1))
    with pytest.raises(GeometryError, match=r"reference of case 1 .*spacing"):
        scaling.Calibrate(probabilities, [truths[0], moved], raters)
    with pytest.raises(InputError, match="equally many raters, got 3, 5"):
        scaling.Calibrate(probabilities, truths, [raters[0], raters[1][:3]])
    with pytest.raises(ParameterError, match="ProbabilityIsVoteFraction needs raters"):
        TemperatureScalingFilter(ProbabilityIsVoteFraction=True).Calibrate(probabilities, truths)
    with pytest.raises(ParameterError, match="Method must be one of temperature_bias"):
        TemperatureScalingFilter(Method="platt")


def test_a_scaling_cannot_be_used_for_something_else(staple, tmp_path):
    probabilities = staple[0]
    scaling = fitted(tuple(column[:2] for column in staple))
    with pytest.raises(InputError, match="made with 2 labels, this has 3"):
        scaling.Execute([1 - probabilities[0], probabilities[0], probabilities[0] * 0])
    scaling.Save(tmp_path / "scaling.json")
    with pytest.raises(FileError, match="not a record of the kind 'itk_consensus conformal band'"):
        ConformalBandFilter.Load(tmp_path / "scaling.json")
    scaling.SetMethod("isotonic")
    with pytest.raises(ParameterError, match="made with Method temperature_bias"):
        scaling.Execute(probabilities[0])
