"""Measure paired differences of every fuser from the vote on all sets of real segmentations.

    python real_evidence.py [--sets LIDC crowd] [--ants-python PYTHON] [--save real_evidence.json]

- *LIDC*: each of four radiologists against the consensus of the three others, 100 lung nodules.
- *crowd*: seven workers against the experts' gold, 165 images of BU-BIL.
- *experts*: each expert of BU-BIL against the consensus of the others, one tool of each person;
  every third image.
- *kidneys*: each of three annotations of KiTS21 against the two others: kidneys, tumours, cysts.
- *hippocampi*: 15 registered atlases against a manual segmentation, the six reported targets.
- *prostates*: four networks against a manual segmentation, the 20 on which nothing was chosen.
- *skin*: eight dermatologists, each against the others; findings drawn by three or more.
- *KiTS19*: three annotations of KiTS21 against the independent reference of KiTS19.

Dice and surface Dice (within the smallest voxel side) are means over labels; volume errors are
relative; their differences from the vote's errors are given, so lower is better. Standard errors
are over cases: nodules, images, scans. Ties of the vote are background. Other packages run if they
are installed: SimpleITK, ANTs (in a separate environment), CMTK, crowd-kit. The data are next to
the repository (../shared/data); missing sets are left out.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import SimpleITK as sitk
from numpy.typing import NDArray

import itk_consensus as ic
from examples.benchmarks.atlases.ants_joint_fusion import ants_fusion
from examples.benchmarks.atlases.real_atlases import (
    ALPHA,
    ANTS_RADII,
    BETA,
    CHOOSING,
    load,
    numbers,
)
from examples.benchmarks.learned import cohorts
from examples.benchmarks.methods.consensus_evidence import DATA, crowd_cases, masks_of
from examples.benchmarks.run_facts import run_facts
from itk_consensus.core.errors import ConsensusWarning, InputError
from itk_consensus.methods.registry import FUSER_MODULES, load_filter, short_name
from itk_consensus.space.boxes import bounding_box

Labels = NDArray[Any]
VOTE = "vote"
MEASURES = ("dice", "surface_dice", "volume_error")

#: Fusers that are identical to the vote for masks.
THE_VOTE_AGAIN = (
    "MajorityVoteFilter",
    "LabelVotingImageFilter",
    "ProbabilityAverageFilter",
    "LogOpinionPoolFilter",
)
#: The labels of this filter are objects, whereas those of these data sets are classes, so it is run
#: for two labels only.
OF_OBJECTS = "InstanceConsensusFilter"
#: Filters for two labels and for many labels, which give the same result for two labels.
STAPLES = ("STAPLEImageFilter", "MultiLabelSTAPLEImageFilter")

#: Use every third image of the experts, which are slow to process and similar to each other.
EVERY_IMAGE = 3


class Case(NamedTuple):
    """The raters' label maps of a case, and the reference."""

    name: str  #: Cases with the same name count as one sample in the standard error
    truth: Labels
    raters: list[Labels]
    spacing: tuple[float, ...]  #: In array order
    image: Labels | None = None
    atlas_images: Sequence[Labels] = ()


def lidc() -> Iterator[Case]:
    """Yield cases in which each reader in turn is the reference."""
    for path in sorted((DATA / "lidc").glob("*.nrrd")):
        readers, sides = masks_of(path)
        yield from _left_out(path.stem, list(readers.astype(np.uint8)), sides)


def crowd() -> Iterator[Case]:
    """Yield cases in which the raters are crowd workers and the reference is the gold standard."""
    for number, (gold, workers, sides) in enumerate(crowd_cases()):
        yield Case(str(number), gold.astype(np.uint8), list(workers.astype(np.uint8)), sides)


