"""Test that an install works as documented: ``python tests/install_promises.py [EXTRA...]``.

It needs only the package with the given extras; `tests.installs` creates such environments. The
features of these extras must work; features of other extras must fail with the name of the missing
extra.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from snippets import EXTRA_OF_PAGE, PAGES_WITH_CODE, PREPARED, ROOT, Snippet, snippets_of

import itk_consensus
from itk_consensus.cli.application import COMMANDS


class Extra(NamedTuple):
    """An extra: one of its libraries, a command that uses it, and one that reports it missing."""

    library: str
    use: str
    asking: str | None = None


_RATERS = "demo-output/rater-*.nii.gz"
_TWO_CASES = """
for case in one two; do mkdir -p study/$case; cp demo-output/rater-*.nii.gz study/$case; done
itk-consensus batch "study/{case}/{rater}.nii.gz" -q """
#: Creates an empty file with the DICOM signature.
_EMPTY_DICOM = """{ head -c 128 /dev/zero; printf DICM; } > empty.dcm
itk-consensus agreement empty.dcm empty.dcm --per-structure"""
# Without job control (set -m), background processes in bash ignore interrupts.
_A_REVIEW = f"""set -m
itk-consensus review {_RATERS} -o decided.nii.gz --no-browser > said.txt &
until grep --quiet "^Review: http" said.txt; do kill -0 $!; sleep 1; done
kill -INT $!"""

EXTRAS = {
    "itk": Extra(
        "itk",
        """python -c '
from itk_consensus.pipeline import STAPLEImageFilter
import itk, itk_consensus as ic, SimpleITK as sitk
readers = [itk.image_from_array(sitk.GetArrayFromImage(one)) for one in ic.sample_case()]
STAPLEImageFilter.New(*readers).Update()
assert isinstance(ic.LabelVoting(readers), itk.ImageBase)'""",
    ),
    "plot": Extra(
        "matplotlib",
        """python -c '
import itk_consensus as ic
ic.draw_rater_number(ic.rater_number_curve(ic.sample_case()), "curve.png")'""",
    ),
    "deep": Extra(
        "safetensors",
        """python -c '
import itk_consensus as ic
cases = ic.sample_cohort(6, seed=1)
deep = ic.DeepConsensusFilter(NumberOfIterations=10, NumberOfThreads=1)
deep.Fit([case.image for case in cases], [case.raters for case in cases])
deep.Execute(cases[0].image, cases[0].raters)'""",
    ),
    # MONAI's tensors and transforms are supported without it, so no command requires it.
    "monai": Extra(
        "monai",
        """python -c '
import itk_consensus as ic, numpy as np
from monai.data import MetaTensor
from monai.transforms import Compose
maps = {key: MetaTensor(np.eye(4)[:, None, :, None], affine=np.eye(4)) for key in "abc"}
fused = Compose([ic.ConsensusEnsembled(list("abc"), output_key="fused")])(maps)["fused"]
assert isinstance(fused, MetaTensor)'""",
        asking="",
    ),
    "dask": Extra("dask", f"itk-consensus fuse {_RATERS} -o fused.zarr --method vote -q"),
    # The documentation page uses it.
    "dicom": Extra("highdicom", "", asking=_EMPTY_DICOM),
    "excel": Extra("openpyxl", _TWO_CASES + "-o workbook --excel"),
    "notebook": Extra(
        "pandas",
        """python -c '
import itk_consensus as ic
ic.agreement(ic.sample_case()).pairs().to_frame().describe()'""",
    ),
    "review": Extra("trame_slicer", _A_REVIEW, asking=f"itk-consensus review {_RATERS}"),
}

#: Features of every install, in a folder in which the demo was run.
_ALWAYS = {
    "the demo": "itk-consensus demo -q",
    "every command's help": "\n".join(
        [
            *(f"itk-consensus {command} --help > /dev/null" for command in COMMANDS),
            "itk-consensus-bids --help > /dev/null",
        ]
    ),
    "a batch of two cases": _TWO_CASES + "-o results --reports\ntest -s results/index.html",
}


def run(text: str) -> subprocess.CompletedProcess[str]:
    """Run a block in bash, with the commands of this environment only."""
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": programs}
    command = ["bash", "-euc", text]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


def require_success(name: str, text: str) -> None:
    """Run a block that must work."""
    done = run(text)
    if done.returncode:
        sys.exit(f"{name} does not work:\n{text}\n{done.stderr}")


def require_question(extra: str, text: str) -> None:
    """Run a block that needs a missing extra: a single line, or the last line of a traceback,
    must name it.
    """
    done = run(text)
    lines = done.stderr.strip().splitlines() or [""]
    if not done.returncode or f"pip install 'itk-consensus[{extra}]'" not in lines[-1]:
        sys.exit(f"{extra} is not asked for by:\n{text}\n{done.stderr}")
    if len(lines) > 1 and not text.startswith("python"):
        sys.exit(f"{extra} is asked for in more than one line by:\n{text}\n{done.stderr}")


def as_script(snippets: list[Snippet]) -> str:
    """Return the blocks of a page as one bash script; Python variables persist to the end of
    the page.
    """
    python = "import subprocess\n" + "\n".join(
        one.text
        if one.language == "python"
        else f"subprocess.run(['bash', '-euc', {one.text!r}], check=True)"
        for one in snippets
    )
    Path("page.py").write_text(python, encoding="utf-8")
    return "python page.py"


def main(present: list[str]) -> None:
    """Test all documented features of this install in a separate folder."""
    if Path(itk_consensus.__file__).is_relative_to(ROOT / "itk_consensus"):
        sys.exit(f"the package of {ROOT} is tried, not an installed one")
    os.chdir(tempfile.mkdtemp())
    for name, text in _ALWAYS.items():
        require_success(name, text)
    for name, extra in EXTRAS.items():
        if name in present:
            require_success(f"the extra {name}", extra.use)
        elif find_spec(extra.library) is None:
            asking = extra.use if extra.asking is None else extra.asking
            _ = asking and require_question(name, asking)
    pages = [page for page in PAGES_WITH_CODE if EXTRA_OF_PAGE.get(page.name) in (None, *present)]
    if present:
        # Pages that need no extra were tested in the base install; the introductory pages are
        # tested again.
        pages = [page for page in pages if page.name == "README.md" or page.name in EXTRA_OF_PAGE]
    for page in pages:
        os.chdir(tempfile.mkdtemp())
        PREPARED.get(page.name, lambda folder: None)(Path.cwd())
        require_success(page.name, as_script(snippets_of(page)))
    print(f"{' and '.join(present) or 'base'}: tried, with {', '.join(p.name for p in pages)}")


if __name__ == "__main__":
    main(sys.argv[1:])
