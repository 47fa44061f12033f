"""Measure the distance between two readers' surfaces: the tolerances of the surface Dice, by organ.

A tolerance is the 95th percentile of the distances between both readers' surfaces, averaged over
the scans and both sides of the head-and-neck data.
`itk_consensus/assessment/agreement/surface_tolerances.csv` contains these values, rounded to a
tenth of a millimetre.
"""

from __future__ import annotations

import argparse
import csv
from collections import defaultdict
from pathlib import Path

import numpy as np
import SimpleITK as sitk

from itk_consensus.assessment.agreement.surfaces import Surface

DATA = Path(__file__).resolve().parents[4] / "shared" / "data" / "headneck"


def tolerances(folder: Path) -> dict[str, float]:
    """Return the tolerance of each organ, averaged over both sides."""
    with (folder / "labels.csv").open() as stream:
        organs = {int(row["label"]): row["organ"] for row in csv.DictReader(stream)}
    found: dict[str, list[float]] = defaultdict(list)
    for path in sorted(folder.glob("*_oncologist.nrrd")):
        images = [
            sitk.ReadImage(str(path).replace("oncologist", who))
            for who in ("oncologist", "radiographer")
        ]
        spacing = images[0].GetSpacing()[::-1]
        maps = [sitk.GetArrayFromImage(image) for image in images]
        for label, organ in organs.items():
            masks = [one == label for one in maps]
            if all(mask.any() for mask in masks):
                found[organ.removesuffix("-Lt").removesuffix("-Rt")].append(_apart(masks, spacing))
    return {organ: float(np.mean(distances)) for organ, distances in sorted(found.items())}


def _apart(masks: list[np.ndarray], spacing: tuple[float, ...]) -> float:  # type: ignore[type-arg]
    """Return the 95th percentile of the distances between two surfaces, in both directions."""
    drawn = np.argwhere(masks[0] | masks[1])
    low, high = np.maximum(drawn.min(axis=0) - 1, 0), drawn.max(axis=0) + 2
    box = tuple(slice(*ends) for ends in zip(low, high, strict=True))
    one, other = (Surface.of(mask[box]) for mask in masks)
    there, back = other.distance(spacing)[one.places], one.distance(spacing)[other.places]
    return float(np.percentile(np.concatenate([there, back]), 95))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    for name, mm in tolerances(parser.parse_args().data).items():
        print(f"{name},{mm:.1f}")
