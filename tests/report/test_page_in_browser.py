"""The page in a real Chromium; examples' report_in_browser.mjs looks closer."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import itk_consensus as ic

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
