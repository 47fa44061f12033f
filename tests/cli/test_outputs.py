from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import SimpleITK as sitk

from itk_consensus.cli.outputs import Output, check_outputs, make_folders
from itk_consensus.core.errors import FileError
from itk_consensus.images.geometry import ImageGeometry


def labels(path: Path) -> Output:
    return Output("--output", path, np.uint8)


@pytest.mark.parametrize("dimension", [2, 3, 4])
@pytest.mark.parametrize("name", ["a.nii.gz", "a.nii", "a.nrrd", "a.mha", "a.mhd"])
def test_medical_formats_pass_and_nothing_is_left_behind(
    tmp_path: Path, name: str, dimension: int
) -> None:
    outputs = [
        labels(tmp_path / name),
        Output("--probability", tmp_path / f"p{name}", np.float64),
        Output("--json", tmp_path / "a.json"),
    ]
    check_outputs(outputs, [], dimension)
    assert os.listdir(tmp_path) == []


def test_png_is_good_for_a_plane_but_would_lose_the_slices_of_a_volume(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    check_outputs([labels(path)], [], 2)
    with pytest.raises(
        FileError, match=r"a\.png: cannot be written: the format holds 2 axes, not 3"
    ):
        check_outputs([labels(path)], [], 3)


def test_jpeg_changes_labels_and_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"a\.jpg: cannot be written: its format does not preserve"):
        check_outputs([labels(tmp_path / "a.jpg")], [], 2)


def test_a_format_that_drops_the_direction_is_refused_before_the_work(tmp_path: Path) -> None:
    turned = ImageGeometry((9, 9, 9), (1.0,) * 3, (0.0,) * 3, (0, 1, 0, 1, 0, 0, 0, 0, 1))
    for name in ("a.vtk", "a.gipl", "a.mrc", "a.tif"):
        with pytest.raises(FileError, match=rf"{name}: .*holds .*use \.nii\.gz, \.nrrd or \.mha"):
            check_outputs([labels(tmp_path / name)], [], turned)
    check_outputs([labels(tmp_path / "a.nii.gz")], [], turned)


def test_a_format_without_the_pixel_type_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "p.tif"
    with pytest.raises(FileError) as caught:
        check_outputs([Output("--probability", path, np.float64)], [], 3)
    assert str(caught.value).startswith(f"{path}: ")
    assert ".itk_consensus-" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "words"),
    [("a.foo", "no image format"), ("", "is a folder")],
)
def test_impossible_targets_are_named(tmp_path: Path, name: str, words: str) -> None:
    path = tmp_path / name
    with pytest.raises(FileError, match=words) as caught:
        check_outputs([labels(path)], [], 3)
    assert str(caught.value).startswith(f"{path}: ")


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="permissions do not bind root"
)
def test_a_closed_folder_is_an_error(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(FileError, match="Permission denied"):
            check_outputs([labels(tmp_path / "a.nii")], [], 3)
    finally:
        tmp_path.chmod(0o700)


def test_folders_are_made_when_there_is_something_to_write(tmp_path: Path) -> None:
    output = labels(tmp_path / "new" / "er" / "a.nii")
    check_outputs([output], [], 3)
    assert os.listdir(tmp_path) == []
    make_folders([output])
    assert output.path.parent.is_dir()


def test_a_folder_below_a_file_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match=r"a\.nii: cannot be written: Not a directory"):
        check_outputs([labels(tmp_path / "file" / "a.nii")], [], 3)


def test_an_output_that_exists_is_refused_unless_it_may_be_replaced_or_continued(
    tmp_path: Path,
) -> None:
    old, dangling = tmp_path / "a.nii", tmp_path / "b.nii"
    old.write_text("old")
    dangling.symlink_to(tmp_path / "nowhere")
    for path in (old, dangling):
        with pytest.raises(FileError, match=f"--output {path} exists; give --overwrite"):
            check_outputs([labels(path)], [], 3)
        check_outputs([labels(path)], [], 3, overwrite=True)
        check_outputs([Output("--checkpoint", path, continued=True)], [], 3)
    assert old.read_text(encoding="utf-8") == "old"


