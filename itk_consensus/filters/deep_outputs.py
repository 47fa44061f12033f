"""What an Execute of DeepConsensusFilter leaves behind, and the images made from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.errors import ParameterError
from itk_consensus.filters.kinds import is_integer
from itk_consensus.images import convert
from itk_consensus.images.loaded_images import LoadedImages

if TYPE_CHECKING:
    from itk_consensus.deep.inference import Prediction


@dataclass(frozen=True)
class DeepOutputs:
    """Class decisions of a volume, and what the network said where it was asked.

    Attributes
    ----------
    loaded : LoadedImages
        Family, geometry and metadata of the outputs.
    dtype : numpy.dtype
        Of the label image.
    labels : tuple of int
        The label of each class.
    decision : ndarray of uint8
        Class indices.
    asked, answered : ndarray of bool
        Voxels the network saw; those of them where its answer counts.
    prediction : Prediction
    """

    loaded: LoadedImages
    dtype: np.dtype[Any]
    labels: tuple[int, ...]
    decision: NDArray[np.uint8]
    asked: NDArray[np.bool_]
    answered: NDArray[np.bool_]
    prediction: Prediction

    def label_image(self) -> Any:
        """The fused label map."""
        output = convert.allocate(self.dtype, self.loaded)
        np.take(np.array(self.labels, self.dtype), self.decision, out=output.array)
        return output.image()

    def probability_image(self, label: int, owner: str) -> Any:
        """Probability of a label; 0 or 1 where the raters decided."""
        if not is_integer(label) or label not in self.labels:
            raise ParameterError(
                f"{owner}: GetProbabilityImage's label must be one of {self.labels}, got {label!r}"
            )
        index = self.labels.index(int(label))
        output = convert.allocate(np.float64, self.loaded)
        output.array[...] = self.decision == index
        fill(output.array, self.prediction, self.prediction.probability[index], self.answered)
        return output.image()

    def evidence_image(self) -> Any:
        """Total Dirichlet evidence; 0 where the network was not asked."""
        output = convert.allocate(np.float64, self.loaded)
        output.array[...] = 0
        fill(output.array, self.prediction, self.prediction.evidence, self.asked)
        return output.image()


def fill(
    volume: NDArray[Any], prediction: Prediction, inside: NDArray[Any], where: NDArray[np.bool_]
) -> None:
    """Copy what holds inside the prediction's box to the volume, at the voxels of `where`."""
    box = prediction.box
    np.copyto(volume[box], inside, where=where[box])
