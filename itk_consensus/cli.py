"""The command line: ``itk-consensus fuse``, ``info``, ``calibrate``, ``band``, ``deep``, ``demo``.

The options of ``fuse`` are the parameters of the chosen filter; nothing is listed here twice.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

import itk_consensus
from itk_consensus.cli_calibration import add_band_parser, add_calibrate_parser
from itk_consensus.cli_deep import add_deep_parser
from itk_consensus.cli_options import add_method_options, given_parameters
from itk_consensus.errors import ConsensusError, ParameterError
from itk_consensus.filters.label_fusion import LabelFusionFilter
from itk_consensus.filters.registry import METHODS
from itk_consensus.images.convert import DEFAULT_TOLERANCE
from itk_consensus.images.files import write_image, write_text
from itk_consensus.report.console import PROGRAM, Console
from itk_consensus.report.demo import run_demo
from itk_consensus.report.fusion_report import FusionReport, describe_inputs
from itk_consensus.report.image_file import (
    ImageFile,
    differences_in_space,
    require_one_space,
)
from itk_consensus.report.outputs import Output, check_outputs
from itk_consensus.report.text import section, shown, wrapped

#: The vote assumes nothing about the raters and cannot go astray.
DEFAULT_METHOD = "vote"

_FAILED = 2
_INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0, 2 for an error, 130 if interrupted."""
    console = Console()
    try:
        with console.showing_warnings():
            arguments = _parse(sys.argv[1:] if argv is None else list(argv))
            arguments.run(arguments, console)
            sys.stdout.flush()
    except SystemExit as leaving:  # argparse leaves this way after --help and --version
        return int(leaving.code or 0)
    except KeyboardInterrupt:
        console.say("interrupted")
        return _INTERRUPTED
    except BrokenPipeError:
        # The reader of a pipe, such as head, has left; Python must not flush into it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except MemoryError:
        console.say("not enough memory")
        return _FAILED
    except (ConsensusError, OSError) as error:
        console.say(str(error))
        return _FAILED
    return 0


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, like all others."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(allow_abbrev=False, **settings)

    def error(self, message: str) -> NoReturn:
        raise ParameterError(f"{message} (see {self.prog} --help)")


def _parse(argv: list[str]) -> argparse.Namespace:
    # The method decides which options there are, so it is looked up first.
    method = _Parser(prog=f"{PROGRAM} fuse", add_help=False)
    method.add_argument("--method", choices=METHODS, default=DEFAULT_METHOD)
    fuser = METHODS[method.parse_known_args(argv)[0].method]
    parser = _Parser(
        prog=PROGRAM, description="Fuse several segmentations of one image into a consensus."
    )
    parser.add_argument("--version", action="version", version=itk_consensus.__version__)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_fuse(commands, fuser)
    _add_info(commands)
    add_calibrate_parser(commands)
    add_band_parser(commands)
    add_deep_parser(commands)
    _add_demo(commands)
    arguments, unknown = parser.parse_known_args(argv)
    if unknown:
        arguments.parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    return arguments


# -- fuse ------------------------------------------------------------------------------------


def _add_fuse(commands: Any, fuser: type[LabelFusionFilter]) -> None:
    summaries = [
        line
        for name, filter_ in METHODS.items()
        for line in wrapped(f"{name}: {filter_.summary}", width=76)
    ]
    parser = commands.add_parser(
        "fuse",
        prog=f"{PROGRAM} fuse --method {fuser.method}",
        usage=f"{PROGRAM} fuse INPUT... --output FILE [--method METHOD] [options]",
        help="fuse label images into one label map",
        description="Fuse label images into one label map. The method decides what options it has;"
        f"\nthese are the options of {fuser.method}.",
        epilog=section("methods:", summaries),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=_fuse, parser=parser, fuser=fuser)
    parser.add_argument(
        "inputs",
        nargs="+",
        type=Path,
        metavar="INPUT",
        help="label images in any format; each component of a vector image is one rater",
    )
    parser.add_argument(
        "--method",
        choices=METHODS,
        default=DEFAULT_METHOD,
        help="how to fuse [default: %(default)s]",
    )
    parser.add_argument(
        "--output", type=Path, required=True, metavar="FILE", help="the fused label map"
    )
    parser.add_argument(
        "--probability", type=Path, metavar="FILE", help="probability of one label, as float64"
    )
    parser.add_argument(
        "--label",
        type=int,
        metavar="N",
        help="the label of --probability [default: the foreground, if there is only one]",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="the report, for machines")
    add_method_options(parser, fuser)


