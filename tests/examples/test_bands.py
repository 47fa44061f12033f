from __future__ import annotations

import importlib
import json
from pathlib import Path

import numpy as np
import pytest
import SimpleITK as sitk

from itk_consensus.calibration.conformal_band_filter import ConformalBandFilter
from itk_consensus.samples import SAMPLE_NODULES

BENCHMARKS = Path(__file__).resolve().parents[2] / "examples" / "benchmarks"


def example(name):
    return importlib.import_module(f"examples.benchmarks.bands.{name}")


@pytest.fixture(scope="module")
def bands(shared_data):
    module = example("lidc_bands")
    if not module.nodule_files():
        pytest.skip("the shared nodules are not beside this repository")
    return module


def test_bands_of_real_nodules_cover_a_new_reader_quickly(bands):
    cohort = bands.held_out_cohort(bands.nodule_files())
    scores = np.array(
        bands.calibrated(cohort, [str(i) for i in range(100)]).GetRecord().case_scores
    )[:, 0]
    covered = [
        np.mean(scores[test] <= bands.conformal_threshold(scores[cal].tolist(), bands.ALPHA))
        for cal, test in bands.splits(len(scores), 100)
    ]
    assert 0.86 <= np.mean(covered) <= 0.96


@pytest.mark.slow
def test_spread_normalisation_makes_bands_of_real_nodules_thinner(bands):
    rows = bands.table(100)
    normalised, plain, probability = rows.values()
    for row in (normalised, plain):
        assert 0.86 <= row.coverage <= 0.96
    assert normalised.thickness < plain.thickness < probability.thickness


def test_the_checked_in_calibration_is_the_one_the_example_writes(bands, tmp_path):
    bands.write_record(tmp_path / "record.json")
    ours, theirs = (
        json.loads(path.read_text())
        for path in (tmp_path / "record.json", BENCHMARKS / "bands" / "lidc_band.json")
    )
    assert ours["tau"] == pytest.approx(theirs["tau"])
    for changing in (
        "tau",
        "versions",
        "cases",
        "true_coverage_10_to_90_percent",
        "provenance",
        "checksum",
    ):
        ours.pop(changing), theirs.pop(changing)
    assert ours == theirs


def test_the_picture_shows_four_readers_a_consensus_and_a_band(tmp_path):
    pytest.importorskip("matplotlib")
    said = example("band_picture").draw("LIDC-IDRI-0023", tmp_path / "band.png")
    assert said.startswith("In a new case drawn like the 97 calibration cases")
    picture = sitk.GetArrayFromImage(sitk.ReadImage(str(tmp_path / "band.png")))[..., :3].astype(
        int
    )
    readers = ((0, 114, 178), (230, 159, 0), (0, 158, 115), (204, 121, 167))
    consensus, certain, ambiguous = (17, 17, 17), (201, 205, 210), (250, 236, 160)
    for color in (*readers, consensus, certain, ambiguous):
        assert (np.abs(picture - color).max(axis=-1) < 8).any()


def test_the_pictured_nodules_took_no_part_in_the_calibration():
    record = ConformalBandFilter.Load(BENCHMARKS / "bands" / "lidc_band.json").GetRecord()
    assert record.number == 100 - len(SAMPLE_NODULES)
    assert record.rater_count == 3


@pytest.mark.slow
@pytest.mark.parametrize("name", ["band", "margin"])
def test_copies_and_rough_readers_are_noticed_and_others_hardly_ever(name):
    found = dict(example("other_readers").noticed(name, 3900, 20))
    assert found["copies"].doubted >= 0.9
    assert found["rough"].doubted >= 0.9
    assert found["unchanged"].doubted <= 0.15
