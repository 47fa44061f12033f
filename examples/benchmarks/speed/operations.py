"""All timed operations, by their names in the results."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
import SimpleITK as sitk
from numpy.typing import NDArray

import itk_consensus
from examples.simulation import contour_error_raters, ellipsoid_mask
from itk_consensus.methods.registry import FUSER_MODULES, short_name

Array = NDArray[Any]

STARTS = 20
FLOOR = "read inputs, fill output"
STAPLE_ARRAYS = "STAPLE, arrays"


@dataclass(frozen=True)
class Operation:
    """An operation, and the kind of images it accepts."""

    as_image: Callable[[Array], Any]
    as_array: Callable[[Any], Array]
    run: Callable[[list[Any]], Any]
    output_bytes: int = 1  #: Bytes per voxel of the output of `run` for uint8 inputs

    def images(self, raters: Iterable[Array]) -> list[Any]:
        """Convert raters to the inputs of this operation."""
        return [self.as_image(rater) for rater in raters]


def _itk_view(array: Array) -> Any:
    import itk

    return itk.image_view_from_array(array)


def _itk_array(image: Any) -> Array:
    import itk

    return itk.array_view_from_image(image)


def _read_inputs_fill_output(arrays: list[Array]) -> Array:
    """Do the minimum work of a fusion to float64: read every input and write the output."""
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
_smooth_staple = partial(itk_consensus.STAPLE, smoothnessWeight=2.0)
_smooth_multilabel = partial(itk_consensus.MultiLabelSTAPLE, smoothnessWeight=2.0)


def _cohort_of_one(images: list[Any]) -> Any:
    return itk_consensus.CohortSTAPLEFilter().Execute([images])


def _derived(fuser: Any, output: str, images: list[Any]) -> Any:
    """Return an output that is requested after Execute."""
    used = fuser()
    used.Execute(images)
    return getattr(used, output)()


def _conformal_band(images: list[Any]) -> Any:
    """Return the band for the vote's shares, and the shares."""
    vote = itk_consensus.MajorityVoteFilter()
    vote.Execute(images)
    share = vote.GetProbabilityImage()
    return share, _calibrated_band().Execute(share, images)


def _atlas(labels: Array) -> tuple[Any, Any]:
    """Return an atlas: labels, and a noisy image with a different grey value for each label."""
    noise = np.random.default_rng(0).normal(0, 8, labels.shape)
    looked_at = (60 + 37 * labels.astype(np.float32) % 100 + noise).astype(np.float32)
    return sitk.GetImageFromArray(labels), sitk.GetImageFromArray(looked_at)


def _of_atlases(fuser: Any, atlases: list[tuple[Any, Any]]) -> Any:
    """Label the first atlas's image by all atlases."""
    labels, looked_at = map(list, zip(*atlases, strict=True))
    return fuser(Image=looked_at[0], AtlasImages=looked_at).Execute(labels)


@cache
def _calibrated_band() -> Any:
    """Return a band calibrated on arbitrary small cases."""
    truth = ellipsoid_mask((16, 16, 16), (4, 5, 6)).view(np.uint8)
    cases = [contour_error_raters(truth, 5, seed=seed) for seed in range(10)]
    shares = [np.mean(case, axis=0) for case in cases]
    band = itk_consensus.ConformalBandFilter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        band.Calibrate(shares, [truth] * len(cases), map(list, cases))
    return band


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
    "FrechetConsensus, SimpleITK images": _on_simpleitk(itk_consensus.FrechetConsensus),
    "SIMPLE, SimpleITK images": _on_simpleitk(itk_consensus.SIMPLE),
    "BoundarySIMPLE, SimpleITK images": _on_simpleitk(itk_consensus.BoundarySIMPLE),
    "LogOpinionPool, SimpleITK images": _on_simpleitk(itk_consensus.LogOpinionPool),
    "ProbabilityAverage, SimpleITK images": _on_simpleitk(itk_consensus.ProbabilityAverage),
    "HybridFusion, SimpleITK images": _on_simpleitk(itk_consensus.HybridFusion),
    "STAPLE with smoothness, SimpleITK images": _on_simpleitk(_smooth_staple, output_bytes=8),
    "MultiLabelSTAPLE with smoothness, SimpleITK images": _on_simpleitk(_smooth_multilabel),
    "CohortSTAPLE, SimpleITK images": _on_simpleitk(_cohort_of_one, output_bytes=8),
    "Agreement, SimpleITK images": _on_simpleitk(itk_consensus.agreement, output_bytes=0),
    "ConformalBand, SimpleITK images": _on_simpleitk(_conformal_band, output_bytes=9),
    FLOOR: _on_arrays(_read_inputs_fill_output),
}
OPERATIONS |= {
    f"{name}, SimpleITK images": Operation(
        _atlas,
        sitk.GetArrayViewFromImage,
        partial(_of_atlases, getattr(itk_consensus, f"{name}Filter")),
    )
    for name in ("JointLabelFusion", "LocallyWeightedVote")
}
#: Outputs requested after Execute, by name, with their bytes per voxel.
DERIVED = {
    "probability": ("GetProbabilityImage", 8),
    "uncertainty": ("GetUncertaintyImage", 4),
}
OPERATIONS |= {
    f"{what} of {short_name(name)}, SimpleITK images": _on_simpleitk(
        partial(_derived, getattr(itk_consensus, name), output), output_bytes=size
    )
    for what, (output, size) in DERIVED.items()
    for name in FUSER_MODULES
}
