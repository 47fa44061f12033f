from __future__ import annotations

import contextlib
import gzip
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import nibabel
import numpy as np
import pytest
import SimpleITK as sitk

import itk_consensus as ic
from itk_consensus.core.errors import FileError
from itk_consensus.images.files import read_image, split_image_name, write_image
from itk_consensus.storage.files import read_bytes, write_text


def labelled(seed: int = 0, dtype: type = np.uint8) -> Any:
    values = np.random.default_rng(seed).integers(0, 5, (4, 5, 6)).astype(dtype)
    image = sitk.GetImageFromArray(values)
    image.SetSpacing([0.5, 1.0, 2.0])
    image.SetOrigin([1.0, -2.0, 3.0])
    return image


def same_voxels(a: Any, b: Any) -> bool:
    return np.array_equal(sitk.GetArrayViewFromImage(a), sitk.GetArrayViewFromImage(b))


def the_only_error_line(path: Path, action: Any, *arguments: Any) -> str:
    with pytest.raises(FileError) as caught:
        action(*arguments)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    return message


DIRECTIONS = {
    "flipped": np.diag([-1.0, -1.0, 1.0]),
    "oblique": np.array([[0.8, -0.6, 0.0], [0.6, 0.8, 0.0], [0.0, 0.0, 1.0]]),
    "skewed": np.array([[1.0, 0.6, 0.0], [0.0, 0.8, 0.0], [0.0, 0.0, 1.0]]),
}


def placed(direction: np.ndarray) -> sitk.Image:
    image = sitk.GetImageFromArray(np.ones((3, 4, 5), np.uint16))
    image.SetSpacing((0.5, 0.7, 2.5))
    image.SetOrigin((-1234.567, 33.3, 7.0))
    image.SetDirection(direction.ravel().tolist())
    return image


@pytest.mark.parametrize("turned", DIRECTIONS)
@pytest.mark.parametrize("suffix", ["vtk", "gipl", "mrc", "tif", "pic"])
def test_a_format_that_drops_the_direction_is_refused(
    suffix: str, turned: str, tmp_path: Path
) -> None:
    path = tmp_path / f"a.{suffix}"
    formats = r"\.nrrd, \.nhdr" if turned == "skewed" else r"\.nii\.gz, \.nrrd"
    with pytest.raises(FileError, match=rf"format holds \w+ \(.*use {formats} or \.mha"):
        write_image(placed(DIRECTIONS[turned]), path)
    assert not path.exists()


@pytest.mark.parametrize("turned", DIRECTIONS)
@pytest.mark.parametrize("suffix", ["nii", "nii.gz", "nrrd", "nhdr", "mha", "mhd"])
def test_geometry_reads_back_as_it_was_or_nothing_is_written(
    suffix: str, turned: str, tmp_path: Path
) -> None:
    path, image = tmp_path / f"a.{suffix}", placed(DIRECTIONS[turned])
    if turned == "skewed" and suffix.startswith("nii"):
        with pytest.raises(FileError, match=r"holds direction .*use \.nrrd, \.nhdr or \.mha"):
            write_image(image, path)
        assert not path.exists()
        return
    write_image(image, path)
    np.testing.assert_allclose(read_image(path).GetDirection(), image.GetDirection(), atol=1e-5)


def test_no_format_is_named_that_would_refuse_as_well(tmp_path: Path) -> None:
    """NRRD stores spacing and direction together, so it would change the spacing of such axes."""
    image = placed(np.array([[1, 0.2, 0], [0, 1, 0], [0, 0, 1]]))
    for suffix in ("nii.gz", "nrrd", "vtk"):
        with pytest.raises(FileError, match=r"the format holds .*; use \.mha or \.mhd"):
            write_image(image, tmp_path / f"a.{suffix}")
    for suffix in ("mha", "mhd"):
        write_image(image, tmp_path / f"a.{suffix}")
        assert read_image(tmp_path / f"a.{suffix}").GetDirection() == image.GetDirection()


def test_a_library_that_refuses_is_quoted_without_its_memory(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"2-dimensional images; use \.nii\.gz") as raised:
        write_image(placed(np.eye(3)), tmp_path / "a.jpg")
    assert "0x" not in str(raised.value)


