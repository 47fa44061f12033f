"""What is generated from the parameter tables, and whether the README's Python is right."""

from __future__ import annotations

import ast
import builtins
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import itk_consensus
from itk_consensus.filters.parameters import parameters_of
from itk_consensus.filters.procedural import Computed, all_functions, function_name
from itk_consensus.filters.registry import FUSERS

ROOT = Path(__file__).resolve().parents[2]
STUB = ast.parse((ROOT / "itk_consensus" / "__init__.pyi").read_text(encoding="utf-8"))


def test_the_generated_files_are_current() -> None:
    command = [sys.executable, str(ROOT / "wrapping" / "write_tables.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr


def test_the_stub_has_every_public_name() -> None:
    named = {getattr(node, "name", None) for node in STUB.body}
    for node in STUB.body:
        if isinstance(node, ast.ImportFrom):
            named |= {alias.asname for alias in node.names}
        elif isinstance(node, ast.AnnAssign):
            named.add(ast.unparse(node.target))
    assert set(dir(itk_consensus)) <= named


def test_everything_in_the_stub_is_explained() -> None:
    for node in ast.walk(STUB):
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and node.name != "__init__":
            assert ast.get_docstring(node), node.name


@pytest.mark.parametrize("fuser", FUSERS, ids=function_name)
def test_help_explains_every_parameter_and_shows_its_default(fuser: type) -> None:
    function = all_functions()[function_name(fuser)]  # type: ignore[arg-type]
    doc, signature = inspect.getdoc(function) or "", inspect.signature(function)
    unwrapped = " ".join(doc.split())
    for parameter in parameters_of(fuser):
        assert f"\n{parameter.keyword} : {parameter.kind.wanted}; default " in doc
        assert " ".join(parameter.doc.split()) in unwrapped
        default = signature.parameters[parameter.keyword].default
        assert isinstance(default, Computed) or default is parameter.default
    assert set(signature.parameters) - {"images"} == {p.keyword for p in parameters_of(fuser)}


# -- the README ------------------------------------------------------------------------------


def readme_snippets() -> list[str]:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def with_what_the_text_around_says(snippet: str) -> str:
    """A snippet as a module: what it uses and does not make is declared above it."""
    names = [node for node in ast.walk(ast.parse(snippet)) if isinstance(node, ast.Name)]
    made = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    free = {node.id for node in names} - made - {"ic", "sitk"} - set(dir(builtins))
    head = ["from typing import Any", "import itk_consensus as ic", "import SimpleITK as sitk"]
    return "\n".join([*head, *(f"{name}: Any" for name in sorted(free)), snippet])


def test_mypy_accepts_every_python_snippet_of_the_readme(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = pytest.importorskip("mypy.api")
    snippets = readme_snippets()
    assert len(snippets) >= 4
    files = []
    for number, snippet in enumerate(snippets):
        files.append(tmp_path / f"snippet_{number}.py")
        files[-1].write_text(with_what_the_text_around_says(snippet), encoding="utf-8")
    wrong = tmp_path / "wrong.py"
    wrong.write_text("import itk_consensus as ic\nic.STAPLEImageFilter().SetVariant(3)\n")
    monkeypatch.setenv("MYPYPATH", str(ROOT))
    # What follows imports is checked by make lint; the stub alone says what a user sees.
    options = ["--config-file=", "--follow-imports=silent", "--ignore-missing-imports"]
    options += [f"--python-executable={sys.executable}", f"--cache-dir={ROOT / '.mypy_cache'}"]
    said, errors, _ = api.run([*options, str(wrong), *map(str, files)])
    complaints = [line for line in said.splitlines() if ": error:" in line]
    assert errors == ""
    assert len(complaints) == 1, said
    assert "wrong.py:2" in complaints[0]
