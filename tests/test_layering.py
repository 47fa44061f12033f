"""Imports point only downward, and each library has one room that knows it."""

from __future__ import annotations

import ast
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import itk_consensus

PACKAGE = Path(itk_consensus.__file__).resolve().parent
MODULES = sorted(path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py"))

#: Each room and how high it lies; a room may look into rooms that are not above it.
FLOORS = {
    "array_types": 0,
    "constraints": 0,
    "errors": 0,
    "blas_threads": 0,
    "work": 0,
    "escaping": 0,
    "display": 0,
    "_kernels": 0,
    "votes": 1,
    "neighbourhood": 1,
    "images": 1,
    "simulation": 1,
    "agreement": 2,
    "fusion": 2,
    "calibration": 2,
    "chunked": 2,
    "deep": 2,
    "diagnostics": 3,
    "filters": 4,
    "samples": 4,
    "report": 5,
    "review": 5,
    "pipeline": 6,
    "cli": 7,
}

#: Where each library may be imported; the command line asks images/ and filters/ instead.
HOMES = {
    "SimpleITK": {"images", "pipeline/itk_pipeline.py"},
    "itk": {"images", "pipeline/itk_pipeline.py"},
    "torch": {"deep"},
    "safetensors": {"deep"},
    "matplotlib": {"report"},
    "dask": {"chunked", "pipeline"},
    "distributed": {"pipeline"},
    "numcodecs": {"chunked"},
    "zarr": {"pipeline"},
    "pydicom": {"images"},
    "highdicom": {"images"},
    "openpyxl": {"pipeline"},
    "tqdm": {"report"},
    **{name: {"review"} for name in ("trame", "trame_slicer", "slicer", "vtkmodules", "aiohttp")},
    "monai": set(),  # tensors and transforms of its kind are met without it
}


def room_of(path: Path) -> str:
    """The folder a module lies in, or its own name."""
    return path.parts[0].removesuffix(".py")


def imported(path: Path) -> Iterator[str]:
    """Every module that a file imports, wherever in the file, by statement or import_module."""
    for node in ast.walk(ast.parse((PACKAGE / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} has a relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and node.args:
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            argument = node.args[0]
            if name in ("import_module", "__import__") and isinstance(argument, ast.Constant):
                yield str(argument.value)


def own_imports(path: Path) -> Iterator[str]:
    """The rooms of the package that a file looks into."""
    for module in imported(path):
        top, _, rest = module.partition(".")
        if top == "itk_consensus" and rest and rest != "__version__":
            yield room_of(Path(rest.split(".")[0]))


def test_every_room_has_its_floor() -> None:
    rooms = {room_of(path) for path in MODULES} - {"__init__"}
    assert rooms <= set(FLOORS)


@pytest.mark.parametrize("path", [p for p in MODULES if str(p) != "__init__.py"], ids=str)
def test_imports_point_only_downward(path: Path) -> None:
    above = {room for room in own_imports(path) if FLOORS.get(room, 99) > FLOORS[room_of(path)]}
    assert not above, f"{path} imports {above}"


@pytest.mark.parametrize(
    "room",
    [
        "votes",
        "neighbourhood",
        "fusion",
        "diagnostics",
        "agreement",
        "calibration",
        "deep",
        "simulation",
    ],
)
def test_rooms_of_arrays_know_no_images(room: str) -> None:
    for path in MODULES:
        if room_of(path) == room:
            assert "images" not in own_imports(path), f"{path} imports images"


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_each_library_is_imported_only_in_its_own_room(path: Path) -> None:
    for module in imported(path):
        homes = HOMES.get(module.split(".")[0])
        if homes is not None:
            assert path.parts[0] in homes or path.as_posix() in homes, f"{path} imports {module}"


def test_only_the_application_knows_the_screen() -> None:
    for path in MODULES:
        libraries = {module.split(".")[0] for module in imported(path)}
        if libraries & {"trame", "trame_slicer", "slicer", "vtkmodules", "aiohttp"}:
            assert path.as_posix().startswith("review/application/"), path


def dotted(path: Path) -> str:
    """A module's name below the package; that of a folder is its __init__."""
    return ".".join(path.with_suffix("").parts).removesuffix("__init__").strip(".")


def modules_needed(path: Path) -> Iterator[str]:
    """The package's modules that a file needs when it is loaded or run, by their dotted names."""
    known = {dotted(other) for other in MODULES} - {""}
    tree = ast.parse((PACKAGE / path).read_text(encoding="utf-8"))
    only_typed = {
        id(node)
        for test in ast.walk(tree)
        if isinstance(test, ast.If) and getattr(test.test, "id", "") == "TYPE_CHECKING"
        for node in ast.walk(test)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and id(node) not in only_typed:
            home = str(node.module).removeprefix("itk_consensus").strip(".")
            for alias in node.names:
                yield from {home, f"{home}.{alias.name}".strip(".")} & known


def test_modules_need_each_other_in_no_circle() -> None:
    # The package itself loads what is asked for by name, and nothing before.
    needs = {dotted(path): set(modules_needed(path)) for path in MODULES if dotted(path)}
    assert sum(map(len, needs.values())) > len(MODULES), "imports are not seen"
    while True:
        free = {name for name, others in needs.items() if not others & needs.keys()}
        if not free:
            break
        needs = {name: others for name, others in needs.items() if name not in free}
    assert not needs, f"a circle of imports is among {sorted(needs)}"


def test_only_votes_and_neighbourhoods_call_the_kernels() -> None:
    callers = {room_of(path) for path in MODULES if "_kernels" in own_imports(path)}
    assert callers == {"votes", "neighbourhood"}


def test_the_package_itself_imports_nothing_of_its_own_when_loaded() -> None:
    tree = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    names = {
        alias.name if isinstance(node, ast.Import) else node.module
        for node in tree.body
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
    }
    assert names <= {"__future__", "collections.abc", "functools", "importlib", "typing"}


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_no_file_knows_the_machine_it_was_written_on(path: Path) -> None:
    text = (PACKAGE / path).read_text(encoding="utf-8")
    for place in (str(PACKAGE), str(PACKAGE.parent), str(Path.home()), tempfile.gettempdir()):
        assert len(place) < 3 or place not in text


def test_nothing_is_printed_below_the_command_line() -> None:
    """The one exception is the filter that prints itself in debug mode, as ITK does."""
    for path in MODULES:
        if FLOORS.get(room_of(path), 0) > 4 or path.as_posix() == "filters/process_object.py":
            continue
        for node in ast.walk(ast.parse((PACKAGE / path).read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "print":
                raise AssertionError(f"{path} prints")
