"""Common parts of commands that fuse files: the method's options, reading, checks, Execute."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from itk_consensus.assessment.input_notes import ignored_labels
from itk_consensus.assessment.verdict import grade_of
from itk_consensus.batch.cohort_truths import find_order
from itk_consensus.batch.soft_raters import (
    fused_space,
    network_rater,
    require_labels,
    soft_methods,
    soft_raters,
    takes_probabilities,
)
from itk_consensus.cli.console import SOMETHING_FOUND, Console
from itk_consensus.cli.inputs import (
    read_files,
    require_label_maps,
    require_one_space,
    require_readers,
    short_rater_names,
    warn_of_copies,
)
from itk_consensus.cli.options import (
    add_file,
    add_method_option,
    add_method_options,
    default_method,
    given_parameters,
    use_option_names,
)
from itk_consensus.cli.outputs import Output, check_outputs
from itk_consensus.core.errors import InputError
from itk_consensus.core.parameters import parameters_of
from itk_consensus.fusing.fusion_result import FusionResult, result_of
from itk_consensus.fusing.label_fusion import LabelFusionFilter
from itk_consensus.images.files import split_image_name
from itk_consensus.images.network_outputs import is_network_output
from itk_consensus.methods.registry import METHODS, load_filter
from itk_consensus.report.image_file import ImageFile
from itk_consensus.report.text import PROGRAM, format_value, section, wrap_lines
from itk_consensus.votes.label_stack import label_table

if TYPE_CHECKING:
    from itk_consensus.calibration.learned.learned_fusion_filter import LearnedFusionFilter

#: Verdicts accepted by ``--fail-on``, as spelled on the command line.
FAILING: dict[str, str] = {"look": "look", "do-not-use": "do not use"}

#: The image parameter of filters that use intensities; the image is also shown in reports.
_IMAGE = "Image"


@dataclass(frozen=True)
class FusedFiles:
    """A filter and the files that it fuses."""

    filter_: LabelFusionFilter
    inputs: list[ImageFile]  #: The raters' files
    parameter_files: dict[str, Path]  #: Files of image-valued parameters
    image: Any  #: The image that the raters segmented, if given
    is_file_each: bool = True  #: Whether each rater is stored in a separate file
    labels: Any = None  #: The label map; None before the fusion

    @property
    def result(self) -> FusionResult[Any]:
        """The filter's result, with raters named after their files."""
        return result_of(self.filter_).with_rater_names(short_rater_names(self.inputs))

    @property
    def paths(self) -> list[Path]:
        """The file of each rater."""
        return [file.path for file in self.inputs for _ in file.components]


def add_fusion_options(
    parser: argparse.ArgumentParser, words: list[str], command: str, description: str
) -> type[LabelFusionFilter]:
    """Add ``--method`` and the options of the method given in `words`; return its filter class."""
    # The filter is loaded only when needed, since loading it imports Consensus.
    learned = _has_learned(words)
    fuser = load_filter("LearnedFusionFilter") if learned else METHODS[requested_method(words)]
    parser.prog = f"{PROGRAM} {command} --method {fuser.method}"
    between = "\n" if description.endswith("\n") else " "
    parser.description = (
        f"{description}{between}Options depend on the method;"
        f"\nthese are the options of {fuser.method}."
    )
    if {"-h", "--help"} & {*words}:  # only then, since all methods have to be imported
        texts = (f"{name}: {one.summary}" for name, one in METHODS.items())
        lines = [line for text in texts for line in wrap_lines(text, width=76)]
        parser.epilog = section("methods:", lines)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.set_defaults(parser=parser, fuser=fuser)
    add_method_option(parser, "how to fuse, see below", default_method(words))
    add_method_options(parser, fuser)
    return fuser


def add_learned_option(parser: argparse.ArgumentParser) -> None:
    """Add ``--learned`` to a parser."""
    add_file(
        parser,
        "--learned",
        metavar="RECORD",
        help="fuse with a record written by `learn` for these raters, instead of a method",
    )


def _is_learned(filter_: LabelFusionFilter) -> TypeGuard[LearnedFusionFilter]:
    return filter_.method == "learned"


def _has_learned(words: Sequence[str]) -> bool:
    return any(word.partition("=")[0] == "--learned" for word in words)


def make_fuser(arguments: argparse.Namespace, parameters: Mapping[str, Any]) -> LabelFusionFilter:
    """Create the filter of a command; with ``--learned``, load the given record."""
    filter_: LabelFusionFilter = arguments.fuser(**parameters)
    if _is_learned(filter_):
        if arguments.method not in (default_method([]), filter_.method):
            arguments.parser.error("--learned replaces --method; give only one of the two")
        arguments.method = filter_.method
        filter_.Load(arguments.learned)
    return filter_


