"""``itk-consensus deep fit`` and ``apply``; torch is imported only when they run."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from itk_consensus.cli.case_list import FORMATS_HELP, Case, Column, read_case_list
from itk_consensus.cli.console import Console
from itk_consensus.cli.inputs import read_files, require_one_space
from itk_consensus.cli.options import add_file, add_options, given_parameters, use_option_names
from itk_consensus.cli.outputs import (
    Output,
    add_output_options,
    add_overwrite_option,
    check_outputs,
    given_outputs,
    lock_outputs,
    make_folders,
)
from itk_consensus.core.errors import ParameterError
from itk_consensus.core.parameters import parameters_of
from itk_consensus.deep.deep_consensus_filter import DeepConsensusFilter
from itk_consensus.deep.runtime import require_torch
from itk_consensus.images.files import write_image
from itk_consensus.report.text import PROGRAM, format_value, pairs

_COLUMNS = (
    Column("image", required=True),
    Column("labels", required=True, may_lack=True),
    Column("truth"),
    Column("raters", holds_files=False),
    Column("atlas_images", may_lack=True),
)
_CASES_HELP = f"""\
Train on images and label lists, with or without known truths.

{FORMATS_HELP}

  image         the image file
  labels        a label file per rater, empty (null) for a missing one; or one vector image
  truth         the true labels, if known (for all cases or for none)
  raters        the raters' ids, empty (null) if unknown; by default the position in the list
  atlas_images  if the raters are atlases: the image of each, warped like its labels
