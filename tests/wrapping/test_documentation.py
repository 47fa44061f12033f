"""What is generated from the parameter tables, and whether the README's Python is right."""

from __future__ import annotations

import ast
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from snippets import PAGES_WITH_CODE, python_of

import itk_consensus
from itk_consensus.core.parameters import parameters_of
from itk_consensus.methods.procedural import Computed, all_functions, function_name
from itk_consensus.methods.registry import FUSERS, OTHER_FILTERS

ROOT = Path(__file__).resolve().parents[2]
_DOCS = ROOT / "docs"
ALL_PAGES = [ROOT / "README.md", *sorted(_DOCS.glob("*.md")), *sorted(_DOCS.glob("[hm]o*/*.md"))]
STUB = ast.parse((ROOT / "itk_consensus" / "__init__.pyi").read_text(encoding="utf-8"))


def test_the_generated_files_are_current() -> None:
    command = [sys.executable, str(ROOT / "wrapping" / "writing" / "write_tables.py"), "--check"]
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
        if not isinstance(node, (ast.ClassDef, ast.Module)):
            continue
        named = [n for n in node.body if isinstance(n, (ast.ClassDef, ast.FunctionDef))]
        # Of several forms of a function one explains all.
        explained = {member.name for member in named if ast.get_docstring(member)}
        assert {member.name for member in named} - explained <= {"__init__"}


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


# -- README and documentation ------------------------------------------------------------------


def test_a_release_shows_a_readme_without_relative_links() -> None:
    pytest.importorskip("nanobind")
    address = "https://example.org/team/itk_consensus"
    command = [sys.executable, "setup.py", "-q", "--long-description"]
    environment = {**os.environ, "ITK_CONSENSUS_URL": address, "PYTHONUTF8": "1"}
    done = subprocess.run(
        command, capture_output=True, encoding="utf-8", check=False, cwd=ROOT, env=environment
    )
    targets = re.findall(r'(?:\]\(|src=")([^)"]+)', done.stdout)
    assert len(targets) > 8
    assert all(target.startswith("https://") for target in targets)
    assert f"({address}/raw/HEAD/examples/benchmarks/bands/band.png)" in done.stdout
    assert f"({address}/blob/HEAD/docs/truth.md)" in done.stdout


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 200


#: A time, a size, a ratio or a share to two digits: what only a measurement can tell.
_MEASURED = re.compile(
    r"\d×|\b\d[\d.,]*\s?(?:ms|s|seconds|min|minutes|h|hours|kB|MB|GB|TB)\b"
    r"|(?<![\w.])0?\.\d{2,}|\d (?:times|x) (?:as|faster|slower)"
)
_GENERATED = re.compile(r"<!-- (\w+):begin -->.*?<!-- \1:end -->", re.DOTALL)
_CODE = re.compile(r"```.*?```|\$[^$]*\$", re.DOTALL)


def measured_by_hand(text: str) -> list[str]:
    """Figures of a page that no script wrote."""
    return [found[0] for found in _MEASURED.finditer(_CODE.sub("", _GENERATED.sub("", text)))]


def test_a_figure_outside_a_generated_block_is_found() -> None:
    generated = "<!-- a:begin -->\n| 92× | 0.71 |\n<!-- a:end -->\n"
    assert measured_by_hand(f"{generated}It takes 3.5 s, Dice .971.") == ["3.5 s", ".971"]


@pytest.mark.parametrize("page", ALL_PAGES, ids=lambda page: page.name)
def test_every_measured_figure_is_written_by_a_script(page: Path) -> None:
    assert measured_by_hand(page.read_text(encoding="utf-8")) == []


def test_every_filter_has_a_page_with_its_model_and_its_limits() -> None:
    for filter_ in (*FUSERS, *OTHER_FILTERS):
        method = getattr(filter_, "method", "") or filter_.__module__.rpartition(".")[
            2
        ].removesuffix("_filter")
        page = ROOT / "docs" / "models" / f"{method.replace('_', '-')}.md"
        text = page.read_text(encoding="utf-8")
        assert text.startswith("## Model\n")
        assert "\n## When it fails\n" in text


