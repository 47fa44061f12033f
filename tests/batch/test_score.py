"""``itk-consensus score`` on files: matching, tables, page, and rejected inputs."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import SimpleITK as sitk

from itk_consensus.assessment.scoring.measures import ALWAYS, LESIONS, RULES, SURFACES
from itk_consensus.assessment.scoring.study_scores import READERS
from itk_consensus.cli import main


def write(path: Path, array: np.ndarray[Any, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    image = sitk.GetImageFromArray(array)
    image.SetSpacing((1.0, 1.0, 2.0))
    sitk.WriteImage(image, str(path))


def ball(radius: float) -> np.ndarray[Any, Any]:
    z, y, x = np.mgrid[-4:5, -8:9, -8:9]
    return (4 * z * z + y * y + x * x <= radius**2).astype(np.uint8)


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write six cases with three readers, an accurate submission, and one that is too large."""
    monkeypatch.chdir(tmp_path)
    for number in range(6):
        radius = 4.5 + 0.3 * number
        for rater, more in (("ann", 0.0), ("bob", 0.6), ("eve", -0.6)):
            write(tmp_path / f"readers/c{number}/{rater}.nii.gz", ball(radius + more))
        write(tmp_path / f"subs/fair/c{number}.nii.gz", ball(radius + 0.1))
        write(tmp_path / f"subs/wide/c{number}.nii.gz", ball(radius + 1.5))
    return tmp_path


_APART = re.compile(r"net is (0\.\d+) below \((0\.\d+) to (0\.\d+)\)")
READERS_PATTERN = "readers/{case}/{rater}.nii.gz"
WORDS = ["score", READERS_PATTERN, "--submissions", "subs/{submission}/{case}.nii.gz", "-o", "out"]


def rows(path: str) -> list[dict[str, str]]:
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_a_study_leaves_tables_a_page_and_what_a_paper_prints(study: Path, capsys: Any) -> None:
    assert main([*WORDS, "--surfaces", "--rules", "curvas2024", "--label-names", "1=ball"]) == 0
    said = capsys.readouterr().out
    assert "fair has the highest Dice to the readers" in said
    assert "ahead of every other submission" in said
    summary = {row["scored"]: row for row in rows("out/summary.csv")}
    assert float(summary["fair"]["dice"]) > float(summary[READERS]["dice"])
    assert summary["fair"]["structure"] == "ball"
    assert float(summary["wide"]["volume_bias_ml"]) > 0.1
    assert len(rows("out/scores.csv")) == 6 * (2 + 3)
    assert len(rows("out/pairs.csv")) == 6 * 2 * 3
    assert {
        row["p_corrected"] for row in rows("out/comparisons.csv") if row["measure"] == "dice"
    } == {"0.03125"}
    assert json.loads(Path("out/scores.json").read_text(encoding="utf-8"))["missing"] == {}
    page = Path("out/index.html").read_text(encoding="utf-8")
    assert "fair has the highest Dice" in page
    assert "https://" not in page
    # If the command is run again, it replaces its own files without a message.
    assert main(WORDS) == 0


def test_a_case_without_a_file_is_said_and_scored_as_empty(study: Path, capsys: Any) -> None:
    (study / "subs/wide/c3.nii.gz").unlink()
    assert main(WORDS) == 0
    assert (
        "wide has no file in 1 case (c3), and is scored as empty there" in capsys.readouterr().err
    )
    (row,) = [row for row in rows("out/scores.csv") if row["missing"]]
    assert (row["case"], row["scored"], float(row["dice"])) == ("c3", "wide", 0)


def test_a_bad_file_costs_its_submission_that_case_alone(study: Path, capsys: Any) -> None:
    (study / "subs/wide/c3.nii.gz").write_bytes(b"no image")
    assert main(WORDS) == 1
    said = capsys.readouterr()
    assert "wide cannot be compared with the readers in 1 case (c3)" in said.err
    assert "Traceback" not in said.err
    found = [row for row in rows("out/scores.csv") if row["case"] == "c3"]
    assert {row["scored"]: float(row["dice"]) > 0 for row in found if row["kind"] != "reader"} == {
        "fair": True,
        "wide": False,
    }


