"""Compare atlas fusion on real brains: Decathlon hippocampi with 15 registered atlases each.

    python -m examples.benchmarks.atlases.real_atlases --ants-python /path/to/bin/python --save
    python -m examples.benchmarks.atlases.real_atlases --choosing --save

Defaults were chosen on the twelve targets with the lowest numbers: --choosing prints the gain that
other settings of joint fusion, and additional steps, achieve on them. Results are reported on the
six others. With --save both are stored in real_atlases.json, for docs/truth/atlases.md.

The images are next to the repository (../shared/data/hippocampus). ANTs runs in a separate
environment; without it, its rows are left out, and the output mentions this.
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
from numpy.typing import NDArray

import itk_consensus as ic
from examples.benchmarks.atlases.ants_joint_fusion import ants_fusion
from examples.benchmarks.run_facts import run_facts
from examples.benchmarks.speed.peak_memory import rise_of_peak

FOLDER = Path(__file__).resolve().parents[4] / "shared" / "data" / "hippocampus"
RESULTS = Path(__file__).resolve().with_suffix(".json")
CHOOSING = 12  #: Number of targets on which defaults were chosen (those with the lowest numbers)
LABELS = {1: "anterior", 2: "posterior"}
THREADS = 2

#: Radii, in voxels, with which both joint fusions are run; beta is 2 and alpha .1.
ANTS_RADII = ((1, 3), (2, 3))
BETA, ALPHA = 2.0, 0.1


class Target(NamedTuple):
    """An image, its reference segmentation, and atlases on its grid."""

    number: str
    image: NDArray[Any]
    truth: NDArray[Any]
    images: list[NDArray[Any]]
    maps: list[NDArray[Any]]

    @property
    def near(self) -> NDArray[np.uint8]:
        """Return the mask of the voxels within three voxels of any atlas's label, on which ANTs is
        run.
        """
        union = np.any([labels > 0 for labels in self.maps], axis=0)
        return scipy.ndimage.binary_dilation(union, np.ones((3, 3, 3)), 3).astype(np.uint8)


def load(number: str, folder: Path = FOLDER) -> Target:
    """Load a target by its number."""
    image, truth, images, maps = (
        sitk.GetArrayFromImage(sitk.ReadImage(folder / f"t{number}_{part}.nrrd"))
        for part in ("image", "truth", "atlas_images", "atlas_labels")
    )
    parts = ([np.ascontiguousarray(one) for one in np.moveaxis(a, -1, 0)] for a in (images, maps))
    return Target(number, image, truth, *parts)


def numbers(folder: Path = FOLDER) -> list[str]:
    """Return the numbers of all targets, in order."""
    return sorted(path.name[1:4] for path in folder.glob("t*_image.nrrd"))


def fusers(target: Target) -> dict[str, Callable[[], Any]]:
    """Return our fusion filters by name; each fuses the target's atlases."""
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
    """Return the Dice of each label."""
    found = np.asarray(labels)
    return [float(ic.dice(found == label, truth == label)) for label in LABELS]


def measure(target: Target, ants_python: str | None) -> dict[str, dict[str, Any]]:
    """Measure the Dice by label, processor time in seconds and memory in bytes of every fuser."""
    rows: dict[str, dict[str, Any]] = {}
    for name, fuse in fusers(target).items():
        # The first run in a process also loads libraries, so only the second one is measured.
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
    """Format Markdown: Dice by label, and paired differences from the vote and from the better
    ANTs run.
    """
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
    """Return the processor time of ANTs joint fusion relative to ours, with the same radii."""
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


# -- alternatives, on the targets for choosing
# -----------------------------------------------------

#: Alternative settings of joint fusion, keyed by a description of the change.
VARIATIONS: dict[str, dict[str, Any]] = {
    "no search": {"SearchRadius": 0},
    "search 1": {"SearchRadius": 1},
    "search 3": {"SearchRadius": 3},
    "patch 2": {"PatchRadius": 2},
    "patch 2, search 3": {"PatchRadius": 2, "SearchRadius": 3},
    "beta 1": {"Beta": 1.0},
    "beta 4": {"Beta": 4.0},
    "alpha .01": {"Alpha": 0.01},
    "alpha 1": {"Alpha": 1.0},
    "weights constrained": {"ConstrainWeights": True},
    "patches not normalised": {"NormalizePatches": False},
}


def smoothed(shares: NDArray[Any], _image: NDArray[Any]) -> NDArray[Any]:
    """Return the shares smoothed by a Gaussian with a sigma of half a voxel."""
    return np.stack([scipy.ndimage.gaussian_filter(share, 0.5) for share in shares])


def with_potts(shares: NDArray[Any], _image: NDArray[Any], weight: float = 0.1) -> NDArray[Any]:
    """Return the beliefs of a Potts field on the shares, after five mean-field sweeps."""
    faces = scipy.ndimage.generate_binary_structure(3, 1).astype(float)
    faces[1, 1, 1] = 0
    beliefs, data = shares, np.log(shares + 0.02)
    for _ in range(5):
        around = np.stack([scipy.ndimage.convolve(one, faces) for one in beliefs])
        beliefs = scipy.special.softmax(data + weight * around, axis=0)
    return beliefs


