"""The geometry of volumes on disk is compared by the same check as that of images in memory."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import SimpleITK as sitk
import zarr

import itk_consensus as ic
from itk_consensus.chunked.big_volumes import fuse_volumes
from itk_consensus.chunked.volumes import open_volume
from itk_consensus.cli import main
from itk_consensus.core.errors import ConsensusWarning, FileError, GeometryError

SHAPE = (4, 6, 8)
TURNED = (0.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0)


def labels(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 3, SHAPE).astype(np.uint8)


def image_file(path: Path, seed: int, direction: tuple[float, ...] | None = None) -> Path:
    image = sitk.GetImageFromArray(labels(seed))
    if direction is not None:
        image.SetDirection(direction)
    sitk.WriteImage(image, str(path))
    return path


def store(path: Path, seed: int, scale: Any, unit: str | None, names: str = "zyx") -> Path:
    group = zarr.create_group(str(path), zarr_format=3)
    group.create_array("0", shape=SHAPE, chunks=(4, 3, 4), dtype="u1")[:] = labels(seed)
    kinds = {"t": "time", "c": "channel"}
    axes = [{"name": name, "type": kinds.get(name, "space")} for name in names]
    for axis in axes if unit else ():
        axis["unit"] = str(unit)
    transforms = [{"type": "scale", "scale": scale}]
    datasets = [{"path": "0", "coordinateTransformations": transforms}]
    group.attrs["ome"] = {"version": "0.5", "multiscales": [{"axes": axes, "datasets": datasets}]}
    return path


def message_of(inputs: list[Path], output: Path) -> str:
    with pytest.raises(GeometryError) as error:
        fuse_volumes(inputs, output, ic.LabelVotingImageFilter())
    return str(error.value)


def test_directions_of_image_files_are_compared(tmp_path: Path) -> None:
    paths = [image_file(tmp_path / "a.mha", 0), image_file(tmp_path / "b.mha", 1, TURNED)]
    found = message_of(paths, tmp_path / "fused.zarr")
    with pytest.raises(GeometryError) as in_memory:
        ic.LabelVoting([sitk.ReadImage(p) for p in paths])
    assert "direction" in found
    assert "flipped or permuted" in found
    wanted = (
        str(in_memory.value).replace("input 1", str(paths[1])).replace("input 0", str(paths[0]))
    )
    assert found == wanted


def test_a_mask_that_is_turned_is_named(tmp_path: Path) -> None:
    paths = [image_file(tmp_path / f"{i}.mha", i) for i in range(2)]
    mask = image_file(tmp_path / "mask.mha", 2, TURNED)
    with pytest.raises(GeometryError, match=r"mask\.mha does not occupy .*direction"):
        fuse_volumes(paths, tmp_path / "f.zarr", ic.LabelVotingImageFilter(), mask=mask)


def test_the_command_names_the_option_of_a_tolerance(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nearly = (1.0, 1e-4, 0.0, -1e-4, 1.0, 0.0, 0.0, 0.0, 1.0)
    paths = [image_file(tmp_path / "a.mha", 0), image_file(tmp_path / "b.mha", 1, nearly)]
    words = ["fuse", *map(str, paths), "--method", "vote", "-o", str(tmp_path / "fused.zarr")]
    assert main(words) == 2
    assert "--direction-tolerance" in (text := capsys.readouterr().err)
    assert "SetDirection" not in text


def test_a_turned_output_says_so_and_keeps_its_direction(tmp_path: Path) -> None:
    paths = [image_file(tmp_path / f"{i}.mha", i, TURNED) for i in range(2)]
    with pytest.warns(ConsensusWarning, match=r"0\.mha has axes that are not parallel"):
        fuse_volumes(paths, tmp_path / "fused.zarr", ic.LabelVotingImageFilter())
    assert open_volume(tmp_path / "fused.zarr").geometry.direction == TURNED
    # Therefore an output can be fused again with its inputs.
    with pytest.warns(ConsensusWarning, match="not parallel"):
        fuse_volumes(
            [paths[0], tmp_path / "fused.zarr"], tmp_path / "g.zarr", ic.LabelVotingImageFilter()
        )


def test_units_of_stores_are_compared_and_kept(tmp_path: Path) -> None:
    fine = store(tmp_path / "fine.zarr", 0, [2000.0, 500.0, 500.0], "micrometer")
    same = store(tmp_path / "same.zarr", 1, [2.0, 0.5, 0.5], "millimeter")
    other = store(tmp_path / "other.zarr", 2, [2000.0, 500.0, 500.0], "millimeter")
    assert "spacing" in message_of([fine, other], tmp_path / "f.zarr")
    measured = fuse_volumes([fine, same], tmp_path / "f.zarr", ic.CorrectedVoteFilter())
    assert measured["SmoothingSigmaInMillimetres"] < 2
    made = open_volume(tmp_path / "f.zarr")
    assert made.scale == (2000.0, 500.0, 500.0)
    assert {axis["unit"] for axis in made.multiscales["axes"]} == {"micrometer"}


def test_axes_in_another_order_are_no_same_space(tmp_path: Path) -> None:
    one = store(tmp_path / "one.zarr", 0, [1.0, 1.0, 1.0], None)
    other = store(tmp_path / "other.zarr", 1, [1.0, 1.0, 1.0], None, "xyz")
    assert "axes" in message_of([one, other], tmp_path / "f.zarr")


@pytest.mark.parametrize("names", ["yxc", "tyx"])
def test_time_and_channels_are_not_taken_for_space(names: str, tmp_path: Path) -> None:
    """Otherwise a smoothed vote would smooth along the time and channel axes."""
    path = store(tmp_path / "one.zarr", 0, [1.0, 1.0, 1.0], None, names)
    with pytest.raises(FileError, match=f"time or channels, got {' '.join(names)}"):
        open_volume(path)


@pytest.mark.parametrize("types", [("u1", "u2"), ("u1", "i4"), ("?", "u1"), ("u2", "f4")], ids=str)
def test_raters_of_different_types_give_what_memory_gives(
    types: tuple[str, str], tmp_path: Path
) -> None:
    arrays = [(labels(i) % 2).astype(dtype) for i, dtype in enumerate(types)]
    paths = []
    for number, array in enumerate(arrays):
        paths.append(tmp_path / f"{number}.zarr")
        zarr.create_array(str(paths[-1]), shape=SHAPE, chunks=(4, 3, 4), dtype=array.dtype)[:] = (
            array
        )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fuse_volumes(paths, tmp_path / "f.zarr", ic.LabelVotingImageFilter())
    found = zarr.open_array(str(tmp_path / "f.zarr"), mode="r")[:]
    np.testing.assert_array_equal(found, ic.LabelVoting(arrays))


def test_voxels_rewritten_after_a_kill_are_read_again(tmp_path: Path) -> None:
    """Previously, only the modification times of the store's metadata were checked."""
    path = store(tmp_path / "a.zarr", 0, [1.0, 1.0, 1.0], None)
    before = open_volume(path).content()
    chunk = next(file for file in (path / "0" / "c").rglob("*") if file.is_file())
    times = (chunk.stat().st_atime_ns, chunk.stat().st_mtime_ns)
    chunk.write_bytes(chunk.read_bytes()[::-1])
    os.utime(chunk, ns=times)
    assert open_volume(path).content() != before
