"""``itk-consensus-bids``: a batch, under the command line that all BIDS apps have.

itk-consensus-bids BIDS_DIR OUTPUT_DIR participant [--participant-label 01 02]
itk-consensus-bids BIDS_DIR OUTPUT_DIR group

The level participant fuses the segmentations of each participant; group does the same for whoever
is not done yet, and writes tables and the page of all of them.
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
        help="who is fused, with or without sub-; default: everybody",
    )
    parser.add_argument("--method", default="consensus", help="fuser [default: %(default)s]")
    parser.add_argument("--n-procs", type=int, default=1, metavar="N", help="processes")
    parser.add_argument(
        "--skip-bids-validation",
        "--skip_bids_validation",
        action="store_true",
        help="accepted, as by other apps: files are looked at, the dataset is not validated",
    )
    parser.add_argument("--version", action="version", version=itk_consensus.__version__)
    given = parser.parse_args(argv)
    if given.participant_label and given.analysis_level == "group":
        parser.error("--participant-label is for the level participant")
    words = ["batch", given.bids_dir, "--output", given.output_dir, "--bids-output", "--reports"]
    words += ["--method", given.method, "--jobs", str(given.n_procs)]
    if given.participant_label:
        labels = [label.removeprefix("sub-") for label in given.participant_label]
        words += ["--only", *(f"sub-{label}" for label in labels)]
    return run(words)
