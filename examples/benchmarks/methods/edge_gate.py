"""Measure the effect of the edge gate for raters who are biased outwards at one side of an edge.

As printed in the paper (section 2.6), the gate cancels out; `BoundarySIMPLEFilter(Image=...)`
correlates each rater's contour with the edges of the image.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import SimpleITK as sitk

from examples.simulation import contour_error_raters, ellipsoid_phantom
from itk_consensus import BoundarySIMPLEFilter
from itk_consensus.space.distance import signed_distance

SEEDS = range(20)
RATERS = 5
SHAPE = (24, 64, 64)
SEMI_AXES = (8, 20, 20)
SPACING = (2.0, 1.0, 1.0)
"""Voxel sides in mm, in array order."""


class BiasedCase(NamedTuple):
    """An image, the true mask and the raters' masks, all on one grid."""

    image: sitk.Image
    truth: sitk.Image
    raters: list[sitk.Image]


def biased_case(seed: int, biased: int, bias: float = 3.0) -> BiasedCase:
    """Simulate raters with smooth errors, the first of whom draw up to `bias` mm too far outside
    on one side.
    """
    phantom = ellipsoid_phantom(SHAPE, SEMI_AXES, seed)
    raters = contour_error_raters(
        phantom.truth, RATERS, seed, displacement=0.7, bias=0.3, smoothness=10, spacing=SPACING
    )
    sides = np.random.default_rng(seed).uniform(0.7, 1.3, biased) * bias
    toward = _cosine_to_last_axis()
    for rater, far in zip(raters[:biased], sides, strict=True):
        rater |= signed_distance(rater, SPACING) <= far * toward
    return BiasedCase(
        _image(phantom.image), _image(phantom.truth), [_image(rater) for rater in raters]
    )


def boundary_error(mask: sitk.Image, truth: sitk.Image) -> float:
    """Return the mean distance in mm between two contours, in both directions."""
    ways = []
    for contour_of, other in ((mask, truth), (truth, mask)):
        distance = sitk.Abs(
            sitk.SignedMaurerDistanceMap(other, squaredDistance=False, useImageSpacing=True)
        )
        contour = sitk.GetArrayFromImage(sitk.LabelContour(contour_of)) > 0
        ways.append(float(sitk.GetArrayFromImage(distance)[contour].mean()))
    return float(np.mean(ways))


def errors(seed: int, biased: int) -> tuple[float, float]:
    """Return the boundary error in mm without the gate, and with it."""
    case = biased_case(seed, biased)
    without, gated = (
        BoundarySIMPLEFilter(TieRule="background", Image=image).Execute(case.raters)
        for image in (None, case.image)
    )
    return boundary_error(without, case.truth), boundary_error(gated, case.truth)


def main() -> None:
    """Print the mean boundary errors."""
    print(f"Boundary error in mm, {RATERS} raters, {len(SEEDS)} seeds")
    print("biased raters  no image  with image  seeds improved")
    for biased in range(RATERS + 1):
        rows = np.array([errors(seed, biased) for seed in SEEDS])
        without, gated = rows.mean(axis=0)
        improved = np.count_nonzero(rows[:, 1] < rows[:, 0])
        print(f"{biased:<13}  {without:<8.3f}  {gated:<10.3f}  {improved}")


def _cosine_to_last_axis() -> np.ndarray:
    """Return the cosine of the angle between each voxel's direction from the centre and the
    last axis.
    """
    grid = np.indices(SHAPE) - np.array(SHAPE).reshape(-1, 1, 1, 1) // 2
    offset = grid * np.array(SPACING).reshape(-1, 1, 1, 1)
    return np.maximum(offset[-1], 0) / np.maximum(np.linalg.norm(offset, axis=0), 1)


def _image(array: np.ndarray) -> sitk.Image:
    kept = array.astype(np.uint8) if array.dtype == bool else array
    image = sitk.GetImageFromArray(kept)
    image.SetSpacing(SPACING[::-1])
    return image


if __name__ == "__main__":
    main()
