"""Compare contour measures (volume, Dice, distances) of simple bodies with their known values.

Results of thirteen centres for the same contours differed by half in Dice and Hausdorff distance,
and threefold in mean surface distance (PMC9679364). Here are pairs of spheres, shells and boxes on
grids of several spacings, slice thicknesses and offsets, whose measures follow from geometry:

    python -m examples.benchmarks.contours.conformance
        --write FOLDER          masks as NIfTI, and expected.csv
        --write FOLDER --dicom  also a CT series, SEG and RTSTRUCT of each
        [--save FILE.json]      our values, and those of other packages that are installed

Not every value can be reproduced on a grid (`Case.holds`). Boxes with faces on voxel faces are
exact. A curved body and the voxels whose centres it contains have the same volume, and so the same
Dice, if the radius is several voxels. Distances are between centres of surface voxels, which are up
to a voxel away from the true surface and not evenly distributed over it. On curved bodies, and
especially on thick slices, they are therefore accurate to a fraction of a voxel in any package.
"""

from __future__ import annotations

import argparse
import csv
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import SimpleITK as sitk
from numpy.typing import NDArray
from scipy.integrate import dblquad, quad

import itk_consensus as ic
from examples.benchmarks.run_facts import run_facts

Mask = NDArray[np.bool_]
Values = dict[str, float]
Body = Callable[[NDArray[np.float64]], Mask]

DISTANCES = ("hausdorff_mm", "mean_distance_mm", "surface_dice")
MEASURES = ("volume_a_ml", "volume_b_ml", "dice", *DISTANCES)

#: Tolerance of the surface Dice in mm.
TOLERANCE = 2.0

#: Voxel sizes (x, y, z) in mm, and the position of the bodies' centre within a voxel.
SPACINGS = ((1.0, 1.0, 1.0), (0.5, 0.5, 0.5), (0.5, 0.5, 2.0), (1.0, 1.0, 4.0))
OFFSETS = ((0.0, 0.0, 0.0), (0.3, 0.4, 0.2))

#: Smallest radius in voxels at which a curved body's volume is accurate to one per cent.
ENOUGH_VOXELS = 20


class Pair(NamedTuple):
    """Two bodies around the origin, and the known values of their measures."""

    name: str
    a: Body
    b: Body
    expected: Values
    radius: float = np.inf  #: Smallest radius of curvature; infinite for boxes


class Case(NamedTuple):
    """A pair of bodies on a grid."""

    name: str
    pair: Pair
    spacing: tuple[float, float, float]
    a: sitk.Image
    b: sitk.Image

    @property
    def diagonal(self) -> float:
        """Return the diagonal of a voxel in mm."""
        return float(np.linalg.norm(self.spacing))

    def holds(self, measure: str) -> bool:
        """Return whether a measure can be accurate to one per cent on this grid."""
        if np.isinf(self.pair.radius):
            return True
        return measure not in DISTANCES and self.pair.radius >= ENOUGH_VOXELS * max(self.spacing)


def ball(radius: float, middle: float = 0.0) -> Body:
    """Return a sphere whose centre is shifted along x."""
    return lambda at: (at[..., 0] - middle) ** 2 + at[..., 1] ** 2 + at[..., 2] ** 2 < radius**2


def shell(inner: float, outer: float) -> Body:
    """Return the shell between two spheres."""
    return lambda at: ball(outer)(at) & ~ball(inner)(at)


def box(*half: float) -> Body:
    """Return a box with these half sides along x, y and z."""
    return lambda at: (np.abs(at) < np.array(half)).all(axis=-1)


def _volume(radius: float) -> float:
    return 4 / 3 * np.pi * radius**3 / 1000


def _overlap(a: float, b: float, both: float) -> Values:
    return {"volume_a_ml": a, "volume_b_ml": b, "dice": 2 * both / (a + b)}


def nested_spheres(small: float, large: float) -> Pair:
    """Return concentric spheres: every distance equals the difference of the radii."""
    a, b, gap = _volume(small), _volume(large), large - small
    known = _overlap(a, b, a) | {"hausdorff_mm": gap, "mean_distance_mm": gap}
    known |= {"surface_dice": 0.0}
    return Pair("nested spheres", ball(small), ball(large), known, small)


def moved_spheres(radius: float, shift: float) -> Pair:
    """Return two equal spheres, one of them shifted.

    The distance of a point p on one sphere from the other is ||p - centre| - radius|.
    """
    half = shift / 2
    lens = np.pi * (4 * radius + shift) * (2 * radius - shift) ** 2 / 12 / 1000

    def distance(cosine: float) -> float:
        return abs(np.sqrt(radius**2 + shift**2 - 2 * radius * shift * cosine) - radius)

    # Over the points of a sphere, the cosine is uniformly distributed from -1 to 1.
    kink = half / radius
    mean = quad(distance, -1, 1, points=[kink])[0] / 2

    def cosine(distance: float) -> float:
        return (radius**2 + shift**2 - (radius + distance) ** 2) / (2 * radius * shift)

    within = (min(cosine(-TOLERANCE), 1) - max(cosine(TOLERANCE), -1)) / 2
    known = _overlap(_volume(radius), _volume(radius), lens) | {"hausdorff_mm": shift}
    known |= {"mean_distance_mm": mean, "surface_dice": within}
    return Pair("moved spheres", ball(radius, -half), ball(radius, half), known, radius)


