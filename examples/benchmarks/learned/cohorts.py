"""Cohorts of real segmentations with the same raters (people or networks) in every case.

Each cohort has cases with a reference that is independent of its raters. In control cohorts
nothing can be learned about the raters: they are anonymous readers and workers, or networks whose
names are shuffled.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import SimpleITK as sitk
from numpy.typing import NDArray

from examples.benchmarks.atlases.real_atlases import CHOOSING, load, numbers
from examples.benchmarks.methods.consensus_evidence import DATA, crowd_cases, masks_of
from itk_consensus.space.boxes import bounding_box

Labels = NDArray[Any]

NETWORKS = ("Bosma22b", "Guerbet23", "HeviAI23", "Yuan23")
#: Number of prostates that were used to choose rules.
CHOOSING_PROSTATES = 20
#: Image sets with ten traces each: five people with two tools.
TRACED_SETS = (1, 2, 3, 6)
FINDINGS = ("papule", "patch", "plaque", "scale")
#: Maximum number of cases with anonymous raters, to save time.
_ANONYMOUS = 60
_SEED = 3000


class TrueCase(NamedTuple):
    """The raters' label maps of a case, and the reference."""

    name: str
    raters: list[Labels]
    truth: Labels
    spacing: tuple[float, ...]  #: In array order


Cases = Callable[[], Iterator[TrueCase]]


def prostates(part: str, networks: tuple[int, ...] = (0, 1, 2, 3), unseen: bool = False) -> Any:
    """Return whole glands by networks; `unseen`: only cases that no network is known to be
    trained on.
    """
    for row in _prostate_rows(part):
        if unseen and row["yuan23_seen"] != "0":
            continue
        masks, sides = masks_of(DATA / "prostate" / f"{row['case']}_networks.nrrd")
        truth, _ = masks_of(DATA / "prostate" / f"{row['case']}_truth.nrrd")
        raters = [masks[j].astype(np.uint8) for j in networks]
        yield TrueCase(row["case"], raters, truth[0].astype(np.uint8), sides)


def zones(part: str) -> Iterator[TrueCase]:
    """Return zones of the prostate by two networks; glands without zones are left out."""
    for row in _prostate_rows(part):
        image = sitk.ReadImage(str(DATA / "prostate" / f"{row['case']}_zones.nrrd"))
        truth = _array(DATA / "prostate" / f"{row['case']}_truth.nrrd")
        if not (truth == 3).any():
            raters = np.moveaxis(sitk.GetArrayFromImage(image), -1, 0)
            sides = tuple(image.GetSpacing()[::-1])
            yield TrueCase(row["case"], [np.ascontiguousarray(r) for r in raters], truth, sides)


def shuffled(cases: Cases) -> Iterator[TrueCase]:
    """Return the cases with their raters in random order."""
    rng = np.random.default_rng(_SEED)
    for case in cases():
        order = rng.permutation(len(case.raters))
        yield case._replace(raters=[case.raters[j] for j in order])


def with_noise(cases: Cases) -> Iterator[TrueCase]:
    """Add a rater who marks a random half of the voxels in a box around the others' masks."""
    rng = np.random.default_rng(_SEED)
    for case in cases():
        box = bounding_box(np.any([rater > 0 for rater in case.raters], axis=0))
        noise = np.zeros_like(case.raters[0])
        noise[box] = rng.random(noise[box].shape) < 0.5
        yield case._replace(raters=[*case.raters, noise])


