"""Structures and labels that a rater names differently from the other raters."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import SimpleITK as sitk
from numpy.typing import NDArray

from itk_consensus.assessment.agreement.swaps import swaps_in
from itk_consensus.assessment.structure_swaps import structure_swaps
from itk_consensus.space.placed_masks import PlacedMask

HEAD_AND_NECK = Path(__file__).parents[3] / "shared" / "data" / "headneck"
SCANS = sorted({path.name.split("_")[0] for path in HEAD_AND_NECK.glob("*_oncologist.nrrd")})
Mask = NDArray[np.bool_]


@pytest.mark.parametrize("order", [(1, 0, 2, 3), (1, 2, 0, 3), (3, 0, 1, 2)])
def test_every_circle_of_names_is_found_with_its_dice(order: tuple[int, ...]) -> None:
    dice = np.full((4, 4), 0.1)
    for used, meant in enumerate(order):
        dice[used, meant] = 0.8 + used / 100
    (found,) = swaps_in(dice)
    moved = [used for used, meant in enumerate(order) if used != meant]
    assert found.used == tuple(found.used[n] for n in range(len(moved)))
    assert dict(zip(found.used, found.meant, strict=True)) == {n: order[n] for n in moved}
    assert found.is_closed
    assert found.before == pytest.approx(0.1)
    assert found.after == pytest.approx(np.mean([dice[n, order[n]] for n in moved]))


def test_one_name_for_another_is_told_only_where_it_plainly_is() -> None:
    assert not swaps_in(np.array([[0.8, 0.1], [0.2, 0.7]]))
    (found,) = swaps_in(np.array([[0.0, 0.9], [0.0, 0.0]]))
    assert (found.used, found.meant, found.is_closed) == ((0,), (1,), False)
    assert not swaps_in(np.array([[0.0, 0.4], [0.0, 0.0]]))
    # A spinal cord lies within its canal.
    assert not swaps_in(np.array([[0.85, 0.55], [0.5, 0.8]]))
    assert not swaps_in(np.zeros((0, 0)))


def derived(readers: tuple[Mask, Mask]) -> list[Mask]:
    """Derive five readers from two: both of them, and copies shifted by a voxel."""
    one, other = readers
    moved = [np.roll(one, 1, 2), np.roll(other, 1, 1), np.roll(one, -1, 1)]
    return [one, other, *moved]


def places_of(scan: str) -> dict[str, list[PlacedMask | None]]:
    """Return the masks of each of a scan's structures by five derived readers."""
    with (HEAD_AND_NECK / "labels.csv").open() as stream:
        names = {int(row["label"]): row["organ"] for row in csv.DictReader(stream)}
    maps = [
        sitk.GetArrayFromImage(sitk.ReadImage(str(HEAD_AND_NECK / f"{scan}_{who}.nrrd")))
        for who in ("oncologist", "radiographer")
    ]
    places = {}
    for label, name in names.items():
        masks = [PlacedMask.of(one) for one in derived((maps[0] == label, maps[1] == label))]
        if any(one.voxels for one in masks):
            places[name] = [one if one.voxels else None for one in masks]
    return places


@pytest.mark.skipif(not SCANS, reason="the head-and-neck scans are not beside the project")
@pytest.mark.parametrize(
    ("scan", "readers"),
    [*((one, (2,)) for one in SCANS[:1]),
     *(pytest.param(one, range(5), marks=pytest.mark.slow) for one in SCANS)],
)  # fmt: skip
def test_every_swapped_pair_of_a_plan_is_named_and_no_other(
    scan: str, readers: Sequence[int]
) -> None:
    places = places_of(scan)
    assert not structure_swaps(places)
    pairs = [
        (name, name[:-3] + "-Rt")
        for name in places
        if name.endswith("-Lt") and name[:-3] + "-Rt" in places
    ]
    assert len(pairs) == 7
    for (left, right), reader in product(pairs, readers):
        swapped = {name: list(row) for name, row in places.items()}
        swapped[left][reader], swapped[right][reader] = places[right][reader], places[left][reader]
        (found,) = structure_swaps(swapped)
        assert (found.reader, {*found.used}, found.is_closed) == (reader, {left, right}, True)
        assert found.before < 0.05
        assert found.after > 0.2


def test_three_names_in_a_circle_are_named_together() -> None:
    balls = [_ball(x) for x in (8, 20, 32)]
    names = ("a", "b", "c")
    places: dict[str, list[PlacedMask | None]] = {
        n: [b] * 4 for n, b in zip(names, balls, strict=True)
    }
    turned = {name: list(row) for name, row in places.items()}
    for number, name in enumerate(names):
        turned[name][2] = balls[(number + 1) % 3]
    (found,) = structure_swaps(turned)
    assert found.reader == 2
    assert dict(zip(found.used, found.meant, strict=True)) == {"a": "b", "b": "c", "c": "a"}
    assert (found.before, found.after) == (0.0, 1.0)


def _ball(middle: int) -> PlacedMask:
    z, y, x = np.indices((12, 16, 40))
    return PlacedMask.of((z - 6) ** 2 + (y - 8) ** 2 + (x - middle) ** 2 < 25)


def test_a_name_that_nobody_else_uses_contradicts_none() -> None:
    left, right = _ball(8), _ball(32)
    places: dict[str, list[PlacedMask | None]] = {
        "left": [left, left, None],
        "right": [right, right, right],
        "links": [None, None, left],
    }
    assert not structure_swaps(places)
    # A name that the other readers use as well does contradict.
    places["right"][2], places["links"][2] = left, None
    (found,) = structure_swaps(places)
    assert (found.reader, found.used, found.meant) == (2, ("right",), ("left",))
    assert not found.is_closed
