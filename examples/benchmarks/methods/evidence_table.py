"""Compare fusers in every simulated setting and on real readers, for choosing a method.

MODULE is examples.benchmarks.methods.evidence_table:

python -m MODULE [--seeds 20]            prints it; real readers need the shared data
python -m MODULE --save evidence.json   also stores it

From this file, ``make docs`` generates the tables of the README and the documentation.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import itk_consensus
from examples.benchmarks.methods.consensus_evidence import (
    FUSERS,
    Fuser,
    Labels,
    Row,
    _filtered,
    all_settings,
    compare,
    crowd_cases,
    reader_rows,
    slipped_cases,
)
from examples.benchmarks.run_facts import run_facts
from itk_consensus.votes.decision_patterns import DecisionPatterns

FIRST_SEED = 3000
NAMES = ("vote", "smoothed", "corrected", "consensus", "sitk-staple", "staple-advanced")


def _staple(variant: str, patterns: DecisionPatterns, spacing: tuple[float, ...]) -> Labels:
    name = "STAPLEImageFilter" if patterns.number_of_labels == 2 else "MultiLabelSTAPLEImageFilter"
    return _filtered(getattr(itk_consensus, name)(Variant=variant), patterns)


FUSERS |= {
    "sitk-staple": partial(_staple, "basic"),
    "staple-advanced": partial(_staple, "advanced"),
}
_: Fuser = FUSERS["sitk-staple"]


def measured(seeds: Sequence[int]) -> Iterator[dict[str, Any]]:
    """Return the Dice of every fuser and its gain over the vote by setting, real readers first."""
    nodules = [row for _, row in reader_rows(NAMES)]
    if nodules:
        means = {n: _of_nodules(nodules, n) for n in NAMES}
        yield _entry("LIDC readers", "real", means)
    crowds = list(crowd_cases())
    if crowds:
        yield _entry("crowd workers", "real", compare(crowds, NAMES))
    for name, cases in slipped_cases():
        yield _entry(name, "real slips", compare(cases, NAMES))
    for group, setting, cases in all_settings(seeds):
        yield _entry(setting, group, compare(cases, NAMES))


def _of_nodules(nodules: Sequence[dict[str, Row]], name: str) -> Row:
    """Return means over the readers of each nodule."""
    return Row(
        np.array([row[name].ours.mean() for row in nodules]),
        np.array([row[name].vote.mean() for row in nodules]),
    )


def _entry(setting: str, kind: str, rows: dict[str, Row]) -> dict[str, Any]:
    gains = {name: row.ours - row.vote for name, row in rows.items()}
    return {
        "setting": setting,
        "kind": kind,
        "cases": len(rows["vote"].ours),
        "dice": {name: float(row.ours.mean()) for name, row in rows.items()},
        "gain": {name: float(gain.mean()) for name, gain in gains.items()},
        "error": {name: _standard_error(gain) for name, gain in gains.items()},
    }


def _standard_error(values: NDArray[np.float64]) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values)))


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and store the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20, help="per setting, from 3000 on")
    parser.add_argument("--save", type=Path, help="file to keep the results in")
    options = parser.parse_args(arguments)
    seeds = range(FIRST_SEED, FIRST_SEED + options.seeds)
    entries = []
    for entry in measured(seeds):
        entries.append(entry)
        print(f"{entry['setting']:24}", *(f"{n} {d:.3f}" for n, d in entry["dice"].items()))
    if options.save is not None:
        kept = {
            "run": run_facts(),
            "first_seed": FIRST_SEED,
            "seeds": options.seeds,
            "settings": entries,
        }
        options.save.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
