"""The code of the README and documentation works, page by page, in order."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from snippets import PAGES_WITH_CODE, ROOT, python_of, run_snippets

import itk_consensus

#: Pages whose blocks take more than five seconds.
LONG = {
    "bands.md", "cohorts.md", "ensembles.md", "findings.md", "margins.md", "pages.md", "review.md",
}  # fmt: skip


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(
            page,
            id=str(page.relative_to(ROOT)),
            marks=[pytest.mark.slow] if page.name in LONG else [],
        )
        for page in PAGES_WITH_CODE
    ],
)
def test_the_code_of_a_page_runs_in_order_and_prints_what_the_page_shows(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for snippet, printed in run_snippets(page, tmp_path):
        if snippet.printed is not None:
            assert printed == snippet.printed, f"{page.name}, line {snippet.line}"


def test_every_public_name_is_used_by_an_example_that_runs() -> None:
    code = "\n".join(map(python_of, PAGES_WITH_CODE))
    used = set(re.findall(r"\b(?:ic|itk_consensus)\.(\w+)", code))
    public = {name for name in dir(itk_consensus) if not name.startswith("_")}
    assert public - used == set()


def test_most_pages_have_code() -> None:
    assert len(PAGES_WITH_CODE) >= 9
