"""Conversion of the affine matrices of nibabel and MONAI to ITK's geometry.

An affine maps voxel indices to millimetres that increase towards right, anterior and superior
(RAS). ITK's increase towards left, posterior and superior (LPS), so the first two change sign.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from itk_consensus.core.errors import InputError, Where
from itk_consensus.images.geometry import ImageGeometry

_RAS_TO_LPS = (-1.0, -1.0, 1.0)


def geometry_of_affine(
    affine: npt.ArrayLike, size: Sequence[int], where: Where, *, ras: bool = True
) -> ImageGeometry:
    """Convert an affine matrix to a geometry.

    Parameters
    ----------
    affine : (r + 1, r + 1) array, r <= 3
        Maps indices of the first r axes to millimetres.
    size : sequence of int, length d
        In the order of the indices. Axes beyond those of the affine get spacing 1 and origin 0.
    where : Where
        The input, for the `InputError` if an axis of the affine has zero length.
    ras : bool
        Whether the affine maps to RAS, which is converted to LPS; otherwise it maps to LPS.
    """
    matrix = np.array(affine, dtype=np.float64)
    rank, dimension = len(matrix) - 1, len(size)
    if ras:
        matrix[: min(rank, 3)] *= np.array(_RAS_TO_LPS[:rank])[:, None]
    axes = min(rank, dimension)
    steps = np.linalg.norm(matrix[:rank, :axes], axis=0)
    if not (np.isfinite(matrix).all() and (steps > 0).all()):
        raise InputError(
            f"has an affine with an axis of zero or non-finite length: {matrix.tolist()}", **where
        )
    direction = np.eye(dimension)
    direction[:axes, :axes] = matrix[:axes, :axes] / steps
    beyond = dimension - axes
    return ImageGeometry(
        tuple(int(extent) for extent in size),
        (*steps.tolist(), *(1.0,) * beyond),
        (*matrix[:axes, rank].tolist(), *(0.0,) * beyond),
        tuple(direction.ravel().tolist()),
    )
