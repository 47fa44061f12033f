"""Everything that is timed, by the name it has in the results."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import SimpleITK as sitk
from numpy.typing import NDArray

import itk_consensus

Array = NDArray[Any]

STARTS = 20
FLOOR = "read inputs, fill output"
STAPLE_ARRAYS = "STAPLE, arrays"


@dataclass(frozen=True)
class Operation:
    """One way to fuse, and the kind of images it takes."""

    as_image: Callable[[Array], Any]
    as_array: Callable[[Any], Array]
    run: Callable[[list[Any]], Any]
    output_bytes: int = 1  #: per voxel, of what `run` returns for uint8 inputs

    def images(self, raters: Iterable[Array]) -> list[Any]:
        """Raters as this operation takes them."""
        return [self.as_image(rater) for rater in raters]


def _itk_view(array: Array) -> Any:
    import itk

    return itk.image_view_from_array(array)


def _itk_array(image: Any) -> Array:
    import itk

    return itk.array_view_from_image(image)


def _read_inputs_fill_output(arrays: list[Array]) -> Array:
    """What any fusion to float64 must do at least: touch every input and write the output."""
    for array in arrays:
        array.max()
    output = np.empty(arrays[0].shape, np.float64)
    output.fill(0.5)
    return output


_on_simpleitk = partial(Operation, sitk.GetImageFromArray, sitk.GetArrayViewFromImage)
_on_itk = partial(Operation, _itk_view, _itk_array)
_on_arrays = partial(Operation, np.asarray, np.asarray)

_smoothed_vote = partial(itk_consensus.MajorityVote, smoothingSigma=1.0)
_staple_many = partial(itk_consensus.STAPLE, numberOfInitializations=STARTS)
_multilabel_many = partial(itk_consensus.MultiLabelSTAPLE, numberOfInitializations=STARTS)

OPERATIONS: dict[str, Operation] = {
    "sitk.STAPLE": _on_simpleitk(sitk.STAPLE),
    "STAPLE, SimpleITK images": _on_simpleitk(itk_consensus.STAPLE, output_bytes=8),
    "STAPLE, itk images": _on_itk(itk_consensus.STAPLE),
    STAPLE_ARRAYS: _on_arrays(itk_consensus.STAPLE),
    f"STAPLE, arrays, {STARTS} starts": _on_arrays(_staple_many),
    "sitk.MultiLabelSTAPLE": _on_simpleitk(sitk.MultiLabelSTAPLE),
    "MultiLabelSTAPLE, SimpleITK images": _on_simpleitk(itk_consensus.MultiLabelSTAPLE),
    f"MultiLabelSTAPLE, SimpleITK images, {STARTS} starts": _on_simpleitk(_multilabel_many),
    "sitk.LabelVoting": _on_simpleitk(sitk.LabelVoting),
    "LabelVoting, SimpleITK images": _on_simpleitk(itk_consensus.LabelVoting),
    "MajorityVote, SimpleITK images": _on_simpleitk(itk_consensus.MajorityVote),
    "COLLATE, SimpleITK images": _on_simpleitk(itk_consensus.COLLATE),
    "DirectInference, SimpleITK images": _on_simpleitk(itk_consensus.DirectInference),
    "smoothed vote, SimpleITK images": _on_simpleitk(_smoothed_vote),
    "CorrectedVote, SimpleITK images": _on_simpleitk(itk_consensus.CorrectedVote),
    "CoherenceVote, SimpleITK images": _on_simpleitk(itk_consensus.CoherenceVote),
    "Consensus, SimpleITK images": _on_simpleitk(itk_consensus.Consensus),
    "ShapeBasedAveraging, SimpleITK images": _on_simpleitk(itk_consensus.ShapeBasedAveraging),
    "SpatialSTAPLE, SimpleITK images": _on_simpleitk(itk_consensus.SpatialSTAPLE),
    FLOOR: _on_arrays(_read_inputs_fill_output),
}
