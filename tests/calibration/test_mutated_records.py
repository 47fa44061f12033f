"""A modified record is either used as written or rejected with a one-line error."""

from __future__ import annotations

import json

import pytest
from damaged_files import (
    CASES,
    RECORDS,
    calibrated,
    check_bytes_of_record,
    check_fields_of_record,
    check_forged_record,
    read,
    signed,
)
from mutations import MUTATIONS

from itk_consensus.calibration.conformal_band_filter import ConformalBandFilter
from itk_consensus.core.errors import ConsensusError, FileError
from itk_consensus.storage.record import LARGEST_RECORD

pytestmark = pytest.mark.filterwarnings("ignore::itk_consensus.core.errors.ConsensusWarning")
FILTERS = {name: calibrated(name) for name in RECORDS}


@pytest.fixture(params=FILTERS)
def made(request):
    return FILTERS[request.param]


def test_a_record_whose_bytes_were_changed_is_refused_or_still_the_same(made):
    for seed in range(MUTATIONS):
        check_bytes_of_record(made, seed)


def test_a_record_whose_fields_were_changed_is_refused(made):
    for seed in range(MUTATIONS):
        check_fields_of_record(made, seed)


def test_a_record_with_a_forged_checksum_is_refused_or_gives_sensible_answers(made):
    outcomes = [check_forged_record(made, seed) for seed in range(MUTATIONS)]
    assert set(outcomes) == {"answered", "refused"}


@pytest.mark.parametrize(
    ("field", "value"), [("tau", [0.01]), ("n", 13), ("options", {}), ("guarantee", "Surely.")]
)
def test_an_edited_promise_is_refused(field, value, tmp_path):
    path = tmp_path / "cal.json"
    FILTERS["band"].Save(path)
    path.write_text(json.dumps({**json.loads(path.read_text()), field: value}))
    with pytest.raises(FileError, match=r"cal.json: the record was edited or damaged"):
        ConformalBandFilter.Load(path)


def test_a_forged_number_of_cases_is_refused():
    written = json.loads(FILTERS["band"].GetRecord().to_json())
    with pytest.raises(FileError, match="n must be the number of cases, 12, got 1000"):
        FILTERS["band"].record_class.from_json(signed({**written, "n": 1000}), "cal.json")


@pytest.mark.parametrize("temperature", [float("nan"), 0, -1, 1e-9, 1e9, float("inf"), "1", None])
def test_a_temperature_that_no_fit_gives_is_refused(temperature):
    written = json.loads(FILTERS["bias"].GetRecord().to_json())
    written["scaling"]["temperature"] = temperature
    with pytest.raises(FileError, match=r"temperature must be a number >= 0.0099 and"):
        FILTERS["bias"].record_class.from_json(signed(written), "scaling.json")


def test_a_curve_that_falls_is_refused():
    written = json.loads(FILTERS["isotonic"].GetRecord().to_json())
    written["scaling"]["values"][1].reverse()
    with pytest.raises(FileError, match=r"scaling.knots and values must rise"):
        FILTERS["isotonic"].record_class.from_json(signed(written), "scaling.json")


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, "{" * 100_000, '{"schema":' * 50_000, "9" * 10_000, "", "\0", "NaN"],
    ids=["lists", "objects", "members", "digits", "empty", "nul", "nan"],
)
def test_what_is_no_record_ends_in_one_line(made, text):
    assert read(made, text) is None


def test_a_record_of_any_size_is_not_read(made):
    assert read(made, " " * (LARGEST_RECORD + 1)) is None


def test_provenance_may_be_anything_that_json_holds_but_not_endless():
    band = ConformalBandFilter()
    columns = [list(column) for column in zip(*CASES, strict=True)]
    nested: list = []
    for _ in range(5000):
        nested = [nested]
    for provenance in (
        {"site": nested},
        {"site": float("nan")},
        {1: 2},
        {"rater_count": "five"},
        {"site": "\ud800"},
        {"site": 10**9999},
    ):
        with pytest.raises(ConsensusError, match="provenance must hold only values that JSON"):
            band.Calibrate(*columns, provenance=provenance)
    band.Calibrate(*columns, provenance={"site": {"ward": [1, 2.5, None, True, "é"]}})
    record = band.GetRecord()
    assert read(band, record.to_json()) == record
