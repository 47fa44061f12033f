"""What a network's prediction makes of a volume in which raters decided most voxels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.labels.fusions import VolumeFusion

if TYPE_CHECKING:
    from itk_consensus.deep.inference import Prediction


def deep_fusion(
    decision: NDArray[np.uint8], answered: NDArray[np.bool_], prediction: Prediction
) -> VolumeFusion:
    """The raters' classes, but the network's where its answer counts.

    Parameters
    ----------
    decision : ndarray of uint8
        Class indices of the raters; written to.
    answered : ndarray of bool
        Voxels at which the network's answer counts. Elsewhere probabilities are 0 or 1.
    """
    fill(decision, prediction, prediction.probability.argmax(0).astype(np.uint8), answered)

    def probability(label: int) -> NDArray[np.float64]:
        volume: NDArray[np.float64] = (decision == label).astype(np.float64)
        fill(volume, prediction, prediction.probability[label], answered)
        return volume

    return VolumeFusion(decision, probability)


def fill(
    volume: NDArray[Any], prediction: Prediction, inside: NDArray[Any], where: NDArray[np.bool_]
) -> None:
    """Copy what holds inside the prediction's box to the volume, at the voxels of `where`."""
    box = prediction.box
    np.copyto(volume[box], inside, where=where[box])
