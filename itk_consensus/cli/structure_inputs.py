"""Options for named structures, and the files in which readers drew them."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path

from itk_consensus.assessment.findings import Finding
from itk_consensus.assessment.readers import about_swap
from itk_consensus.assessment.structure_swaps import (
    Places,
    StructureSwap,
    plan_findings,
    structure_swaps,
)
from itk_consensus.cli.options import add_file
from itk_consensus.core.errors import ConsensusError, InputError, ParameterError
from itk_consensus.images.dicom.rtstruct_writing import HOLES
from itk_consensus.images.dicom.seg_reading import ABSENT_FRAMES
from itk_consensus.images.dicom.series import DicomSeries, read_dicom_series
from itk_consensus.images.files import distinct_names
from itk_consensus.images.own_outputs import reject_own_output
from itk_consensus.images.structure_files import CONTOURS, is_own_output, read_structures
from itk_consensus.images.structure_matching import (
    ACCEPTED_OVERLAP,
    LEAST_OVERLAP,
    MatchedStructures,
    MatchingRules,
    Proposal,
    sentences_of,
)
from itk_consensus.images.structure_names import words_with
from itk_consensus.images.structure_renamings import (
    MissingStructureError,
    read_renamings,
    renamings_of,
)
from itk_consensus.images.structures import Structure

#: What the names of files of structures end in.
_ENDING = re.compile(r"(\.rtstruct|\.seg)?\.(dcm|nrrd)$", re.IGNORECASE)

_ONLY_FOR_STRUCTURES = (
    "series", "series_number", "absent_frames", "rename", "accept_matches", "synonyms",
    "structures", "exclude", "write_names", "plan_table", "tolerances", "write_all", "smooth",
    "holes", "least_island",
)  # fmt: skip


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
        metavar="OLD=NEW|FILE",
        help="treat structure OLD as NEW, for all raters, or as a file says: CSV with the columns "
        "reader, old and new (info --write-names writes one), or TOML; may be given several times",
    )
    group.add_argument(
        "--accept-matches",
        type=_overlap,
        nargs="?",
        const=ACCEPTED_OVERLAP,
        metavar="DICE",
        help="join structures that are proposed as one, since they overlap so far; each is listed "
        f"[without a number: {ACCEPTED_OVERLAP}]",
    )
    add_file(
        group,
        "--synonyms",
        metavar="FILE",
        help="what organs are called: CSV with the columns organ, names (divided by |) and paired, "
        "which wins over the table that comes with the package",
    )
    group.add_argument(
        "--structures",
        type=_patterns,
        default=(),
        metavar="NAME,...",
        help="only these structures, by name in any spelling or by pattern: GTVp,Parotid*",
    )
    group.add_argument(
        "--exclude",
        type=_patterns,
        default=(),
        metavar="NAME,...",
        help="all structures but these",
    )
    if with_identity:
        group.add_argument(
            "--show-identity",
            action="store_true",
            help="name the patient of --series in the page; otherwise nothing does",
        )


def add_plan_options(parser: argparse.ArgumentParser) -> None:
    """Give a parser what a consensus of structures is written by."""
    group = parser.add_argument_group("contours")
    group.add_argument(
        "--write-all",
        action="store_true",
        help="also write structures that are no consensus: empty ones, and those that one reader "
        "or fewer than half drew",
    )
    group.add_argument(
        "--smooth",
        type=float,
        metavar="MM",
        help="contours that are easy to edit, no farther than so many mm from the edges of voxels",
    )
    group.add_argument(
        "--holes",
        choices=HOLES,
        help="what holes become: joined to the contour around them by a channel without width, or "
        f"contours of their own [default: {HOLES[0]}]",
    )
    group.add_argument(
        "--least-island",
        type=_volume,
        metavar="ML",
        help="leave out separate pieces of a structure below this volume that most readers did "
        f"not draw [default: {LEAST_ISLAND} in an RTSTRUCT, else 0]",
    )


#: Islands below so many ml are no part of contours, unless most readers drew them.
LEAST_ISLAND = 0.05


@dataclass(frozen=True)
class ReadStructures:
    """What readers drew, and on what."""

    matched: MatchedStructures
    series: DicomSeries | None

    @cached_property
    def places(self) -> Places:
        """Where each reader has each structure."""
        return self.matched.places()

    @cached_property
    def swaps(self) -> list[StructureSwap]:
        """Readers who call structures otherwise than the others."""
        return structure_swaps(self.places)

    @property
    def swapped(self) -> list[str]:
        """A sentence for each of them."""
        return [
            about_swap("swapped structures", one.reader, one).named(self.matched.readers).sentence
            for one in self.swaps
        ]

    def known_of(self, name: str, who: Sequence[int]) -> tuple[Finding, ...]:
        """What the plan tells about one of its structures and the readers who drew it."""
        return plan_findings(self.places, self.swaps, name, who)

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
    if len({*files}) < len(files):
        raise InputError("a file is given twice")
    names = reader_names(files)
    drawn = [read_structures(path, series, **options) for path in files]
    readers = dict(zip(names, drawn, strict=True))
    rules = matching_rules(arguments, readers, dict(zip(names, files, strict=True)))
    return ReadStructures(rules.match(readers), series)


def reader_names(files: Sequence[Path]) -> tuple[str, ...]:
    """What readers are called: their files' names without what says that they are structures."""
    names = [_ENDING.sub("", path.name) or path.name for path in files]
    return distinct_names(names, files)


