"""``itk-consensus report``: an HTML page."""

from __future__ import annotations

import argparse
from typing import Any

from itk_consensus.cli.console import Console
from itk_consensus.cli.fusing import (
    FusedFiles,
    add_fusion_options,
    add_image_option,
    add_input_files,
    fuse_files,
)
from itk_consensus.cli.inputs import rater_names
from itk_consensus.cli.outputs import add_output_options, given_outputs, writing
from itk_consensus.cli.page_options import add_page_options, page_options
from itk_consensus.report.page import PathLike, report
from itk_consensus.report.text import PROGRAM


def configure(parser: argparse.ArgumentParser, words: list[str]) -> None:
    """Add the arguments of the command; they depend on the method."""
    fuser = add_fusion_options(
        parser, words, "report", "Fuse label images and write one HTML page about it."
    )
    parser.usage = f"{PROGRAM} report INPUT... --output PAGE [--method METHOD] [options]"
    parser.set_defaults(run=_report)
    add_input_files(parser)
    add_output_options(parser, "the page, a single file")
    add_image_option(parser, fuser)
    add_page_options(parser)


def _report(arguments: argparse.Namespace, console: Console) -> None:
    outputs = given_outputs(arguments, output=None)
    fused = fuse_files(arguments, console, outputs)
    console.progress(0.9, "writing")
    with writing(outputs, overwrite=arguments.overwrite):
        write_page(fused, arguments.output, {}, page_options(arguments))
    console.answer(f"{arguments.output}: {fused.filter_.method} of {len(fused.paths)} raters")


def write_page(
    fused: FusedFiles, page: PathLike, outputs: dict[str, PathLike], options: dict[str, Any]
) -> None:
    """The page of a fusion of files, with links to what else was written."""
    names = rater_names(fused.inputs)
    report(fused.filter_, page, fused.image, names, files=fused.paths, outputs=outputs, **options)
