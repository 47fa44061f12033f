"""What README and documentation tell people to paste works, page by page, in order."""

from __future__ import annotations

import os
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any

import pytest
from snippets import PAGES_WITH_CODE, PREPARED, ROOT, snippets_of


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
