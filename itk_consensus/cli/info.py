"""``itk-consensus info``."""

from __future__ import annotations

import argparse

from itk_consensus.cli.console import SOMETHING_FOUND, Console
from itk_consensus.cli.inputs import read_files
from itk_consensus.cli.options import add_file
from itk_consensus.images.geometry import DEFAULT_TOLERANCE
from itk_consensus.report.image_file import differences_in_space


def configure(parser: argparse.ArgumentParser, _words: list[str]) -> None:
    """Add the arguments of the command."""
    parser.set_defaults(run=_info, parser=parser)
    parser.epilog = "The exit code is 1 if the files do not share a grid."
    add_file(parser, "files", nargs="+", help="image files")


def _info(arguments: argparse.Namespace, console: Console) -> int:
    files = []
    for file in read_files(arguments.files, console, 1.0):
        console.answer(file.description())
        files.append(file.without_voxels())
    differing = differences_in_space(files, DEFAULT_TOLERANCE, DEFAULT_TOLERANCE)
    if differing:
        console.answer("\n".join(sentence for _, sentence in differing))
    elif len(files) > 1:
        console.answer(f"All {len(files)} files share a grid.")
    return SOMETHING_FOUND if differing else 0