def test_a_bad_file_of_a_reader_is_named_once_and_can_be_left_out(study: Path, capsys: Any) -> None:
    write(study / "readers/c3/bob.nii.gz", ball(4)[:3])
    assert main(WORDS) == 1
    said = capsys.readouterr().err
    assert "case c3 is not scored: readers: readers/c3/bob.nii.gz does not occupy" in said
    assert "input" not in said
    assert said.count("c3 ") == 1
    assert main([*WORDS, "--without", "c3/bob", "*/eve", "c0/*"]) == 0
    read = {
        (row["case"], row["scored"]) for row in rows("out/scores.csv") if row["kind"] == "reader"
    }
    assert read == {(f"c{n}", name) for n in (1, 2, 4, 5) for name in ("ann", "bob")}
    page = Path("out/index.html").read_text(encoding="utf-8")
    assert "Left out: c0/ann, c0/bob, c0/eve, c1/eve" in page
    assert "left out: c0/ann" in capsys.readouterr().err


def test_several_structures_are_shown_each(study: Path, capsys: Any) -> None:
    for path in study.glob("**/*.nii.gz"):
        array = sitk.GetArrayFromImage(sitk.ReadImage(str(path)))
        array[:, :, 8:] *= 2
        write(path, array)
    assert main([*WORDS, "--label-names", "1=left,2=right"]) == 0
    said = capsys.readouterr().out
    assert "(mean of 2 structures)" in said
    tables = ("all structures", "left", "right")
    assert [said.count(f"\n  {name} ") for name in tables] == [1, 1, 1]
    found = Path("out/table.md").read_text(encoding="utf-8")
    assert found.count("readers (ceiling)") == 3
    assert "Mean of 2 structures, each by itself below" in Path("out/index.html").read_text("utf-8")


def test_one_submission_is_not_called_the_highest(study: Path, capsys: Any) -> None:
    words = ["score", READERS_PATTERN, "--submission", "net=subs/wide/{case}.nii.gz", "-o", "out"]
    assert main(words) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "net reaches a Dice to the readers of" in said
    assert "highest" not in said
    low, apart, high = (float(found) for found in _APART.search(said).group(2, 1, 3))  # type: ignore[union-attr]
    assert 0 < low < apart < high


def test_a_submission_as_good_as_readers_is_not_surely_above_or_below(
    study: Path, capsys: Any
) -> None:
    for number in (1, 3, 5):  # in the other cases, the submission remains better than the readers
        write(study / f"subs/fair/c{number}.nii.gz", ball(6 + 0.3 * number))
    words = ["score", READERS_PATTERN, "--submission", "net=subs/fair/{case}.nii.gz", "-o", "out"]
    assert main(words) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "net is not surely above or below (difference" in said


