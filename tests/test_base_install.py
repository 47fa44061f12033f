"""Without the libraries of extras, every module that does not need them can be imported.

`make installs` tests real installs of the wheel; here the libraries of the extras are hidden.
"""

from __future__ import annotations

from typing import Any

from install_promises import EXTRAS
from snippets import ROOT
from test_layering import HOMES, MODULES, dotted

from itk_consensus.cli.application import COMMANDS

#: Libraries missing from a base install: those assigned to a room, and those that no room may
#: import.
BASE = {"SimpleITK"}
HIDDEN = sorted({*HOMES, *(extra.library for extra in EXTRAS.values()), "pandas"} - BASE)

#: Code that makes those libraries unavailable in a process.
HIDING = f"""
import sys
from importlib.abc import MetaPathFinder

class Hidden(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {HIDDEN!r}:
            raise ModuleNotFoundError(f"No module named '{{name}}'", name=name)

sys.meta_path.insert(0, Hidden())
"""

#: Modules that cannot be loaded without an extra, since they belong to it.
NEED_AN_EXTRA = {
    "chunked.graph",
    "chunked.packed_array",
    "deep.held_out",
    "deep.inference",
    "deep.model",
    "deep.network",
    "deep.objective",
    "deep.persistence",
    "deep.training",
    "deep.weights",
    "chunked.big_volumes",
    "pipeline.itk_pipeline",
    "chunked.run_record",
    "chunked.volumes",
}


def test_every_extra_is_tried() -> None:
    lines = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    section = lines.partition("[project.optional-dependencies]\n")[2].partition("\n[")[0]
    names = {line.partition(" =")[0] for line in section.splitlines() if line[:1].isalpha()}
    assert names - {"test", "test-review", "dist", "docs", "all"} == EXTRAS.keys()


def test_every_module_that_is_no_extras_room_loads_in_a_base_install(run_python: Any) -> None:
    names = [dotted(path) for path in MODULES if not path.as_posix().startswith("review/appl")]
    script = f"""{HIDING}
from importlib import import_module
failed = set()
for name in {names!r}:
    try:
        import_module(f"itk_consensus.{{name}}".strip("."))
    except ModuleNotFoundError:
        failed.add(name)
print(*sorted(failed))
"""
    done = run_python(script)
    assert not done.returncode, done.stderr
    assert set(done.stdout.split()) == NEED_AN_EXTRA


def test_in_a_base_install_every_command_explains_itself_and_batch_fuses(
    run_python: Any, tmp_path: Any
) -> None:
    script = f"""{HIDING}
import os
import numpy as np, SimpleITK as sitk
from itk_consensus.cli import main
from itk_consensus.cli.bids_app import main as bids
os.chdir({str(tmp_path)!r})
for command in {list(COMMANDS)!r}:
    assert main([command, "--help"]) == 0, command
for case in ("one", "two"):
    for rater in range(3):
        os.makedirs(f"study/{{case}}", exist_ok=True)
        mask = np.zeros((3, 12, 12), np.uint8)
        mask[:, 3:9, 3 : 9 + rater % 2] = 1
        sitk.WriteImage(sitk.GetImageFromArray(mask), f"study/{{case}}/{{rater}}.nii.gz")
assert main(["batch", "study/{{case}}/{{rater}}.nii.gz", "-o", "out", "-q"]) == 0
assert os.path.getsize("out/index.html") and os.path.getsize("out/one/consensus.nii.gz")
try:
    bids(["--help"])
except SystemExit as leaving:
    assert not leaving.code
from itk_consensus import MissingDependencyError
try:
    from itk_consensus.pipeline import STAPLEImageFilter
except MissingDependencyError as error:
    assert "pip install 'itk-consensus[itk]'" in str(error)
else:
    raise AssertionError("itk is not hidden")
"""
    done = run_python(script)
    assert not done.returncode, done.stderr
