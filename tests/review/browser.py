"""Run the application as a process, and open it in Chromium."""

from __future__ import annotations

import io
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import itk_consensus as ic

ROOT = Path(ic.__file__).resolve().parents[1]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
_LACKING = [name for name in ("trame_slicer", "slicer", "playwright") if find_spec(name) is None]

#: Markers that skip modules with browser tests.
MARKS = [
    pytest.mark.skipif(bool(_LACKING), reason=f"not installed: {', '.join(_LACKING)}"),
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium"),
    pytest.mark.skipif(os.name == "nt", reason="ends processes by POSIX signals"),
]


class Running:
    """A running command and its address."""

    def __init__(self, words: list[str], folder: Path) -> None:
        said = folder / "stdout.txt"
        with said.open("w") as out, (folder / "stderr.txt").open("w") as err:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "itk_consensus.cli", "review", *words, "--no-browser"],
                cwd=folder,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
                stdout=out,
                stderr=err,
            )
        while not said.read_text().startswith("Review: http://127.0.0.1:"):
            assert self.process.poll() is None, (folder / "stderr.txt").read_text()
            time.sleep(0.1)
        self.address = said.read_text().splitlines()[0].removeprefix("Review: ")

    def end(self) -> int:
        """Send Ctrl-C."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        return self.process.wait(30)


@contextmanager
def started(words: list[str], folder: Path) -> Iterator[Running]:
    """Start the command; kill it at the end if it is still running."""
    running = Running(words, folder)
    try:
        yield running
    finally:
        if running.process.poll() is None:
            running.process.kill()
            running.process.wait()


def opened(chromium: Any, address: str) -> Any:
    """Open the page, and wait until its views show an image."""
    page = chromium.new_page(viewport={"width": 1400, "height": 900})
    page.goto(address)
    page.wait_for_selector("#dispute-1, #disputes .dispute")
    page.wait_for_function("document.querySelectorAll('img').length >= 4")
    return page


def picture(page: Any, view: str, other_than: bytes = b"") -> bytes:
    """Return a screenshot of a view after it has changed and is stable."""
    frame = page.locator(f"#view-{view}").locator("xpath=..")
    last = b""
    for _ in range(120):
        now = bytes(frame.screenshot())
        if now == last and now != other_than:
            return now
        last = now
        time.sleep(0.25)
    raise AssertionError(f"the view {view} shows the same as before")


def pixels(shot: bytes, color: str, within: float = 40.0) -> int:
    """Return the number of pixels in a picture with approximately this colour."""
    seen = np.asarray(Image.open(io.BytesIO(shot)).convert("RGB"), float)
    wanted = [int(color[at : at + 2], 16) for at in (1, 3, 5)]
    return int(np.count_nonzero(np.linalg.norm(seen - wanted, axis=-1) < within))


def shows(page: Any, view: str, wanted: Callable[[bytes], bool]) -> bytes:
    """Wait until the picture of a view satisfies a condition, and return it."""
    frame = page.locator(f"#view-{view}").locator("xpath=..")
    for _ in range(100):
        shot = bytes(frame.screenshot())
        if wanted(shot):
            return shot
        time.sleep(0.15)
    raise AssertionError(f"the view {view} does not become as wanted")


def says(page: Any, selector: str, text: str) -> None:
    """Wait until an element of the page contains a text."""
    page.wait_for_function(
        "([place, text]) => document.querySelector(place)?.innerText.includes(text)",
        arg=[selector, text],
    )


def middle(page: Any, view: str) -> tuple[float, float]:
    """Return the middle of a view on the page."""
    box = page.locator(f"#view-{view}").locator("xpath=..").bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def drag(page: Any, start: tuple[float, float], by: tuple[float, float]) -> None:
    """Move the mouse while its button is held."""
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(start[0] + by[0], start[1] + by[1], steps=4)
    page.mouse.up()
