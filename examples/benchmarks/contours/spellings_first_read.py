"""Count the pairs of unseen structure names that are joined, proposed, or left undecided.

Each part of `tests/images/structure_spellings.csv` was committed before the matcher was run on it,
and may later have motivated rules, so the results of the current matcher on it would be biased.
This script therefore runs the matcher of the commit that added the part. If two names neither
match nor exclude each other, position decides: the match is proposed if the structures overlap.
The head-and-neck scans show how often this occurs for two readers' versions of one structure, each
being the best match of the other, and how often for different structures.

    python -m examples.benchmarks.contours.spellings_first_read [--data FOLDER] [--save FILE.json]
"""

from __future__ import annotations

import argparse
import csv
import importlib.util
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import combinations, product
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import SimpleITK as sitk

from examples.benchmarks.run_facts import run_facts
from itk_consensus.images.structure_matching import LEAST_OVERLAP
from itk_consensus.space.placed_masks import PlacedMask

ROOT = Path(__file__).resolve().parents[3]
DATA = ROOT.parent / "shared" / "data" / "headneck"
TABLE = "tests/images/structure_spellings.csv"
MATCHER = ("itk_consensus/images/structure_names.py", "itk_consensus/images/structure_words.csv")
#: The commit that added each part, without changing any rule.
ADDED = {"sealed": "1248fef0", "sealed2": "e69386c2", "sealed3": "8eecc878", "sealed4": "db6085ad"}


def first_reading(part: str) -> dict[str, Counter[str]]:
    """Return how the matcher of a part's commit classified its pairs of names, separately for
    pairs that denote the same structure and for other pairs.
    """
    matcher = _matcher_at(ADDED[part])
    read = matcher.default_words().read
    rows = csv.DictReader(_file_at(ADDED[part], TABLE).splitlines())
    names = [(row["structure"], read(row["spelling"])) for row in rows if row["half"] == part]
    found: dict[str, Counter[str]] = {"one": Counter(), "two": Counter()}
    for (means, one), (meant, other) in combinations(names, 2):
        found["one" if means == meant else "two"][_verdict(one, other)] += 1
    return found


def _verdict(one: Any, other: Any) -> str:
    if one.is_same_as(other):
        return "joined"
    if one.resembles(other):
        return "proposed by name"
    return "apart" if one.excludes(other) else "left to place"


def _file_at(commit: str, path: str) -> str:
    shown = subprocess.run(
        ["git", "show", f"{commit}:{path}"], cwd=ROOT, check=True, capture_output=True
    )
    return shown.stdout.decode("utf-8")


def _matcher_at(commit: str) -> ModuleType:
    """Return the module that reads names, with its table, as of a commit."""
    with tempfile.TemporaryDirectory() as folder:
        for path in MATCHER:
            text = _file_at(commit, path)
            (Path(folder) / Path(path).name).write_text(text, encoding="utf-8")
        name = f"structure_names_{commit}"
        spec = importlib.util.spec_from_file_location(name, Path(folder) / Path(MATCHER[0]).name)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        module.default_words()  # reads the table, which is deleted afterwards
        return module


def overlaps(folder: Path) -> dict[str, int]:
    """Count the structures of two readers that position would match, correctly and wrongly."""
    counts = Counter[str]()
    for one, other in _two_readers(folder):
        dice = np.array([[a.dice(b) for b in other] for a in one])
        best = dice == np.maximum(dice.max(axis=0), dice.max(axis=1, keepdims=True))
        is_proposed = best & (dice >= LEAST_OVERLAP)
        is_same = np.eye(len(dice), dtype=bool)
        counts["structures"] += len(dice)
        counts["proposed"] += int((is_proposed & is_same).sum())
        counts["wrongly"] += int((is_proposed & ~is_same).sum())
    return dict(counts)


def _two_readers(folder: Path) -> Iterator[tuple[list[PlacedMask], list[PlacedMask]]]:
    """Yield the structures that both readers of a scan drew, scan by scan."""
    for path in sorted(folder.glob("*_oncologist.nrrd")):
        paths = [str(path).replace("oncologist", who) for who in ("oncologist", "radiographer")]
        maps = [sitk.GetArrayFromImage(sitk.ReadImage(one)) for one in paths]
        labels = sorted(set(np.unique(maps[0])) & set(np.unique(maps[1])) - {0})
        masks = [PlacedMask.of(one == label) for one, label in product(maps, labels)]
        yield masks[: len(labels)], masks[len(labels) :]


def shares(one: Mapping[str, int], place: Mapping[str, int]) -> tuple[float, float]:
    """Return the shares of pairs denoting one structure that are matched by name, and by name or
    position.
    """
    every = sum(one.values())
    by_name = one.get("joined", 0) + one.get("proposed by name", 0)
    by_place = one.get("left to place", 0) * place["proposed"] / place["structures"]
    return by_name / every, (by_name + by_place) / every


def together(parts: Mapping[str, Mapping[str, Mapping[str, int]]]) -> dict[str, Counter[str]]:
    """Return the counts of pairs, summed over all parts."""
    every: dict[str, Counter[str]] = {"one": Counter(), "two": Counter()}
    for part in parts.values():
        for kind, counts in part.items():
            every[kind].update(counts)
    return every


def main() -> None:
    parser = argparse.ArgumentParser(description="First readings of spellings.")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--save", type=Path)
    arguments = parser.parse_args()
    parts = {part: first_reading(part) for part in ADDED}
    place = overlaps(arguments.data)
    for name, found in {**parts, "all": together(parts)}.items():
        by_name, by_place = shares(found["one"], place)
        print(f"{name:6} of one structure {dict(found['one'])}, of two {dict(found['two'])}")
        print(f"{name:6} joined or proposed by name {by_name:.3f}, by name or place {by_place:.3f}")
    print(f"two readers' structures, by place: {place}")
    if arguments.save:
        kept = {"run": run_facts(), "place": place, "parts": parts}
        arguments.save.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
