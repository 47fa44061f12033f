"""``itk-consensus fuse``: fuse label images; options are the parameters of the chosen filter."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from itk_consensus.assessment.assessment import assess
from itk_consensus.assessment.verdict import Verdict
from itk_consensus.cli.big_volumes import add_volume_options, fuse_in_blocks
from itk_consensus.cli.console import Console
from itk_consensus.cli.fusing import (
    FusedFiles,
    add_classes_option,
    add_fail_option,
    add_full_option,
    add_fusion_options,
    add_image_option,
    add_input_files,
    add_learned_option,
    exit_code,
    fuse_files,
)
from itk_consensus.cli.inputs import rater_names
from itk_consensus.cli.options import add_file
from itk_consensus.cli.outputs import (
    Output,
    add_output_options,
    check_outputs,
    given_outputs,
    lock_outputs,
)
from itk_consensus.cli.page_options import add_page_options, page_options
from itk_consensus.cli.structure_inputs import (
    add_plan_options,
    add_structure_options,
    require_no_structure_options,
)
from itk_consensus.core.errors import ParameterError
from itk_consensus.fusing.label_fusion import LabelFusionFilter
from itk_consensus.images.files import write_image
from itk_consensus.report.fusion_report import FusionReport, describe_inputs
from itk_consensus.report.image_file import ImageFile
from itk_consensus.report.text import PROGRAM, format_value
from itk_consensus.storage.files import write_text
from itk_consensus.votes.uncertainty import UNCERTAINTY_KINDS

#: Placeholder in the argument of --probability that is replaced by each label.
_EVERY_LABEL = "{label}"


def configure(parser: argparse.ArgumentParser, words: list[str]) -> None:
    """Add the arguments of the command, which depend on the method."""
    fuser = add_fusion_options(parser, words, "fuse", "Fuse label images into one label map.")
    parser.usage = f"{PROGRAM} fuse INPUT... --output FILE [--method METHOD] [options]"
    parser.set_defaults(run=_fuse)
    add_input_files(parser)
    add_learned_option(parser)
    add_output_options(parser, "the fused label map")
    add_file(
        parser,
        "--probability",
        help="probability of one label, as float64; p-{label}.nii.gz writes those of all labels",
    )
    parser.add_argument(
        "--label",
        type=int,
        metavar="N",
        help="the label of --probability [default: the foreground, if there is only one]",
    )
    add_file(
        parser,
        "--uncertainty",
        help="uncertainty of the result at each voxel, as float32; 0 is certain",
    )
    parser.add_argument(
        "--uncertainty-kind",
        choices=UNCERTAINTY_KINDS,
        help=f"what --uncertainty means [default: {UNCERTAINTY_KINDS[0]}]",
    )
    add_file(parser, "--json", help="the report as JSON")
    add_file(parser, "--report", metavar="PAGE", help="the report as an HTML page")
    add_full_option(parser)
    add_structure_options(parser)
    add_plan_options(parser)
    add_volume_options(parser)
    add_image_option(parser, fuser)
    add_page_options(parser)
    add_classes_option(parser, fuser)
    add_fail_option(parser)


def _fuse(arguments: argparse.Namespace, console: Console) -> int:
    is_store = arguments.output.suffix.lower() == ".zarr"
    if arguments.per_structure:
        from itk_consensus.cli.per_structure import fuse_per_structure

        return fuse_per_structure(arguments, console)
    require_no_structure_options(arguments)
    if is_store:
        return fuse_in_blocks(arguments, console)
    stores = [path for path in arguments.inputs if path.suffix.lower() == ".zarr"]
    if stores:
        arguments.parser.error(f"{stores[0]} is a store: --output must be named .zarr too")
    if arguments.scheduler is not None:
        arguments.parser.error("--scheduler is for an output named .zarr")
    outputs = _outputs(arguments)
    fused = fuse_files(arguments, console, outputs)
    filter_, first = fused.filter_, fused.inputs[0]
    probabilities = _probabilities(filter_, arguments)
    if _EVERY_LABEL in str(arguments.probability):  # the labels are not known before
        outputs = [one for one in outputs if one.option != "--probability"]
        outputs += [Output("--probability", path, np.float64) for path in probabilities.values()]
        inputs = [*fused.paths, *fused.parameter_files.values()]
        check_outputs(outputs, inputs, first.geometry, overwrite=arguments.overwrite)
    console.progress(0.9, "writing")
    with lock_outputs(outputs, overwrite=arguments.overwrite):
        report = _write(fused, probabilities, arguments)
    console.answer(report.to_text() if console.is_verbose else report.summary())
    return exit_code(Verdict.of(report.diagnostics).word, arguments.fail_on)


def _outputs(arguments: argparse.Namespace) -> list[Output]:
    """Return all outputs except for probabilities of labels that are not known yet."""
    if arguments.label is not None and arguments.probability is None:
        arguments.parser.error("--label chooses the label of --probability; give both")
    if arguments.label is not None and _EVERY_LABEL in str(arguments.probability):
        arguments.parser.error(
            f"--label selects one label, {_EVERY_LABEL} selects all; give only one of the two"
        )
    if arguments.uncertainty_kind is not None and arguments.uncertainty is None:
        arguments.parser.error("--uncertainty-kind needs --uncertainty; give both")
    types = {"output": np.uint8, "probability": np.float64, "uncertainty": np.float32}
    return given_outputs(arguments, **types, json=None, report=None)


def _probabilities(filter_: LabelFusionFilter, arguments: argparse.Namespace) -> dict[int, Path]:
    """Return the file for the probability of each requested label."""
    if arguments.probability is None:
        return {}
    labels, name = filter_.GetLabels(), str(arguments.probability)
    if _EVERY_LABEL in name:
        return {label: Path(name.replace(_EVERY_LABEL, str(label))) for label in labels}
    label = _foreground(filter_) if arguments.label is None else arguments.label
    if label not in labels:
        raise ParameterError(
            f"--label must be one of the labels {format_value(labels)}, got {label}"
        )
    return {label: arguments.probability}


def _foreground(filter_: LabelFusionFilter) -> int:
    """Return the default of ``--label``: the foreground label, if there is only one."""
    if filter_.foreground is not None:
        return int(filter_.foreground)
    labels = [label for label in filter_.GetLabels() if label != 0]
    if len(labels) != 1:
        raise ParameterError(
            f"--probability needs --label, one of the labels {format_value(filter_.GetLabels())}, "
            f"or {_EVERY_LABEL} in its name"
        )
    return labels[0]


def _write(
    fused: FusedFiles, probabilities: dict[int, Path], arguments: argparse.Namespace
) -> FusionReport:
    filter_, result = fused.filter_, fused.result
    # JSON contains everything; a page omits slow computations unless --full is given.
    full = arguments.full or arguments.json is not None
    labels = ImageFile.of(arguments.output, fused.labels)
    report = FusionReport(
        result,
        describe_inputs(fused.inputs, rater_names(fused.inputs), with_labels=full),
        labels,
        fused.parameter_files,
        probabilities,
        arguments.json,
        assess(result).findings(full),
        arguments.report,
        arguments.uncertainty,
        full,
    )
    write_image(labels.image, arguments.output)
    for label, path in probabilities.items():
        write_image(filter_.GetProbabilityImage(label), path)
    if arguments.uncertainty is not None:
        kind = arguments.uncertainty_kind or UNCERTAINTY_KINDS[0]
        write_image(filter_.GetUncertaintyImage(kind), arguments.uncertainty)
    if arguments.json is not None:
        write_text(arguments.json, report.to_json())
    if arguments.report is not None:
        from itk_consensus.cli.report import write_page

        write_page(fused, arguments.report, dict(report.written_files), page_options(arguments))
    return report
