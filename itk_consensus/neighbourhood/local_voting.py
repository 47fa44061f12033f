"""The smoothed vote of raters who weigh differently at each voxel; the kernel of `local_vote`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus import _kernels
from itk_consensus.errors import InputError
from itk_consensus.neighbourhood.gaussian import four_gaussians
from itk_consensus.neighbourhood.tiles import TRUNCATE, four_axes, tile_sizes
from itk_consensus.work import current

Singles = NDArray[np.float32]


@dataclass(frozen=True)
class LocalShares:
    """Weighted votes of a volume, smoothed by a Gaussian; edges go on beyond it."""

    #: Label index of each rater; `labels` or more where it is missing.
    digits: Sequence[NDArray[np.uint16]]
    weights: Sequence[Singles]  #: Weight of each rater
    asked: NDArray[np.bool_]  #: Voxels whose answer is wanted; the others' is 0
    labels: int
    #: Standard deviation in voxels per axis; 0: none. Four axes hold volumes along the first.
    sigmas: Sequence[float]

    def __post_init__(self) -> None:
        volumes: list[NDArray[Any]] = [*self.digits, *self.weights, self.asked]
        shapes = {volume.shape for volume in volumes}
        if len(shapes) > 1 or len(self.digits) != len(self.weights):
            raise InputError(
                f"LocalShares: digits and weights of each rater must have one shape, got {shapes}"
            )

    def winners(self) -> NDArray[np.int32]:
        """The label of largest share, the lowest of equals."""
        found = np.zeros(self.asked.shape, np.int32)
        self._run(-1, found, None)
        return found

    def share(self, label: int) -> Singles:
        """Of one label; those of a voxel sum to 1, or are all 0 where nobody votes around."""
        found = np.zeros(self.asked.shape, np.float32)
        self._run(label, None, found)
        return found

    def _run(self, label: int, winners: Any, shares: Any) -> None:
        shape = four_axes(self.asked.shape)
        gaussian = four_gaussians(self.sigmas, TRUNCATE)
        _kernels.local_vote(
            self.digits,
            self.weights,
            np.ascontiguousarray(self.asked).view(np.uint8),
            self.labels,
            gaussian,
            shape,
            tile_sizes(shape, [len(axis) - 1 for axis in gaussian], self.labels),
            current().threads,
            label,
            winners,
            shares,
        )