def add_fail_option(parser: argparse.ArgumentParser) -> None:
    """Add ``--fail-on`` to a parser."""
    parser.add_argument(
        "--fail-on",
        choices=FAILING,
        metavar="{" + ",".join(FAILING) + "}",
        help="exit with 1 if the verdict is this or worse; files are still written "
        "[default: exit with 0]",
    )


def exit_code(verdict: str, fail_on: str | None) -> int:
    """Return the exit code for a verdict: 1 if it is at least as severe as ``--fail-on``."""
    is_grave = fail_on is not None and grade_of(verdict) >= grade_of(FAILING[fail_on])
    return SOMETHING_FOUND if is_grave else 0


def add_input_files(parser: argparse.ArgumentParser) -> None:
    """Add the raters' files and ``--accept-own-outputs`` to a parser."""
    add_file(
        parser,
        "inputs",
        nargs="+",
        metavar="INPUT",
        help="label images in any format; each component of a vector image is one rater; zarr "
        "stores; or probabilities, see docs/howto/ensembles.md",
    )
    add_own_outputs_option(parser)


def add_own_outputs_option(parser: argparse.ArgumentParser) -> None:
    """Add ``--accept-own-outputs`` to a parser."""
    parser.add_argument(
        "--accept-own-outputs",
        action="store_true",
        help="accept results of earlier runs among the inputs as raters",
    )


def add_classes_option(parser: argparse.ArgumentParser, fuser: type[LabelFusionFilter]) -> None:
    """Add ``--classes`` to a parser if the method accepts probabilities."""
    if takes_probabilities(fuser):
        parser.add_argument(
            "--classes",
            type=class_count,
            metavar="K",
            help="inputs are probabilities of one class each, K consecutive files per rater "
            "[default: a file holds all classes, along its fourth axis or its components, or is "
            "nnU-Net's .npz, for which --image gives the geometry]",
        )


def class_count(text: str) -> int:
    """Parse ``--classes``, the number of files per rater."""
    if not (text.isdecimal() and len(text) < 6 and int(text) > 1):
        raise argparse.ArgumentTypeError(f"must be an integer >= 2, got {text!a}")
    return int(text)


def add_full_option(parser: argparse.ArgumentParser) -> None:
    """Add ``--full`` to a parser."""
    parser.add_argument(
        "--full",
        action="store_true",
        help="also compute what takes longer than fusing: a comparison with Consensus, and the "
        "resolution of agreement for each of many labels",
    )


def add_image_option(parser: argparse.ArgumentParser, fuser: type[LabelFusionFilter]) -> None:
    """Add ``--image`` to a parser, unless the method already has this option."""
    if any(parameter.name == _IMAGE for parameter in parameters_of(fuser)):
        return
    add_file(
        parser,
        "--image",
        dest=_IMAGE,
        default=argparse.SUPPRESS,
        help="the image that the raters segmented, shown below their contours in the report",
    )


