"""DICOM SEG and RTSTRUCT, on an oblique series with 2.5 mm slices."""

from __future__ import annotations

import copy
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import contourpy
import highdicom
import numpy as np
import PIL.Image
import pydicom
import pytest
import SimpleITK as sitk
from dicom_objects import (
    AXES,
    ORIGIN,
    SHAPE,
    Array,
    position,
    write_contours,
    write_seg,
    write_series,
)
from PIL import ImageCms
from pydicom.sr.codedict import codes
from pydicom.uid import generate_uid

import itk_consensus
from itk_consensus.cli import main
from itk_consensus.core.errors import (
    ConsensusWarning,
    FileError,
    GeometryError,
    InputError,
    MissingDependencyError,
)
from itk_consensus.images.dicom.contour_rasterisation import coverage, rasterise
from itk_consensus.images.dicom.rtstruct_reading import read_dicom_contours
from itk_consensus.images.dicom.seg_reading import NOT_ANNOTATED, read_dicom_segmentation
from itk_consensus.images.dicom.seg_writing import band_structures, write_dicom_segmentation
from itk_consensus.images.dicom.series import DicomSeries, read_dicom_series
from itk_consensus.images.dicom.slice_contours import SliceContours
from itk_consensus.images.files import read_image
from itk_consensus.images.structure_files import read_structures, write_structures
from itk_consensus.images.structure_matching import match_structures
from itk_consensus.images.structures import (
    Code,
    Structure,
    separate_undecided,
)


def reader(number: int) -> dict[str, Array]:
    """Return two overlapping boxes, shifted from reader to reader; the outer slices are empty."""
    liver, lesion = np.zeros(SHAPE, np.uint8), np.zeros(SHAPE, np.uint8)
    liver[2:7, 3 + number : 15 + number, 4:20] = 1
    lesion[4:8, 8 : 14 + number, 10 - number : 24] = 1
    lesion[5] = 0  # one frame inside is missing
    return {"liver": liver, "lesion": lesion}


@pytest.fixture
def case(tmp_path: Path) -> tuple[DicomSeries, list[Any], Path]:
    slices = write_series(tmp_path / "series")
    return read_dicom_series(tmp_path / "series"), slices, tmp_path


def array_of(image: Any) -> Array:
    return sitk.GetArrayFromImage(image)


def test_the_grid_is_that_of_simpleitks_own_series_reader(case: Any) -> None:
    series, _, folder = case
    names = sitk.ImageSeriesReader.GetGDCMSeriesFileNames(str(folder / "series"))
    theirs = sitk.ReadImage(names)
    assert theirs.GetSize() == series.geometry.size
    np.testing.assert_allclose(theirs.GetSpacing(), series.geometry.spacing, atol=1e-6)
    np.testing.assert_allclose(theirs.GetOrigin(), series.geometry.origin, atol=1e-6)
    np.testing.assert_allclose(theirs.GetDirection(), series.geometry.direction, atol=1e-6)


def test_overlapping_segments_and_missing_frames_come_back_voxel_by_voxel(case: Any) -> None:
    series, slices, folder = case
    path = write_seg(folder / "a.dcm", reader(0), slices, {"liver": codes.SCT.Liver})
    liver, lesion = read_dicom_segmentation(path, series)
    np.testing.assert_array_equal(array_of(liver.mask), reader(0)["liver"])
    np.testing.assert_array_equal(array_of(lesion.mask), reader(0)["lesion"])
    assert liver.kind == ("SCT", "10200004", "Liver")
    assert liver.mask.GetOrigin() == pytest.approx(tuple(ORIGIN), abs=1e-6)


def test_slices_without_any_frame_can_be_missing(case: Any) -> None:
    series, slices, folder = case
    path = write_seg(folder / "a.dcm", reader(0), slices, None)
    liver, _ = read_dicom_segmentation(path, series, absent_frames="missing")
    mask = array_of(liver.mask)
    assert (mask[[0, 1, 8, 9]] == NOT_ANNOTATED).all()
    np.testing.assert_array_equal(mask[2:8], reader(0)["liver"][2:8])
    fused = itk_consensus.MajorityVote(
        [liver.mask, liver.mask, series.grid()], missingLabel=NOT_ANNOTATED
    )
    assert not array_of(fused)[0].any()
    with pytest.raises(InputError, match="absent_frames must be"):
        read_dicom_segmentation(path, series, absent_frames="guess")


def label_map_seg(case: Any, change: Callable[[Any], None]) -> Path:
    """Write a SEG of type LABELMAP with two organs, using highdicom."""
    _, slices, folder = case
    labels = np.zeros(SHAPE, np.uint8)
    labels[2:7, 3:15, 4:12], labels[2:7, 3:15, 14:20] = 1, 2
    what = (codes.SCT.AnatomicalStructure, codes.SCT.Tissue, "MANUAL")
    described = [highdicom.seg.SegmentDescription(n, f"organ {n}", *what) for n in (1, 2)]
    maker = ("phantom", "phantom", "1", "1")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        seg = highdicom.seg.Segmentation(
            slices, labels, "LABELMAP", described, generate_uid(), 7, generate_uid(), 1, *maker
        )
    seg.save_as(folder / "labels.dcm")
    return spoilt(folder / "labels.dcm", change)


def with_background(dataset: Any) -> None:
    background = copy.deepcopy(dataset.SegmentSequence[0])
    background.SegmentNumber, background.SegmentLabel = 0, "Background"
    kept = [one for one in dataset.SegmentSequence if int(one.SegmentNumber)]
    dataset.SegmentSequence = [background, *kept]


def test_segment_0_of_a_label_map_is_background(case: Any) -> None:
    """Issue 44, item 11: it became an additional structure of all unlabelled voxels."""
    found = read_dicom_segmentation(label_map_seg(case, with_background), case[0])
    assert [one.name for one in found] == ["organ 1", "organ 2"]
    assert [array_of(one.mask).sum() for one in found] == [5 * 12 * 8, 5 * 12 * 6]


@pytest.mark.parametrize(
    ("numbers", "message"),
    [((1, 0), "from 1 on, got 0"), ((1, 1), "got 1 twice"), ((-1, 1), "got -1")],
)
def test_segments_without_numbers_of_their_own_are_refused(
    case: Any, numbers: tuple[int, int], message: str
) -> None:
    series, slices, folder = case

    def renumber(dataset: Any) -> None:
        for one, number in zip(dataset.SegmentSequence, numbers, strict=True):
            one["SegmentNumber"] = pydicom.DataElement("SegmentNumber", "SS", number)

    path = spoilt(write_seg(folder / "a.dcm", reader(0), slices, None), renumber)
    with pytest.raises((InputError, FileError), match=message):
        read_dicom_segmentation(path, series)


def test_labels_that_a_label_map_does_not_describe_are_refused(case: Any) -> None:
    def drop(dataset: Any) -> None:
        kept = [one for one in dataset.SegmentSequence if int(one.SegmentNumber) != 2]
        dataset.SegmentSequence = kept

    with pytest.raises(InputError, match="has voxels of segment 2, which it does not describe"):
        read_dicom_segmentation(label_map_seg(case, drop), case[0])