def experts() -> Iterator[Case]:
    """Yield cases in which each expert in turn is the reference; only the first tool of each
    person is used.
    """
    for path in sorted((DATA / "bubil").glob("*_experts.nrrd"))[::EVERY_IMAGE]:
        masks, sides = masks_of(path)
        people = masks[::2] if len(masks) > 3 else masks
        box = bounding_box(people.any(axis=0))
        assert box is not None
        wide = tuple(slice(max(part.start - 12, 0), part.stop + 12) for part in box)
        yield from _left_out(path.stem, [one[wide].astype(np.uint8) for one in people], sides)


def kidneys() -> Iterator[Case]:
    """Yield cases in which each annotation in turn is the reference; each kind of object has
    one label.
    """
    for path in sorted((DATA / "kits21").glob("*_annotations.nrrd")):
        image = sitk.ReadImage(str(path))
        objects = np.moveaxis(sitk.GetArrayFromImage(image), -1, 0)
        kinds = [(1 + (one > 10) + (one > 20)) * (one > 0) for one in objects]
        sides = tuple(image.GetSpacing()[::-1])
        yield from _left_out(path.stem, [one.astype(np.uint8) for one in kinds], sides)


def hippocampi() -> Iterator[Case]:
    """Yield the targets that were not used to choose rules or parameters."""
    for number in numbers()[CHOOSING:]:
        target = load(number)
        sides = (1.0, 1.0, 1.0)
        yield Case(number, target.truth, target.maps, sides, target.image, target.images)


def prostates() -> Iterator[Case]:
    """Yield cases in which the raters are networks and the reference is a manual segmentation."""
    yield from map(_of_truth, cohorts.prostates("report"))


def skin() -> Iterator[Case]:
    """Yield cases in which each dermatologist who drew a finding is in turn the reference."""
    for finding in cohorts.FINDINGS:
        for reader in range(8):
            yield from (_of_truth(c) for c in cohorts.findings(finding, reader) if c.truth.any())


def kits19() -> Iterator[Case]:
    """Yield cases with kidneys and tumours and an independent reference."""
    yield from map(_of_truth, cohorts.kidneys())


def _of_truth(case: cohorts.TrueCase) -> Case:
    return Case(case.name, case.truth, case.raters, case.spacing)


def _left_out(name: str, readers: list[Labels], sides: tuple[float, ...]) -> Iterator[Case]:
    for j, reader in enumerate(readers):
        yield Case(name, reader, readers[:j] + readers[j + 1 :], sides)


SETS: dict[str, Callable[[], Iterator[Case]]] = {
    "LIDC": lidc,
    "crowd": crowd,
    "experts": experts,
    "kidneys": kidneys,
    "hippocampi": hippocampi,
    "prostates": prostates,
    "skin": skin,
    "KiTS19": kits19,
}


def answers(case: Case, ants_python: str | None) -> Iterator[tuple[str, Labels]]:
    """Return the results of all suitable fusers and of installed packages."""
    images = [_image(rater, case.spacing) for rater in case.raters]
    several = bool(max(rater.max() for rater in case.raters) > 1)
    yield VOTE, _array(ic.MajorityVote(images, TieRule="background"))
    for name in FUSER_MODULES:
        if name in (*THE_VOTE_AGAIN, STAPLES[not several]) or (several and name == OF_OBJECTS):
            continue
        answer = _answer(load_filter(name)(), images)
        if answer is not None:
            yield short_name(name), (answer > 0 if name == OF_OBJECTS else answer)
    advanced = _answer(load_filter(STAPLES[several])(Variant="advanced"), images)
    if advanced is not None:
        yield f"{short_name(STAPLES[several])} (advanced)", advanced
    if case.image is not None:
        yield from _of_atlases(case, images)
    yield from _peers(case, images, several, ants_python)


def _answer(fuser: Any, images: list[sitk.Image]) -> Labels | None:
    """Return the label map of a fuser; None if it does not accept such images."""
    try:
        fuser.Execute(images)
    except InputError:
        return None
    return _array(fuser.GetLabelImage())