def test_a_format_that_changes_labels_is_refused(tmp_path: Path) -> None:
    """BioRad stores 60000 as 24810."""
    image = sitk.GetImageFromArray(np.full((3, 4, 5), 60_000, np.uint16))
    with pytest.raises(FileError, match="does not preserve a 3D image of uint16"):
        write_image(image, tmp_path / "a.pic")
    for suffix in ("tif", "vtk", "gipl"):
        write_image(image, tmp_path / f"a.{suffix}")  # which preserve this image
        assert sitk.GetArrayFromImage(read_image(tmp_path / f"a.{suffix}")).min() == 60_000


@pytest.mark.parametrize("name", ["a.nii", "a.nii.gz", "a.img", "a.hdr"])
@pytest.mark.parametrize("dtype", ["<f4", "<f8", ">f4", ">f8"])
def test_nan_and_infinity_of_a_nifti_file_are_not_read_as_background(
    name: str, dtype: str, tmp_path: Path
) -> None:
    """ITK's reader converts them to 0."""
    voxels = np.zeros((4, 5, 6), dtype)
    voxels[1, 2, 3], voxels[0, 0, 1], voxels[3, 4, 5] = np.nan, 2, np.inf
    make = nibabel.Nifti1Pair if name[-3:] in ("img", "hdr") else nibabel.Nifti1Image
    header = make.header_class(endianness=dtype[0])
    header.set_data_dtype(dtype)
    nibabel.save(make(voxels, np.eye(4), header), tmp_path / name)
    read = read_image(tmp_path / name)
    np.testing.assert_array_equal(sitk.GetArrayFromImage(read).T, voxels)
    with pytest.raises(ic.InputError, match=r"whole-number labels, found (nan|inf)"):
        ic.LabelVoting([read, read])


def test_voxels_of_a_twin_are_not_read_instead(tmp_path: Path) -> None:
    """ITK's reader of a.nii.gz reads the voxels of a.nii."""
    for value, name in enumerate(("a.nii", "a.nii.gz")):
        sitk.WriteImage(sitk.GetImageFromArray(np.full((3, 4), value, "u1")), str(tmp_path / name))
    with pytest.raises(FileError, match=r"a\.nii\.gz: a\.nii is in the same folder"):
        read_image(tmp_path / "a.nii.gz")
    assert not sitk.GetArrayFromImage(read_image(tmp_path / "a.nii")).any()


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("scan.nii.gz", ("scan", ".nii.gz")),
        ("scan.NII.GZ", ("scan", ".NII.GZ")),
        ("patient.7.nii.gz", ("patient.7", ".nii.gz")),
        ("folder.d/scan.mha", ("scan", ".mha")),
        ("scan", ("scan", "")),
    ],
)
def test_double_extensions_are_kept_together(name: str, parts: tuple[str, str]) -> None:
    assert split_image_name(name) == parts


@pytest.mark.parametrize(
    "name", ["a.nii", "a.nii.gz", "a.nrrd", "a.nhdr", "a.mha", "a.mhd", "a.hdr", "a.gipl", "a.vtk"]
)
def test_images_round_trip_through_every_format(tmp_path: Path, name: str) -> None:
    image = labelled()
    write_image(image, tmp_path / name)
    back = read_image(tmp_path / name)
    assert same_voxels(image, back)
    assert back.GetPixelID() == sitk.sitkUInt8
    np.testing.assert_allclose(back.GetSpacing(), image.GetSpacing())


def test_label_files_keep_their_own_pixel_types(tmp_path: Path) -> None:
    paths = [tmp_path / "a.nrrd", str(tmp_path / "b.nii.gz")]
    for path, dtype in zip(paths, (np.uint8, np.int32), strict=True):
        write_image(labelled(dtype=dtype), path)
    assert [image.GetPixelID() for image in map(read_image, paths)] == [
        sitk.sitkUInt8,
        sitk.sitkInt32,
    ]


def test_a_header_and_its_voxels_still_find_each_other(tmp_path: Path) -> None:
    write_image(labelled(), tmp_path / "pair.mhd")
    assert sorted(os.listdir(tmp_path)) == ["pair.mhd", "pair.zraw"]
    assert "ElementDataFile = pair.zraw" in (tmp_path / "pair.mhd").read_text()
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    for part in ("pair.mhd", "pair.zraw"):
        (tmp_path / part).rename(moved / part)
    assert same_voxels(read_image(moved / "pair.mhd"), labelled())


