"""Messages and exit codes of ``itk-consensus fuse ... -o fused.zarr``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import dask
import distributed
import numpy as np
import pytest
import zarr

from itk_consensus.chunked.volumes import VolumeFile
from itk_consensus.cli import main

SHAPE = (4, 6, 8)


@pytest.fixture
def stores(tmp_path: Path) -> list[str]:
    """Write stores of three raters with labels 0 to 2; the third is a copy of the first."""
    arrays = [np.random.default_rng(i % 2).integers(0, 3, SHAPE).astype("u1") for i in range(3)]
    paths = [tmp_path / f"{name}.zarr" for name in ("ann", "bob", "eve")]
    for path, array in zip(paths, arrays, strict=True):
        zarr.create_array(str(path), shape=SHAPE, chunks=(2, 6, 8), dtype="u1")[:] = array
    return list(map(str, paths))


def run(words: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    code = main(["fuse", *words])
    return code, capsys.readouterr().err


def test_folders_of_a_store_are_made(
    stores: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "new" / "folder" / "fused.zarr"
    assert run([*stores, "-o", str(output), "--method", "vote"], capsys)[0] == 0
    assert zarr.open_array(str(output), mode="r").shape == SHAPE


def test_a_store_that_exists_names_the_option(
    stores: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    code, text = run([stores[0], stores[1], "-o", stores[2]], capsys)
    assert code == 2
    assert f"--output {stores[2]} exists; give --overwrite to replace it" in text


def test_raters_with_the_same_labels_are_named(
    stores: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, text = run([*stores, "-o", str(tmp_path / "f.zarr")], capsys)
    assert code == 0
    assert f"{stores[0]} and {stores[2]} hold the same labels everywhere" in text
    assert stores[1] not in text


def test_labels_that_a_binary_method_ignores_are_named(
    stores: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [*stores[:2], "-o", str(tmp_path / "f.zarr"), "--method", "STAPLE"]
    code, text = run(words, capsys)
    assert code == 0
    assert "staple fuses label 1 and treats 2 as background" in text


def test_nobody_is_a_copy_who_marked_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [str(tmp_path / f"{i}.zarr") for i in range(2)]
    for path in paths:
        zarr.create_array(path, shape=SHAPE, chunks=SHAPE, dtype="u1")
    code, text = run([*paths, "-o", str(tmp_path / "f.zarr")], capsys)
    assert (code, text) == (0, "")


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (["--jobs", "0"], "--jobs: must be an integer >= 1"),
        (["--scheduler", "nowhere"], "--scheduler must be the address"),
        (["--probability", "p-{label}.nii.gz"], "--probability is not available"),
        (["--label", "1"], "--label is not available"),
        (["--uncertainty-kind", "entropy"], "--uncertainty-kind is not available"),
        (["--method", "staple", "--prior", "ann.zarr"], "--prior"),
        (["--method", "spatial-staple"], "spatial-staple: cannot be exact in chunks"),
    ],
    ids=str,
)
def test_a_wrong_option_is_named_as_it_is_typed(
    words: list[str],
    option: str,
    stores: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    code, text = run([*stores, "-o", "f.zarr", *words], capsys)
    assert code == 2
    assert option in text
    assert text.count("\n") == 1
    assert "ImageFilter" not in text
    assert "()" not in text


def test_stores_want_a_store(
    stores: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, text = run([*stores, "-o", str(tmp_path / "f.nii.gz")], capsys)
    assert code == 2
    assert "ann.zarr is a store: --output must be named .zarr too" in text


def test_a_scheduler_that_does_not_answer_is_forgotten(
    stores: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The failed client remained dask's default client, for which later computations waited."""
    output = str(tmp_path / "f.zarr")
    assert run([*stores, "-o", output, "--scheduler", "nowhere"], capsys)[0] == 2
    assert dask.config.get("scheduler", None) is None
    with pytest.raises(ValueError, match=r"[Nn]o.*client"):
        distributed.get_client()


def test_workers_may_live_in_another_folder(
    stores: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Relative paths were sent to the workers unchanged."""
    monkeypatch.chdir(tmp_path)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    read, write = VolumeFile.read, VolumeFile.write

    def read_there(*arguments: Any) -> Any:
        os.chdir(elsewhere)
        return read(*arguments)

    def write_there(*arguments: Any) -> None:
        os.chdir(elsewhere)
        write(*arguments)

    monkeypatch.setattr(VolumeFile, "read", read_there)
    monkeypatch.setattr(VolumeFile, "write", write_there)
    assert main(["fuse", "ann.zarr", "bob.zarr", "-o", "f.zarr", "--method", "vote"]) == 0
    assert (tmp_path / "f.zarr").is_dir()
