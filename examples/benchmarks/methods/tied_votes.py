"""Compare MultiLabelSTAPLE with SimpleITK's on random stacks with tied votes.

ITK 5.4, on which every released SimpleITK is based, counts tied voxels in the wrong cell of its
first estimate; our Initialization "label_voting_with_the_fault_of_itk_5_4" reproduces this. Writes
tied_votes.json, which README and docs/migration.md quote.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import SimpleITK as sitk

import itk_consensus
from examples.benchmarks.run_facts import run_facts

STACKS = 300
FAULT = "label_voting_with_the_fault_of_itk_5_4"
RESULTS = Path(__file__).resolve().with_suffix(".json")
#: Matrices that differ by less are equal up to rounding.
ROUNDING = 1e-9


def tied_stacks(raters: int | None = None) -> Iterator[list[sitk.Image]]:
    """Return stacks with 2 to 5 labels, some with unused values, and by default 2 to 6 raters."""
    made, seed = 0, 0
    while made < STACKS:
        rng = np.random.default_rng(seed)
        seed += 1
        number, labels = raters or int(rng.integers(2, 7)), int(rng.integers(2, 6))
        values = np.sort(rng.choice(12, labels, replace=False))
        if seed % 3:
            values = np.arange(labels)
        truth = rng.integers(0, labels, (4, 6, 7))
        errs = rng.random((number, *truth.shape)) < 0.3
        said = np.where(errs, rng.integers(0, labels, errs.shape), truth)
        counts = np.stack([(said == label).sum(axis=0) for label in range(labels)])
        if ((counts == counts.max(axis=0)).sum(axis=0) > 1).any():
            made += 1
            yield [sitk.GetImageFromArray(values[rater].astype(np.uint8)) for rater in said]


def answer(module: Any, images: list[sitk.Image], **parameters: Any) -> tuple[Any, Any]:
    """Return the label map and the confusion matrices after up to 200 iterations, since some
    stacks need thousands to converge.
    """
    filter_ = module.MultiLabelSTAPLEImageFilter()
    for name, value in {"MaximumNumberOfIterations": 200, **parameters}.items():
        getattr(filter_, f"Set{name}")(value)
    labels = sitk.GetArrayFromImage(filter_.Execute(images))
    return labels, np.array([filter_.GetConfusionMatrix(j) for j in range(len(images))])


def differing(stacks: Iterator[list[sitk.Image]], **parameters: Any) -> dict[str, int]:
    """Return the numbers of stacks in which the label map and the matrices differ from
    SimpleITK's.
    """
    maps = matrices = 0
    for images in stacks:
        ours, our_matrices = answer(itk_consensus, images, **parameters)
        theirs, their_matrices = answer(sitk, images)
        maps += bool((ours != theirs).any())
        matrices += bool(np.abs(our_matrices - their_matrices).max() > ROUNDING)
    return {"label maps": maps, "matrices": matrices}


def measured() -> dict[str, Any]:
    """Return all quoted numbers; they are the same in every run."""
    return {
        "SimpleITK": sitk.Version.VersionString(),
        "stacks": STACKS,
        "two raters": differing(tied_stacks(2)),
        "two to six raters": differing(tied_stacks()),
        "with the fault": differing(tied_stacks(), Initialization=FAULT),
        "two raters with the fault": differing(tied_stacks(2), Initialization=FAULT),
    }


if __name__ == "__main__":
    kept = {"run": run_facts(), **measured()}
    RESULTS.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(RESULTS.read_text(encoding="utf-8"))
