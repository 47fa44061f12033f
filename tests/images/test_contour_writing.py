"""Writing RTSTRUCTs: voxels become contours, and contours the same voxels again."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pydicom
import pytest
import SimpleITK as sitk
from dicom_objects import SHAPE, Array, write_contours, write_seg, write_series
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.ndimage import gaussian_filter

import itk_consensus as ic
from itk_consensus.cli import main
from itk_consensus.core.errors import FileError, GeometryError, InputError
from itk_consensus.images.dicom.contour_rasterisation import coverage
from itk_consensus.images.dicom.contour_tracing import outlines
from itk_consensus.images.dicom.series import DicomSeries
from itk_consensus.images.structure_files import read_structures
from itk_consensus.images.structures import Code, Structure


@pytest.fixture
def series(tmp_path: Path) -> DicomSeries:
    write_series(tmp_path / "series")
    return ic.read_dicom_series(tmp_path / "series")


def image(array: Array, series: DicomSeries) -> Any:
    mask = sitk.GetImageFromArray(array.astype(np.uint8))
    mask.CopyInformation(series.grid())
    return mask


def hard_masks() -> dict[str, Array]:
    """Return difficult masks: holes in islands in holes, corners, single voxels."""
    rng = np.random.default_rng(3001)
    z, y, x = np.indices(SHAPE)
    radius = np.hypot(x - 14, y - 12)
    noise = rng.random(SHAPE)
    return {
        "rings": (radius < 3) | ((radius > 5) & (radius < 8)) | (radius > 10),
        "noise": noise < 0.6,
        "specks": noise < 0.1,
        "blobs": gaussian_filter(rng.standard_normal(SHAPE), 1.5) > 0,
        "chessboard": (x + y + z) % 2 == 0,
        "all": np.ones(SHAPE, bool),
        "none": np.zeros(SHAPE, bool),
    }


def body(kind: str, diameter: float) -> Array:
    """Return the voxels of a sphere, or of a tube across the slices, on the oblique series."""
    z, y, x = np.indices(SHAPE) * np.reshape([2.5, 0.7, 0.8], (3, 1, 1, 1))
    if kind == "tube":
        return np.hypot(x - 10.3 - 0.2 * z, y - 8.1) < diameter / 2
    return (x - 10.3) ** 2 + (y - 8.1) ** 2 + (z - 12.1) ** 2 < diameter**2 / 4


def area(points: Array) -> float:
    x, y = points.T
    return float(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1))) / 2


@given(arrays(bool, st.tuples(st.integers(1, 9), st.integers(1, 9))))
def test_contours_enclose_exactly_their_voxels_each_part_once(plane: Array) -> None:
    """Hence it does not matter whether a reader adds the contours of a slice or inverts areas."""
    found = outlines(plane)
    total = sum((coverage([points], *plane.shape) for points in found), np.zeros(plane.shape))
    np.testing.assert_allclose(total, plane, atol=1e-9)
    areas = [area(points) for points in found]
    assert len({np.sign(one) for one in areas}) <= 1
    assert abs(sum(areas)) == pytest.approx(plane.sum())


def test_parts_are_what_shares_an_edge_and_only_turns_are_points() -> None:
    plane = np.zeros((7, 8), bool)
    plane[1:6, 1:6] = True
    plane[2:4, 2:4] = False  # a hole
    plane[6, 6] = True  # touches the square at a corner
    # 4 outer and 4 inner corners, and both ends of the bridge between them again
    assert sorted(map(len, outlines(plane))) == [4, 4 + 4 + 2]


def test_every_mask_comes_back_voxel_by_voxel(series: DicomSeries, tmp_path: Path) -> None:
    masks = hard_masks()
    path = tmp_path / "out.dcm"
    ic.write_dicom_contours(
        {name: image(mask, series) for name, mask in masks.items()}, path, series, method="x"
    )
    found = ic.read_dicom_contours(path, series)
    assert [one.name for one in found] == list(masks)
    for one in found:
        np.testing.assert_array_equal(sitk.GetArrayFromImage(one.mask), masks[one.name])


@pytest.mark.parametrize("diameter", [6.0, 9.0, 12.0])
@pytest.mark.parametrize("kind", ["sphere", "tube"])
def test_spheres_and_tubes_survive_the_round_trip(
    series: DicomSeries, tmp_path: Path, kind: str, diameter: float
) -> None:
    mask, path = body(kind, diameter), tmp_path / "out.dcm"
    assert mask.any()
    ic.write_dicom_contours({"body": image(mask, series)}, path, series, method="x")
    (found,) = ic.read_dicom_contours(path, series)
    np.testing.assert_array_equal(sitk.GetArrayFromImage(found.mask), mask)
    areas = [
        abs(area(series.to_indices(np.reshape(one.ContourData, (-1, 3)))[:, :2]))
        for one in pydicom.dcmread(path).ROIContourSequence[0].ContourSequence
    ]
    assert sum(areas) == pytest.approx(mask.sum(), rel=1e-3)


@pytest.mark.skipif(shutil.which("plastimatch") is None, reason="plastimatch is not installed")
def test_plastimatch_reads_the_same_voxels(series: DicomSeries, tmp_path: Path) -> None:
    """An independent implementation, on an oblique series, with holes and overlaps."""
    masks = {**hard_masks(), "sphere": body("sphere", 6.0), "tube": body("tube", 6.0)}
    del masks["none"]  # it writes no file for a structure without contours
    images = {name: image(mask, series) for name, mask in masks.items()}
    ic.write_dicom_contours(images, tmp_path / "out.dcm", series, method="x")
    words = "convert --input out.dcm --referenced-ct series --output-prefix read"
    words = f"plastimatch {words} --prefix-format nrrd"
    subprocess.run(words.split(), cwd=tmp_path, check=True, capture_output=True)
    for name, mask in masks.items():
        found = sitk.ReadImage(str(tmp_path / "read" / f"{name}.nrrd"))
        np.testing.assert_array_equal(sitk.GetArrayFromImage(found) > 0, mask)


def test_the_file_says_what_it_was_made_from_and_how(series: DicomSeries, tmp_path: Path) -> None:
    slices = list(series.slices)
    seg = write_seg(tmp_path / "a.dcm", {"liver": body("sphere", 9.0)}, slices, None)
    rtstruct = write_contours(tmp_path / "b.dcm", {"liver": []}, slices)
    liver = Code("SCT", "10200004", "Liver")
    structure = Structure("liver", image(body("sphere", 9.0), series), (1.0, 0.2, 0.0), kind=liver)
    path = tmp_path / "out.dcm"
    ic.write_dicom_contours([structure], path, series, method="STAPLE", raters=[seg, rtstruct])
    written = pydicom.dcmread(path)
    (referred,) = written.ReferencedFrameOfReferenceSequence[0].RTReferencedStudySequence
    assert referred.RTReferencedSeriesSequence[0].SeriesInstanceUID == series.uid
    (predecessor,) = written.PredecessorStructureSetSequence
    assert predecessor.ReferencedSOPInstanceUID == pydicom.dcmread(rtstruct).SOPInstanceUID
    roi = written.StructureSetROISequence[0]
    assert roi.ROIGenerationDescription == f"itk_consensus {ic.__version__} STAPLE"
    uids = {str(one.SOPInstanceUID): one for one in slices}
    for contour in written.ROIContourSequence[0].ContourSequence:
        of = uids[contour.ContourImageSequence[0].ReferencedSOPInstanceUID]
        height = series.to_indices(np.reshape(contour.ContourData, (-1, 3)))[:, 2]
        place = series.to_indices([of.ImagePositionPatient])[0, 2]
        np.testing.assert_allclose(height, place, atol=1e-3)
    (found,) = ic.read_dicom_contours(path, series)
    assert (found.kind, found.color) == (liver, structure.color)


def test_the_command_line_writes_contours_of_the_same_consensus(
    series: DicomSeries, tmp_path: Path
) -> None:
    files = []
    for number, diameter in enumerate((9.0, 10.0, 12.0)):
        masks = {"sphere": body("sphere", diameter), "tube": body("tube", diameter)}
        path = tmp_path / f"{number}.dcm"
        files.append(str(write_seg(path, masks, list(series.slices), None)))
    common = ["fuse", *files, "--per-structure", "--method", "vote"]
    common += ["--series", str(tmp_path / "series")]
    for name in ("out.dcm", "out.rtstruct.dcm"):
        assert main([*common, "-o", str(tmp_path / name)]) == 0
    segments = ic.read_dicom_segmentation(tmp_path / "out.dcm", series)
    contours = ic.read_dicom_contours(tmp_path / "out.rtstruct.dcm", series)
    assert [one.name for one in contours] == ["sphere", "tube"]
    for one, other in zip(segments, contours, strict=True):
        inside = sitk.GetArrayFromImage(one.mask)
        assert inside.any()
        np.testing.assert_array_equal(sitk.GetArrayFromImage(other.mask), inside)


def test_what_cannot_be_written_is_named_and_nothing_is_left(
    series: DicomSeries, tmp_path: Path
) -> None:
    path = tmp_path / "out.dcm"
    sphere = body("sphere", 9.0)
    with pytest.raises(InputError, match=r"out.dcm: a has \d+ voxels that are neither"):
        ic.write_dicom_contours({"a": image(2 * sphere, series)}, path, series, method="x")
    with pytest.raises(GeometryError, match=r"out.dcm: a does not lie on the grid"):
        ic.write_dicom_contours({"a": image(sphere, series)[1:]}, path, series, method="x")
    with pytest.raises(InputError, match="no structures"):
        ic.write_dicom_contours({}, path, series, method="x")
    assert not path.exists()


@pytest.mark.parametrize("name", ["a\nb", "", " ", "a\\b", "\ud800", "a\0"])
def test_names_that_would_break_a_file_are_refused_by_every_writer(
    series: DicomSeries, tmp_path: Path, name: str
) -> None:
    """A line break begins a new field in NRRD; a backslash splits a value in DICOM."""
    masks = {name: image(body("sphere", 9.0), series)}
    with pytest.raises(InputError, match="cannot be the name of a structure"):
        ic.write_dicom_contours(masks, tmp_path / "out.dcm", series, method="x")
    with pytest.raises(InputError, match="cannot be the name of a structure"):
        ic.write_dicom_segmentation(masks, tmp_path / "out.dcm", series, method="x")
    with pytest.raises(InputError, match="cannot be the name of a structure"):
        ic.write_slicer_segmentation(masks, tmp_path / "out.seg.nrrd")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes")
@pytest.mark.parametrize("name", ["pipe.dcm", "pipe.seg.nrrd"])
def test_a_pipe_in_place_of_structures_is_refused_at_once(
    series: DicomSeries, tmp_path: Path, name: str
) -> None:
    os.mkfifo(tmp_path / name)
    with pytest.raises(FileError, match="is a pipe or a device"):
        read_structures(tmp_path / name, series)


def test_a_segmentation_that_is_cut_short_is_refused(series: DicomSeries, tmp_path: Path) -> None:
    path = tmp_path / "a.seg.nrrd"
    ic.write_slicer_segmentation({"a": image(body("tube", 9.0), series)}, path)
    raw = sitk.ReadImage(str(path))
    sitk.WriteImage(raw, str(path), False)  # uncompressed, so that every byte matters
    path.write_bytes(path.read_bytes()[:-300])
    with pytest.raises(FileError, match="is cut short"):
        ic.read_slicer_segmentation(path)
