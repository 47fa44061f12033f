"""``itk-consensus calibrate`` and ``itk-consensus band``."""

from __future__ import annotations

import argparse
import csv
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from itk_consensus.calibration.conformal import REFERENCE_KINDS, TRUTH
from itk_consensus.cli_options import add_option, given_parameters
from itk_consensus.errors import FileError
from itk_consensus.filters.conformal_band import ConformalBandFilter
from itk_consensus.filters.held_out_rater import hold_out_raters
from itk_consensus.filters.parameters import measurements_of, parameters_of, snake_case
from itk_consensus.filters.registry import METHODS
from itk_consensus.images.files import write_image, write_text
from itk_consensus.report.console import PROGRAM, Console
from itk_consensus.report.fusion_report import to_plain
from itk_consensus.report.image_file import ImageFile
from itk_consensus.report.outputs import Output, check_outputs
from itk_consensus.report.text import pairs, section, shown, wrapped

_COLUMNS = ("case", "probability", "reference", "raters")
_CASES_HELP = f"""\
CASES is a CSV file with the columns {", ".join(_COLUMNS)}, one case per row.
Several files in one field (raters; a probability image per label) are separated by ';'; each
component of a vector image counts as one. Paths are relative to the CSV file. The reference is a
truth, or a rater who had no part in the probability. Without a truth use --hold-out-rater: it needs
the columns case and raters only, holds out one rater per case in turn, fuses the others by --method
and calibrates on the one held out; the band then covers a new rater, not the truth."""

#: Options of ConformalBandFilter that a calibration fixes; `band` takes them from the record.
_FREE_IN_BAND = (
    "EmptyPolicy",
    "FusionMethod",
    "WithoutPromise",
    "CoordinateTolerance",
    "DirectionTolerance",
)


@dataclass(frozen=True)
class CaseRow:
    """One row of a CASES file: its name and, by column, its files."""

    name: str
    files: Mapping[str, tuple[Path, ...]]


# -- calibrate -------------------------------------------------------------------------------


def add_calibrate_parser(commands: Any) -> None:
    """Add ``calibrate`` to the commands of a parser."""
    parser = commands.add_parser(
        "calibrate",
        usage=f"{PROGRAM} calibrate CASES --output FILE [options]",
        help="learn from cases with a reference how wide a band must be",
        description=_CASES_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=_calibrate, parser=parser)
    parser.add_argument("cases", type=Path, metavar="CASES", help="CSV file of the cases")
    parser.add_argument(
        "--output", type=Path, required=True, metavar="FILE", help="the calibration, as JSON"
    )
    parser.add_argument(
        "--reference-kind",
        choices=REFERENCE_KINDS,
        default=TRUTH,
        help="what the references are [default: %(default)s]",
    )
    parser.add_argument(
        "--hold-out-rater", action="store_true", help="make the references from the raters"
    )
    parser.add_argument(
        "--method",
        choices=METHODS,
        default="vote",
        help="how --hold-out-rater fuses the others [default: %(default)s]",
    )
    options = parser.add_argument_group("options of the band")
    for parameter in parameters_of(ConformalBandFilter):
        if parameter.in_cli:
            add_option(options, parameter)


def _calibrate(arguments: argparse.Namespace, console: Console) -> None:
    wanted = ("raters",) if arguments.hold_out_rater else ("probability", "reference")
    rows = read_cases(arguments.cases, wanted)
    inputs = [arguments.cases, *(path for row in rows for p in row.files.values() for path in p)]
    check_outputs([Output("--output", arguments.output)], inputs, 3)
    band = ConformalBandFilter(**given_parameters(arguments, ConformalBandFilter))
    names = [row.name for row in rows]
    if arguments.hold_out_rater:
        cohort = hold_out_raters(_read("raters", rows, console), METHODS[arguments.method]())
        band.Calibrate(**cohort._asdict(), case_ids=names)
    else:
        has_raters = any("raters" in row.files for row in rows)
        band.Calibrate(
            map(_one_or_all, _read("probability", rows, console)),
            map(_one_or_all, _read("reference", rows, console)),
            _read("raters", rows, console) if has_raters else None,
            case_ids=names,
            provenance={"reference_kind": arguments.reference_kind},
        )
    band.Save(arguments.output)
    console.clear()
    record = band.GetRecord()
    found = {"threshold": shown(record.tau), "calibration": str(arguments.output)}
    if record.coverage_range is not None:
        low, high = record.coverage_range
        found["true coverage"] = f"{low:.1%} to {high:.1%} in 8 of 10 calibrations like this one"
    print(section(f"calibrated on {len(rows)} cases", pairs(found)))
    print("\n".join(wrapped(record.guarantee)))


