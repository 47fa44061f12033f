"""Results of an interrupted run are reused only if they are complete and have the same plan."""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path
from typing import Any

import dask
import numpy as np
import pytest
import SimpleITK as sitk
import zarr

import itk_consensus as ic
from itk_consensus.assessment.input_notes import InputNotes
from itk_consensus.chunked.big_volumes import fuse_volumes
from itk_consensus.chunked.run_record import RunRecord
from itk_consensus.chunked.volumes import VolumeFile
from itk_consensus.cli import main
from itk_consensus.core.errors import FileError
from itk_consensus.storage.locking import exclusive_lock

SHAPE, CHUNKS, BLOCK = (12, 16, 8), (4, 8, 8), (4, 8, 8)


def arrays(number: int = 3) -> list[np.ndarray]:
    return [np.random.default_rng(i).integers(0, 3, SHAPE).astype("u1") for i in range(number)]


def store(path: Path, array: np.ndarray, chunks: tuple[int, ...] = CHUNKS) -> Path:
    made = zarr.create_array(
        str(path), shape=array.shape, chunks=chunks, dtype=array.dtype, overwrite=True
    )
    made[:] = array
    return path


@pytest.fixture
def stores(tmp_path: Path) -> list[Path]:
    return [store(tmp_path / f"{i}.zarr", a) for i, a in enumerate(arrays())]


def stopped(
    inputs: list[Path], output: Path, share: float, filter_: Any = None, **more: Any
) -> None:
    """Start a run that is stopped at a given fraction of the work."""

    def stop(done: float, doing: str) -> None:
        if done > share:
            raise KeyboardInterrupt

    # Blocks are processed one after the other; threads would still be writing when the next run
    # begins.
    filter_ = filter_ or ic.MultiLabelSTAPLEImageFilter()
    with pytest.raises(KeyboardInterrupt), dask.config.set(scheduler="synchronous"):
        fuse_volumes(inputs, output, filter_, block=BLOCK, report=stop, **more)


def found(output: Path) -> Any:
    return zarr.open_array(str(output), mode="r")[:]


def test_a_rater_of_a_stopped_run_is_not_the_mask_of_the_next(
    stores: list[Path], tmp_path: Path
) -> None:
    """Issue 27, item 5: after `fuse a b c` was interrupted, `fuse a b --mask c` used votes of the
    first run.
    """
    output = tmp_path / "out.zarr"
    stopped(stores, output, 0.7)
    one, other, mask = stores
    fuse_volumes([one, other], output, ic.MultiLabelSTAPLEImageFilter(), mask=mask, block=BLOCK)
    images = arrays()
    wanted = ic.MultiLabelSTAPLE(images[:2], maskImage=images[2])
    np.testing.assert_array_equal(found(output), wanted)


@pytest.mark.parametrize("kind", ["zarr", "mha"])
def test_stores_and_files_that_were_written_over_are_read_anew(kind: str, tmp_path: Path) -> None:
    """Issue 27, item 6: stores and headers of files remained open between calls."""
    filter_ = ic.LabelVotingImageFilter()
    for seed, (shape, chunks) in enumerate([(SHAPE, CHUNKS), (SHAPE[::-1], (5, 8, 6))]):
        images = [np.roll(array.reshape(shape), seed, 0) for array in arrays()]
        paths = [tmp_path / f"{i}.{kind}" for i in range(3)]
        for path, image in zip(paths, images, strict=True):
            if kind == "zarr":
                store(path, image, chunks)
            else:
                sitk.WriteImage(sitk.GetImageFromArray(image), str(path))
        output = tmp_path / f"out{seed}.zarr"
        fuse_volumes(paths, output, filter_, block=BLOCK)
        made = zarr.open(str(output), mode="r")
        made = made[:] if kind == "zarr" else made["0"][:]
        np.testing.assert_array_equal(made, filter_.Execute(images))


def test_two_runs_do_not_write_one_store(stores: list[Path], tmp_path: Path) -> None:
    """Issue 27, item 7: both runs reported success, but the store was unreadable or contained parts
    of both.
    """
    output = tmp_path / "out.zarr"
    with exclusive_lock(output), pytest.raises(FileError, match="is being written by process"):
        fuse_volumes(stores, output, ic.LabelVotingImageFilter())
    assert not output.exists()
    fuse_volumes(stores, output, ic.LabelVotingImageFilter())


