"""Affine matrices of nibabel and MONAI, converted to ITK's geometry.

An affine takes voxel indices to millimetres that grow to the right, to the front and to the top
(RAS); ITK's grow to the left, to the back and to the top (LPS), so the first two change sign.
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
    """Where a grid lies.

    Parameters
    ----------
    affine : (r + 1, r + 1) array, r <= 3
        Takes the indices of the first r axes to millimetres.
    size : sequence of int, length d
        In the order of the indices. Axes beyond the affine's have steps of 1 from 0.
    where : str
        For the `InputError` if an axis of the affine has no length.
    ras : bool
        Whether millimetres are RAS, which is turned to LPS, or LPS already.
    """
    matrix = np.array(affine, dtype=np.float64)
    rank, dimension = len(matrix) - 1, len(size)
    if ras:
        matrix[: min(rank, 3)] *= np.array(_RAS_TO_LPS[:rank])[:, None]
    axes = min(rank, dimension)
    steps = np.linalg.norm(matrix[:rank, :axes], axis=0)
    if not (np.isfinite(matrix).all() and (steps > 0).all()):
        raise InputError(f"has an affine whose axes have no length: {matrix.tolist()}", **where)
    direction = np.eye(dimension)
    direction[:axes, :axes] = matrix[:axes, :axes] / steps
    beyond = dimension - axes
    return ImageGeometry(
        tuple(int(extent) for extent in size),
        (*steps.tolist(), *(1.0,) * beyond),
        (*matrix[:axes, rank].tolist(), *(0.0,) * beyond),
        tuple(direction.ravel().tolist()),
    )
