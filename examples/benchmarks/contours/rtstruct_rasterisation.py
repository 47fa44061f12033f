"""Measure the accuracy of spheres and tubes in an RTSTRUCT in two ways.

"Round trip" starts from voxels: the voxels of a body are written as contours and read back, by this
package and, if installed, by plastimatch. "Drawn" starts from the body: its exact outlines on the
slices are read, and the voxels are compared with the volume enclosed by these outlines, with the
volume of the body, and with the voxels whose centres it contains. Needs itk-consensus[dicom].

    python -m examples.benchmarks.contours.rtstruct_rasterisation [--save FILE.json]

From the stored file, `make docs` writes the table of docs/howto/dicom.md.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pydicom
import SimpleITK as sitk
from pydicom.uid import generate_uid

import itk_consensus as ic
from examples.benchmarks.run_facts import run_facts

RADII, PIXELS, THICKNESSES = (3.0, 6.0), (0.5, 0.7, 1.0), (1.0, 2.5)
#: Extent of the grid in mm, in the slice plane and perpendicular to it.
ACROSS, ALONG = 34.0, 24.0


@dataclass
class Body:
    """A sphere or an oblique tube: its elliptical outlines, its voxels, and its volume."""

    rings: dict[int, Any]
    voxels: Any
    area: float
    volume: float


def sphere(radius: float, middle: Any, places: Any) -> Body:
    """Return a sphere around a point; `places` are (3, slices, rows, columns) voxel centres."""
    x, y, z = (axis - part for axis, part in zip(places, middle, strict=True))
    squared = np.maximum(radius**2 - z[:, 0, 0] ** 2, 0)
    rings = {n: ellipse(middle[:2], np.eye(2) * np.sqrt(s)) for n, s in enumerate(squared) if s > 0}
    inside = x**2 + y**2 + z**2 < radius**2
    return Body(rings, inside, np.pi * squared.sum(), 4 / 3 * np.pi * radius**3)


def tube(radius: float, middle: Any, places: Any, tilt: Any) -> Body:
    """Return a tube inclined by `tilt` mm per mm of height that ends two slices before the grid
    does.
    """
    height = places[2, :, 0, 0] - middle[2]
    stretch = np.hypot(1, np.hypot(*tilt))
    along = np.array(tilt) / max(np.hypot(*tilt), 1e-12)
    axes = radius * np.column_stack([along * stretch, along[::-1] * (-1, 1)])
    rings = {
        n: ellipse(middle[:2] + np.array(tilt) * height[n], axes) for n in range(2, len(height) - 2)
    }
    drift = height[:, None, None]
    x, y = (places[i] - middle[i] - tilt[i] * drift for i in range(2))
    u, v = (x * along[0] + y * along[1]) / stretch, y * along[0] - x * along[1]
    inside = u**2 + v**2 < radius**2
    inside[:2] = inside[-2:] = False
    area = np.pi * radius**2 * stretch * len(rings)
    return Body(rings, inside, area, area * (height[1] - height[0]))


def ellipse(middle: Any, axes: Any, points: int = 90) -> Any:
    """Return (n, 2) points on an ellipse whose semi-axes are the columns of a matrix."""
    angles = 2 * np.pi * np.arange(points) / points
    # An inscribed polygon is smaller than its ellipse, so it is enlarged to the same area.
    grow = np.sqrt(2 * np.pi / (points * np.sin(2 * np.pi / points)))
    return middle + grow * np.stack([np.cos(angles), np.sin(angles)], axis=1) @ axes.T


def bodies(kind: str, radius: float, places: Any, number: int) -> list[Body]:
    """Return bodies at random offsets within a voxel of the centre; tubes lean by up to 30
    degrees.
    """
    random = np.random.default_rng(3001)
    step = places[:, 1, 1, 1] - places[:, 0, 0, 0]
    middles = places.mean(axis=(1, 2, 3)) + random.uniform(-0.5, 0.5, (number, 3)) * step
    if kind == "sphere":
        return [sphere(radius, middle, places) for middle in middles]
    tilts = random.uniform(-0.4, 0.4, (number, 2))
    return [tube(radius, middle, places, tilt) for middle, tilt in zip(middles, tilts, strict=True)]


def write_series(folder: Path, spacing: Any, size: Any) -> Any:
    """Write oblique slices without pixel data."""
    common = {"SeriesInstanceUID": generate_uid(), "FrameOfReferenceUID": generate_uid()}
    common |= {"StudyInstanceUID": generate_uid(), "Modality": "CT", "PatientID": "phantom"}
    for number in range(size[2]):
        one = pydicom.Dataset()
        for keyword, value in common.items():
            setattr(one, keyword, value)
        one.file_meta = pydicom.dataset.FileMetaDataset()
        one.file_meta.TransferSyntaxUID = pydicom.uid.ExplicitVRLittleEndian
        one.SOPClassUID, one.SOPInstanceUID = pydicom.uid.CTImageStorage, generate_uid()
        one.Columns, one.Rows, one.PixelSpacing = size[0], size[1], [spacing[1], spacing[0]]
        one.ImageOrientationPatient = [1, 0, 0, 0, 0.8, -0.6]
        one.ImagePositionPatient = [0, 0.6 * spacing[2] * number, 0.8 * spacing[2] * number]
        one.SliceThickness, one.InstanceNumber = spacing[2], number + 1
        one.SamplesPerPixel, one.PhotometricInterpretation = 1, "MONOCHROME2"
        one.BitsAllocated, one.BitsStored, one.HighBit, one.PixelRepresentation = 16, 16, 15, 0
        one.PixelData = bytes(2 * size[0] * size[1])
        one.save_as(folder / f"{number}.dcm", enforce_file_format=True)
    return ic.read_dicom_series(folder)


def image(array: Any, series: Any) -> Any:
    """Return a mask as an image on the grid of the series."""
    mask = sitk.GetImageFromArray(array.astype(np.uint8))
    mask.CopyInformation(series.grid())
    return mask


def read(path: Path, series: Any) -> list[Any]:
    """Read the voxels of each structure."""
    found = ic.read_dicom_contours(path, series)
    return [sitk.GetArrayFromImage(one.mask) == 1 for one in found]


def write_drawn(path: Path, drawn: list[Body], series: Any) -> None:
    """Write an RTSTRUCT with the exact outlines."""
    empty = image(np.zeros(drawn[0].voxels.shape), series)
    names = {f"body{number}": empty for number in range(len(drawn))}
    ic.write_dicom_contours(names, path, series, method="by hand")
    dataset = pydicom.dcmread(path)
    across, along = np.array(series.slices[0].ImageOrientationPatient).reshape(2, 3)
    for roi, one in zip(dataset.ROIContourSequence, drawn, strict=True):
        roi.ContourSequence = []
        for height, ring in one.rings.items():
            contour = pydicom.Dataset()
            contour.ContourGeometricType, contour.NumberOfContourPoints = "CLOSED_PLANAR", len(ring)
            origin = np.array(series.slices[height].ImagePositionPatient, float)
            places = origin + ring[:, :1] * across + ring[:, 1:] * along
            contour.ContourData = [f"{place:.4f}" for place in places.ravel()]
            roi.ContourSequence.append(contour)
    dataset.save_as(path)


def read_by_plastimatch(path: Path, folder: Path, number: int) -> list[Any] | None:
    """Read the same structures with plastimatch; return None if it is not installed."""
    if shutil.which("plastimatch") is None:
        return None
    out = path.with_suffix("")
    words = f"plastimatch convert --input {path} --referenced-ct {folder} --output-prefix {out}"
    words += " --prefix-format nrrd"
    subprocess.run(words.split(), check=True, capture_output=True)
    files = [out / f"body{n}.nrrd" for n in range(number)]
    return [sitk.GetArrayFromImage(sitk.ReadImage(str(file))) > 0 for file in files]


def row(kind: str, radius: float, pixel: float, thickness: float, number: int) -> list[str]:
    """Return a row of the table: the worst values over all bodies."""
    spacing = np.array([pixel, pixel, thickness])
    size = [int(extent) for extent in (ACROSS, ACROSS, ALONG) / spacing]
    places = np.indices(size[::-1])[::-1] * spacing.reshape(3, 1, 1, 1)
    made = bodies(kind, radius, places, number)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "series")
        folder.mkdir()
        series = write_series(folder, spacing, size)
        traced, drawn = Path(name, "traced.dcm"), Path(name, "drawn.dcm")
        masks = {f"body{n}": image(one.voxels, series) for n, one in enumerate(made)}
        ic.write_dicom_contours(masks, traced, series, method="by hand")
        write_drawn(drawn, made, series)
        trip, ours = read(traced, series), read(drawn, series)
        their_trip = read_by_plastimatch(traced, folder, number)
        theirs = read_by_plastimatch(drawn, folder, number)
    voxels, voxel = [one.voxels for one in made], float(spacing.prod())
    by_slices = [thickness * one.area for one in made]
    volumes = [one.volume for one in made]
    return [
        kind, f"{2 * radius:g}", f"{pixel:g}", f"{thickness:g}",
        worst_dice(trip, voxels), worst_dice(their_trip, voxels),
        worst_volume(ours, by_slices, voxel), worst_volume(ours, volumes, voxel),
        worst_dice(ours, voxels), worst_volume(theirs, volumes, voxel), worst_dice(theirs, ours),
        worst_volume(voxels, volumes, voxel),
    ]  # fmt: skip


def worst_dice(some: Any, others: Any) -> str:
    """Return the smallest Dice."""
    if some is None:
        return "-"
    return f"{min(ic.dice(one, other) for one, other in zip(some, others, strict=True)):.4f}"


def worst_volume(masks: Any, volumes: Any, voxel: float) -> str:
    """Return the largest error of a volume, in per cent."""
    if masks is None:
        return "-"
    found = np.array([mask.sum() * voxel for mask in masks])
    return f"{100 * np.abs(found / volumes - 1).max():.1f}"


COLUMNS = (
    "body", "diameter", "pixel", "slice", "trip", "by plastimatch", "V/outlines", "V/body", "Dice",
    "V plastimatch", "Dice to it", "V centres",
)  # fmt: skip


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bodies", type=int, default=40)
    parser.add_argument("--save", type=Path, metavar="JSON", help="keep the rows here")
    options = parser.parse_args()
    rows = []
    print("mm; Dice: smallest; V: largest error in %")
    print(" | ".join(COLUMNS))
    for kind, radius, thickness, pixel in product(("sphere", "tube"), RADII, THICKNESSES, PIXELS):
        cells = row(kind, radius, pixel, thickness, options.bodies)
        print(" | ".join(c.ljust(len(n)) for c, n in zip(cells, COLUMNS, strict=True)), flush=True)
        rows.append(dict(zip(COLUMNS, cells, strict=True)))
    if options.save is not None:
        kept = {"run": run_facts(), "rows": rows}
        options.save.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
