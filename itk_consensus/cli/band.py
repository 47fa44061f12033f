"""``itk-consensus band``."""

from __future__ import annotations

import argparse
import json

import numpy as np

from itk_consensus.cli.calibrate import one_or_all
from itk_consensus.cli.console import Console
from itk_consensus.cli.inputs import read_files
from itk_consensus.cli.options import add_file, add_options, given_parameters, naming_options
from itk_consensus.cli.outputs import add_output_options, check_outputs, given_outputs, writing
from itk_consensus.filters.conformal_band import ConformalBandFilter
from itk_consensus.filters.parameters import measurements_of, snake_case
from itk_consensus.images.files import write_image, write_text
from itk_consensus.report.fusion_report import to_plain
from itk_consensus.report.text import pairs, section, wrapped

#: Options that a calibration leaves open; it fixes the others.
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
    add_file(parser, "--calibration", required=True, help="made by calibrate")
    add_output_options(
        parser, "0 background, 1 foreground, 2 ambiguous, 3 empty; bit k for label k of several"
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
    band = ConformalBandFilter.Load(arguments.calibration)
    for name, value in given_parameters(arguments, ConformalBandFilter).items():
        setattr(band, name, value)
    paths = [*arguments.probability, *arguments.raters]
    files = list(read_files(paths, console, 0.5))
    dimension = files[0].geometry.dimension
    outputs = given_outputs(arguments, output=np.uint8, json=None)
    inputs = [arguments.calibration, *paths]
    check_outputs(outputs, inputs, dimension, overwrite=arguments.overwrite)
    images = [file.image for file in files]
    probabilities = images[: len(arguments.probability)]
    raters = images[len(arguments.probability) :]
    console.follow(band, 0.5, 0.95)
    with naming_options(band, "band"):
        marked = band.Execute(one_or_all(probabilities), raters or None)
    measured = {snake_case(m.name): m.__get__(band) for m in measurements_of(type(band))}
    report = {"guarantee": band.GetGuarantee(), **measured}
    with writing(outputs, overwrite=arguments.overwrite):
        write_image(marked, arguments.output)
        if arguments.json is not None:
            write_text(arguments.json, json.dumps(to_plain(report), indent=2) + "\n")
    facts = {
        "band": f"{band.BandThickness:.2f} mm thick on average",
        "ambiguous": f"{band.AmbiguousVolume:.6g} mm{dimension}",
        "written": str(arguments.output),
    }
    console.answer(section(str(arguments.probability[0]), pairs(facts)))
    console.answer("\n".join(wrapped(band.GetGuarantee())))
