"""The evidence behind "which method when": fusers in every simulated setting and on real readers.

In examples/benchmarks:

python evidence_table.py [--seeds 8]            prints it; without shared data, no real readers
python evidence_table.py --save evidence.json   also keeps it

``make docs`` makes the tables of README and documentation from that file.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from consensus_evidence import (
    FUSERS,
    Fuser,
    Labels,
    Row,
    _filtered,
    all_settings,
    compare,
    crowd_cases,
    reader_rows,
)

import itk_consensus
from itk_consensus.labels.decision_patterns import DecisionPatterns

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
    """One entry per setting: the mean Dice of every fuser."""
    for setting, cases in all_settings(seeds):
        yield _entry(setting, "simulated", compare(cases, NAMES))
    nodules = [row for _, row in reader_rows(NAMES)]
    if nodules:
        means = {n: [float(row[n].ours.mean()) for row in nodules] for n in NAMES}
        dice = {name: sum(values) / len(values) for name, values in means.items()}
        yield {"setting": "LIDC readers", "kind": "real", "cases": len(nodules), "dice": dice}
    crowds = list(crowd_cases())
    if crowds:
        yield _entry("crowd workers", "real", compare(crowds, NAMES))


def _entry(setting: str, kind: str, rows: dict[str, Row]) -> dict[str, Any]:
    dice = {name: float(row.ours.mean()) for name, row in rows.items()}
    return {"setting": setting, "kind": kind, "cases": len(rows["vote"].ours), "dice": dice}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and keep."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=8, help="per setting, from 3000 on")
    parser.add_argument("--save", type=Path, help="file to keep the results in")
    options = parser.parse_args(arguments)
    seeds = range(FIRST_SEED, FIRST_SEED + options.seeds)
    entries = []
    for entry in measured(seeds):
        entries.append(entry)
        print(f"{entry['setting']:24}", *(f"{n} {d:.3f}" for n, d in entry["dice"].items()))
    if options.save is not None:
        kept = {"first_seed": FIRST_SEED, "seeds": options.seeds, "settings": entries}
        options.save.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
