"""Real readers, and the same readers after one of them slipped in a known way.

LIDC's nodules (4 radiologists, mm), BU-BIL's crowds (7 workers, pixels), KiTS21's annotations (3,
several labels) and registered hippocampus atlases (15, two labels), from ../shared/data. A crop of
a nodule is put back into a larger volume, off its middle, as nodules lie in a scan: within its own
crop a mirrored nodule, or another patient's, lies where this one does. Crowds' images are such
crops, too: there a mirror is planted only where it changes the mask (Dice below .8 to what it was),
and masks of other images are counted apart. Even cases are for choosing, odd ones for reporting.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import SimpleITK as sitk
from numpy.typing import NDArray
from scipy import ndimage

DATA = Path(__file__).resolve().parents[2] / "../shared/data"

#: Cases of each kind of slip.
NUMBER = 20

#: Dice to what it was above which a mirrored mask is hardly another one.
VISIBLE = 0.8

#: mm by which a mask is moved.
SHIFT = 5.0

Maps = NDArray[np.uint8]


class Case(NamedTuple):
    """Label maps of some readers."""

    name: str
    readers: Maps  #: (J, ...)
    spacing: tuple[float, ...]

    @property
    def agreement(self) -> float:
        """Mean Dice of pairs, of all labels together."""
        pairs = combinations(self.readers, 2)
        return float(np.mean([_dice(a, b) for a, b in pairs]))


def _dice(one: Maps, other: Maps) -> float:
    total = np.count_nonzero(one) + np.count_nonzero(other)
    return 2 * np.count_nonzero((one == other) & (one > 0)) / total if total else 1.0


class Planted(NamedTuple):
    """A case with a slip, and what the findings should say."""

    case: Case
    reader: int  #: Who slipped
    rule: str  #: The rule that should name it


def cases(kind: str, first: int) -> list[Case]:
    """Every second case of a data set, from the first or the second on."""
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
    """A crop anywhere in a larger volume but in its middle."""
    rng = np.random.default_rng(seed)
    margins = [(0, 0)]
    for side in readers.shape[1:]:
        before = round(4 * side * rng.uniform(0.05, 0.35))
        margins.append((before, 4 * side - before)[:: rng.choice([1, -1])])
    return np.pad(readers, margins)


# -- slips ------------------------------------------------------------------------------------


def mirrored(case: Case, reader: int, others: list[Case]) -> Maps:
    """One mask mirrored about the middle of the image, along an axis in the plane."""
    return np.flip(case.readers[reader], -1 - reader % 2)


def shifted(case: Case, reader: int, others: list[Case]) -> Maps:
    """One mask moved along an axis in the plane."""
    axis = case.readers.ndim - 2 - reader % 2
    steps = round(SHIFT / case.spacing[axis])
    return np.roll(case.readers[reader], steps, axis)


def emptied(case: Case, reader: int, others: list[Case]) -> Maps:
    """Nothing drawn."""
    return np.zeros_like(case.readers[reader])


def swapped(case: Case, reader: int, others: list[Case]) -> Maps:
    """The two lowest labels the other way round."""
    table = np.arange(256, dtype=np.uint8)
    table[[1, 2]] = 2, 1
    return table[case.readers[reader]]


def of_another_case(case: Case, reader: int, others: list[Case]) -> Maps:
    """A mask of the next case, on this one's grid."""
    names = [one.name for one in others]
    other = others[(names.index(case.name) + 1) % len(others)].readers
    mask = other[reader % len(other)]
    drawn = np.argwhere(mask)
    result = np.zeros_like(case.readers[0])
    # At the same place of the image, in parts of its sides, and never beyond its border.
    middle = drawn.mean(axis=0) / mask.shape * result.shape
    moved = drawn + np.rint(middle - drawn.mean(axis=0)).astype(int)
    result[tuple(np.clip(moved, 0, np.subtract(result.shape, 1)).T)] = 1
    return result


def a_third(case: Case, reader: int, others: list[Case]) -> Maps:
    """The innermost third of the mask's voxels."""
    mask = case.readers[reader] > 0
    depth = ndimage.distance_transform_edt(mask, sampling=case.spacing)
    order = np.argsort(-depth, axis=None, kind="stable")[: max(1, np.count_nonzero(mask) // 3)]
    result = np.zeros_like(case.readers[reader])
    result.reshape(-1)[order] = 1
    return result


Slip = Callable[[Case, int, list[Case]], Maps]

#: What is planted, in which data, and the rule that should say so.
SLIPS: dict[str, tuple[Slip, tuple[str, ...], str]] = {
    "mirrored": (mirrored, ("lidc", "crowd"), "mirrored mask"),
    "shifted by 5 mm": (shifted, ("lidc", "kits"), "shifted mask"),
    "empty": (emptied, ("lidc", "crowd"), "empty mask"),
    "labels swapped": (swapped, ("kits", "hippocampus"), "swapped labels"),
    "another case's mask": (of_another_case, ("lidc",), "deviating rater"),
    "another case's mask, in crops": (of_another_case, ("crowd",), "deviating rater"),
    "a third of the volume": (a_third, ("lidc", "crowd"), "volume apart"),
}


def planted(name: str, first: int) -> Iterator[Planted]:
    """Cases with one slip: as many of each data set as there are, up to half of all."""
    slip, kinds, rule = SLIPS[name]
    made: list[Planted] = []
    data = [cases(kind, first) for kind in kinds]
    for turn, known in product(range(2 * NUMBER), data):
        # Where cases are few, another of their readers slips.
        case = known[turn % len(known)]
        who = (turn + turn // len(known)) % len(case.readers)
        maps = case.readers.copy()
        maps[who] = slip(case, who, known)
        if name != "mirrored" or _dice(maps[who], case.readers[who]) < VISIBLE:
            made.append(Planted(case._replace(readers=maps), who, rule))
    yield from made[:NUMBER]


def agreeing(kind: str, first: int, least: float = 0.8) -> list[Case]:
    """Cases whose readers agree, nothing planted."""
    return [case for case in cases(kind, first) if case.agreement >= least]


def patterns_of(case: Case) -> Any:
    """The votes of a case."""
    from itk_consensus.votes.decision_patterns import DecisionPatterns
    from itk_consensus.votes.label_stack import LabelStack

    return DecisionPatterns.from_stack(LabelStack.multilabel(list(case.readers)))
