"""``itk-consensus calibrate``: calibrate a band, margin or cut on cases with a reference."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from itk_consensus.calibration.calibration_filter import CalibrationFilter
from itk_consensus.calibration.conformal import REFERENCE_KINDS, TRUTH
from itk_consensus.calibration.conformal_band_filter import ConformalBandFilter
from itk_consensus.calibration.conformal_margin_filter import ConformalMarginFilter
from itk_consensus.calibration.cut_calibration_filter import CutCalibrationFilter
from itk_consensus.calibration.cuts import CutRecord
from itk_consensus.calibration.held_out_rater import hold_out_raters
from itk_consensus.calibration.margins import MarginRecord
from itk_consensus.cli.case_list import FORMATS_HELP, Case, Column, read_case_list
from itk_consensus.cli.console import Console
from itk_consensus.cli.inputs import read
from itk_consensus.cli.options import (
    add_file,
    add_method_option,
    add_options,
    given_parameters,
    use_option_names,
)
from itk_consensus.cli.outputs import Output, add_output_options, check_outputs, lock_outputs
from itk_consensus.methods.registry import METHODS
from itk_consensus.report.text import PROGRAM, format_value, pairs, section, wrap_lines

#: Filters that can be calibrated.
KINDS: dict[str, type[CalibrationFilter[Any]]] = {
    "band": ConformalBandFilter,
    "margin": ConformalMarginFilter,
    "cut": CutCalibrationFilter,
}

_CASES_HELP = f"""\
Calibrate on cases with a reference: a band whose width follows the raters' spread, a margin in mm,
or the probability at which to cut (--kind).

{FORMATS_HELP}

  case         its name (optional)
  probability  probability image of the foreground, or one per label
  reference    the truth, or a rater who was not fused into the probability
  raters       the label images behind the probability, if the band measures their spread

Each component of a vector image counts as one image. Without a truth use --hold-out-rater: it needs
only the column raters, holds out one rater per case in turn, fuses the others by --method and
calibrates on the one held out; the band then covers a new rater, not the truth."""


def configure(parser: argparse.ArgumentParser, words: list[str]) -> None:
    """Add the arguments of the command."""
    parser.usage = f"{PROGRAM} calibrate CASES --output FILE [--kind KIND] [options]"
    parser.description = _CASES_HELP
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add_file(parser, "cases", metavar="CASES", help="CSV or JSON file")
    add_output_options(parser, "the calibration, as JSON")
    _add_kind_option(parser)
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
    kind = _requested_kind(words)
    add_options(parser.add_argument_group(f"options of the {kind}"), KINDS[kind])
    parser.set_defaults(run=_calibrate, parser=parser)


def _add_kind_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--kind",
        choices=KINDS,
        default="band",
        help="what to calibrate; options depend on it [default: %(default)s]",
    )


def _requested_kind(words: list[str]) -> str:
    """Parse only ``--kind``, which determines the other options."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    _add_kind_option(parser)
    try:
        return str(parser.parse_known_args(words)[0].kind)
    except (argparse.ArgumentError, SystemExit):
        return "band"  # the full parser will report the error


def _calibrate(arguments: argparse.Namespace, console: Console) -> None:
    from_raters = arguments.hold_out_rater
    columns = (
        Column("probability", required=not from_raters),
        Column("reference", required=not from_raters),
        Column("raters", required=from_raters, may_be_named=True),
    )
    cases = read_case_list(arguments.cases, columns)
    inputs = [arguments.cases, *(file for case in cases for file in case.files)]
    outputs = [Output("--output", arguments.output)]
    check_outputs(outputs, inputs, 3, overwrite=arguments.overwrite)
    kind = KINDS[arguments.kind]
    filter_ = kind(**given_parameters(arguments, kind))
    with use_option_names(filter_, "calibrate"):
        _calibrate_on(cases, filter_, arguments, console)
    with lock_outputs(outputs, overwrite=arguments.overwrite):
        filter_.Save(arguments.output)
    record = filter_.GetRecord()
    facts = {**_facts(record), "calibration": str(arguments.output)}
    console.answer(section(f"calibrated on {len(cases)} cases", pairs(facts)))
    statement = record.meaning if isinstance(record, CutRecord) else record.guarantee
    console.answer("\n".join(wrap_lines(statement)))


def _facts(record: Any) -> dict[str, str]:
    """Return the calibrated values as strings, keyed by name."""
    if isinstance(record, CutRecord):
        return {"cut": format_value(tuple(one.cut for one in record.cuts))}
    facts = {"threshold": format_value(record.tau)}
    if isinstance(record, MarginRecord):
        facts = {"margin": f"{format_value(tuple(round(mm, 2) for mm in record.tau))} mm"}
        for label, widths in enumerate(map(record.band_widths, range(1, record.labels)), start=1):
            if widths is not None:
                facts[f"a band instead{f' (label {label})' if record.labels > 2 else ''}"] = (
                    f"{widths.mean:.2f} mm on average ({widths.narrowest:.2f} to "
                    f"{widths.widest:.2f}, by the raters' spread), with the same guarantee"
                )
    if record.coverage_range is not None:
        low, high = record.coverage_range
        facts["true coverage"] = f"{low:.1%} to {high:.1%} in 8 of 10 calibrations like this one"
    return facts


def _calibrate_on(
    cases: list[Case], filter_: Any, arguments: argparse.Namespace, console: Console
) -> None:
    if arguments.hold_out_rater:
        raters = _read("raters", cases, console)
        fuser = METHODS[arguments.method](InputsAreLabels=filter_.InputsAreLabels)
        names = [case.name for case in cases]
        cohort = hold_out_raters(raters, fuser, filter_.ReferenceLabel, case_ids=names)
        filter_.ReferenceLabel = None  # held-out raters used as references are masks
        columns = cohort._asdict()
    else:
        columns = {
            "probabilities": map(one_or_all, _read("probability", cases, console)),
            "references": map(one_or_all, _read("reference", cases, console)),
            "raters": _read("raters", cases, console) if any(c["raters"] for c in cases) else None,
            "provenance": {"reference_kind": arguments.reference_kind},
        }
    if isinstance(filter_, CutCalibrationFilter):
        provenance = columns.pop("provenance")
        filter_.FusionMethod = provenance.get("fusion_method", filter_.FusionMethod)
        filter_.Calibrate(**columns)
    else:
        filter_.Calibrate(**columns, case_ids=[case.name for case in cases])


def _read(column: str, cases: list[Case], console: Console) -> Iterator[list[Any]]:
    """Yield the images of one column, read lazily, case by case."""
    for number, case in enumerate(cases):
        console.progress(number / len(cases), f"reading case {case.name}")
        yield [read(path, console) for path in case[column]]


def one_or_all(images: list[Any]) -> Any:
    """Return a single image (of the foreground) itself, otherwise the list (one image per
    label).
    """
    return images[0] if len(images) == 1 else images
