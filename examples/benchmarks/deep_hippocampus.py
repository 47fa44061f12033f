"""DeepConsensusFilter on real brains: hippocampi of the Decathlon with 15 registered atlases each.

    python examples/benchmarks/deep_hippocampus.py --save

It trains on the twelve targets with the lowest numbers, of which three decide when to stop and
judge, and reports Dice of the six others, beside what the same network learns from less: without
the atlases' images, from images of noise, and from the image alone, which no atlas labels. With
--save results are kept in deep_hippocampus.json, from which docs/truth.md is written.

The images lie beside the repository (../shared/data/hippocampus).
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from real_atlases import CHOOSING, FOLDER, Target, dice_of, load, numbers
from run_facts import run_facts

import itk_consensus as ic
from itk_consensus.errors import ConsensusWarning

RESULTS = Path(__file__).resolve().with_suffix(".json")
THREADS = 1

#: Mean Dice of both labels, target by target.
Scores = list[float]


class Material(NamedTuple):
    """What a network is shown of a target."""

    image: Any
    labels: list[Any]
    atlas_images: list[Any] | None


def with_atlas_images(target: Target) -> Material:
    """All there is."""
    return Material(target.image, target.maps, target.images)


def without_atlas_images(target: Target) -> Material:
    """Atlases as raters of whom nothing is known but what they drew."""
    return Material(target.image, target.maps, None)


def image_alone(target: Target) -> Material:
    """One rater, who drew nothing."""
    return Material(target.image, [np.zeros_like(target.truth)], None)


def noise_image(target: Target) -> Material:
    """The atlases' labels on an image that shows nothing."""
    noise = np.random.default_rng(int(target.number)).standard_normal(target.image.shape)
    return Material(noise.astype(np.float32), target.maps, None)


NETWORKS: dict[str, Callable[[Target], Material]] = {
    "network": with_atlas_images,
    "network, image alone": image_alone,
    "network, images of noise": noise_image,
    "network, without the atlases' images": without_atlas_images,
}


def fitted(
    targets: Sequence[Target], shown: Callable[[Target], Material], **parameters: Any
) -> ic.DeepConsensusFilter:
    """A filter trained on targets."""
    material = [shown(target) for target in targets]
    atlas_images = [one.atlas_images for one in material]
    deep = ic.DeepConsensusFilter(NumberOfThreads=THREADS, **parameters)
    if shown is image_alone:
        # Its rater is wrong wherever there is something, and must not be believed.
        deep.LockUnanimousVoxels, deep.Region, deep.WithoutGain = False, "full", "network"
    if shown is noise_image:
        deep.WithoutGain = "network"
    with warnings.catch_warnings():
        # What speaks against a control is no surprise.
        warnings.simplefilter("ignore", ConsensusWarning)
        deep.Fit(
            [one.image for one in material],
            [one.labels for one in material],
            [target.truth for target in targets],
            atlas_images=None if None in atlas_images else atlas_images,
        )
    return deep


def scores(
    deep: ic.DeepConsensusFilter, targets: Sequence[Target], shown: Callable[[Target], Material]
) -> Scores:
    """Of what the filter answers."""
    found = []
    for target in targets:
        given = shown(target)
        fused = deep.Execute(given.image, given.labels, atlas_images=given.atlas_images)
        found.append(float(np.mean(dice_of(fused, target.truth))))
    return found


def without_network(target: Target) -> dict[str, float]:
    """Mean Dice of what needs no training."""
    joint = ic.JointLabelFusionFilter(Image=target.image, AtlasImages=target.images)
    fused = {
        "vote": ic.MajorityVote(target.maps, TieRule="lowest"),
        "Consensus": ic.Consensus(target.maps),
        "MultiLabelSTAPLE": ic.MultiLabelSTAPLE(target.maps),
        "JointLabelFusion": joint.Execute(target.maps),
    }
    return {name: float(np.mean(dice_of(one, target.truth))) for name, one in fused.items()}


def table(rows: dict[str, dict[str, Any]]) -> str:
    """Markdown: Dice, and differences to the vote and to joint fusion, paired."""
    vote, joint = (np.array(rows[name]["dice"]) for name in ("vote", "JointLabelFusion"))
    lines = [
        f"| {len(vote)} targets | Dice | beyond the vote | beyond JointLabelFusion "
        "| CPU seconds of training | gain over the vote on held-out cases, as Fit says it |",
        "|---|---|---|---|---|---|",
    ]
    for name, row in rows.items():
        dice = np.array(row["dice"])
        cells = [with_error(dice), with_error(dice - vote, "+"), with_error(dice - joint, "+")]
        seconds = f"{row['processor']:.0f}" if "processor" in row else ""
        lines.append(f"| {name} | {' | '.join(cells)} | {seconds} | {row.get('held out', '')} |")
    return "\n".join(lines)


def with_error(values: Any, sign: str = "") -> str:
    """The mean over targets and its standard error."""
    error = np.std(values, ddof=1) / np.sqrt(len(values))
    return f"{np.mean(values):{sign}.4f} ± {error:.4f}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, report, and keep it if that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--networks", nargs="*", choices=NETWORKS, default=list(NETWORKS))
    parser.add_argument("--time-budget", type=float, default=1200.0, help="seconds, of each")
    parser.add_argument("--models", type=Path, help="a folder of trained models, used if there")
    parser.add_argument("--only-train", action="store_true", help="look at no reported target")
    parser.add_argument("--save", action="store_true", help=f"keep results in {RESULTS.name}")
    chosen = parser.parse_args(arguments)
    if not FOLDER.is_dir():
        parser.error(f"{FOLDER} is not there")
    training = [load(number) for number in numbers()[:CHOOSING]]
    reported = [] if chosen.only_train else [load(number) for number in numbers()[CHOOSING:]]
    rows: dict[str, dict[str, Any]] = {}
    for target in reported:
        for name, dice in without_network(target).items():
            rows.setdefault(name, {"dice": []})["dice"].append(dice)
    for name in chosen.networks:
        shown, start = NETWORKS[name], time.process_time()
        deep = fitted(training, shown, TimeBudget=chosen.time_budget)
        rows[name] = {
            "processor": time.process_time() - start,
            "held out": str(deep.GetHeldOutGain()["vote"]),
            "iterations": deep.GetTrainingHistory()[-1]["iteration"],
            "diagnostics": str(deep.GetDiagnostics()),
            "dice": scores(deep, reported, shown),
        }
        print(f"{name}: {rows[name]}", flush=True)
        if chosen.models is not None:
            deep.Save(chosen.models / f"{name}.model")
    if reported:
        print(table(rows))
    if chosen.save:
        kept = {"run": run_facts(), "rows": rows}
        RESULTS.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