def test_voxels_are_in_place_before_the_header_names_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []
    replace = os.replace
    monkeypatch.setattr(os, "replace", lambda a, b: (order.append(Path(b).name), replace(a, b)))
    write_image(labelled(), tmp_path / "pair.mhd")
    write_image(labelled(), tmp_path / "other.nhdr")
    assert order == ["pair.zraw", "pair.mhd", "other.raw.gz", "other.nhdr"]


@pytest.mark.parametrize("name", ["pair.mhd", "pair.nhdr", "pair.hdr", "pair.img"])
def test_a_pair_is_never_a_header_with_the_voxels_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Issue 27, item 14: after a kill between two moves, the old header remained next to new
    voxels.
    """
    old, new = labelled(), labelled() + 1
    new.SetSpacing([3.0] * new.GetDimension())
    replace, path = os.replace, tmp_path / name

    class Killed(BaseException):
        """Exception that simulates a kill, after which nothing is restored."""

    moves = 0
    for last in range(5):
        write_image(old, path)
        moves = 0

        def moving(source: Any, target: Any) -> None:
            nonlocal moves
            if moves == last:  # noqa: B023
                raise Killed
            moves += 1
            replace(source, target)

        # A kill runs no handlers, so files that an exception handler would restore are left as
        # they are.
        with monkeypatch.context() as patch:
            patch.setattr(os, "replace", moving)
            with contextlib.suppress(Killed):
                write_image(new, path)
        try:
            found = read_image(path)
        except FileError:
            continue  # it is acceptable that there is no image
        wanted = new if found.GetSpacing() == new.GetSpacing() else old
        assert same_voxels(found, wanted)
    assert moves == 4, "two files were put aside and two were moved in"


def test_what_fails_in_the_middle_of_a_pair_is_put_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "pair.mhd"
    write_image(labelled(), path)
    before = {part.name: part.read_bytes() for part in tmp_path.iterdir()}
    replace, moves = os.replace, 0

    def failing(source: Any, target: Any) -> None:
        nonlocal moves
        moves += 1
        if moves == 3:
            raise OSError(28, "No space left on device")
        replace(source, target)

    monkeypatch.setattr(os, "replace", failing)
    with pytest.raises(FileError, match="No space left"):
        write_image(labelled() + 1, path)
    assert {part.name: part.read_bytes() for part in tmp_path.iterdir()} == before


@pytest.mark.parametrize("extension", [".nrrd", ".mha"])
def test_compression_is_on_unless_refused(tmp_path: Path, extension: str) -> None:
    empty = sitk.Image([64, 64, 64], sitk.sitkUInt8)
    write_image(empty, tmp_path / f"small{extension}")
    write_image(empty, tmp_path / f"large{extension}", compress=False)
    assert (tmp_path / f"small{extension}").stat().st_size < 64**3 / 10
    assert (tmp_path / f"large{extension}").stat().st_size > 64**3


def test_unreadable_paths_give_one_clear_line(tmp_path: Path) -> None:
    missing, folder, text = tmp_path / "no.nii.gz", tmp_path / "folder", tmp_path / "notes.nii.gz"
    folder.mkdir()
    text.write_text("not an image")
    assert "No such file" in the_only_error_line(missing, read_image, missing)
    assert "is a folder" in the_only_error_line(folder, read_image, folder)
    assert "no image format" in the_only_error_line(text, read_image, text)


def test_unwritable_paths_give_one_clear_line_and_leave_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "folder.nii.gz"
    folder.mkdir()
    unknown, orphan = tmp_path / "a.foo", tmp_path / "nowhere" / "a.nii.gz"
    assert "no image format" in the_only_error_line(unknown, write_image, labelled(), unknown)
    assert "does not exist" in the_only_error_line(orphan, write_image, labelled(), orphan)
    assert "is a folder" in the_only_error_line(folder, write_image, labelled(), folder)
    assert os.listdir(tmp_path) == ["folder.nii.gz"]


def test_a_pixel_type_the_format_cannot_hold_is_an_error_without_temporary_paths(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.png"
    volume = sitk.Image([4, 4], sitk.sitkFloat64)
    assert ".itk_consensus-" not in the_only_error_line(path, write_image, volume, path)
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="permissions do not bind root"
)
def test_a_folder_without_permission_is_an_error(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    path = tmp_path / "a.nii.gz"
    try:
        assert "Permission denied" in the_only_error_line(path, write_image, labelled(), path)
    finally:
        tmp_path.chmod(0o700)


@pytest.mark.parametrize(
    "failure", [RuntimeError("broken"), OSError(28, "No space"), KeyboardInterrupt()]
)
@pytest.mark.parametrize("name", ["a.nii.gz", "a.mhd"])
def test_a_failing_writer_leaves_the_old_file_intact(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: BaseException, name: str
) -> None:
    path = tmp_path / name
    write_image(labelled(0), path)
    before = {part: part.read_bytes() for part in tmp_path.iterdir()}

    def half_write(_image: Any, draft: str, _compress: bool) -> None:
        Path(draft).write_bytes(b"half a file")
        raise failure

    monkeypatch.setattr(sitk, "WriteImage", half_write)
    expected = KeyboardInterrupt if isinstance(failure, KeyboardInterrupt) else FileError
    with pytest.raises(expected):
        write_image(labelled(1), path)
    assert {part: part.read_bytes() for part in tmp_path.iterdir()} == before


@pytest.mark.parametrize(
    "name", ["a.nii.gz", "a.nii", "a.hdr", "a.gipl", "a.nrrd", "a.mha", "a.mhd"]
)
def test_a_full_disk_is_reported_and_the_old_file_kept(tmp_path: Path, name: str) -> None:
    pytest.importorskip("resource", reason="file size limits are a Unix thing")
    path = tmp_path / name
    write_image(labelled(), path)
    before = {part.name: part.read_bytes() for part in tmp_path.iterdir()}
    # With a file size limit, the operating system refuses further bytes during a write.
    script = textwrap.dedent(
        f"""
        import resource, signal
        import numpy as np, SimpleITK as sitk
        from itk_consensus.core.errors import FileError
        from itk_consensus.images.files import write_image
        noise = np.random.default_rng(0).integers(0, 255, (20, 100, 100)).astype(np.uint8)
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, resource.RLIM_INFINITY))
        try:
            write_image(sitk.GetImageFromArray(noise), {str(path)!r})
        except FileError as error:
            print("FileError:", error)
        """
    )
    repository = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=repository, capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith(f"FileError: {path}: cannot be written: ")
    assert {part.name: part.read_bytes() for part in tmp_path.iterdir()} == before


@pytest.mark.parametrize("name", ["a.nii.gz", "a.nii", "a.gipl"])
def test_a_file_cut_short_is_not_read_as_an_image(tmp_path: Path, name: str) -> None:
    noise = np.random.default_rng(0).integers(0, 255, (20, 30, 40)).astype(np.uint8)
    path = tmp_path / name
    write_image(sitk.GetImageFromArray(noise), path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    assert "cut short" in the_only_error_line(path, read_image, path)


def test_rescaled_and_plainly_stored_nifti_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.nii.gz"
    image = labelled()
    write_image(image, path)
    content = bytearray(gzip.decompress(path.read_bytes()))
    # scl_slope; files with a slope are read as floating point
    content[112:116] = np.float32(0.5).tobytes()
    path.write_bytes(content)  # without gzip, despite its name
    scaled = read_image(path)
    assert scaled.GetPixelID() in (sitk.sitkFloat32, sitk.sitkFloat64)
    np.testing.assert_array_equal(
        sitk.GetArrayViewFromImage(scaled), 0.5 * sitk.GetArrayViewFromImage(image)
    )


def test_text_is_written_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "result.json"
    write_text(path, "Dice ≥ 0.9\n")
    assert path.read_text(encoding="utf-8") == "Dice ≥ 0.9\n"

    def half_write(self: Path, contents: bytes) -> int:
        with self.open("wb") as stream:
            stream.write(contents[:1])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", half_write)
    assert "No space left" in the_only_error_line(path, write_text, path, "{}")
    assert path.read_text(encoding="utf-8") == "Dice ≥ 0.9\n"
    assert os.listdir(tmp_path) == ["result.json"]


def test_a_volume_is_not_silently_cut_to_one_slice(tmp_path: Path) -> None:
    volume = sitk.GetImageFromArray(np.zeros((4, 5, 6), np.uint8))
    with pytest.raises(FileError, match=r"the format holds 2 axes, not 3; use \.nii\.gz"):
        write_image(volume, tmp_path / "a.png")
    assert list(tmp_path.iterdir()) == []


# -- files that must not be replaced --------------------------------------------------------------


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes")
def test_pipes_and_devices_are_never_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.nii"
    os.mkfifo(pipe)
    link = tmp_path / "link.nii"
    link.symlink_to(pipe)
    for path in (pipe, link):
        assert "is a pipe or a device" in the_only_error_line(path, write_image, labelled(), path)
        assert "is a pipe or a device" in the_only_error_line(path, write_text, path, "{}")
    assert pipe.is_fifo()
    assert link.is_symlink()
    assert sorted(os.listdir(tmp_path)) == ["link.nii", "pipe.nii"]


def test_voxels_beside_a_header_do_not_replace_a_pipe(tmp_path: Path) -> None:
    if not hasattr(os, "mkfifo"):
        pytest.skip("there are no pipes")
    os.mkfifo(tmp_path / "a.zraw")
    with pytest.raises(FileError, match=r"a\.zraw: is a pipe"):
        write_image(labelled(), tmp_path / "a.mhd")
    assert os.listdir(tmp_path) == ["a.zraw"]


def test_links_are_written_through(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    (tmp_path / "near").mkdir()
    target, link = tmp_path / "far" / "result", tmp_path / "near" / "a.nii.gz"
    target.write_text("old")
    link.symlink_to(target)
    write_image(labelled(), link)
    assert link.is_symlink()
    assert same_voxels(read_image(link), labelled())
    assert gzip.decompress(target.read_bytes())[:4] == (348).to_bytes(4, "little")
    assert os.listdir(tmp_path / "far") == ["result"]
    target.unlink()
    write_text(link, "anew")
    assert target.read_text() == "anew"


@pytest.mark.parametrize("name", ["a.dcm", "a.DICOM", "a.hdf5", "a.h5", "a.mnc"])
def test_formats_whose_writers_may_end_the_process_are_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    assert "use .nii.gz, .nrrd or .mha" in the_only_error_line(path, write_image, labelled(), path)
    assert os.listdir(tmp_path) == []


def test_a_text_is_not_read_from_a_pipe(tmp_path: Path) -> None:
    if not hasattr(os, "mkfifo"):
        pytest.skip("there are no pipes")
    os.mkfifo(tmp_path / "record.json")
    with pytest.raises(FileError, match="is a pipe or a device"):
        read_bytes(tmp_path / "record.json")


def test_voxels_that_look_like_line_ends_are_no_part_of_an_nrrd_header(tmp_path):
    array = np.frombuffer(b"\r\n\n\n" * 64, np.uint8).reshape(16, 16)
    path = tmp_path / "lines.nrrd"
    sitk.WriteImage(sitk.GetImageFromArray(array), path)
    np.testing.assert_array_equal(sitk.GetArrayFromImage(read_image(path)), array)


@pytest.mark.parametrize("suffix", ["nii.gz", "nrrd", "mha", "png", "dcm"])
def test_text_replaces_no_image(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"a.{suffix}"
    plane = sitk.GetImageFromArray(np.ones((4, 5), np.uint8))
    sitk.WriteImage(plane, str(path))
    before = path.read_bytes()
    masks = [np.eye(6, dtype=np.uint8), np.ones((6, 6), np.uint8)]
    fused = ic.ConsensusFilter()
    fused.Execute(masks)
    for write in (write_text, lambda to, _: ic.report(fused, to)):
        with pytest.raises(FileError, match=r"is an image .* would be overwritten by text"):
            write(path, "a page")
    assert path.read_bytes() == before
    write_text(tmp_path / "page.html", "a page")
    ic.report(fused, tmp_path / "page.html")
