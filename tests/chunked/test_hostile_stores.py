"""Foreign files are not lost, and damaged Zarr stores give one clear error."""

from __future__ import annotations

import copy
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import SimpleITK as sitk

from itk_consensus.cli import main
from itk_consensus.core.errors import FileError

zarr = pytest.importorskip("zarr")
pytest.importorskip("dask")
open_volume = pytest.importorskip("itk_consensus.chunked.volumes").open_volume

TRUTH = np.zeros((6, 8, 8), np.uint8)
TRUTH[2:5, 2:6, 2:6] = 1
FUSE = "fuse z0.zarr z1.zarr z2.zarr --method vote"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write three raters as stores to a folder, which becomes the current one."""
    monkeypatch.chdir(tmp_path)
    for number in range(3):
        store = zarr.create_array(
            f"z{number}.zarr", shape=TRUTH.shape, chunks=(4, 4, 4), dtype="u1"
        )
        store[:] = np.roll(TRUTH, number, 2)
    return tmp_path


def refused(words: str, capfd: pytest.CaptureFixture[str]) -> str:
    """Return the single line with which a command is rejected."""
    assert main(words.split()) == 2
    (line,) = capfd.readouterr().err.splitlines()
    assert line.startswith("itk-consensus: ")
    assert ": unexpected" not in line
    return line


def snapshot(path: Path) -> dict[str, bytes]:
    return {str(file): file.read_bytes() for file in sorted(path.rglob("*")) if file.is_file()}


@pytest.mark.parametrize(
    "words",
    [
        f"{FUSE} -o z0.zarr --overwrite",
        f"{FUSE} --mask m.zarr -o m.zarr --overwrite",
        "fuse z0.zarr outer.zarr/inner.zarr --method vote -o outer.zarr --overwrite",
        f"{FUSE} -o z1.zarr/below.zarr",
        f"{FUSE} -o link.zarr --overwrite",
        "fuse z0.zarr x.zarr.partial --method vote -o x.zarr",
        "fuse a.mhd z1.zarr --method vote -o old.zarr --overwrite",
    ],
)
def test_a_store_never_replaces_what_an_input_consists_of(
    folder: Path, capfd: pytest.CaptureFixture[str], words: str
) -> None:
    for copied in ("m.zarr", "outer.zarr", "outer.zarr/inner.zarr", "x.zarr.partial", "old.zarr"):
        shutil.copytree("z0.zarr", copied)
    Path("link.zarr").symlink_to("z0.zarr")
    sitk.WriteImage(sitk.GetImageFromArray(TRUTH), "a.mhd")
    os.replace("a.raw", "old.zarr/a.raw")
    Path("a.mhd").write_text(
        Path("a.mhd").read_text(encoding="utf-8").replace("a.raw", "old.zarr/a.raw")
    )
    before = snapshot(folder)
    assert "would overwrite the input" in refused(words, capfd)
    assert snapshot(folder) == before


def test_a_store_is_written_through_links(folder: Path) -> None:
    Path("elsewhere").mkdir()
    shutil.copytree("z0.zarr", "elsewhere/old.zarr")
    Path("link.zarr").symlink_to("elsewhere/old.zarr")
    Path("dangling.zarr").symlink_to("elsewhere/new.zarr")
    for name, target in (("link", "old"), ("dangling", "new")):
        assert main(f"{FUSE} -o {name}.zarr --overwrite".split()) == 0
        assert Path(f"{name}.zarr").is_symlink()
        np.testing.assert_array_equal(
            zarr.open(f"elsewhere/{target}.zarr", mode="r")[:], np.roll(TRUTH, 1, 2)
        )
    assert sorted(os.listdir("elsewhere")) == ["new.zarr", "old.zarr"]


def test_somebody_elses_folder_in_the_way_is_left_alone(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The run wrote to a user's folder with the name of an unfinished run, and deleted it at the
    end.
    """
    Path("out.zarr.partial").mkdir()
    Path("out.zarr.partial/plan.json").write_text("of another program")
    Path("file.zarr.partial").touch()
    Path("link.zarr.partial").symlink_to("nowhere")
    Path("loop.zarr").symlink_to("loop.zarr")
    before = snapshot(folder)
    for name in ("out", "file", "link", "loop"):
        assert name in refused(f"{FUSE} -o {name}.zarr", capfd)
    assert snapshot(folder) == before


