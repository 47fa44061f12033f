"""Kill commands at random file operations, and check the files that remain.

A step is any operation that changes a folder: opening a file for writing, moving or removing it,
creating or removing a folder. The command runs in a separate process, which kills itself right
before a step.
"""

from __future__ import annotations

import contextlib
import io
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import SimpleITK as sitk

from itk_consensus.cli import main
from itk_consensus.core.errors import FileError
from itk_consensus.images.files import read_image

_STEPS = {"os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.chmod"}
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT

_context: Any = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(
    [
        "itk_consensus.cli.application",
        "itk_consensus.cli.fuse",
        "itk_consensus.cli.batch",
        "itk_consensus.batch.one_case",
        "itk_consensus.chunked.big_volumes",
    ]
)


@dataclass(frozen=True)
class Command:
    """A command that writes an output, and a check of that output."""

    words: tuple[str, ...]
    #: Raises an AssertionError unless the output is the result of this command.
    check: Callable[[], None]


def run(command: Command) -> None:
    """Run a command to completion, and check its output."""
    _in_a_process(command.words)
    command.check()


def killed(command: Command, step: int) -> int:
    """Run a command that is killed at a step; return the number of its steps."""
    return _in_a_process(command.words, step)


def _in_a_process(words: Sequence[str], step: int = sys.maxsize) -> int:
    steps = _context.Value("i", 0)
    process = _context.Process(target=_run_until, args=(words, step, steps))
    process.start()
    process.join()
    assert process.exitcode == (0 if steps.value < step else -signal.SIGKILL), words
    return int(steps.value)


def check_kills(
    commands: Sequence[Command], after_kill: Callable[[], None], kills: int, seed: int
) -> None:
    """Kill each command in turn, then run another one and the same one, in either order.

    Parameters
    ----------
    commands : sequence of Command
        Commands that all write to one output.
    after_kill : callable
        Raises an AssertionError if files left by a kill could be mistaken for a result.
    """
    rng = np.random.default_rng(seed)
    steps = [killed(command, sys.maxsize) for command in commands]
    assert min(steps) > 3, "the steps are not seen"
    for number in range(kills):
        one, other = rng.permutation(len(commands))[:2]
        step = int(rng.integers(1, steps[one] + 1))
        killed(commands[one], step)
        try:
            after_kill()
            order = (one, other) if number % 2 else (other, one)
            for index in order:
                run(commands[index])
        except Exception as error:
            what = f"kill {number} of seed {seed}: {commands[one].words} at step {step}"
            raise AssertionError(what) from error


def _run_until(words: Sequence[str], step: int, steps: Any) -> None:
    """Run a command in this process, which is terminated at a step."""
    from itk_consensus.batch import batch

    def in_this_process(cases: Any, work: Any, **_: Any) -> Iterator[Any]:
        yield from map(work, cases)

    batch.results_of = in_this_process  # type: ignore[assignment]

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        is_writing = event == "open" and isinstance(arguments[2], int) and arguments[2] & _WRITING
        if event in _STEPS or is_writing:
            steps.value += 1
            if steps.value >= step:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(watch)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        code = main(list(words))
    sys.exit(code)


# -- three kinds of output -----------------------------------------------------------------------


def rater_stack(seed: int, shape: tuple[int, ...] = (6, 12, 14), raters: int = 3) -> list[Any]:
    """Return noisy boxes, which differ with the seed."""
    rng = np.random.default_rng(seed)
    truth = np.zeros(shape, np.uint8)
    truth[1:-1, 2 + seed % 3 : -3, 3:-2] = 1
    return [truth ^ (rng.random(shape) < 0.15) for _ in range(raters)]