def with_intensities(
    shares: NDArray[Any], image: NDArray[Any], weight: float = 0.2, sigma: float = 4.0
) -> NDArray[Any]:
    """Return the shares weighted by how well a voxel's intensity fits the certain tissue nearby."""
    values, fitted = image.astype(float), np.log(shares + 0.02)
    near = scipy.ndimage.binary_dilation(shares[0] < 0.95, iterations=3)
    for tissue in (slice(0, 1), slice(1, None)):
        sure = np.where((share := shares[tissue].sum(axis=0)) > 0.8, share, 0) * near

        def mean(what: NDArray[Any], sure: NDArray[Any] = sure) -> NDArray[Any]:
            total = scipy.ndimage.gaussian_filter(sure, sigma) + 1e-6
            return np.asarray(scipy.ndimage.gaussian_filter(sure * what, sigma) / total)

        middle = mean(values)
        spread = np.maximum(mean(values**2) - middle**2, 400)
        fitted[tissue] -= weight * (np.log(spread) + (values - middle) ** 2 / spread) / 2
    agreed = shares.max(axis=0) > 0.999
    return np.where(agreed, shares, fitted)


ON_TOP = {
    "smoothed by half a voxel": smoothed,
    "a Potts term": with_potts,
    "an intensity term": with_intensities,
}


def try_out(target: Target) -> dict[str, float]:
    """Return the mean Dice of joint fusion with default settings, with other settings, and with
    additional steps.
    """
    looking: dict[str, Any] = {"Image": target.image, "AtlasImages": target.images}

    def fused(**more: Any) -> tuple[Any, NDArray[Any]]:
        filter_ = ic.JointLabelFusionFilter(NumberOfThreads=THREADS, **looking, **more)
        labels = filter_.Execute(target.maps)
        return labels, np.stack([filter_.GetProbabilityImage(k) for k in (0, *LABELS)])

    def mean(labels: Any) -> float:
        return float(np.mean(dice_of(labels, target.truth)))

    labels, shares = fused()
    found = {"as it comes": mean(labels)}
    found |= {name: mean(fused(**more)[0]) for name, more in VARIATIONS.items()}
    for name, change in ON_TOP.items():
        found[name] = mean(change(shares, target.image).argmax(axis=0))
    wide = fused(PatchRadius=2)[1]
    found["mean of patches 1 and 2"] = mean((shares + wide).argmax(axis=0))
    for number in (5, 10):
        chosen = ic.AtlasSelectionFilter(
            NumberOfAtlases=number, Similarity="normalised correlation", MaskImage=target.near
        )
        weights = chosen.Execute(target.image, target.images)
        found[f"the {number} most similar atlases"] = mean(fused(RaterWeights=weights)[0])
    return found


def choices_table(targets: dict[str, dict[str, float]]) -> str:
    """Format Markdown: the gain in Dice of each change over the default joint fusion."""
    usual = np.array([found["as it comes"] for found in targets.values()])
    lines = [
        f"| {len(targets)} targets on which defaults were chosen | mean Dice | gain |",
        "|---|---|---|",
    ]
    for name in next(iter(targets.values())):
        own = np.array([found[name] for found in targets.values()])
        gain = "" if name == "as it comes" else _with_error(own - usual, signed=True)
        lines.append(f"| {name} | {own.mean():.4f} | {gain} |".replace("| 0.", "| ."))
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ants-python", help="interpreter of an environment that has antspyx")
    parser.add_argument("--choosing", action="store_true", help="other settings, where chosen")
    parser.add_argument("--save", action="store_true", help=f"keep the results in {RESULTS.name}")
    chosen = parser.parse_args(arguments)
    if not FOLDER.is_dir():
        parser.error(f"{FOLDER} is not there")
    if chosen.choosing:
        tried = {number: try_out(load(number)) for number in numbers()[:CHOOSING]}
        print(choices_table(tried))
        _keep("choosing", tried, chosen)
        return
    if chosen.ants_python is None:
        print("no --ants-python: ANTs is absent")
    targets = {}
    for number in numbers()[CHOOSING:]:
        targets[number] = measure(load(number), chosen.ants_python)
        print(f"target {number} done", flush=True)
    print(table(targets))
    print(ratios(targets))
    _keep("reported", targets, chosen)


def _keep(name: str, targets: dict[str, Any], chosen: argparse.Namespace) -> None:
    """Write one part of the stored results, if requested, and leave the other part unchanged."""
    if not chosen.save:
        return
    kept = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    run = run_facts()
    # Paths on this machine are not stored.
    run["command"] = run["command"].replace(str(chosen.ants_python), "PYTHON")
    kept[name] = {"run": run, "targets": targets}
    RESULTS.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