def _of_atlases(case: Case, images: list[sitk.Image]) -> Iterator[tuple[str, Labels]]:
    looking = {
        "Image": _image(case.image, case.spacing),
        "AtlasImages": [_image(one, case.spacing) for one in case.atlas_images],
    }
    yield "LocallyWeightedVote", _array(ic.LocallyWeightedVoteFilter(**looking).Execute(images))
    yield "JointLabelFusion", _array(ic.JointLabelFusionFilter(**looking).Execute(images))


def _peers(
    case: Case, images: list[sitk.Image], several: bool, ants_python: str | None
) -> Iterator[tuple[str, Labels]]:
    if several:
        yield "sitk.MultiLabelSTAPLE", _array(sitk.MultiLabelSTAPLE(images))
    else:
        yield "sitk.STAPLE", _array(sitk.STAPLE(images, 1.0)) > 0.5
        yield from _crowd_kit(case)
    if shutil.which("cmtk") and len(case.spacing) == 3 and len(images) > 2:
        yield from _cmtk(case, images)
    if case.image is not None and ants_python is not None:
        patch, search = ANTS_RADII[0]
        near = np.any([rater > 0 for rater in case.raters], axis=0)
        settings = {"patch": patch, "search": search, "beta": BETA, "alpha": ALPHA}
        given = case.image, case.atlas_images, case.raters, _grown(near)
        said = ants_fusion(ants_python, *given, threads=1, **settings)
        yield "ANTs joint fusion", said.labels


def _grown(near: NDArray[np.bool_]) -> NDArray[np.uint8]:
    grown = sitk.BinaryDilate(sitk.GetImageFromArray(near.astype(np.uint8)), [3] * near.ndim)
    return np.asarray(sitk.GetArrayFromImage(grown))


def _crowd_kit(case: Case) -> Iterator[tuple[str, Labels]]:
    """Return the result of crowd-kit's EM for masks, with its defaults."""
    try:
        import pandas as pd
        from crowdkit.aggregation import SegmentationEM
    except ImportError:
        return
    # It ignores neighbours, and requires images with two axes.
    flat = [(rater > 0).reshape(len(rater), -1) for rater in case.raters]
    rows = [("case", str(j), mask) for j, mask in enumerate(flat)]
    table = pd.DataFrame(rows, columns=["task", "worker", "segmentation"])
    found = np.asarray(SegmentationEM().fit_predict(table)["case"], np.uint8)
    yield "crowd-kit's EM", found.reshape(case.truth.shape)


def _cmtk(case: Case, images: list[sitk.Image]) -> Iterator[tuple[str, Labels]]:
    """Yield CMTK's shape-based averaging and, for atlases, its local vote."""
    with tempfile.TemporaryDirectory() as folder:
        given = {f"labels{n}": image for n, image in enumerate(images)}
        atlases = [case.image, *case.atlas_images] if case.image is not None else []
        given |= {f"image{n}": _image(one, case.spacing) for n, one in enumerate(atlases)}
        for name, image in given.items():
            sitk.WriteImage(image, f"{folder}/{name}.nii")
        labels = [f"{folder}/labels{n}.nii" for n in range(len(images))]
        calls = {"CMTK sba": ["sba", "-o", f"{folder}/out.nii", *labels]}
        if atlases:
            pairs = [(f"{folder}/image{n + 1}.nii", name) for n, name in enumerate(labels)]
            words = [word for pair in pairs for word in pair]
            calls["CMTK lvote"] = [
                "lvote",
                "-o",
                f"{folder}/out.nii",
                f"{folder}/image0.nii",
                *words,
            ]
        for name, call in calls.items():
            subprocess.run(["cmtk", *call], capture_output=True, check=True)
            yield name, _array(sitk.ReadImage(f"{folder}/out.nii"))