def write_raters(folder: Path, seed: int, suffix: str = ".nii.gz", **more: Any) -> list[Path]:
    """Write the stack as files."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for number, array in enumerate(rater_stack(seed, **more)):
        paths.append(folder / f"r{number}{suffix}")
        image = sitk.GetImageFromArray(array)
        image.SetSpacing((1.0, 1.0 + seed % 5, 2.0))
        sitk.WriteImage(image, str(paths[-1]))
    return paths


def pair_commands(folder: Path, suffix: str) -> tuple[list[Command], Callable[[], None]]:
    """Return fusions of different raters, of two sizes, to one pair of header and voxel file."""
    output, answers = folder / f"out{suffix}", []
    for seed, shape in enumerate([(6, 12, 14), (6, 12, 14), (5, 11, 13)]):
        inputs = list(map(str, write_raters(folder / str(seed), seed, shape=shape)))
        clean = folder / f"clean{seed}.nrrd"
        words = ("fuse", *inputs, "--method", "vote", "--overwrite")
        _in_a_process([*words, "-o", str(clean)])
        answers.append(((*words, "-o", str(output)), read_image(clean)))

    def same(image: Any) -> bool:
        found = read_image(output)
        return (
            found.GetSize() == image.GetSize()
            and np.allclose(found.GetSpacing(), image.GetSpacing())
            and np.array_equal(sitk.GetArrayFromImage(found), sitk.GetArrayFromImage(image))
        )

    def checking(image: Any) -> Callable[[], None]:
        def check() -> None:
            assert same(image), "the pair is not what was written"

        return check

    def after_kill() -> None:
        with contextlib.suppress(FileError):  # it is acceptable that there is no image
            assert any(same(image) for _, image in answers), "header and voxels are mixed"

    return [Command(words, checking(image)) for words, image in answers], after_kill


def batch_commands(folder: Path) -> tuple[list[Command], Callable[[], None]]:
    """Return plans that write to one folder; one of them leaves pages."""
    names = ("a", "b")
    for seed, name in enumerate(names):
        write_raters(folder / "in" / name, seed)
    pattern = f"{folder}/in/{{case}}/{{rater}}.nii.gz"
    plans = {
        "few": ("--method", "vote", "--threshold", "0.2"),
        "many": ("--method", "vote", "--threshold", "0.9", "--reports"),
        "staple": ("--method", "staple"),
    }
    voxels: dict[str, dict[str, Any]] = {}
    for plan, words in plans.items():
        clean = folder / f"clean-{plan}"
        _in_a_process(["batch", pattern, "-o", str(clean), *words])
        voxels[plan] = {name: array_of(clean / name / "consensus.nii.gz") for name in names}
    output = folder / "out"

    def checking(plan: str) -> Callable[[], None]:
        def check() -> None:
            clean = folder / f"clean-{plan}"
            for name in names:
                found = array_of(output / name / "consensus.nii.gz")
                assert np.array_equal(found, voxels[plan][name]), f"{name} is not of {plan}"
                pages = [(place / name / "report.html").exists() for place in (clean, output)]
                assert pages[0] == pages[1], f"the page of {name} is not of {plan}"
            for name in ("summary.csv", "index.html"):
                assert (output / name).read_text("utf-8") == (clean / name).read_text("utf-8")

        return check

    def after_kill() -> None:
        """Check nothing: the only requirement for an unfinished run is that the next one
        detects it.
        """

    commands = [
        Command(("batch", pattern, "-o", str(output), *words), checking(plan))
        for plan, words in plans.items()
    ]
    return commands, after_kill


def store_commands(folder: Path) -> tuple[list[Command], Callable[[], None]]:
    """Return runs that differ in method, in raters, and in whether a store is a rater or the
    mask.
    """
    import zarr

    stores = [str(folder / f"{name}.zarr") for name in "abc"]
    for path, array in zip(stores, rater_stack(1), strict=True):
        store = zarr.create_array(path, shape=array.shape, chunks=(3, 6, 7), dtype="u1")
        store[:] = array
    one, other, third = stores
    runs = (
        (one, other, third, "--method", "vote"),
        (one, other, "--mask", third, "--method", "vote"),
        (third, other, one, "--method", "corrected-vote"),
        (one, other, third, "--method", "staple"),
        (other, one, third, "--method", "consensus"),
    )
    output, answers = folder / "out.zarr", []
    for number, words in enumerate(runs):
        clean = str(folder / f"clean{number}.zarr")
        _in_a_process(["fuse", *words, "-o", clean])
        answers.append(zarr.open_array(clean, mode="r")[:])

    def found() -> Any:
        return zarr.open_array(str(output), mode="r")[:]

    def checking(answer: Any) -> Callable[[], None]:
        def check() -> None:
            assert np.array_equal(found(), answer), "the store is not what was asked for"

        return check

    def after_kill() -> None:
        if output.exists():
            assert any(np.array_equal(found(), one) for one in answers), "the store is mixed"

    commands = [
        Command(("fuse", *words, "-o", str(output), "--overwrite"), checking(answer))
        for words, answer in zip(runs, answers, strict=True)
    ]
    return commands, after_kill


def array_of(path: Path) -> Any:
    """Return the voxels of a file."""
    return sitk.GetArrayFromImage(read_image(path))
