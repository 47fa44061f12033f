"""The command ``itk-consensus report`` and the option ``fuse --report``."""

from __future__ import annotations

from pathlib import Path

import pytest
import SimpleITK as sitk

import itk_consensus as ic
from itk_consensus.cli import main
from itk_consensus.storage.hashes import file_hash


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    paths = [tmp_path / f"reader-{letter}.nii.gz" for letter in "abc"]
    for path, image in zip(paths, ic.sample_case(), strict=False):
        sitk.WriteImage(image, path)
    return [str(path) for path in paths]


def test_report_names_and_hashes_the_files(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "new" / "page.html"
    assert main(["report", *files, "-o", str(page), "--method", "vote", "--image", files[0]]) == 0
    text = page.read_text(encoding="utf-8")
    assert str(page) in capsys.readouterr().out
    for file in files:
        assert file in text
        assert file_hash(file) in text
    assert text.count("<image") == 2 * text.count("<figure")


def test_fuse_writes_a_page_with_links_to_its_outputs(files: list[str], tmp_path: Path) -> None:
    page, labels, record = (tmp_path / name for name in ("p.html", "f.nii.gz", "r.json"))
    words = ["-o", str(labels), "--report", str(page), "--json", str(record), "--method", "vote"]
    assert main(["fuse", *files, *words]) == 0
    text = page.read_text(encoding="utf-8")
    assert 'href="f.nii.gz"' in text
    assert 'href="r.json"' in text


def test_a_method_that_looks_at_the_image_shows_it_too(files: list[str], tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    words = ["--method", "boundary-simple", "--image", files[0], "-o", str(page)]
    assert main(["report", *files, *words]) == 0
    assert page.read_text(encoding="utf-8").count("<image") > 1


def test_an_existing_page_is_not_replaced(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.html"
    page.write_text("mine")
    assert main(["report", *files, "-o", str(page)]) == 2
    assert page.read_text(encoding="utf-8") == "mine"
    assert "--overwrite" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["--window", "-600,1500"], ["--window=-600,1500"]])
def test_a_window_may_be_below_zero(words: list[str], tmp_path: Path) -> None:
    """argparse took -600,1500 for an unknown option."""
    paths = []
    for number, reader in enumerate(ic.sample_case()):
        paths.append(str(tmp_path / f"{number}.nii.gz"))
        sitk.WriteImage(reader, paths[-1])
    page = tmp_path / "p.html"
    options = ["--image", paths[0], "-o", str(page), "--method", "vote"]
    assert main(["report", *paths, *options, *words]) == 0
    assert "as asked (center -600, width 1500)" in page.read_text(encoding="utf-8")
