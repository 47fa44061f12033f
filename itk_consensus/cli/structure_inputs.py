"""Options for named structures, and reading of the raters' structure files."""

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
from itk_consensus.assessment.sentences import join_items
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
    proposal_sentences,
)
from itk_consensus.images.structure_names import words_with
from itk_consensus.images.structure_renamings import (
    MissingStructureError,
    read_renamings,
    renamings_of,
)
from itk_consensus.images.structures import Structure

#: File-name endings of structure files.
_ENDING = re.compile(r"(\.rtstruct|\.seg)?\.(dcm|nrrd)$", re.IGNORECASE)

_ONLY_FOR_STRUCTURES = (
    "series", "series_number", "absent_frames", "rename", "accept_matches", "synonyms",
    "structures", "exclude", "write_names", "plan_table", "tolerances", "write_all", "smooth",
    "holes", "least_island",
)  # fmt: skip


def add_structure_options(parser: argparse.ArgumentParser, *, with_identity: bool = True) -> None:
    """Add ``--per-structure`` and its related options to a parser."""
    group = parser.add_argument_group("named structures")
    group.add_argument(
        "--per-structure",
        action="store_true",
        help="inputs are Slicer segmentations (.seg.nrrd), DICOM SEG or RTSTRUCT; process each "
        f"structure separately. fuse writes a .seg.nrrd, DICOM SEG (.dcm) or RTSTRUCT ({CONTOURS})",
    )
    add_file(
        group,
        "--series",
        metavar="FOLDER",
        help="the DICOM series that was segmented; required to read or write DICOM, and shown in "
        "pages",
    )
    group.add_argument(
        "--series-number",
        type=int,
        metavar="N",
        help="which series of the folder, from 1, if it contains several; "
        "'itk-consensus info FOLDER' lists them",
    )
    group.add_argument(
        "--absent-frames",
        choices=ABSENT_FRAMES,
        help="how to read slices without any frame in a rater's DICOM SEG: as background, or as "
        "not annotated [default: background]",
    )
    group.add_argument(
        "--rename",
        action="append",
        type=_parse_renaming,
        default=[],
        metavar="OLD=NEW|FILE",
        help="rename structure OLD to NEW, for all raters, or according to a file: CSV with the "
        "columns reader, old and new (info --write-names writes one), or TOML; may be repeated",
    )
    group.add_argument(
        "--accept-matches",
        type=_parse_overlap,
        nargs="?",
        const=ACCEPTED_OVERLAP,
        metavar="DICE",
        help="accept proposed matches of structures with at least this overlap; each is listed "
        f"[without a number: {ACCEPTED_OVERLAP}]",
    )
    add_file(
        group,
        "--synonyms",
        metavar="FILE",
        help="names of organs: CSV with the columns organ, names (separated by |) and paired, "
        "which overrides the package's own table",
    )
    group.add_argument(
        "--structures",
        type=_parse_patterns,
        default=(),
        metavar="NAME,...",
        help="only these structures, by name in any spelling or by pattern: GTVp,Parotid*",
    )
    group.add_argument(
        "--exclude",
        type=_parse_patterns,
        default=(),
        metavar="NAME,...",
        help="all structures except these",
    )
    if with_identity:
        group.add_argument(
            "--show-identity",
            action="store_true",
            help="show the patient of --series in the page, which is anonymous otherwise",
        )


def add_plan_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for writing a consensus of structures to a parser."""
    group = parser.add_argument_group("contours")
    group.add_argument(
        "--write-all",
        action="store_true",
        help="also write structures that are not a consensus: empty ones, and those that only one "
        "reader, or fewer than half, drew",
    )
    group.add_argument(
        "--smooth",
        type=float,
        metavar="MM",
        help="smooth contours for easy editing, by at most this distance from the edges of voxels",
    )
    group.add_argument(
        "--holes",
        choices=HOLES,
        help="join holes to the contour around them by a channel of zero width, or write them as "
        f"separate contours [default: {HOLES[0]}]",
    )
    group.add_argument(
        "--least-island",
        type=_parse_volume,
        metavar="ML",
        help="remove islands of a structure below this volume that most readers did "
        f"not draw [default: {LEAST_ISLAND} in an RTSTRUCT, else 0]",
    )


#: Islands below this volume in ml are removed from contours, unless most readers drew them.
LEAST_ISLAND = 0.05


@dataclass(frozen=True)
class ReadStructures:
    """The raters' structures, matched by name, and their image series."""

    matched: MatchedStructures
    series: DicomSeries | None

    @cached_property
    def places(self) -> Places:
        """Each structure's mask by rater, with its position; None if the rater did not draw it."""
        return self.matched.places()

    @cached_property
    def swaps(self) -> list[StructureSwap]:
        """Raters whose structure names are swapped relative to the other raters."""
        return structure_swaps(self.places)

    @property
    def swapped(self) -> list[str]:
        """One sentence per swap."""
        return [
            about_swap("swapped structures", one.readers, one).named(self.matched.readers).sentence
            for one in self.swaps
        ]

    @property
    def names_put_right(self) -> dict[tuple[str, str], tuple[str, float]]:
        """Corrected names of each reader's swapped structures, and the Dice after renaming.

        With only two readers either may be right, so nothing is proposed.
        """
        return {
            (self.matched.readers[swap.reader], used): (meant, swap.after)
            for swap in self.swaps
            if len(swap.readers) == 1
            for used, meant in zip(swap.used, swap.meant, strict=True)
        }

    def known_of(self, name: str, who: Sequence[int]) -> tuple[Finding, ...]:
        """Return the findings about one structure that depend on the other structures and readers:
        swapped names and too few readers.
        """
        return plan_findings(self.places, self.swaps, name, who)

    def masks_by_structure(self) -> Iterator[tuple[str, dict[int, Structure]]]:
        """Yield each structure's name, and its masks by the indices of the raters who drew it."""
        for name, row in self.matched.table.items():
            yield name, {number: one for number, one in enumerate(row) if one is not None}

    @property
    def doubts(self) -> list[str]:
        """Warnings about empty structures, and about structures that only one rater drew."""
        alone = [_lonely(self.matched, name) for name in self.matched.unmatched]
        return [*_not_drawn_warnings(self.matched), *alone]