def test_what_we_write_is_what_highdicom_reads(case: Any) -> None:
    series, slices, folder = case
    raters = [write_seg(folder / f"{n}.dcm", reader(n), slices, None) for n in range(3)]
    masks = {name: _image(array, series) for name, array in reader(1).items()}
    out = folder / "consensus.dcm"
    write_dicom_segmentation(masks, out, series, method="STAPLEImageFilter", raters=raters)
    theirs = highdicom.seg.segread(out)
    pixels = theirs.get_pixels_by_source_instance(
        [one.SOPInstanceUID for one in series.slices], assert_missing_frames_are_empty=True
    )
    for number, array in enumerate(reader(1).values()):
        np.testing.assert_array_equal(pixels[..., number], array)
    ours = read_dicom_segmentation(out, series)
    for one in ours:
        np.testing.assert_array_equal(array_of(one.mask), reader(1)[one.name])
    dataset = pydicom.dcmread(out)
    assert dataset.SegmentationType == "BINARY"
    referred = {one.SeriesInstanceUID for one in dataset.ReferencedSeriesSequence}
    assert series.uid in referred
    instances = {
        instance.ReferencedSOPInstanceUID
        for one in dataset.ReferencedSeriesSequence
        for instance in one.ReferencedInstanceSequence
    }
    assert {pydicom.dcmread(rater).SOPInstanceUID for rater in raters} <= instances
    algorithm = dataset.SegmentSequence[0].SegmentationAlgorithmIdentificationSequence[0]
    assert algorithm.AlgorithmName == "itk_consensus STAPLEImageFilter"
    assert algorithm.AlgorithmVersion == itk_consensus.__version__


@pytest.mark.parametrize("number", range(3))
def test_every_readers_structures_survive_seg_and_slicer_files_voxel_by_voxel(
    case: Any, number: int
) -> None:
    """Checked with this package's reader, highdicom and SimpleITK."""
    series, _, folder = case
    masks = reader(number)
    images = {name: _image(array, series) for name, array in masks.items()}
    write_dicom_segmentation(images, folder / "a.dcm", series, method="by hand")
    itk_consensus.write_slicer_segmentation(images, folder / "a.seg.nrrd")
    for path in ("a.dcm", "a.seg.nrrd"):
        for one in read_structures(folder / path, series):
            np.testing.assert_array_equal(array_of(one.mask), masks[one.name])
            assert one.mask.GetDirection() == pytest.approx(tuple(AXES.ravel()), abs=1e-6)
    seg, slicer = highdicom.seg.segread(folder / "a.dcm"), sitk.ReadImage(folder / "a.seg.nrrd")
    uids = [one.SOPInstanceUID for one in series.slices]
    pixels = seg.get_pixels_by_source_instance(uids, assert_missing_frames_are_empty=True)
    for place, (name, array) in enumerate(masks.items()):
        assert seg.get_segment_description(place + 1).segment_label == name
        np.testing.assert_array_equal(pixels[..., place], array)
        fields = {
            key: int(slicer.GetMetaData(f"Segment{place}_{key}")) for key in ("Layer", "LabelValue")
        }
        layer = array_of(sitk.VectorIndexSelectionCast(slicer, fields["Layer"]))
        np.testing.assert_array_equal(layer == fields["LabelValue"], array)


def test_probabilities_are_fractional_and_a_band_is_segments_of_its_own(case: Any) -> None:
    series, _, folder = case
    share = np.linspace(0, 1, int(np.prod(SHAPE))).reshape(SHAPE)
    out = folder / "probability.dcm"
    image = sitk.GetImageFromArray(share)
    image.CopyInformation(series.grid())
    write_dicom_segmentation({"liver": image}, out, series, method="vote", fractional=True)
    theirs = highdicom.seg.segread(out)
    uids = [one.SOPInstanceUID for one in series.slices]
    found = theirs.get_pixels_by_source_instance(uids, assert_missing_frames_are_empty=True)
    np.testing.assert_allclose(found[..., 0], share, atol=0.5 / 255 + 1e-6)
    band = reader(0)["liver"] + reader(0)["lesion"]
    parts = band_structures("liver", _image(band, series))
    write_dicom_segmentation(parts, folder / "band.dcm", series, method="band")
    back = {one.name: one.mask for one in read_dicom_segmentation(folder / "band.dcm", series)}
    np.testing.assert_array_equal(array_of(back["liver certain"]), band == 1)
    np.testing.assert_array_equal(array_of(back["liver ambiguous"]), band == 2)
    with pytest.raises(InputError, match="must lie between 0 and 1"):
        write_dicom_segmentation({"a": image * 2}, out, series, method="x", fractional=True)


def outlines(mask: Array) -> list[Array]:
    """Return the outlines of boxes, half a voxel outside the centres of their border voxels."""
    found = []
    for z in np.flatnonzero(mask.any(axis=(1, 2))):
        rows, columns = (np.flatnonzero(mask[z].any(axis=axis)) for axis in (1, 0))
        y0, y1, x0, x1 = rows[0] - 0.5, rows[-1] + 0.5, columns[0] - 0.5, columns[-1] + 0.5
        corners = [(x0, y0), (x1, y0), (x1, y1), (x0, y1)]
        found.append(np.array([position(x, y, z) for x, y in corners]))
    return found


@pytest.mark.parametrize("method", ["STAPLEImageFilter", "MajorityVoteFilter", "ConsensusFilter"])
def test_the_consensus_does_not_depend_on_what_files_carry_the_readers(
    case: Any, method: str
) -> None:
    series, slices, folder = case
    files: dict[str, list[Path]] = {"seg": [], "slicer": [], "contours": []}
    labels: dict[str, list[Any]] = {"liver": [], "lesion": []}
    for number in range(3):
        masks = reader(number)
        files["seg"].append(write_seg(folder / f"{number}.dcm", masks, slices, None))
        itk_consensus.write_slicer_segmentation(
            {name: _image(array, series) for name, array in masks.items()},
            folder / f"{number}.seg.nrrd",
        )
        files["slicer"].append(folder / f"{number}.seg.nrrd")
        drawn = {name: outlines(array) for name, array in masks.items()}
        files["contours"].append(write_contours(folder / f"rt{number}.dcm", drawn, slices))
        for name, array in masks.items():
            suffix = ".nii.gz" if number % 2 else ".nrrd"
            sitk.WriteImage(_image(array, series), str(folder / f"{name}{number}{suffix}"))
            labels[name].append(read_image(folder / f"{name}{number}{suffix}"))
    fuser = getattr(itk_consensus, method)(coordinateTolerance=1e-5, directionTolerance=1e-5)
    expected = {name: fuser.Execute(images) for name, images in labels.items()}
    expected = {name: _binary(image) for name, image in expected.items()}
    for paths in files.values():
        matched = match_structures({str(path): read_structures(path, series) for path in paths})
        fused = itk_consensus.fuse_structures(matched.masks(), fuser)
        assert list(fused) == ["liver", "lesion"]
        for name, image in fused.items():
            np.testing.assert_array_equal(array_of(image), expected[name])


