"""Contours as required by planning systems: smooth, with holes, described, and correctly
positioned.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pydicom
import pytest
import SimpleITK as sitk
from dicom_objects import Array, write_series
from scipy.ndimage import binary_erosion, distance_transform_edt, gaussian_filter
from skimage.draw import polygon2mask

import itk_consensus as ic
from itk_consensus.core.errors import ParameterError
from itk_consensus.images.dicom.contour_rasterisation import coverage
from itk_consensus.images.dicom.contour_tracing import Smoothing, outlines
from itk_consensus.images.structures import Structure
from itk_consensus.space.islands import remove_islands

SHAPE = (6, 44, 44)  # square, since rt_utils supports no other images
SPACING = (0.9, 0.9, 2.5)


def blobs(seed: int, shape: tuple[int, ...] = SHAPE[1:], scale: float = 3.0) -> Array:
    noise = np.random.default_rng(seed).standard_normal(shape)
    return np.asarray(gaussian_filter(noise, scale) > 0.02)


def with_holes() -> Array:
    """Return a disc with two holes, one containing an island, and a ring next to it."""
    y, x = np.indices(SHAPE[1:])
    disc = np.hypot(y - 19, x - 16) < 15
    disc &= ~(np.hypot(y - 13, x - 12) < 4) & ~(np.hypot(y - 25, x - 18) < 5)
    disc |= np.hypot(y - 25, x - 18) < 2
    ring = (np.hypot(y - 9, x - 37) < 5) & (np.hypot(y - 9, x - 37) > 2)
    return np.asarray(disc | ring)


def dense(rings: list[Array], step: float) -> Array:
    """Return points along rings, no farther apart than a step."""
    points = []
    for ring in rings:
        for start, end in zip(ring, np.roll(ring, -1, axis=0), strict=True):
            number = int(np.ceil(np.linalg.norm(end - start) / step))
            points.append(start + np.linspace(0, 1, number + 1)[:, None] * (end - start))
    return np.concatenate(points)


def away(points: Array, others: Array) -> float:
    """Return the largest distance from any of the points to the nearest of the others."""
    apart = np.linalg.norm(points[:, None] - others[None], axis=2)
    return float(apart.min(axis=1).max())


@pytest.mark.parametrize("tolerance", [0.4, 0.7, 1.5])
@pytest.mark.parametrize("seed", [3000, 3001, 3002])
def test_smoothed_contours_keep_within_their_tolerance_both_ways(
    seed: int, tolerance: float
) -> None:
    plane = blobs(seed, (22, 24))
    drawn = outlines(plane, Smoothing(tolerance, (1.0, 1.0)), keyholes=False)
    smooth = dense(drawn, 0.1)
    edge = dense(outlines(plane, keyholes=False), 0.1)
    assert away(smooth, edge) <= tolerance + 0.05
    assert away(edge, smooth) <= tolerance + 0.05
    assert sum(map(len, drawn)) < sum(map(len, outlines(plane, keyholes=False)))


@pytest.mark.parametrize("tolerance", [None, 0.5, 1.0])
def test_holes_are_holes_as_keyholes_and_as_contours_of_their_own(tolerance: float | None) -> None:
    plane = with_holes()
    smoothing = None if tolerance is None else Smoothing(tolerance, (0.9, 0.9))
    joined, apart = (outlines(plane, smoothing, keyholes=one) for one in (True, False))
    assert len(joined) == 3  # the disc, the island in its hole, the ring
    assert len(apart) == 3 + 3
    covered = [coverage(one, *plane.shape) for one in (joined, apart)]
    np.testing.assert_allclose(covered[0], covered[1], atol=1e-9)
    inside = covered[0] >= 0.5
    wrong = inside != plane
    edge = plane ^ binary_erosion(plane)
    near = distance_transform_edt(~edge, sampling=0.9) <= (tolerance or 0) + 0.64
    assert not (wrong & ~near).any()
    assert tolerance is not None or not wrong.any()


@pytest.fixture
def axial(tmp_path: Path) -> Any:
    """Write a series like those of CT scanners: axial, at heights that are not round numbers."""
    slices = write_series(tmp_path / "ct", SHAPE, SPACING)
    for path in (tmp_path / "ct").iterdir():
        one = pydicom.dcmread(path)
        number = int(one.InstanceNumber) - 1
        one.ImageOrientationPatient = [1, 0, 0, 0, 1, 0]
        one.ImagePositionPatient = ["-19.35", "-17.55", f"{-123.4567 + 2.5 * number:.7g}"]
        one.save_as(path)
    assert len(slices) == SHAPE[0]
    return ic.read_dicom_series(tmp_path / "ct")


def volume() -> Array:
    z = np.indices(SHAPE)[0]
    return np.asarray(with_holes()[None] & (z > 0) & (z < 5))


def mask_of(array: Array, series: Any) -> Any:
    mask = sitk.GetImageFromArray(array.astype(np.uint8))
    mask.CopyInformation(series.grid())
    return mask


def test_contours_lie_at_the_very_positions_of_their_slices(axial: Any, tmp_path: Path) -> None:
    path = tmp_path / "out.dcm"
    ic.write_dicom_contours({"x": mask_of(volume(), axial)}, path, axial, method="x")
    heights = {str(one.SOPInstanceUID): one.ImagePositionPatient[2] for one in axial.slices}
    contours = pydicom.dcmread(path).ROIContourSequence[0].ContourSequence
    assert len({str(c.ContourImageSequence[0].ReferencedSOPInstanceUID) for c in contours}) == 4
    for contour in contours:
        own = heights[contour.ContourImageSequence[0].ReferencedSOPInstanceUID]
        assert set(contour.ContourData[2::3]) == {own}


@pytest.mark.parametrize("options", [{}, {"holes": "separate"}, {"smooth": 0.8}])
def test_a_reader_of_our_own_making_finds_the_same_with_pydicom_alone(
    axial: Any, tmp_path: Path, options: dict[str, Any]
) -> None:
    """The points are read from the file, and scikit-image fills the polygons with the even-odd
    rule.

    Plastimatch cannot be used here: it fills holes that are separate contours.
    """
    path = tmp_path / "out.dcm"
    ic.write_dicom_contours({"x": mask_of(volume(), axial)}, path, axial, method="x", **options)
    found = np.zeros(SHAPE, bool)
    first = np.array([float(p) for p in axial.slices[0].ImagePositionPatient])
    for contour in pydicom.dcmread(path).ROIContourSequence[0].ContourSequence:
        points = np.reshape([float(part) for part in contour.ContourData], (-1, 3)) - first
        x, y, z = (points / SPACING).T
        found[round(float(z[0]))] ^= polygon2mask(SHAPE[1:], np.column_stack([y, x]))
    both = 2 * (found & volume()).sum() / (found.sum() + volume().sum())
    assert both >= (0.99 if "smooth" not in options else 0.95)
    own = sitk.GetArrayFromImage(ic.read_dicom_contours(path, axial)[0].mask)
    assert "smooth" in options or (own == volume()).all()
    edge = volume() ^ np.stack([binary_erosion(plane) for plane in volume()])
    near = np.stack([distance_transform_edt(~plane, sampling=0.9) <= 0.8 + 0.64 for plane in edge])
    assert not ((own != volume()) & ~near).any()


@pytest.mark.skipif(shutil.which("plastimatch") is None, reason="plastimatch is not installed")
@pytest.mark.parametrize("options", [{}, {"smooth": 0.8}])
def test_plastimatch_finds_the_same_within_half_a_voxel(
    axial: Any, tmp_path: Path, options: dict[str, Any]
) -> None:
    ic.write_dicom_contours(
        {"x": mask_of(volume(), axial)}, tmp_path / "out.dcm", axial, method="x", **options
    )
    words = "plastimatch convert --input out.dcm --referenced-ct ct --output-prefix read"
    subprocess.run(
        [*words.split(), "--prefix-format", "nrrd"], cwd=tmp_path, check=True, capture_output=True
    )
    found = sitk.GetArrayFromImage(sitk.ReadImage(str(tmp_path / "read" / "x.nrrd"))) > 0
    own = sitk.GetArrayFromImage(ic.read_dicom_contours(tmp_path / "out.dcm", axial)[0].mask) > 0
    if "smooth" not in options:
        np.testing.assert_array_equal(found, volume())
    # Programs may differ at voxels that a contour bisects, but at no others.
    edge = own ^ np.stack([binary_erosion(plane) for plane in own])
    beside = np.stack([distance_transform_edt(~plane) <= 1 for plane in edge])
    assert not ((found != own) & ~beside).any()
    assert (found != own).mean() < 0.01


def test_descriptions_fit_into_the_fields_that_planning_systems_show(
    axial: Any, tmp_path: Path
) -> None:
    path = tmp_path / "out.dcm"
    long = "Consensus of five readers\nby a\\method, " + "and more of it " * 100
    x = Structure("x", mask_of(volume(), axial), details={"ROIDescription": "look: " + long})
    ic.write_dicom_contours([x], path, axial, method="y" * 99, description=long)
    with pydicom.config.disable_value_validation():
        raw = pydicom.dcmread(path)
    roi = raw.StructureSetROISequence[0]
    for value, most in (
        (raw.StructureSetLabel, 16),
        (raw.StructureSetName, 64),
        (raw.SeriesDescription, 64),
        (raw.StructureSetDescription, 1024),
        (roi.ROIName, 64),
        (roi.ROIDescription, 1024),
        (roi.ROIGenerationDescription, 64),
    ):
        assert isinstance(value, str)
        assert 0 < len(value) <= most
        assert value.isprintable()
        assert "\\" not in value
    assert raw.StructureSetDescription.startswith("Consensus of five readers by a method, and")
    assert roi.ROIDescription.endswith("...")


def test_a_tolerance_that_no_contour_can_keep_is_refused(axial: Any, tmp_path: Path) -> None:
    mask = {"x": mask_of(volume(), axial)}
    for value in (0.1, 50.0, -1.0):
        with pytest.raises(ParameterError, match=r"smooth must be 0\.32 .* to 5 mm, got"):
            ic.write_dicom_contours(mask, tmp_path / "o.dcm", axial, method="x", smooth=value)
    with pytest.raises(ParameterError, match="holes must be one of keyhole, separate, got 'x'"):
        ic.write_dicom_contours(mask, tmp_path / "o.dcm", axial, method="x", holes="x")
    assert not (tmp_path / "o.dcm").exists()


def test_stray_islands_go_unless_most_raters_drew_them_or_they_are_all_there_is() -> None:
    mask = np.zeros((4, 20, 20), bool)
    mask[1:3, 2:10, 2:10] = True
    mask[1, 15:17, 2:4] = True  # four voxels drawn by one rater
    mask[1, 15:17, 15:17] = True  # four voxels drawn by two of three raters
    raters = [mask.copy(), mask.copy(), mask.copy()]
    for rater in raters[1:]:
        rater[1, 15:17, 2:4] = False
    raters[2][1, 15:17, 15:17] = False
    found = remove_islands(mask, raters, 10)
    assert found.removed == (4,)
    assert not found.mask[1, 15:17, 2:4].any()
    assert found.mask.sum() == mask.sum() - 4
    assert remove_islands(mask, raters, 4).removed == ()
    assert remove_islands(mask & (np.indices(mask.shape)[1] > 12), raters[2:], 99).mask.sum() == 4
    assert not remove_islands(np.zeros_like(mask), raters, 9).mask.any()


HEAD_AND_NECK = Path(__file__).parents[3] / "shared" / "data" / "headneck"


@pytest.mark.slow
@pytest.mark.skipif(not HEAD_AND_NECK.exists(), reason="the head-and-neck scans are not there")
@pytest.mark.parametrize(("smooth", "least"), [(None, 0.99), (1.0, 0.95)])
def test_organs_of_a_scan_are_read_back_here_and_by_plastimatch(
    tmp_path: Path, smooth: float | None, least: float
) -> None:
    image = sitk.ReadImage(str(HEAD_AND_NECK / "0522c0017_oncologist.nrrd"))
    labels = sitk.GetArrayFromImage(image)[45:142]
    write_series(tmp_path / "ct", labels.shape, image.GetSpacing())
    series = ic.read_dicom_series(tmp_path / "ct")
    voxel = np.prod(image.GetSpacing()) / 1000
    organs = {f"organ{n}": labels == n for n in np.unique(labels) if n}
    masks = {name: mask_of(inside, series) for name, inside in organs.items()}
    path = tmp_path / "out.dcm"
    ic.write_dicom_contours(masks, path, series, method="x", smooth=smooth)
    readers = {one.name: sitk.GetArrayFromImage(one.mask) > 0
               for one in ic.read_dicom_contours(path, series)}  # fmt: skip
    large = [name for name, inside in organs.items() if inside.sum() * voxel > 1]
    assert len(large) > 10
    for name in large:
        assert dice(readers[name], organs[name]) >= least
    if smooth is None:
        assert all((readers[name] == inside).all() for name, inside in organs.items())
    if shutil.which("plastimatch") is None:
        return
    words = "plastimatch convert --input out.dcm --referenced-ct ct --output-prefix read"
    subprocess.run(
        [*words.split(), "--prefix-format", "nrrd"], cwd=tmp_path, check=True, capture_output=True
    )
    for name in large:
        found = sitk.GetArrayFromImage(sitk.ReadImage(str(tmp_path / "read" / f"{name}.nrrd"))) > 0
        assert dice(found, organs[name]) >= least


def dice(one: Array, other: Array) -> float:
    return float(2 * (one & other).sum() / (one.sum() + other.sum()))


@pytest.mark.parametrize("options", [{}, {"smooth": 0.8}])
def test_rt_utils_finds_the_same_but_for_the_voxels_of_the_edge(
    axial: Any, tmp_path: Path, options: dict[str, Any]
) -> None:
    """OpenCV fills polygons and the voxels they cross, with corners rounded to voxel centres."""
    rt_utils = pytest.importorskip("rt_utils")
    path = tmp_path / "out.dcm"
    ic.write_dicom_contours({"x": mask_of(volume(), axial)}, path, axial, method="x", **options)
    read = rt_utils.RTStructBuilder.create_from(str(tmp_path / "ct"), str(path))
    found = np.moveaxis(read.get_roi_mask_by_name("x"), -1, 0)
    if dice(found[::-1], volume()) > dice(found, volume()):
        found = found[::-1]  # it numbers slices from the head
    edge = volume() ^ np.stack([binary_erosion(plane) for plane in volume()])
    near = np.stack([distance_transform_edt(~plane) < 1.5 for plane in edge])
    assert not ((found != volume()) & ~near).any()
    assert dice(found, volume()) > 0.85