def requested_method(words: list[str]) -> str:
    """Parse only ``--method``, which determines the other options."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    add_method_option(parser, "", default_method(words))
    try:
        return str(parser.parse_known_args(words)[0].method)
    except (argparse.ArgumentError, SystemExit):
        return default_method(words)  # the full parser will report the error


def fuse_files(
    arguments: argparse.Namespace, console: Console, outputs: Sequence[Output]
) -> FusedFiles:
    """Read, check and fuse; raise before the work starts if `outputs` cannot be written."""
    files = read_raters(arguments, console, outputs)
    return replace(files, labels=execute(files, arguments, console))


def execute(files: FusedFiles, arguments: argparse.Namespace, console: Console) -> Any:
    """Fuse the inputs, and return the label map."""
    console.follow(files.filter_, 0.5, 0.9)
    with use_option_names(files.filter_, arguments.method):
        images = [file.image for file in files.inputs]
        if _is_learned(files.filter_):
            _require_learned_order(files.filter_, files.inputs, console)
        return files.filter_.fuse_to_labels(images)


def _require_learned_order(
    filter_: LearnedFusionFilter, files: Sequence[ImageFile], console: Console
) -> None:
    """Raise an `InputError` unless files are in the same order as the raters in the record."""
    record = filter_.GetRecord()
    names = [rater for file in files for rater in _raters_of(file, record.raters)]
    order = find_order(names, record.raters)
    if order is None:
        pairs = zip(record.rater_names, short_rater_names(files), strict=False)
        assigned = ", ".join(f"{name} is {file}" for name, file in pairs)
        console.warn(
            f"no file is named like a rater of the record; assigned in its order: {assigned}"
        )
    elif order != list(range(len(names))):
        raise InputError(
            f"--learned needs the files of {', '.join(record.raters)}, all of them and in this "
            f"order; got {', '.join(names)}"
        )


def _raters_of(file: ImageFile, known: Sequence[str]) -> Iterator[str]:
    """Yield a file's rater names: known raters whose names occur in its path, else the file
    name.
    """
    own = split_image_name(file.path)[0]
    parts = [own, *own.replace("-", "_").split("_"), *reversed(file.path.absolute().parts[:-1])]
    name = next((part for part in parts if part in known), own)
    number = len(file.components)
    yield from ([name] if number == 1 else (f"{own}[{j}]" for j in range(number)))


def read_raters(
    arguments: argparse.Namespace, console: Console, outputs: Sequence[Output]
) -> FusedFiles:
    """Read and check the inputs, and check the outputs."""
    given = given_parameters(arguments, arguments.fuser)
    parameter_files = {name: value for name, value in given.items() if isinstance(value, Path)}
    numbers = {name: value for name, value in given.items() if name not in parameter_files}
    make_fuser(arguments, numbers)  # raises for invalid values, before files are read
    images = {_IMAGE: getattr(arguments, _IMAGE)} if hasattr(arguments, _IMAGE) else {}
    images |= parameter_files
    inputs, by_name = _read(arguments, images, console, outputs)
    others = {name: file.image for name, file in by_name.items()}
    filter_ = make_fuser(arguments, numbers | {name: others[name] for name in parameter_files})
    known = [*inputs, *by_name.values()]
    require_one_space(known, filter_.CoordinateTolerance, filter_.DirectionTolerance)
    warn_of_copies(inputs, console)
    _warn_of_names(arguments.inputs, console)
    if filter_.foreground is not None:
        raters = [array for file in inputs for array in file.components]
        found = set(label_table(raters, filter_.GetName()).tolist())
        warn_of_ignored_labels(filter_, found, console)
    is_grouped = getattr(arguments, "classes", None) is not None
    return FusedFiles(filter_, inputs, parameter_files, others.get(_IMAGE), not is_grouped)


def _read(
    arguments: argparse.Namespace,
    images: Mapping[str, Path],
    console: Console,
    outputs: Sequence[Output],
) -> tuple[list[ImageFile], dict[str, ImageFile]]:
    """Read the raters, and other images keyed by their parameters' names."""
    paths = [*arguments.inputs, *images.values()]
    from_networks = [path for path in arguments.inputs if is_network_output(path)]
    _require_image_of(from_networks, images, arguments)
    is_soft = takes_probabilities(arguments.fuser)
    files: list[ImageFile] = []
    for file in read_files([one for one in paths if one not in from_networks], console, 0.5):
        files.append(file)
        if len(files) == 1:
            space = fused_space(file) if is_soft else file.geometry
            check_outputs(
                _set_pixel_type(outputs, file), paths, space, overwrite=arguments.overwrite
            )
    number = len(arguments.inputs) - len(from_networks)
    inputs, by_name = files[:number], dict(zip(images, files[number:], strict=True))
    mask = by_name.get(LabelFusionFilter.MaskImage.name)
    require_readers(inputs, arguments)
    require_label_maps(inputs, arguments, [] if mask is None else [mask])
    if not is_soft:
        require_labels(inputs, arguments.method)
        return inputs, by_name
    inputs = soft_raters(inputs, arguments.classes)
    return [*inputs, *(network_rater(path, by_name[_IMAGE]) for path in from_networks)], by_name


def _warn_of_names(paths: Sequence[Path], console: Console) -> None:
    """Warn about segmentations that name their structures, since they are fused by label
    number here.
    """
    named = [path for path in paths if path.name.lower().endswith(".seg.nrrd")]
    if len(named) > 1:
        console.warn(
            f"{named[0].name} and others name their structures, which are fused by number here; "
            "add --per-structure to fuse them by name"
        )


def _set_pixel_type(outputs: Sequence[Output], file: ImageFile) -> list[Output]:
    """Set the pixel type of label outputs to that of the first file."""
    found = file.components[0].dtype
    return [
        replace(one, pixel_type=found) if one.pixel_type == np.uint8 and found.kind in "iu" else one
        for one in outputs
    ]


def _require_image_of(
    outputs: Sequence[Path], images: Mapping[str, Path], arguments: argparse.Namespace
) -> None:
    """Raise unless arrays of networks come with an image (for the geometry) and a soft method."""
    if not outputs:
        return
    if not takes_probabilities(arguments.fuser):
        arguments.parser.error(f"{outputs[0]} holds probabilities: give {soft_methods()}")
    if _IMAGE not in images:
        arguments.parser.error(
            f"{outputs[0]} has no geometry: give the network's input image as --image"
        )


def warn_of_ignored_labels(filter_: Any, found: set[Any], console: Console) -> None:
    """Warn of labels that a binary method treats as background."""
    ignored = ignored_labels(filter_, found)
    if ignored:
        labels = format_value(ignored)
        console.warn(
            f"{filter_.method} fuses label {filter_.foreground:g} and treats {labels} as "
            "background; --foreground-value chooses another, --method multilabel-staple fuses all"
        )
