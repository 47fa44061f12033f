"""Joint label fusion: atlases that err alike share one voice.

Wang et al., IEEE TPAMI 35(3):611-623, 2013. The expected joint error of two atlases is estimated
from their images, M_ij = (sum over the patch of |T - F_i| |T - F_j|)^beta, and the weights
w = (M + alpha I)^-1 1 / 1^T (M + alpha I)^-1 1 minimise the expected error of the weighted vote.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from itk_consensus.array_types import Floats
from itk_consensus.errors import InputError
from itk_consensus.fusion.atlas.atlas_images import ComparableImages
from itk_consensus.neighbourhood.patch_weights import patch_weights


@dataclass(frozen=True)
class JointSettings:
    """Everything that joint fusion can be told."""

    #: Radii, in voxels per array axis, of the patch that is compared, and of the neighbourhood in
    #: which each atlas is searched for its nearest patch.
    patch: tuple[int, ...]
    search: tuple[int, ...]
    beta: float = 2.0  #: Exponent of the summed products
    alpha: float = 0.1  #: Added to the diagonal; intensities are in units of the target's spread


class JointWeights(NamedTuple):
    """Of J atlases at N voxels."""

    weights: Floats  #: (N, J), each row sums to 1
    shifts: NDArray[np.int16]  #: (N, J, axes): where each atlas has its nearest patch


def joint_weights(
    images: ComparableImages,
    places: NDArray[np.intp],
    settings: JointSettings,
) -> JointWeights:
    """Weights of the atlases, none of which may be missing, at some voxels.

    Beyond the border the last voxel goes on. Of equally near patches the least shifted counts.

    Parameters
    ----------
    places : (N,) ndarray
        Flat indices into the images.
    """
    atlases = [atlas for atlas in images.atlases if atlas is not None]
    if len(atlases) != len(images.atlases) or not settings.alpha > 0:
        raise InputError("joint_weights: every atlas must have an image, and alpha be positive")
    weights, shifts = patch_weights(
        images.target,
        atlases,
        places,
        settings.patch,
        settings.search,
        beta=settings.beta,
        alpha=settings.alpha,
    )
    return JointWeights(weights, shifts)
