"""A record is used as it was written, or refused in one line; whatever was done to it."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
from mutations import MUTATIONS, mutate_bytes, mutate_json

from itk_consensus.calibration.record import LARGEST_RECORD, checksum
from itk_consensus.errors import ConsensusError, ConsensusWarning, FileError
from itk_consensus.filters.conformal_band import ConformalBandFilter
from itk_consensus.filters.temperature_scaling import TemperatureScalingFilter

pytestmark = pytest.mark.filterwarnings("ignore::itk_consensus.errors.ConsensusWarning")
RATERS = 5


def disc(radius, centre=(16, 16)):
    y, x = np.indices((32, 32))
    return ((y - centre[0]) ** 2 + (x - centre[1]) ** 2 <= radius**2).astype(np.uint8)


def flat_cases(number=12):
    """Discs in two dimensions: small, so that thousands of records can be tried."""
    rng = np.random.default_rng(0)
    for _ in range(number):
        truth = disc(rng.uniform(6, 9))
        raters = [disc(rng.uniform(5, 10), rng.uniform(15, 17, 2)) for _ in range(RATERS)]
        yield np.mean(raters, axis=0), truth, raters


CASES = list(flat_cases())


def calibrated(kind, **options):
    filter_ = kind(**options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConsensusWarning)
        filter_.Calibrate(*(list(column) for column in zip(*CASES, strict=True)))
    return filter_


FILTERS = {
    "band": calibrated(ConformalBandFilter),
    "mondrian": calibrated(ConformalBandFilter, Mondrian=True, Score="probability", Risk="fnr"),
    "bias": calibrated(TemperatureScalingFilter),
    "isotonic": calibrated(TemperatureScalingFilter, Method="isotonic"),
    "votes": calibrated(TemperatureScalingFilter, ProbabilityIsVoteFraction=True),
}


@pytest.fixture(params=FILTERS)
def made(request):
    return FILTERS[request.param]


def use(filter_, record):
    """What a record does to a case; the same whatever filter reads it."""
    fraction, _, raters = CASES[0]
    if isinstance(filter_, ConformalBandFilter):
        return type(filter_).FromRecord(record).Execute(fraction, raters)
    return type(filter_).FromRecord(record).Execute(fraction)


def signed(written):
    """With a checksum that is right, so that the schema itself is asked."""
    return json.dumps({**written, "checksum": checksum(written)})


def read(filter_, text):
    try:
        return filter_.record_class.from_json(text, "cal.json")
    except FileError as error:
        message = str(error)
    assert message.startswith("cal.json: ")
    assert "\n" not in message
    return None


def test_a_record_whose_bytes_were_changed_is_refused_or_still_the_same(made):
    record = made.GetRecord()
    for seed in range(MUTATIONS):
        damaged = mutate_bytes(record.to_json().encode(), seed).decode(errors="replace")
        assert read(made, damaged) in (None, record), seed


def test_a_record_whose_fields_were_changed_is_refused(made):
    written = json.loads(made.GetRecord().to_json())
    for seed in range(MUTATIONS):
        mutated = mutate_json(written, seed)
        if json.dumps(mutated) != json.dumps(written):
            assert read(made, json.dumps(mutated)) is None, seed


def test_a_record_with_a_forged_checksum_is_refused_or_gives_sensible_answers(made):
    written = json.loads(made.GetRecord().to_json())
    used = 0
    for seed in range(MUTATIONS):
        mutated = mutate_json(written, seed)
        record = read(made, signed(mutated)) if isinstance(mutated, dict) else None
        if record is None:
            continue
        try:
            answer = use(made, record)
        except ConsensusError:
            continue
        used += 1
        assert np.isfinite(answer).all(), seed
        assert 0 <= answer.min() <= answer.max() <= 3, seed
    assert 0 < used < MUTATIONS


@pytest.mark.parametrize(
    ("field", "value"), [("tau", [0.01]), ("n", 13), ("options", {}), ("guarantee", "Surely.")]
)
def test_an_edited_promise_is_refused(field, value, tmp_path):
    path = tmp_path / "cal.json"
    FILTERS["band"].Save(path)
    path.write_text(json.dumps({**json.loads(path.read_text()), field: value}))
    with pytest.raises(FileError, match=r"cal.json: the record is damaged: it was edited"):
        ConformalBandFilter.Load(path)


def test_a_forged_number_of_cases_is_refused():
    written = json.loads(FILTERS["band"].GetRecord().to_json())
    with pytest.raises(FileError, match="n must be the number of cases, 12, it is 1000"):
        FILTERS["band"].record_class.from_json(signed({**written, "n": 1000}), "cal.json")


@pytest.mark.parametrize("temperature", [float("nan"), 0, -1, 1e-9, 1e9, float("inf"), "1", None])
def test_a_temperature_that_no_fit_gives_is_refused(temperature):
    written = json.loads(FILTERS["bias"].GetRecord().to_json())
    written["scaling"]["temperature"] = temperature
    with pytest.raises(FileError, match=r"scaling.temperature must be a number from"):
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
        with pytest.raises(ConsensusError, match="provenance must hold what JSON can"):
            band.Calibrate(*columns, provenance=provenance)
    band.Calibrate(*columns, provenance={"site": {"ward": [1, 2.5, None, True, "é"]}})
    record = band.GetRecord()
    assert read(band, record.to_json()) == record
