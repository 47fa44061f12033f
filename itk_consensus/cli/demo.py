"""``itk-consensus demo``: consensus, vote and STAPLE of a lung nodule outlined by four readers."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.assessment.assessment import assess
from itk_consensus.batch.folder_record import begin, finish, require_ours
from itk_consensus.cli.console import Console
from itk_consensus.cli.options import add_file
from itk_consensus.cli.outputs import add_overwrite_option, make_folder
from itk_consensus.core.array_types import Mask
from itk_consensus.core.errors import MissingDependencyError
from itk_consensus.core.escaping import csv_text
from itk_consensus.fusing.fusion_result import result_of
from itk_consensus.images import convert
from itk_consensus.images.files import write_image
from itk_consensus.methods.consensus.consensus_filter import ConsensusFilter
from itk_consensus.methods.staple.staple_filter import STAPLEImageFilter
from itk_consensus.methods.voting.majority_vote_filter import MajorityVoteFilter
from itk_consensus.report.fusion_report import verdict_lines
from itk_consensus.report.page import report
from itk_consensus.report.pictures import draw_consensus
from itk_consensus.report.text import pairs, section, table
from itk_consensus.samples import SAMPLE_NODULES, sample_case
from itk_consensus.storage.files import write_text
from itk_consensus.storage.locking import exclusive_lock
from itk_consensus.votes.overlap import dice

#: Record of the files that the demo wrote and may replace.
RECORD = "demo.json"

#: All files written in addition to the raters'; the picture requires matplotlib.
_RESULTS = (
    "consensus.nii.gz",
    "vote.nii.gz",
    "staple.nii.gz",
    "staple-probability.nii.gz",
    "raters.csv",
    "report.html",
    "consensus.png",
)


def configure(parser: argparse.ArgumentParser, _words: list[str]) -> None:
    """Add the arguments of the command."""
    parser.set_defaults(run=_demo, parser=parser)
    add_file(
        parser,
        "-o",
        "--output",
        default=Path("demo-output"),
        metavar="FOLDER",
        help="where to write the results; those of an earlier demo are replaced "
        "[default: %(default)s]",
    )
    add_overwrite_option(parser)


def _demo(arguments: argparse.Namespace, console: Console) -> None:
    make_folder(arguments.output)
    record = arguments.output / RECORD
    names = [*(f"rater-{number}.nii.gz" for number in range(len(sample_case()))), *_RESULTS]
    with exclusive_lock(record, wait=1.0):
        if not arguments.overwrite:
            require_ours(record, names)
        begun = begin(record, {}, names)
        text = run_demo(arguments.output, console)
        finish(begun, names, {})
    console.answer(text)


def run_demo(folder: Path, console: Console) -> str:
    """Fuse the sample nodule, write the results to `folder`, and return a summary."""
    readers = sample_case()
    consensus, vote, staple = ConsensusFilter(), MajorityVoteFilter(), STAPLEImageFilter()
    console.progress(0.1, "fusing")
    consensus.Execute(readers)
    vote.Execute(readers)
    probability = staple.Execute(readers)
    images = {f"rater-{number}.nii.gz": image for number, image in enumerate(readers)}
    images["consensus.nii.gz"] = consensus.GetLabelImage()
    images["vote.nii.gz"] = vote.GetLabelImage()
    images["staple.nii.gz"] = staple.GetLabelImage()
    images["staple-probability.nii.gz"] = probability
    for name, image in images.items():
        write_image(image, folder / name, is_output=not name.startswith("rater-"))

    loaded = convert.load(list(images.values()), owner="demo")
    *masks, shared, voted, estimated, _ = (np.asarray(array) for array in loaded.arrays)
    masks = [mask == 1 for mask in masks]
    fused = {"consensus": shared == 1, "STAPLE": estimated == 1}
    voxel_ml = prod(loaded.geometry.spacing) / 1000
    rows = list(_rater_rows(masks, fused, staple, voxel_ml))
    write_text(folder / "raters.csv", csv_text(list(rows[0]), rows))
    names = [f"rater {n}" for n in range(len(masks))]
    console.progress(0.4, "writing a page")
    report(consensus, folder / "report.html", names=names)
    console.progress(0.8, "drawing")
    written = {
        "report.html": "the page of this consensus: open it in a browser",
        **_picture(folder, masks, fused, loaded.geometry.array_spacing),
        "consensus.nii.gz": "its label map; beside it vote.nii.gz (label 2 where it is tied),",
        "staple.nii.gz": "and staple-probability.nii.gz, as sitk.STAPLE gives it",
        "rater-*.nii.gz": "what each radiologist marked; raters.csv is the table above",
        RECORD: "which of these files the next demo may replace",
    }
    said = verdict_lines(assess(result_of(consensus).with_rater_names(names)).findings())
    volumes = _volumes(masks, voted, fused, voxel_ml)
    return "\n".join(
        [
            f"A lung nodule of patient {SAMPLE_NODULES[0]}, outlined by {len(masks)} radiologists "
            "(LIDC-IDRI, CC BY 3.0).",
            section("The verdict on their consensus, by the recommended method", said),
            section("ml", [", ".join(f"{name} {ml}" for name, ml in volumes.items())]),
            section("Raters", table(list(rows[0]), [list(row.values()) for row in rows])),
            section(f"Written to {folder}", pairs(written)),
            "Next, try it with your own files:",
            f"  {_program()} fuse {folder}/rater-*.nii.gz -o fused.nii.gz --report fused.html",
        ]
    )


def _program() -> str:
    """Return the command as typed in this shell: including its path if the environment is
    not active.
    """
    called = Path(sys.argv[0])
    known = shutil.which("itk-consensus") or called.stem != "itk-consensus"
    return "itk-consensus" if known else str(called)


def _picture(
    folder: Path, masks: Sequence[Mask], fused: Mapping[str, Mask], spacing: Sequence[float]
) -> dict[str, str]:
    """Draw raters and results; return the written file, or the reason why there is none."""
    title = f"Nodule of {SAMPLE_NODULES[0]}, outlined by {len(masks)} radiologists"
    try:
        draw_consensus(folder / "consensus.png", masks, fused, spacing, title)
    except MissingDependencyError as missing:
        return {"(no picture)": str(missing)}
    return {"consensus.png": "raters and consensus, slice by slice"}


def _rater_rows(
    masks: Sequence[Mask], fused: Mapping[str, Mask], staple: STAPLEImageFilter, voxel_ml: float
) -> Iterator[dict[str, str]]:
    for number, mask in enumerate(masks):
        yield {
            "rater": str(number),
            "ml": f"{int(mask.sum()) * voxel_ml:.3f}",
            "sensitivity": f"{staple.Sensitivity[number]:.4f}",
            "specificity": f"{staple.Specificity[number]:.4f}",
            **{f"Dice to {name}": f"{dice(mask, answer):.4f}" for name, answer in fused.items()},
        }


def _volumes(
    masks: Sequence[Mask], voted: NDArray[Any], fused: Mapping[str, Mask], voxel_ml: float
) -> dict[str, str]:
    regions = {
        "any rater": np.any(masks, axis=0),
        "all": np.all(masks, axis=0),
        **fused,
        "tied": voted == 2,
    }
    return {name: f"{int(mask.sum()) * voxel_ml:.2f}" for name, mask in regions.items()}
