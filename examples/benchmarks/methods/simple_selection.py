"""Measure the effect of SIMPLE's selection strictness on real crowds (BU-BIL).

Needs the data folder next to the repository (../shared/data/bubil).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import SimpleITK as sitk

from itk_consensus import MajorityVoteFilter, SIMPLEFilter
from itk_consensus.votes.overlap import dice

DATA = Path(__file__).resolve().parents[3] / "../shared/data/bubil"
DEVIATIONS = (1.0, 1.25, 1.5, 1.75, 2.0, 2.25, 2.5)

#: Raters, counted from 1, whose masks do not overlap the vote.
DREW_ELSEWHERE = {"d2_p10_experts": 3, "d2_p20_experts": 5, "d3_m26_crowd": 3, "d4_000154_crowd": 7}


class Crowd(NamedTuple):
    """A vector image with one worker per component, and the gold standard."""

    workers: sitk.Image
    gold: np.ndarray


class Outcome(NamedTuple):
    """Mean Dice with the gold standard, and mean number of dropped raters."""

    overlap: float
    dropped: float


def crowds(folder: Path = DATA) -> Iterator[Crowd]:
    """Read every crowd of the data folder."""
    for path in sorted(folder.glob("*_crowd.nrrd")):
        gold = sitk.ReadImage(str(path).replace("_crowd", "_gold"))
        yield Crowd(sitk.ReadImage(str(path)), sitk.GetArrayFromImage(gold))


def vote_overlap(crowd: Crowd) -> float:
    """Return the Dice of the majority vote with the gold standard."""
    return dice(sitk.GetArrayFromImage(MajorityVoteFilter().Execute(crowd.workers)), crowd.gold)


def selection(cases: list[Crowd], deviations: float) -> Outcome:
    """Return the outcome of SIMPLE with one strictness."""
    fuser = SIMPLEFilter(Deviations=deviations)
    overlaps, dropped = [], []
    for crowd in cases:
        overlaps.append(dice(sitk.GetArrayFromImage(fuser.Execute(crowd.workers)), crowd.gold))
        dropped.append(len(fuser.GetDroppedRaters()))
    return Outcome(float(np.mean(overlaps)), float(np.mean(dropped)))


def dropped_raters(name: str, folder: Path = DATA) -> list[int]:
    """Return the raters dropped in one image with the default strictness, counted from 1."""
    fuser = SIMPLEFilter()
    fuser.Execute(sitk.ReadImage(str(folder / f"{name}.nrrd")))
    return [rater + 1 for rater in fuser.GetDroppedRaters()]


def main() -> int:
    """Print the outcomes, and the raters dropped in images in which one rater drew something
    else.
    """
    cases = list(crowds())
    if not cases:
        print(f"no crowds in {DATA}: put the shared data beside the repository", file=sys.stderr)
        return 1
    vote = float(np.mean([vote_overlap(crowd) for crowd in cases]))
    print(f"Mean Dice to gold over {len(cases)} crowds of 7 workers")
    print("mean - alpha * std   Dice    against the vote   dropped per image")
    print(f"{'majority vote':<19}  {vote:.4f}")
    for deviations in DEVIATIONS:
        outcome = selection(cases, deviations)
        gain = f"{outcome.overlap - vote:+.4f}"
        print(f"{deviations:<19g}  {outcome.overlap:.4f}  {gain:<17}  {outcome.dropped:.2f}")
    print("\nRaters who drew elsewhere, and who is dropped by default (counted from 1)")
    for name, rater in DREW_ELSEWHERE.items():
        print(f"{name:<19}  {rater}  {dropped_raters(name)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