def matching_rules(
    arguments: argparse.Namespace,
    readers: Mapping[str, Sequence[Structure]],
    files: Mapping[str, Path] | None = None,
) -> MatchingRules:
    """What the command line says of names; `files` are the readers' if they have other names."""
    names = {path: [one.name for one in has] for path, has in readers.items()}
    rows = [row for given in arguments.rename for row in given]
    try:
        renamed = renamings_of(rows, names, files)
    except MissingStructureError as error:
        near = get_close_matches(error.old, error.known, 3) or error.known
        raise ParameterError(f"{error}; there are {', '.join(near)}") from None
    return MatchingRules(
        renamed,
        words_with(arguments.synonyms),
        arguments.accept_matches,
        arguments.structures,
        arguments.exclude,
    )


def require_no_structure_options(arguments: argparse.Namespace) -> None:
    """Refuse options that mean nothing without ``--per-structure``."""
    for option in _ONLY_FOR_STRUCTURES:
        if getattr(arguments, option, None) not in (None, [], (), False):
            name = option.replace("_", "-")
            arguments.parser.error(f"--{name} is for named structures; add --per-structure")


def _lonely(matched: MatchedStructures, name: str) -> str:
    (number,) = (n for n, one in enumerate(matched.table[name]) if one is not None)
    near = [one for one in matched.proposals if name in (one.new, _title_of(matched, one))]
    if near:
        what = "; ".join(sentences_of(near))
    else:
        what = f'if others call it otherwise, give --rename "{name}=NEW"'
    return (
        f"only {matched.readers[number]} drew {name!r}: it is that reader's own and no consensus; "
        f"{what}"
    )


def _title_of(matched: MatchedStructures, proposal: Proposal) -> str:
    """The structure that a proposal would call otherwise."""
    reader, old = proposal.renamings[0]
    number = matched.readers.index(reader)
    rows = ((name, row[number]) for name, row in matched.table.items())
    return next(name for name, one in rows if one is not None and one.name == old)


def _renaming(text: str) -> list[tuple[str, str, str]]:
    """Rows of reader, old and new name."""
    old, equals, new = text.partition("=")
    if equals:
        if not (old and new):
            raise argparse.ArgumentTypeError(f"must be OLD=NEW or a file, got {text!a}")
        return [("", old, new)]
    if not text.lower().endswith((".csv", ".toml")):
        raise argparse.ArgumentTypeError(f"must be OLD=NEW or a file (.csv, .toml), got {text!a}")
    try:
        return read_renamings(text)
    except ConsensusError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _overlap(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not LEAST_OVERLAP <= value <= 1:
        raise argparse.ArgumentTypeError(f"must be a Dice from {LEAST_OVERLAP} to 1, got {text!a}")
    return value


def _volume(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"must be a volume in ml, got {text!a}")
    return value


def _patterns(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(","))
    if not all(names):
        raise argparse.ArgumentTypeError(f"must be names divided by commas, got {text!a}")
    return names