def read_cases(path: Path, wanted: tuple[str, ...]) -> list[CaseRow]:
    """Rows of a CASES file, each with files in every wanted column."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as stream:
            reader = csv.DictReader(stream)
            missing = {"case", *wanted} - set(reader.fieldnames or ())
            if missing:
                raise FileError(f"{path}: has no column {', '.join(sorted(missing))}")
            return [_row(path, number, row, wanted) for number, row in enumerate(reader, start=2)]
    except OSError as error:
        raise FileError(f"{path}: {error.strerror}") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise FileError(f"{path}: cannot be read as CSV: {error}") from error


def _row(path: Path, line: int, row: Mapping[str, str | None], wanted: tuple[str, ...]) -> CaseRow:
    files = {
        column: tuple(path.parent / name.strip() for name in (row.get(column) or "").split(";"))
        for column in _COLUMNS[1:]
        if (row.get(column) or "").strip()
    }
    empty = [column for column in wanted if column not in files]
    if empty:
        raise FileError(f"{path}: line {line} names no file in column {', '.join(empty)}")
    return CaseRow((row.get("case") or "").strip() or str(line), files)


def _read(column: str, rows: list[CaseRow], console: Console) -> Iterator[list[Any]]:
    """The images of one column, read case by case when asked for."""
    for number, row in enumerate(rows):
        console.progress(number / len(rows), f"reading case {row.name}")
        yield [console.read(path) for path in row.files.get(column, ())]


# -- band ------------------------------------------------------------------------------------


def add_band_parser(commands: Any) -> None:
    """Add ``band`` to the commands of a parser."""
    text = "mark where a consensus is certain and where it is not"
    parser = commands.add_parser("band", help=text, description=f"{text.capitalize()}.")
    parser.set_defaults(run=_band, parser=parser)
    parser.add_argument(
        "probability",
        nargs="+",
        type=Path,
        metavar="PROBABILITY",
        help="probability image of the foreground, or one per label",
    )
    parser.add_argument(
        "--calibration", type=Path, required=True, metavar="FILE", help="made by calibrate"
    )
    parser.add_argument(
        "--output",
        type=Path,
        required=True,
        metavar="FILE",
        help="0 background, 1 foreground, 2 ambiguous, 3 empty; bit k for label k of several",
    )
    parser.add_argument(
        "--raters",
        nargs="+",
        type=Path,
        default=[],
        metavar="FILE",
        help="the raters behind the probability, if the calibration measures their spread",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="the report, for machines")
    for parameter in parameters_of(ConformalBandFilter):
        if parameter.name in _FREE_IN_BAND:
            add_option(parser, parameter)


def _band(arguments: argparse.Namespace, console: Console) -> None:
    band = ConformalBandFilter.Load(arguments.calibration)
    for name, value in given_parameters(arguments, ConformalBandFilter).items():
        setattr(band, name, value)
    paths = [*arguments.probability, *arguments.raters]
    images = []
    for number, path in enumerate(paths):
        console.progress(0.5 * number / len(paths), f"reading {path}")
        images.append(console.read(path))
    outputs = [Output("--output", arguments.output, np.uint8)]
    if arguments.json is not None:
        outputs.append(Output("--json", arguments.json))
    dimension = ImageFile.of(paths[0], images[0]).geometry.dimension
    check_outputs(outputs, [arguments.calibration, *paths], dimension)
    probabilities = images[: len(arguments.probability)]
    raters = images[len(arguments.probability) :]
    console.follow(band, 0.5, 0.95)
    marked = band.Execute(_one_or_all(probabilities), raters or None)
    write_image(marked, arguments.output)
    measured = {snake_case(m.name): m.__get__(band) for m in measurements_of(ConformalBandFilter)}
    report = {"guarantee": band.GetGuarantee(), **measured}
    if arguments.json is not None:
        write_text(arguments.json, json.dumps(to_plain(report), indent=2) + "\n")
    console.clear()
    facts = {
        "band": f"{band.BandThickness:.2f} mm thick on average",
        "ambiguous": f"{band.AmbiguousVolume:.6g} mm{'³' if dimension == 3 else '²'}",
        "written": str(arguments.output),
    }
    print(section(str(arguments.probability[0]), pairs(facts)))
    print("\n".join(wrapped(band.GetGuarantee())))


def _one_or_all(images: list[Any]) -> Any:
    return images[0] if len(images) == 1 else images
