"""Volumes on disk are fused block by block, with the same result even if a run is interrupted."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask
import numpy as np
import pytest
import SimpleITK as sitk
import zarr
from distributed import Client

import itk_consensus as ic
from itk_consensus.batch.workers import LOCAL, dask_client
from itk_consensus.chunked.big_volumes import block_size, fuse_volumes
from itk_consensus.chunked.run_record import RunRecord
from itk_consensus.chunked.volumes import open_volume
from itk_consensus.cli import main
from itk_consensus.core.errors import FileError, GeometryError, InputError
from itk_consensus.images.slabs import ImageSlabs

SHAPE = (20, 26, 30)
CHUNKS = (8, 8, 16)
BLOCK = (8, 16, 16)


def raters(labels: int = 4, number: int = 3) -> list[np.ndarray]:
    rng = np.random.default_rng(labels)
    truth = rng.integers(0, labels, (2, 2, 3)).repeat(10, 0).repeat(13, 1).repeat(10, 2)
    noise = rng.integers(0, labels, (number, *SHAPE))
    return list(np.where(rng.random(noise.shape) < 0.2, noise, truth).astype(np.uint8))


def plain_store(path: Path, array: np.ndarray, form: int = 3) -> Path:
    store = zarr.create_array(
        str(path), shape=array.shape, chunks=CHUNKS, dtype=array.dtype, zarr_format=form
    )
    store[:] = array
    return path


def ome_store(path: Path, array: np.ndarray, form: int, origin: float = 3.0) -> Path:
    """Write an image with two resolutions, a spacing, a translation, and a scale common to all
    levels.
    """
    group = zarr.create_group(str(path), zarr_format=form)
    datasets = []
    for number, level in enumerate([array, array[:, ::2, ::2]]):
        store = group.create_array(f"s{number}", shape=level.shape, chunks=CHUNKS, dtype="u1")
        store[:] = level
        scale = [2.0, 0.5 * 2**number, 0.5 * 2**number]
        transforms = [
            {"type": "scale", "scale": scale},
            {"type": "translation", "translation": [origin, -4.0, 5.0]},
        ]
        datasets.append({"path": f"s{number}", "coordinateTransformations": transforms})
    axes = [{"name": name, "type": "space", "unit": "millimeter"} for name in "zyx"]
    entry: dict[str, Any] = {"axes": axes, "datasets": datasets}
    if form == 2:
        group.attrs["multiscales"] = [{"version": "0.4", **entry}]
    else:
        group.attrs["ome"] = {"version": "0.5", "multiscales": [entry]}
    return path


@pytest.fixture
def stores(tmp_path: Path) -> list[Path]:
    return [plain_store(tmp_path / f"{i}.zarr", a) for i, a in enumerate(raters())]


@pytest.mark.parametrize(
    "filter_",
    [
        ic.MultiLabelSTAPLEImageFilter(),
        ic.STAPLEImageFilter(NumberOfInitializations=3),
        ic.LabelVotingImageFilter(),
        ic.CorrectedVoteFilter(),
        ic.MajorityVoteFilter(SmoothingSigma=0.8),
    ],
    ids=repr,
)
def test_stores_give_what_memory_gives(
    filter_: ic.LabelFusionFilter, stores: list[Path], tmp_path: Path
) -> None:
    measured = fuse_volumes(stores, tmp_path / "fused.zarr", filter_, block=BLOCK)
    filter_.Execute(raters())
    fused = zarr.open_array(str(tmp_path / "fused.zarr"), mode="r")
    np.testing.assert_array_equal(fused[:], filter_.GetLabelImage())
    assert fused.chunks == CHUNKS
    assert measured["Labels"] == filter_.GetLabels()
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        *(f"{i}.zarr" for i in range(3)),
        "fused.zarr",
    ]


@pytest.mark.parametrize(("form", "version"), [(2, "0.4"), (3, "0.5")])
def test_spacing_translation_and_pyramid_of_ome_zarr_are_kept(
    form: int, version: str, tmp_path: Path
) -> None:
    paths = [ome_store(tmp_path / f"{i}.ome.zarr", a, form) for i, a in enumerate(raters())]
    output = tmp_path / "fused.ome.zarr"
    fuse_volumes(paths, output, ic.CorrectedVoteFilter(), block=BLOCK)
    images = [sitk.GetImageFromArray(array) for array in raters()]
    for image in images:
        image.SetSpacing((0.5, 0.5, 2.0))
    wanted = sitk.GetArrayFromImage(ic.CorrectedVote(images))
    group = zarr.open_group(str(output), mode="r")
    np.testing.assert_array_equal(group["0"][:], wanted)
    np.testing.assert_array_equal(group["1"][:], wanted[:, ::2, ::2])
    made, given = open_volume(output), open_volume(paths[0])
    assert (made.spacing, made.translation) == ((2.0, 0.5, 0.5), (3.0, -4.0, 5.0))
    assert (made.spacing, made.translation) == (given.spacing, given.translation)
    assert made.factors == given.factors
    assert made.multiscales["version"] == version
    assert made.multiscales["axes"] == given.multiscales["axes"]


def test_ome_zarr_is_what_another_reader_sees(tmp_path: Path) -> None:
    ngff = pytest.importorskip("ngff_zarr")
    paths = [ome_store(tmp_path / f"{i}.ome.zarr", a, 2) for i, a in enumerate(raters())]
    fuse_volumes(paths, tmp_path / "fused.ome.zarr", ic.LabelVotingImageFilter(), block=BLOCK)
    image = ngff.from_ngff_zarr(str(tmp_path / "fused.ome.zarr")).images[0]
    assert image.scale == {"z": 2.0, "y": 0.5, "x": 0.5}
    assert image.translation == {"z": 3.0, "y": -4.0, "x": 5.0}


def test_a_store_elsewhere_is_named(tmp_path: Path) -> None:
    one = ome_store(tmp_path / "one.zarr", raters()[0], 3)
    other = ome_store(tmp_path / "other.zarr", raters()[1], 3, origin=3.5)
    with pytest.raises(GeometryError, match=r"other\.zarr does not occupy .*: origin"):
        fuse_volumes([one, other], tmp_path / "fused.zarr", ic.LabelVotingImageFilter())


@pytest.mark.parametrize("suffix", ["mha", "nrrd", "nii", "nii.gz"])
def test_image_files_are_read_by_slabs(suffix: str, tmp_path: Path) -> None:
    paths = []
    for number, array in enumerate(raters()):
        image = sitk.GetImageFromArray(array)
        image.SetSpacing((0.5, 0.75, 2.0))
        image.SetOrigin((1.0, 2.0, 3.0))
        paths.append(tmp_path / f"{number}.{suffix}")
        sitk.WriteImage(image, str(paths[-1]), suffix == "nii.gz")
    box = (slice(3, 9), slice(0, 26), slice(5, 6))
    np.testing.assert_array_equal(ImageSlabs.of(paths[0]).read(box), raters()[0][box])
    output = tmp_path / "fused.zarr"
    fuse_volumes(paths, output, ic.MultiLabelSTAPLEImageFilter(), block=BLOCK)
    made = open_volume(output)
    assert (made.spacing, made.translation) == ((2.0, 0.75, 0.5), (3.0, 2.0, 1.0))
    fused = zarr.open_group(str(output), mode="r")["0"][:]
    np.testing.assert_array_equal(fused, ic.MultiLabelSTAPLE(raters()))


def test_a_mask_leaves_the_rest_background(stores: list[Path], tmp_path: Path) -> None:
    mask = (np.random.default_rng(9).random(SHAPE) < 0.5).astype(np.uint8)
    place = plain_store(tmp_path / "mask.zarr", mask)
    output = tmp_path / "fused.zarr"
    fuse_volumes(stores, output, ic.MultiLabelSTAPLEImageFilter(), mask=place, block=BLOCK)
    wanted = ic.MultiLabelSTAPLE(raters(), maskImage=mask)
    np.testing.assert_array_equal(zarr.open_array(str(output))[:], wanted)


# -- stopped runs -------------------------------------------------------------------------------

_KILLED_RUN = """
import os, signal, sys
from pathlib import Path
import itk_consensus
from itk_consensus.chunked.big_volumes import fuse_volumes

