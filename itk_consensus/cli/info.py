"""``itk-consensus info``: describe image files, DICOM series and named structures."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from itk_consensus.cli.console import SOMETHING_FOUND, Console
from itk_consensus.cli.inputs import read_files
from itk_consensus.cli.options import add_file
from itk_consensus.cli.outputs import Output, add_overwrite_option, check_outputs, lock_outputs
from itk_consensus.cli.structure_inputs import (
    add_structure_options,
    read_readers,
    require_no_structure_options,
)
from itk_consensus.images.dicom.rtstruct_reading import ROI_TYPE
from itk_consensus.images.dicom.series import description_of_slices, series_within
from itk_consensus.images.geometry import DEFAULT_TOLERANCE
from itk_consensus.images.structure_renamings import names_csv
from itk_consensus.images.structures import Structure
from itk_consensus.report.image_file import ImageFile, differences_in_space, label_sizes
from itk_consensus.report.text import section, table
from itk_consensus.storage.files import write_text


def configure(parser: argparse.ArgumentParser, _words: list[str]) -> None:
    """Add the arguments of the command."""
    parser.set_defaults(run=_info, parser=parser)
    parser.epilog = "The exit code is 1 if the files do not share a grid."
    add_file(parser, "files", nargs="+", help="image files, and folders of DICOM series")
    parser.add_argument(
        "--show-identity",
        action="store_true",
        help="also print the SeriesInstanceUID of each series, which identifies the patient",
    )
    add_structure_options(parser, with_identity=False)
    add_file(
        parser,
        "--write-names",
        metavar="FILE",
        help="with --per-structure: a CSV of every reader's names of structures and of proposed "
        "names, to be edited and given to --rename",
    )
    add_overwrite_option(parser)


def _info(arguments: argparse.Namespace, console: Console) -> int:
    if arguments.per_structure:
        _structures(arguments, console)
        return 0
    require_no_structure_options(arguments)
    files = []
    for folder in (path for path in arguments.files if path.is_dir()):
        console.answer(_series_of(folder, arguments.show_identity))
    images = [path for path in arguments.files if not path.is_dir()]
    for file in read_files(images, console, 1.0):
        console.answer(file.description())
        files.append(file.without_voxels())
    if not files:
        return 0
    differing = differences_in_space(files, DEFAULT_TOLERANCE, DEFAULT_TOLERANCE)
    if differing:
        console.answer("\n".join(sentence for _, sentence in differing))
    elif len(files) > 1:
        console.answer(f"All {len(files)} files share a grid.")
    return SOMETHING_FOUND if differing else 0


def _series_of(folder: Path, show_identity: bool) -> str:
    """List the series in a folder with the numbers that --series-number accepts."""
    _, found = series_within(folder)
    lines = []
    for number, (uid, slices) in enumerate(found.items(), start=1):
        lines.append(f"series {number} of {len(found)}: {description_of_slices(slices)}")
        if show_identity:
            lines.append(f"SeriesInstanceUID {uid}")
    return section(str(folder), lines)


def _structures(arguments: argparse.Namespace, console: Console) -> None:
    """Print the structures of each reader, and a table that shows which reader has which
    structure.
    """
    path = arguments.write_names
    outputs = [] if path is None else [Output("--write-names", path)]
    check_outputs(outputs, arguments.files, 3, overwrite=arguments.overwrite)
    readers = read_readers(arguments, arguments.files)
    with lock_outputs(outputs, overwrite=arguments.overwrite):
        if path is not None:
            write_text(path, names_csv(readers.matched, readers.names_put_right))
    for number, reader in enumerate(readers.matched.readers):
        drawn = [who[number] for _, who in readers.masks_by_structure() if number in who]
        header = ["structure", "voxels", "ml", "type", "colour"]
        console.answer(section(reader, table(header, map(_structure_row, drawn))))
    console.answer(str(readers.matched))
    for sentence in [*readers.swapped, *readers.doubts]:
        console.warn(sentence)


def _structure_row(one: Structure) -> list[Any]:
    file = ImageFile.of(Path(one.name), one.mask)
    (size,) = label_sizes({1: file.label_counts()[0].get(1, 0)}, file.geometry)
    color = "-" if one.color is None else ",".join(f"{255 * part:.0f}" for part in one.color)
    kind = one.details.get(ROI_TYPE) or ("-" if one.kind is None else one.kind.meaning)
    return [one.name, size["voxels"], f"{size['volume_ml']:.3f}", kind, color]
