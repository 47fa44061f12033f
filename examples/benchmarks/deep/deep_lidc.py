"""Train an image-aware consensus of lung nodules on CT without references (LIDC-IDRI).

    python -m examples.benchmarks.deep.deep_lidc [--save]

Two to four radiologists, who differ between scans, outlined each nodule. Each nodule is left out in
turn and fused by a model trained on the others, once without each of its readers, whose outline is
the reference. Six nodules are too few for a network, so the filter uses the vote. Results of its
network, and of one trained on images of noise, are given for comparison. With --save results are
stored in deep_real.json, from which docs/truth/deep.md is written.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import SimpleITK as sitk

from examples.benchmarks.deep.deep_real import RESULTS, Rows, keep, table
from itk_consensus import MajorityVoteFilter
from itk_consensus.core.errors import ConsensusWarning
from itk_consensus.deep.deep_consensus_filter import DeepConsensusFilter
from itk_consensus.votes.overlap import dice

DATA = Path(__file__).resolve().parents[3] / "../shared/data/lidc_ct"
#: Window of lung and soft tissue in Hounsfield units; values outside it are not informative.
WINDOW = (-1000.0, 400.0)
TITLE = "LIDC nodules on CT: 6 nodules, each left out, judged by readers left out"

#: CT and readers of each nodule, by its name.
Nodules = dict[str, tuple[Any, list[Any]]]


def read_nodules(folder: Path = DATA) -> Nodules:
    """Read CT and masks of every nodule."""
    nodules = {}
    for path in sorted(folder.glob("*_ct.nrrd")):
        readers = sitk.ReadImage(folder / path.name.replace("_ct", "_readers"))
        masks = [
            sitk.VectorIndexSelectionCast(readers, reader, sitk.sitkUInt8)
            for reader in range(readers.GetNumberOfComponentsPerPixel())
        ]
        ct = sitk.Clamp(sitk.ReadImage(path), sitk.sitkFloat32, *WINDOW)
        nodules[path.name.removesuffix("_ct.nrrd")] = ct, masks
    return nodules


def noise_like(ct: Any) -> Any:
    """Return an image of noise on the same grid."""
    noise = np.random.default_rng(0).standard_normal(ct.GetSize()[::-1]).astype(np.float32)
    image = sitk.GetImageFromArray(noise)
    image.CopyInformation(ct)
    return image


def leave_one_out(nodules: Nodules, name: str, **parameters: Any) -> DeepConsensusFilter:
    """Train a filter on all nodules except one."""
    others = [nodule for other, nodule in nodules.items() if other != name]
    filter_ = DeepConsensusFilter(
        **{"NumberOfClasses": 2, "WindowSize": (48, 48, 16), "NumberOfIterations": 60, **parameters}
    )
    with warnings.catch_warnings():
        # With five nodules, the filter warns that it is not better than the vote.
        warnings.simplefilter("ignore", ConsensusWarning)
        filter_.Fit(
            [ct for ct, _ in others],
            [masks for _, masks in others],
            rater_ids=[[None] * len(masks) for _, masks in others],
        )
    return filter_


def without_each_reader(masks: list[Any], fuse: Callable[[list[Any]], Any]) -> float:
    """Return the mean Dice between the fusion of all readers except one and that reader."""
    scores = []
    for reader, mask in enumerate(masks):
        others = [None if i == reader else one for i, one in enumerate(masks)]
        # copy, since a view would outlive its image
        found = sitk.GetArrayFromImage(fuse(others)) == 1
        scores.append(dice(found, sitk.GetArrayViewFromImage(mask) == 1))
    return float(np.mean(scores))


def answers_to(shown: Nodules, names: dict[str, str]) -> Rows:
    """Return a row of results for each setting of WithoutGain, from filters that are trained
    only once.
    """
    start = time.process_time()
    filters = {name: leave_one_out(shown, name, NumberOfThreads=1) for name in shown}
    seconds = time.process_time() - start
    verdicts = {str(filter_.GetDiagnostics()["gain"].advice) for filter_ in filters.values()}
    rows: Rows = {}
    for row, answers in names.items():
        scores = []
        for name, (ct, masks) in shown.items():
            filters[name].SetWithoutGain(answers)

            def fuse(others: list[Any], ct: Any = ct, name: str = name) -> Any:
                return filters[name].Execute(ct, others, [None] * len(others))

            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConsensusWarning)
                scores.append(without_each_reader(masks, fuse))
        rows[row] = {"dice": scores, "processor": seconds, "said": " ".join(sorted(verdicts))}
    return rows


def main() -> None:
    """Print the Dice with left-out readers, and store it if requested."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--save", action="store_true", help=f"keep results in {RESULTS.name}")
    arguments = parser.parse_args()
    if not DATA.is_dir():
        raise SystemExit(f"the LIDC data is not at {DATA}")
    nodules = read_nodules()
    blank = {name: (noise_like(ct), masks) for name, (ct, masks) in nodules.items()}
    vote = MajorityVoteFilter(TieRule="lowest").Execute
    rows: Rows = {
        "vote": {"dice": [without_each_reader(masks, vote) for _, masks in nodules.values()]}
    }
    for shown, names in (
        (nodules, {"filter": "raters", "network": "network"}),
        (blank, {"network, images of noise": "network"}),
    ):
        rows.update(answers_to(shown, names))
    print(table(rows))
    if arguments.save:
        keep(TITLE, rows)


if __name__ == "__main__":
    main()
