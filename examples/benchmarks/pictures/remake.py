"""Remake the pictures of the documentation, and store hashes of their templates.

python -m examples.benchmarks.pictures.remake                  all that can be made on this machine
python -m examples.benchmarks.pictures.remake report-desktop.png start-plot.png

Requires Playwright and Chromium. CT pictures also require ../shared/data, the notebook picture
requires nbconvert, and the review picture requires the extra `review`. Pictures that cannot be
made are listed and keep their old hash, so the test of pictures still reports them as outdated.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from examples.benchmarks.pictures import plot_picture, report_pictures

ROOT = Path(__file__).resolve().parents[3]
DOCS = ROOT / "docs"
KEPT = DOCS / "pictures.json"

_PAGE = ("report/*.css", "report/*.js", "report/page.py", "report/first_screen.py")
#: The files on which each picture in docs/ depends, as patterns in the package.
TEMPLATES = {
    "start-plot.png": ("report/plot.py",),
    "report-desktop.png": _PAGE,
    "report-phone-dark.png": _PAGE,
    "study-index.png": ("report/*.css", "batch/study_page.py", "report/study_plots.py"),
    "study-raters.png": ("report/*.css", "batch/study_page.py", "report/study_plots.py"),
    "notebook.png": ("report/parts.css", "report/notebook.py"),
    "review.png": ("review/application/page.*",),
}


def template_hash(picture: str) -> str:
    """Return the hash of the files on which a picture depends."""
    package = ROOT / "itk_consensus"
    files = sorted(path for pattern in TEMPLATES[picture] for path in package.glob(pattern))
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()


def kept_hashes() -> dict[str, str]:
    """Return the hashes of the templates from which the pictures were made."""
    return dict(json.loads(KEPT.read_text(encoding="utf-8"))) if KEPT.exists() else {}


def keep(pictures: Sequence[str]) -> None:
    """Record that pictures are made from the current templates."""
    hashes = kept_hashes() | {picture: template_hash(picture) for picture in pictures}
    text = json.dumps(dict(sorted(hashes.items())), indent=1) + "\n"
    KEPT.write_text(text, encoding="utf-8")


def photograph(page: Path, width: int, mode: str) -> None:
    """Take a full-page screenshot in a browser and save it next to the page."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"))
        shown = browser.new_page(
            viewport={"width": width, "height": 900},
            color_scheme="dark" if mode == "dark" else "light",
        )
        shown.goto(page.resolve().as_uri())
        shown.screenshot(path=page.with_name(f"{page.stem}-{width}-{mode}.png"), full_page=True)
        browser.close()


def remake_pages(wanted: Sequence[str], folder: Path) -> list[str]:
    """Write the pages, take screenshots, and crop them."""
    writers = {
        "ct": report_pictures.write_ct,
        "nodule": report_pictures.write_nodule,
        "study": report_pictures.write_study,
        "notebook": report_pictures.write_notebook,
    }
    cuts = [cut for cut in report_pictures.CUTS if cut[0] in wanted]
    made = []
    for page in sorted({source.split("-")[0] for _, source, *_ in cuts}):
        if page == "ct" and not report_pictures.DATA.is_dir():
            print(f"left out, {report_pictures.DATA.name} is absent: {page}")
            continue
        if page == "notebook" and importlib.util.find_spec("nbconvert") is None:
            print("left out, nbconvert is absent: notebook")
            continue
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / f"{page}.html").exists():
            writers[page](folder)
        if page == "notebook":
            command = ["jupyter", "nbconvert", "--to", "html", "--execute"]
            subprocess.run([*command, str(folder / "notebook.ipynb")], check=True)
        for name, source, *_ in cuts:
            if source.startswith(f"{page}-"):
                _, width, mode = source.removesuffix(".png").rsplit("-", 2)
                photograph(folder / f"{page}.html", int(width), mode)
                made.append(name)
    report_pictures.cut_pictures(folder, made)
    return made


def main(arguments: Sequence[str] | None = None) -> None:
    """Remake pictures, and store the hashes of their templates."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pictures", nargs="*", help=f"of {', '.join(TEMPLATES)} [default: all]")
    parser.add_argument("--folder", type=Path, help="where pages are kept, and taken from")
    options = parser.parse_args(arguments)
    wanted = options.pictures or list(TEMPLATES)
    made = []
    if "start-plot.png" in wanted:
        plot_picture.main()
        made.append("start-plot.png")
    with tempfile.TemporaryDirectory() as place:
        made += remake_pages(wanted, options.folder or Path(place))
    if "review.png" in wanted:
        command = [sys.executable, "-m", "examples.benchmarks.pictures.review_picture"]
        if subprocess.run([*command, str(DOCS / "review.png")], check=False).returncode == 0:
            made.append("review.png")
    keep(made)
    print(f"remade: {', '.join(made)}")


if __name__ == "__main__":
    main()
