"""``itk-consensus-bids``: a batch with the standard command line of BIDS apps.

itk-consensus-bids BIDS_DIR OUTPUT_DIR participant [--participant-label 01 02]
itk-consensus-bids BIDS_DIR OUTPUT_DIR group

The level "participant" fuses the segmentations of each participant; "group" does this for all
participants that are not finished and writes the tables and the page for all of them.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import itk_consensus
from itk_consensus.cli.application import run


def main(argv: Sequence[str] | None = None) -> int:
    """Run the app and return its exit code."""
    parser = argparse.ArgumentParser(
        prog="itk-consensus-bids",
        description="Fuse the segmentations of several raters in a BIDS dataset, "
        "*_desc-<rater>_dseg.nii.gz or *_rater-<rater>_dseg.nii.gz, into derivatives.",
        allow_abbrev=False,
    )
    parser.add_argument("bids_dir", help="dataset, or derivatives, with the segmentations")
    parser.add_argument("output_dir", help="folder of the derivative dataset")
    parser.add_argument("analysis_level", choices=("participant", "group"))
    parser.add_argument(
        "--participant-label",
        "--participant_label",
        nargs="+",
        default=[],
        metavar="LABEL",
        help="participants to fuse, with or without sub- [default: all]",
    )
    parser.add_argument("--method", default="consensus", help="fuser [default: %(default)s]")
    parser.add_argument("--n-procs", type=int, default=1, metavar="N", help="processes")
    parser.add_argument(
        "--skip-bids-validation",
        "--skip_bids_validation",
        action="store_true",
        help="accepted for compatibility: the dataset is never validated, only its files",
    )
    parser.add_argument("--version", action="version", version=itk_consensus.__version__)
    given = parser.parse_args(argv)
    if given.participant_label and given.analysis_level == "group":
        parser.error("--participant-label needs the level participant")
    words = ["batch", given.bids_dir, "--output", given.output_dir, "--bids-output", "--reports"]
    words += ["--method", given.method, "--jobs", str(given.n_procs)]
    if given.participant_label:
        labels = [label.removeprefix("sub-") for label in given.participant_label]
        words += ["--only", *(f"sub-{label}" for label in labels)]
    return run(words)