def nested_shells(wide: tuple[float, float], thin: tuple[float, float]) -> Pair:
    """Return a thin shell halfway between the inner and the outer surface of a thick one."""
    a, b = (_volume(outer) - _volume(inner) for inner, outer in (wide, thin))
    gap = wide[1] - thin[1]
    known = _overlap(a, b, b) | {"hausdorff_mm": gap, "mean_distance_mm": gap, "surface_dice": 0.0}
    return Pair("nested shells", shell(*wide), shell(*thin), known, wide[0])


def nested_boxes(half: tuple[float, float, float], margin: float) -> Pair:
    """Return nested boxes with a margin on all sides; corners have the largest distance."""
    sides = 2 * np.array(half)
    a, b = np.prod(sides) / 1000, np.prod(sides + 2 * margin) / 1000
    known = _overlap(a, b, a) | {"hausdorff_mm": margin * np.sqrt(3)}
    # From the small box, the distance is the margin everywhere. From the large box, it is the
    # margin on the parts of faces opposite the small box, and larger on the strips and corners
    # beyond its edges.
    strip = quad(lambda t: np.hypot(margin, t), 0, margin)[0]
    corner = dblquad(lambda t, u: np.sqrt(margin**2 + t**2 + u**2), 0, margin, 0, margin)[0]
    total = area = 0.0
    for p, q in ((0, 1), (0, 2), (1, 2)):
        face, edges = sides[p] * sides[q], 2 * (sides[p] + sides[q])
        total += 2 * (2 * margin * face + edges * strip + 4 * corner)
        area += 2 * (face + (sides[p] + 2 * margin) * (sides[q] + 2 * margin))
    known |= {"mean_distance_mm": total / area, "surface_dice": 0.0}
    return Pair("nested boxes", box(*half), box(*(side + margin for side in half)), known)


PAIRS = (
    nested_spheres(15.0, 20.0),
    moved_spheres(16.0, 6.0),
    nested_shells((10.0, 22.0), (13.0, 19.0)),
    nested_boxes((10.0, 12.0, 16.0), 4.0),
)


def cases() -> Iterator[Case]:
    """Return all pairs on all grids; boxes are not shifted, so their faces lie on voxel faces."""
    for pair in PAIRS:
        for spacing in SPACINGS:
            for number, offset in enumerate(OFFSETS[:1] if np.isinf(pair.radius) else OFFSETS):
                name = f"{pair.name} {'x'.join(f'{side:g}' for side in spacing)} offset {number}"
                a, b = _drawn(pair, spacing, offset)
                yield Case(name, pair, spacing, a, b)


def _drawn(pair: Pair, spacing: Any, offset: Any) -> Iterator[sitk.Image]:
    """Return the voxels whose centres are inside the bodies; the origin is on a voxel face."""
    sides = np.array(spacing)
    number = 2 * np.ceil(26 / sides).astype(int)
    first = -(number - 1) / 2 * sides
    index = np.moveaxis(np.indices(number[::-1]), 0, -1)[..., ::-1]
    at = first + (index + np.array(offset)) * sides
    for body in (pair.a, pair.b):
        image = sitk.GetImageFromArray(body(at).astype(np.uint8))
        image.SetSpacing(spacing)
        image.SetOrigin(first.tolist())
        yield image


def ours(case: Case) -> Values:
    """Measure with AgreementFilter."""
    found = ic.agreement([case.a, case.b], Surfaces=True, SurfaceTolerance=TOLERANCE).labels[0]
    assert found.hausdorff is not None
    assert found.mean_distance is not None
    assert found.surface_dice is not None
    numbers = (*found.volumes, found.dice[0, 1], found.hausdorff[0, 1])
    numbers += (found.mean_distance[0, 1], found.surface_dice[0, 1])
    return dict(zip(MEASURES, map(float, numbers), strict=True))


def simpleitk(case: Case) -> Values:
    """Measure with SimpleITK, whose mean distance is the larger of the means in both directions."""
    overlap, distance = sitk.LabelOverlapMeasuresImageFilter(), sitk.HausdorffDistanceImageFilter()
    overlap.Execute(case.a, case.b)
    distance.Execute(case.a, case.b)
    return {
        "dice": overlap.GetDiceCoefficient(),
        "hausdorff_mm": distance.GetHausdorffDistance(),
        "mean_distance_mm": distance.GetAverageHausdorffDistance(),
    }


def monai(case: Case) -> Values:
    """Measure with MONAI's metrics."""
    import monai.metrics as metrics
    import torch

    a, b = (torch.from_numpy(sitk.GetArrayFromImage(i))[None, None] for i in (case.a, case.b))
    settings = {"include_background": True, "spacing": case.spacing[::-1]}
    both = {"symmetric": True, **settings}
    near = metrics.compute_surface_dice(a, b, [TOLERANCE], **settings)
    return {
        "dice": float(metrics.compute_dice(a, b)),
        "hausdorff_mm": float(metrics.compute_hausdorff_distance(a, b, **settings)),
        "mean_distance_mm": float(metrics.compute_average_surface_distance(a, b, **both)),
        "surface_dice": float(near),
    }


