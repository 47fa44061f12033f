"""Measure the review of a large case: opening, deciding and painting.

    python -m examples.benchmarks.speed.review_benchmark [--shape 200 512 512] [--readers 5]
        [--keep]

Prints the processor seconds of the application since its start, which hardly depend on other
work on the machine, and the milliseconds from a key press or the end of a stroke to the next
picture in Chromium. Requires ``pip install 'itk-consensus[review]'``, Playwright and Chromium.
With --keep the results are written to review_benchmark.json.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import SimpleITK as sitk

import itk_consensus as ic
from examples.benchmarks.run_facts import run_facts

KEPT = Path(__file__).with_name("review_benchmark.json")
#: Requirements for the case with five readers and 512 x 512 x 200 voxels.
LIMITS = {
    "image, CPU s": 5.0,
    "first disputes, CPU s": 10.0,
    "decide, ms": 300.0,
    "paint, ms": 300.0,
    "memory, GB": 1.2,
}


def readers(shape: tuple[int, ...], number: int) -> list[np.ndarray]:
    """Return masks of a large organ that readers outline differently, and lesions that some
    find.
    """
    rng = np.random.default_rng(3000)
    axes = [np.linspace(-1, 1, side, dtype=np.float32) for side in shape]
    z, y, x = axes[0][:, None, None], axes[1][:, None], axes[2]
    lesions = [(*rng.uniform(-0.4, 0.4, 3), rng.uniform(0.03, 0.06)) for _ in range(40)]
    drawn = []
    for _ in range(number):
        shift, size = rng.normal(0, 0.01, 3), 0.5 + rng.normal(0, 0.01)
        wave = 0.015 * np.sin(9 * x + rng.uniform(0, 6)) + 0.015 * np.sin(8 * y + rng.uniform(0, 6))
        distance = np.sqrt((z - shift[0]) ** 2 + (y - shift[1]) ** 2 + (x - shift[2]) ** 2)
        mask = (distance < size + wave).astype(np.uint8)
        for cz, cy, cx, radius in lesions:
            if rng.random() < 0.6:
                box = tuple(
                    slice(max(0, int((c - radius + 1) / 2 * n)), int((c + radius + 1) / 2 * n) + 2)
                    for c, n in zip((cz + 0.55, cy, cx), shape, strict=True)
                )
                mask[box] = 1
        drawn.append(mask)
    return drawn


def in_a_browser(files: list[Path], image: Path, folder: Path) -> dict[str, float]:
    """Measure in a browser, as a reviewer would experience it."""
    words = ["review", *map(str, files), "--image", str(image), "-o", str(folder / "b.nii.gz")]
    said = folder / "said.txt"
    with said.open("w") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "itk_consensus.cli", *words, "--no-browser", "--reviewer", "A"],
            stdout=out,
            env={**os.environ, "PYTHONPATH": str(Path(ic.__file__).resolve().parents[1])},
        )
    try:
        return _timed(process, said)
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(60)


def _timed(process: subprocess.Popen[bytes], said: Path) -> dict[str, float]:
    from playwright.sync_api import sync_playwright

    while "http://" not in said.read_text():
        if process.poll() is not None:
            raise RuntimeError("the application ended")
        time.sleep(0.05)
    figures = dict[str, float]()
    address = said.read_text().split()[1]
    with sync_playwright() as play:
        chromium = shutil.which("chromium") or shutil.which("chromium-browser")
        browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        page.set_default_timeout(300_000)
        page.goto(address)
        _wait_for_pictures(page)
        figures["image, CPU s"] = _worked(process.pid)
        page.wait_for_selector("#disputes .dispute")
        figures["first disputes, CPU s"] = _worked(process.pid)
        figures["disputes"] = page.evaluate("window.trame.state.get('total')")
        page.wait_for_timeout(3000)
        figures |= _handled(page, process.pid)
        figures["memory, GB"] = _peak_memory(process.pid, "VmHWM")
        figures["memory of its own now, GB"] = _peak_memory(process.pid, "RssAnon")
        browser.close()
    # other work on the machine, which affects elapsed time
    figures["load of the machine"] = round(os.getloadavg()[0], 1)
    return figures


def _wait_for_pictures(page: Any) -> None:
    """Wait until the three slice views show more than one grey value."""
    page.wait_for_function("""() => {
      const canvas = document.createElement("canvas"), pen = canvas.getContext("2d");
      const shows = (picture) => {
        pen.drawImage(picture, 0, 0, 64, 64);
        return new Set(pen.getImageData(0, 0, 64, 64).data).size > 20;
      };
      const wide = [...document.querySelectorAll("img")].filter(i => i.naturalWidth > 50);
      return wide.filter(shows).length >= 3;
    }""")


def _worked(pid: int) -> float:
    """Return the processor seconds of a process, if the system reports them."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return float("nan")
    return round((int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), 2)


