"""Commands never end in a traceback: each is run with the same list of hostile arguments."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import SimpleITK as sitk

import itk_consensus
from itk_consensus.cli import main
from itk_consensus.cli.application import COMMANDS
from itk_consensus.review.case import case_of_result

ROOT = Path(__file__).resolve().parents[2]
Run = Callable[[str], "subprocess.CompletedProcess[str]"]

#: Possible arguments in place of a file name; `folder` prepares those that need preparation.
HOSTILE = (
    "",
    " ",
    "-",
    "\0",
    "a\0b.nii",
    "\udcff.nii.gz",
    "\ud800",
    "line\nbreak.nii",
    "täglich-³.nrrd",
    "%n%s{label}.nrrd",
    "{label.__class__}.nii",
    "~nobody/x.nii",
    "x" * 5000 + ".nii",
    "a/" * 3000 + "x.nii",
    "loop.nii",
    "loop.nii/below.nii",
    "dangling.nii",
    ".",
    "..",
    "/",
    "folder",
    "good.nii/below.nii",
    "missing/deep/er.nii",
    "x.nia",
    "x.png",
    "x.unknown",
    "noextension",
    "text.nii",
    "empty.nii.gz",
    "empty.csv",
    "nested.json",
    "numbers.json",
    "binary.csv",
    "truncated.nii",
    "other-size.nii",
    "fractions.nii",
    "/dev/null",
    "1e999",
    "99999999999999999999999999",
    "nan",
)

#: Every way in which a command accepts a file; HERE is replaced.
PLACES = {
    "atlas": (
        "atlas -t HERE -g fractions.nii -g good.nii -l good.nii -l other.nii -o out.nii",
        "atlas -t fractions.nii -g HERE -g good.nii -l good.nii -l other.nii -o out.nii",
        "atlas -t fractions.nii -g good.nii good.nii -l HERE -l other.nii -o out.nii",
        "atlas -t fractions.nii -g good.nii good.nii -l good.nii other.nii -o HERE",
        "atlas -t fractions.nii -g good.nii good.nii -l good.nii other.nii -o out.nii -x HERE",
        "atlas -t fractions.nii -g good.nii good.nii -l good.nii other.nii -o out.nii -e HERE",
        "atlas -t fractions.nii -g good.nii good.nii -l good.nii other.nii -o out.nii -e 1[HERE]",
        "atlas -t fractions.nii -g good.nii good.nii -l good.nii other.nii -o out.nii -s HERE",
    ),
    "fuse": (
        "fuse HERE good.nii --method vote -o out.nii",
        "fuse good.nii other.nii --method vote -o HERE",
        "fuse good.nii other.nii --method vote -o out.nii --probability HERE",
        "fuse good.nii other.nii --method vote -o out.nii --json HERE",
        "fuse good.nii other.nii --method vote -o out.nii --report HERE",
        "fuse good.nii other.nii --method vote -o out.nii --mask HERE",
        "fuse good.nii other.nii --method staple -o out.nii --prior HERE",
        "fuse good.nii other.nii --method HERE -o out.nii",
        "fuse good.nii other.nii -o out.nii --probability p.nii --label HERE",
        "fuse good.nii other.nii --method vote -o out.nii --uncertainty HERE",
        "fuse good.nii other.nii --method vote -o out.nii --report page.html --image HERE",
        "fuse HERE good.nii --method vote -o out.zarr",
        "fuse good.nii other.nii --method vote -o HERE.zarr",
        "fuse good.nii other.nii --method vote -o out.zarr --mask HERE",
        "fuse good.nii other.nii --method vote -o out.zarr --jobs HERE",
        "fuse HERE a.seg.nrrd --per-structure --method vote -o out.seg.nrrd",
        "fuse a.seg.nrrd --per-structure --method vote -o HERE",
        "fuse a.seg.nrrd --per-structure --method vote -o HERE.rtstruct.dcm --series folder",
        "fuse a.seg.nrrd --per-structure --method vote -o out.dcm --series HERE",
        "fuse a.seg.nrrd --per-structure --method vote -o out.seg.nrrd --rename HERE",
        "fuse a.seg.nrrd --per-structure --method vote -o out.seg.nrrd --rename a=HERE",
        "fuse a.seg.nrrd --per-structure --method vote -o out.seg.nrrd --rename HERE.csv",
        "fuse a.seg.nrrd --per-structure --method vote -o out.seg.nrrd --synonyms HERE",
        "fuse a.seg.nrrd --per-structure --method vote -o out.seg.nrrd --structures HERE",
        "fuse a.seg.nrrd --per-structure --method vote -o out.seg.nrrd --exclude HERE",
        "fuse a.seg.nrrd --per-structure --method vote -o out.seg.nrrd --smooth HERE",
        "fuse a.seg.nrrd --per-structure --method vote -o out.seg.nrrd --least-island HERE",
        "fuse a.seg.nrrd --per-structure --method vote -o out.seg.nrrd --accept-matches HERE",
    ),
    "agreement": (
        "agreement HERE good.nii --surfaces no",
        "agreement good.nii other.nii --surfaces no --consensus HERE",
        "agreement good.nii other.nii --surfaces no --csv HERE",
        "agreement good.nii other.nii --surfaces no --json HERE",
        "agreement a.seg.nrrd --per-structure --plan-table HERE",
        "agreement a.seg.nrrd --per-structure --plan-table out.csv --tolerances HERE",
    ),
    "report": (
        "report HERE good.nii --method vote -o page.html",
        "report good.nii other.nii --method vote -o HERE",
        "report good.nii other.nii --method vote -o page.html --image HERE",
    ),
    "review": (
        "review HERE good.nii other-size.nii",
        "review good.nii other-size.nii --no-browser --port HERE",
    ),
    "adjudicate": (
        "adjudicate HERE -o out.nii",
        "adjudicate good.review.json HERE -o out.nii",
        "adjudicate good.review.json -o HERE",
        "adjudicate good.review.json --series HERE -o out.rtstruct.dcm",
    ),
    "batch": (
        "batch HERE -o out",
        "batch cases.csv -o HERE",
        "batch cases.csv -o out --images HERE",
        "batch cases.csv -o out --jobs HERE",
        "batch cases.csv -o out --config HERE",
    ),
    "score": (
        "score HERE --submissions subs/{submission}/{case}.nii -o out",
        "score cases.csv --submission net=HERE -o out",
        "score cases.csv --submissions HERE -o out",
        "score {case}.nii --submission net={case}.nii -o HERE",
        "score {case}.nii --submission net={case}.nii -o out --label-names HERE",
    ),
    "completion": ("completion HERE",),
    "info": (
        "info HERE",
        "info good.nii HERE",
        "info a.seg.nrrd --per-structure --write-names HERE",
        "info a.seg.nrrd --per-structure --rename HERE",
    ),
    "calibrate": ("calibrate HERE -o out.json", "calibrate cases.csv -o HERE"),
    "learn": (
        "learn HERE --truth {case}.nii -o out.json",
        "learn {rater}.{case} --truth HERE -o out.json",
        "learn {rater}.{case} --truth good -o HERE",
        "learn {rater}.{case} --truth good -o out.json --add HERE",
    ),
    "band": (
        "band HERE --calibration record.json -o out.nii --raters good.nii other.nii good.nii",
        "band fractions.nii --calibration HERE -o out.nii",
        "band fractions.nii --calibration record.json -o HERE --raters good.nii other.nii good.nii",
        "band fractions.nii --calibration record.json -o out.nii --raters good.nii other.nii HERE",
        "band fractions.nii --calibration record.json -o out.nii --raters good.nii --json HERE",
    ),
    "deep": (
        "deep HERE",
        "deep fit HERE --model out.model",
        "deep fit cases.json --model HERE --number-of-iterations 0",
        "deep apply HERE good.nii --model no.model -o out.nii",
        "deep apply good.nii good.nii --model HERE -o out.nii",
    ),
    "demo": ("demo -o text.nii/HERE", "demo HERE"),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create small files of every kind, in a folder that contains all outputs."""
    monkeypatch.chdir(tmp_path)
    truth = np.zeros((4, 5, 6), np.uint8)
    truth[1:3, 1:4, 1:4] = 1
    images = {
        "good": truth,
        "other": np.roll(truth, 1, 2),
        "other-size": truth[:2],
        "fractions": truth * np.float32(0.4),
    }
    for name, array in images.items():
        sitk.WriteImage(sitk.GetImageFromArray(array), f"{name}.nii")
    Path("truncated.nii").write_bytes(Path("good.nii").read_bytes()[:-7])
    Path("folder").mkdir()
    Path("loop.nii").symlink_to("loop.nii")
    Path("dangling.nii").symlink_to("nowhere.nii")
    Path("text.nii").write_text("not an image")
    for name in ("empty.nii.gz", "empty.csv"):
        Path(name).touch()
    Path("nested.json").write_text("[" * 100_000)
    Path("numbers.json").write_text("[1, 2]")
    Path("binary.csv").write_bytes(bytes(range(256)))
    record = ROOT / "examples" / "benchmarks" / "bands" / "lidc_band.json"
    Path("record.json").write_bytes(record.read_bytes())
    Path("cases.csv").write_text("case,probability,reference\na,fractions.nii,good.nii\n")
    structure = {"a": sitk.GetImageFromArray(truth)}
    itk_consensus.write_slicer_segmentation(structure, "a.seg.nrrd")
    filter_ = itk_consensus.ConsensusFilter()
    filter_.Execute([truth, np.roll(truth, 1, 2)])
    raters = [Path("good.nii"), Path("other.nii")]
    review = case_of_result(filter_.GetResult(), files=raters, record=Path("good.review.json"))
    review.writer(review.begun()).write(Path("good.review.json"))
    Path("cases.json").write_text(json.dumps([{"image": "good.nii", "labels": ["good.nii"]}]))
    return tmp_path


