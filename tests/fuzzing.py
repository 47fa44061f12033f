"""Run many random cases: fusers, command lines, damaged records and models, interrupted runs.

The fast suite runs a few; ``python -m tests.fuzzing --cases 5000 --seed 1`` runs the given number,
and ``--seed 1 --only 17`` only case 17 of seed 1.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import io
import os
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import SimpleITK as sitk

sys.path.append(str(Path(__file__).parent))  # pytest does the same for test files
sys.path.append(str(Path(__file__).parent / "filters"))
sys.path.append(str(Path(__file__).parent / "images"))

from contract import make
from damaged_files import check_damage
from fuzz_cases import Case, check_case, draw_case
from fuzz_entries import CHECKS
from fuzz_references import check_references
from fuzz_series import check_series
from fuzz_stores import check_batch, check_volumes

from itk_consensus.cli import main
from itk_consensus.core.errors import ConsensusWarning
from itk_consensus.core.parameters import parameters_of
from itk_consensus.methods.registry import METHODS

ONE_LARGE_IN = 250
SECONDS_PER_VOXEL = 60 / 1e6
SECONDS_TO_BEGIN = 2.0
SUFFIXES = (".nii", ".nii.gz", ".nrrd", ".mha", ".mhd", ".vtk", ".hdr", ".tif")
#: Possible outputs other than a new file.
ODD_PLACES = ("in0", "folder", "pipe", "link", "missing/deep/out")


@dataclass
class Tally:
    """Counts of outcomes, and lists of failed and of slow cases."""

    outcomes: collections.Counter[str] = field(default_factory=collections.Counter)
    failures: list[str] = field(default_factory=list)
    slow: list[str] = field(default_factory=list)


def run_cases(seed: int, numbers: range | list[int]) -> Tally:
    """Run the API cases with these numbers."""
    tally = Tally()
    for number in numbers:
        rng = np.random.default_rng([seed, number])
        case = draw_case(rng, large=number % ONE_LARGE_IN == ONE_LARGE_IN - 1)
        voxels = next(array.size for array in case.raters if array is not None)
        began = time.process_time()
        _attempt(
            tally, f"--seed {seed} --only {number}: {case}", lambda c=case, r=rng: check_case(c, r)
        )
        seconds = time.process_time() - began
        # A case is run up to seven times, to compare threads and orders.
        if seconds > 7 * (SECONDS_TO_BEGIN + SECONDS_PER_VOXEL * voxels):
            tally.slow.append(f"--seed {seed} --only {number}: {seconds:.1f} s: {case}")
    return tally


def run_command_lines(seed: int, numbers: range) -> Tally:
    """Run commands on files of random cases, some of them truncated, with unusual output paths."""
    tally = Tally()
    for number in numbers:
        rng = np.random.default_rng([seed, number, 1])
        case = draw_case(rng)
        with tempfile.TemporaryDirectory() as folder:
            words = _command_line(case, rng, Path(folder))
            what = f"--seed {seed}, command {number}: {words}"
            _attempt(tally, what, lambda w=words, f=folder: _command(w, Path(f)))
    return tally


def _command_line(case: Case, rng: np.random.Generator, folder: Path) -> list[str]:
    suffix = str(rng.choice(SUFFIXES))
    files = _write_inputs(case, rng, folder, suffix)
    command = str(rng.choice(["fuse", "agreement", "report", "info"], p=[0.6, 0.15, 0.2, 0.05]))
    out = str(folder / (rng.choice(ODD_PLACES) if rng.random() < 0.15 else "out"))
    overwrite = ["--overwrite"] if rng.random() < 0.5 else []
    if command == "info":
        return ["info", *files]
    if command == "agreement":
        kind = str(rng.choice(["csv", "json"]))
        return ["agreement", *files, f"--{kind}", f"{out}.{kind}", *overwrite]
    method = case.fuser.method if case.fuser.method in METHODS else "vote"
    words = [command, *files, "--method", method, *overwrite]
    options = {p.name: p for p in parameters_of(METHODS[method]) if p.in_cli}
    for name, value in case.drawn.items():
        if name in options and not isinstance(value, np.ndarray):
            text = ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
            words.append(f"--{options[name].snake_case.replace('_', '-')}={text}")
    if command == "report":
        return [*words, "--output", f"{out}.html"]
    if rng.random() < 0.5:
        label = str(rng.choice([1, 1, 0, 99]))
        words += ["--probability", str(folder / "probability.nrrd"), "--label", label]
    words += ["--json", str(folder / "report.json")] if rng.random() < 0.5 else []
    return [*words, "--output", f"{out}{suffix}"]


def _write_inputs(case: Case, rng: np.random.Generator, folder: Path, suffix: str) -> list[str]:
    files = []
    for number, array in enumerate(array for array in case.raters if array is not None):
        path = folder / f"in{number}{suffix}"
        try:
            sitk.WriteImage(make(array, "SimpleITK", metadata=False), str(path), bool(number % 2))
        except RuntimeError:  # the format cannot store this voxel type or dimension
            path = folder / f"in{number}.nrrd"
            sitk.WriteImage(make(array, "SimpleITK", metadata=False), str(path))
        if rng.random() < 0.1:
            content = bytearray(path.read_bytes())
            path.write_bytes(content[: rng.integers(len(content))])
        files.append(str(path))
    for name in (suffix, ".csv", ".json", ".html"):
        (folder / f"folder{name}").mkdir()
        os.mkfifo(folder / f"pipe{name}")
        (folder / f"link{name}").symlink_to(files[0])
    return files


def _command(words: list[str], folder: Path) -> str:
    before = _contents(folder)
    said = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
        code = main(words)
    assert code in (0, 1, 2), f"exit code {code}"
    assert "unexpected" not in said.getvalue(), said.getvalue()
    assert code != 2 or said.getvalue().strip(), "failed without a word"
    after = _contents(folder)
    assert before == {name: after.get(name) for name in before}, "an input is not what it was"
    assert code != 2 or before == after, "failed, and left something behind"
    return "refused" if code == 2 else "answered"


def _contents(folder: Path) -> dict[str, bytes | None]:
    """Return the entries of a folder, with the bytes of regular files."""
    paths = sorted(folder.rglob("*"))
    return {str(path): path.read_bytes() if path.is_file() else None for path in paths}


def run_damage(seed: int, numbers: range) -> Tally:
    """Read damaged or forged records and models."""
    tally = Tally()
    for number in numbers:
        damage = 1000 * (seed % 1_000_000) + number
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", ConsensusWarning)
            _attempt(tally, f"check_damage({damage})", lambda d=damage: check_damage(d))
    return tally


def run_stores(seed: int, numbers: range) -> Tally:
    """Run batches, and runs that write to a store; interrupt them, and damage their files before
    they are resumed.
    """
    tally = Tally()
    for number in numbers:
        rng = np.random.default_rng([seed, number, 2])
        check = check_batch if number % 2 else check_volumes
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore", ConsensusWarning)
            what = f"--seed {seed}, store {number}"
            _attempt(tally, what, lambda c=check, r=rng, f=folder: c(r, Path(f)))
    return tally


def run_references(seed: int, numbers: range) -> Tally:
    """Calibrate on references of every kind, and read series with irregular slices."""
    tally = Tally()
    for number in numbers:
        rng = np.random.default_rng([seed, number, 3])
        check = check_references if number % 2 else check_series
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore", ConsensusWarning)
            what = f"--seed {seed}, reference {number}"
            _attempt(tally, what, lambda c=check, r=rng, f=folder: c(r, Path(f)))
    return tally


def run_entries(seed: int, numbers: range) -> Tally:
    """Test unusual inputs and outputs: images passed as raters, earlier results, and formats that
    lose information.
    """
    tally = Tally()
    for number in numbers:
        rng = np.random.default_rng([seed, number, 4])
        check = CHECKS[number % len(CHECKS)]
        with tempfile.TemporaryDirectory() as folder:
            what = f"--seed {seed}, entry {number}"
            _attempt(tally, what, lambda c=check, r=rng, f=folder: c(r, Path(f)))
    return tally


def _attempt(tally: Tally, what: str, action: Callable[[], str]) -> None:
    try:
        tally.outcomes[action()] += 1
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        reason = " ".join(str(error).split())[:200]
        where = f"{Path(place.filename).name}:{place.lineno}"
        tally.failures.append(f"{what}\n    {type(error).__name__} at {where}: {reason}")


def _main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=5000)
    parser.add_argument("--commands", type=int, default=500)
    parser.add_argument("--files", type=int, default=1000, help="damaged records and models")
    parser.add_argument("--stores", type=int, default=200, help="batches and runs to stores")
    parser.add_argument("--references", type=int, default=300, help="calibrations and series")
    parser.add_argument("--entries", type=int, default=400, help="what enters and leaves")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--only", type=int, help="one API case")
    arguments = parser.parse_args()
    seed = arguments.seed
    print(f"seed {seed}", flush=True)
    parts: dict[str, Callable[[], Tally]] = {
        "API": lambda: run_cases(seed, range(arguments.cases)),
        "command line": lambda: run_command_lines(seed, range(arguments.commands)),
        "records and models": lambda: run_damage(seed, range(arguments.files)),
        "entries": lambda: run_entries(seed, range(arguments.entries)),
        "batches and stores": lambda: run_stores(seed, range(arguments.stores)),
        "references and series": lambda: run_references(seed, range(arguments.references)),
    }
    if arguments.only is not None:
        parts = {"API": lambda: run_cases(seed, [arguments.only])}
    failed = False
    for name, run in parts.items():
        began = time.monotonic()
        tally = run()
        counts = f"{dict(tally.outcomes)}, {len(tally.failures)} failed, {len(tally.slow)} slow"
        print(f"{name}: {counts}, {time.monotonic() - began:.0f} s")
        print("\n".join(tally.failures + tally.slow), flush=True)
        failed |= bool(tally.failures or tally.slow)
    return int(failed)


if __name__ == "__main__":
    # Exit without interpreter shutdown, during which ITK's wrapped types may crash (also with torch
    # loaded).
    outcome = _main()
    sys.stdout.flush()
    os._exit(outcome)
