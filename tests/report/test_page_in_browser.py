"""The page in Chromium; report_in_browser.mjs in examples/ contains more detailed checks."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import itk_consensus as ic
from examples.benchmarks.pictures import report_pictures

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")
def test_the_page_loads_without_a_word_on_the_console_and_prints(tmp_path: Path) -> None:
    filter_ = ic.STAPLEImageFilter()
    probability = filter_.Execute(ic.sample_case() * 3)
    page, paper = tmp_path / "page.html", tmp_path / "page.pdf"
    ic.report(filter_, page, image=probability)
    command = [
        str(CHROMIUM),
        "--headless",
        "--no-sandbox",
        "--enable-logging=stderr",
        f"--user-data-dir={tmp_path / 'profile'}",
        f"--print-to-pdf={paper}",
        page.as_uri(),
    ]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert "CONSOLE" not in answer.stderr
    printed = paper.read_bytes()
    assert printed.startswith(b"%PDF")
    assert len(re.findall(rb"/Type */Page\b", printed)) <= 2


#: Folder in which `npm install puppeteer-core axe-core` was run.
NODE_FOLDER = Path(os.environ.get("NODE_FOLDER", "."))
LOOK = Path(report_pictures.__file__).with_name("report_in_browser.mjs")


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None or shutil.which("node") is None, reason="no Chromium, no node")
@pytest.mark.skipif(
    not (NODE_FOLDER / "node_modules" / "axe-core").is_dir(),
    reason="NODE_FOLDER has no puppeteer-core and axe-core",
)
@pytest.mark.parametrize(
    ("write", "name"),
    [(report_pictures.write_nodule, "nodule"), (report_pictures.write_structures, "structures")],
)
def test_axe_finds_no_fault_and_the_console_is_silent(
    write: Callable[[Path], None], name: str, tmp_path: Path
) -> None:
    write(tmp_path)
    command = ["node", str(LOOK), str(tmp_path / f"{name}.html")]
    looked = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        cwd=NODE_FOLDER,
        env={**os.environ, "CHROMIUM": str(CHROMIUM)},
    )
    assert looked.returncode == 0, looked.stdout
    assert looked.stdout.count("0 px too wide, 0 console lines, 0 accessibility faults") == 4
