"""What README and documentation tell people to paste works, page by page, in order."""

from __future__ import annotations

import os
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from snippets import PAGES_WITH_CODE, ROOT, snippets_of


def dicom_of_three_readers(folder: Path) -> None:
    """The files that the page on DICOM speaks of: a series and three readers' segmentations."""
    pytest.importorskip("highdicom")
    sys.path.append(str(ROOT / "tests" / "images"))
    from dicom_objects import SHAPE, write_seg, write_series

    slices = write_series(folder / "ct")
    mask = np.zeros(SHAPE, bool)
    mask[1:-1, 2:-2, 2:-2] = True
    for number, name in enumerate(("anna", "ben", "chris")):
        write_seg(folder / f"{name}.dcm", {"Liver": np.roll(mask, number, axis=2)}, slices, None)


def stores_of_three_raters(folder: Path) -> None:
    """The stores that the page on large volumes speaks of."""
    zarr = pytest.importorskip("zarr")
    disc = np.hypot(*np.mgrid[-16:16, -16:16]) < 9
    for number, name in enumerate(("ann", "bob", "eve")):
        rater = np.roll(disc, number, axis=1).astype(np.uint8)
        zarr.create_array(folder / f"{name}.zarr", data=rater, chunks=(16, 16))


PREPARED = {"dicom.md": dicom_of_three_readers, "out-of-core.md": stores_of_three_raters}


def run_shell(text: str) -> None:
    """Run a block as bash does, with this environment's commands."""
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": programs, "PYTHONPATH": str(ROOT)}
    command = ["bash", "-euc", text]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, f"{text}\n{done.stderr}"


@pytest.mark.parametrize("page", PAGES_WITH_CODE, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_code_of_a_page_runs_in_order(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    PREPARED.get(page.name, lambda folder: None)(tmp_path)
    names: dict[str, Any] = {"__name__": "__main__"}
    for snippet in snippets_of(page):
        if snippet.language == "sh":
            run_shell(snippet.text)
            continue
        try:
            exec(compile(snippet.text, f"{page}:{snippet.line}", "exec"), names)
        except Exception:
            pytest.fail(f"{page.name}, line {snippet.line}:\n{traceback.format_exc()}")


def test_most_pages_have_code() -> None:
    assert len(PAGES_WITH_CODE) >= 9
