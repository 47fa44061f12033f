"""``itk-consensus band``: apply a band, margin or cut fitted by ``calibrate`` to probabilities."""

from __future__ import annotations

import argparse
import json
from typing import Any

import numpy as np

from itk_consensus.calibration.calibration_filter import kind_of_calibration
from itk_consensus.calibration.conformal_band_filter import ConformalBandFilter
from itk_consensus.calibration.cut_calibration_filter import CutCalibrationFilter
from itk_consensus.cli.calibrate import KINDS, one_or_all
from itk_consensus.cli.console import Console
from itk_consensus.cli.inputs import read_files
from itk_consensus.cli.options import (
    add_file,
    add_options,
    given_parameters,
    option_of,
    use_option_names,
)
from itk_consensus.cli.outputs import add_output_options, check_outputs, given_outputs, lock_outputs
from itk_consensus.core.parameters import measurements_of, parameters_of, snake_case
from itk_consensus.images.files import write_image
from itk_consensus.report.fusion_report import to_plain
from itk_consensus.report.text import pairs, section, wrap_lines
from itk_consensus.storage.files import write_text

#: Options that can still be set; all others are determined by the calibration.
_FREE = (
    "EmptyPolicy",
    "FusionMethod",
    "WithoutPromise",
    "CoordinateTolerance",
    "DirectionTolerance",
)


def configure(parser: argparse.ArgumentParser, _words: list[str]) -> None:
    """Add the arguments of the command."""
    parser.set_defaults(run=_band, parser=parser)
    add_file(
        parser,
        "probability",
        nargs="+",
        metavar="PROBABILITY",
        help="probability image of the foreground, or one per label",
    )
    add_file(
        parser,
        "--calibration",
        required=True,
        help="file written by calibrate: a band, margin or cut",
    )
    add_output_options(
        parser,
        "0 background, 1 foreground, 2 ambiguous or margin, 3 empty; bit k for label k if there "
        "are several; for a cut the label map",
    )
    add_file(
        parser,
        "--raters",
        nargs="+",
        default=[],
        help="the raters behind the probability, if the calibration measures their spread",
    )
    add_file(parser, "--json", help="the report as JSON")
    add_options(parser, ConformalBandFilter, _FREE)


def _band(arguments: argparse.Namespace, console: Console) -> None:
    filter_ = _open_calibration(arguments)
    paths = [*arguments.probability, *arguments.raters]
    files = list(read_files(paths, console, 0.5))
    space = files[0].geometry
    outputs = given_outputs(arguments, output=np.uint8, json=None)
    inputs = [arguments.calibration, *paths]
    check_outputs(outputs, inputs, space, overwrite=arguments.overwrite)
    images = [file.image for file in files]
    probabilities = images[: len(arguments.probability)]
    raters = images[len(arguments.probability) :]
    console.follow(filter_, 0.5, 0.95)
    with use_option_names(filter_, "band"):
        marked = filter_.Execute(one_or_all(probabilities), raters or None)
    measured = {snake_case(m.name): m.__get__(filter_) for m in measurements_of(type(filter_))}
    is_cut = isinstance(filter_, CutCalibrationFilter)
    statement = filter_.GetMeaning() if is_cut else filter_.GetGuarantee()
    report = {"meaning" if is_cut else "guarantee": statement, **measured}
    with lock_outputs(outputs, overwrite=arguments.overwrite):
        write_image(marked, arguments.output)
        if arguments.json is not None:
            write_text(arguments.json, json.dumps(to_plain(report), indent=2) + "\n")
    facts = {} if is_cut else _thickness(filter_, space.dimension)
    facts["written"] = str(arguments.output)
    console.answer(section(str(arguments.probability[0]), pairs(facts)))
    console.answer("\n".join(wrap_lines(statement)))


def _open_calibration(arguments: argparse.Namespace) -> Any:
    """Create the filter described by a calibration file, with the given options."""
    kind = kind_of_calibration(arguments.calibration, KINDS.values())
    known = {parameter.name for parameter in parameters_of(kind)}
    given = given_parameters(arguments, ConformalBandFilter)
    for name in given.keys() - known:
        option = option_of(getattr(ConformalBandFilter, name))
        arguments.parser.error(f"{option} does not apply to {kind.record_class.schema} records")
    return kind.FromRecord(kind.record_class.read(arguments.calibration), **given)


def _thickness(filter_: Any, dimension: int) -> dict[str, str]:
    return {
        "band": f"{filter_.BandThickness:.2f} mm thick on average",
        "ambiguous": f"{filter_.AmbiguousVolume:.6g} mm{dimension}",
    }