def test_every_command_has_its_places() -> None:
    assert set(PLACES) == set(COMMANDS)


@pytest.mark.parametrize("place", [words for command in PLACES.values() for words in command])
def test_a_hostile_argument_ends_in_one_clear_line(
    place: str, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    before = set(os.listdir(folder))
    for hostile in HOSTILE:
        words = [word.replace("HERE", hostile) for word in place.split()]
        code = main(words)
        captured = capfd.readouterr()
        lines = captured.err.splitlines()
        assert code in (0, 1, 2), words
        assert "unexpected" not in captured.err, (words, captured.err)
        assert all(line.startswith("itk-consensus: ") for line in lines), (words, lines)
        if code == 2:
            failures = [line for line in lines if ": warning: " not in line]
            assert len(failures) == 1, (words, lines)
            assert set(os.listdir(folder)) == before, words
        for made in set(os.listdir(folder)) - before:
            subprocess.run(["rm", "-rf", made], check=True, cwd=folder)


# -- how a process may be started and stopped -------------------------------------------------


def in_shell(command: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        ["sh", "-c", f"exec {sys.executable} -m itk_consensus.cli {command}"],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        check=False,
    )


SAMPLE = "itk_consensus/sample_data/LIDC-IDRI-0003.nrrd"


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")
@pytest.mark.parametrize(
    ("command", "code"),
    [
        (f"info {SAMPLE} >&-", 0),
        (f"info {SAMPLE} <&- >&- 2>&-", 0),
        ("info nowhere.nii 2>&-", 2),
        (f"info {SAMPLE} >/dev/full", 2),
    ],
)
def test_closed_and_full_streams_are_no_reason_for_a_traceback(command: str, code: int) -> None:
    done = in_shell(command)
    assert done.returncode == code
    assert b"Traceback" not in done.stderr
    assert b"Exception ignored" not in done.stderr


def test_an_ascii_locale_prints_what_it_can(tmp_path: Path) -> None:
    path = tmp_path / "täglich-³.nrrd"
    sitk.WriteImage(sitk.Image([3, 3], sitk.sitkUInt8), str(path))
    ascii_only = {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"}
    done = in_shell(f"info '{path}'", LC_ALL="C", **ascii_only)
    assert done.returncode in (0, 2)
    assert b"Traceback" not in done.stderr
    assert b"unexpected" not in done.stderr
    assert done.stdout or done.stderr.startswith(b"itk-consensus: ")


@pytest.mark.parametrize("module", ["argparse", "numpy", "itk_consensus.cli.info"])
def test_an_interruption_while_modules_load_is_one_line(run_python: Run, module: str) -> None:
    done = run_python(
        f"""
        import sys
        from itk_consensus.cli import main

        class Interrupted:
            def find_spec(self, name, *_):
                if name == {module!r}:
                    raise KeyboardInterrupt

        sys.modules.pop({module!r}, None)
        sys.meta_path.insert(0, Interrupted())
        sys.exit(main(["info", "x.nii"]))
        """
    )
    assert done.returncode == 130
    assert done.stderr == "itk-consensus: interrupted\n"


def test_a_fault_of_the_program_is_one_line_unless_asked_where(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise TypeError("not expected")

    monkeypatch.setattr("itk_consensus.cli.info.read_files", fail)
    assert main(["info", "x.nii"]) == 2
    assert re.fullmatch(
        r"itk-consensus: unexpected TypeError: not expected \(.*\)\n", capsys.readouterr().err
    )
    monkeypatch.setenv("ITK_CONSENSUS_TRACEBACK", "1")
    with pytest.raises(TypeError):
        main(["info", "x.nii"])


def test_answers_about_the_program_itself_load_no_library(run_python: Run) -> None:
    for words in ("--version", "--help"):
        done = run_python(
            f"""
            import sys
            from itk_consensus.cli import main
            assert main([{words!r}]) == 0
            assert not {{"numpy", "scipy", "SimpleITK"}} & set(sys.modules)
            """
        )
        assert done.returncode == 0, done.stderr


def test_a_colour_picture_is_refused_by_its_name(tmp_path: Path, capfd: Any) -> None:
    """Issue 44: the line began with a dict as printed by Python."""
    picture = tmp_path / "photo.png"
    sitk.WriteImage(sitk.Image([8, 9], sitk.sitkVectorUInt8, 3), str(picture))
    assert main(["fuse", str(picture), str(picture), "-o", str(tmp_path / "out.png")]) == 2
    said = capfd.readouterr().err
    assert said.startswith(f"itk-consensus: {picture}: ")
    assert "must hold labels, got a colour image" in said
    assert "{" not in said


def test_a_full_disk_asks_for_no_other_output(tmp_path: Path, capfd: Any, monkeypatch: Any) -> None:
    """Issue 44: for an output file, the message was "is cut short ... did you mean"."""
    mask = sitk.GetImageFromArray(np.random.default_rng(0).integers(0, 2, (64, 64), np.uint8))
    for name in ("a.nii.gz", "b.nii.gz"):
        sitk.WriteImage(mask, str(tmp_path / name))
    written = sitk.WriteImage

    def cut_short(image: Any, path: str, *rest: Any) -> None:
        written(image, path, *rest)
        if image.GetSize() == mask.GetSize():  # not for the trial run before processing starts
            Path(path).write_bytes(Path(path).read_bytes()[:-40])

    monkeypatch.setattr(sitk, "WriteImage", cut_short)
    inputs = [str(tmp_path / name) for name in ("a.nii.gz", "b.nii.gz")]
    words = ["-o", str(tmp_path / "c.nii.gz"), "--method", "vote", "-q"]
    assert main(["fuse", *inputs, *words]) == 2
    said = capfd.readouterr().err
    assert "c.nii.gz: cannot be written: what was written is cut short" in said
    assert "did you mean" not in said
