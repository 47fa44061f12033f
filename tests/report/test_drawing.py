"""Pictures on the page against their definition, and against an independent PNG reader."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import SimpleITK as sitk
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from itk_consensus.report.drawing import contour_path, grey, png_bytes, tint

planes = arrays(
    np.uint8, st.tuples(st.integers(1, 7), st.integers(1, 7)), elements=st.integers(0, 3)
)


def unit_edges(path: str) -> list[tuple[int, int, str]]:
    """Yield each voxel edge of a path: its start, and whether it is horizontal or vertical."""
    edges = []
    for x, y, steps in re.findall(r"M(\d+) (\d+)((?:[hv]-?\d+)+)", path):
        at = [int(x), int(y)]
        for way, length in re.findall(r"([hv])(-?\d+)", steps):
            axis, sign = "hv".index(way), 1 if int(length) > 0 else -1
            for _ in range(abs(int(length))):
                start = list(at)
                at[axis] += sign
                edges.append((min(start[0], at[0]), min(start[1], at[1]), way))
    return edges


@given(planes)
def test_contours_run_along_every_edge_between_labels_once(plane: np.ndarray) -> None:
    height, width = plane.shape
    label = {(y, x): int(plane[y, x]) for y in range(height) for x in range(width)}
    expected = set()
    for y in range(height + 1):
        for x in range(width + 1):
            if x < width and label.get((y, x), 0) != label.get((y - 1, x), 0):
                expected.add((x, y, "h"))
            if y < height and label.get((y, x), 0) != label.get((y, x - 1), 0):
                expected.add((x, y, "v"))
    drawn = unit_edges(contour_path(plane))
    assert len(drawn) == len(set(drawn))
    assert set(drawn) == expected


@pytest.mark.parametrize("shape", [(1, 1), (5, 7), (40, 3), (6, 5, 4)])
def test_png_reads_back_as_it_was_drawn(shape: tuple[int, ...], tmp_path: Path) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, shape).astype(np.uint8)
    path = tmp_path / "picture.png"
    path.write_bytes(png_bytes(pixels))
    np.testing.assert_array_equal(sitk.GetArrayFromImage(sitk.ReadImage(str(path))), pixels)


def test_grey_spans_the_limits_and_nan_is_black() -> None:
    plane = np.array([[-5.0, 0.0, 5.0, 10.0, 20.0, np.nan]])
    assert grey(plane, 0, 10).tolist() == [[0, 0, 128, 255, 255, 0]]
    assert grey(np.zeros((1, 2)), 3, 3).tolist() == [[0, 0]]


def test_tint_is_opaque_where_the_share_is_one() -> None:
    pixels = tint(np.array([[0.0, 0.5, 1.0]]), (1, 2, 3))
    assert pixels[0, :, 3].tolist() == [0, 128, 255]
    assert (pixels[..., :3] == (1, 2, 3)).all()


def test_the_contour_of_one_part_is_one_line_so_that_dashes_run_on() -> None:
    y, x = np.indices((30, 30))
    disc = (y - 15) ** 2 + (x - 14) ** 2 < 100
    assert contour_path(disc).count("M") == 1
    ring = disc & ((y - 15) ** 2 + (x - 14) ** 2 > 25)
    assert contour_path(ring).count("M") == 2
