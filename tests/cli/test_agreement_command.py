"""``itk-consensus agreement``: the printed table, CSV and JSON."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
import SimpleITK as sitk

import itk_consensus as ic
from itk_consensus.cli import main
from itk_consensus.images.files import write_image


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    paths = [tmp_path / f"reader-{letter}.nii.gz" for letter in "abcd"]
    for path, image in zip(paths, ic.sample_case(), strict=True):
        sitk.WriteImage(image, path)
    return [str(path) for path in paths]


def test_tables_carry_file_names(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, record = tmp_path / "new" / "pairs.csv", tmp_path / "all.json"
    code = main(
        ["agreement", *files, "--consensus", "Vote", "--csv", str(table), "--json", str(record)]
    )
    printed = capsys.readouterr().out
    assert code == 0
    assert all(file in printed for file in files)
    rows = list(csv.DictReader(table.read_text(encoding="utf-8").splitlines()))
    assert len(rows) == 10  # pairs of four raters and the consensus
    assert {row["first"] for row in rows} == set(files)
    assert json.loads(record.read_text(encoding="utf-8"))["reference"] == "vote"
    expected = ic.agreement(ic.sample_case())
    assert f"{expected.mean_dice():.3f}" in printed


def test_consensus_may_be_a_file(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["agreement", *files[:3], "--consensus", files[3], "--surfaces", "no"]) == 0
    printed = capsys.readouterr().out
    assert "dice to reference" in printed
    assert "hausdorff" not in printed


def test_what_is_neither_method_nor_file_is_an_error(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["agreement", *files, "--consensus", "nobody"]) == 2
    assert (
        "--consensus must be a file or one of consensus, coherence-vote, "
        in capsys.readouterr().err
    )


def test_existing_tables_are_not_replaced(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "pairs.csv"
    table.write_text("mine")
    assert main(["agreement", *files, "--csv", str(table)]) == 2
    assert table.read_text(encoding="utf-8") == "mine"
    assert "--overwrite" in capsys.readouterr().err


def test_one_rater_alone_is_an_error(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["agreement", files[0]]) == 2
    assert "agreement needs at least two raters" in capsys.readouterr().err
    assert main(["agreement", files[0], "--consensus", files[1]]) == 0


def test_a_probability_and_its_samples_are_scored_against_the_readers(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fuser = ic.MajorityVoteFilter()
    fuser.Execute(ic.sample_case())
    samples = ic.SampleSegmentations(fuser, 3)
    share = str(tmp_path / "share.nii.gz")
    write_image(fuser.GetProbabilityImage(1), share)
    drawn = [str(path) for path in samples.write(tmp_path)]
    record = tmp_path / "all.json"
    words = ["agreement", *files, "--surfaces", "no", "--probability", share]
    assert main([*words, "--samples", *drawn, "--json", str(record)]) == 0
    wanted = ic.score_against_readers(fuser.GetProbabilityImage(1), ic.sample_case(), samples)
    assert json.loads(record.read_text())["probability"] == pytest.approx(vars(wanted))
    printed = capsys.readouterr().out
    assert all(f"{score:.4f}" in printed for score in vars(wanted).values())
    assert main(words) == 0
    printed = capsys.readouterr().out
    assert "QUBIQ" in printed
    assert "CRPS" not in printed


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--samples", "FILE"], "--samples needs --probability"),
        (["--probability", "FILE", "--label", "3"], "--label must be a label of the readers"),
        (["--probability", "GREY"], "must hold a probability from 0 to 1, got 0 to 3"),
        (["--probability", "VECTOR"], "must hold the probability of one structure, got 2"),
        (["--probability", "FILE", "--per-structure"], "cannot be combined with --per-structure"),
        (["--volume-intervals", "yes"], "--volume-intervals needs a filter"),
    ],
)
def test_what_cannot_be_scored_is_named(
    files: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    said: str,
) -> None:
    first, second, *_ = ic.sample_case()
    sitk.WriteImage(first * 3, tmp_path / "grey.nii.gz")
    sitk.WriteImage(sitk.Compose(first, second), tmp_path / "vector.nii.gz")
    known = {
        "FILE": files[0],
        "GREY": str(tmp_path / "grey.nii.gz"),
        "VECTOR": str(tmp_path / "vector.nii.gz"),
    }
    code = main(["agreement", *files, "--surfaces", "no", *(known.get(w, w) for w in words)])
    printed = capsys.readouterr().err
    assert code != 0
    assert said in " ".join(printed.split())
    assert "Traceback" not in printed
