"""Compare run times with alternatives: a line of NumPy, or another package.

Runs of both alternate, and the minimum processor seconds of each count, since a busy machine slows
both. Packages are called in a separate environment (`peer_calls.py`), created by

python -m venv FOLDER && FOLDER/bin/pip install panoptica surface-distance monai antspyx
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import SimpleITK as sitk
from numpy.typing import NDArray

import itk_consensus as ic
from examples.benchmarks.speed.volumes import ATLASES, CONTOUR_ERROR, NOISY, Raters, raters
from examples.benchmarks.speed.waiting import Wait, row_of
from itk_consensus.assessment.assessment import assess
from itk_consensus.simulation.atlas_phantoms import atlas_case

Row = dict[str, Any]
Shape = tuple[int, ...]
Call = Callable[[], Any]


class PeerSizes(NamedTuple):
    """Sizes (z, y, x) of the inputs, and number of lesions."""

    volume: Shape = (128, 256, 256)
    slice: Shape = (512, 512)
    joint: Shape = (48, 48, 48)
    atlas: Shape = (160, 192, 160)
    atlas_labels: int = 100
    lesions: int = 60


def peers(sizes: PeerSizes, rounds: int, python: Path | None) -> Iterator[Row]:
    """Compare with NumPy and SimpleITK and, given a Python that has them, with other packages."""
    yield from _votes(sizes, rounds)
    yield _import_of_fuse(rounds)
    yield from _pages(sizes, rounds)
    if python is not None:
        yield from _packages(sizes, rounds, python)


def in_turns(ours: Call, theirs: Callable[[], float], rounds: int) -> tuple[float, float]:
    """Return the minimum CPU time of both calls in seconds; the call of another package measures
    its own.
    """
    best = [float("inf"), float("inf")]
    for _ in range(rounds):
        best = [min(best[0], processor_seconds(ours)), min(best[1], theirs())]
    return best[0], best[1]


def processor_seconds(call: Call) -> float:
    """Return the CPU time of all threads for one call, in seconds."""
    start = time.process_time()
    made = call()
    seconds = time.process_time() - start
    del made  # releasing memory is not part of the call
    return seconds


def beside(wait: Wait, ours: Call, peer: Call, rounds: int) -> Row:
    """Return a row for an operation and an alternative in the same process."""
    return row_of(wait, *in_turns(ours, lambda: processor_seconds(peer), rounds))


# -- NumPy and SimpleITK ------------------------------------------------------------------------


def _votes(sizes: PeerSizes, rounds: int) -> Iterator[Row]:
    vote = ic.MajorityVoteFilter(NumberOfThreads=1)
    for kind, what in ((CONTOUR_ERROR, "clean masks"), (NOISY, "voxel noise")):
        masks = raters(kind, sizes.volume, 5)
        images = [sitk.GetImageFromArray(mask) for mask in masks]
        for form, stack, peer, of in (
            ("arrays", masks, lambda m=masks: added(m), "of NumPy's sum and compare"),
            (
                "SimpleITK images",
                images,
                lambda m=masks: (added(m), sitk.Image(sizes.volume[::-1], sitk.sitkUInt8)),
                "of NumPy's sum and compare, and SimpleITK's allocation",
            ),
        ):
            wait = Wait(f"vote, {what}, {form}", of, 1.3)
            yield beside(wait, lambda s=stack: vote.Execute(s), peer, 4 * rounds)
    masks = [mask[0] for mask in raters(CONTOUR_ERROR, (1, *sizes.slice), 5)]
    images = [sitk.GetImageFromArray(mask) for mask in masks]
    for form, stack in (("arrays", masks), ("SimpleITK images", images)):
        yield beside(
            Wait(f"vote of one slice, {form}", "of np.mean", 1.0),
            lambda s=stack: vote.Execute(s),
            lambda: np.mean(masks, axis=0) > 0.5,
            20 * rounds,
        )


def added(masks: Raters) -> NDArray[np.uint8]:
    """Return the vote of an odd number of masks in plain NumPy."""
    total = masks[0] + masks[1]
    for mask in masks[2:]:
        total += mask
    return (total > len(masks) // 2).astype(np.uint8)


def _import_of_fuse(rounds: int) -> Row:
    def importing(what: str) -> float:
        before = os.times()
        subprocess.run([sys.executable, "-c", f"import {what}"], check=True)
        after = os.times()
        return sum(after[2:4]) - sum(before[2:4])

    fuse, floor = "itk_consensus.cli.fuse", "numpy, SimpleITK"
    pairs = [(importing(fuse), importing(floor)) for _ in range(2 * rounds)]
    seconds, least = (min(column) for column in zip(*pairs, strict=True))
    return row_of(Wait("import of fuse", "imports of numpy and SimpleITK", 1.3), seconds, least)


def _pages(sizes: PeerSizes, rounds: int) -> Iterator[Row]:
    """Measure the times of pages, with a limit of three calls of Execute and a second."""
    vote = ic.MajorityVoteFilter(NumberOfThreads=1)
    atlases = f"{ATLASES} {sizes.atlas_labels}"
    for what, kind, shape, number in (
        (f"page, 15 atlases of {sizes.atlas_labels} labels", atlases, sizes.atlas, 15),
        ("page, one organ", CONTOUR_ERROR, sizes.volume, 5),
        ("page, one slice", CONTOUR_ERROR, (1, *sizes.slice), 5),
    ):
        images = [sitk.GetImageFromArray(mask) for mask in raters(kind, shape, number)]
        with TemporaryDirectory() as folder:
            files = [Path(folder) / f"{at}.nii.gz" for at in range(number)]
            for image, file in zip(images, files, strict=True):
                sitk.WriteImage(image, str(file))
            execute, page = float("inf"), float("inf")
            for _ in range(rounds):
                execute = min(execute, processor_seconds(lambda s=images: vote.Execute(s)))
                assess(vote.GetResult()).findings(
                    full=False
                )  # these are also printed by fuse without a page
                path = Path(folder) / "page.html"
                page = min(
                    page, processor_seconds(lambda p=path, f=files: ic.report(vote, p, files=f))
                )
        yield row_of(Wait(what, "of 3 Executes + 1 s", 1.0), page, 3 * execute + 1)


# -- other packages -----------------------------------------------------------------------------


class Peers:
    """A process that calls other packages on request."""

    def __init__(self, python: Path, folder: Path) -> None:
        script = Path(__file__).with_name("peer_calls.py")
        self._process = subprocess.Popen(
            [python, script, folder],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.versions: dict[str, str] = {}

    def seconds(self, name: str) -> float:
        """Return the CPU time of one call, in seconds."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(name, file=self._process.stdin, flush=True)
        answer = json.loads(self._process.stdout.readline())
        self.versions[name] = answer["version"]
        return float(answer["seconds"])

    def __enter__(self) -> Peers:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()


