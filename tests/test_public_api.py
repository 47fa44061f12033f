from __future__ import annotations

import pickle
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import itk_consensus
from itk_consensus.core import errors
from itk_consensus.core.errors import (
    ConsensusError,
    ConsensusWarning,
    FileError,
    InputError,
    ParameterError,
)
from itk_consensus.methods.procedural import function_name
from itk_consensus.methods.registry import FUSER_METHODS, FUSER_MODULES, FUSERS, METHODS

Run = Callable[[str], "subprocess.CompletedProcess[str]"]

HEAVY = ["torch", "itk", "dask", "zarr", "matplotlib", "scipy", "SimpleITK", "numpy"]


def loaded_after(run_python: Run, statements: str) -> set[str]:
    script = f"{statements}\nimport sys\nprint(*(m for m in {HEAVY} if m in sys.modules))"
    answer = run_python(script)
    assert answer.returncode == 0, answer.stderr
    return set(answer.stdout.split())


def test_importing_the_package_loads_no_library(run_python: Run) -> None:
    assert loaded_after(run_python, "import itk_consensus") == set()


def test_fusing_arrays_loads_only_what_it_needs(run_python: Run) -> None:
    statements = (
        "import numpy, itk_consensus\n"
        "itk_consensus.STAPLE([numpy.eye(3, dtype='u1'), numpy.eye(3, dtype='u1')])"
    )
    assert loaded_after(run_python, statements) <= {"numpy", "scipy", "SimpleITK"}


def test_a_first_staple_does_not_wait_for_parts_of_scipy_it_does_not_use(run_python: Run) -> None:
    statements = (
        "import sys, numpy, itk_consensus\n"
        "itk_consensus.STAPLE([numpy.eye(3, dtype='u1'), numpy.eye(3, dtype='u1')])\n"
        "print({'scipy.ndimage', 'scipy.special', 'scipy.stats'} & set(sys.modules))"
    )
    assert run_python(statements).stdout.strip() == "set()"


def test_looking_at_the_names_loads_no_optional_library(run_python: Run) -> None:
    loaded = loaded_after(run_python, "import itk_consensus; dir(itk_consensus)")
    assert loaded <= {"numpy", "scipy", "SimpleITK"}


def test_public_names_are_the_errors_the_bases_and_what_the_registry_lists() -> None:
    error_names = {
        name
        for name, member in vars(errors).items()
        if isinstance(member, type) and issubclass(member, (ConsensusError, ConsensusWarning))
    }
    expected = {"__version__", "ProcessObject", "LabelFusionFilter"} | error_names
    for fuser in FUSERS:
        expected |= {fuser.__name__, function_name(fuser)}
    assert expected <= set(dir(itk_consensus))
    for name in dir(itk_consensus):
        assert getattr(itk_consensus, name) is not None


def test_simpleitks_names_are_here() -> None:
    for name in ("STAPLE", "MultiLabelSTAPLE", "LabelVoting"):
        assert callable(getattr(itk_consensus, name))
        assert f"{name}ImageFilter" in dir(itk_consensus)
    assert callable(itk_consensus.staple_image_filter)
    assert callable(itk_consensus.multi_label_staple_image_filter)
    assert callable(itk_consensus.label_voting_image_filter)
    assert callable(itk_consensus.MajorityVote)
    assert callable(itk_consensus.majority_vote_filter)


def test_importing_everything_gives_the_public_names_and_no_others(run_python: Run) -> None:
    answer = run_python(
        """
        names = {}
        exec("from itk_consensus import *", names)
        print(*(name for name in names if not name.startswith("__")))
        """
    )
    assert answer.returncode == 0, answer.stderr
    assert set(answer.stdout.split()) == set(dir(itk_consensus)) - {"__version__"}


def test_names_are_the_same_objects_each_time() -> None:
    for name in dir(itk_consensus):
        assert getattr(itk_consensus, name) is getattr(itk_consensus, name)


@pytest.mark.parametrize("name", ["Staple", "staple", "nonsense", "_private", "__wrapped__"])
def test_unknown_names_are_attribute_errors(name: str) -> None:
    with pytest.raises(AttributeError, match=f"itk_consensus.*{name}"):
        getattr(itk_consensus, name)


def test_every_fuser_has_a_method_name_for_the_command_line() -> None:
    assert list(METHODS.values()) == list(FUSERS)
    assert all(name and name == name.lower() for name in METHODS)


def test_every_error_is_also_one_that_simpleitk_or_numpy_users_catch() -> None:
    for name in dir(itk_consensus):
        member = getattr(itk_consensus, name)
        if isinstance(member, type) and issubclass(member, errors.ConsensusError):
            usual = (ValueError, RuntimeError)
            assert member is errors.ConsensusError or issubclass(member, usual)


def test_the_citation_names_this_version() -> None:
    citation = Path(__file__).resolve().parents[1] / "CITATION.cff"
    (version,) = re.findall(r"^version: (.+)$", citation.read_text(encoding="utf-8"), re.MULTILINE)
    assert itk_consensus.__version__ == version


def test_errors_carry_what_they_are_about_and_are_respelled_without_their_text() -> None:
    error = ParameterError(
        "must be fixed when {Prior} is given, got {Prior}/x",
        owner="SpatialSTAPLEFilter",
        parameter="PriorMode",
        mentions=("Prior",),
    )
    assert str(error) == (
        "SpatialSTAPLEFilter: PriorMode must be fixed when Prior is given, got Prior/x"
    )
    told = error.respelled("spatial-staple", lambda name: f"--{name.lower()}")
    assert type(told) is ParameterError
    assert str(told).startswith("spatial-staple: --priormode must be fixed when --prior is given")
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.parameter) == (str(error), "PriorMode")


def test_an_error_about_a_file_or_an_input_says_which() -> None:
    damaged = FileError("is cut short", path=Path("draft.nii"))
    assert str(damaged.about(path=Path("a.nii"))) == "a.nii: is cut short"
    assert str(InputError("has no voxels", owner="f", input_index=2)) == "f: input 2 has no voxels"
    rater_mask = InputError("is empty", owner="f", parameter="RaterMasks", input_index=2)
    assert str(rater_mask) == "f: RaterMasks[2] is empty"


def test_methods_are_listed_by_the_names_that_fusers_have() -> None:
    assert {one.method: one.__name__ for one in FUSERS} == FUSER_METHODS
    assert list(FUSER_METHODS.values()) == list(FUSER_MODULES)


@pytest.mark.parametrize("name", ["report", "review"])
def test_a_room_called_like_its_function_is_the_same_whatever_was_imported_first(
    name: str, run_python: Callable[[str], subprocess.CompletedProcess[str]]
) -> None:
    module = {"report": "report.page", "review": "review.opening"}[name]
    asks, imports = f"found = ic.{name}", f"import itk_consensus.{module}"
    for first, second in ((asks, imports), (imports, asks)):
        script = f"""
            import inspect, types
            import itk_consensus as ic
            {first}
            {second}
            assert found is ic.{name} and isinstance(found, types.ModuleType)
            function = inspect.unwrap(found)
            assert function.__name__ == "{name}" and function.__module__ == "itk_consensus.{module}"
            assert inspect.signature(found) == inspect.signature(function)
            """
        done = run_python(script)
        assert done.returncode == 0, done.stderr
