"""ReaderBiasFilter: how far, and on which sides, raters draw outside or inside a consensus."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.assessment.agreement.compared_raters import ComparedRaters
from itk_consensus.assessment.agreement.reader_bias import PADDING, ConsensusSurface, ReaderBias
from itk_consensus.core.constraints import Integer, optional
from itk_consensus.core.errors import InputError, ParameterError
from itk_consensus.core.parameters import Parameter, defensive_copy
from itk_consensus.core.work import report
from itk_consensus.fusing.fusion_case import FusionCase
from itk_consensus.images import convert
from itk_consensus.methods.consensus.consensus_filter import ConsensusFilter
from itk_consensus.space.boxes import Box
from itk_consensus.votes.decision_patterns import DecisionPatterns


class ReaderBiasFilter(ComparedRaters):
    """Bias of each rater: mean distance outside a consensus in mm, overall and by direction.

    Directions are anatomical: a part of the surface is cranial if its normal points towards the
    head to within 37 degrees. Since each rater contributes to a consensus of all raters, the bias
    is slightly underestimated; to avoid this, compare with a true segmentation or a consensus of
    the other raters.
    """

    Label = Parameter(
        optional(Integer()),
        None,
        "Label value; by default the largest one that occurs, the foreground of masks.",
        default_doc="the largest",
    )

    def Execute(
        self, images: Any, reference: Any = None, names: Sequence[str] | None = None
    ) -> ReaderBias:
        """Compare the raters' contours with a consensus.

        Parameters
        ----------
        images : list of images
            The raters, on one grid.
        reference : image or LabelFusionFilter, optional
            The consensus, or a filter that computes it; ConsensusFilter by default.
        names : sequence of str, optional
            Names of the raters.

        Returns
        -------
        ReaderBias
            Has ``.table()``, ``.to_csv()`` and ``.sentences()``.
        """
        with self._running() as run:
            reference = ConsensusFilter() if reference is None else reference
            case = self._load_comparison(images, reference).case
            geometry = case.loaded.geometry
            if geometry.dimension not in (2, 3):
                raise InputError(
                    f"images must be 2D or 3D, got {geometry.dimension}D", owner=self.GetName()
                )
            named = self._names(names, case.patterns.number_of_raters - 1)
            report(0.5)
            result = self._measure_bias(case, named)
            run.result = (result, case.loaded.without_inputs())
            return defensive_copy(result)

    def GetResult(self) -> ReaderBias:
        """Return the result of the last Execute."""
        result: ReaderBias = self._require_executed(self._result)[0]
        return defensive_copy(result)

    def GetBiasImage(self, rater: int) -> Any:
        """Return an image of a rater's signed distance from the consensus in mm."""
        result, like = self._require_executed(self._result)
        if not 0 <= rater < len(result.raters):
            last = len(result.raters) - 1
            raise ParameterError(f"rater must be 0 to {last}, got {rater}", owner=self.GetName())
        volume = result.volumes[rater]

        def write(out: NDArray[Any]) -> None:
            out.fill(0)
            if volume is not None:
                out[result.box] = volume

        return convert.make_image(write, np.float32, like)

    def _measure_bias(self, case: FusionCase, names: Sequence[str]) -> ReaderBias:
        patterns, geometry = case.patterns, case.loaded.geometry
        labels = [int(label) for label in patterns.labels]
        label = labels[-1] if self.Label is None else self.Label
        if label not in labels:
            raise self._parameter_error("Label", f"must be one of {labels}, got {label}")
        box, *masks, consensus = _masks(patterns, labels.index(label), geometry.dimension)
        if not consensus.any():
            raise InputError(
                f"the consensus has no label {label}; set Label to one that it has",
                owner=self.GetName(),
            )
        square = (geometry.dimension, geometry.dimension)
        # ITK's axes are the array axes in reverse order.
        orientation = np.reshape(geometry.direction, square)[:, ::-1]
        surface = ConsensusSurface(consensus, tuple(case.spacing), orientation)
        core = (slice(PADDING, -PADDING),) * geometry.dimension
        rows: list[dict[str, float] | None] = []
        volumes: list[NDArray[np.float64] | None] = []
        for number, mask in enumerate(masks):
            report(0.5 + 0.5 * number / len(masks))
            if not mask.any():
                rows.append(None)
                volumes.append(None)
                continue
            rows.append(surface.by_direction(mask))
            volumes.append(surface.on_surface(mask)[core])
        return ReaderBias(tuple(names), label, tuple(rows), tuple(volumes), box)


def _masks(patterns: DecisionPatterns, label: int, axes: int) -> tuple[Any, ...]:
    """Return the bounding box of a label, and each rater's mask in it, padded with background."""
    said: NDArray[np.bool_] = patterns.patterns == label
    box: Box = patterns.region(np.asarray(said.any(axis=1)), [0] * axes)
    cropped = patterns.crop(box)
    masks = (cropped.expand(np.ascontiguousarray(column)) for column in said.T)
    return (box, *(np.pad(np.asarray(mask, bool), PADDING) for mask in masks))


def reader_bias(
    images: Any,
    reference: Any = None,
    names: Sequence[str] | None = None,
    label: int | None = None,
) -> ReaderBias:
    """Measure the bias of raters relative to a consensus; function form of ReaderBiasFilter.

    Parameters
    ----------
    images : list of images
        The raters, on one grid.
    reference : image or LabelFusionFilter, optional
        The consensus, or a filter that computes it; ConsensusFilter by default.
    names : sequence of str, optional
        Names of the raters.
    label : int, optional
        Label value; by default the largest one that occurs.
    """
    return ReaderBiasFilter(Label=label).Execute(images, reference, names)
