"""``itk-consensus report``: fuse label images and write an HTML page."""

from __future__ import annotations

import argparse
from typing import Any

from itk_consensus.assessment.assessment import assess
from itk_consensus.assessment.verdict import Verdict
from itk_consensus.cli.console import Console
from itk_consensus.cli.fusing import (
    FusedFiles,
    add_classes_option,
    add_fail_option,
    add_fusion_options,
    add_image_option,
    add_input_files,
    exit_code,
    fuse_files,
)
from itk_consensus.cli.outputs import add_output_options, given_outputs, lock_outputs
from itk_consensus.cli.page_options import add_page_options, page_options
from itk_consensus.cli.per_structure import page_per_structure
from itk_consensus.cli.structure_inputs import add_structure_options, require_no_structure_options
from itk_consensus.report.fusion_report import verdict_lines
from itk_consensus.report.page import PathLike, report
from itk_consensus.report.text import PROGRAM, pairs, wrap_lines


def configure(parser: argparse.ArgumentParser, words: list[str]) -> None:
    """Add the arguments of the command, which depend on the method."""
    fuser = add_fusion_options(
        parser, words, "report", "Fuse label images and write one HTML page about it."
    )
    parser.usage = f"{PROGRAM} report INPUT... --output PAGE [--method METHOD] [options]"
    parser.set_defaults(run=_report)
    add_input_files(parser)
    add_output_options(parser, "the page, a single file")
    add_image_option(parser, fuser)
    add_structure_options(parser)
    add_page_options(parser)
    add_classes_option(parser, fuser)
    add_fail_option(parser)


def _report(arguments: argparse.Namespace, console: Console) -> int:
    if arguments.per_structure:
        return page_per_structure(arguments, console)
    require_no_structure_options(arguments)
    outputs = given_outputs(arguments, output=None)
    fused = fuse_files(arguments, console, outputs)
    console.progress(0.9, "writing")
    with lock_outputs(outputs, overwrite=arguments.overwrite):
        write_page(fused, arguments.output, {}, page_options(arguments))
    findings = assess(fused.result).findings(full=False)
    lines = wrap_lines(str(findings)) if console.is_verbose else verdict_lines(findings)
    console.answer("\n".join([*lines, *pairs({"page": str(arguments.output)})]))
    return exit_code(Verdict.of(findings).word, arguments.fail_on)


def write_page(
    fused: FusedFiles, page: PathLike, outputs: dict[str, PathLike], options: dict[str, Any]
) -> None:
    """Write the page for a fusion of files, with links to the other outputs."""
    files = fused.paths if fused.is_file_each else None
    report(fused.result, page, fused.image, files=files, outputs=outputs, **options)