def _peak_memory(pid: int, field: str) -> float:
    """Return the peak memory in gigabytes, if the system reports it."""
    try:
        text = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return float("nan")
    return round(int(text.split(f"{field}:")[1].split()[0]) / 1e6, 2)


#: Resolves when the picture of a view has changed, with the milliseconds until then.
_CHANGED = """view => {
  const seen = () => document.querySelector(view).parentElement.querySelector("img").src;
  const before = seen(), begin = performance.now();
  window.changed = new Promise(tell => {
    const look = () => seen() !== before ? tell(performance.now() - begin) : setTimeout(look, 2);
    look();
  });
}"""


def _handled(page: Any, pid: int) -> dict[str, float]:
    """Return milliseconds and processor time until the next picture after jumps, decisions and
    strokes.
    """
    found: dict[str, list[float]] = {"jump": [], "decide": [], "paint": []}
    busy: dict[str, list[float]] = {what: [] for what in found}

    def first_picture(what: str, action: Any) -> None:
        page.wait_for_timeout(1500)
        page.evaluate(_CHANGED, "#view-Red")
        worked = _worked(pid)
        action()
        found[what].append(page.evaluate("window.changed"))
        busy[what].append(1000 * (_worked(pid) - worked))

    for _ in range(4):
        first_picture("jump", lambda: page.keyboard.press("n"))
    for _ in range(4):
        first_picture("decide", lambda: page.keyboard.press("i"))
    box = page.locator("#view-Red").locator("xpath=..").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.keyboard.press("b")
    page.wait_for_timeout(1500)
    for shift in (0, 25, 50, 75):
        page.mouse.move(x + shift, y)
        page.mouse.down()
        page.mouse.move(x + shift + 10, y, steps=3)
        first_picture("paint", page.mouse.up)
    return {
        f"{what}, {unit}": round(float(measure(values)))
        for what, values in found.items()
        for unit, measure in (("ms", np.median), ("ms at most", max))
    } | {f"{what}, CPU ms": round(float(np.median(values))) for what, values in busy.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shape", type=int, nargs=3, default=(200, 512, 512))
    parser.add_argument("--readers", type=int, default=5)
    parser.add_argument("--keep", action="store_true")
    arguments = parser.parse_args()
    shape = tuple(arguments.shape)
    masks = readers(shape, arguments.readers)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = [folder / f"reader{n}.nii.gz" for n in range(len(masks))]
        noise = np.random.default_rng(1).normal(40, 20, shape).astype(np.int16)
        ct = folder / "ct.nii.gz"
        for file, array in (
            (ct, noise + 60 * masks[0].astype(np.int16)),
            *zip(files, masks, strict=True),
        ):
            image = sitk.GetImageFromArray(array)
            image.SetSpacing((0.8, 0.8, 1.5))
            sitk.WriteImage(image, str(file))
        figures = in_a_browser(files, ct, folder)
    for what, value in figures.items():
        limit = LIMITS.get(what)
        print(f"{what:28}{value:8g}" + ("" if limit is None else f"   asked: {limit:g}"))
    if arguments.keep:
        case = {"shape": shape, "readers": arguments.readers}
        content = {"run": run_facts(), "case": case, "figures": figures, "asked": LIMITS}
        KEPT.write_text(json.dumps(content, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