def _binary(image: Any) -> Array:
    """Threshold a label map, or the probability returned by STAPLE, at one half."""
    return (array_of(image) > 0.5).astype(np.uint8)


def circle(x: float, y: float, height: float, radius: float, points: int = 72) -> Array:
    """Return a circle with radius and centre in mm, at a height in mm above the first slice."""
    angles = np.linspace(0, 2 * np.pi, points, endpoint=False)
    along = np.stack(
        [x + radius * np.cos(angles), y + radius * np.sin(angles), np.full(points, height)]
    )
    return ORIGIN + (AXES @ along).T


@dataclass
class Body:
    """Contours of a sphere or tube, the voxels whose centres it contains, and volumes in mm^3."""

    contours: list[Array]
    centres: Array
    volume: float
    volume_of_slices: float


def body(kind: str, radius: float, grid: Grid, centre: Array) -> Body:
    z, y, x = np.indices(grid.shape) * np.reshape(grid.spacing[::-1], (3, 1, 1, 1))
    across = (x - centre[0]) ** 2 + (y - centre[1]) ** 2
    heights = grid.spacing[2] * np.arange(grid.shape[0])
    if kind == "tube":
        squared = np.where((heights >= heights[2]) & (heights <= heights[-3]), radius**2, 0)
        volume = np.pi * radius**2 * grid.spacing[2] * (len(heights) - 4)
        centres = across < squared[:, None, None]
    else:
        squared = np.maximum(radius**2 - (heights - centre[2]) ** 2, 0)
        volume = 4 / 3 * np.pi * radius**3
        centres = across + (z - centre[2]) ** 2 < radius**2
    rings = [
        circle(centre[0], centre[1], height, np.sqrt(square))
        for height, square in zip(heights, squared, strict=True)
        if square > 0
    ]
    return Body(rings, centres, volume, float(np.pi * squared.sum() * grid.spacing[2]))


@dataclass(frozen=True)
class Grid:
    spacing: tuple[float, float, float]
    shape: tuple[int, int, int]

    def of(self, kind: str, diameter: float, count: int = 12) -> list[Body]:
        """Return bodies at random positions near the middle of the grid."""
        random = np.random.default_rng(3001)
        middle = np.array(self.spacing) * (np.array(self.shape[::-1]) - 1) / 2
        shifts = random.uniform(-1, 1, (count, 3)) * self.spacing
        return [body(kind, diameter / 2, self, middle + shift) for shift in shifts]


COARSE = Grid((1.0, 1.0, 2.5), (12, 26, 26))
FINE = Grid((0.5, 0.5, 1.0), (24, 48, 48))


Reader = Callable[[Grid, str, float], list[tuple[Array, Body]]]


@pytest.fixture(scope="module")
def read_bodies(tmp_path_factory: pytest.TempPathFactory) -> Reader:
    """Read the voxels of bodies whose contours were written to an RTSTRUCT, each file only once."""

    @cache
    def read(grid: Grid, kind: str, diameter: float) -> list[tuple[Array, Body]]:
        folder = tmp_path_factory.mktemp("bodies")
        slices = write_series(folder / "series", grid.shape, grid.spacing)
        bodies = grid.of(kind, diameter)
        drawn = {f"body {number}": one.contours for number, one in enumerate(bodies)}
        path = write_contours(folder / "rt.dcm", drawn, slices)
        found = read_dicom_contours(path, read_dicom_series(folder / "series"))
        return [(array_of(f.mask) == 1, one) for f, one in zip(found, bodies, strict=True)]

    return read


@pytest.mark.parametrize("diameter", [6.0, 9.0, 14.0])
@pytest.mark.parametrize("kind", ["sphere", "tube"])
@pytest.mark.parametrize("grid", [COARSE, FINE], ids=["coarse", "fine"])
def test_every_sphere_and_tube_has_the_volume_that_its_contours_enclose(
    read_bodies: Reader, grid: Grid, kind: str, diameter: float
) -> None:
    """Volumes are within 2 % of the true ones; if only centres of voxels were tested, they would
    be off by up to 20 %.
    """
    for mask, one in read_bodies(grid, kind, diameter):
        assert mask.sum() * np.prod(grid.spacing) == pytest.approx(one.volume_of_slices, rel=0.02)


@pytest.mark.parametrize(
    ("grid", "kind", "diameter"),
    [
        (COARSE, "tube", 6.0),
        (COARSE, "tube", 9.0),
        (COARSE, "tube", 14.0),
        (COARSE, "sphere", 14.0),
        (FINE, "tube", 6.0),
        (FINE, "tube", 9.0),
        (FINE, "tube", 14.0),
        (FINE, "sphere", 9.0),
        (FINE, "sphere", 14.0),
    ],
)
def test_volumes_of_bodies_are_kept(
    read_bodies: Reader, grid: Grid, kind: str, diameter: float
) -> None:
    for mask, one in read_bodies(grid, kind, diameter):
        assert mask.sum() * np.prod(grid.spacing) == pytest.approx(one.volume, rel=0.02)


@pytest.mark.parametrize(("grid", "worst"), [(COARSE, 0.04), (FINE, 0.02)])
def test_small_spheres_keep_their_volume_on_average_which_is_all_that_thick_slices_hold(
    read_bodies: Reader, grid: Grid, worst: float
) -> None:
    """The exact areas on these slices already differ from the volume of a 6 mm sphere by
    `worst`.
    """
    shifts = grid.spacing[2] * np.linspace(0, 1, 101)[:, None]
    heights = grid.spacing[2] * np.arange(-9, 9) + shifts
    areas = np.pi * np.maximum(3.0**2 - heights**2, 0)
    exact = areas.sum(axis=1) * grid.spacing[2] / (4 / 3 * np.pi * 3.0**3)
    assert np.abs(exact - 1).max() > worst
    read = read_bodies(grid, "sphere", 6.0)
    volumes = [mask.sum() * np.prod(grid.spacing) for mask, _ in read]
    assert np.mean(volumes) == pytest.approx(read[0][1].volume, rel=0.02)


@pytest.mark.parametrize("diameter", [6.0, 9.0, 14.0])
@pytest.mark.parametrize("kind", ["sphere", "tube"])
def test_bodies_overlap_with_the_voxels_whose_centres_they_hold(
    read_bodies: Reader, kind: str, diameter: float
) -> None:
    """Tested on a grid on which this is well defined: with pixels of 1 mm, a tube of 6 mm has
    only 28 voxels per slice, and two valid ways to choose them may overlap by less than .98.
    """
    for mask, one in read_bodies(FINE, kind, diameter):
        assert itk_consensus.dice(mask, one.centres) > 0.98


