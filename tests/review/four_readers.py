"""A case of four readers with CT: two lesions outlined differently, and two seen by one reader
only.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import SimpleITK as sitk

SHAPE = (24, 64, 72)
SPACING = (0.9, 0.9, 2.0)
ORIGIN = (-30.0, 12.0, -100.0)
_Z, _Y, _X = np.mgrid[: SHAPE[0], : SHAPE[1], : SHAPE[2]]


def ball(z: float, y: float, x: float, radius: float) -> np.ndarray:
    """Return a ball with a radius in mm around a voxel."""
    squares = (2.0 * (_Z - z)) ** 2 + (0.9 * (_Y - y)) ** 2 + (0.9 * (_X - x)) ** 2
    return np.asarray(squares <= radius**2)


def masks() -> list[np.ndarray]:
    """Return each reader's mask."""
    drawn = []
    for number in range(4):
        mask = ball(10, 24 + number, 22, 10 + 0.6 * number) | ball(14, 44, 54, 7 - 0.5 * number)
        if number == 1:
            mask |= ball(5, 14, 58, 5)
        if number == 3:
            mask |= ball(18, 52, 14, 6)
        drawn.append(mask.astype(np.uint8))
    return drawn


def image_of(array: np.ndarray) -> sitk.Image:
    """Convert an array to an image with the geometry of the readers' maps."""
    image = sitk.GetImageFromArray(array)
    image.SetSpacing(SPACING)
    image.SetOrigin(ORIGIN)
    return image


def ct() -> sitk.Image:
    """Return the CT seen by the readers: soft tissue with lesions, and noise."""
    rng = np.random.default_rng(5)
    tissue = np.full(SHAPE, 40.0) + rng.normal(0, 12, SHAPE)
    tissue[ball(12, 32, 36, 29) == 0] = -900
    for z, y, x, radius in ((10, 25, 22, 10), (14, 44, 54, 6), (5, 14, 58, 5), (18, 52, 14, 5)):
        tissue[ball(z, y, x, radius)] += 80
    return image_of(tissue.astype(np.int16))


def write_readers(folder: Path) -> list[Path]:
    """Write the readers' maps to files."""
    paths = [folder / f"{name}.nii.gz" for name in ("ann", "bob", "cem", "dan")]
    for path, mask in zip(paths, masks(), strict=True):
        sitk.WriteImage(image_of(mask), str(path))
    return paths
