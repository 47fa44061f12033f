"""Test DeepConsensusFilter on real brains: Decathlon hippocampi with 15 registered atlases each.

    python -m examples.benchmarks.deep.deep_hippocampus --save

The network is trained on the twelve targets with the lowest numbers, three of which are held out
for stopping and evaluation. Dice is reported on the six others, and compared with networks that
are given less: no atlas images, images of noise, or the image without atlas labels. With --save
results are stored in deep_real.json, from which docs/truth/deep.md is written.

The images are next to the repository (../shared/data/hippocampus).
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

import itk_consensus as ic
from examples.benchmarks.atlases.real_atlases import (
    CHOOSING,
    FOLDER,
    Target,
    dice_of,
    load,
    numbers,
)
from examples.benchmarks.deep.deep_real import RESULTS, Rows, keep, table
from itk_consensus.core.errors import ConsensusWarning

TITLE = "Hippocampi: 12 targets train, 6 are reported; 15 atlases"
THREADS = 1


class Material(NamedTuple):
    """The inputs that a network is given for a target."""

    image: Any
    labels: list[Any]
    atlas_images: list[Any] | None


def with_atlas_images(target: Target) -> Material:
    """Return the image, the atlas labels and the atlas images."""
    return Material(target.image, target.maps, target.images)


def without_atlas_images(target: Target) -> Material:
    """Return the atlases as raters, without their images."""
    return Material(target.image, target.maps, None)


def image_alone(target: Target) -> Material:
    """Return the image, and a single rater with an empty mask."""
    return Material(target.image, [np.zeros_like(target.truth)], None)


def noise_image(target: Target) -> Material:
    """Return the atlases' labels, and an image of noise."""
    noise = np.random.default_rng(int(target.number)).standard_normal(target.image.shape)
    return Material(noise.astype(np.float32), target.maps, None)


NETWORKS: dict[str, Callable[[Target], Material]] = {
    "network": with_atlas_images,
    "network, image alone": image_alone,
    "network, images of noise": noise_image,
    "network, without the atlases' images": without_atlas_images,
}


def asking(shown: Callable[[Target], Material], **parameters: Any) -> ic.DeepConsensusFilter:
    """Create a filter that always uses its network, even without a gain."""
    deep = ic.DeepConsensusFilter(NumberOfThreads=THREADS, **parameters)
    if shown in (image_alone, noise_image):
        deep.WithoutGain = "network"
    if shown is image_alone:
        # Its only rater is empty, so unanimous voxels must not be locked.
        deep.LockUnanimousVoxels, deep.Region = False, "full"
    return deep


def fitted(
    targets: Sequence[Target], shown: Callable[[Target], Material], **parameters: Any
) -> ic.DeepConsensusFilter:
    """Train a filter on the targets."""
    material = [shown(target) for target in targets]
    atlas_images = [one.atlas_images for one in material]
    deep = asking(shown, **parameters)
    with warnings.catch_warnings():
        # Warnings about a control are expected.
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
) -> list[float]:
    """Return the mean Dice of both labels for each target."""
    found = []
    for target in targets:
        given = shown(target)
        fused = deep.Execute(given.image, given.labels, atlas_images=given.atlas_images)
        found.append(float(np.mean(dice_of(fused, target.truth))))
    return found


def without_network(target: Target) -> dict[str, float]:
    """Return the mean Dice of methods without training."""
    joint = ic.JointLabelFusionFilter(Image=target.image, AtlasImages=target.images)
    fused = {
        "vote": ic.MajorityVote(target.maps, TieRule="lowest"),
        "Consensus": ic.Consensus(target.maps),
        "MultiLabelSTAPLE": ic.MultiLabelSTAPLE(target.maps),
        "JointLabelFusion": joint.Execute(target.maps),
    }
    return {name: float(np.mean(dice_of(one, target.truth))) for name, one in fused.items()}


def trained(
    name: str, models: Path | None, **parameters: Any
) -> tuple[ic.DeepConsensusFilter, dict[str, Any]]:
    """Return a trained filter and facts about its training, loaded from a folder if present."""
    shown, start = NETWORKS[name], time.process_time()
    model, facts = (models and models / f"{name}{kind}" for kind in (".safetensors", ".json"))
    if model and facts and model.exists() and facts.exists():
        deep = asking(shown).Load(model)
        return deep, json.loads(facts.read_text(encoding="utf-8"))
    deep = fitted([load(number) for number in numbers()[:CHOOSING]], shown, **parameters)
    found = {
        "processor": time.process_time() - start,
        "said": str(deep.GetHeldOutGain()["vote"]),
        "iterations": deep.GetTrainingHistory()[-1]["iteration"],
    }
    if model and facts:
        deep.Save(model)
        facts.write_text(json.dumps(found), encoding="utf-8")
    return deep, found


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, report, and store the results if requested."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--networks", nargs="*", choices=NETWORKS, default=list(NETWORKS))
    parser.add_argument("--time-budget", type=float, default=1100.0, help="seconds, of each")
    parser.add_argument("--models", type=Path, help="a folder to keep trained models in")
    parser.add_argument("--save", action="store_true", help=f"keep results in {RESULTS.name}")
    chosen = parser.parse_args(arguments)
    if not FOLDER.is_dir():
        parser.error(f"{FOLDER} is not there")
    reported = [load(number) for number in numbers()[CHOOSING:]]
    rows: Rows = {}
    for target in reported:
        for name, dice in without_network(target).items():
            rows.setdefault(name, {"dice": []})["dice"].append(dice)
    for name in chosen.networks:
        deep, facts = trained(name, chosen.models, TimeBudget=chosen.time_budget)
        if NETWORKS[name] is image_alone:
            del facts["said"]  # not meaningful for an empty rater
        rows[name] = {"dice": scores(deep, reported, NETWORKS[name]), **facts}
        print(f"{name}: {rows[name]}\n{deep.GetDiagnostics()}", flush=True)
        if chosen.save:
            keep(TITLE, rows, chosen.models)
    print(table(rows))


if __name__ == "__main__":
    main()
