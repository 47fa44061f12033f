"""Run the code blocks of the README and documentation as a user would, and check their output.

python tests/snippets.py docs/start.md ...     runs a page's blocks and writes what they print
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([ROOT / "README.md", *ROOT.glob("docs/*.md"), *ROOT.glob("docs/howto/*.md")])

#: Languages of the blocks that are run; others, such as console, are not.
_RUN = ("python", "sh")


class Snippet(NamedTuple):
    """A code block: its language, its text and start line, and its expected output."""

    language: str
    text: str
    line: int
    printed: str | None = None  #: Output shown on the page, between markers.


_BLOCK = re.compile(
    r"^```(\w+)\n(.*?)^```\n"
    r"(?:\n<!-- printed:begin -->\n(?:```text\n(.*?)```\n)?<!-- printed:end -->\n)?",
    re.MULTILINE | re.DOTALL,
)
_PRINTED = re.compile(r"<!-- printed:begin -->\n.*?<!-- printed:end -->", re.DOTALL)


def snippets_of(page: Path) -> list[Snippet]:
    """Return the executable blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    return [
        Snippet(found[1], found[2], text.count("\n", 0, found.start()) + 2, _shown(found))
        for found in _BLOCK.finditer(text)
        if found[1] in _RUN
    ]


def _shown(block: re.Match[str]) -> str | None:
    return (block[3] or "") if _PRINTED.search(block[0]) else None


def python_of(page: Path) -> str:
    """Return the Python code of a page as one module."""
    return "\n".join(one.text for one in snippets_of(page) if one.language == "python")


PAGES_WITH_CODE = [page for page in PAGES if snippets_of(page)]

#: Pages whose code requires an extra; all others run in a base install.
EXTRA_OF_PAGE = {
    "dicom.md": "dicom",
    "margins.md": "plot",
    "out-of-core.md": "dask",
    "pages.md": "notebook",
    "start.md": "plot",
}


def dicom_of_three_readers(folder: Path) -> None:
    """Write the files for the page on DICOM: a series and three readers' segmentations."""
    sys.path.append(str(ROOT / "tests" / "images"))
    from dicom_objects import SHAPE, write_seg, write_series

    slices = write_series(folder / "ct")
    mask = np.zeros(SHAPE, bool)
    mask[1:-1, 2:-2, 2:-2] = True
    for number, name in enumerate(("anna", "ben", "chris")):
        write_seg(folder / f"{name}.dcm", {"Liver": np.roll(mask, number, axis=2)}, slices, None)


def stores_of_three_raters(folder: Path) -> None:
    """Write the stores for the page on large volumes."""
    import zarr

    disc = np.hypot(*np.mgrid[-16:16, -16:16]) < 9
    for number, name in enumerate(("ann", "bob", "eve")):
        rater = np.roll(disc, number, axis=1).astype(np.uint8)
        zarr.create_array(folder / f"{name}.zarr", data=rater, chunks=(16, 16))


#: Functions that write the files needed by the code of a page.
PREPARED = {"dicom.md": dicom_of_three_readers, "out-of-core.md": stores_of_three_raters}


def run_snippets(page: Path, folder: Path) -> Iterator[tuple[Snippet, str]]:
    """Run the blocks of a page in order, in the current folder; yield each with its output.

    Python blocks share variables, as in one session; the output of a command includes both streams.
    """
    PREPARED.get(page.name, lambda folder: None)(folder)
    names: dict[str, Any] = {"__name__": "__main__"}
    for snippet in snippets_of(page):
        if snippet.language == "sh":
            printed = _run_shell(snippet.text)
        else:
            stream = io.StringIO()
            with contextlib.redirect_stdout(stream):
                exec(compile(snippet.text, f"{page}:{snippet.line}", "exec"), names)
            printed = stream.getvalue()
        lines = printed.replace(f"{folder}{os.sep}", "").splitlines()
        yield snippet, "".join(f"{line.rstrip()}\n" for line in lines)


def _run_shell(text: str) -> str:
    """Run a block in bash, with this environment's commands."""
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": programs, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        ["bash", "-euc", text],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        env=environment,
    )
    if done.returncode:
        raise RuntimeError(f"{text}\n{done.stdout}")
    return done.stdout


def write_prints(page: Path) -> None:
    """Run the blocks of a page, and write their output between the markers below them."""
    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)
        ran = list(run_snippets(page, Path(name)))
        os.chdir(ROOT)
    prints = iter([printed for snippet, printed in ran if snippet.printed is not None])

    def block(_: re.Match[str]) -> str:
        return f"<!-- printed:begin -->\n```text\n{next(prints)}```\n<!-- printed:end -->"

    page.write_text(_PRINTED.sub(block, page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        write_prints(Path(argument).resolve())