def stop(share, doing):
    if share > {share}:
        os.kill(os.getpid(), signal.SIGKILL)

*inputs, output = map(Path, sys.argv[1:])
fuse_volumes(inputs, output, itk_consensus.{filter_}(), block={block}, report=stop)
"""


@pytest.mark.parametrize(
    ("name", "share"),
    [
        ("MultiLabelSTAPLEImageFilter", 0.3),
        ("CorrectedVoteFilter", 0.8),
        ("ConsensusFilter", 0.3),
        ("ConsensusFilter", 0.8),
    ],
)
def test_a_killed_run_is_taken_up_where_it_was_stopped(
    name: str, share: float, stores: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / "fused.zarr"
    code = _KILLED_RUN.format(share=share, filter_=name, block=BLOCK)
    run = subprocess.run([sys.executable, "-c", code, *map(str, [*stores, output])], check=False)
    assert run.returncode == -signal.SIGKILL
    assert not output.exists()
    partial = tmp_path / "fused.zarr.partial"
    finished = {(f.parent.name, f.stem) for f in partial.glob("*/*/*-*-*.npz")}
    assert finished
    again: set[tuple[str, str]] = set()
    save = RunRecord.save

    def saving(record: RunRecord, stage: str, place: Any, value: Any) -> None:
        if place:
            again.add((stage, "-".join(map(str, place))))
        save(record, stage, place, value)

    monkeypatch.setattr(RunRecord, "save", saving)
    filter_ = getattr(ic, name)()
    fuse_volumes(stores, output, filter_, block=BLOCK)
    passes = 3 if name.startswith("Corrected") else 2
    assert not again & finished
    assert len(again | finished) == passes * 12
    np.testing.assert_array_equal(zarr.open_array(str(output))[:], filter_.Execute(raters()))
    assert not partial.exists()


def test_another_plan_begins_anew(stores: list[Path], tmp_path: Path) -> None:
    output = tmp_path / "fused.zarr"

    def stop(share: float, doing: str) -> None:
        if share > 0.6:
            raise KeyboardInterrupt

    # Blocks are processed one after the other; threads would still be writing when the next run
    # begins.
    with pytest.raises(KeyboardInterrupt), dask.config.set(scheduler="synchronous"):
        fuse_volumes(stores, output, ic.LabelVotingImageFilter(), block=BLOCK, report=stop)
    assert (tmp_path / "fused.zarr.partial").is_dir()
    fuse_volumes(stores[:2], output, ic.MultiLabelSTAPLEImageFilter(), block=BLOCK)
    wanted = ic.MultiLabelSTAPLE(raters()[:2])
    np.testing.assert_array_equal(zarr.open_array(str(output))[:], wanted)


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    """Start a cluster of two worker processes."""
    with dask_client(LOCAL, 2) as client:
        yield client


def test_a_cluster_of_this_machine_takes_a_free_port() -> None:
    """dask uses port 8787 for its dashboard by default, and warns if it is in use."""
    with socket.socket() as other:
        try:
            other.bind(("localhost", 8787))
            other.listen()
        except OSError:
            pass  # another process uses the port, which serves the same purpose
        with dask_client(LOCAL, 1) as client:
            assert client.submit(sum, [1, 2]).result() == 3


def test_a_killed_worker_changes_nothing(
    client: Client, stores: list[Path], tmp_path: Path
) -> None:
    workers = list(client.run(os.getpid).values())
    killed: list[int] = []

    def kill_one(share: float, doing: str) -> None:
        if not killed and share > 0.1:
            killed.append(workers[0])
            os.kill(workers[0], signal.SIGKILL)

    output = tmp_path / "fused.zarr"
    filter_ = ic.MultiLabelSTAPLEImageFilter()
    fuse_volumes(stores, output, filter_, block=BLOCK, report=kill_one)
    assert killed
    np.testing.assert_array_equal(zarr.open_array(str(output))[:], filter_.Execute(raters()))


# -- the command line ---------------------------------------------------------------------------


def test_the_command_fuses_stores(
    stores: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "fused.zarr"
    assert main(["fuse", *map(str, stores), "-o", str(output)]) == 0
    assert "corrected-vote of 3 raters" in capsys.readouterr().out
    np.testing.assert_array_equal(zarr.open_array(str(output))[:], ic.CorrectedVote(raters()))
    assert main(["fuse", *map(str, stores), "-o", str(output)]) != 0
    assert "exists; give --overwrite" in capsys.readouterr().err
    words = ["fuse", *map(str, stores), "-o", str(output), "--overwrite", "--method", "staple"]
    assert main(words) == 0
    assert "Sensitivity" in capsys.readouterr().out


def test_the_command_says_which_method_needs_memory(
    stores: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = str(tmp_path / "f.zarr")
    words = ["fuse", *map(str, stores), "-o", output, "--method", "spatial-staple"]
    assert main(words) != 0
    assert "cannot be exact in chunks" in capsys.readouterr().err


# -- refusals -----------------------------------------------------------------------------------


def test_a_folder_that_is_no_store_is_not_replaced(stores: list[Path], tmp_path: Path) -> None:
    output = tmp_path / "mine.zarr"
    output.mkdir()
    (output / "thesis.txt").write_text("irreplaceable")
    with pytest.raises(FileError, match="is not a zarr store"):
        fuse_volumes(stores, output, ic.LabelVotingImageFilter(), overwrite=True)
    assert (output / "thesis.txt").exists()
    with pytest.raises(FileError, match="would overwrite the input"):
        fuse_volumes(stores, stores[1], ic.LabelVotingImageFilter(), overwrite=True)


def test_what_is_no_volume_is_named(stores: list[Path], tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"none\.zarr"):
        fuse_volumes([tmp_path / "none.zarr"], tmp_path / "f.zarr", ic.LabelVotingImageFilter())
    zarr.create_group(str(tmp_path / "group.zarr"))
    with pytest.raises(FileError, match="plain group"):
        open_volume(tmp_path / "group.zarr")
    with pytest.raises(InputError, match="cannot be exact in chunks"):
        fuse_volumes(stores, tmp_path / "f.zarr", ic.SpatialSTAPLEFilter())


def test_blocks_are_whole_chunks(stores: list[Path]) -> None:
    volume = open_volume(stores[0])
    assert block_size(volume, (1, 9, 40)) == (8, 16, 32)
    assert all(size % chunk == 0 for size, chunk in zip(block_size(volume), CHUNKS, strict=True))
