"""Options for named structures, and the files in which readers drew them."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

from itk_consensus.cli.options import add_file
from itk_consensus.core.errors import InputError, ParameterError
from itk_consensus.images.dicom.seg_reading import ABSENT_FRAMES
from itk_consensus.images.dicom.series import DicomSeries, read_dicom_series
from itk_consensus.images.own_outputs import reject_own_output
from itk_consensus.images.structure_files import CONTOURS, is_own_output, read_structures
from itk_consensus.images.structures import MatchedStructures, Structure, match_structures


def add_structure_options(parser: argparse.ArgumentParser, *, with_identity: bool = True) -> None:
    """Give a parser ``--per-structure`` and what goes with it."""
    group = parser.add_argument_group("named structures")
    group.add_argument(
        "--per-structure",
        action="store_true",
        help="inputs are Slicer segmentations (.seg.nrrd), DICOM SEG or RTSTRUCT; treat each "
        f"structure by itself. fuse writes a .seg.nrrd, DICOM SEG (.dcm) or RTSTRUCT ({CONTOURS})",
    )
    add_file(
        group,
        "--series",
        metavar="FOLDER",
        help="the DICOM series that was segmented; needed to read or write DICOM, and shown in "
        "pages",
    )
    group.add_argument(
        "--series-number",
        type=int,
        metavar="N",
        help="which series of the folder, from 1 on, where it holds several; "
        "'itk-consensus info FOLDER' lists them",
    )
    group.add_argument(
        "--absent-frames",
        choices=ABSENT_FRAMES,
        help="what slices without any frame in a rater's DICOM SEG are: background, or not "
        "annotated [default: background]",
    )
    group.add_argument(
        "--rename",
        action="append",
        type=_renaming,
        default=[],
        metavar="OLD=NEW",
        help="treat structure OLD as NEW, for all raters; may be given several times",
    )
    if with_identity:
        group.add_argument(
            "--show-identity",
            action="store_true",
            help="name the patient of --series in the page; otherwise nothing does",
        )


class ReadStructures(NamedTuple):
    """What readers drew, and on what."""

    matched: MatchedStructures
    series: DicomSeries | None

    def drawn(self) -> Iterator[tuple[str, dict[int, Structure]]]:
        """Each structure, and who of the readers drew it, by their numbers."""
        for name, row in self.matched.table.items():
            yield name, {number: one for number, one in enumerate(row) if one is not None}

    @property
    def lonely(self) -> list[str]:
        """A sentence for each structure that one of several readers drew, and what to do."""
        return [_lonely(self.matched, name) for name in self.matched.unmatched]


def read_readers(arguments: argparse.Namespace, files: list[Path]) -> ReadStructures:
    """Read the structures of every file and find out which are the same."""
    series = None
    if arguments.series is not None:
        series = read_dicom_series(arguments.series, number=arguments.series_number)
    options = {} if arguments.absent_frames is None else {"absent_frames": arguments.absent_frames}
    for path in files:
        if not getattr(arguments, "accept_own_outputs", True) and is_own_output(path):
            reject_own_output(path)
    readers = {str(path): read_structures(path, series, **options) for path in files}
    if len(readers) < len(files):
        raise InputError("a file is given twice")
    renamed = dict(arguments.rename)
    known = {one.name for structures in readers.values() for one in structures}
    for old in renamed:
        if old not in known:
            near = get_close_matches(old, known, 3) or sorted(known)
            raise ParameterError(
                f"--rename {old}={renamed[old]}: no rater has a structure {old!a}; "
                f"there are {', '.join(near)}"
            )
    return ReadStructures(match_structures(readers, renamed), series)


def require_no_structure_options(arguments: argparse.Namespace) -> None:
    """Refuse options that mean nothing without ``--per-structure``."""
    for option in ("series", "series_number", "absent_frames", "rename"):
        if getattr(arguments, option) not in (None, []):
            name = option.replace("_", "-")
            arguments.parser.error(f"--{name} is for named structures; add --per-structure")


def _lonely(matched: MatchedStructures, name: str) -> str:
    row = matched.table[name]
    (number,) = (n for n, one in enumerate(row) if one is not None)
    # What the same reader has too is something else.
    others = [other for other, theirs in matched.table.items() if theirs[number] is None]
    near = get_close_matches(name, others, 1, 0.5)
    other = near[0] if near else "NEW"
    return (
        f"only {matched.readers[number]} drew {name!r}: it is that reader's own and no consensus; "
        f'if others call it otherwise, give --rename "{name}={other}"'
    )


def _renaming(text: str) -> tuple[str, str]:
    old, equals, new = text.partition("=")
    if not (old and equals and new):
        raise argparse.ArgumentTypeError(f"must be OLD=NEW, got {text!a}")
    return old, new