def traces(which: int, person: int) -> Iterator[TrueCase]:
    """Return eight traces by four people; the first tool of the fifth person is the reference."""
    for path in sorted((DATA / "bubil").glob(f"d{which}_*_experts.nrrd")):
        masks, sides = masks_of(path)
        box = bounding_box(masks.any(axis=0))
        assert box is not None
        wide = tuple(slice(max(part.start - 12, 0), part.stop + 12) for part in box)
        drawn = [one[wide].astype(np.uint8) for one in masks]
        others = [one for j, one in enumerate(drawn) if j // 2 != person]
        yield TrueCase(path.stem, others, drawn[2 * person], sides)


def findings(finding: str, labeller: int) -> Iterator[TrueCase]:
    """Return a skin finding outlined by seven dermatologists; the eighth is the reference."""
    for path in sorted((DATA / "dermx").glob(f"d*_{finding}.nrrd")):
        masks, sides = masks_of(path)
        drawn = [one.astype(np.uint8) for one in masks]
        yield TrueCase(path.stem, drawn[:labeller] + drawn[labeller + 1 :], drawn[labeller], sides)


def hippocampi(part: str) -> Iterator[TrueCase]:
    """Return two labels by fifteen registered atlases."""
    for number in numbers()[:CHOOSING] if part == "choose" else numbers():
        target = load(number)
        yield TrueCase(number, target.maps, target.truth, (1.0, 1.0, 1.0))


def kidneys() -> Iterator[TrueCase]:
    """Return kidneys and tumours annotated by varying people; KiTS19 is the reference."""
    for path in sorted((DATA / "kits21").glob("*_annotations.nrrd")):
        image = sitk.ReadImage(str(path))
        objects = np.moveaxis(sitk.GetArrayFromImage(image), -1, 0)
        raters = [((1 + (one > 10)) * (one > 0) * (one <= 20)).astype(np.uint8) for one in objects]
        truth = _array(Path(str(path).replace("_annotations", "_kits19")))
        if "00121" in path.stem:  # its tumour is labelled as a cyst in the other data set
            raters, truth = [one * (one == 1) for one in raters], truth * (truth == 1)
        yield TrueCase(path.stem, raters, truth, tuple(image.GetSpacing()[::-1]))


def nodules(reader: int) -> Iterator[TrueCase]:
    """Return nodules by anonymous readers: three of four, with the fourth as the reference."""
    for path in sorted((DATA / "lidc").glob("*.nrrd"))[:_ANONYMOUS]:
        masks, sides = masks_of(path)
        drawn = [one.astype(np.uint8) for one in masks]
        yield TrueCase(path.stem, drawn[:reader] + drawn[reader + 1 :], drawn[reader], sides)


def workers() -> Iterator[TrueCase]:
    """Return masks by seven anonymous workers; the experts' gold standard is the reference."""
    for number, (gold, drawn, sides) in enumerate(crowd_cases()):
        if number % 3 == 0:
            yield TrueCase(str(number), list(drawn.astype(np.uint8)), gold.astype(np.uint8), sides)


def _prostate_rows(part: str) -> list[dict[str, str]]:
    index = DATA / "prostate" / "index.csv"
    if not index.exists():
        return []
    with index.open(encoding="utf-8") as file:
        rows = sorted(csv.DictReader(file), key=lambda row: row["case"])
    chosen = slice(None, CHOOSING_PROSTATES), slice(CHOOSING_PROSTATES, None)
    return {"choose": rows[chosen[0]], "report": rows[chosen[1]], "all": rows}[part]


def _array(path: Path) -> Labels:
    return np.asarray(sitk.GetArrayFromImage(sitk.ReadImage(str(path))))


def cohorts(part: str) -> dict[str, list[Cases]]:
    """Return the cohorts of each data set, by name; they differ in which reader is the reference.

    `part` is "choose" for the cases on which rules were chosen, "report" for all others.
    """
    all_four = partial(prostates, "choose" if part == "choose" else "all")
    found: dict[str, list[Cases]] = {
        "prostates": [all_four],
        "prostates, fair three": [partial(all_four, (1, 2, 3))],
        "prostates, zones": [partial(zones, "choose" if part == "choose" else "all")],
        "hippocampi": [partial(hippocampi, part)],
        "CONTROL shuffled prostates": [partial(shuffled, all_four)],
        "CONTROL prostates and noise": [partial(with_noise, all_four)],
    }
    sets = TRACED_SETS[:2] if part == "choose" else TRACED_SETS[2:]
    for which in sets:
        found[f"traces, set {which}"] = [partial(traces, which, person) for person in range(5)]
    for finding in FINDINGS[2:3] if part == "choose" else (*FINDINGS[:2], *FINDINGS[3:]):
        found[f"skin, {finding}"] = [partial(findings, finding, reader) for reader in range(8)]
    if part == "choose":
        found["CONTROL nodules"] = [partial(nodules, reader) for reader in (0, 1)]
    else:
        found["kidneys"] = [kidneys]
        found["CONTROL nodules"] = [partial(nodules, reader) for reader in (2, 3)]
        found["CONTROL crowd"] = [workers]
    return found