def test_an_input_is_never_overwritten_however_it_is_spelled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = tmp_path / "a.nii"
    sitk.WriteImage(sitk.Image([4, 4, 4], sitk.sitkUInt8), str(stored))
    (tmp_path / "folder").mkdir()
    (tmp_path / "link.nii").symlink_to(stored)
    monkeypatch.chdir(tmp_path)
    for spelled in (stored, Path("a.nii"), Path("folder/../a.nii"), Path("link.nii")):
        with pytest.raises(FileError, match=r"--output .* would overwrite the input"):
            check_outputs([labels(spelled)], [stored], 3)


def test_a_header_output_does_not_overwrite_an_input_with_its_voxels(tmp_path: Path) -> None:
    sitk.WriteImage(sitk.Image([4, 4, 4], sitk.sitkUInt8), str(tmp_path / "a.hdr"))
    with pytest.raises(FileError, match=r"a\.hdr would overwrite the input .*a\.img"):
        check_outputs([labels(tmp_path / "a.hdr")], [tmp_path / "a.img"], 3)


def test_two_outputs_need_two_files(tmp_path: Path) -> None:
    same = tmp_path / "a.nii"
    outputs = [labels(same), Output("--probability", same, np.float64)]
    with pytest.raises(FileError, match=r"--probability .* overwrite the file of --output"):
        check_outputs(outputs, [], 3)


@pytest.mark.parametrize("compressed", [False, True])
def test_voxels_that_an_input_names_are_never_overwritten(tmp_path: Path, compressed: bool) -> None:
    header, image = tmp_path / "inp.mhd", sitk.Image([4, 4, 4], sitk.sitkUInt8)
    sitk.WriteImage(image, str(tmp_path / "res.mhd"), compressed)
    (tmp_path / "res.mhd").rename(header)
    # write_image compresses, so the data file that it writes next to res.mhd is res.zraw.
    voxels = tmp_path / ("res.zraw" if compressed else "res.raw")
    assert voxels.exists()
    target = tmp_path / "res.mhd" if compressed else voxels.with_suffix(".raw")
    output = labels(target) if compressed else Output("--json", target)
    with pytest.raises(FileError, match=r"would overwrite the input .*inp\.mhd"):
        check_outputs([output], [header], 3)


def test_the_voxels_of_a_pair_are_safe_when_its_header_is_the_input(tmp_path: Path) -> None:
    sitk.WriteImage(sitk.Image([4, 4, 4], sitk.sitkUInt8), str(tmp_path / "a.hdr"))
    for given, other in (("a.hdr", "a.img"), ("a.img", "a.hdr")):
        with pytest.raises(FileError, match="would overwrite the input"):
            check_outputs([Output("--json", tmp_path / other)], [tmp_path / given], 3)


def test_a_hard_link_to_an_input_is_an_input(tmp_path: Path) -> None:
    stored = tmp_path / "a.nii"
    sitk.WriteImage(sitk.Image([4, 4, 4], sitk.sitkUInt8), str(stored))
    os.link(stored, tmp_path / "b.nii")
    with pytest.raises(FileError, match="would overwrite the input"):
        check_outputs([labels(tmp_path / "b.nii")], [stored], 3)


def test_the_first_of_many_missing_inputs_is_named_without_looking_for_the_rest(
    tmp_path: Path,
) -> None:
    asked: list[int] = []

    def inputs() -> Iterator[Path]:
        for number in range(100_000):
            asked.append(number)
            yield tmp_path / f"{number}.nii"

    with pytest.raises(FileError, match=r"0\.nii: No such file"):
        check_outputs([labels(tmp_path / "out.nii")], inputs(), 3)
    assert asked == [0]


@pytest.mark.parametrize("name", ["a.dcm", "a.hdf5"])
def test_formats_that_are_not_written_are_refused_before_the_work(
    tmp_path: Path, name: str
) -> None:
    path = tmp_path / name
    with pytest.raises(FileError, match=r"use \.nii\.gz") as caught:
        check_outputs([labels(path)], [], 3)
    assert str(caught.value).startswith(f"{path}: ")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes")
def test_an_output_that_is_a_pipe_is_refused_before_the_work(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.json")
    with pytest.raises(FileError, match="is a pipe or a device"):
        check_outputs([Output("--json", tmp_path / "a.json")], [], 3)
