"""Evaluate the fusion of individual lesions: object F1 and Dice in simulation, readers, speed.

MODULE is examples.benchmarks.lesions.lesion_evidence:

python -m MODULE [--seeds 20] [--first-seed 3000]    prints the results
python -m MODULE --save lesion_evidence.json         also stores them

Object F1 is computed against the true objects, at an intersection over union of one half; the
objects of masks are their connected components. Real kidneys and tumours are from KiTS21, next to
the repository; each annotator is compared with the consensus of the others.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import SimpleITK as sitk
from numpy.typing import NDArray

import itk_consensus
from examples.benchmarks.methods.consensus_evidence import DATA, encoded, overlap
from examples.benchmarks.methods.evidence_table import FUSERS
from examples.benchmarks.run_facts import run_facts
from examples.simulation import LESION_SETTINGS, STRUCTURE_SETTINGS, SpacedCase
from itk_consensus.assessment.agreement.lesions import lesion_agreement, pair_objects
from itk_consensus.core.errors import ConsensusWarning
from itk_consensus.methods.lesions.objects import number_objects

Labels = NDArray[Any]
FIRST_SEED = 3000

#: Settings with masks in which lesions are missed or falsely marked.
MASK_SETTINGS = ("missed lesions .8", "missed lesions .45", "false lesions")
MASK_FUSERS = ("vote", "sitk-staple", "consensus")
OBJECTS, LARGE = 10_000, 2048


def instances(case: SpacedCase, **parameters: Any) -> Labels:
    """Return the instance map, or the mask, of a case."""
    images = []
    for rater in case.raters:
        image = sitk.GetImageFromArray(np.ascontiguousarray(rater.astype(np.uint16)))
        image.SetSpacing(case.spacing[::-1])
        images.append(image)
    fused = itk_consensus.InstanceConsensusFilter(**parameters).Execute(images)
    return sitk.GetArrayFromImage(fused)


def object_f1(answer: Labels, truth: Labels) -> float:
    """Return the detection F1 of a result's objects; 1 if neither map has any."""
    maps = [number_objects(labels, "components").places for labels in (answer, truth)]
    found = lesion_agreement(("", ""), pair_objects(*maps), (1.0,) * truth.ndim, ())[0].f1
    return 1.0 if np.isnan(found) else found


def measured_objects(seeds: Sequence[int]) -> Iterator[dict[str, Any]]:
    """Measure object F1 in every lesion setting, for components of fused masks and for
    instances.
    """
    for name, draw in LESION_SETTINGS.items():
        scores: dict[str, list[float]] = {fuser: [] for fuser in (*MASK_FUSERS, "instance")}
        for case in map(draw, seeds):
            patterns = encoded(case.raters > 0)
            for fuser in MASK_FUSERS:
                fused = FUSERS[fuser](patterns, case.spacing) > 0
                scores[fuser].append(object_f1(fused, case.truth))
            scores["instance"].append(object_f1(instances(case), case.truth))
        yield {"setting": name, "readers": len(case.raters)} | _summary(scores)


def measured_masks(seeds: Sequence[int]) -> Iterator[dict[str, Any]]:
    """Measure Dice in settings where lesions are missed or falsely marked."""
    for name in MASK_SETTINGS:
        scores: dict[str, list[float]] = {fuser: [] for fuser in (*MASK_FUSERS, "instance")}
        for case in map(STRUCTURE_SETTINGS[name], seeds):
            patterns = encoded(case.raters)
            for fuser in MASK_FUSERS:
                scores[fuser].append(overlap(FUSERS[fuser](patterns, case.spacing), case.truth))
            scores["instance"].append(overlap(instances(case, OutputMap="mask"), case.truth))
        yield {"setting": name} | _summary(scores)


def _summary(scores: dict[str, list[float]]) -> dict[str, Any]:
    gain = np.subtract(scores["instance"], scores["vote"])
    return {
        "cases": len(gain),
        "mean": {name: float(np.mean(values)) for name, values in scores.items()},
        "gain": float(gain.mean()),
        "error": float(gain.std(ddof=1) / np.sqrt(len(gain))),
    }


