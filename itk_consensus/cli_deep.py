"""``itk-consensus deep fit`` and ``itk-consensus deep apply``. torch is loaded when they run."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from itk_consensus.cli_options import add_option, given_parameters
from itk_consensus.deep.runtime import require_torch
from itk_consensus.errors import FileError, ParameterError
from itk_consensus.filters.deep_consensus import DeepConsensusFilter
from itk_consensus.filters.parameters import parameters_of
from itk_consensus.images.files import read_bytes, write_image
from itk_consensus.report.console import PROGRAM, Console
from itk_consensus.report.image_file import ImageFile, require_one_space
from itk_consensus.report.outputs import Output, check_outputs
from itk_consensus.report.text import pairs

_CASES_HELP = """\
CASES is a JSON file, a list of objects with the keys

  image   the image file
  labels  a list with a label file, or null for a missing rater, per rater; or one vector image
  truth   the true labels, if known (for all cases or for none)
  raters  a list of rater ids, null for a rater without one; without it a position is a person

Paths are relative to the JSON file."""

#: Parameters of the finished model; the others only matter to Fit.
_OF_APPLY = (
    "RaterWeight",
    "Region",
    "RegionMargin",
    "LockUnanimousVoxels",
    "WindowSize",
    "WindowOverlap",
    "MissingLabel",
    "Device",
    "MixedPrecision",
    "CoordinateTolerance",
    "DirectionTolerance",
    "NumberOfThreads",
)
_ONLY_OF_APPLY = (
    "RaterWeight",
    "Region",
    "RegionMargin",
    "LockUnanimousVoxels",
    "WindowOverlap",
)


def add_deep_parser(commands: Any) -> None:
    """Add ``deep`` with its own commands ``fit`` and ``apply``."""
    text = "consensus that sees the image: train it, or fuse with it (needs torch)"
    parser = commands.add_parser("deep", help=text, description=f"{text.capitalize()}.")
    own = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_fit(own)
    _add_apply(own)


# -- fit -------------------------------------------------------------------------------------


def _add_fit(commands: Any) -> None:
    parser = commands.add_parser(
        "fit",
        usage=f"{PROGRAM} deep fit CASES --model FILE [options]",
        help="train on images and label lists, with or without known truths",
        description=_CASES_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=_fit, parser=parser)
    parser.add_argument("cases", type=Path, metavar="CASES", help="JSON file of the cases")
    parser.add_argument(
        "--model", type=Path, required=True, metavar="FILE", help="the trained model"
    )
    parser.add_argument(
        "--checkpoint",
        type=Path,
        metavar="FILE",
        help="kept up to date while training; if it exists, training goes on from it",
    )
    _add_parameters(parser, lambda name: name not in _ONLY_OF_APPLY)


def _fit(arguments: argparse.Namespace, console: Console) -> None:
    filter_ = DeepConsensusFilter(**given_parameters(arguments, DeepConsensusFilter))
    require_torch(filter_.GetName())
    cases = read_cases(arguments.cases)
    outputs = [Output("--model", arguments.model)]
    if arguments.checkpoint is not None:
        outputs.append(Output("--checkpoint", arguments.checkpoint))
    check_outputs(outputs, [arguments.cases, *(path for case in cases for path in case.files)], 3)
    images, labels, truths = [], [], []
    for number, case in enumerate(cases):
        console.progress(0.2 * number / len(cases), f"reading case {number}")
        images.append(console.read(case.image))
        labels.append([None if path is None else console.read(path) for path in case.labels])
        if case.truth is not None:
            truths.append(console.read(case.truth))
    ids = [case.raters for case in cases if case.raters is not None]
    console.follow(filter_, 0.2, 1.0)
    filter_.Fit(images, labels, truths or None, ids or None, checkpoint=arguments.checkpoint)
    filter_.Save(arguments.model)
    console.clear()
    reliability = {f"rater {k}": f"{v:.4f}" for k, v in filter_.GetRaterReliability().items()}
    print("\n".join(pairs({"model": str(arguments.model), **reliability})))


@dataclass(frozen=True)
class TrainingCase:
    """One object of a CASES file."""

    image: Path
    labels: tuple[Path | None, ...]
    truth: Path | None
    raters: list[Any] | None

    @property
    def files(self) -> list[Path]:
        """Every file of the case."""
        return [path for path in (self.image, *self.labels, self.truth) if path is not None]


def read_cases(path: Path) -> list[TrainingCase]:
    """The cases of a CASES file; truths and rater ids are given for all of them or for none."""
    try:
        objects = json.loads(read_bytes(path))
    except (ValueError, RecursionError) as error:
        raise FileError(f"{path}: cannot be read as JSON: {error}") from error
    if not isinstance(objects, list) or not objects:
        raise FileError(f"{path}: must hold a list of cases")
    cases = [_case(one, path.parent, f"{path}: case {i}") for i, one in enumerate(objects)]
    for key in ("truth", "raters"):
        given = sum(getattr(case, key) is not None for case in cases)
        if 0 < given < len(cases):
            raise FileError(
                f"{path}: gives {key} for {given} of {len(cases)} cases; give all or none"
            )
    return cases


def _case(found: Any, folder: Path, owner: str) -> TrainingCase:
    if not isinstance(found, dict) or not {"image", "labels"} <= found.keys():
        raise FileError(f"{owner} must be an object with image and labels")
    unknown = found.keys() - {"image", "labels", "truth", "raters"}
    if unknown:
        raise FileError(f"{owner} has the unknown key {min(unknown)}")

    def file(value: Any, key: str) -> Path:
        if not isinstance(value, str) or not value or "\0" in value:
            raise FileError(f"{owner}: {key} must name a file, got {json.dumps(value):.80}")
        return folder / value

    listed = found["labels"] if isinstance(found["labels"], list) else [found["labels"]]
    raters, truth = found.get("raters"), found.get("truth")
    if raters is not None and not isinstance(raters, list):
        raise FileError(f"{owner}: raters must be a list of ids, got {json.dumps(raters):.80}")
    return TrainingCase(
        file(found["image"], "image"),
        tuple(None if one is None else file(one, "labels") for one in listed),
        None if truth is None else file(truth, "truth"),
        raters,
    )


# -- apply -----------------------------------------------------------------------------------


def _add_apply(commands: Any) -> None:
    parser = commands.add_parser(
        "apply",
        usage=f"{PROGRAM} deep apply IMAGE LABELS... --model FILE --output FILE [options]",
        help="fuse the labels of an image with a trained model",
    )
    parser.set_defaults(run=_apply, parser=parser)
    parser.add_argument("image", type=Path, metavar="IMAGE", help="the image that was labelled")
    parser.add_argument(
        "labels",
        nargs="+",
        type=Path,
        metavar="LABELS",
        help="label images; each component of a vector image is one rater",
    )
    parser.add_argument("--model", type=Path, required=True, metavar="FILE", help="made by fit")
    parser.add_argument(
        "--output", type=Path, required=True, metavar="FILE", help="the fused label map"
    )
    parser.add_argument(
        "--probability", type=Path, metavar="FILE", help="probability of --label, as float64"
    )
    parser.add_argument("--label", type=int, metavar="N", help="of --probability [default: 1]")
    parser.add_argument(
        "--evidence", type=Path, metavar="FILE", help="evidence of the network, as float64"
    )
    parser.add_argument(
        "--raters",
        type=lambda text: text.split(","),
        metavar="ID,ID,...",
        help="who drew each label image; unknown ids count as average raters [default: 1,2,...]",
    )
    _add_parameters(parser, lambda name: name in _OF_APPLY)


def _apply(arguments: argparse.Namespace, console: Console) -> None:
    filter_ = DeepConsensusFilter.Load(arguments.model)
    for name, value in given_parameters(arguments, DeepConsensusFilter).items():
        setattr(filter_, name, value)
    if arguments.label is not None and arguments.probability is None:
        arguments.parser.error("--label says which label's --probability to write; give both")
    label = 1 if arguments.label is None else arguments.label
    if arguments.probability is not None and label not in filter_.GetLabels():
        raise ParameterError(f"--label must be one of {filter_.GetLabels()}, got {label}")
    outputs = _outputs(arguments)
    paths = [arguments.image, *arguments.labels]
    files = []
    for number, path in enumerate(paths):
        console.progress(0.3 * number / len(paths), f"reading {path}")
        files.append(ImageFile.of(path, console.read(path)))
    check_outputs(outputs, [arguments.model, *paths], files[0].geometry.dimension)
    require_one_space(files, filter_.CoordinateTolerance, filter_.DirectionTolerance)
    console.follow(filter_, 0.3, 1.0)
    image, *labels = (file.image for file in files)
    fused = filter_.Execute(image, labels, _known_ids(arguments.raters, filter_.GetRaterIds()))
    written = [(arguments.output, fused)]
    if arguments.probability is not None:
        written.append((arguments.probability, filter_.GetProbabilityImage(label)))
    if arguments.evidence is not None:
        written.append((arguments.evidence, filter_.GetEvidenceImage()))
    for path, result in written:
        write_image(result, path)
    console.clear()
    print("\n".join(pairs({"written": ", ".join(str(path) for path, _ in written)})))


def _outputs(arguments: argparse.Namespace) -> list[Output]:
    outputs = [Output("--output", arguments.output, np.uint8)]
    for option in ("probability", "evidence"):
        path = getattr(arguments, option)
        if path is not None:
            outputs.append(Output(f"--{option}", path, np.float64))
    return outputs


def _known_ids(given: Sequence[str] | None, known: Sequence[int | str]) -> list[Any] | None:
    """Ids as Fit met them: a command line cannot tell the text 3 from the number 3."""
    if given is None:
        return None
    by_text = {str(name): name for name in known}
    return [by_text.get(text) for text in given]


def _add_parameters(parser: argparse.ArgumentParser, wanted: Any) -> None:
    options = parser.add_argument_group("options of the filter")
    for parameter in parameters_of(DeepConsensusFilter):
        if parameter.in_cli and wanted(parameter.name):
            add_option(options, parameter)
