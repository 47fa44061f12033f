"""Options of commands that write a page."""

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
    """Add ``--window``, ``--label-names`` and ``--contact-sheet`` to a parser."""
    # Otherwise argparse would interpret -600,1500, the lung window, as an option.
    parser._negative_number_matcher = re.compile(r"-\d[\d.,e+-]*$")
    group = parser.add_argument_group("options of pages")
    group.add_argument(
        "--window",
        type=_argument_type(window_of),
        metavar="C,W",
        help=f"grey values of the image in a page: {WINDOW_WORDS} [default: depends on modality "
        "and structure]",
    )
    add_label_names(group)
    group.add_argument(
        "--contact-sheet", action="store_true", help="show every disputed slice in the page"
    )


def add_label_names(parser: argparse._ActionsContainer) -> None:
    """Add ``--label-names`` to a parser."""
    parser.add_argument(
        "--label-names",
        type=_argument_type(label_names),
        metavar="NAMES",
        help="names of labels: 1=liver,2=spleen, a table (index and name), nnU-Net's "
        "dataset.json or ITK-SNAP's label descriptions",
    )


def page_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the values of the page options as keyword arguments of `itk_consensus.report`."""
    return {
        "window": arguments.window,
        "label_names": arguments.label_names,
        "contact_sheet": arguments.contact_sheet,
    }


def _argument_type(parse: Callable[[str], Read]) -> Callable[[str], Read]:
    """Wrap a text parser for argparse, which requires its own class of errors."""

    def convert(text: str) -> Read:
        try:
            return parse(text)
        except ConsensusError as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    return convert
