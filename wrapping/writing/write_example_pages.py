"""Write one documentation page per example (text, code and output), and a notebook of it.

Examples are run while the pages are built, so every page shows the output of the current code, and
the build fails if an example fails.
"""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

_EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def example_sections() -> dict[str, dict[str, str]]:
    """Return the generated sections of docs/examples/index.md: the list of scripts and the list
    of pages.
    """
    lines = [f"- [{_title(script)}](../../examples/{script.name})" for script in _scripts()]
    contents = [script.stem for script in _scripts()]
    tree = ["```{toctree}", ":caption: Run when these pages were built", "", *contents, "```"]
    return {"examples/index": {"scripts": "\n".join(lines), "pages": "\n".join(tree)}}


def write_example_pages(folder: Path, examples: Path = _EXAMPLES) -> None:
    """Run the numbered examples and write their pages, notebooks and pictures into a folder."""
    folder.mkdir(exist_ok=True)
    for old in folder.glob("[0-9]*"):
        old.unlink()
    with ThreadPoolExecutor(os.cpu_count()) as runs:
        list(runs.map(lambda script: _write_page(script, folder), _scripts(examples)))


def _scripts(examples: Path = _EXAMPLES) -> list[Path]:
    return sorted(examples.glob("[0-9][0-9]_*.py"))


def _title(script: Path) -> str:
    docstring = ast.get_docstring(ast.parse(script.read_text(encoding="utf-8")))
    return str(docstring).partition("\n")[0].rstrip(".")


def _write_page(script: Path, folder: Path) -> None:
    """Write one example's page and notebook."""
    source = script.read_text(encoding="utf-8")
    title, _, about = str(ast.get_docstring(ast.parse(source))).partition("\n")
    code = source.split('"""', 2)[2].strip()
    # a notebook has no command-line arguments
    alone = code.partition("if __name__ ==")[0] + "main()"
    printed, pictures = _run(script, folder)
    notebook = folder / f"{script.stem}.ipynb"
    notebook.write_text(json.dumps(_notebook(title, alone, printed), indent=1), encoding="utf-8")
    words = re.sub(r"^(python examples/.*)$", r"`\1`", about.strip(), flags=re.MULTILINE)
    parts = [f"# {title.rstrip('.')}", words, f"```python\n{code}\n```"]
    parts += ["It prints:", f"```text\n{printed}```", *(f"![]({name})" for name in pictures)]
    parts += [f"[As a notebook]({notebook.name}), with what it printed here."]
    page = "\n\n".join(part for part in parts if part) + "\n"
    (folder / f"{script.stem}.md").write_text(page, encoding="utf-8")


def _run(script: Path, folder: Path) -> tuple[str, list[str]]:
    """Run an example; return its printed output, and the names of its pictures, moved to the
    folder.
    """
    with tempfile.TemporaryDirectory() as place:
        command = [sys.executable, "-W", "ignore", str(script)]
        done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{script.name} failed:\n{done.stderr}")
        pictures = []
        for picture in sorted(Path(place).glob("*.png")):
            pictures.append(f"{script.stem}-{picture.name}")
            shutil.move(picture, folder / pictures[-1])
        return done.stdout.replace(place, "."), pictures


def _notebook(title: str, code: str, printed: str) -> dict[str, Any]:
    """Return a notebook with two cells, in nbformat 4."""
    output = {"output_type": "stream", "name": "stdout", "text": printed.splitlines(True)}
    cells = [
        {"cell_type": "markdown", "id": "title", "metadata": {}, "source": [f"# {title}"]},
        {
            "cell_type": "code",
            "id": "code",
            "metadata": {},
            "execution_count": 1,
            "source": code.splitlines(True),
            "outputs": [output],
        },
    ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": cells}
