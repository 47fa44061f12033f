"""Fusers of atlases on real brains: hippocampi of the Decathlon with 15 registered atlases each.

    python examples/benchmarks/real_atlases.py --ants-python /path/to/bin/python --save
    python examples/benchmarks/real_atlases.py --choosing

Defaults were chosen on the twelve targets with the lowest numbers (--choosing prints these); the
six others are reported, and with --save kept in real_atlases.json, from which docs/truth.md is
written. The images lie beside the repository (../shared/data/hippocampus). ANTs runs in an
environment of its own; without one its rows are missing, and the output says so.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy
import SimpleITK as sitk
from ants_joint_fusion import ants_fusion
from numpy.typing import NDArray
from run_facts import run_facts
from speed.peak_memory import rise_of_peak

import itk_consensus as ic

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "data" / "hippocampus"
RESULTS = Path(__file__).resolve().with_suffix(".json")
CHOOSING = 12  #: Targets, by number, on which defaults were chosen
LABELS = {1: "anterior", 2: "posterior"}
THREADS = 2

#: Radii, in voxels, at which both joint fusions are run; beta 2 and alpha .1.
ANTS_RADII = ((1, 3), (2, 3))
BETA, ALPHA = 2.0, 0.1


class Target(NamedTuple):
    """An image, its truth, and atlases on its grid."""

    number: str
    image: NDArray[Any]
    truth: NDArray[Any]
    images: list[NDArray[Any]]
    maps: list[NDArray[Any]]

    @property
    def near(self) -> NDArray[np.uint8]:
        """Within three voxels of any atlas's label: where ANTs is asked."""
        union = np.any([labels > 0 for labels in self.maps], axis=0)
        return scipy.ndimage.binary_dilation(union, np.ones((3, 3, 3)), 3).astype(np.uint8)


def load(number: str, folder: Path = FOLDER) -> Target:
    """A target by its number."""
    image, truth, images, maps = (
        sitk.GetArrayFromImage(sitk.ReadImage(folder / f"t{number}_{part}.nrrd"))
        for part in ("image", "truth", "atlas_images", "atlas_labels")
    )
    parts = ([np.ascontiguousarray(one) for one in np.moveaxis(a, -1, 0)] for a in (images, maps))
    return Target(number, image, truth, *parts)


def numbers(folder: Path = FOLDER) -> list[str]:
    """Of all targets, in order."""
    return sorted(path.name[1:4] for path in folder.glob("t*_image.nrrd"))


def fusers(target: Target) -> dict[str, Callable[[], Any]]:
    """Ours by name; each fuses the target's atlases."""
    maps = target.maps
    looking: dict[str, Any] = {"Image": target.image, "AtlasImages": target.images}

    def joint(**more: Any) -> Any:
        return ic.JointLabelFusionFilter(NumberOfThreads=THREADS, **looking, **more).Execute(maps)

    def selected(number: int) -> tuple[float, ...]:
        chosen = ic.AtlasSelectionFilter(
            NumberOfAtlases=number, Similarity="normalised correlation", MaskImage=target.near
        )
        return tuple(chosen.Execute(target.image, target.images))

    found: dict[str, Callable[[], Any]] = {
        "vote": lambda: ic.MajorityVote(maps, TieRule="lowest"),
        "corrected vote": lambda: ic.CorrectedVote(maps),
        "Consensus": lambda: ic.Consensus(maps),
        "MultiLabelSTAPLE": lambda: ic.MultiLabelSTAPLE(maps),
        "SpatialSTAPLE": lambda: ic.SpatialSTAPLE(maps),
        "SIMPLE": lambda: ic.SIMPLE(maps),
        "ShapeBasedAveraging": lambda: ic.ShapeBasedAveraging(maps),
        "vote of the 5 most similar": lambda: ic.MajorityVote(
            maps, RaterWeights=selected(5), TieRule="lowest"
        ),
        "vote of the 10 most similar": lambda: ic.MajorityVote(
            maps, RaterWeights=selected(10), TieRule="lowest"
        ),
        "LocallyWeightedVote": lambda: ic.LocallyWeightedVoteFilter(
            NumberOfThreads=THREADS, **looking
        ).Execute(maps),
        "JointLabelFusion": joint,
        "JointLabelFusion of the 10 most similar": lambda: joint(RaterWeights=selected(10)),
    }
    for patch, search in ANTS_RADII:
        found[f"JointLabelFusion, patch {patch} search {search}"] = lambda p=patch, s=search: joint(
            PatchRadius=p, SearchRadius=s, Beta=BETA, Alpha=ALPHA
        )
    return found