@pytest.mark.parametrize("diameter", [6.0, 14.0])
@pytest.mark.parametrize("kind", ["sphere", "tube"])
@pytest.mark.parametrize("grid", [COARSE, FINE], ids=["coarse", "fine"])
def test_contours_traced_around_voxels_give_back_exactly_these_voxels(
    tmp_path: Path, grid: Grid, kind: str, diameter: float
) -> None:
    """The contours, traced by contourpy halfway between centres, cut the corners of voxels."""
    slices = write_series(tmp_path / "series", grid.shape, grid.spacing)
    truth = {str(n): one.centres for n, one in enumerate(grid.of(kind, diameter, count=6))}
    axes = AXES * grid.spacing
    drawn: dict[str, list[Array]] = {}
    for name, mask in truth.items():
        drawn[name] = []
        for z, plane in enumerate(mask):
            for line in contourpy.contour_generator(z=plane.astype(float)).lines(0.5):
                points = np.column_stack([line[:-1], np.full(len(line) - 1, z)])
                drawn[name].append(ORIGIN + points @ axes.T)
    path = write_contours(tmp_path / "rt.dcm", drawn, slices)
    for one in read_dicom_contours(path, read_dicom_series(tmp_path / "series")):
        np.testing.assert_array_equal(array_of(one.mask), truth[one.name])


def test_of_contours_through_the_centres_of_voxels_two_sides_are_inside() -> None:
    """Regardless of rounding errors, a square with corners at the centres of voxels 3 and 9
    contains 36 voxels.
    """
    noise = np.random.default_rng(3003).uniform(-1e-6, 1e-6, (4, 2))
    square = np.array([(3.0, 3.0), (9.0, 3.0), (9.0, 9.0), (3.0, 9.0)]) + noise
    (found,) = rasterise({0: SliceContours([square])}, (1, 12, 12))
    assert found.sum() == 36
    assert found[3, 4:9].all()
    assert found[4:9, 3:9].all()
    assert found[9].sum() + found[:, 9].sum() == 1  # the corner voxel, a quarter of which is inside


def test_single_voxels_and_single_holes_come_back_from_their_diamonds() -> None:
    diamond = np.array([(0.5, 0.0), (0.0, 0.5), (-0.5, 0.0), (0.0, -0.5)])
    square = np.array([(1.5, 1.5), (8.5, 1.5), (8.5, 8.5), (1.5, 8.5)])
    (found,) = rasterise(
        {0: SliceContours([square, diamond + 4, diamond + np.array([10, 5])])}, (1, 11, 12)
    )
    expected = np.zeros((11, 12), np.uint8)
    expected[2:9, 2:9] = 1
    expected[4, 4], expected[5, 10] = 0, 1
    np.testing.assert_array_equal(found, expected)


def test_a_line_costs_no_more_than_the_image_however_long_it_is() -> None:
    """The run time was proportional to the number of voxels between two points, however far
    apart.
    """
    far = np.array([(-1e9, 3.0), (1e9, 3.0)])
    (found,) = rasterise({0: SliceContours(lines=[far])}, (1, 6, 7))
    expected = np.zeros((6, 7), np.uint8)
    expected[3] = 1
    np.testing.assert_array_equal(found, expected)
    beside = np.array([(-1e18, 30.0), (1e18, 30.0)])
    slanted = np.array([(-1e9, -1e9), (1e9, 1e9)])
    assert not rasterise({0: SliceContours(lines=[beside])}, (1, 6, 7)).any()
    np.testing.assert_array_equal(
        rasterise({0: SliceContours(lines=[slanted])}, (1, 6, 7))[0].nonzero(), [np.arange(6)] * 2
    )
    short = np.array([(1.2, 1.0), (4.0, 3.9)])
    assert rasterise({0: SliceContours(lines=[short])}, (1, 6, 7)).sum() == 6


def test_coverage_is_that_of_dense_sampling() -> None:
    """The polygons cross themselves and each other, and extend beyond the image."""
    random = np.random.default_rng(3002)
    polygons = [random.uniform(-2, 12, (n, 2)) for n in (3, 5, 9)]
    y, x = np.mgrid[0:10, 0:11]
    fine = (np.arange(40) + 0.5) / 40 - 0.5
    inside = np.zeros((10, 11, 40, 40), bool)
    places = np.stack(
        np.broadcast_arrays(x[..., None, None] + fine, y[..., None, None] + fine[:, None]),
        axis=-1,
    )
    for polygon in polygons:
        inside ^= even_odd(polygon, places)
    np.testing.assert_allclose(coverage(polygons, 10, 11), inside.mean(axis=(2, 3)), atol=0.02)


def even_odd(polygon: Array, places: Array) -> Array:
    """Return whether an odd number of edges is to the right of each place."""
    inside = np.zeros(places.shape[:-1], bool)
    x, y = places[..., 0], places[..., 1]
    for (x0, y0), (x1, y1) in zip(polygon, np.roll(polygon, -1, axis=0), strict=True):
        inside ^= ((y0 > y) != (y1 > y)) & (x < x0 + (y - y0) * (x1 - x0) / (y1 - y0))
    return inside


def test_a_contour_in_another_is_a_hole_and_two_points_survive(case: Any) -> None:
    series, slices, folder = case
    square = [(2.5, 2.5), (12.5, 2.5), (12.5, 12.5), (2.5, 12.5)]
    hole = [(5.5, 5.5), (8.5, 5.5), (8.5, 8.5), (5.5, 8.5)]
    drawn = [np.array([position(x, y, 4) for x, y in ring]) for ring in (square, hole)]
    line = np.array([position(3, 20, 6), position(9, 20, 6)])
    point = np.array([position(4, 4, 8)])
    path = write_contours(folder / "rt.dcm", {"ring": drawn, "line": [line, point]}, slices)
    ring, thin = (array_of(one.mask) for one in read_dicom_contours(path, series))
    expected = np.zeros(SHAPE, np.uint8)
    expected[4, 3:13, 3:13] = 1
    expected[4, 6:9, 6:9] = 0
    np.testing.assert_array_equal(ring, expected)
    np.testing.assert_array_equal(np.flatnonzero(thin[6, 20]), np.arange(3, 10))
    assert thin.sum() == 8


SQUARE = [(2.5, 2.5), (12.5, 2.5), (12.5, 12.5), (2.5, 12.5)]


def drawn_at(corners: list[tuple[float, float]], z: float) -> Array:
    return np.array([position(x, y, z) for x, y in corners])


def read_one(case: Any, contours: list[Array], kinds: dict[int, str] | None = None) -> Array:
    """Return the voxels of one structure with these contours, some of another type."""
    series, slices, folder = case
    path = write_contours(folder / "rt.dcm", {"organ": contours}, slices)
    if kinds:
        dataset = pydicom.dcmread(path)
        for number, kind in kinds.items():
            contour = dataset.ROIContourSequence[0].ContourSequence[number]
            contour.ContourGeometricType = kind
        dataset.save_as(path)
    (found,) = read_dicom_contours(path, series)
    return array_of(found.mask)


@pytest.mark.parametrize("change", ["the same", "rolled", "reversed", "rounded", "closed"])
def test_a_contour_stored_twice_counts_once(case: Any, change: str) -> None:
    """Issue 44, item 10: the even-odd rule emptied its slice."""
    square = drawn_at(SQUARE, 4)
    again = {
        "the same": square,
        "rolled": np.roll(square, 3, axis=0),
        "reversed": np.roll(square[::-1], 1, axis=0),
        "rounded": square + 1e-4,
        "closed": np.concatenate([square, square[:1]]),
    }[change]
    hole = drawn_at([(5.5, 5.5), (8.5, 5.5), (8.5, 8.5), (5.5, 8.5)], 4)
    once = read_one(case, [square, hole])
    assert once[4].sum() == 91
    np.testing.assert_array_equal(read_one(case, [square, hole, again]), once)
    np.testing.assert_array_equal(read_one(case, [again, square, hole, hole, square]), once)


