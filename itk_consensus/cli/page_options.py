"""Options of every command that writes a page: what it shows, and how."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from typing import Any, TypeVar

from itk_consensus.core.errors import ConsensusError
from itk_consensus.images.grey_windows import WINDOW_WORDS, window_of
from itk_consensus.images.label_names import label_names

Read = TypeVar("Read")


def add_page_options(parser: argparse.ArgumentParser) -> None:
    """Give a parser ``--window``, ``--label-names`` and ``--contact-sheet``."""
    # Or argparse would take -600,1500, the window of the lung, for an option.
    parser._negative_number_matcher = re.compile(r"-\d[\d.,e+-]*$")
    group = parser.add_argument_group("options of pages")
    group.add_argument(
        "--window",
        type=_read_by(window_of),
        metavar="C,W",
        help=f"grey values of the image in a page: {WINDOW_WORDS} [default: what suits modality "
        "and structure]",
    )
    group.add_argument(
        "--label-names",
        type=_read_by(label_names),
        metavar="NAMES",
        help="what labels are called: 1=liver,2=spleen, a table (index and name), nnU-Net's "
        "dataset.json or ITK-SNAP's label descriptions",
    )
    group.add_argument(
        "--contact-sheet", action="store_true", help="show every disputed slice in the page"
    )


def page_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """What these options say, as keywords of `itk_consensus.report`."""
    return {
        "window": arguments.window,
        "label_names": arguments.label_names,
        "contact_sheet": arguments.contact_sheet,
    }


def _read_by(read: Callable[[str], Read]) -> Callable[[str], Read]:
    def reader(text: str) -> Read:
        try:
            return read(text)
        except ConsensusError as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    return reader
