"""Slicer's segmentations, compared with SimpleITK's reading of the same file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import SimpleITK as sitk

import itk_consensus
from itk_consensus.cli import main
from itk_consensus.core.errors import FileError, GeometryError, InputError
from itk_consensus.images.structure_matching import match_structures
from itk_consensus.images.structures import Code, Structure

LIVER = Code("SCT", "10200004", "Liver")
ORGAN = Code("SCT", "123037004", "Anatomical Structure")


def image_of(array: Any) -> sitk.Image:
    image = sitk.GetImageFromArray(np.asarray(array, np.uint8))
    image.SetSpacing((0.7, 0.8, 2.5))
    image.SetOrigin((11.0, -7.5, 3.25))
    turn = np.radians(20)
    c, s = np.cos(turn), np.sin(turn)
    image.SetDirection([1, 0, 0, 0, c, -s, 0, s, c])
    return image


def blocks(shift: int = 0) -> dict[str, np.ndarray[Any, Any]]:
    liver, lesion, spleen = (np.zeros((6, 12, 14), np.uint8) for _ in range(3))
    liver[1:4, 2 + shift : 8 + shift, 2:8] = 1
    lesion[2:5, 3:7, 4:9] = 1
    spleen[1:5, 9:12, 10:13] = 1
    return {"liver": liver, "lesion": lesion, "spleen": spleen}


def array_of(image: Any) -> np.ndarray[Any, Any]:
    return sitk.GetArrayFromImage(image)


def written(path: Path, shift: int = 0) -> Path:
    structures = [
        Structure(
            name, image_of(array), (0.25, 0.5, 1.0), ORGAN, LIVER if name == "liver" else None
        )
        for name, array in blocks(shift).items()
    ]
    itk_consensus.write_slicer_segmentation(structures, path)
    return path


def test_overlapping_segments_come_back_voxel_by_voxel(tmp_path: Path) -> None:
    path = written(tmp_path / "one.seg.nrrd")
    back = itk_consensus.read_slicer_segmentation(path)
    assert [one.name for one in back] == ["liver", "lesion", "spleen"]
    for one, array in zip(back, blocks().values(), strict=True):
        np.testing.assert_array_equal(array_of(one.mask), array)
        assert one.mask.GetOrigin() == pytest.approx((11.0, -7.5, 3.25))
        assert one.mask.GetDirection() == pytest.approx(image_of(array).GetDirection())
        assert one.color == (0.25, 0.5, 1.0)
        assert one.category == ORGAN
    assert back[0].kind == LIVER


def test_simpleitk_finds_two_layers_with_the_values_that_the_fields_say(tmp_path: Path) -> None:
    image = sitk.ReadImage(str(written(tmp_path / "one.seg.nrrd")))
    assert image.GetNumberOfComponentsPerPixel() == 2  # the spleen shares a layer
    for number, array in enumerate(blocks().values()):
        layer = int(image.GetMetaData(f"Segment{number}_Layer"))
        value = int(image.GetMetaData(f"Segment{number}_LabelValue"))
        component = sitk.VectorIndexSelectionCast(image, layer)
        np.testing.assert_array_equal(array_of(component == value), array)
    assert image.GetMetaData("Segment0_Extent") == "2 7 2 7 1 3"
    header = (tmp_path / "one.seg.nrrd").read_bytes().partition(b"\n\n")[0]
    assert b"kinds: list domain domain domain" in header


def test_segments_without_overlap_are_one_plain_volume(tmp_path: Path) -> None:
    masks = {name: image_of(array) for name, array in blocks().items() if name != "lesion"}
    itk_consensus.write_slicer_segmentation(masks, tmp_path / "flat.seg.nrrd")
    image = sitk.ReadImage(str(tmp_path / "flat.seg.nrrd"))
    assert image.GetNumberOfComponentsPerPixel() == 1
    expected = blocks()["liver"] + 2 * blocks()["spleen"]
    np.testing.assert_array_equal(array_of(image), expected)


def test_fields_that_slicer_wrote_are_kept(tmp_path: Path) -> None:
    first = tmp_path / "slicer.seg.nrrd"
    image = image_of(blocks()["liver"] * 3)
    tags = f"Segmentation.Status:inprogress|TerminologyEntry:x~{'^'.join(ORGAN)}~{'^'.join(LIVER)}"
    fields = {"ID": "Segment_9", "Name": "Leber", "LabelValue": "3", "Layer": "0", "Tags": tags}
    for key, value in fields.items():
        image.SetMetaData(f"Segment0_{key}", value)
    sitk.WriteImage(image, str(first))
    (leber,) = itk_consensus.read_slicer_segmentation(first)
    assert (leber.name, leber.kind) == ("Leber", LIVER)
    itk_consensus.write_slicer_segmentation([leber], tmp_path / "again.seg.nrrd")
    again = sitk.ReadImage(str(tmp_path / "again.seg.nrrd"))
    assert again.GetMetaData("Segment0_Tags") == tags
    assert again.GetMetaData("Segment0_ID") == "Segment_9"


def test_a_cropped_segmentation_is_put_on_the_grid_of_its_image(tmp_path: Path) -> None:
    whole = image_of(blocks()["liver"])
    itk_consensus.write_slicer_segmentation(
        {"liver": whole[1:10, 1:11, 1:5]}, tmp_path / "cut.seg.nrrd"
    )
    (back,) = itk_consensus.read_slicer_segmentation(tmp_path / "cut.seg.nrrd", like=whole)
    np.testing.assert_array_equal(array_of(back.mask), blocks()["liver"])
    moved = sitk.Image(whole)
    moved.SetOrigin((11.3, -7.5, 3.25))
    with pytest.raises(GeometryError, match="liver lies on another grid"):
        itk_consensus.read_slicer_segmentation(tmp_path / "cut.seg.nrrd", like=moved)
    with pytest.raises(GeometryError, match="liver extends beyond the segmented"):
        itk_consensus.read_slicer_segmentation(tmp_path / "cut.seg.nrrd", like=whole[:5, :, :])


def test_old_files_have_a_component_for_each_segment(tmp_path: Path) -> None:
    image = sitk.Compose([image_of(blocks()["liver"]), image_of(blocks()["lesion"])])
    for number, name in enumerate(("liver", "lesion")):
        image.SetMetaData(f"Segment{number}_Name", name)
    sitk.WriteImage(image, str(tmp_path / "old.seg.nrrd"))
    for one in itk_consensus.read_slicer_segmentation(tmp_path / "old.seg.nrrd"):
        np.testing.assert_array_equal(array_of(one.mask), blocks()[one.name])


def test_what_is_no_segmentation_is_refused(tmp_path: Path) -> None:
    sitk.WriteImage(image_of(blocks()["liver"]), str(tmp_path / "labels.nrrd"))
    with pytest.raises(FileError, match="describes no segments"):
        itk_consensus.read_slicer_segmentation(tmp_path / "labels.nrrd")
    (tmp_path / "text.seg.nrrd").write_text("hello")
    with pytest.raises(FileError, match="cannot be read as a segmentation"):
        itk_consensus.read_slicer_segmentation(tmp_path / "text.seg.nrrd")
    with pytest.raises(FileError, match=r"must end in \.seg\.nrrd"):
        itk_consensus.write_slicer_segmentation({"a": image_of(blocks()["liver"])}, "a.nrrd")
    broken = image_of(blocks()["liver"])
    broken.SetMetaData("Segment0_Layer", "7")
    sitk.WriteImage(broken, str(tmp_path / "broken.seg.nrrd"))
    with pytest.raises(FileError, match="segment 0 has invalid fields"):
        itk_consensus.read_slicer_segmentation(tmp_path / "broken.seg.nrrd")


@pytest.mark.parametrize(
    ("field", "value", "wanted"),
    [
        ("LabelValue", 0, "1 to 255"),
        ("LabelValue", -3, "1 to 255"),
        ("LabelValue", 300, "1 to 255"),
        ("Layer", -1, "0 to 1"),
        ("Layer", 2, "0 to 1"),
    ],
)
def test_labels_and_layers_out_of_range_are_refused(
    tmp_path: Path, field: str, value: int, wanted: str
) -> None:
    """Issue 44, item 11: label 0 was interpreted as background, layer -1 as the last one."""
    image = sitk.ReadImage(written(tmp_path / "one.seg.nrrd"))
    image.SetMetaData(f"Segment1_{field}", str(value))
    sitk.WriteImage(image, tmp_path / "two.seg.nrrd")
    said = f"segment 1 has invalid fields: {field} must be {wanted}, got {value}"
    with pytest.raises(FileError, match=said):
        itk_consensus.read_slicer_segmentation(tmp_path / "two.seg.nrrd")


def test_structures_are_fused_one_by_one_though_they_overlap() -> None:
    masks = {name: [image_of(blocks(s)[name]) for s in (0, 1, 3)] for name in blocks()}
    fused = itk_consensus.fuse_structures(masks, itk_consensus.MajorityVoteFilter())
    for name, image in fused.items():
        votes = sum(blocks(shift)[name].astype(int) for shift in (0, 1, 3))
        np.testing.assert_array_equal(array_of(image), votes >= 2)
    shares = itk_consensus.fuse_structures(
        masks, itk_consensus.MajorityVoteFilter(), lambda fuser: fuser.GetProbabilityImage(1)
    )
    votes = sum(blocks(shift)["liver"] for shift in (0, 1, 3))
    np.testing.assert_allclose(array_of(shares["liver"]), votes / 3)
    with pytest.raises(InputError, match="no reader has a mask of liver"):
        itk_consensus.fuse_structures({"liver": [None]}, itk_consensus.MajorityVoteFilter())


def named(*names: str, kind: Code | None = None) -> list[Structure]:
    return [Structure(name, None, kind=kind) for name in names]


def test_names_match_whatever_their_case_and_codes_where_names_do_not() -> None:
    matched = match_structures(
        {
            "A": [*named("Left Lung", "tumour"), *named("Liver", kind=LIVER)],
            "B": [*named("left_lung"), *named("Leber", kind=LIVER)],
            "C": named("LEFT-LUNG", "gross tumor"),
        }
    )
    assert list(matched.table) == ["Left Lung", "tumour", "Liver", "gross tumor"]
    assert matched.differently_spelled == {
        "Left Lung": ("Left Lung", "left_lung", "LEFT-LUNG"),
        "Liver": ("Liver", "Leber"),
    }
    assert matched.unmatched == ("tumour", "gross tumor")
    assert "only one reader has tumour" in str(matched)


def test_a_mapping_joins_and_two_structures_of_one_reader_are_never_joined() -> None:
    readers = {"A": named("tumour"), "B": named("gross tumor")}
    matched = match_structures(readers, {"gross tumor": "tumour"})
    assert list(matched.table) == ["tumour"]
    same_code = {"A": named("left kidney", "right kidney", kind=LIVER), "B": named("k", kind=LIVER)}
    assert list(match_structures(same_code).table) == ["left kidney", "right kidney", "k"]
    with pytest.raises(InputError, match="B: has two structures called tumour"):
        match_structures({"B": named("tumour", "Tumour")})


def test_the_command_line_fuses_per_structure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    inputs = [str(written(tmp_path / f"{shift}.seg.nrrd", shift)) for shift in (0, 1, 3)]
    output = tmp_path / "fused.seg.nrrd"
    options = ["--per-structure", "--method", "vote", "--rename", "spleen=milt"]
    assert main(["fuse", *inputs, *options, "-o", str(output)]) == 0
    back = {one.name: one for one in itk_consensus.read_slicer_segmentation(output)}
    assert list(back) == ["liver", "lesion", "milt"]
    votes = sum(blocks(shift)["liver"].astype(int) for shift in (0, 1, 3))
    np.testing.assert_array_equal(array_of(back["liver"].mask), votes >= 2)
    assert back["liver"].kind == LIVER
    assert "3 structures in" in capsys.readouterr().out
    assert main(["fuse", *inputs, *options, "-o", str(output)]) == 2  # the output exists already
    assert main(["fuse", *inputs, "--per-structure", "--rename", "x", "-o", "y.seg.nrrd"]) == 2
