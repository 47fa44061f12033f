"""``itk-consensus calibrate``."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from itk_consensus.calibration.conformal import REFERENCE_KINDS, TRUTH
from itk_consensus.cli.case_list import FORMATS_HELP, Case, Column, read_case_list
from itk_consensus.cli.console import Console
from itk_consensus.cli.inputs import read
from itk_consensus.cli.options import (
    add_file,
    add_method_option,
    add_options,
    given_parameters,
    naming_options,
)
from itk_consensus.cli.outputs import Output, add_output_options, check_outputs, writing
from itk_consensus.filters.conformal_band import ConformalBandFilter
from itk_consensus.filters.held_out_rater import hold_out_raters
from itk_consensus.filters.registry import METHODS
from itk_consensus.report.text import PROGRAM, pairs, section, shown, wrapped

_CASES_HELP = f"""\
Calibrate the width of a band on cases with a reference.

{FORMATS_HELP}

  case         its name, if it has one
  probability  probability image of the foreground, or one per label
  reference    the truth, or a rater who was not fused into the probability
  raters       the label images behind the probability, if the band measures their spread

Each component of a vector image counts as one image. Without a truth use --hold-out-rater: it needs
the column raters only, holds out one rater per case in turn, fuses the others by --method and
calibrates on the one held out; the band then covers a new rater, not the truth."""


def configure(parser: argparse.ArgumentParser, _words: list[str]) -> None:
    """Add the arguments of the command."""
    parser.usage = f"{PROGRAM} calibrate CASES --output FILE [options]"
    parser.description = _CASES_HELP
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.set_defaults(run=_calibrate, parser=parser)
    add_file(parser, "cases", metavar="CASES", help="CSV or JSON file")
    add_output_options(parser, "the calibration, as JSON")
    parser.add_argument(
        "--reference-kind",
        choices=REFERENCE_KINDS,
        default=TRUTH,
        help="what the references are [default: %(default)s]",
    )
    parser.add_argument(
        "--hold-out-rater", action="store_true", help="make the references from the raters"
    )
    add_method_option(parser, "how --hold-out-rater fuses the others", "vote")
    add_options(parser.add_argument_group("options of the band"), ConformalBandFilter)


def _calibrate(arguments: argparse.Namespace, console: Console) -> None:
    from_raters = arguments.hold_out_rater
    columns = (
        Column("probability", required=not from_raters),
        Column("reference", required=not from_raters),
        Column("raters", required=from_raters),
    )
    cases = read_case_list(arguments.cases, columns)
    inputs = [arguments.cases, *(file for case in cases for file in case.files)]
    outputs = [Output("--output", arguments.output)]
    check_outputs(outputs, inputs, 3, overwrite=arguments.overwrite)
    band = ConformalBandFilter(**given_parameters(arguments, ConformalBandFilter))
    with naming_options(band, "calibrate"):
        _calibrate_on(cases, band, arguments, console)
    with writing(outputs, overwrite=arguments.overwrite):
        band.Save(arguments.output)
    record = band.GetRecord()
    found = {"threshold": shown(record.tau), "calibration": str(arguments.output)}
    if record.coverage_range is not None:
        low, high = record.coverage_range
        found["true coverage"] = f"{low:.1%} to {high:.1%} in 8 of 10 calibrations like this one"
    console.answer(section(f"calibrated on {len(cases)} cases", pairs(found)))
    console.answer("\n".join(wrapped(record.guarantee)))


def _calibrate_on(
    cases: list[Case], band: ConformalBandFilter, arguments: argparse.Namespace, console: Console
) -> None:
    names = [case.name for case in cases]
    if arguments.hold_out_rater:
        cohort = hold_out_raters(_read("raters", cases, console), METHODS[arguments.method]())
        band.Calibrate(**cohort._asdict(), case_ids=names)
        return
    band.Calibrate(
        map(one_or_all, _read("probability", cases, console)),
        map(one_or_all, _read("reference", cases, console)),
        _read("raters", cases, console) if any(case["raters"] for case in cases) else None,
        case_ids=names,
        provenance={"reference_kind": arguments.reference_kind},
    )


def _read(column: str, cases: list[Case], console: Console) -> Iterator[list[Any]]:
    """The images of one column, read case by case when asked for."""
    for number, case in enumerate(cases):
        console.progress(number / len(cases), f"reading case {case.name}")
        yield [read(path, console) for path in case[column]]


def one_or_all(images: list[Any]) -> Any:
    """A probability image of the foreground, or one for each label."""
    return images[0] if len(images) == 1 else images
