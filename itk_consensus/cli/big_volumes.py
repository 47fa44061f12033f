"""``itk-consensus fuse ... -o fused.zarr``: fuse volumes larger than memory, block by block."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from itk_consensus.assessment.assessment import Assessment
from itk_consensus.cli.console import Console
from itk_consensus.cli.fusing import exit_code, warn_of_ignored_labels
from itk_consensus.cli.inputs import warn_of_copy
from itk_consensus.cli.options import given_parameters, option_of, process_count, use_option_names
from itk_consensus.cli.outputs import make_folder
from itk_consensus.core.errors import FileError, MissingDependencyError
from itk_consensus.core.parameters import parameters_of
from itk_consensus.fusing.label_fusion import LabelFusionFilter
from itk_consensus.images.files import distinct_names, split_image_name
from itk_consensus.report.fusion_report import verdict_lines
from itk_consensus.report.text import format_value, pairs, section, wrap_lines

_MASK = "MaskImage"


def add_volume_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for outputs named .zarr to a parser."""
    group = parser.add_argument_group("volumes larger than memory, if the output is a .zarr")
    group.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="dask scheduler such as tcp://host:8786, or local for a cluster of --jobs processes "
        "[default: threads of this process]",
    )
    group.add_argument(
        "--jobs", type=process_count, default=2, metavar="N", help="processes of --scheduler local"
    )


def fuse_in_blocks(arguments: argparse.Namespace, console: Console) -> int:
    """Fuse stores or files into a store; resume a run that was killed. Return the exit code."""
    for option in ("probability", "label", "uncertainty", "uncertainty_kind", "json", "report"):
        if getattr(arguments, option) is not None:
            name = option.replace("_", "-")
            arguments.parser.error(f"--{name} is not available with an output named .zarr")
    given = given_parameters(arguments, arguments.fuser)
    mask = given.pop(_MASK, None)
    for parameter in parameters_of(arguments.fuser):
        if isinstance(given.get(parameter.name), Path):
            option = option_of(parameter)
            arguments.parser.error(f"{option} cannot be a file with an output named .zarr")
    if os.path.lexists(arguments.output) and not arguments.overwrite:
        raise FileError(f"--output {arguments.output} exists; give --overwrite to replace it")
    make_folder(arguments.output.parent)
    filter_ = arguments.fuser(**given)
    if arguments.fail_on is not None and filter_.chunking == "tiles":
        arguments.parser.error(
            f"--fail-on needs a verdict, which --method {filter_.method} does not have with an "
            "output named .zarr; --method consensus has one"
        )
    client: AbstractContextManager[Any] = nullcontext()
    if arguments.scheduler is not None:
        from itk_consensus.batch.workers import dask_client

        client = dask_client(arguments.scheduler, arguments.jobs)
    with client, use_option_names(filter_, arguments.method):
        measured = _volumes().fuse_volumes(
            arguments.inputs,
            arguments.output,
            filter_,
            mask=mask,
            overwrite=arguments.overwrite,
            report=console.progress,
            after_reading=partial(_warn, arguments.inputs, filter_, console),
        )
    assessment = measured.pop("Assessment", None)
    lines = [] if assessment is None else [_findings(assessment, arguments.inputs, console)]
    console.answer("\n".join([*lines, _summary(filter_, arguments, measured)]))
    return 0 if assessment is None else exit_code(assessment.verdict().word, arguments.fail_on)


def _findings(assessment: Assessment, inputs: Sequence[Path], console: Console) -> str:
    """Return the verdict, the most severe findings or all of them, and which checks were
    not possible.
    """
    from itk_consensus.chunked.chunked_result import RULES_OF_VOXELS

    names = distinct_names([split_image_name(path.name)[0] for path in inputs], inputs)
    found = assessment.findings().named(names)
    lines = verdict_lines(found)
    if console.is_verbose:
        lines += wrap_lines(str(found))
    beyond = ", ".join(RULES_OF_VOXELS)
    return "\n".join([*lines, *wrap_lines(f"Not looked for, which takes memory: {beyond}.")])


def _warn(inputs: Sequence[Path], filter_: LabelFusionFilter, console: Console, notes: Any) -> None:
    for one, other in notes.copies:
        warn_of_copy(str(inputs[one]), str(inputs[other]), console)
    warn_of_ignored_labels(filter_, set(notes.labels.tolist()), console)


def _volumes() -> Any:
    try:
        return import_module("itk_consensus.chunked.big_volumes")
    except ImportError as error:
        raise MissingDependencyError(
            "an output named .zarr needs dask and zarr: pip install 'itk-consensus[dask]'"
        ) from error


def _summary(
    filter_: LabelFusionFilter, arguments: argparse.Namespace, measured: dict[str, Any]
) -> str:
    facts = {"labels": format_value(measured.pop("Labels")), "written": str(arguments.output)}
    for name, value in measured.items():
        if isinstance(value, bool):
            facts[name] = "yes" if value else "no"
        elif isinstance(value, (float, int)):
            facts[name] = f"{value:.6g}"
        elif isinstance(value, tuple) and value and all(isinstance(one, float) for one in value):
            facts[name] = ", ".join(f"{one:.6g}" for one in value)
    return section(f"{filter_.method} of {len(arguments.inputs)} raters", pairs(facts))
