"""The information in a header is checked before an image library uses it."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import SimpleITK as sitk

from itk_consensus.core.errors import FileError
from itk_consensus.images.files import files_of, read_image, write_image
from itk_consensus.images.headers import header as headers

META = "ObjectType = Image\nNDims = 3\nDimSize = 4 5 6\nElementType = MET_UCHAR\n"
NRRD = "NRRD0004\ntype: uchar\ndimension: 3\nsizes: 4 5 6\nencoding: raw\n"
PLAIN_FORMATS = (
    *("a.nii", "a.nrrd", "a.nhdr", "a.mha", "a.mhd"),
    *("a.vtk", "a.hdr", "a.gipl", "a.tif"),
)
SEGMENTATION_CLASS = b"1.2.840.10008.5.1.4.1.1.66.4"


def noise(dtype: type = np.uint8, shape: tuple[int, ...] = (9, 20, 20)) -> Any:
    values = np.random.default_rng(0).integers(1, 250, shape)
    return sitk.GetImageFromArray(values.astype(dtype))


def refusal(path: Path) -> str:
    with pytest.raises(FileError) as caught:
        read_image(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def largest(folder: Path) -> Path:
    return max(folder.iterdir(), key=lambda file: file.stat().st_size)


@pytest.mark.parametrize("missing", [1, 300])
@pytest.mark.parametrize("compress", [False, True])
@pytest.mark.parametrize(
    "name",
    [*PLAIN_FORMATS, "a.nii.gz", "a.img", "a.img.gz", "a.gipl.gz", "a.lsm", "a.mrc", "a.pic"],
)
def test_no_format_reads_missing_voxels_as_background(
    tmp_path: Path, name: str, compress: bool, missing: int
) -> None:
    image = noise()
    path = tmp_path / name
    sitk.WriteImage(image, str(path), compress)
    whole = sitk.GetArrayFromImage(image)
    np.testing.assert_array_equal(sitk.GetArrayFromImage(read_image(path)), whole)
    data = largest(tmp_path)
    data.write_bytes(data.read_bytes()[:-missing])
    try:
        left = read_image(path)
    except FileError:
        return
    # TIFF and gzip may end with bytes that are not voxels.
    np.testing.assert_array_equal(sitk.GetArrayFromImage(left), whole)


@pytest.mark.parametrize("name", ["a.png", "a.bmp", "a.jpg"])
def test_flat_pictures_cut_short_are_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    sitk.WriteImage(noise(shape=(40, 41)), str(path))
    assert read_image(path).GetSize() == (41, 40)
    path.write_bytes(path.read_bytes()[:-100])
    assert refusal(path).startswith(f"{path}: ")


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int32, np.uint64, np.float32, float])
@pytest.mark.parametrize("name", PLAIN_FORMATS)
def test_whole_files_of_every_pixel_type_are_read(tmp_path: Path, name: str, dtype: type) -> None:
    image = noise(dtype)
    path = tmp_path / name
    try:
        sitk.WriteImage(image, str(path))
    except RuntimeError:
        pytest.skip("the format does not hold this type")
    expected = sitk.GetArrayFromImage(sitk.ReadImage(str(path)))
    np.testing.assert_array_equal(sitk.GetArrayFromImage(read_image(path)), expected)
    data = largest(tmp_path)
    data.write_bytes(data.read_bytes()[: data.stat().st_size // 2])
    refusal(path)


def test_numbers_written_as_text_are_counted(tmp_path: Path) -> None:
    vtk, meta = tmp_path / "a.vtk", tmp_path / "a.mha"
    lines = "# vtk DataFile Version 3.0\nx\nASCII\nDATASET STRUCTURED_POINTS\nDIMENSIONS 4 5 6\n"
    lines += "SPACING 1 1 1\nORIGIN 0 0 0\nPOINT_DATA 120\nSCALARS s short 1\nLOOKUP_TABLE t\n"
    vtk.write_text(lines + "100 " * 120)
    meta.write_text(META + "BinaryData = False\nElementDataFile = LOCAL\n" + "100 " * 120)
    for path in (vtk, meta):
        assert np.all(sitk.GetArrayFromImage(read_image(path)) == 100)
        path.write_text(path.read_text()[: -len("100 ") * 3])
        assert "117 of the 120 numbers" in refusal(path)


def test_junk_after_gzip_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.nii.gz"
    write_image(noise(), path)
    whole = path.read_bytes()
    path.write_bytes(whole + b"junk" * 1000)
    assert read_image(path).GetSize() == (20, 20, 9)
    path.write_bytes(gzip.compress(gzip.decompress(whole) + bytes(50_000_000), compresslevel=1))
    unpacked: list[int] = []
    inflated = headers._decompress

    def counting(*arguments: Any) -> Iterator[bytes]:
        for chunk in inflated(*arguments):
            unpacked.append(len(chunk))
            yield chunk

    monkeypatch.setattr(headers, "_decompress", counting)
    assert read_image(path).GetSize() == (20, 20, 9)
    assert 0 < sum(unpacked) < 5_000_000


@pytest.mark.parametrize(
    "named",
    ["%n", "%s", "a%n.raw", "%s%s%n 1 3 1", "%99999999d 1 12 1", "%d%d 1 6 1", "%*d", "%hhn"],
)
def test_no_pattern_of_a_header_reaches_printf(tmp_path: Path, named: str) -> None:
    meta, nrrd = tmp_path / "a.mhd", tmp_path / "a.nhdr"
    meta.write_text(META + f"ElementDataFile = {named}\n")
    nrrd.write_text(NRRD + f"data file: {named}\n")
    for path in (meta, nrrd):
        assert "names its voxels by" in refusal(path)


def test_an_output_named_like_a_pattern_does_not_end_the_process(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="must not have %"):
        write_image(noise(), tmp_path / "a%n.mhd")
    assert list(tmp_path.iterdir()) == []
    write_image(noise(), tmp_path / "a%n.nii")
    assert read_image(tmp_path / "a%n.nii").GetSize() == (20, 20, 9)


@pytest.mark.parametrize("listed", ["pattern", "list"])
@pytest.mark.parametrize("name", ["a.mhd", "a.nhdr"])
def test_slices_in_files_of_their_own_belong_to_the_image(
    tmp_path: Path, name: str, listed: str
) -> None:
    voxels = np.arange(120, dtype=np.uint8).reshape(6, 5, 4)
    files = [tmp_path / f"s{number:02d}.raw" for number in range(1, 7)]
    for file, plane in zip(files, voxels, strict=True):
        file.write_bytes(plane.tobytes())
    names = "\n".join(file.name for file in files)
    data = "s%02d.raw 1 6 1" if listed == "pattern" else f"LIST\n{names}"
    is_meta = name == "a.mhd"
    path = tmp_path / name
    path.write_text(
        f"{META}ElementDataFile = {data}\n" if is_meta else f"{NRRD}data file: {data}\n"
    )
    np.testing.assert_array_equal(sitk.GetArrayFromImage(read_image(path)), voxels)
    assert files_of(path) == [path, *files]
    files[2].unlink()
    assert str(files[2]) in refusal(path)


def test_a_list_of_too_few_files_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.mhd"
    path.write_text(META + "ElementDataFile = LIST\na.raw\n")
    assert "lists 1 files for 6 slices" in refusal(path)


@pytest.mark.parametrize(
    "size", ["60000 60000 60000", "4000000000 4000000000 4", "-1 -5 3", "0 0 0", "1e10 3 3"]
)
@pytest.mark.parametrize("name", ["a.mha", "a.nrrd", "a.vtk", "packed.mha", "packed.nrrd"])
def test_sizes_that_cannot_be_are_refused_before_memory_is_taken(
    tmp_path: Path, name: str, size: str
) -> None:
    path = tmp_path / name
    packed = name.startswith("packed")
    if name.endswith(".mha"):
        text = META.replace("4 5 6", size) + "CompressedData = True\n" * packed
        text += "ElementDataFile = LOCAL\n"
    elif name.endswith(".nrrd"):
        text = NRRD.replace("4 5 6", size).replace("raw", "gzip" if packed else "raw") + "\n"
    else:
        text = "# vtk DataFile Version 3.0\nx\nBINARY\nDATASET STRUCTURED_POINTS\n"
        text += f"DIMENSIONS {size}\nSCALARS s unsigned_char 1\nLOOKUP_TABLE t\n"
    path.write_text(text + "x" * 50)
    assert any(words in refusal(path) for words in ("impossible", "cut short", "whole number"))


def test_a_damaged_header_of_a_known_format_is_refused(tmp_path: Path) -> None:
    for name in ("a.mha", "a.mhd", "a.nrrd", "a.nii", "a.vtk", "a.tif", "a.gipl", "a.bmp"):
        path = tmp_path / name
        path.write_bytes(b"\0" * 600)
        assert refusal(path).startswith(f"{path}: ")


def test_pages_of_a_tiff_that_refer_to_themselves_end(tmp_path: Path) -> None:
    path = tmp_path / "a.tif"
    sitk.WriteImage(noise(shape=(8, 8)), str(path))
    content = bytearray(path.read_bytes())
    page = int.from_bytes(content[4:8], "little")
    entries = int.from_bytes(content[page : page + 2], "little")
    after = page + 2 + 12 * entries
    content[after : after + 4] = page.to_bytes(4, "little")
    path.write_bytes(content)
    assert "is circular" in refusal(path)


# -- not regular files ------------------------------------------------------------------


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes")
def test_pipes_and_devices_are_refused_at_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.nii"
    os.mkfifo(pipe)
    assert "is a pipe or a device" in refusal(pipe)
    assert "is a pipe or a device" in refusal(Path("/dev/zero"))
    for name, text in (("a.mhd", f"{META}ElementDataFile"), ("a.nhdr", f"{NRRD}data file")):
        path = tmp_path / name
        joint = " = " if name == "a.mhd" else ": "
        path.write_text(f"{text}{joint}pipe.nii\n")
        assert "is a pipe or a device" in refusal(path)


def test_links_that_go_in_circles_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.nii").symlink_to(tmp_path / "b.nii")
    (tmp_path / "b.nii").symlink_to(tmp_path / "a.nii")
    assert str(tmp_path / "a.nii") in refusal(tmp_path / "a.nii")
    with pytest.raises(FileError, match=r"a\.nii"):
        write_image(noise(), tmp_path / "a.nii")


@pytest.mark.skipif(sys.platform != "linux", reason="names are bytes only there")
def test_names_that_are_not_utf8_do_not_end_the_process(tmp_path: Path) -> None:
    name = os.fsdecode(os.fsencode(tmp_path) + b"/a\xff.nii")
    Path(name).write_bytes(b"x")
    code = (
        "import sys, SimpleITK as sitk\n"
        "from itk_consensus.core.errors import FileError\n"
        "from itk_consensus.images.files import read_image, write_image\n"
        "image = sitk.Image([3, 3], sitk.sitkUInt8)\n"
        "for action in (read_image, lambda name: write_image(image, name)):\n"
        "    try:\n        action(sys.argv[1])\n"
        "    except FileError as error:\n        print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, name], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("not UTF-8") == 2


# -- segments that are not raters --------------------------------------------------------------


def test_a_dicom_segmentation_is_not_read_as_a_volume(tmp_path: Path) -> None:
    path = tmp_path / "a.dcm"
    sitk.WriteImage(noise(), str(path))
    assert read_image(path).GetSize() == (20, 20, 9)
    usual = b"1.2.840.10008.5.1.4.1.1.7.2\0"
    assert path.read_bytes().count(usual) == 2
    path.write_bytes(path.read_bytes().replace(usual, SEGMENTATION_CLASS))
    assert "is a DICOM segmentation" in refusal(path)


def test_layers_of_a_segmentation_are_not_read_as_raters(tmp_path: Path) -> None:
    path = tmp_path / "a.seg.nrrd"
    layers = sitk.GetImageFromArray(np.ones((4, 5, 6, 2), np.uint8), isVector=True)
    sitk.WriteImage(layers, str(path))
    assert read_image(path).GetNumberOfComponentsPerPixel() == 2
    layers.SetMetaData("Segment0_ID", "Segment_1")
    layers.SetMetaData("Segment1_Layer", "1")
    sitk.WriteImage(layers, str(path))
    assert "segments in several layers" in refusal(path)


def test_a_segmentation_in_one_layer_is_a_label_map(tmp_path: Path) -> None:
    path = tmp_path / "a.seg.nrrd"
    image = noise()
    image.SetMetaData("Segment0_ID", "Segment_1")
    sitk.WriteImage(image, str(path))
    assert read_image(path).GetSize() == (20, 20, 9)
