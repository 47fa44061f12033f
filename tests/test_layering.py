"""Imports point only downward, and each library is imported in one room only."""

from __future__ import annotations

import ast
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import itk_consensus

PACKAGE = Path(itk_consensus.__file__).resolve().parent
MODULES = sorted(path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py"))

#: Level of each room; a room may import rooms that are not at a higher level.
FLOORS = {
    "_kernels": 0,
    "core": 0,
    "space": 1,
    "storage": 1,
    "simulation": 1,
    "images": 2,
    "votes": 2,
    "fusing": 3,
    "methods": 4,
    "calibration": 5,
    "samples": 5,
    "assessment": 6,
    "chunked": 6,
    "deep": 7,
    "review": 8,
    "report": 9,
    "batch": 10,
    "pipeline": 10,
    "cli": 11,
}

#: Late imports from a higher level, with their reasons.
LATE = {
    # Defaults set on SimpleITK's ProcessObject also apply here.
    ("core/global_defaults.py", "images"),
    # GetDiagnostics() is a getter, although the assessment of results is built on the fusers.
    ("fusing/label_fusion.py", "assessment"),
    # The same applies to the fusion of dask arrays.
    ("fusing/label_fusion.py", "chunked"),
}

#: Rooms in which each library may be imported; the command line uses images/ and filters/ instead.
HOMES = {
    "SimpleITK": {"images", "pipeline/itk_pipeline.py"},
    "itk": {"images", "pipeline/itk_pipeline.py"},
    "torch": {"deep"},
    "safetensors": {"deep"},
    "matplotlib": {"report"},
    "dask": {"chunked", "batch"},
    "distributed": {"batch"},
    "numcodecs": {"chunked"},
    "zarr": {"chunked"},
    "pydicom": {"images"},
    "highdicom": {"images"},
    "openpyxl": {"batch"},
    "tqdm": {"report"},
    **{name: {"review"} for name in ("trame", "trame_slicer", "slicer", "vtkmodules", "aiohttp")},
    "monai": set(),  # its tensors and transforms are supported without importing it
}


def room_of(path: Path) -> str:
    """Return the folder that contains a module, or the module's own name."""
    return path.parts[0].removesuffix(".py")


def imported(path: Path) -> Iterator[str]:
    """Yield every module that a file imports, anywhere in it, by statement or import_module."""
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
    """Return the rooms that a file imports."""
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
    above -= {room for where, room in LATE if where == path.as_posix()}
    assert not above, f"{path} imports {above}"


def test_no_two_rooms_import_each_other() -> None:
    looks: dict[str, set[str]] = {}
    for path in MODULES:
        late = {room for where, room in LATE if where == path.as_posix()}
        looks.setdefault(room_of(path), set()).update(set(own_imports(path)) - late)
    mutual = {
        tuple(sorted((one, other)))
        for one, others in looks.items()
        for other in others - {one}
        if one in looks.get(other, ())
    }
    assert not mutual


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_no_module_touches_the_private_members_of_a_filter(path: Path) -> None:
    """Other modules use only the public members of a filter."""
    if room_of(path) in ("core", "fusing"):
        return
    private = {
        "_execute", "_fuse", "_load", "_run", "_runs", "_latest", "_result", "_values",
        "_running", "_making_output", "_check_parameters", "_label_values",
    }  # fmt: skip
    for node in ast.walk(ast.parse((PACKAGE / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute) and node.attr in private:
            owner = node.value
            is_super = isinstance(owner, ast.Call) and getattr(owner.func, "id", "") == "super"
            own = getattr(owner, "id", "") in ("self", "cls") or is_super
            assert own, f"{path}:{node.lineno} touches {ast.unparse(node)}"


@pytest.mark.parametrize(
    "room",
    [
        "core",
        "space",
        "votes",
        "simulation",
    ],
)
def test_rooms_of_arrays_know_no_images(room: str) -> None:
    late = {where for where, above in LATE if above == "images"}
    for path in MODULES:
        if room_of(path) == room and path.as_posix() not in late:
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
    """Return a module's name below the package; a folder's module is its __init__."""
    return ".".join(path.with_suffix("").parts).removesuffix("__init__").strip(".")


def modules_needed(path: Path) -> Iterator[str]:
    """Return the package's modules that a file needs when loaded or run, by their dotted names."""
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
    # The package itself loads members when they are accessed, and none earlier.
    needs = {
        dotted(path): {
            name
            for name in modules_needed(path)
            if (path.as_posix(), name.partition(".")[0]) not in LATE
        }
        for path in MODULES
        if dotted(path)
    }
    assert sum(map(len, needs.values())) > len(MODULES), "imports are not seen"
    while True:
        free = {name for name, others in needs.items() if not others & needs.keys()}
        if not free:
            break
        needs = {name: others for name, others in needs.items() if name not in free}
    assert not needs, f"a circle of imports is among {sorted(needs)}"


def test_only_votes_and_space_call_the_kernels() -> None:
    callers = {room_of(path) for path in MODULES if "_kernels" in own_imports(path)}
    assert callers == {"votes", "space"}


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
    """The only exception is the filter that prints itself in debug mode, as in ITK."""
    for path in MODULES:
        if FLOORS.get(room_of(path), 0) > 7 or path.as_posix() == "core/process_object.py":
            continue
        for node in ast.walk(ast.parse((PACKAGE / path).read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "print":
                raise AssertionError(f"{path} prints")
