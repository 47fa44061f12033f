"""Random batches and runs to zarr stores, interrupted and damaged in between."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import SimpleITK as sitk
from fuzz_cases import draw_case

from itk_consensus.batch import batch as batch_module
from itk_consensus.batch.cases import find_cases
from itk_consensus.batch.one_case import run_case
from itk_consensus.batch.plan import Plan
from itk_consensus.cli import main
from itk_consensus.core.errors import ConsensusError
from itk_consensus.methods.registry import METHODS

#: Names of cases and raters that have caused errors.
NAMES = ("a", "b", "+1+1", "@SUM(1)", "a b", "<b>", "a;b", "ü", "..", "x" * 80, "\x1b[2J")
METHODS_OF_BATCHES = ("vote", "staple", "multilabel-staple", "smoothed-vote")
METHODS_OF_VOLUMES = (
    *("vote", "label-voting", "multilabel-staple", "corrected-vote"),
    *("coherence-vote", "consensus", "shape-average"),
)
#: Possible damage to a file between two runs.
DAMAGES = ("gone", "cut", "empty", "turned", "another", "folder", "pipe")


#: Content of a user's own file that replaces a result.
_MINE = b"hours of work"


class Stopped(BaseException):
    """Simulates a kill of the run."""


def check_batch(rng: np.random.Generator, folder: Path) -> str:
    """Run a batch several times, with damage in between; check that completed rows are correct.

    Raises
    ------
    AssertionError
        A consensus differs from the result of its plan, or an input was changed.
    """
    names = _write_cohort(rng, folder / "in")
    pattern = f"{folder}/in/{{case}}/{{rater}}.nrrd"
    if rng.random() < 0.3:
        pattern = _named_alike(folder / "in")
    before = _contents(folder / "in")
    outcome, mine = "refused", list[Path]()
    for _ in range(3):
        method = str(rng.choice(METHODS_OF_BATCHES))
        words = ["batch", pattern, "-o", str(folder / "out"), "--method", method]
        words += ["--reports"] if rng.random() < 0.2 else []
        words += ["--overwrite"] if rng.random() < 0.5 else []
        stop = int(rng.integers(1, 12)) if rng.random() < 0.5 else 0
        code, said = _stopped_main(words, stop)
        assert _contents(folder / "in") == before, "an input is not what it was"
        assert code in (0, 1, 2, None), f"exit code {code}"
        assert "unexpected" not in said, said
        if "--overwrite" not in words:
            kept = [path for path in mine if path.read_bytes() == _MINE]
            assert kept == mine, "what somebody made was replaced"
        assert "\x1b" not in said, "an escape sequence reaches the terminal"
        if code == 0:
            _check_answers(folder, pattern, method, names)
            outcome = "answered"
        _damage_some(rng, folder / "out")
        mine = _edit_some(rng, folder / "out") if rng.random() < 0.5 else []
    return outcome


def check_volumes(rng: np.random.Generator, folder: Path) -> str:
    """Interrupt a run to a store, damage its output or input, and complete this run or another
    one.
    """
    import dask

    from itk_consensus.chunked.big_volumes import fuse_volumes

    shape = tuple(int(n) for n in rng.integers(3, 12, 3))
    chunks = tuple(int(n) for n in rng.integers(2, 6, 3))
    arrays = [rng.integers(0, 3, shape).astype("u1") for _ in range(int(rng.integers(2, 5)))]
    paths = [_store(folder / f"{i}.zarr", array, chunks) for i, array in enumerate(arrays)]
    output = folder / "out.zarr"
    for number in range(3):
        is_last = number == 2
        order = rng.permutation(len(paths))
        with_mask = len(order) > 2 and rng.random() < 0.5
        raters, mask = (order[:-1], order[-1]) if with_mask else (order, None)
        method = str(rng.choice(METHODS_OF_VOLUMES))
        filter_ = METHODS[method]()
        share = 1.1 if is_last else float(rng.uniform(0, 1))

        def stop(done: float, doing: str, share: float = share) -> None:
            if done > share:
                raise Stopped

        try:
            with dask.config.set(scheduler="synchronous"):
                fuse_volumes(
                    [paths[i] for i in raters],
                    output,
                    filter_,
                    mask=None if mask is None else paths[mask],
                    block=chunks,
                    overwrite=True,
                    report=stop,
                )
        except Stopped:
            _damage_some(rng, folder / "out.zarr.partial", DAMAGES[:4])
            if rng.random() < 0.3:
                changed = int(rng.integers(len(paths)))
                arrays[changed] = np.roll(arrays[changed], 1, 0)
                _store(paths[changed], arrays[changed], chunks[::-1])
            continue
        except ConsensusError:  # e.g. no voxel is inside the mask
            return "refused"
        images = [arrays[i] for i in raters]
        wanted = METHODS[method](**({} if mask is None else {"MaskImage": arrays[mask]}))
        wanted.Execute(images)
        import zarr

        found = zarr.open_array(str(output), mode="r")[:]
        assert np.array_equal(found, wanted.GetLabelImage()), "the store is not what memory gives"
    return "answered"


def _write_cohort(rng: np.random.Generator, folder: Path) -> list[str]:
    chosen = rng.permutation(len(NAMES))[: int(rng.integers(1, 4))]
    names = [NAMES[i] for i in chosen if NAMES[i] != ".."] or ["a"]
    for name in names:
        place = folder / name
        place.mkdir(parents=True)
        arrays = [a for a in draw_case(rng).raters if a is not None and a.dtype.kind in "ui"]
        shape = arrays[0].shape if arrays else (4, 5)
        for number in range(int(rng.integers(1, 4))):
            image = sitk.GetImageFromArray(rng.integers(0, 3, shape).astype(np.uint8))
            sitk.WriteImage(image, str(place / f"r{number}.nrrd"))
    return names


def _stopped_main(words: list[str], stop: int) -> tuple[int | None, str]:
    """Return the exit code (None if the run was stopped at a move of a file) and the printed
    text.
    """
    said = io.StringIO()
    replace, moves = os.replace, 0

    def moving(source: Any, target: Any) -> None:
        nonlocal moves
        moves += 1
        if moves == stop:
            raise Stopped
        replace(source, target)

    def in_this_process(cases: Any, work: Any, **_: Any) -> Iterator[Any]:
        yield from map(work, cases)

    kept = batch_module.results_of
    batch_module.results_of, os.replace = in_this_process, moving  # type: ignore[assignment]
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            return main(words), said.getvalue()
    except Stopped:
        return None, said.getvalue()
    finally:
        batch_module.results_of, os.replace = kept, replace


def _check_answers(folder: Path, pattern: str, method: str, names: list[str]) -> None:
    cases = {case.name: case for case in find_cases(pattern)}
    assert set(names) == set(cases)
    files = list((folder / "in").rglob("*.nrrd"))
    assert sum(len({*case.rater_names}) for case in cases.values()) == len(files), "raters are lost"
    for case in cases.values():
        clean = Plan(method, folder / "clean")
        wanted = folder / "clean" / run_case(case, clean).consensus
        found = folder / "out" / case.folder / "consensus.nii.gz"
        images = [sitk.GetArrayFromImage(sitk.ReadImage(str(path))) for path in (found, wanted)]
        assert np.array_equal(*images), f"{case.name} is not what {method} gives"
    shutil.rmtree(folder / "clean")


def _named_alike(folder: Path) -> str:
    """Give each rater a folder, and all files the same name; return a pattern that matches them."""
    for path in list(folder.glob("*/*.nrrd")):
        path.with_suffix("").mkdir()
        path.rename(path.with_suffix("") / "seg.nrrd")
    return f"{folder}/{{case}}/*/{{rater}}.nrrd"


def _edit_some(rng: np.random.Generator, folder: Path) -> list[Path]:
    """Replace results with user-edited files, whose record is then damaged or lost."""
    edited = []
    for record in sorted(folder.glob("*/case.json")):
        result = record.with_name("consensus.nii.gz")
        if not record.is_file() or not result.is_file():
            continue
        result.write_bytes(_MINE)
        content = record.read_bytes()
        record.write_bytes(content[: int(rng.integers(len(content) + 1)) // 2])
        edited.append(result)
    return edited


def _damage_some(
    rng: np.random.Generator, folder: Path, damages: tuple[str, ...] = DAMAGES
) -> None:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    for path in [files[i] for i in rng.permutation(len(files))[: int(rng.integers(0, 3))]]:
        how = str(rng.choice(damages))
        content = path.read_bytes()
        path.unlink()
        if how == "folder":
            path.mkdir()
        elif how == "pipe" and hasattr(os, "mkfifo"):
            os.mkfifo(path)
        elif how != "gone":
            half = content[: len(content) // 2]
            left = {"cut": half, "empty": b"", "turned": content[::-1], "another": b"{}"}
            path.write_bytes(left.get(how, half))


def _store(path: Path, array: Any, chunks: tuple[int, ...]) -> Path:
    import zarr

    store = zarr.create_array(
        str(path), shape=array.shape, chunks=chunks, dtype=array.dtype, overwrite=True
    )
    store[:] = array
    return path


def _contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
