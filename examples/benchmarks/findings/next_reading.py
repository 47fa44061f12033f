"""Test whether an additional reading changes more in cases with a larger expected change.

Each reader of the nodules of LIDC (4 readers) and the skin findings of DermX (8 readers), from
../shared/data, is left out in turn. Cases are sorted by the change expected from the other readers;
the actual change is that of the vote when the left-out reader is added. The tenth of the cases with
the largest expected change is compared with a random tenth, drawn 2000 times.

    python -m examples.benchmarks.findings.next_reading [--save]
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import SimpleITK as sitk
from numpy.typing import NDArray

from examples.benchmarks.run_facts import run_facts
from itk_consensus.assessment.agreement.next_reading import next_reading
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.label_stack import LabelStack

DATA = Path(__file__).resolve().parents[3] / "../shared/data"
RESULTS = Path(__file__).resolve().with_suffix(".json")
SETS = {"LIDC, four radiologists": "lidc", "DermX, eight dermatologists": "dermx"}
DRAWS = 2000


def changes(readers: NDArray[np.uint8]) -> tuple[list[float], list[float]]:
    """Return the expected and the actual changes, with each reader in turn as the next one."""
    expected, happened = [], []
    for left in range(len(readers)):
        others = np.delete(readers, left, axis=0)
        patterns = DecisionPatterns.from_stack(LabelStack.multilabel(list(others)))
        (places,) = np.nonzero(patterns.labels == 1)
        found = next_reading(patterns, int(places[0])) if len(places) else None
        expected.append(0.0 if found is None else found.share)
        before, after = _vote(others), _vote(readers)
        total = float((before + after).sum())
        happened.append(float(np.abs(before - after).sum()) / total if total else 0.0)
    return expected, happened


def _vote(readers: NDArray[np.uint8]) -> NDArray[np.float64]:
    votes = readers.astype(np.int64).sum(axis=0)
    return np.asarray(np.clip(2 * votes - len(readers) + 1, 0, 2) / 2)


def of_set(folder: str) -> dict[str, Any]:
    """Return the results of one data set."""
    files = [one for one in sorted((DATA / folder).glob("*.nrrd")) if "_second" not in one.stem]
    both = []
    for file in files:
        array = sitk.GetArrayFromImage(sitk.ReadImage(str(file)))
        both.append(changes(np.moveaxis(array, -1, 0).astype(np.uint8)))
    expected, happened = (np.array(values) for values in zip(*both, strict=True))
    tenth = max(1, len(files) // 10)
    readers = range(happened.shape[1])
    first = np.mean([happened[np.argsort(-expected[:, j])[:tenth], j].mean() for j in readers])
    rng = np.random.default_rng(0)
    random = [
        np.mean([happened[rng.permutation(len(files))[:tenth], j].mean() for j in readers])
        for _ in range(DRAWS)
    ]
    low, high = np.percentile(random, (2.5, 97.5))
    return {
        "cases": len(files),
        "first tenth": round(float(first), 4),
        "random tenth": round(float(np.mean(random)), 4),
        "its interval": [round(float(low), 4), round(float(high), 4)],
        "rank correlation": round(
            float(scipy.stats.spearmanr(expected, happened, axis=None)[0]), 3
        ),
    }


def main() -> None:
    """Print the results, and store them if requested."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--save", action="store_true", help="keep the figures")
    arguments = parser.parse_args()
    found = {name: of_set(folder) for name, folder in SETS.items()}
    for name, figures in found.items():
        print(name, figures)
    if arguments.save:
        RESULTS.write_text(json.dumps({"run": run_facts(), **found}, indent=2) + "\n")


if __name__ == "__main__":
    main()
