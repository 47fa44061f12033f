"""Texts generated from the parameter tables, and consistency of the documentation with the code."""

from __future__ import annotations

import ast
import inspect
import os
import pydoc
import re
import subprocess
import sys
from pathlib import Path

import pytest
from snippets import PAGES_WITH_CODE, python_of

import itk_consensus
from itk_consensus.core.descriptions import Computed
from itk_consensus.core.parameters import measurements_of, parameters_of
from itk_consensus.core.process_object import ProcessObject
from itk_consensus.methods.procedural import function_name
from itk_consensus.methods.registry import FUSERS, OTHER_FILTERS

ROOT = Path(__file__).resolve().parents[2]
_DOCS = ROOT / "docs"
ALL_PAGES = [
    ROOT / "README.md",
    *(
        page
        for of in ("*", "howto/*", "methods/*", "truth/*")
        for page in sorted(_DOCS.glob(of + ".md"))
    ),
]
STUB = ast.parse((ROOT / "itk_consensus" / "__init__.pyi").read_text(encoding="utf-8"))


def test_the_generated_files_are_current() -> None:
    command = [sys.executable, str(ROOT / "wrapping" / "writing" / "write_tables.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr


def public_in(body: list[ast.stmt]) -> set[str]:
    """Return the names that a stub, or a class in it, makes public."""
    named: set[str] = set()
    for node in body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            named.add(node.name)
        elif isinstance(node, ast.ImportFrom):
            named |= {alias.name for alias in node.names if alias.asname == alias.name}
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            named |= {ast.unparse(target) for target in targets}
    return {name for name in named if not name.startswith("_")}


def test_the_stub_and_the_package_have_the_same_names() -> None:
    itk_names = set(itk_consensus._itk_loaders())
    assert public_in(STUB.body) == set(dir(itk_consensus)) - {"__version__"} | itk_names
    assert not itk_names & set(dir(itk_consensus))
    for name in itk_names:
        assert getattr(itk_consensus, name).__name__ == name


STUB_CLASSES = {node.name: node for node in STUB.body if isinstance(node, ast.ClassDef)}


@pytest.mark.parametrize("name", STUB_CLASSES)
def test_a_class_and_its_stub_have_the_same_names(name: str) -> None:
    cls, node = getattr(itk_consensus, name), STUB_CLASSES[name]
    stated = public_in(node.body)
    while node.bases:
        node = STUB_CLASSES[ast.unparse(node.bases[0])]
        stated |= public_in(node.body)
    assert not {one for one in stated if not hasattr(cls, one)}
    declared = {one.name for one in (*parameters_of(cls), *measurements_of(cls))}
    listed = {one for one in dir(cls) if not one.startswith("_")}
    assert not (listed | declared) - stated
    # Unlisted members are abbreviated attributes, or members that every filter has.
    assert stated - listed <= declared | set(dir(itk_consensus.ProcessObject))


def test_everything_in_the_stub_is_explained() -> None:
    for node in ast.walk(STUB):
        if not isinstance(node, (ast.ClassDef, ast.Module)):
            continue
        named = [n for n in node.body if isinstance(n, (ast.ClassDef, ast.FunctionDef))]
        # If a function has several forms, one of them has the documentation.
        explained = {member.name for member in named if ast.get_docstring(member)}
        assert {member.name for member in named} - explained <= {"__init__"}


WITH_FUNCTION = [
    one for one in (*FUSERS, *OTHER_FILTERS) if function_name(one) in dir(itk_consensus)
]


@pytest.mark.parametrize("filter_class", WITH_FUNCTION, ids=function_name)
def test_help_of_a_function_explains_every_parameter_and_shows_its_default(
    filter_class: type[ProcessObject],
) -> None:
    function = getattr(itk_consensus, function_name(filter_class))
    doc, signature = inspect.getdoc(function) or "", inspect.signature(function)
    unwrapped = " ".join(doc.split())
    for parameter in parameters_of(filter_class):
        assert f"\n{parameter.keyword} : {parameter.kind.wanted[:60]}" in doc
        assert " ".join(parameter.doc.split()) in unwrapped
        default = signature.parameters[parameter.keyword].default
        assert isinstance(default, Computed) or default is parameter.default


@pytest.mark.parametrize("filter_class", [*FUSERS, *OTHER_FILTERS], ids=function_name)
def test_help_of_a_class_is_a_page_with_all_that_goes_in_and_comes_out(
    filter_class: type[ProcessObject],
) -> None:
    page = pydoc.render_doc(filter_class, renderer=pydoc.plaintext)
    written, _, methods = page.partition("Method resolution order:")
    own = [one for one in parameters_of(filter_class) if not hasattr(ProcessObject, one.name)]
    sections = ["INPUTS", "OUTPUTS"] + ["PARAMETERS"] * bool(own)
    for title in sections + ["MEASUREMENTS"] * bool(measurements_of(filter_class)):
        assert f"\n |  {title}\n" in written
    assert len(written.splitlines()) < 200
    signature = inspect.signature(filter_class)
    for one in parameters_of(filter_class):
        assert one.name in signature.parameters
        assert one.name in written
    for one in own:
        kind = re.escape(one.kind.annotation)
        assert re.search(rf"\|  Set{one.name}\(self, value: {kind}\) -> None\n", methods)
        assert re.search(rf"\|  Get{one.name}\(self\) -> {kind}\n", methods)
    for measured in measurements_of(filter_class):
        assert f"     {measured.name} : {measured.annotation}" in written
        assert f" |  Get{measured.name}(self" in methods
    assert "AddCommand" not in page
    assert "(filter_" not in page


def test_help_of_the_package_is_two_pages_that_name_everything() -> None:
    page = pydoc.render_doc(itk_consensus, renderer=pydoc.plaintext)
    assert len(page.splitlines()) < 130
    words = set(re.findall(r"\w+", page))
    for name in dir(itk_consensus):
        of_filter = {f"{name}Filter", f"{name}ImageFilter"}
        assert name.startswith("_") or words & {name, *of_filter}


def test_what_every_filter_has_is_in_the_help_of_the_base_class() -> None:
    listed = set(dir(itk_consensus.ProcessObject))
    assert {"AddCommand", "Abort", "SetNumberOfThreads", "GetGlobalWarningDisplay"} <= listed
    own = set(dir(itk_consensus.STAPLEImageFilter)) | set(dir(itk_consensus.STAPLEImageFilter()))
    assert not {name for name in own - {"GetResult"} if name in listed and name[0].isupper()}

    # A user's class keeps its author's documentation, and its constructor the signature.
    class Own(itk_consensus.STAPLEImageFilter):
        def __init__(self, strength: int) -> None:
            super().__init__()
            self._strength = strength

        def strengthen(self) -> int:
            return self._strength

    assert "strengthen" in dir(Own)
    assert list(inspect.signature(Own).parameters) == ["strength"]


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
    assert f'src="{address}/raw/HEAD/docs/report-desktop.png"' in done.stdout
    assert f"({address}/blob/HEAD/docs/truth.md)" in done.stdout


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 100


#: A time, a size, a ratio or a share with two digits, which must come from a measurement.
_MEASURED = re.compile(
    r"\d×|\b\d[\d.,]*\s?(?:ms|s|seconds|min|minutes|h|hours|kB|MB|GB|TB)\b"
    r"|(?<![\w.])0?\.\d{2,}|\d (?:times|x) (?:as|faster|slower)"
)
_GENERATED = re.compile(r"<!-- (\w+):begin -->.*?<!-- \1:end -->", re.DOTALL)
_CODE = re.compile(r"```.*?```|\$[^$]*\$", re.DOTALL)


def measured_by_hand(text: str) -> list[str]:
    """Return the numbers on a page that were not written by a script."""
    return [found[0] for found in _MEASURED.finditer(_CODE.sub("", _GENERATED.sub("", text)))]


def test_a_figure_outside_a_generated_block_is_found() -> None:
    generated = "<!-- a:begin -->\n| 92× | 0.71 |\n<!-- a:end -->\n"
    assert measured_by_hand(f"{generated}It takes 3.5 s, Dice .971.") == ["3.5 s", ".971"]


@pytest.mark.parametrize("page", ALL_PAGES, ids=lambda page: page.name)
def test_every_measured_figure_is_written_by_a_script(page: Path) -> None:
    assert measured_by_hand(page.read_text(encoding="utf-8")) == []


#: Headings of a method's page, in order.
_HEADINGS = ["What it assumes", "Model", "Parameters that matter", "When it fails", "Cite"]


def test_every_filter_has_a_page_with_the_same_five_headings() -> None:
    pages = {path.stem for path in (_DOCS / "methods").glob("*.md")} - {"index", "every-fuser"}
    for filter_ in (*FUSERS, *OTHER_FILTERS):
        module = filter_.__module__.rpartition(".")[2].removesuffix("_filter")
        name = getattr(filter_, "method", "") or module.replace("_", "-")
        pages.remove(name)
        text = (_DOCS / "methods" / f"{name}.md").read_text(encoding="utf-8")
        assert text.startswith(f"# {filter_.__name__}\n")
        assert re.findall(r"^## (.+)$", text, re.MULTILINE) == _HEADINGS
        by_hand = re.split(r"^## .+$", _GENERATED.sub("", text), flags=re.MULTILINE)
        assert all(section.strip() for section in by_hand[1:]), name
    assert not pages


@pytest.mark.slow
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
    # Imported modules are checked by make lint; here, only the stub is checked, as a user sees it.
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
    """Words in backquotes with a file extension must be files of the repository, in any folder."""
    known = subprocess.run(
        ["git", "ls-files"], capture_output=True, text=True, check=False, cwd=ROOT
    ).stdout.split()
    if not known:
        pytest.skip("this is no git checkout")
    named = re.findall(r"`([\w./]+\.(?:py|hpp|cpp|md|sh|toml))`", page.read_text(encoding="utf-8"))
    lost = {n for n in named if not any(f"/{file}".endswith(f"/{n}") for file in known)}
    assert not lost


def _own_pages() -> list[Path]:
    """Return all documentation pages and docstrings except those on earlier versions."""
    pages = [*ROOT.glob("*.md"), *ROOT.glob("[dew]*/**/*.md"), *ROOT.glob("itk_consensus/**/*.py")]
    built = {"_build", "examples"}
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
            and not path.startswith(("docs/_build", "examples/index"))
        ]
    assert not lost