def scores(answer: Labels, case: Case) -> dict[str, float]:
    """Return means over the labels of the reference."""
    labels = [value for value in np.unique(case.truth) if value]
    tolerance = min(case.spacing)
    found: dict[str, list[float]] = {name: [] for name in MEASURES}
    for label in labels:
        ours, truth = answer == label, case.truth == label
        found["dice"].append(float(ic.dice(ours, truth)))
        found["volume_error"].append(abs(ours.sum() - truth.sum()) / truth.sum())
        found["surface_dice"].append(_surface_dice(ours, truth, case.spacing, tolerance))
    return {name: float(np.mean(values)) for name, values in found.items()}


def _surface_dice(
    ours: NDArray[np.bool_], truth: NDArray[np.bool_], spacing: Sequence[float], tolerance: float
) -> float:
    box = bounding_box(ours | truth)
    pair = [_image(mask[box].astype(np.uint8), spacing) for mask in (ours, truth)]
    found = ic.agreement(pair, Surfaces=True, SurfaceTolerance=tolerance).labels[0].surface_dice
    assert found is not None
    return float(found[0, 1])


def _image(array: Labels | None, spacing: Sequence[float]) -> sitk.Image:
    image = sitk.GetImageFromArray(array)
    image.SetSpacing(spacing[::-1])
    return image


def _array(image: Any) -> Labels:
    return np.asarray(sitk.GetArrayFromImage(image))


def measured(case: Case, ants_python: str | None = None) -> tuple[str, dict[str, dict[str, float]]]:
    """Return the name of a case, and the scores of each fuser."""
    ic.ProcessObject.SetGlobalDefaultNumberOfThreads(1)
    sitk.ProcessObject.SetGlobalDefaultNumberOfThreads(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConsensusWarning)
        return case.name, {n: scores(a, case) for n, a in answers(case, ants_python)}


def summary(results: Sequence[tuple[str, dict[str, dict[str, float]]]]) -> list[dict[str, Any]]:
    """Return a row per fuser: means, and paired differences from the vote with standard errors."""
    names = list(dict.fromkeys(name for name, _ in results))
    rows = []
    for fuser in results[0][1]:
        row: dict[str, Any] = {"fuser": fuser, "cases": len(names)}
        for measure in MEASURES:
            means = np.array([_of_case(results, n, fuser, measure) for n in names])
            gain = means - [_of_case(results, n, VOTE, measure) for n in names]
            row[measure] = float(means.mean())
            row[f"{measure}_gain"] = float(gain.mean())
            row[f"{measure}_error"] = float(gain.std(ddof=1) / np.sqrt(len(gain)))
        rows.append(row)
    return rows


def _of_case(results: Sequence[Any], name: str, fuser: str, measure: str) -> float:
    return float(np.mean([found[fuser][measure] for case, found in results if case == name]))


def shown(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Format a line for each fuser."""
    for row in rows:
        cells = (f"{row[f'{m}_gain']:+.4f} ± {row[f'{m}_error']:.4f}" for m in MEASURES)
        yield f"{row['fuser']:28} {row['dice']:.4f} " + "   ".join(cells)


class _Measuring(NamedTuple):
    """Picklable call of `measured` with a given interpreter for ANTs, for a process pool."""

    ants_python: str | None

    def __call__(self, case: Case) -> Any:
        return measured(case, self.ants_python)


def main() -> None:
    """Measure, print and store the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS))
    parser.add_argument("--ants-python", help="an interpreter that has antspyx")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--save", type=Path, metavar="JSON", help="keep the results here")
    options = parser.parse_args()
    kept: dict[str, Any] = {"run": run_facts(), "sets": {}}
    with get_context("forkserver").Pool(options.processes) as pool:
        for name in options.sets:
            results = list(pool.imap(_Measuring(options.ants_python), SETS[name]()))
            if not results:
                print(f"{name}: no shared data")
                continue
            kept["sets"][name] = summary(results)
            print(name, *shown(kept["sets"][name]), sep="\n", flush=True)
    if options.save is not None:
        options.save.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
