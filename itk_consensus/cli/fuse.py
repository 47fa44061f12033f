"""``itk-consensus fuse``: its options are the parameters of the chosen filter."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from itk_consensus.cli.console import Console
from itk_consensus.cli.inputs import rater_names, read_files, require_one_space, warn_of_copies
from itk_consensus.cli.options import (
    DEFAULT_METHOD,
    add_method_option,
    add_method_options,
    file_name,
    given_parameters,
    naming_options,
)
from itk_consensus.cli.outputs import (
    Output,
    add_output_options,
    check_outputs,
    given_outputs,
    make_folders,
)
from itk_consensus.cli.per_structure import add_structure_options, fuse_per_structure
from itk_consensus.errors import ParameterError
from itk_consensus.filters.label_fusion import LabelFusionFilter
from itk_consensus.filters.registry import METHODS
from itk_consensus.images.files import write_image, write_text
from itk_consensus.report.fusion_report import FusionReport, describe_inputs
from itk_consensus.report.image_file import ImageFile
from itk_consensus.report.text import PROGRAM, section, shown, wrapped

#: In the name of --probability it stands for every label in turn.
_EVERY_LABEL = "{label}"


def configure(parser: argparse.ArgumentParser, words: list[str]) -> None:
    """Give the parser what the command takes; the method decides which options there are."""
    fuser = METHODS[_wanted_method(words)]
    summaries = [
        line
        for name, filter_ in METHODS.items()
        for line in wrapped(f"{name}: {filter_.summary}", width=76)
    ]
    parser.prog = f"{PROGRAM} fuse --method {fuser.method}"
    parser.usage = f"{PROGRAM} fuse INPUT... --output FILE [--method METHOD] [options]"
    parser.description = (
        "Fuse label images into one label map. The method decides what options it has;"
        f"\nthese are the options of {fuser.method}."
    )
    parser.epilog = section("methods:", summaries)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.set_defaults(run=_fuse, parser=parser, fuser=fuser)
    parser.add_argument(
        "inputs",
        nargs="+",
        type=file_name,
        metavar="INPUT",
        help="label images in any format; each component of a vector image is one rater",
    )
    add_method_option(parser, "how to fuse, see below", DEFAULT_METHOD)
    add_output_options(parser, "the fused label map")
    parser.add_argument(
        "--probability",
        type=file_name,
        metavar="FILE",
        help="probability of one label, as float64; p-{label}.nii.gz writes those of all labels",
    )
    parser.add_argument(
        "--label",
        type=int,
        metavar="N",
        help="the label of --probability [default: the foreground, if there is only one]",
    )
    parser.add_argument("--json", type=file_name, metavar="FILE", help="the report, for machines")
    add_structure_options(parser)
    add_method_options(parser, fuser)


def _wanted_method(words: list[str]) -> str:
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    add_method_option(parser, "", DEFAULT_METHOD)
    try:
        return str(parser.parse_known_args(words)[0].method)
    except (argparse.ArgumentError, SystemExit):
        return DEFAULT_METHOD  # the command's own parser will say what is wrong


def _fuse(arguments: argparse.Namespace, console: Console) -> None:
    if arguments.per_structure:
        fuse_per_structure(arguments, console)
        return
    given = given_parameters(arguments, arguments.fuser)
    parameter_files = {name: value for name, value in given.items() if isinstance(value, Path)}
    filter_ = arguments.fuser(**{k: v for k, v in given.items() if k not in parameter_files})
    paths = [*arguments.inputs, *parameter_files.values()]
    outputs = _outputs(arguments)
    files: list[ImageFile] = []
    for file in read_files(paths, console, 0.5):
        files.append(file)
        if len(files) == 1:
            check_outputs(outputs, paths, file.geometry.dimension, overwrite=arguments.overwrite)
    require_one_space(files, filter_.CoordinateTolerance, filter_.DirectionTolerance)
    inputs, others = files[: len(arguments.inputs)], files[len(arguments.inputs) :]
    described = describe_inputs(inputs, rater_names(inputs))
    warn_of_copies(inputs, console)
    _warn_of_ignored_labels(filter_, described, console)
    for name, file in zip(parameter_files, others, strict=True):
        setattr(filter_, name, file.image)
    console.follow(filter_, 0.5, 0.9)
    with naming_options(filter_, arguments.method):
        filter_.Execute([file.image for file in inputs])
    probabilities = _probabilities(filter_, arguments)
    if len(probabilities) > 1:  # only now their names are known
        outputs = [one for one in outputs if one.option != "--probability"]
        outputs += [Output("--probability", path, np.float64) for path in probabilities.values()]
        check_outputs(outputs, paths, files[0].geometry.dimension, overwrite=arguments.overwrite)
    console.progress(0.9, "writing")
    make_folders(outputs)
    report = _write(filter_, described, parameter_files, probabilities, arguments)
    console.clear()
    print(report.to_text())


def _outputs(arguments: argparse.Namespace) -> list[Output]:
    """What will be written, but for probabilities of labels that are not known yet."""
    if arguments.label is not None and arguments.probability is None:
        arguments.parser.error("--label says which label's --probability to write; give both")
    if arguments.label is not None and _EVERY_LABEL in str(arguments.probability):
        arguments.parser.error(f"--label names one label, {_EVERY_LABEL} all of them; give one")
    return given_outputs(arguments, output=np.uint8, probability=np.float64, json=None)


def _warn_of_ignored_labels(
    filter_: LabelFusionFilter, described: Sequence[dict[str, Any]], console: Console
) -> None:
    """Name what a binary method takes for background."""
    if not hasattr(filter_, "ForegroundValue"):
        return
    used = {0, filter_.ForegroundValue, filter_.MissingLabel}
    found = {
        label for row in described for rater in row["raters"] for label in rater["label_voxels"]
    }
    if found - used and filter_.ForegroundValue in found:
        console.warn(
            f"{filter_.method} fuses label {filter_.ForegroundValue:g} and takes "
            f"{shown(sorted(found - used))} for background; --foreground-value chooses another, "
            "--method multilabel-staple fuses all"
        )


def _probabilities(filter_: LabelFusionFilter, arguments: argparse.Namespace) -> dict[int, Path]:
    """Where the probability of each wanted label goes."""
    if arguments.probability is None:
        return {}
    labels, name = filter_.GetLabels(), str(arguments.probability)
    if _EVERY_LABEL in name:
        return {label: Path(name.replace(_EVERY_LABEL, str(label))) for label in labels}
    label = _foreground(filter_) if arguments.label is None else arguments.label
    if label not in labels:
        raise ParameterError(f"--label must be one of the labels {shown(labels)}, got {label}")
    return {label: arguments.probability}


def _foreground(filter_: LabelFusionFilter) -> int:
    """The label meant when none is named: the foreground, if there is only one."""
    if hasattr(filter_, "ForegroundValue"):
        return int(filter_.ForegroundValue)
    labels = [label for label in filter_.GetLabels() if label != 0]
    if len(labels) != 1:
        raise ParameterError(
            f"--probability needs --label, one of the labels {shown(filter_.GetLabels())}, or "
            f"{_EVERY_LABEL} in its name"
        )
    return labels[0]


def _write(
    filter_: LabelFusionFilter,
    inputs: list[dict[str, Any]],
    parameter_files: dict[str, Path],
    probabilities: dict[int, Path],
    arguments: argparse.Namespace,
) -> FusionReport:
    fused = ImageFile.of(arguments.output, filter_.GetLabelImage())
    diagnostics = filter_.GetDiagnostics() if hasattr(filter_, "GetDiagnostics") else None
    report = FusionReport(
        filter_, inputs, fused, parameter_files, probabilities, arguments.json, diagnostics
    )
    write_image(fused.image, arguments.output)
    for label, path in probabilities.items():
        write_image(filter_.GetProbabilityImage(label), path)
    if arguments.json is not None:
        write_text(arguments.json, report.to_json())
    return report