def dice_of(labels: Any, truth: NDArray[Any]) -> list[float]:
    """Of each label."""
    found = np.asarray(labels)
    return [float(ic.dice(found == label, truth == label)) for label in LABELS]


def measure(target: Target, ants_python: str | None) -> dict[str, dict[str, Any]]:
    """Dice by label, seconds of processor time and bytes of every fuser."""
    rows: dict[str, dict[str, Any]] = {}
    for name, fuse in fusers(target).items():
        # The first run of a process loads libraries; the second says what the fusion takes.
        fuse()
        begin = time.process_time()
        labels, peak = rise_of_peak(fuse)
        seconds = time.process_time() - begin
        rows[name] = {
            "dice": dice_of(labels, target.truth),
            "processor": seconds,
            "bytes": peak or 0,
        }
    for patch, search in ANTS_RADII if ants_python else ():
        images = target.image, target.images, target.maps, target.near
        settings = {"patch": patch, "search": search, "beta": BETA, "alpha": ALPHA}
        assert ants_python is not None
        said = ants_fusion(ants_python, *images, threads=THREADS, **settings)
        rows[f"ANTs {said.version}, patch {patch} search {search}"] = {
            "dice": dice_of(said.labels, target.truth),
            "processor": said.processor,
            "bytes": said.bytes,
        }
    return rows


def table(targets: dict[str, dict[str, dict[str, Any]]]) -> str:
    """Markdown: Dice by label, and differences to the vote and to the better of ANTs, paired."""
    first = next(iter(targets.values()))
    dice = {name: np.array([rows[name]["dice"] for rows in targets.values()]) for name in first}
    means = {name: values.mean(axis=1) for name, values in dice.items()}
    peers = [name for name in first if name.startswith("ANTs")]
    ants = max(peers, key=lambda name: float(means[name].mean()), default="")
    lines = [
        f"| {len(targets)} targets | {' | '.join(LABELS.values())} | mean | beyond the vote "
        f"| beyond {ants or 'ANTs (absent)'} | CPU seconds | MB |",
        "|---" * (6 + len(LABELS)) + "|",
    ]
    for name, values in dice.items():
        cells = [_with_error(values[:, column]) for column in range(len(LABELS))]
        cells += [_with_error(means[name])]
        for other in ("vote", ants):
            same = other in ("", name)
            cells.append("" if same else _with_error(means[name] - means[other], signed=True))
        seconds = np.mean([rows[name]["processor"] for rows in targets.values()])
        size = np.mean([rows[name]["bytes"] for rows in targets.values()]) / 1e6
        lines.append(f"| {name} | {' | '.join(cells)} | {seconds:.2f} | {size:.0f} |")
    return "\n".join(lines)


def _with_error(values: NDArray[Any], signed: bool = False) -> str:
    error = values.std(ddof=1) / np.sqrt(len(values))
    mean = f"{values.mean():+.4f}" if signed else f"{values.mean():.4f}"
    return f"{mean.replace('0.', '.', 1)} ± {error:.4f}".replace("± 0.", "± .")


def ratios(targets: dict[str, dict[str, dict[str, Any]]]) -> str:
    """How many times less processor time than ANTs joint fusion takes at the same radii."""
    seconds: dict[str, float] = {}
    for rows in targets.values():
        for name, row in rows.items():
            seconds[name] = seconds.get(name, 0.0) + row["processor"]
    said = []
    for patch, search in ANTS_RADII:
        radii = f"patch {patch} search {search}"
        theirs = [n for n in seconds if n.startswith("ANTs") and n.endswith(radii)]
        if theirs:
            ratio = seconds[theirs[0]] / seconds[f"JointLabelFusion, {radii}"]
            said.append(f"{ratio:.0f} times at {radii}")
    if not said:
        return "ANTs was not there to be compared with."
    return f"Seconds of processor time, ANTs over JointLabelFusion: {', '.join(said)}."


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ants-python", help="interpreter of an environment that has antspyx")
    parser.add_argument("--choosing", action="store_true", help="the targets that chose defaults")
    parser.add_argument("--save", action="store_true", help=f"keep the results in {RESULTS.name}")
    chosen = parser.parse_args(arguments)
    if not FOLDER.is_dir():
        parser.error(f"{FOLDER} is not there")
    if chosen.ants_python is None:
        print("no --ants-python: ANTs is absent")
    kept = numbers()[:CHOOSING] if chosen.choosing else numbers()[CHOOSING:]
    targets = {}
    for number in kept:
        targets[number] = measure(load(number), chosen.ants_python)
        print(f"target {number} done", flush=True)
    print(table(targets))
    print(ratios(targets))
    if chosen.save:
        results = {"run": run_facts(), "targets": targets}
        RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