def surface_distance(case: Case) -> Values:
    """Measure with the package surface-distance, which weights surface elements by area."""
    import surface_distance as theirs

    a, b = (sitk.GetArrayFromImage(image) > 0 for image in (case.a, case.b))
    found = theirs.compute_surface_distances(a, b, case.spacing[::-1])
    return {
        "dice": float(theirs.compute_dice_coefficient(a, b)),
        "hausdorff_mm": float(theirs.compute_robust_hausdorff(found, 100)),
        "mean_distance_mm": float(np.mean(theirs.compute_average_surface_distance(found))),
        "surface_dice": float(theirs.compute_surface_dice_at_tolerance(found, TOLERANCE)),
    }


PACKAGES = {
    "itk_consensus": ours,
    "SimpleITK": simpleitk,
    "MONAI": monai,
    "surface-distance": surface_distance,
}


def measured() -> list[dict[str, Any]]:
    """Return a row for each case and measure: the expected value, and those of all packages."""
    rows = []
    for case in cases():
        found = {name: _asked(ask, case) for name, ask in PACKAGES.items()}
        for measure in MEASURES:
            rows.append(
                {
                    "case": case.name,
                    "body": case.pair.name,
                    "measure": measure,
                    "voxel_diagonal_mm": case.diagonal,
                    "held_by_grid": case.holds(measure),
                    "expected": case.pair.expected[measure],
                    **{name: values.get(measure) for name, values in found.items()},
                }
            )
    return rows


def _asked(ask: Callable[[Case], Values], case: Case) -> Values:
    try:
        return ask(case)
    except ImportError:
        return {}


def write(folder: Path, with_dicom: bool) -> None:
    """Write masks and a table of their known measures."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "expected.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["case", *MEASURES, "tolerance_mm"])
        for case in cases():
            known = [f"{case.pair.expected[measure]:.6g}" for measure in MEASURES]
            table.writerow([case.name, *known, TOLERANCE])
            place = folder / case.name.replace(" ", "_")
            place.mkdir(exist_ok=True)
            for name, image in (("a", case.a), ("b", case.b)):
                sitk.WriteImage(image, str(place / f"{name}.nii.gz"))
            if with_dicom:
                write_dicom(place, case)


def write_dicom(folder: Path, case: Case) -> Any:
    """Write and return an empty CT series, and write both masks as SEG and as RTSTRUCT."""
    from examples.benchmarks.contours.rtstruct_rasterisation import image, write_series

    slices = folder / "ct"
    slices.mkdir(exist_ok=True)
    series = write_series(slices, case.spacing, case.a.GetSize())
    masks = {
        name: image(sitk.GetArrayFromImage(given), series)
        for name, given in (("a", case.a), ("b", case.b))
    }
    ic.write_dicom_segmentation(masks, folder / "seg.dcm", series, method="conformance")
    ic.write_dicom_contours(masks, folder / "rtstruct.dcm", series, method="conformance")
    return series


def errors(rows: list[dict[str, Any]]) -> Iterator[list[str]]:
    """Return the table of each package's largest error over all grids, by body and measure."""
    yield ["body", "measure", *PACKAGES]
    for body in dict.fromkeys(row["body"] for row in rows):
        for measure in MEASURES:
            of = [row for row in rows if (row["body"], row["measure"]) == (body, measure)]
            yield [body, measure, *(_worst(of, name) for name in PACKAGES)]


def _worst(rows: list[dict[str, Any]], name: str) -> str:
    """Format the largest error in per cent or, for distances, in voxel diagonals; "-" if not
    measured.
    """
    known = [row for row in rows if row[name] is not None]
    if not known:
        return "-"
    error = [abs(row[name] - row["expected"]) for row in known]
    if rows[0]["measure"] == "surface_dice":
        return f"{max(error):.3f}"
    per_cent = max(100 * e / row["expected"] for e, row in zip(error, known, strict=True))
    if not rows[0]["measure"].endswith("_mm"):
        return f"{per_cent:.2f} %"
    diagonals = max(e / row["voxel_diagonal_mm"] for e, row in zip(error, known, strict=True))
    return f"{per_cent:.2f} % ({diagonals:.2f} voxels)"


def main() -> None:
    """Write the set of masks, or measure it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", type=Path, metavar="FOLDER", help="write the set here")
    parser.add_argument("--dicom", action="store_true", help="with SEG and RTSTRUCT")
    parser.add_argument("--save", type=Path, metavar="JSON", help="keep what was measured here")
    options = parser.parse_args()
    if options.write:
        write(options.write, options.dicom)
        return
    rows = measured()
    for body, measure, *cells in errors(rows):
        print(f"{body:16} {measure:18}", *(f"{cell:>24}" for cell in cells))
    if options.save is not None:
        kept = {"run": run_facts(), "rows": rows}
        options.save.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