def cells(readers: int = 5, seed: int = 0) -> list[Labels]:
    """Return instance maps of 10,000 cells each, most of which touch, in 2048 x 2048 pixels.

    The true map contains a few hundred more, some of which each reader misses.
    """
    rng = np.random.default_rng(seed)
    side = int(np.sqrt(1.05 * OBJECTS))
    step = (LARGE - 40) / side
    reach = np.arange(-12, 13)
    maps = []
    for _ in range(readers):
        drawn = np.zeros((LARGE, LARGE), np.int32)
        names = 1 + rng.permutation(OBJECTS)
        for name, number in zip(names, rng.permutation(side**2)[:OBJECTS], strict=True):
            middle = 20 + step * (0.5 + np.array(divmod(number, side))) + rng.normal(0, 1, 2)
            corner = np.rint(middle).astype(int)
            window = tuple(slice(at - 12, at + 13) for at in corner)
            away = [reach + at - exact for at, exact in zip(corner, middle, strict=True)]
            inside = np.add.outer(away[0] ** 2, away[1] ** 2) <= rng.uniform(7, 10.5) ** 2
            drawn[window][inside] = name
        maps.append(drawn)
    return maps


def measured_speed(rounds: int = 3) -> dict[str, Any]:
    """Measure the time in seconds of the whole filter, and of matching alone, on cells (best of
    several rounds).
    """
    maps = cells()
    number = [int(np.unique(drawn).size - 1) for drawn in maps]

    def best(call: Callable[[], Any]) -> float:
        times = []
        for _ in range(rounds):
            begin = time.perf_counter()
            call()
            times.append(time.perf_counter() - begin)
        return min(times)

    vote = itk_consensus.MajorityVoteFilter()
    return {
        "objects": number,
        "shape": [LARGE, LARGE],
        "match": best(lambda: itk_consensus.match_lesions(maps)),
        "filter": best(lambda: itk_consensus.InstanceConsensusFilter().Execute(maps)),
        "filter with the vote's outlines": best(
            lambda: itk_consensus.InstanceConsensusFilter(OutlineFilter=vote).Execute(maps)
        ),
    }


def measured_kidneys(kind: str = "labels") -> list[dict[str, Any]]:
    """Match the kidneys, masses and cysts of KiTS21's three annotators without using their names.

    The names, which annotators have in common, are used to count how many groups contain a single
    name, and how many names are in a single group.
    """
    rows = []
    for path in sorted((DATA / "kits21").glob("*.nrrd")):
        annotations = sitk.ReadImage(str(path))
        filter_ = itk_consensus.InstanceConsensusFilter(InputObjects=kind)
        fused = sitk.GetArrayFromImage(filter_.Execute(annotations))
        table = filter_.GetObjects()
        named = np.moveaxis(sitk.GetArrayFromImage(annotations), -1, 0)
        maps = [sitk.GetArrayFromImage(image) for image in filter_.GetMatchedImages()]
        pairs = set[tuple[int, int]]()
        for names, groups in zip(named, maps, strict=True):
            both = np.unique(np.stack([names[groups > 0], groups[groups > 0]]), axis=1)
            pairs |= {(int(name), int(group)) for name, group in both.T}
        rows.append(
            {
                "case": path.stem.removesuffix("_annotations"),
                "names": len({name for name, _ in pairs}),
                "groups": len(table),
                "one to one": len(pairs)
                == len({n for n, _ in pairs})
                == len({g for _, g in pairs}),
                "found by": np.bincount(table.found.sum(axis=1), minlength=4)[1:].tolist(),
                "kept": int(np.unique(fused[fused > 0]).size),
                "split": sum(bool(lesion.split) for lesion in table.lesions),
                "joined": sum(bool(lesion.joined) for lesion in table.lesions),
                "mean Dice": float(np.nanmean([lesion.overlap for lesion in table.lesions])),
            }
        )
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print and store the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20, help="per setting")
    parser.add_argument("--first-seed", type=int, default=FIRST_SEED)
    parser.add_argument("--without-speed", action="store_true")
    parser.add_argument("--save", type=Path, help="file to keep the results in")
    options = parser.parse_args(arguments)
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    kept: dict[str, Any] = {"run": run_facts(), "first_seed": options.first_seed}
    warnings.simplefilter("ignore", ConsensusWarning)
    for part, entries in (("objects", measured_objects(seeds)), ("masks", measured_masks(seeds))):
        kept[part] = []
        for entry in entries:
            kept[part].append(entry)
            means = " ".join(f"{name} {value:.3f}" for name, value in entry["mean"].items())
            gain = f"{entry['gain']:+.3f} +- {entry['error']:.3f}"
            print(f"{entry['setting']:32} {means}  instance - vote {gain}", flush=True)
    gains = [entry["gain"] for entry in kept["objects"]]
    print(f"object F1: mean gain on the vote {np.mean(gains):+.3f}, worst {min(gains):+.3f}")
    kept["kidneys"] = measured_kidneys()
    print(*kept["kidneys"], sep="\n")
    if not options.without_speed:
        kept["speed"] = measured_speed()
        print(kept["speed"])
    if options.save is not None:
        options.save.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
