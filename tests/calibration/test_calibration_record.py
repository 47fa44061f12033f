from __future__ import annotations

import json
from dataclasses import replace
from math import inf

import numpy as np
import pytest

from itk_consensus.calibration.band_record import BandRecord
from itk_consensus.calibration.conformal import (
    HELD_OUT_RATER,
    TRUTH,
    BandOptions,
    case_score,
    find_thresholds,
    guarantee,
)
from itk_consensus.calibration.conformal_record import CaseRecord, hash_id
from itk_consensus.calibration.scores import ScoreDistribution
from itk_consensus.core.errors import FileError
from itk_consensus.storage.record import SCHEMA_VERSION, checksum

OPTIONS = BandOptions(
    0.1, 0.05, "case", "miscoverage", "distance", "rater_spread", False, 10.0, False
)


@pytest.fixture
def record():
    return BandRecord(
        options=OPTIONS,
        tau=(0.1 + 0.2,),
        number=2,
        labels=2,
        coverage_range=(1 / 3, 0.9),
        cases=(
            CaseRecord(hash_id("a"), (1 / 7,), (2.5, 2.5)),
            CaseRecord(hash_id("b"), (inf,), (1e-17, 3.0)),
        ),
        probability_kinds=("vote fractions",),
        reference_kind=TRUTH,
        rater_count=5,
        fusion_method="staple",
        spacing_range=((0.7, 0.9), (1.0, 1.0)),
        provenance={"hospital": "Zürich"},
        versions={"itk_consensus": "0.1.0"},
    )


def test_a_record_survives_json_bit_by_bit(record):
    text = record.to_json()
    again = BandRecord.from_json(text, "cal.json")
    assert again == record
    assert again.to_json() == text


def test_a_record_is_plain_json_that_opens_with_its_promise(record):
    fields = json.loads(record.to_json(), parse_constant=pytest.fail)
    assert list(fields)[:5] == ["schema", "schema_version", "guarantee", "tau", "n"]
    assert fields["cases"][1]["score"] == ["inf"]
    assert len(record.to_json().splitlines()[-4].split(",")) > 3  # one case per line


def test_case_ids_cannot_be_read_from_a_record(record):
    assert hash_id("patient Smith") not in record.to_json()
    assert "Smith" not in hash_id("patient Smith")
    assert hash_id("a") != hash_id("b")


def edited(record, **fields):
    """Return an edited record with a recomputed checksum."""
    written = {**json.loads(record.to_json()), **fields}
    return json.dumps({**written, "checksum": checksum(written)})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema_version": SCHEMA_VERSION + 1}, "schema version 2, .* update itk_consensus"),
        ({"schema_version": 0}, "schema version 0; .* cannot be migrated; calibrate again"),
        ({"schema_version": None}, "schema version None; .* calibrate again"),
        ({"schema": "something else"}, f"not a record of the kind '{BandRecord.schema}'"),
        ({"cases": [{"id": "x"}]}, r"record is damaged: cases\[0\] lacks 'score'"),
        ({"tau": ["high"]}, r"record is damaged: tau\[0\] must be a number.*, got 'high'"),
        ({"tau": ["inf"]}, r"record is damaged: tau\[0\] must be a number.*, got 'inf'"),
        ({"tau": [1.0, 2.0, 3.0]}, "record is damaged: tau must be one, .* got"),
        ({"options": {"alpha": 0.1}}, "record is damaged: options lacks 'mondrian'"),
    ],
)
def test_an_unusable_record_says_why(record, change, message):
    with pytest.raises(FileError, match=f"cal.json: .*{message}"):
        BandRecord.from_json(edited(record, **change), "cal.json")


def test_text_that_is_no_json_says_so():
    with pytest.raises(FileError, match=r"cal.json: is not JSON: .* line 1"):
        BandRecord.from_json("tau = 3", "cal.json")
    with pytest.raises(FileError, match="not a record"):
        BandRecord.from_json("[1, 2]", "cal.json")


# -- thresholds and guarantees --------------------------------------------------------------------


def uniform_cases(number, seed=0):
    rng = np.random.default_rng(seed)
    return [
        [ScoreDistribution.of(rng.normal(rng.normal(), 1, 400)) for _ in range(2)]
        for _ in range(number)
    ]


def test_a_covered_case_misses_no_more_than_its_tolerances():
    for case in uniform_cases(30):
        score = case_score(case, [0, 1], OPTIONS)
        assert case[1].missed_share(score) <= 0.05
        assert case[0].missed_share(score) <= 0.0125
        just_below = np.nextafter(score, -inf)
        assert case[1].missed_share(just_below) > 0.05 or case[0].missed_share(just_below) > 0.0125


def test_max_tolerates_no_miss():
    case = uniform_cases(1)[0]
    score = case_score(case, [0, 1], replace(OPTIONS, risk="max"))
    assert score == max(label.values[-1] for label in case)


@pytest.mark.parametrize("risk", ["miscoverage", "fnr", "max"])
@pytest.mark.parametrize("unit", ["case", "voxel"])
def test_mondrian_gives_each_label_the_threshold_of_its_own_scores(unit, risk):
    options = replace(OPTIONS, unit=unit, risk=risk)
    cases = uniform_cases(30)
    both = find_thresholds(cases, replace(options, mondrian=True))
    for label in (0, 1):
        alone = [[case[label]] for case in cases]
        # A single label is assigned the tolerance of label 0; scale the option so that the
        # tolerances are equal.
        tolerance = options.label_tolerance(label) * 4
        single = find_thresholds(alone, replace(options, tolerance=tolerance))
        assert both.tau[label] == single.tau[0]
    assert all(len(scores) == 2 for scores in both.case_scores)


def test_voxels_are_pooled_over_cases():
    cases = uniform_cases(3)
    found = find_thresholds(cases, replace(OPTIONS, unit="voxel"))
    every = np.sort(
        np.concatenate(
            [np.repeat(d.values, np.diff(d.cumulative, prepend=0)) for c in cases for d in c]
        )
    )
    assert found.number == len(every)
    assert found.tau == (every[int(np.ceil(0.9 * (len(every) + 1))) - 1],)
    assert found.coverage_range is None


@pytest.mark.parametrize(
    ("change", "number", "labels", "kind", "words"),
    [
        ({}, 60, 2, TRUTH, ["60 calibration cases", "at least 90%", "95% of the true foreground",
                            "98.75% of the true background within 10 mm"]),
        ({}, 60, 2, HELD_OUT_RATER, ["a new rater's foreground"]),
        ({"risk": "fnr"}, 40, 2, TRUTH, ["on average at most 10% of the true foreground"]),
        ({"risk": "max"}, 40, 2, TRUTH, ["all of the true foreground"]),
        ({"mondrian": True}, 40, 2, TRUTH, ["each with this chance, separately"]),
        ({}, 40, 5, TRUTH, ["each of the true labels"]),
        ({"alpha": 0.05, "tolerance": 0.1}, 40, 2, TRUTH, ["at least 95% that", "90% of the true",
                                                           "97.5% of the true background"]),
    ],
)  # fmt: skip
def test_the_promise_is_one_sentence_that_says_it_all(change, number, labels, kind, words):
    sentence = guarantee(replace(OPTIONS, **change), number, labels, kind)
    assert all(word in sentence for word in words)
    assert sentence.count(". ") == 0
    assert sentence.endswith("can see an error that all of them share.")


def test_voxels_promise_nothing_about_a_case():
    sentence = guarantee(replace(OPTIONS, unit="voxel"), 10_000, 2, TRUTH)
    assert "promises nothing about any single case" in sentence
