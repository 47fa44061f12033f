"""Contour measures of bodies with known values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import SimpleITK as sitk

BENCHMARKS = Path(__file__).resolve().parents[2] / "examples" / "benchmarks"


@pytest.fixture(scope="module")
def conformance() -> Any:
    from examples.benchmarks.contours import conformance

    return conformance


def test_measures_are_within_a_per_cent_where_the_grid_can_hold_them(conformance: Any) -> None:
    held = 0
    for case in conformance.cases():
        found = conformance.ours(case)
        for measure in filter(case.holds, conformance.MEASURES):
            expected = case.pair.expected[measure]
            assert found[measure] == pytest.approx(expected, rel=0.01, abs=1e-9), (case, measure)
            held += 1
    assert held == 42


def test_distances_of_curved_bodies_are_within_half_a_voxel(conformance: Any) -> None:
    for case in conformance.cases():
        found = conformance.ours(case)
        for measure in ("hausdorff_mm", "mean_distance_mm"):
            error = abs(found[measure] - case.pair.expected[measure])
            assert error < 0.5 * case.diagonal, (case.name, measure)


def test_known_distances_agree_with_points_on_the_spheres(conformance: Any) -> None:
    pair = conformance.moved_spheres(16.0, 6.0)
    directions = np.random.default_rng(3).normal(size=(400_000, 3))
    points = 16.0 * directions / np.linalg.norm(directions, axis=1, keepdims=True)
    apart = np.abs(np.linalg.norm(points - [6.0, 0.0, 0.0], axis=1) - 16.0)
    assert pair.expected["mean_distance_mm"] == pytest.approx(apart.mean(), rel=0.005)
    assert pair.expected["surface_dice"] == pytest.approx((apart <= 2.0).mean(), abs=0.005)


def test_seg_and_rtstruct_give_back_the_voxels(conformance: Any, tmp_path: Path) -> None:
    import itk_consensus as ic

    case = next(case for case in conformance.cases() if case.name.startswith("nested shells 1x1x4"))
    series = conformance.write_dicom(tmp_path, case)
    wanted = [sitk.GetArrayFromImage(image) for image in (case.a, case.b)]
    seg = ic.read_dicom_segmentation(tmp_path / "seg.dcm", series)
    contours = ic.read_dicom_contours(tmp_path / "rtstruct.dcm", series)
    for structures in (seg, contours):
        for structure, mask in zip(structures, wanted, strict=True):
            np.testing.assert_array_equal(sitk.GetArrayFromImage(structure.mask), mask)


def test_the_set_is_written_with_what_is_expected(conformance: Any, tmp_path: Path) -> None:
    conformance.write(tmp_path, with_dicom=False)
    rows = (tmp_path / "expected.csv").read_text().splitlines()
    assert len(rows) == 1 + len(list(conformance.cases()))
    first = rows[1].split(",")
    mask = sitk.ReadImage(str(tmp_path / first[0].replace(" ", "_") / "a.nii.gz"))
    assert mask.GetSpacing() == (1.0, 1.0, 1.0)