def test_thousands_of_contours_in_a_slice_are_told_apart_at_once(case: Any) -> None:
    """Duplicates are searched for among contours with the same centre, not among all pairs."""
    ring = [(0.3, 0.3), (0.7, 0.3), (0.7, 0.7), (0.3, 0.7)]
    shifts = np.random.default_rng(44).uniform(0, 20, (1500, 2))
    drawn = [drawn_at([(x + dx, y + dy) for x, y in ring], 4) for dx, dy in shifts]
    assert read_one(case, drawn).any()
    same = [drawn_at(SQUARE, 4)] * 1500
    assert read_one(case, same).sum() == 100


@pytest.mark.parametrize("kind", ["OPEN_PLANAR", "OPEN_NONPLANAR"])
def test_open_contours_are_lines_and_not_filled(case: Any, kind: str) -> None:
    """Issue 44, item 10: they were filled."""
    corners = [(3.0, 3.0), (12.0, 3.0), (12.0, 12.0), (3.0, 12.0)]
    mask = read_one(case, [drawn_at(corners, 4)], {0: kind})
    expected = np.zeros(SHAPE, np.uint8)
    expected[4, 3, 3:13] = expected[4, 3:13, 12] = expected[4, 12, 3:13] = 1
    np.testing.assert_array_equal(mask, expected)


def test_points_are_points(case: Any) -> None:
    corners = [(3.0, 3.0), (12.0, 3.0), (12.0, 12.0)]
    mask = read_one(case, [drawn_at(corners, 4)], {0: "POINT"})
    assert [tuple(place) for place in np.argwhere(mask)] == [(4, 3, 3), (4, 3, 12), (4, 12, 12)]


def test_contours_of_unknown_types_are_refused_by_name(case: Any) -> None:
    with pytest.raises(InputError, match="organ: a contour has the ContourGeometricType 'SPLINE'"):
        read_one(case, [drawn_at(SQUARE, 4)], {0: "SPLINE"})


def test_two_heights_in_one_slice_are_refused(case: Any) -> None:
    """Issue 44, item 10: contours of thinner slices were inverted by each other."""
    with pytest.raises(GeometryError, match=r"at 2 heights, 0\.6 slices apart, fall into slice 4"):
        read_one(case, [drawn_at(SQUARE, 3.7), drawn_at(SQUARE, 4.3)])
    assert read_one(case, [drawn_at(SQUARE, 4.04), drawn_at(SQUARE, 3.96)]).any()


