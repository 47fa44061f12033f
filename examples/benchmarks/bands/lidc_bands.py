"""Test whether the guarantee of conformal bands holds on real nodules, and how thick the bands are.

There are 100 LIDC nodules with four radiologists each. One reader per nodule is held out, a
different one from nodule to nodule, and the consensus is the vote of the other three. In each of
100 random splits, 60 nodules are used for calibration and 40 for testing. Needs the shared data
next to the repository.

    python lidc_bands.py [--splits 100] [--record lidc_band.json]

--record also writes the calibration used by band_picture.py: on all nodules except those bundled
with the package, which that script draws.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from examples.benchmarks.run_facts import run_facts
from itk_consensus.calibration.conformal import conformal_threshold
from itk_consensus.calibration.conformal_band_filter import ConformalBandFilter
from itk_consensus.calibration.held_out_rater import HeldOutCohort, hold_out_raters
from itk_consensus.core.errors import ConsensusWarning
from itk_consensus.images import convert
from itk_consensus.images.files import read_image
from itk_consensus.methods.voting.majority_vote_filter import MajorityVoteFilter
from itk_consensus.samples import SAMPLE_NODULES
from itk_consensus.storage.files import write_text

NODULES = Path(__file__).resolve().parents[3] / ".." / "shared" / "data" / "lidc"
ALPHA = 0.1
CALIBRATING = 60
SCORES = {
    "distance, rater spread": {},
    "distance, plain": {"Normalization": "none"},
    "probability": {"Score": "probability"},
}


@dataclass(frozen=True)
class BandResult:
    """Means over splits: share of covered test cases, thickness in mm, and threshold."""

    coverage: float
    thickness: float
    threshold: float


def nodule_files() -> list[Path]:
    """Return the files of the nodules, sorted by patient."""
    return sorted(NODULES.glob("*.nrrd"))


def readers(path: Path) -> list[Any]:
    """Return the four masks of a nodule."""
    loaded = convert.load(read_image(path), owner=path.name)
    return [convert.to_image(mask, loaded) for mask in loaded.arrays if mask is not None]


def held_out_cohort(files: Sequence[Path]) -> HeldOutCohort:
    """Hold out the reader with index (case mod 4), and fuse the other three by voting."""
    return hold_out_raters((readers(path) for path in files), MajorityVoteFilter())


def calibrated(
    cohort: HeldOutCohort, case_ids: Sequence[str], **options: Any
) -> ConformalBandFilter:
    """Return a filter calibrated on the whole cohort."""
    band = ConformalBandFilter(Alpha=ALPHA, **options)
    band.Calibrate(**cohort._asdict(), case_ids=case_ids)
    return band


def splits(cases: int, number: int) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Yield random splits into calibration and test cases."""
    rng = np.random.default_rng(0)
    for _ in range(number):
        order = rng.permutation(cases)
        yield order[:CALIBRATING], order[CALIBRATING:]


def measure(cohort: HeldOutCohort, number_of_splits: int, **options: Any) -> BandResult:
    """Measure coverage and thickness of bands with one kind of score.

    The score of a case does not depend on the split, so each case is scored once. A threshold is
    always one of these scores, so only few different bands need to be computed.
    """
    record = calibrated(
        cohort, [str(i) for i in range(len(cohort.references))], **options
    ).GetRecord()
    scores = np.array(record.case_scores)[:, 0]

    @cache
    def thickness(tau: float) -> NDArray[np.float64]:
        band = ConformalBandFilter.FromRecord(replace(record, tau=(tau,)))
        values = []
        for probability, raters in zip(cohort.probabilities, cohort.raters, strict=True):
            band.Execute(probability, raters)
            values.append(band.BandThickness)
        return np.array(values)

    rows = []
    for calibration, test in splits(len(scores), number_of_splits):
        tau = conformal_threshold(scores[calibration].tolist(), ALPHA)
        rows.append(((scores[test] <= tau).mean(), thickness(tau)[test].mean(), tau))
    return BandResult(*np.mean(rows, axis=0).tolist())


def table(number_of_splits: int) -> dict[str, BandResult]:
    """Return a row for each kind of score."""
    cohort = held_out_cohort(nodule_files())
    with warnings.catch_warnings():
        # such warnings are expected for one in twenty cases
        warnings.simplefilter("ignore", ConsensusWarning)
        return {
            name: measure(cohort, number_of_splits, **options) for name, options in SCORES.items()
        }


def write_record(path: Path) -> None:
    """Calibrate on all nodules except the bundled ones."""
    files = [file for file in nodule_files() if not file.name.startswith(SAMPLE_NODULES)]
    band = calibrated(held_out_cohort(files), [file.stem for file in files])
    record = replace(band.GetRecord(), provenance={"run": run_facts()})
    write_text(path, record.to_json())


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=100)
    parser.add_argument("--record", type=Path)
    arguments = parser.parse_args()
    if not nodule_files():
        raise SystemExit(f"{NODULES} is not there: this example needs the shared data")
    print(f"{'score':<24}{'coverage':>10}{'thickness mm':>14}{'threshold':>11}")
    for name, result in table(arguments.splits).items():
        print(
            f"{name:<24}{result.coverage:>10.3f}{result.thickness:>14.2f}{result.threshold:>11.2f}"
        )
    if arguments.record is not None:
        write_record(arguments.record)


if __name__ == "__main__":
    main()