def _fuse(arguments: argparse.Namespace, console: Console) -> None:
    given = given_parameters(arguments, arguments.fuser)
    parameter_files = {name: value for name, value in given.items() if isinstance(value, Path)}
    filter_ = arguments.fuser(**{k: v for k, v in given.items() if k not in parameter_files})
    outputs = _outputs(arguments)
    paths = [*arguments.inputs, *parameter_files.values()]
    files = []
    for number, path in enumerate(paths):
        console.progress(0.5 * number / len(paths), f"reading {path}")
        files.append(ImageFile.of(path, console.read(path)))
        if number == 0:
            check_outputs(outputs, paths, files[0].geometry.dimension)
    require_one_space(files, filter_.CoordinateTolerance, filter_.DirectionTolerance)
    inputs, others = files[: len(arguments.inputs)], files[len(arguments.inputs) :]
    described = describe_inputs(inputs)
    for name, file in zip(parameter_files, others, strict=True):
        setattr(filter_, name, file.image)
    console.follow(filter_, 0.5, 0.9)
    filter_.Execute([file.image for file in inputs])
    console.progress(0.9, "writing")
    report = _write_fusion(filter_, described, parameter_files, arguments)
    console.clear()
    print(report.to_text())


def _outputs(arguments: argparse.Namespace) -> list[Output]:
    if arguments.label is not None and arguments.probability is None:
        arguments.parser.error("--label says which label's --probability to write; give both")
    outputs = [Output("--output", arguments.output, np.uint8)]
    if arguments.probability is not None:
        outputs.append(Output("--probability", arguments.probability, np.float64))
    if arguments.json is not None:
        outputs.append(Output("--json", arguments.json))
    return outputs


def _write_fusion(
    filter_: LabelFusionFilter,
    inputs: list[dict[str, Any]],
    parameter_files: dict[str, Path],
    arguments: argparse.Namespace,
) -> FusionReport:
    fused = ImageFile.of(arguments.output, filter_.GetLabelImage())
    written = {"labels": arguments.output}
    images = {arguments.output: fused.image}
    label = None
    if arguments.probability is not None:
        label = _probability_label(filter_) if arguments.label is None else arguments.label
        written["probability"] = arguments.probability
        images[arguments.probability] = filter_.GetProbabilityImage(label)
    if arguments.json is not None:
        written["report"] = arguments.json
    diagnostics = filter_.GetDiagnostics() if hasattr(filter_, "GetDiagnostics") else None
    report = FusionReport(filter_, inputs, fused, parameter_files, written, label, diagnostics)
    for path, image in images.items():
        write_image(image, path)
    if arguments.json is not None:
        write_text(arguments.json, report.to_json())
    return report


def _probability_label(filter_: LabelFusionFilter) -> int:
    """The label meant when none is named: the foreground, if there is only one."""
    if hasattr(filter_, "ForegroundValue"):
        return int(filter_.ForegroundValue)
    labels = [label for label in filter_.GetLabels() if label != 0]
    if len(labels) != 1:
        raise ParameterError(
            f"--probability needs --label, one of the labels {shown(filter_.GetLabels())}"
        )
    return labels[0]


# -- info and demo ---------------------------------------------------------------------------


def _add_info(commands: Any) -> None:
    text = "size, spacing, pixel type and labels of image files, and whether they share one space"
    parser = commands.add_parser("info", help=text, description=f"Show {text}.")
    parser.set_defaults(run=_info, parser=parser)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="image files")


def _info(arguments: argparse.Namespace, console: Console) -> None:
    files = []
    for number, path in enumerate(arguments.files):
        console.progress(number / len(arguments.files), f"reading {path}")
        file = ImageFile.of(path, console.read(path))
        console.clear()
        print(file.description())
        files.append(file.without_voxels())
    if len(files) > 1:
        differing = differences_in_space(files, DEFAULT_TOLERANCE, DEFAULT_TOLERANCE)
        print("\n".join(differing) or f"All {len(files)} files share one space.")


def _add_demo(commands: Any) -> None:
    text = "fuse a bundled lung nodule that four radiologists outlined"
    parser = commands.add_parser("demo", help=text, description=f"{text.capitalize()}.")
    parser.set_defaults(run=_demo, parser=parser)
    parser.add_argument(
        "--output",
        type=Path,
        default=Path("demo-output"),
        metavar="FOLDER",
        help="where to write the results [default: %(default)s]",
    )


def _demo(arguments: argparse.Namespace, console: Console) -> None:
    print(run_demo(arguments.output))


if __name__ == "__main__":
    sys.exit(main())