def _packages(sizes: PeerSizes, rounds: int, python: Path) -> Iterator[Row]:
    with TemporaryDirectory() as name:
        folder = Path(name)
        ours = _written_for_peers(folder, sizes)
        with Peers(python, folder) as other:
            for what, peer, limit in (
                ("LesionAgreement", "panoptica", 1.0),
                ("AgreementFilter, one pair", "surface-distance", 1.0),
                ("AgreementFilter, one pair", "MONAI", 1.0),
                ("JointLabelFusion", "ANTs", 1.0),
            ):
                call = ours[peer]
                call()
                found = in_turns(call, lambda p=peer: other.seconds(p), rounds)
                yield row_of(Wait(what, f"of {peer} {other.versions[peer]}", limit), *found)


def _written_for_peers(folder: Path, sizes: PeerSizes) -> dict[str, Call]:
    """Write inputs as arrays to a folder; return our calls with the same inputs."""
    lesions = lesion_masks(sizes.volume, sizes.lesions)
    organ = raters(CONTOUR_ERROR, sizes.volume, 2)
    case = atlas_case(3000, sizes.joint, 4, 5, amplitude=2.0)
    images = [np.asarray(image, np.float32) for image in case.images]
    target = np.asarray(case.target, np.float32)
    for name, arrays in (("lesions", lesions), ("organ", organ), ("images", images)):
        np.save(folder / f"{name}.npy", np.stack(arrays))
    np.save(folder / "maps.npy", np.stack(case.maps))
    np.save(folder / "target.npy", target)
    agreement = ic.AgreementFilter(NumberOfThreads=1)
    joint = ic.JointLabelFusionFilter(
        Image=target, AtlasImages=images, PatchRadius=2.0, SearchRadius=0.0, NumberOfThreads=1
    )
    pair = [sitk.GetImageFromArray(mask) for mask in organ]
    both = [sitk.GetImageFromArray(mask) for mask in lesions]
    return {
        "panoptica": lambda: ic.lesion_agreement(both),
        "surface-distance": lambda: agreement.Execute(pair),
        "MONAI": lambda: agreement.Execute(pair),
        "ANTs": lambda: joint.Execute(case.maps),
    }


def lesion_masks(shape: Shape, number: int, readers: int = 2) -> Sequence[NDArray[np.uint8]]:
    """Return balls with radii of 2 to 7 voxels, each found by a reader with probability .85."""
    rng = np.random.default_rng(3000)
    masks = [np.zeros(shape, np.uint8) for _ in range(readers)]
    for _ in range(number):
        middle = [rng.uniform(0.1, 0.9) * side for side in shape]
        radius = rng.uniform(2, 7)
        for mask in masks:
            own, place = radius * rng.uniform(0.85, 1.15), rng.normal(middle, 0.7)
            if rng.random() > 0.85:
                continue
            box = tuple(
                slice(max(0, int(at - own - 1)), int(at + own + 2)) for at in place.tolist()
            )
            grid = np.ogrid[
                tuple(slice(s.start, min(s.stop, n)) for s, n in zip(box, shape, strict=True))
            ]
            inside = sum((axis - at) ** 2 for axis, at in zip(grid, place, strict=True))
            mask[box] |= (inside < own**2).astype(np.uint8)
    return masks