def test_contours_beyond_the_image_are_cut_with_a_word(
    case: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """Issue 44, item 10: they were clipped without a warning. Pixels are .8 mm wide, and there
    are 28.
    """
    series, slices, folder = case
    wide = [(20.0, 2.5), (32.5, 2.5), (32.5, 12.5), (20.0, 12.5)]
    edge = [(20.0, 2.5), (27.5, 2.5), (27.5, 12.5), (20.0, 12.5)]
    path = write_contours(folder / "a.dcm", {"organ": [drawn_at(wide, 4)]}, slices)
    said = r"a\.dcm: organ: contours reach up to 4 mm beyond the image in 1 slice; cut there"
    with pytest.warns(ConsensusWarning, match=said):
        (found,) = read_structures(path, series)
    np.testing.assert_array_equal(array_of(found.mask), read_one(case, [drawn_at(edge, 4)]))
    assert main(["info", str(path), "--per-structure", "--series", str(folder / "series")]) == 0
    assert "4 mm beyond the image" in capsys.readouterr().err


def _image(array: Array, series: DicomSeries) -> Any:
    image = sitk.GetImageFromArray(np.asarray(array, np.uint8))
    image.CopyInformation(series.grid())
    return image


def test_the_command_line_fuses_dicom_into_dicom(case: Any) -> None:
    series, slices, folder = case
    paths = [str(write_seg(folder / f"{n}.dcm", reader(n), slices, None)) for n in range(3)]
    out = folder / "fused.dcm"
    options = ["--per-structure", "--method", "vote", "-o", str(out)]
    assert main(["fuse", *paths, *options]) == 2  # without a series
    assert main(["fuse", *paths, *options, "--series", str(folder / "series")]) == 0
    for one in read_dicom_segmentation(out, series):
        votes = sum(reader(n)[one.name].astype(int) for n in range(3))
        np.testing.assert_array_equal(array_of(one.mask), votes >= 2)


def test_missing_frames_can_be_votes_that_are_missing_on_the_command_line(case: Any) -> None:
    """In slices with frames of only one of three readers, the vote of this reader is decisive."""
    series, slices, folder = case
    masks = [reader(n) for n in range(3)]
    for one in masks[1:]:
        for mask in one.values():
            mask[6:] = 0  # these two readers stopped at slice 5
    paths = [str(write_seg(folder / f"{n}.dcm", one, slices, None)) for n, one in enumerate(masks)]
    options = ["--per-structure", "--method", "vote", "--series", str(folder / "series")]
    found = {}
    for absent in ("background", "missing"):
        out = folder / f"{absent}.dcm"
        assert main(["fuse", *paths, *options, "-o", str(out), "--absent-frames", absent]) == 0
        found[absent] = {one.name: one for one in read_dicom_segmentation(out, series)}
    lesion = masks[0]["lesion"]
    assert not array_of(found["background"]["lesion"].mask)[6:8].any()
    np.testing.assert_array_equal(array_of(found["missing"]["lesion"].mask)[6:8], lesion[6:8])
    assert "lesion undecided" in found["missing"]  # slices that no reader annotated
    assert array_of(found["missing"]["lesion undecided"].mask)[[0, 1, 8, 9]].all()


def test_undecided_voxels_are_refused_and_can_be_separated(case: Any) -> None:
    series, _, folder = case
    tied = {name: [_image(reader(n)[name], series) for n in (0, 2)] for name in ("liver", "lesion")}
    fused = itk_consensus.fuse_structures(tied, itk_consensus.MajorityVoteFilter())
    votes = {name: reader(0)[name] + reader(2)[name] for name in fused}
    count = int((votes["liver"] == 1).sum())
    for write in (
        lambda given: write_dicom_segmentation(given, folder / "x.dcm", series, method="vote"),
        lambda given: itk_consensus.write_slicer_segmentation(given, folder / "x.seg.nrrd"),
    ):
        with pytest.raises(InputError, match=f"liver has {count} voxels that are neither inside"):
            write(fused)
        write(itk_consensus.separate_undecided([Structure(*pair) for pair in fused.items()]))
    for path in ("x.dcm", "x.seg.nrrd"):
        back = {one.name: array_of(one.mask) for one in read_structures(folder / path, series)}
        assert list(back) == ["liver", "liver undecided", "lesion", "lesion undecided"]
        for name, vote in votes.items():
            np.testing.assert_array_equal(back[name], vote == 2)
            np.testing.assert_array_equal(back[f"{name} undecided"], vote == 1)


@pytest.mark.parametrize("name", ["fused.dcm", "fused.seg.nrrd"])
def test_the_command_line_says_that_voxels_are_undecided(
    case: Any, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    _, slices, folder = case
    paths = [str(write_seg(folder / f"{n}.dcm", reader(n), slices, None)) for n in (0, 2)]
    options = ["--per-structure", "--method", "vote", "--series", str(folder / "series")]
    assert main(["fuse", *paths, *options, "-o", str(folder / name)]) == 0
    said = capsys.readouterr()
    assert "tied voxels are written as the structure 'liver undecided'" in said.err
    assert "4 structures in" in said.out


def test_segments_are_not_read_as_labels_and_the_error_says_what_reads_them(case: Any) -> None:
    series, slices, folder = case
    write_seg(folder / "a.dcm", reader(0), slices, None)
    masks = {name: _image(array, series) for name, array in reader(0).items()}
    itk_consensus.write_slicer_segmentation(masks, folder / "a.seg.nrrd")
    for name, function in (("a.dcm", "dicom"), ("a.seg.nrrd", "slicer")):
        with pytest.raises(FileError, match=rf"use read_{function}_segmentation or.*--per-struct"):
            read_image(folder / name)


def test_a_fraction_that_is_no_number_is_refused(case: Any) -> None:
    series, _, folder = case
    image = sitk.Cast(series.grid(), sitk.sitkFloat32)
    image[3, 3, 3] = float("nan")
    with pytest.raises(InputError, match="must lie between 0 and 1"):
        write_dicom_segmentation(
            {"a": image}, folder / "x.dcm", series, method="m", fractional=True
        )


def test_colours_and_terminology_survive_both_ways(case: Any) -> None:
    """CIELab values are computed with the ICC profile, as by LCMS; codes are those of pydicom."""
    series, _, folder = case
    liver = Code("SCT", "10200004", "Liver")
    organ = Code("SCT", "123037004", "Anatomical Structure")
    mask = _image(reader(0)["liver"], series)
    colors = [(1.0, 0.0, 0.0), (0.0, 0.6, 0.2), (0.2, 0.4, 1.0), (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)]
    structures = [Structure(str(n), mask, color, organ, liver) for n, color in enumerate(colors)]
    out = folder / "colours.dcm"
    write_dicom_segmentation([*structures, Structure("plain", mask)], out, series, method="m")
    dataset = pydicom.dcmread(out)
    for segment, color in zip(dataset.SegmentSequence, colors, strict=False):
        stored = highdicom.color.CIELabColor.from_dicom_value(segment.RecommendedDisplayCIELabValue)
        np.testing.assert_allclose(stored.lab, lab_of_lcms(color), atol=1.0)  # LCMS uses 8 bits
        kind = segment.SegmentedPropertyTypeCodeSequence[0]
        assert (kind.CodeValue, kind.CodingSchemeDesignator, kind.CodeMeaning) == (
            codes.SCT.Liver.value,
            codes.SCT.Liver.scheme_designator,
            codes.SCT.Liver.meaning,
        )
    assert "RecommendedDisplayCIELabValue" not in dataset.SegmentSequence[-1]
    *read, plain = read_dicom_segmentation(out, series)
    for one, color in zip(read, colors, strict=True):
        assert one.color == pytest.approx(color, abs=1e-3)
        assert (one.category, one.kind) == (organ, liver)
    assert plain.color is None


def lab_of_lcms(color: tuple[float, ...]) -> list[float]:
    pixel = PIL.Image.new("RGB", (1, 1), tuple(round(255 * part) for part in color))
    profiles = [ImageCms.createProfile(name) for name in ("sRGB", "LAB")]
    lab = ImageCms.profileToProfile(pixel, *profiles, outputMode="LAB").tobytes()
    return [lab[0] / 2.55, *np.frombuffer(lab[1:], np.int8).astype(float)]


def test_a_series_that_lacks_what_a_seg_needs_is_named(case: Any) -> None:
    series, _, folder = case
    for one in series.slices:
        del one.SliceThickness
    with pytest.raises(
        InputError, match=r"the series lacks attributes that a SEG copies.*SliceThick"
    ):
        write_dicom_segmentation({"a": series.grid()}, folder / "x.dcm", series, method="m")


def spoilt(path: Path, change: Any) -> Path:
    dataset = pydicom.dcmread(path)
    change(dataset)
    other = path.with_name(f"spoilt-{path.name}")
    dataset.save_as(other)
    return other


def shift_frames(dataset: Any) -> None:
    for frame in dataset.PerFrameFunctionalGroupsSequence:
        place = frame.PlanePositionSequence[0]
        place.ImagePositionPatient = [float(part) + 0.9 for part in place.ImagePositionPatient]


def drop_series(dataset: Any) -> None:
    del dataset.ReferencedSeriesSequence


def other_series(dataset: Any) -> None:
    dataset.ReferencedSeriesSequence[0].SeriesInstanceUID = generate_uid()


def other_frame(dataset: Any) -> None:
    dataset.FrameOfReferenceUID = generate_uid()


def cut_pixels(dataset: Any) -> None:
    dataset.PixelData = dataset.PixelData[: len(dataset.PixelData) // 4 * 2]


def drop_frame_groups(dataset: Any) -> None:
    dataset.PerFrameFunctionalGroupsSequence.pop()


def drop_segments(dataset: Any) -> None:
    del dataset.SegmentSequence


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (drop_series, InputError, "references no series"),
        (other_series, InputError, "was made on another series"),
        (other_frame, GeometryError, "has another frame of reference"),
        (cut_pixels, FileError, "is cut short: .* bytes of pixels"),
        (drop_frame_groups, FileError, "is an incomplete SEG"),
        (drop_segments, FileError, "is an incomplete SEG"),
        (shift_frames, GeometryError, "lies on no slice of the series"),
    ],
)
def test_a_broken_seg_is_one_clear_error(case: Any, change: Any, error: Any, message: str) -> None:
    series, slices, folder = case
    path = spoilt(write_seg(folder / "a.dcm", reader(0), slices, None), change)
    with pytest.raises(error, match=message):
        read_dicom_segmentation(path, series)


@pytest.mark.parametrize("kind", ["seg", "rtstruct"])
@pytest.mark.parametrize("fault", ["no reference", "other frame", "mixed series", "cut short"])
def test_on_the_command_line_broken_dicom_is_one_line(
    case: Any, kind: str, fault: str, capsys: pytest.CaptureFixture[str]
) -> None:
    _, slices, folder = case
    if kind == "seg":
        path = write_seg(folder / "a.dcm", reader(0), slices, None)
    else:
        path = write_contours(folder / "a.dcm", {"liver": outlines(reader(0)["liver"])}, slices)
    said = {
        "no reference": "references no series",
        "other frame": "has another frame of reference",
        "mixed series": "holds 2 series",
        "cut short": "spoilt-a.dcm: ",
    }

    def change(dataset: Any) -> None:
        if fault == "no reference" and kind == "seg":
            drop_series(dataset)
        elif fault == "no reference":
            del dataset.ReferencedFrameOfReferenceSequence
        elif fault == "other frame" and kind == "seg":
            other_frame(dataset)
        elif fault == "other frame":
            dataset.StructureSetROISequence[0].ReferencedFrameOfReferenceUID = generate_uid()

    bad = spoilt(path, change)
    if fault == "cut short":
        bad.write_bytes(bad.read_bytes()[: bad.stat().st_size * 2 // 3])
    if fault == "mixed series":
        write_series(folder / "other")
        (folder / "other" / "000.dcm").rename(folder / "series" / "stray.dcm")
    options = ["--per-structure", "--series", str(folder / "series")]
    assert main(["fuse", str(path), str(bad), *options, "-o", str(folder / "out.dcm")]) == 2
    error = capsys.readouterr().err
    assert said[fault] in error
    assert error.count("\n") == 1
    assert not (folder / "out.dcm").exists()


def test_files_that_are_cut_or_of_another_kind_are_named(case: Any) -> None:
    series, slices, folder = case
    path = write_seg(folder / "a.dcm", reader(0), slices, None)
    for keep in (0.2, 0.6, 0.95):
        cut = folder / "cut.dcm"
        cut.write_bytes(path.read_bytes()[: int(keep * path.stat().st_size)])
        with pytest.raises((FileError, InputError), match=r"cut\.dcm: "):
            read_dicom_segmentation(cut, series)
    (folder / "text.dcm").write_text("hello")
    with pytest.raises(FileError, match="is not a DICOM file"):
        read_dicom_segmentation(folder / "text.dcm", series)
    with pytest.raises(FileError, match="is a DICOM CT, not a SEG"):
        read_dicom_segmentation(next((folder / "series").iterdir()), series)
    with pytest.raises(FileError, match="is a DICOM SEG, not an RTSTRUCT"):
        read_dicom_contours(path, series)
    with pytest.raises(InputError, match="give the series that it outlines"):
        read_structures(path)


def test_a_broken_rtstruct_is_one_clear_error(case: Any) -> None:
    series, slices, folder = case
    path = write_contours(folder / "rt.dcm", {"a": outlines(reader(0)["liver"])}, slices)

    def odd(dataset: Any) -> None:
        dataset.ROIContourSequence[0].ContourSequence[0].ContourData = [1.0, 2.0]

    def beyond(dataset: Any) -> None:
        contour = dataset.ROIContourSequence[0].ContourSequence[0]
        contour.ContourData = [float(p) for p in np.ravel([position(3, 3, 40)] * 3)]

    def elsewhere(dataset: Any) -> None:
        dataset.StructureSetROISequence[0].ReferencedFrameOfReferenceUID = generate_uid()

    def unreferred(dataset: Any) -> None:
        del dataset.ReferencedFrameOfReferenceSequence

    def nameless(dataset: Any) -> None:
        del dataset.StructureSetROISequence

    for change, message in (
        (odd, "got 2 coordinates"),
        (beyond, "lies beyond the slices"),
        (elsewhere, "another frame of reference"),
        (unreferred, "references no series"),
        (nameless, "is an incomplete RTSTRUCT"),
    ):
        with pytest.raises((FileError, InputError), match=message):
            read_dicom_contours(spoilt(path, change), series)


def test_a_series_that_is_mixed_or_has_gaps_is_refused(case: Any, tmp_path: Path) -> None:
    _, _, folder = case
    paths = sorted((folder / "series").iterdir())
    write_series(tmp_path / "other")
    with pytest.raises(InputError, match="holds 2 series"):
        read_dicom_series([*paths, *(tmp_path / "other").iterdir()])
    middle = next(path for path in paths if pydicom.dcmread(path).InstanceNumber == 5)
    with pytest.raises(GeometryError, match="a slice is missing"):
        read_dicom_series([path for path in paths if path != middle])
    with pytest.raises(GeometryError, match="is missing or duplicated"):
        read_dicom_series([*paths, middle])
    with pytest.raises(FileError, match="holds no files"):
        read_dicom_series([])
    with pytest.raises(FileError):
        read_dicom_series(tmp_path / "nothing")


Steps = Callable[[int], tuple[float, float, float]]


def moved_series(folder: Path, place: Steps, number: int = 40) -> Path:
    """Write a series whose slice positions, in mm along its axes, are a function of their
    number.
    """
    slices = write_series(folder, (number, 24, 28), (0.8, 0.7, 1.0))
    for path, one in zip(sorted(folder.iterdir(), key=_instance), slices, strict=True):
        moved = ORIGIN + AXES @ np.array(place(int(one.InstanceNumber) - 1))
        one.ImagePositionPatient = [float(f"{part:.9f}") for part in moved]
        one.save_as(path, enforce_file_format=True)
    return folder


def _instance(path: Path) -> int:
    return int(pydicom.dcmread(path).InstanceNumber)


def tilted(number: int) -> tuple[float, float, float]:
    """Return positions for a gantry tilt of 20 degrees: the table moves by 3 mm, partly along
    the slices.
    """
    angle = np.radians(20)
    return 0.0, 3 * np.sin(angle) * number, 3 * np.cos(angle) * number


@pytest.mark.parametrize(
    ("place", "message"),
    [
        (
            tilted,
            r"shifted by 1\.03 mm against the one before \(a gantry tilted by 20\.0 degrees",
        ),
        (lambda n: (0.02 * n, 0.0, 1.0 * n), "each is shifted by 0.02 mm against the one before"),
        (lambda n: (0.0, 0.0, n + 0.045 * max(0, n - 20)), "40 slices in steps of 1.02"),
        (lambda n: (0.5 * (n == 7), 0.0, 1.0 * n), "slice 8 of 40 is shifted or rotated"),
        (lambda n: (np.nan if n == 7 else 0.0, 0.0, 1.0 * n), "three finite numbers"),
    ],
    ids=["gantry tilt", "drift", "steps that add up", "one slice moved", "not a number"],
)
def test_slices_that_lie_on_no_grid_are_refused(tmp_path: Path, place: Steps, message: str) -> None:
    """Issue 44, item 9: contours were displaced by up to 13 rows without a warning."""
    with pytest.raises(GeometryError, match=message):
        read_dicom_series(moved_series(tmp_path / "series", place))


def test_slices_within_a_tenth_of_a_voxel_of_their_grid_are_one_series(tmp_path: Path) -> None:
    noise = np.random.default_rng(44).uniform(-0.03, 0.03, (40, 3))
    noise[[0, -1]] = 0
    series = read_dicom_series(
        moved_series(tmp_path / "s", lambda n: (*noise[n, :2], n + noise[n, 2]))
    )
    assert series.geometry.spacing[2] == pytest.approx(1.0, abs=1e-6)
    np.testing.assert_allclose(
        series.to_positions(np.array([[0, 0, 39]])), [ORIGIN + AXES @ [0, 0, 39]], atol=1e-6
    )
    masks = {"a": np.ones((40, 24, 28), np.uint8)}
    path = write_seg(
        tmp_path / "a.dcm", masks, [pydicom.dcmread(one.filename) for one in series.slices], None
    )
    (found,) = read_dicom_segmentation(path, series)
    np.testing.assert_array_equal(array_of(found.mask), masks["a"])


@pytest.mark.parametrize(
    ("keyword", "value", "message"),
    [
        ("PixelSpacing", [0.7, 0.0], "PixelSpacing must be two positive numbers, got 0.7 and 0"),
        ("PixelSpacing", [-0.7, 0.8], "PixelSpacing must be two positive numbers, got -0.7"),
        ("ImageOrientationPatient", [0.0] * 6, "of length 1 at right angles, got lengths 0 and 0"),
        ("ImageOrientationPatient", [1.0, 0, 0, 1.0, 0, 0], "with a cosine of 1 between"),
        ("ImageOrientationPatient", [1.0, 0, 0, 0, 1.1, 0], "got lengths 1 and 1.1"),
        ("ImageOrientationPatient", [1.0, 0, 0, 0.1, 0.995, 0], "with a cosine of 0.1 between"),
        ("ImageOrientationPatient", [1.0, 0, 0], "has no valid position"),
    ],
)
def test_planes_that_are_none_are_refused_in_words_of_the_series(
    tmp_path: Path, keyword: str, value: list[float], message: str
) -> None:
    """Issue 44, item 9: the message was "LinAlgError: Singular matrix"."""
    write_series(tmp_path / "series")
    for path in (tmp_path / "series").iterdir():
        dataset = pydicom.dcmread(path)
        setattr(dataset, keyword, value)
        dataset.save_as(path)
    with pytest.raises(InputError, match=message) as caught:
        read_dicom_series(tmp_path / "series")
    assert str(caught.value).startswith(f"series {tmp_path / 'series'}")


@pytest.mark.parametrize("thickness", [-2.0, 0.0])
def test_a_single_slice_needs_a_thickness_that_is_one(tmp_path: Path, thickness: float) -> None:
    (one,) = write_series(tmp_path / "series", (1, 24, 28))
    one.SliceThickness = thickness
    one.save_as(tmp_path / "series" / "000.dcm", enforce_file_format=True)
    if thickness:
        with pytest.raises(GeometryError, match="SliceThickness must be a positive number, got -2"):
            read_dicom_series(tmp_path / "series")
    else:
        assert read_dicom_series(tmp_path / "series").geometry.spacing[2] == 1.0


def test_masks_of_another_grid_are_not_written(case: Any) -> None:
    series, _, folder = case
    stray = sitk.GetImageFromArray(np.zeros(SHAPE, np.uint8))
    with pytest.raises(GeometryError, match="a does not lie on the grid of series"):
        write_dicom_segmentation([Structure("a", stray)], folder / "x.dcm", series, method="m")


def test_without_the_library_the_extra_is_named(case: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    _, _, folder = case
    monkeypatch.setitem(sys.modules, "pydicom", None)
    with pytest.raises(MissingDependencyError, match=r"itk-consensus\[dicom\]"):
        read_dicom_series(folder / "series")


@pytest.mark.parametrize("name", ["slice", "new.dcm", "link"])
def test_nothing_is_written_into_the_folder_of_a_series(
    case: Any, name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """Issue 27, item 2: a slice was overwritten, or the written file made the series unreadable."""
    _, slices, folder = case
    paths = [str(write_seg(folder / f"{n}.dcm", reader(n), slices, None)) for n in range(2)]
    output = folder / "series" / name
    if name == "slice":
        output = next((folder / "series").iterdir())
    elif name == "link":
        (folder / "link").symlink_to(folder / "series")
        output = folder / "link" / "other.dcm"
    before = {path.name: path.read_bytes() for path in (folder / "series").iterdir()}
    options = ["--per-structure", "--series", str(folder / "series"), "--method", "vote"]
    words = ["fuse", *paths, *options, "-o", str(output), "--overwrite"]
    if name == "slice":
        words[words.index(str(output))] = str(output.rename(output.with_suffix(".dcm")))
        before = {path.name: path.read_bytes() for path in (folder / "series").iterdir()}
    assert main(words) == 2
    assert "would overwrite the input" in capfd.readouterr().err
    assert {path.name: path.read_bytes() for path in (folder / "series").iterdir()} == before


@pytest.mark.parametrize("suffix", [".dcm", ".rtstruct.dcm"])
@pytest.mark.parametrize("length", [54, 63, 64, 70])
def test_long_names_and_their_undecided_twins_stay_apart(
    case: Any, suffix: str, length: int
) -> None:
    """Issue 27, item 16: DICOM allows 64 characters, and both names were truncated to the same."""
    series, _, folder = case
    masks = []
    for number in range(3):
        array = np.zeros(SHAPE, np.uint8)
        array[2:5, 3:9, 4:9], array[6:8, 3:9, 4:9] = 1, 2
        mask = series.grid()
        image = sitk.GetImageFromArray(np.roll(array, number, 2))
        image.CopyInformation(mask)
        masks.append(image)
    names = ["x" * length, "x" * length + "y", "x" * length + " undecided"]
    structures = [Structure(n, m) for n, m in zip(names, masks, strict=True)]
    consensus = separate_undecided(structures)
    assert len({one.name for one in consensus}) == 6
    out = folder / f"out{suffix}"
    write_structures(consensus, out, series, method="vote", raters=[])
    back = read_structures(out, series)
    assert len({one.name for one in back}) == 6
    assert max(len(one.name) for one in back) <= 64
    for one, other in zip(consensus, back, strict=True):
        np.testing.assert_array_equal(array_of(one.mask), array_of(other.mask))
        assert ("undecided" in one.name) == ("undecided" in other.name)


def test_a_name_with_a_backslash_is_one_name(case: Any) -> None:
    """Issue 27, item 16: pydicom splits it into two."""
    series, slices, folder = case
    path = write_seg(folder / "odd.dcm", {"liver": reader(0)["liver"]}, slices, None)
    dataset = pydicom.dcmread(path)
    dataset.SegmentSequence[0].SegmentLabel = ["a", "b"]
    dataset.save_as(path)
    (found,) = read_dicom_segmentation(path, series)
    assert found.name == "a\\b"
    with pytest.raises(InputError, match=r"cannot be the name of a structure: .*; rename it"):
        write_dicom_segmentation([found], folder / "out.dcm", series, method="vote")


def test_no_slice_and_no_readers_object_is_replaced_by_a_consensus(case: Any) -> None:
    series, slices, folder = case
    drawn = write_seg(folder / "a.dcm", reader(0), slices, None)
    structures = read_dicom_segmentation(drawn, series)
    kept = {path: path.read_bytes() for path in (drawn, Path(series.slices[3].filename))}
    for path, before in kept.items():
        for write in (itk_consensus.write_dicom_segmentation, itk_consensus.write_dicom_contours):
            with pytest.raises(FileError, match=r"would overwrite (a slice of|a reader's object)"):
                write(structures, path, series, method="Consensus", raters=[drawn])
        assert path.read_bytes() == before
