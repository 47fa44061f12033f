"""``agreement --probability``: score a probability map and samples against several raters."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from itk_consensus.assessment.agreement.agreement_filter import AgreementFilter
from itk_consensus.assessment.scoring.score_against_readers import (
    PluralTruth,
    score_against_readers,
)
from itk_consensus.cli.console import Console
from itk_consensus.cli.inputs import read_files, require_label_maps, require_one_space
from itk_consensus.cli.options import add_file
from itk_consensus.core.errors import InputError
from itk_consensus.report.image_file import ImageFile
from itk_consensus.report.text import pairs

_WORDS = {
    "threshold_dice": "Dice with the share of readers, mean over cuts at .1 to .9 (QUBIQ)",
    "soft_dice": "Dice with the share of readers, without any cut",
    "calibration_error": "expected calibration error against the share of readers",
    "energy_distance": "generalised energy distance of samples and readers",
    "dice_max": "Dice of each reader with the closest sample (D_max)",
    "dice_match": "Dice of samples and readers paired one to one (D_match)",
    "matched_iou": "IoU of samples and readers paired one to one (Hungarian)",
    "volume_crps": "CRPS of the samples' volume, in voxels",
}


def add_probability_options(parser: argparse.ArgumentParser) -> None:
    """Add ``--probability``, ``--samples`` and ``--label`` to a parser."""
    group = parser.add_argument_group("scores of a probability against the readers")
    add_file(
        group, "--probability", help="probability map of one structure, from 0 to 1, to be scored"
    )
    add_file(
        group,
        "--samples",
        nargs="+",
        default=[],
        help="label images drawn from it, for the energy distance and the CRPS of the volume",
    )
    group.add_argument(
        "--label",
        type=int,
        default=1,
        metavar="N",
        help="the structure in readers and samples [default: %(default)s]",
    )


def require_no_probability(arguments: argparse.Namespace) -> None:
    """Raise an error if any of the options for probabilities is given."""
    if arguments.probability is not None or arguments.samples:
        arguments.parser.error(
            "--probability and --samples cannot be combined with --per-structure"
        )


def probability_files(arguments: argparse.Namespace) -> list[Path]:
    """Return the files of the probability map, if given, and of its samples."""
    return [path for path in (arguments.probability, *arguments.samples) if path is not None]


def score_probability(
    arguments: argparse.Namespace,
    readers: Sequence[ImageFile],
    filter_: AgreementFilter,
    console: Console,
) -> PluralTruth | None:
    """Compute the scores of ``--probability``; None if it is not given."""
    if arguments.probability is None:
        if arguments.samples:
            arguments.parser.error("--samples needs --probability")
        return None
    probability, *samples = read_files(probability_files(arguments), console, 0.5)
    tolerances = filter_.CoordinateTolerance, filter_.DirectionTolerance
    require_one_space([*readers, probability, *samples], *tolerances)
    require_label_maps(samples, arguments)
    if len(probability.components) > 1:
        raise InputError(
            f"must hold the probability of one structure, got {len(probability.components)} "
            "components",
            path=probability.path,
        )
    values = probability.components[0]
    if not (values.min() >= 0 and values.max() <= 1):
        raise InputError(
            f"must hold a probability from 0 to 1, got {values.min():g} to {values.max():g}",
            path=probability.path,
        )
    if not any((array == arguments.label).any() for file in readers for array in file.components):
        raise InputError(f"--label must be a label of the readers, got {arguments.label}")
    labels, drawn = ([file.image for file in files] for files in (readers, samples))
    return score_against_readers(probability.image, labels, drawn, arguments.label)


def score_lines(scores: PluralTruth) -> list[str]:
    """Format the scores as lines of text; NaN scores are omitted."""
    return pairs(
        {_WORDS[name]: f"{value:.4f}" for name, value in asdict(scores).items() if value == value}
    )


def score_fields(scores: PluralTruth | None) -> dict[str, dict[str, float | None]]:
    """Convert scores to JSON fields; scores that are NaN for lack of samples become None."""
    if scores is None:
        return {}
    known = {name: None if math.isnan(one) else one for name, one in asdict(scores).items()}
    return {"probability": known}