def read_readers(arguments: argparse.Namespace, files: list[Path]) -> ReadStructures:
    """Read the structures of every file and match them by name."""
    series = None
    if arguments.series is not None:
        series = read_dicom_series(arguments.series, number=arguments.series_number)
    options = {} if arguments.absent_frames is None else {"absent_frames": arguments.absent_frames}
    for path in files:
        if not getattr(arguments, "accept_own_outputs", True) and is_own_output(path):
            reject_own_output(path)
    if len({*files}) < len(files):
        raise InputError("a file is given twice among the inputs; give each once")
    names = reader_names(files)
    drawn = [read_structures(path, series, **options) for path in files]
    readers = dict(zip(names, drawn, strict=True))
    rules = matching_rules(arguments, readers, dict(zip(names, files, strict=True)))
    return ReadStructures(rules.match(readers), series)


def reader_names(files: Sequence[Path]) -> tuple[str, ...]:
    """Return raters' names: their file names without extensions and structure-file endings."""
    names = [_ENDING.sub("", path.name) or path.name for path in files]
    return distinct_names(names, files)


def matching_rules(
    arguments: argparse.Namespace,
    readers: Mapping[str, Sequence[Structure]],
    files: Mapping[str, Path] | None = None,
) -> MatchingRules:
    """Return the command line's rules for matching names; `files` are keyed by rater name."""
    names = {path: [one.name for one in has] for path, has in readers.items()}
    rows = [row for given in arguments.rename for row in given]
    words = words_with(arguments.synonyms)
    try:
        renamed = renamings_of(rows, names, files, words)
    except MissingStructureError as error:
        near = get_close_matches(error.old, error.known, 3) or error.known
        raise ParameterError(f"{error}; there are {', '.join(near)}") from None
    return MatchingRules(
        renamed,
        words,
        arguments.accept_matches,
        arguments.structures,
        arguments.exclude,
    )


def require_no_structure_options(arguments: argparse.Namespace) -> None:
    """Raise for options that apply only with ``--per-structure``."""
    for option in _ONLY_FOR_STRUCTURES:
        if getattr(arguments, option, None) not in (None, [], (), False):
            name = option.replace("_", "-")
            arguments.parser.error(f"--{name} applies to named structures; add --per-structure")


def _not_drawn_warnings(matched: MatchedStructures) -> Iterator[str]:
    """Yield a warning for each reader with empty structures."""
    for reader in matched.readers:
        names = [repr(name) for who, name in matched.not_drawn if who == reader]
        if names:
            empty = join_items(names)
            yield f"{reader} drew nothing under {empty}: counted as not drawn, not as empty"


def _lonely(matched: MatchedStructures, name: str) -> str:
    (number,) = (n for n, one in enumerate(matched.table[name]) if one is not None)
    near = [one for one in matched.proposals if name in (one.new, _title_of(matched, one))]
    if near:
        what = "; ".join(proposal_sentences(near))
    else:
        what = f'if others use another name for it, give --rename "{name}=NEW"'
    return f"only {matched.readers[number]} drew {name!r}, so it is not a consensus; {what}"


def _title_of(matched: MatchedStructures, proposal: Proposal) -> str:
    """Return the structure that a proposal would rename."""
    reader, old = proposal.renamings[0]
    number = matched.readers.index(reader)
    rows = ((name, row[number]) for name, row in matched.table.items())
    return next(name for name, one in rows if one is not None and one.name == old)


def _parse_renaming(text: str) -> list[tuple[str, str, str]]:
    """Parse a renaming into (reader, old name, new name) rows."""
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


def _parse_overlap(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not LEAST_OVERLAP <= value <= 1:
        raise argparse.ArgumentTypeError(f"must be a Dice from {LEAST_OVERLAP} to 1, got {text!a}")
    return value


def _parse_volume(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"must be a volume in ml, got {text!a}")
    return value


def _parse_patterns(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(","))
    if not all(names):
        raise argparse.ArgumentTypeError(f"must be names separated by commas, got {text!a}")
    return names
