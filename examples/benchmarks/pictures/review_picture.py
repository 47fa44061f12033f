"""Take the picture of a review in docs/: an LIDC nodule by four readers in the application.

    python -m examples.benchmarks.pictures.review_picture docs/review.png

Requires itk-consensus[review], Playwright, Chromium, and the CT in ../shared/data/lidc_ct
(LIDC-IDRI, CC BY 3.0).
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import SimpleITK as sitk
from playwright.sync_api import sync_playwright

DATA = Path(__file__).resolve().parents[4] / "shared" / "data" / "lidc_ct"
READERS = 4


def write_case(folder: Path) -> None:
    """Write the first nodule by four readers, one file each, and its CT."""
    for path in sorted(DATA.glob("*_readers.nrrd")):
        readers = sitk.ReadImage(str(path))
        if readers.GetNumberOfComponentsPerPixel() == READERS:
            break
    for number in range(READERS):
        mask = sitk.VectorIndexSelectionCast(readers, number, sitk.sitkUInt8)
        sitk.WriteImage(mask, str(folder / f"reader{number + 1}.nrrd"))
    shutil.copy(str(path).replace("_readers", "_ct"), folder / "ct.nrrd")


def main(picture: str) -> None:
    """Serve the case, go to its second dispute, and take a picture."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_case(folder)
        command = [sys.executable, "-u", "-m", "itk_consensus.cli", "review"]
        command += [str(folder / f"reader{number + 1}.nrrd") for number in range(READERS)]
        command += ["--image", str(folder / "ct.nrrd"), "-o", str(folder / "final.nii.gz")]
        server = subprocess.Popen([*command, "--no-browser"], stdout=subprocess.PIPE, text=True)
        assert server.stdout is not None
        try:
            address = next(
                found[0] for line in server.stdout if (found := re.search(r"http\S+", line))
            )
            with sync_playwright() as play:
                browser = play.chromium.launch(executable_path=shutil.which("chromium"))
                page = browser.new_page(viewport={"width": 1280, "height": 760})
                page.goto(address)
                page.wait_for_timeout(14_000)
                page.keyboard.press("n")
                page.wait_for_timeout(2_500)
                page.screenshot(path=picture)
                browser.close()
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main(sys.argv[1])
