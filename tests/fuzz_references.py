"""Random calibrations whose references are masks, or are mistaken for masks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from itk_consensus.calibration.conformal_band_filter import ConformalBandFilter
from itk_consensus.calibration.conformal_margin_filter import ConformalMarginFilter
from itk_consensus.calibration.cut_calibration_filter import CutCalibrationFilter
from itk_consensus.core.errors import ConsensusError

Array = np.ndarray[Any, Any]
#: Possible faults of a reference; None for no fault.
FAULTS = (None, "fraction", "NaN", "negative", "organs", "empty", "again", "circular", "swapped")
#: With these faults of the references, a calibration must raise an error.
REFUSED = {"fraction", "NaN", "negative", "organs", "again", "swapped"}


def check_references(rng: np.random.Generator, _folder: Path) -> str:
    """Calibrate; invalid references must be rejected with an error of this package."""
    kinds = (ConformalBandFilter, ConformalMarginFilter, CutCalibrationFilter)
    kind = kinds[rng.integers(len(kinds))]
    filter_ = kind(Normalization="none") if kind is ConformalBandFilter else kind()
    cases = [_case(rng) for _ in range(int(rng.integers(10, 16)))]
    probabilities, references = map(list, zip(*cases, strict=True))
    fault = FAULTS[rng.integers(len(FAULTS))]
    _spoil(rng, fault, probabilities, references)
    try:
        filter_.Calibrate(probabilities, references)
    except ConsensusError as error:
        if not (fault is not None):
            raise AssertionError(f"a sound cohort is refused: {error}") from error
        return "refused"
    assert fault not in REFUSED, f"references with the fault {fault!r} are accepted"
    return "answered"


def _case(rng: np.random.Generator) -> tuple[Array, Array]:
    place = np.indices((6, 14, 14)) - rng.uniform((2, 5, 5), (4, 8, 8))[:, None, None, None]
    away = np.sqrt((place**2).sum(axis=0))
    probability = 1 / (1 + np.exp(2 * (away - 3.2)))
    return probability.astype(np.float32), (away < rng.uniform(2.6, 3.8)).astype(np.uint8)


def _spoil(
    rng: np.random.Generator, fault: str | None, probabilities: list[Array], references: list[Array]
) -> None:
    which = int(rng.integers(len(references)))
    place = tuple(rng.integers(0, references[which].shape).tolist())
    values = {"fraction": rng.uniform(0.1, 0.9), "NaN": np.nan, "negative": -1, "organs": 7}
    if fault in values:
        references[which] = references[which].astype(np.float32)
        references[which][place] = values[fault]
    elif fault == "empty":
        references[which] = np.zeros_like(references[which])
    elif fault == "again":
        other = (which + 1) % len(references)
        probabilities[which], references[which] = probabilities[other], references[other]
    elif fault == "circular":
        references[which] = (probabilities[which] >= 0.5).astype(np.uint8)
    elif fault == "swapped":
        probabilities[:], references[:] = (
            [one.astype(np.float32) for one in references],
            list(probabilities),
        )
