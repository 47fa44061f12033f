"""Random DICOM series: straight, tilted, drifting, with varying steps, or with rotated slices."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from dicom_objects import AXES, ORIGIN, write_series

from itk_consensus.core.errors import ConsensusError
from itk_consensus.images.dicom.series import read_dicom_series

Array = np.ndarray[Any, Any]
SPACING = (0.8, 0.7, 2.5)  # x, y, z


def check_series(rng: np.random.Generator, folder: Path) -> str:
    """Check that a series is either rejected, or read with each pixel within a tenth of a voxel
    of its position.
    """
    number = int(rng.integers(2, 30))
    slices = write_series(folder / "series", (number, 12, 14), SPACING)
    places = np.arange(number)[:, None] * [0.0, 0.0, SPACING[2]]
    kind = str(rng.choice(["straight", "noise", "tilt", "drift", "steps", "one"]))
    places = places + _moved(rng, kind, number)
    names = sorted((folder / "series").iterdir(), key=lambda path: path.name)
    by_name = {f"{(7 * n) % 97:03d}.dcm": n for n in range(number)}
    for path in names:
        one = slices[by_name[path.name]]
        where = ORIGIN + AXES @ places[by_name[path.name]]
        one.ImagePositionPatient = [float(f"{part:.9f}") for part in where]
        one.save_as(path, enforce_file_format=True)
    try:
        series = read_dicom_series(folder / "series")
    except ConsensusError as error:
        if not (kind != "straight"):
            raise AssertionError(f"a straight series is refused: {error}") from error
        return "refused"
    found = series.to_indices(ORIGIN + places @ AXES.T)
    wanted = np.arange(number)[:, None] * [0, 0, 1]
    worst = np.abs(found[np.argsort(found[:, 2])] - wanted).max()
    assert worst <= 0.1 + 1e-6, f"{kind}: slices lie {worst:.3g} voxels beside their place"
    return "answered"


def _moved(rng: np.random.Generator, kind: str, number: int) -> Array:
    moved = np.zeros((number, 3))
    steps = np.arange(number)
    size = 10.0 ** rng.uniform(-3, 0.5)
    if kind == "noise":
        moved += rng.uniform(-0.05, 0.05, (number, 3)) * size
    elif kind == "tilt":
        moved[:, 1] = steps * size
    elif kind == "drift":
        moved[:, :2] = steps[:, None] * rng.uniform(-0.2, 0.2, 2) * size
    elif kind == "steps":
        moved[number // 2 :, 2] = np.arange(number - number // 2) * 0.1 * size
    elif kind == "one":
        moved[rng.integers(number)] = rng.uniform(-1, 1, 3) * size
    return moved
