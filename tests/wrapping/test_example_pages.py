"""Example pages show the output of the examples, and a failing example fails the build."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest

WRITER = Path(__file__).resolve().parents[2] / "wrapping" / "writing" / "write_example_pages.py"


@pytest.fixture(scope="module")
def writer() -> ModuleType:
    spec = importlib.util.spec_from_file_location("write_example_pages", WRITER)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def example(folder: Path, body: str) -> None:
    about = '"""Add.\n\npython examples/01_add.py\n"""\n\nimport sys\n\n\n'
    guard = 'if __name__ == "__main__":\n    main(*sys.argv[1:])\n'
    text = f"{about}def main():\n    {body}\n\n\n{guard}"
    (folder / "01_add.py").write_text(text, encoding="utf-8")


def test_a_page_and_a_notebook_hold_what_was_printed(writer: ModuleType, tmp_path: Path) -> None:
    example(tmp_path, 'print(40 + 2); open("plot.png", "w").close()')
    writer.write_example_pages(tmp_path / "pages", tmp_path)
    page = (tmp_path / "pages" / "01_add.md").read_text(encoding="utf-8")
    assert page.startswith("# Add\n")
    assert "```text\n42\n```" in page
    assert "![](01_add-plot.png)" in page
    notebook = json.loads((tmp_path / "pages" / "01_add.ipynb").read_text(encoding="utf-8"))
    code = notebook["cells"][1]
    assert code["outputs"][0]["text"] == ["42\n"]
    assert code["source"][-1] == "main()"  # without the arguments of the notebook's server


def test_an_example_that_fails_fails_the_build(writer: ModuleType, tmp_path: Path) -> None:
    example(tmp_path, 'raise ValueError("no such atlas")')
    with pytest.raises(RuntimeError, match=r"(?s)01_add.py failed.*no such atlas"):
        writer.write_example_pages(tmp_path / "pages", tmp_path)
