"""The code blocks of README and documentation, as a person would paste them."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([ROOT / "README.md", *ROOT.glob("docs/*.md"), *ROOT.glob("docs/howto/*.md")])

#: Languages whose blocks run; others, such as console for what installs things, are only read.
_RUN = ("python", "sh")


class Snippet(NamedTuple):
    """One block: its language, and its text with the line on which it starts."""

    language: str
    text: str
    line: int


def snippets_of(page: Path) -> list[Snippet]:
    """The blocks of a page that run, in order."""
    text = page.read_text(encoding="utf-8")
    return [
        Snippet(found[1], found[2], text.count("\n", 0, found.start()) + 2)
        for found in re.finditer(r"^```(\w+)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
        if found[1] in _RUN
    ]


def python_of(page: Path) -> str:
    """The Python of a page as one module."""
    return "\n".join(one.text for one in snippets_of(page) if one.language == "python")


PAGES_WITH_CODE = [page for page in PAGES if snippets_of(page)]

#: Pages whose code needs an extra; that of all others runs in a base install.
EXTRA_OF_PAGE = {
    "dicom.md": "dicom",
    "margins.md": "plot",
    "out-of-core.md": "dask",
    "pages.md": "notebook",
}


def dicom_of_three_readers(folder: Path) -> None:
    """The files that the page on DICOM speaks of: a series and three readers' segmentations."""
    sys.path.append(str(ROOT / "tests" / "images"))
    from dicom_objects import SHAPE, write_seg, write_series

    slices = write_series(folder / "ct")
    mask = np.zeros(SHAPE, bool)
    mask[1:-1, 2:-2, 2:-2] = True
    for number, name in enumerate(("anna", "ben", "chris")):
        write_seg(folder / f"{name}.dcm", {"Liver": np.roll(mask, number, axis=2)}, slices, None)


def stores_of_three_raters(folder: Path) -> None:
    """The stores that the page on large volumes speaks of."""
    import zarr

    disc = np.hypot(*np.mgrid[-16:16, -16:16]) < 9
    for number, name in enumerate(("ann", "bob", "eve")):
        rater = np.roll(disc, number, axis=1).astype(np.uint8)
        zarr.create_array(folder / f"{name}.zarr", data=rater, chunks=(16, 16))


#: What must lie in the folder before the code of a page runs.
PREPARED = {"dicom.md": dicom_of_three_readers, "out-of-core.md": stores_of_three_raters}