def damage(path: Path, how: str) -> None:
    content = path.read_bytes()
    if how == "gone":
        path.unlink()
    elif how == "cut":
        path.write_bytes(content[: len(content) // 2])
    elif how == "turned":
        path.write_bytes(content[::-1])
    else:
        path.write_bytes(b"")


@pytest.mark.parametrize(
    ("how", "share"), [("cut", 0.4), ("gone", 0.8), ("cut", 0.8), ("turned", 0.8), ("empty", 0.8)]
)
def test_whatever_is_lost_of_a_stopped_run_is_made_again(
    how: str, share: float, stores: list[Path], tmp_path: Path
) -> None:
    """Issue 27, item 12: truncated files and missing chunks or plans caused errors or holes."""
    output, partial = tmp_path / "out.zarr", tmp_path / "out.zarr.partial"
    stopped(stores, output, share)
    files = sorted(path for path in partial.rglob("*") if path.is_file())
    for path in random.Random(f"{how}{share}").sample(files, 3):
        damage(path, how)
    fuse_volumes(stores, output, ic.MultiLabelSTAPLEImageFilter(), block=BLOCK)
    np.testing.assert_array_equal(found(output), ic.MultiLabelSTAPLE(arrays()))
    assert not partial.exists()


def test_chunks_that_are_gone_though_they_were_written_are_written_again(
    stores: list[Path], tmp_path: Path
) -> None:
    output = tmp_path / "out.zarr"
    stopped(stores, output, 0.9)
    chunks = list(tmp_path.glob("out.zarr.partial/*/output.zarr/c/*/*/*"))
    assert len(chunks) > 3
    for chunk in chunks:
        chunk.unlink()
    fuse_volumes(stores, output, ic.MultiLabelSTAPLEImageFilter(), block=BLOCK)
    np.testing.assert_array_equal(found(output), ic.MultiLabelSTAPLE(arrays()))


@pytest.mark.parametrize("how", ["gone", "changed with its time kept"])
def test_a_chunk_of_an_input_that_is_lost_or_changed_between_runs_is_noticed(
    how: str, stores: list[Path], tmp_path: Path
) -> None:
    """Issue 27, item 12: half of the result was computed from the previous input."""
    output, images = tmp_path / "out.zarr", arrays()
    stopped(stores, output, 0.6)
    chunk = stores[0] / "c" / "2" / "1" / "0"
    place = np.s_[8:12, 8:16]
    if how == "gone":
        chunk.unlink()
        images[0][place] = 0
    else:
        status = chunk.stat()
        other = store(tmp_path / "other.zarr", np.roll(images[0], 1, 2))
        shutil.copyfile(other / "c" / "2" / "1" / "0", chunk)
        os.utime(chunk, ns=(status.st_atime_ns, status.st_mtime_ns))
        images[0][place] = np.roll(images[0], 1, 2)[place]
    fuse_volumes(stores, output, ic.MultiLabelSTAPLEImageFilter(), block=BLOCK)
    np.testing.assert_array_equal(found(output), ic.MultiLabelSTAPLE(images))


def test_a_worker_of_another_plan_cannot_write_into_the_next(
    stores: list[Path], tmp_path: Path
) -> None:
    """On a cluster, a worker may outlive a killed run and still write to its folder."""
    output, kept = tmp_path / "out.zarr", []
    write = VolumeFile.write

    def keeping(store: VolumeFile, *known: Any) -> None:
        kept.append((store, known))
        write(store, *known)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(VolumeFile, "write", keeping)
        stopped(stores, output, 0.6)
        stopped(stores[:2], output, 0.6, ic.LabelVotingImageFilter())
    store, known = kept[0]
    with pytest.raises(FileError, match=r"cannot be written: .* does not exist"):
        write(store, *known)
    fuse_volumes(stores[:2], output, ic.LabelVotingImageFilter(), block=BLOCK)
    np.testing.assert_array_equal(found(output), ic.LabelVoting(arrays()[:2]))


def test_a_record_makes_nothing_but_what_records_hold(tmp_path: Path) -> None:
    """The folder next to an output may be untrusted: reading it must not run code."""
    record = RunRecord(tmp_path)
    value = InputNotes(*(np.arange(3).astype(kind) for kind in ("?", "u1", "f4", "i8")))
    record.save("pass-0", (0, 1), (value, None, 5))
    (kept, nothing, number) = record.load("pass-0", (0, 1))
    assert isinstance(kept, InputNotes)
    for one, other in zip(kept, value, strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.dtype == other.dtype
    assert (nothing, number) == (None, 5)
    for text in ('["eval", "1"]', '["Path", "/"]', '["array", 1]', '["array", 7]', "[]", "{"):
        file = tmp_path / "pass-0" / "0-1.npz"
        np.savez(file, np.array(text), np.array([len], dtype=object), allow_pickle=True)
        assert record.load("pass-0", (0, 1)) is None, text


def test_a_store_whose_successor_was_not_there_yet_is_put_back(
    stores: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / "out.zarr"
    fuse_volumes(stores, output, ic.LabelVotingImageFilter())
    before = found(output)
    replace = os.replace

    def stop_at_the_second(source: Any, target: Any) -> None:
        if Path(target) == output:
            raise KeyboardInterrupt
        replace(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", stop_at_the_second)
        with pytest.raises(KeyboardInterrupt):
            fuse_volumes(stores, output, ic.MultiLabelSTAPLEImageFilter(), overwrite=True)
    assert not output.exists()
    with pytest.raises(FileError, match="exists already"):
        fuse_volumes(stores, output, ic.MultiLabelSTAPLEImageFilter())
    np.testing.assert_array_equal(found(output), before)


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
def test_a_private_store_stays_private(stores: list[Path], tmp_path: Path) -> None:
    """Issue 27, item 16: the same for stores as for files."""
    output = tmp_path / "out.zarr"
    words = ["fuse", *map(str, stores), "-o", str(output), "--method", "vote", "--overwrite"]
    assert main(words) == 0
    output.chmod(0o700)
    assert main(words) == 0
    assert output.stat().st_mode & 0o777 == 0o700
