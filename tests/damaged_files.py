"""Damaged records and models, and checks that hold for any damage.

A file is either used as it was written or rejected with a one-line error. If its checksum was
recomputed, so that all other checks apply, it is either rejected or gives valid results.
"""

from __future__ import annotations

import functools
import json
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from mutations import mutate_bytes, mutate_json

from itk_consensus.calibration.conformal_band_filter import ConformalBandFilter
from itk_consensus.calibration.conformal_margin_filter import ConformalMarginFilter
from itk_consensus.calibration.cut_calibration_filter import CutCalibrationFilter
from itk_consensus.calibration.temperature_scaling_filter import TemperatureScalingFilter
from itk_consensus.core.errors import ConsensusError, ConsensusWarning, FileError
from itk_consensus.deep.deep_consensus_filter import DeepConsensusFilter
from itk_consensus.simulation.deep_phantoms import easy_cohort
from itk_consensus.storage.record import checksum

RATERS = 5
RECORDS: dict[str, tuple[type[Any], dict[str, Any]]] = {
    "band": (ConformalBandFilter, {}),
    "mondrian": (
        ConformalBandFilter,
        {"Mondrian": True, "Score": "probability", "Risk": "fnr"},
    ),
    "margin": (ConformalMarginFilter, {"Direction": "both"}),
    "cut": (CutCalibrationFilter, {}),
    "bias": (TemperatureScalingFilter, {}),
    "isotonic": (TemperatureScalingFilter, {"Method": "isotonic"}),
    "votes": (TemperatureScalingFilter, {"ProbabilityIsVoteFraction": True}),
}


# -- records -----------------------------------------------------------------------------------


def disc(radius: float, centre: Any = (16, 16)) -> np.ndarray:
    y, x = np.indices((32, 32))
    return ((y - centre[0]) ** 2 + (x - centre[1]) ** 2 <= radius**2).astype(np.uint8)


def flat_cases(number: int = 12) -> Iterator[tuple[np.ndarray, np.ndarray, list[np.ndarray]]]:
    """Return two-dimensional discs, small enough that thousands of records can be tested."""
    rng = np.random.default_rng(0)
    for _ in range(number):
        truth = disc(rng.uniform(6, 9))
        raters = [disc(rng.uniform(5, 10), rng.uniform(15, 17, 2)) for _ in range(RATERS)]
        yield np.mean(raters, axis=0), truth, raters


CASES = list(flat_cases())


@functools.cache
def calibrated(name: str) -> Any:
    """Return one of `RECORDS`, calibrated."""
    kind, options = RECORDS[name]
    filter_ = kind(**options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConsensusWarning)
        filter_.Calibrate(*(list(column) for column in zip(*CASES, strict=True)))
    return filter_


def use(filter_: Any, record: Any) -> Any:
    """Return the result of a record on a case, which does not depend on the filter that reads
    it.
    """
    fraction, _, raters = CASES[0]
    if isinstance(filter_, (ConformalBandFilter, ConformalMarginFilter)):
        return type(filter_).FromRecord(record).Execute(fraction, raters)
    return type(filter_).FromRecord(record).Execute(fraction)


def signed(written: dict[str, Any]) -> str:
    """Add a correct checksum, so that the schema is checked."""
    return json.dumps({**written, "checksum": checksum(written)})


def read(filter_: Any, text: str) -> Any:
    """Return the record, or None if it was rejected in one line."""
    try:
        return filter_.record_class.from_json(text, "cal.json")
    except FileError as error:
        message = str(error)
    assert message.startswith("cal.json: ")
    assert "\n" not in message
    return None


def check_bytes_of_record(filter_: Any, seed: int) -> str:
    record = filter_.GetRecord()
    damaged = mutate_bytes(record.to_json().encode(), seed).decode(errors="replace")
    found = read(filter_, damaged)
    assert found in (None, record), "a damaged record is read as another"
    return "refused" if found is None else "unharmed"


def check_fields_of_record(filter_: Any, seed: int) -> str:
    written = json.loads(filter_.GetRecord().to_json())
    mutated = mutate_json(written, seed)
    if json.dumps(mutated) == json.dumps(written):
        return "unharmed"
    assert read(filter_, json.dumps(mutated)) is None, "an edited record is read"
    return "refused"


def check_forged_record(filter_: Any, seed: int) -> str:
    mutated = mutate_json(json.loads(filter_.GetRecord().to_json()), seed)
    record = read(filter_, signed(mutated)) if isinstance(mutated, dict) else None
    if record is None:
        return "refused"
    try:
        answer = use(filter_, record)
    except ConsensusError:
        return "refused"
    assert np.isfinite(answer).all(), "an answer is not finite"
    assert 0 <= answer.min() <= answer.max() <= 3, "an answer is out of range"
    return "answered"


# -- models ------------------------------------------------------------------------------------


@functools.cache
def model_bytes() -> bytes:
    """Return a model after a very short training."""
    cohort = easy_cohort(10, 0, shape=(24, 28))
    quick = {"NumberOfIterations": 12, "NumberOfChannels": 4, "BatchSize": 4}
    filter_ = DeepConsensusFilter(NumberOfThreads=1, **quick)
    labels = [[rater.astype(np.uint8) for rater in case] for case in cohort.labels]
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore", ConsensusWarning)
        filter_.Fit(list(cohort.images[:, 0]), labels, list(cohort.truths.astype(np.uint8)))
        filter_.Save(Path(folder, "model"))
        return Path(folder, "model").read_bytes()


def load_model(contents: bytes) -> DeepConsensusFilter:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model")
        path.write_bytes(contents)
        return DeepConsensusFilter(NumberOfThreads=1).Load(path)


def check_bytes_of_model(seed: int) -> str:
    damaged = mutate_bytes(model_bytes(), seed)
    if damaged == model_bytes():
        return "unharmed"
    try:
        load_model(damaged)
    except FileError:
        return "refused"
    raise AssertionError("a damaged model is loaded")


def check_forged_model(seed: int) -> str:
    from itk_consensus.deep.weights import pack, unpack

    rng = np.random.default_rng(seed)
    tensors, description = unpack(model_bytes(), "model")
    name = list(tensors)[rng.integers(len(tensors))]
    factor = rng.choice([-1, 0, 1e6, 1e30, np.inf, np.nan])
    with np.errstate(all="ignore"):
        changed = (tensors[name] * factor).astype(tensors[name].dtype)
    told = mutate_json(description, seed) if seed % 2 else description
    cohort = easy_cohort(10, 0, shape=(24, 28))
    labels = [rater.astype(np.uint8) for rater in cohort.labels[0]]
    try:
        filter_ = load_model(pack({**tensors, name: changed}, told))
        filter_.Execute(cohort.images[0, 0], labels)
    except ConsensusError:
        return "refused"
    probabilities = [filter_.GetProbabilityImage(label) for label in filter_.GetLabels()]
    np.testing.assert_allclose(np.sum(probabilities, axis=0), 1, atol=1e-5)
    assert np.isfinite(list(filter_.GetRaterReliability().values())).all()
    return "answered"


def check_damage(seed: int) -> str:
    """Damage a record or, every fifth time, a model; return "refused", "answered" or "unharmed"."""
    if seed % 5 == 4:
        return [check_bytes_of_model, check_forged_model][seed // 5 % 2](seed)
    filter_ = calibrated(list(RECORDS)[seed // 5 % len(RECORDS)])
    checks = [check_bytes_of_record, check_fields_of_record, check_forged_record]
    return checks[seed % len(checks)](filter_, seed)