def test_mypy_accepts_the_python_of_every_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = pytest.importorskip("mypy.api")
    files = []
    for number, page in enumerate(PAGES_WITH_CODE):
        files.append(tmp_path / f"page_{number}.py")
        files[-1].write_text(python_of(page), encoding="utf-8")
    wrong = tmp_path / "wrong.py"
    wrong.write_text(
        "import itk_consensus as ic, numpy as np\n"
        "ic.STAPLEImageFilter().SetVariant(3)\n"
        "ic.STAPLEImageFilter(ForgroundValue=1)\n"
        "ic.STAPLEImageFilter(ForegroundValue=1).GetSensitivity(0).upper()\n"
        "ic.LabelVoting([np.zeros((2, 2), np.uint8)], 3).upper()\n"
        "ic.ConsensusFilter().Execute([np.zeros((2, 2), np.uint8)]).upper()\n"
    )
    monkeypatch.setenv("MYPYPATH", str(ROOT))
    # What follows imports is checked by make lint; the stub alone says what a user sees.
    options = ["--config-file=", "--follow-imports=silent", "--ignore-missing-imports"]
    options += [f"--python-executable={sys.executable}", f"--cache-dir={ROOT / '.mypy_cache'}"]
    said, errors, _ = api.run([*options, str(wrong), *map(str, files)])
    complaints = [line for line in said.splitlines() if ": error:" in line]
    assert errors == ""
    lines = [re.search(r"wrong\.py:(\d)", line) for line in complaints]
    assert [line and line[1] for line in lines] == ["2", "3", "4", "5", "6"], said


def test_the_readme_of_the_kernels_lists_every_header() -> None:
    text = (ROOT / "wrapping" / "README.md").read_text(encoding="utf-8")
    headers = {path.name for path in (ROOT / "wrapping" / "kernels" / "include").glob("*.hpp")}
    assert headers
    assert not {name for name in headers if f"`{name}`" not in text}


@pytest.mark.parametrize(
    "page",
    [
        ROOT / "CONTRIBUTING.md",
        ROOT / "SECURITY.md",
        ROOT / "wrapping" / "README.md",
        *sorted((_DOCS / "decisions").glob("*.md")),
    ],
    ids=lambda page: page.name,
)
def test_pages_name_only_files_that_are_there(page: Path) -> None:
    """Words in backquotes with an ending: a file of the repository, wherever it lies."""
    known = subprocess.run(
        ["git", "ls-files"], capture_output=True, text=True, check=False, cwd=ROOT
    ).stdout.split()
    if not known:
        pytest.skip("this is no git checkout")
    named = re.findall(r"`([\w./]+\.(?:py|hpp|cpp|md|sh|toml))`", page.read_text(encoding="utf-8"))
    lost = {n for n in named if not any(f"/{file}".endswith(f"/{n}") for file in known)}
    assert not lost


def _own_pages() -> list[Path]:
    """Pages for people and docstrings, wherever they lie, but what tells of earlier versions."""
    pages = [*ROOT.glob("*.md"), *ROOT.glob("[dew]*/**/*.md"), *ROOT.glob("itk_consensus/**/*.py")]
    built = {"_build", "methods", "examples"}
    return sorted(
        page
        for page in pages
        if page.name != "CHANGELOG.md"
        and not (page.parent.parent == _DOCS and page.parent.name in built)
        and "_build" not in page.parts
    )


def test_paths_and_modules_of_the_repository_that_pages_name_are_there() -> None:
    lost = []
    for page in _own_pages():
        text = page.read_text(encoding="utf-8")
        paths = re.findall(r"(?<![\w./-])(?:examples|wrapping|tests|docs)/[\w./-]*\w", text)
        modules = re.findall(r"-m ((?:examples|itk_consensus|tests)[\w.]*\w)", text)
        paths += [f"{module.replace('.', '/')}.py" for module in modules]
        lost += [
            f"{page.relative_to(ROOT)}: {path}"
            for path in paths
            if not (ROOT / path).exists()
            and not (ROOT / path).with_suffix("").is_dir()
            and not path.startswith(("docs/_build", "docs/methods", "examples/index"))
        ]
    assert not lost