def group() -> dict[str, Any]:
    """Return the metadata of an OME-Zarr image."""
    scale = {"type": "scale", "scale": [1, 1, 1]}
    datasets = [{"path": "0", "coordinateTransformations": [scale]}]
    axes = [{"name": name, "type": "space"} for name in "zyx"]
    entry = {"version": "0.5", "multiscales": [{"axes": axes, "datasets": datasets}]}
    return {"zarr_format": 3, "node_type": "group", "attributes": {"ome": entry}}


def damaged(whole: Any) -> Iterator[Any]:
    """Yield copies of JSON contents in which one value at a time is replaced, at every depth."""
    if not isinstance(whole, (dict, list)):
        return
    for key in list(whole) if isinstance(whole, dict) else range(len(whole)):
        for other in (None, -1, "x", [], {}, [1, 2], [0, 0, 0], [float("nan")] * 3, "../z1.zarr"):
            changed = copy.copy(whole)
            changed[key] = other
            yield changed
        for part in damaged(whole[key]):
            changed = copy.copy(whole)
            changed[key] = part
            yield changed


@pytest.mark.parametrize("kind", ["array", "image"])
def test_damaged_metadata_is_one_clear_error(folder: Path, kind: str) -> None:
    shutil.copytree("z0.zarr", "whole.zarr")
    if kind == "image":
        shutil.copytree("z0.zarr", "whole.zarr/0")
        Path("whole.zarr/zarr.json").write_text(json.dumps(group()))
    assert open_volume(Path("whole.zarr")).shape == TRUTH.shape
    whole = json.loads(Path("whole.zarr/zarr.json").read_text(encoding="utf-8"))
    refusals = 0
    for text in ("", "{", "[" * 10_000, "5", *map(json.dumps, damaged(whole))):
        Path("whole.zarr/zarr.json").write_text(text)
        try:
            volume = open_volume(Path("whole.zarr"))
        except FileError:
            refusals += 1
            continue
        assert min(volume.shape) > 0
        assert np.isfinite(volume.spacing).all()
    assert refusals > 50


def test_damaged_chunks_pipes_and_impossible_sizes_are_refused(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    chunk = next(file for file in Path("z1.zarr/c").rglob("*") if file.is_file())
    chunk.write_bytes(chunk.read_bytes()[:5])
    assert "z1.zarr: a chunk cannot be read" in refused(f"{FUSE} -o out.zarr", capfd)
    if hasattr(os, "mkfifo"):
        chunk.unlink()
        os.mkfifo(chunk)
        assert "is not a regular file" in refused(f"{FUSE} -o out.zarr", capfd)
    metadata = json.loads(Path("z2.zarr/zarr.json").read_text(encoding="utf-8"))
    Path("z2.zarr/zarr.json").write_text(json.dumps({**metadata, "shape": [10**12] * 3}))
    words = "fuse z2.zarr z2.zarr --method vote -o out.zarr"
    assert "must be a volume, got the shape" in refused(words, capfd)


def test_after_a_damaged_chunk_nothing_is_said_of_tasks_that_are_left(
    tmp_path: Path, run_python: Any
) -> None:
    """Issue 44: "Task was destroyed but it is pending!" was printed for each chunk still to be
    read.
    """
    for name in "ab":
        store = tmp_path / f"{name}.zarr"
        zarr.create_array(store, data=np.tri(200, dtype=np.uint8), chunks=(10, 10))
    for chunk in sorted((tmp_path / "b.zarr" / "c").glob("*/*"))[::3]:
        chunk.write_bytes(b"no chunk")
    words = ["fuse", *(str(tmp_path / f"{name}.zarr") for name in "aba")]
    done = run_python(f"""
        from itk_consensus.cli import main
        raise SystemExit(main([*{words!r}, "-o", {str(tmp_path / "out.zarr")!r}]))
    """)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert "b.zarr: a chunk cannot be read" in line


def test_image_files_that_lie_differently_are_not_fused(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    image = sitk.GetImageFromArray(TRUTH)
    sitk.WriteImage(image, "a.nrrd")
    image.SetDirection([-1, 0, 0, 0, -1, 0, 0, 0, 1])
    sitk.WriteImage(image, "b.nrrd")
    line = refused("fuse a.nrrd b.nrrd --method vote -o out.zarr", capfd)
    assert "b.nrrd does not occupy the same space as a.nrrd: direction" in line
