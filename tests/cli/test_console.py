from __future__ import annotations

import io
import os
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import SimpleITK as sitk

import itk_consensus as ic
from itk_consensus import STAPLEImageFilter
from itk_consensus.cli import console as console_module
from itk_consensus.cli import main
from itk_consensus.cli.console import Console
from itk_consensus.cli.inputs import read
from itk_consensus.core.errors import ConsensusWarning, FileError
from itk_consensus.core.work import report
from itk_consensus.images import files as files_module


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def screen(text: str) -> str:
    """Return the last line as a terminal displays it after carriage returns."""
    cells: list[str] = []
    for part in text.split("\n")[-1].split("\r"):
        cells[: len(part)] = part
    return "".join(cells).rstrip()


def test_without_a_terminal_there_is_no_progress_bar(capsys: pytest.CaptureFixture[str]) -> None:
    console = Console()
    console.progress(0.5, "reading")
    console.clear()
    assert capsys.readouterr().err == ""


def test_the_bar_shows_the_share_and_leaves_a_clean_screen() -> None:
    terminal = Terminal()
    console = Console(terminal)
    console.progress(0.25, "reading a long file name")
    assert screen(terminal.getvalue()) == f"[{'#' * 6}{' ' * 18}]  25%  reading a long file name"
    console.progress(0.5, "short")
    assert screen(terminal.getvalue()) == f"[{'#' * 12}{' ' * 12}]  50%  short"
    console.clear()
    assert screen(terminal.getvalue()) == ""


def test_the_bar_stays_on_one_line_of_a_narrow_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    terminal = Terminal()
    Console(terminal).progress(0.5, "reading " + "x" * 200)
    assert len(screen(terminal.getvalue())) == 39


def test_a_message_takes_the_place_of_the_bar() -> None:
    terminal = Terminal()
    console = Console(terminal)
    console.progress(0.5, "reading")
    console.say("two\n  lines")
    first, rest = terminal.getvalue().split("\n")
    assert screen(first) == "itk-consensus: two lines"
    assert rest == ""


def test_a_filter_moves_the_bar_through_its_share(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terminal = Terminal()
    monkeypatch.setattr(console_module, "_SECONDS_BETWEEN_REDRAWS", 0.0)
    rng = np.random.default_rng(0)
    masks = [(rng.random((8, 8)) < 0.5).astype(np.uint8) for _ in range(4)]
    filter_ = STAPLEImageFilter()
    Console(terminal).follow(filter_, 0.5, 0.9)
    filter_.Execute(masks)
    drawn = terminal.getvalue()
    assert "70%  STAPLEImageFilter" in drawn
    assert f"iteration {filter_.GetElapsedIterations()}" in drawn
    assert screen(drawn).endswith("90%  STAPLEImageFilter")


def test_thousands_of_reports_draw_no_more_than_a_terminal_shows() -> None:
    terminal = Terminal()
    filter_ = STAPLEImageFilter()
    Console(terminal).follow(filter_, 0.5, 0.9)
    with filter_._running():
        for share in np.linspace(0, 1, 5000):
            report(share)
    drawn = terminal.getvalue().count("\r")
    assert 30 < drawn < 500
    assert "90%" in terminal.getvalue()


def test_package_warnings_are_one_line_and_others_are_left_alone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with Console().show_warnings():
        warnings.warn("odd\nresult", ConsensusWarning, stacklevel=1)
        warnings.warn("odd\nresult", ConsensusWarning, stacklevel=1)
        with pytest.raises(UserWarning, match="not ours"):
            warnings.warn("not ours", UserWarning, stacklevel=1)
    line = "itk-consensus: warning: odd result\n"
    assert capsys.readouterr().err == 2 * line
    with pytest.raises(ConsensusWarning):
        warnings.warn("odd", ConsensusWarning, stacklevel=1)


def test_what_an_image_library_prints_becomes_one_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def chatty_read(path: Path) -> str:
        os.write(2, b"WARNING: In itkNiftiImageIO.cxx\n\n  odd header\n")
        return "image"

    monkeypatch.setattr(files_module, "read_image", chatty_read)
    assert read(tmp_path / "a.nii", Console()) == "image"
    printed = capfd.readouterr().err
    path = tmp_path / "a.nii"
    assert printed == (
        f"itk-consensus: warning: {path}: WARNING: In itkNiftiImageIO.cxx odd header\n"
    )


def test_a_damaged_png_raises_and_prints_nothing_itself(
    tmp_path: Path, capfd: pytest.CaptureFixture[Any]
) -> None:
    path = tmp_path / "damaged.png"
    path.write_bytes(b"\x89PNG\r\n\x1a\n1234567")
    with pytest.raises(RuntimeError):
        sitk.ReadImage(str(path))
    assert "libpng error" in capfd.readouterr().err
    with pytest.raises(FileError):
        read(path, Console())
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    "words",
    [
        "fuse {files} -o {out}/a.nii.gz --method vote",
        "agreement {files} --surfaces no",
        "batch {cases}/{{case}}/{{rater}}.nii.gz -o {out}/b --method vote",
    ],
)
def test_what_takes_long_shows_a_bar_on_a_terminal_and_none_in_a_pipe(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = tmp_path / "in" / "case"
    case.mkdir(parents=True)
    for number, image in enumerate(ic.sample_case()):
        sitk.WriteImage(image, str(case / f"{number}.nii.gz"))
    files = " ".join(map(str, sorted(case.iterdir())))
    for number, stream in enumerate((io.StringIO(), Terminal())):
        monkeypatch.setattr(sys, "stderr", stream)
        given = {"files": files, "cases": case.parent, "out": tmp_path / str(number)}
        (tmp_path / str(number)).mkdir()
        assert main(words.format(**given).split()) == 0
        assert ("%" in stream.getvalue()) == stream.isatty()