def test_a_list_names_readers_and_submissions(study: Path) -> None:
    lines = ["case,raters,submissions"]
    for number in range(6):
        raters = ";".join(f"{one}=readers/c{number}/{one}.nii.gz" for one in ("ann", "bob", "eve"))
        lines.append(f"c{number},{raters},net=subs/fair/c{number}.nii.gz")
    (study / "cases.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert main(["score", "cases.csv", "-o", "out"]) == 0
    assert {row["scored"] for row in rows("out/summary.csv")} == {"net", READERS}


def test_files_of_one_case_are_samples(study: Path) -> None:
    words = ["score", READERS_PATTERN, "--submission", "both=subs/*/{case}.nii.gz", "-o", "out"]
    assert main([*words, "--rules", "samples"]) == 0
    (row,) = [row for row in rows("out/summary.csv") if row["scored"] == "both"]
    assert float(row["dice_max"]) > float(row["dice_match"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([READERS_PATTERN], "give --submissions PATTERN"),
        ([READERS_PATTERN, "--submissions", "subs/{case}.nii.gz"], "must contain {submission}"),
        (
            ["readers/{case}/{reader}.nii.gz", "--submission", "n=subs/fair/{case}.nii.gz"],
            "{reader} is no placeholder: write {rater}",
        ),
        (
            [READERS_PATTERN, "--submission", "n=subs/fair/{case}.nii.gz", "--without", "c9/ann"],
            "no reader is CASE/READER c9/ann; the first is c0/ann",
        ),
        (
            [READERS_PATTERN, "--submission", "n=subs/fair/{case}.nii.gz", "--without", "*/*"],
            "every file of the readers is left out",
        ),
        ([READERS_PATTERN, "--submission", "net"], "must be NAME=PATTERN"),
        ([READERS_PATTERN, "--submission", "net=subs/*/x{case}.nii.gz"], "no file matches this"),
        (
            [
                READERS_PATTERN,
                "--submission",
                "n=subs/fair/{case}.nii.gz",
                "-o",
                "subs/fair/c0.nii.gz",
            ],
            "would overwrite",
        ),
    ],
)
def test_what_cannot_be_scored_is_refused_in_one_line(
    study: Path, words: list[str], message: str, capsys: Any
) -> None:
    given = words if "-o" in words else [*words, "-o", "out"]
    assert main(["score", *given]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1


def test_a_file_of_ones_own_is_not_overwritten(study: Path, capsys: Any) -> None:
    (study / "out").mkdir()
    (study / "out/table.md").write_text("mine", encoding="utf-8")
    assert main(WORDS) == 2
    assert "--overwrite" in capsys.readouterr().err
    assert (study / "out/table.md").read_text(encoding="utf-8") == "mine"


def test_readings_of_one_rater_give_repeatability_and_are_not_fused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for number in range(4):
        for reading, more in (("1", 0.0), ("2", 0.9)):
            for rater in ("ann", "bob"):
                name = f"c{number}_{rater}_{reading}.nii.gz"
                write(tmp_path / name, ball(4.5 + number + more * (rater == "ann")))
    assert main(["batch", "{case}_{rater}_{reading}.nii.gz", "-o", "out", "--method", "vote"]) == 0
    found = {row["statistic"]: row for row in rows("out/reliability.csv")}
    volumes = np.array([[ball(4.5 + n).sum(), ball(5.4 + n).sum()] for n in range(4)]) * 2 / 1000
    squares = (np.diff(volumes, axis=1)[:, 0] ** 2 / 2).sum() / 8
    assert float(found["SD within raters"]["value"]) == pytest.approx(squares**0.5, rel=1e-4)
    assert found["SD within raters"]["cases"] == "8"
    assert float(found["ICC(2,1) of volume"]["value"]) == pytest.approx(1)
    assert float(found["Fleiss' kappa, all voxels"]["value"]) == pytest.approx(1)
    assert {row["raters"] for row in rows("out/cases.csv")} == {"2"}
    # The same input is now given by a list of files.
    lines = ["case,reading,raters"]
    for number in range(4):
        for reading in "21":
            files = ";".join(f"{one}=c{number}_{one}_{reading}.nii.gz" for one in ("ann", "bob"))
            lines.append(f"c{number},{reading},{files}")
    Path("cases.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert main(["batch", "cases.csv", "-o", "listed", "--method", "vote"]) == 0
    assert rows("listed/reliability.csv") == rows("out/reliability.csv")


def test_every_measure_stands_on_the_page_of_tables() -> None:
    page = (Path(__file__).parents[2] / "docs/howto/study_tables.md").read_text(encoding="utf-8")
    for group in (ALWAYS, SURFACES, LESIONS, *RULES.values()):
        for measure in group.values():
            assert f"`{measure.name}`" in page
            assert measure.meaning in page
