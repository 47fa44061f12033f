"""``itk-consensus agreement``."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

import itk_consensus as ic
from itk_consensus.cli import main
from itk_consensus.images.files import write_image


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    paths = [tmp_path / f"reader-{letter}.nii.gz" for letter in "abcd"]
    for path, image in zip(paths, ic.sample_case(), strict=True):
        write_image(image, path)
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
    expected = ic.Agreement(ic.sample_case())
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