"""

#: Parameters that affect only Execute, followed by those that affect both Fit and Execute.
_ONLY_OF_APPLY = (
    "RaterWeight",
    "Region",
    "RegionMargin",
    "LockUnanimousVoxels",
    "WindowOverlap",
    "WithoutGain",
)
_OF_BOTH = (
    "WindowSize",
    "MissingLabel",
    "Device",
    "MixedPrecision",
    "CoordinateTolerance",
    "DirectionTolerance",
    "NumberOfThreads",
)


def configure(parser: argparse.ArgumentParser, _words: list[str]) -> None:
    """Add the subcommands ``fit`` and ``apply``."""
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
    add_file(parser, "cases", metavar="CASES", help="CSV or JSON file")
    add_file(parser, "--model", required=True, help="the trained model")
    add_overwrite_option(parser)
    add_file(
        parser,
        "--checkpoint",
        help="updated during training; if it exists, training resumes from it",
    )
    add_file(
        parser,
        "--from-model",
        help="continue training this model, which was written by fit; raters may be new",
    )
    names = {parameter.name for parameter in parameters_of(DeepConsensusFilter)}
    _add_options(parser, names.difference(_ONLY_OF_APPLY))


def _fit(arguments: argparse.Namespace, console: Console) -> None:
    filter_ = DeepConsensusFilter(**given_parameters(arguments, DeepConsensusFilter))
    require_torch(filter_.GetName())
    cases = read_case_list(arguments.cases, _COLUMNS)
    outputs = [Output("--model", arguments.model)]
    if arguments.checkpoint is not None:
        outputs.append(Output("--checkpoint", arguments.checkpoint, continued=True))
    inputs = [arguments.cases, *(file for case in cases for file in case.files)]
    inputs += [] if arguments.from_model is None else [arguments.from_model]
    check_outputs(outputs, inputs, 3, overwrite=arguments.overwrite)
    make_folders(outputs)
    images = [_only(case, "image") for case in cases]
    labels = [list(case["labels"]) for case in cases]
    truths = [_only(case, "truth") for case in cases if case["truth"]]
    ids = [list(case["raters"]) for case in cases if case["raters"]]
    atlases = [list(case["atlas_images"]) for case in cases if case["atlas_images"]]
    if arguments.from_model is not None:
        filter_.Load(arguments.from_model)
    console.follow(filter_, 0.0, 1.0)
    with use_option_names(filter_, "deep fit"):
        filter_.Fit(
            images,
            labels,
            truths or None,
            ids or None,
            atlas_images=atlases or None,
            checkpoint=arguments.checkpoint,
            warm_start=arguments.from_model is not None,
        )
    # an error after training would lose the trained model
    with lock_outputs(outputs[:1], overwrite=True):
        filter_.Save(arguments.model)
    reliability = {f"rater {k}": f"{v:.4f}" for k, v in filter_.GetRaterReliability().items()}
    console.answer("\n".join(pairs({"model": str(arguments.model), **reliability})))
    console.answer(str(filter_.GetDiagnostics()))


def _only(case: Case, column: str) -> Path:
    """Return the file in a column that must contain exactly one."""
    file, *others = case[column]
    if others:
        raise ParameterError(
            f"case {case.name}: {column} must name one file, got {1 + len(others)}"
        )
    return Path(file)


# -- apply -----------------------------------------------------------------------------------


def _add_apply(commands: Any) -> None:
    parser = commands.add_parser(
        "apply",
        usage=f"{PROGRAM} deep apply IMAGE LABELS... --model FILE --output FILE [options]",
        help="fuse the labels of an image with a trained model",
    )
    parser.set_defaults(run=_apply, parser=parser)
    add_file(parser, "image", metavar="IMAGE", help="the image that was labelled")
    add_file(
        parser,
        "labels",
        nargs="+",
        metavar="LABELS",
        help="label images; each component of a vector image is one rater",
    )
    add_file(parser, "--model", required=True, help="model written by fit")
    add_output_options(parser, "the fused label map")
    add_file(parser, "--probability", help="probability of --label, as float64")
    parser.add_argument(
        "--label", type=int, metavar="N", help="label of --probability [default: 1]"
    )
    add_file(parser, "--evidence", help="evidence of the network, as float64")
    parser.add_argument(
        "--raters",
        type=lambda text: text.split(","),
        metavar="ID,ID,...",
        help="rater of each label image; unknown ids count as average raters [default: 1,2,...]",
    )
    add_file(
        parser,
        "--atlas-images",
        nargs="+",
        default=[],
        metavar="IMAGE",
        help="image of each atlas, if fit was given those of its atlases",
    )
    _add_options(parser, {*_ONLY_OF_APPLY, *_OF_BOTH})


def _apply(arguments: argparse.Namespace, console: Console) -> None:
    given = given_parameters(arguments, DeepConsensusFilter)
    filter_ = DeepConsensusFilter(**given).Load(arguments.model)
    if arguments.label is not None and arguments.probability is None:
        arguments.parser.error("--label chooses the label of --probability; give both")
    label = 1 if arguments.label is None else arguments.label
    if arguments.probability is not None and label not in filter_.GetLabels():
        known = format_value(filter_.GetLabels())
        raise ParameterError(f"--label must be one of the labels {known}, got {label}")
    outputs = given_outputs(arguments, output=np.uint8, probability=np.float64, evidence=np.float64)
    paths = [arguments.image, *arguments.labels, *arguments.atlas_images]
    files = list(read_files(paths, console, 0.3))
    space = files[0].geometry
    check_outputs(outputs, [arguments.model, *paths], space, overwrite=arguments.overwrite)
    require_one_space(files, filter_.CoordinateTolerance, filter_.DirectionTolerance)
    console.follow(filter_, 0.3, 1.0)
    image, *others = (file.image for file in files)
    number = len(arguments.labels)
    with use_option_names(filter_, "deep apply"):
        fused = filter_.Execute(
            image,
            others[:number],
            _known_ids(arguments.raters, filter_.GetRaterIds()),
            atlas_images=others[number:] or None,
        )
    written = [(arguments.output, fused)]
    if arguments.probability is not None:
        written.append((arguments.probability, filter_.GetProbabilityImage(label)))
    if arguments.evidence is not None:
        written.append((arguments.evidence, filter_.GetEvidenceImage()))
    with lock_outputs(outputs, overwrite=arguments.overwrite):
        for path, result in written:
            write_image(result, path)
    console.answer("\n".join(pairs({"written": ", ".join(str(path) for path, _ in written)})))
    console.answer(str(filter_.GetDiagnostics()))


def _known_ids(given: Sequence[str] | None, known: Sequence[int | str]) -> list[Any] | None:
    """Convert rater ids from the command line, which are strings, to the types used in Fit."""
    if given is None:
        return None
    by_text = {str(name): name for name in known}
    return [by_text.get(text) for text in given]


def _add_options(parser: argparse.ArgumentParser, names: set[str]) -> None:
    add_options(parser.add_argument_group("options of the filter"), DeepConsensusFilter, names)
