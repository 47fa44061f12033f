"""Measure how often findings name raters with simulated errors, and how often agreeing raters.

The data are LIDC's nodules (4 radiologists, in mm), BU-BIL's crowds (7 workers, in pixels),
KiTS21's annotations (3, with several labels) and registered hippocampus atlases (15, with two
labels), from ../shared/data. The crop of a nodule is put into a larger volume, away from its
centre, as in a scan: in the crop, a mirrored nodule or another patient's nodule would be in the
same place. The crowds' images are such crops as well, so masks are mirrored only if this changes
them (Dice with the original below .8), and masks of other images are counted separately.
Thresholds are chosen on even-numbered cases, and results are reported on odd-numbered ones.

    python -m examples.benchmarks.findings.readers_evidence [--choose] [--misses] [--save]

A gross error ("slip") is detected if a finding above "note" names the reader, and identified if the
finding comes from the expected rule. A false alarm is such a finding about readers whose mean Dice
is .8 or more, although some of them really made an error.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import SimpleITK as sitk
from numpy.typing import NDArray
from scipy import ndimage

from examples.benchmarks.run_facts import run_facts
from examples.simulation import STRUCTURE_SETTINGS
from itk_consensus.assessment.causes import attach_causes
from itk_consensus.assessment.findings import Finding
from itk_consensus.assessment.of_readers import diagnose_readers
from itk_consensus.assessment.readers import Readers
from itk_consensus.fusing.vote_facts import VoteFacts
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.label_stack import LabelStack

DATA = Path(__file__).resolve().parents[3] / "../shared/data"

RESULTS = Path(__file__).resolve().with_suffix(".json")

#: Minimum mean Dice of readers who agree.
LEAST_AGREEMENT = 0.8

#: Data sets in which false alarms are counted.
AGREEING = {"LIDC readers": "lidc", "crowd workers": "crowd", "BU-BIL's experts": "experts"}

#: Number of cases for each kind of slip.
NUMBER = 20

#: Mirrored masks whose Dice with the original is higher than this are hardly different from it.
VISIBLE = 0.8

#: Shift of a mask in mm.
SHIFT = 5.0

Maps = NDArray[np.uint8]


class Case(NamedTuple):
    """Label maps of several readers."""

    name: str
    readers: Maps  #: (J, ...)
    spacing: tuple[float, ...]

    @property
    def agreement(self) -> float:
        """Return the mean Dice of pairs of readers, over all labels together."""
        pairs = combinations(self.readers, 2)
        return float(np.mean([_dice(a, b) for a, b in pairs]))


def _dice(one: Maps, other: Maps) -> float:
    total = np.count_nonzero(one) + np.count_nonzero(other)
    return 2 * np.count_nonzero((one == other) & (one > 0)) / total if total else 1.0


class Planted(NamedTuple):
    """A case with a simulated slip, and the expected finding."""

    case: Case
    reader: int  #: The reader with the slip
    rule: str  #: The rule that should name it


def cases(kind: str, first: int) -> list[Case]:
    """Return every second case of a data set, starting at index `first`."""
    patterns = {
        "lidc": "lidc/*.nrrd",
        "crowd": "bubil/*_crowd.nrrd",
        "experts": "bubil/*_experts.nrrd",
        "kits": "kits21/*_annotations.nrrd",
        "hippocampus": "hippocampus/*_atlas_labels.nrrd",
    }
    files = sorted(DATA.glob(patterns[kind]))[first::2]
    return [_read(file, kind, index) for index, file in enumerate(files)]


def _read(file: Path, kind: str, index: int) -> Case:
    image = sitk.ReadImage(str(file))
    readers = np.moveaxis(sitk.GetArrayFromImage(image), -1, 0).astype(np.uint8)
    if kind == "lidc":
        readers = _in_a_scan(readers, index)
    return Case(file.stem, readers, image.GetSpacing()[::-1])


def _in_a_scan(readers: Maps, seed: int) -> Maps:
    """Put a crop into a larger volume, at a random place away from the centre."""
    rng = np.random.default_rng(seed)
    margins = [(0, 0)]
    for side in readers.shape[1:]:
        before = round(4 * side * rng.uniform(0.05, 0.35))
        margins.append((before, 4 * side - before)[:: rng.choice([1, -1])])
    return np.pad(readers, margins)


# -- slips ------------------------------------------------------------------------------------


def mirrored(case: Case, reader: int, others: list[Case]) -> Maps:
    """Mirror one mask about the image centre, along an in-plane axis."""
    return np.flip(case.readers[reader], -1 - reader % 2)


def shifted(case: Case, reader: int, others: list[Case]) -> Maps:
    """Shift one mask along an in-plane axis."""
    axis = case.readers.ndim - 2 - reader % 2
    steps = round(SHIFT / case.spacing[axis])
    return np.roll(case.readers[reader], steps, axis)


def emptied(case: Case, reader: int, others: list[Case]) -> Maps:
    """Empty one mask."""
    return np.zeros_like(case.readers[reader])


def swapped(case: Case, reader: int, others: list[Case]) -> Maps:
    """Swap the two lowest labels of one reader."""
    table = np.arange(256, dtype=np.uint8)
    table[[1, 2]] = 2, 1
    return table[case.readers[reader]]


def of_another_case(case: Case, reader: int, others: list[Case]) -> Maps:
    """Replace one mask by that of another case, placed on this grid."""
    names = [one.name for one in others]
    other = others[(names.index(case.name) + 1) % len(others)].readers
    mask = other[reader % len(other)]
    drawn = np.argwhere(mask)
    result = np.zeros_like(case.readers[0])
    # Place it at the same relative position in the image, and never beyond its border.
    middle = drawn.mean(axis=0) / mask.shape * result.shape
    moved = drawn + np.rint(middle - drawn.mean(axis=0)).astype(int)
    result[tuple(np.clip(moved, 0, np.subtract(result.shape, 1)).T)] = 1
    return result


def a_third(case: Case, reader: int, others: list[Case]) -> Maps:
    """Reduce one mask to the innermost third of its voxels."""
    mask = case.readers[reader] > 0
    depth = ndimage.distance_transform_edt(mask, sampling=case.spacing)
    order = np.argsort(-depth, axis=None, kind="stable")[: max(1, np.count_nonzero(mask) // 3)]
    result = np.zeros_like(case.readers[reader])
    result.reshape(-1)[order] = 1
    return result


Slip = Callable[[Case, int, list[Case]], Maps]

#: Simulated slips: the function, the data sets, and the expected rule.
SLIPS: dict[str, tuple[Slip, tuple[str, ...], str]] = {
    "mirrored": (mirrored, ("lidc", "crowd"), "mirrored mask"),
    "shifted by 5 mm": (shifted, ("lidc", "kits"), "shifted mask"),
    "empty": (emptied, ("lidc", "crowd"), "empty mask"),
    "labels swapped": (swapped, ("kits", "hippocampus"), "swapped labels"),
    # In a scan, the other case's mask overlaps no reader's; in crops, it is in the same place.
    "another case's mask": (of_another_case, ("lidc",), "apart"),
    "another case's mask, in crops": (of_another_case, ("crowd",), "deviating rater"),
    "a third of the volume": (a_third, ("lidc", "crowd"), "volume apart"),
}


def planted(name: str, first: int) -> Iterator[Planted]:
    """Yield cases with one slip, taken from the data sets in turn."""
    slip, kinds, rule = SLIPS[name]
    made: list[Planted] = []
    data = [cases(kind, first) for kind in kinds]
    for turn, known in product(range(2 * NUMBER), data):
        # If there are few cases, they are repeated with a slip of another reader.
        case = known[turn % len(known)]
        who = (turn + turn // len(known)) % len(case.readers)
        maps = case.readers.copy()
        maps[who] = slip(case, who, known)
        if name != "mirrored" or _dice(maps[who], case.readers[who]) < VISIBLE:
            made.append(Planted(case._replace(readers=maps), who, rule))
    yield from made[:NUMBER]


def agreeing(kind: str, first: int) -> list[Case]:
    """Return cases with readers who agree, without simulated slips."""
    return [case for case in cases(kind, first) if case.agreement >= LEAST_AGREEMENT]


def simulated(seeds: range) -> list[Case]:
    """Return simulated raters who agree; in cases with several labels, only label 1 is kept."""
    made = [
        Case(f"{name} {seed}", (case.raters == 1).astype(np.uint8), case.spacing)
        for name, make in STRUCTURE_SETTINGS.items()
        for seed in seeds
        for case in [make(seed)]
    ]
    return [case for case in made if case.agreement >= LEAST_AGREEMENT]


# -- rates ------------------------------------------------------------------------------------


def cautions(case: Case) -> list[Finding]:
    """Return the findings above "note" about the readers of a case."""
    patterns = DecisionPatterns.from_stack(LabelStack.multilabel(list(case.readers)))
    readers = Readers(VoteFacts(patterns), case.spacing)
    found = attach_causes(tuple(diagnose_readers(readers)), readers)
    return [one for one in found if one.concern and not one.because]


def slip_rates(first: int, misses: bool) -> list[dict[str, Any]]:
    """Count for each kind of slip how many were detected, and how many identified correctly."""
    rows = []
    for name in SLIPS:
        found = named = total = 0
        for one in planted(name, first):
            said = [f for f in cautions(one.case) if one.reader in f.who]
            right = any(f.rule == one.rule for f in said)
            total, found, named = total + 1, found + bool(said), named + right
            if misses and not right:
                print(f"  {name}, {one.case.name}, rater {one.reader}: {[f.rule for f in said]}")
        rows.append({"slip": name, "cases": total, "found": found, "named": named})
    return rows


def false_cautions(first: int, misses: bool) -> list[dict[str, Any]]:
    """Count cases in which there are findings about readers who agree."""
    groups = {title: agreeing(kind, first) for title, kind in AGREEING.items()}
    groups["simulated structures"] = simulated(range(3000, 3002) if first else range(2000, 2002))
    rows = []
    for title, known in groups.items():
        said = {case.name: cautions(case) for case in known}
        disturbed = [name for name, found in said.items() if found]
        rows.append({"readers": title, "cases": len(known), "false": len(disturbed)})
        for name in disturbed if misses else ():
            print(f"  {name}: {'; '.join(map(str, said[name]))}")
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the rates, and store them if requested."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--choose", action="store_true", help="on the cases that chose the limits")
    parser.add_argument("--misses", action="store_true", help="name cases that went wrong")
    parser.add_argument("--save", action="store_true", help=f"keep the rates in {RESULTS.name}")
    options = parser.parse_args(arguments)
    first = 0 if options.choose else 1
    results = {
        "run": run_facts(),
        "slips": slip_rates(first, options.misses),
        "agreeing": false_cautions(first, options.misses),
    }
    if options.save:
        RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(table(results))


def table(results: dict[str, Any]) -> str:
    """Format the rates as Markdown."""
    slips = [
        f"| {row['slip']} | {row['cases']} | {row['found']} | {row['named']} |"
        for row in results["slips"]
    ]
    good = [
        f"| {row['readers']} | {row['cases']} | {row['false']} |" for row in results["agreeing"]
    ]
    return "\n".join(
        [
            "| one reader's mask is | cases | found | named right |",
            "|---|---|---|---|",
            *slips,
            "",
            "| readers who agree (mean Dice of .8 or more) | cases | with a look |",
            "|---|---|---|",
            *good,
        ]
    )


if __name__ == "__main__":
    main()
