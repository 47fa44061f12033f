"""How long a review of a large case takes to open, to jump and to decide; nothing is asserted.

    python -m examples.benchmarks.speed.review_benchmark
        [--shape 300 512 512] [--readers 5] [--browser]

Needs ``pip install 'itk-consensus[review]'``; with --browser also playwright and Chromium, in which
the first view and the jumps are timed as a reviewer sees them.
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
from itk_consensus.review.case import case_of_result
from itk_consensus.review.session import ReviewSession


def readers(shape: tuple[int, ...], number: int) -> list[np.ndarray]:
    """A large organ that readers outline differently, and lesions that some of them see."""
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


def without_a_browser(images: list[sitk.Image], folder: Path) -> dict[str, float]:
    """Seconds of each step that needs no screen."""
    times = {}
    start, worked = time.perf_counter(), time.process_time()

    def lap(what: str) -> None:
        """Seconds by the clock, and of all processors: a busy machine shows in the first only."""
        nonlocal start, worked
        now, done = time.perf_counter(), time.process_time()
        times[what] = round(now - start, 2)
        times[f"{what}, processor"] = round(done - worked, 2)
        start, worked = now, done

    filter_ = ic.ConsensusFilter()
    filter_.Execute(images)
    lap("fuse")
    case = case_of_result(filter_.GetResult())
    lap("find disputes")
    session = ReviewSession(case, folder / "out.nii.gz", who="benchmark")
    session.keep()
    lap("first record")
    session.decide(1, "label", 1)
    lap("decide, and keep the record")
    session.undo()
    lap("undo, and keep the record")
    times["disputes"] = len(case.disputes)
    times["record, MB"] = round((folder / "out.review.json").stat().st_size / 1e6, 2)
    return times


def in_a_browser(files: list[Path], image: Path, folder: Path) -> dict[str, float]:
    """Seconds until the first view after the command, and of jumps, as Chromium sees them."""
    words = ["review", *map(str, files), "--image", str(image), "-o", str(folder / "b.nii.gz")]
    start = time.perf_counter()
    said = folder / "said.txt"
    with said.open("w") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "itk_consensus.cli", *words, "--no-browser"],
            stdout=out,
            env={**os.environ, "PYTHONPATH": str(Path(ic.__file__).resolve().parents[1])},
        )
    try:
        return _timed(process, said, start)
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(60)


def _timed(process: subprocess.Popen[bytes], said: Path, start: float) -> dict[str, float]:
    from playwright.sync_api import sync_playwright

    while "http://" not in said.read_text():
        if process.poll() is not None:
            raise RuntimeError("the application ended")
        time.sleep(0.05)
    times = dict[str, float]()

    def lap(what: str) -> None:
        times[what] = round(time.perf_counter() - start, 2)
        times[f"{what}, processor"] = _worked(process.pid)

    lap("command to address")
    address = said.read_text().split()[1]
    with sync_playwright() as play:
        chromium = shutil.which("chromium") or shutil.which("chromium-browser")
        browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        page.set_default_timeout(300_000)
        page.goto(address)
        _wait_for_pictures(page)
        lap("command to first view")
        page.wait_for_selector("#dispute-1")
        _wait_for_pictures(page)
        lap("command to disputes")
        times |= _handled(page)
        browser.close()
    return times


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
    """Seconds that a process has kept processors busy, where the system says so."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return float("nan")
    return round((int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), 2)


def _handled(page: Any) -> dict[str, float]:
    """Seconds of jumps, and of a decision."""
    times = {}
    picture = "document.querySelector('#view-Red').parentElement.querySelector('img').src"
    jumps = []
    for number in (2, 5, 9, 3):
        page.wait_for_timeout(1500)
        before, begin = page.evaluate(picture), time.perf_counter()
        page.click(f"#dispute-{number}")
        page.wait_for_function(f"before => {picture} !== before", arg=before)
        jumps.append(time.perf_counter() - begin)
    times["jump, median"] = round(float(np.median(jumps)), 2)
    times["jump, longest"] = round(max(jumps), 2)
    page.wait_for_timeout(1500)
    begin = time.perf_counter()
    page.keyboard.press("i")
    page.wait_for_selector("#dispute-3.decided")
    times["decide"] = round(time.perf_counter() - begin, 2)
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shape", type=int, nargs=3, default=(300, 512, 512))
    parser.add_argument("--readers", type=int, default=5)
    parser.add_argument("--browser", action="store_true")
    arguments = parser.parse_args()
    shape = tuple(arguments.shape)
    masks = readers(shape, arguments.readers)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        images = [sitk.GetImageFromArray(mask) for mask in masks]
        for image in images:
            image.SetSpacing((0.8, 0.8, 1.5))
        print(json.dumps(without_a_browser(images, folder), indent=2), flush=True)
        if arguments.browser:
            files = [folder / f"reader{n}.nii" for n in range(len(images))]
            for file, image in zip(files, images, strict=True):
                sitk.WriteImage(image, str(file))
            noise = np.random.default_rng(1).normal(40, 20, shape).astype(np.int16)
            ct = sitk.GetImageFromArray(noise + 60 * masks[0].astype(np.int16))
            ct.SetSpacing((0.8, 0.8, 1.5))
            sitk.WriteImage(ct, str(folder / "ct.nii"))
            print(json.dumps(in_a_browser(files, folder / "ct.nii", folder), indent=2))


if __name__ == "__main__":
    main()
