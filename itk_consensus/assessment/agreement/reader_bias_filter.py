"""ReaderBiasFilter: who draws generously, and where."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.assessment.agreement.compared_raters import ComparedRaters
from itk_consensus.assessment.agreement.reader_bias import PADDING, ConsensusSurface, ReaderBias
from itk_consensus.core.constraints import Integer, optional
from itk_consensus.core.errors import InputError, ParameterError
from itk_consensus.core.parameters import Parameter, handed_out
from itk_consensus.core.work import report
from itk_consensus.fusing.fusion_case import FusionCase
from itk_consensus.images import convert
from itk_consensus.methods.consensus.consensus_filter import ConsensusFilter
from itk_consensus.space.boxes import Box
from itk_consensus.votes.decision_patterns import DecisionPatterns


class ReaderBiasFilter(ComparedRaters):
    """How far outside a consensus each rater draws, in mm, over the whole surface and by direction.

    Directions are the patient's: a part of the surface is cranial if it faces the head, to 37
    degrees. A rater's own vote is part of a consensus of all, which makes the bias a little
    smaller than it is; compare with a truth, or a consensus of the others, to see all of it.
    """

    Label = Parameter(
        optional(Integer()),
        None,
        "Which label; by default the largest one that occurs, the foreground of masks.",
        default_doc="the largest",
    )

    def Execute(
        self, images: Any, reference: Any = None, names: Sequence[str] | None = None
    ) -> ReaderBias:
        """Compare contours.

        Parameters
        ----------
        images : list of images
            The raters, on one grid.
        reference : image or LabelFusionFilter, optional
            The consensus, or a filter that makes it; ConsensusFilter by default.
        names : sequence of str, optional
            What each rater is called.

        Returns
        -------
        ReaderBias
            Has ``.table()``, ``.to_csv()`` and ``.sentences()``.
        """
        with self._running() as run:
            reference = ConsensusFilter() if reference is None else reference
            case = self._compared(images, reference).case
            geometry = case.loaded.geometry
            if geometry.dimension not in (2, 3):
                raise InputError(
                    f"images must be 2D or 3D, got {geometry.dimension}D", owner=self.GetName()
                )
            named = self._names(names, case.patterns.number_of_raters - 1)
            report(0.5)
            result = self._measured_bias(case, named)
            run.result = (result, case.loaded.without_inputs())
            return handed_out(result)

    def GetResult(self) -> ReaderBias:
        """What the last Execute returned."""
        result: ReaderBias = self._made(self._result)[0]
        return handed_out(result)

    def GetBiasImage(self, rater: int) -> Any:
        """How far outside the consensus a rater draws, in mm, on the outer of both surfaces."""
        result, like = self._made(self._result)
        if not 0 <= rater < len(result.raters):
            last = len(result.raters) - 1
            raise ParameterError(f"rater must be 0 to {last}, got {rater}", owner=self.GetName())
        volume = result.volumes[rater]

        def write(out: NDArray[Any]) -> None:
            out.fill(0)
            if volume is not None:
                out[result.box] = volume

        return convert.written(write, np.float32, like)

    def _measured_bias(self, case: FusionCase, names: Sequence[str]) -> ReaderBias:
        patterns, geometry = case.patterns, case.loaded.geometry
        labels = [int(label) for label in patterns.labels]
        label = labels[-1] if self.Label is None else self.Label
        if label not in labels:
            raise self._wrong("Label", f"must be one of {labels}, got {label}")
        box, *masks, consensus = _masks(patterns, labels.index(label), geometry.dimension)
        if not consensus.any():
            raise InputError(f"the consensus has no label {label}", owner=self.GetName())
        square = (geometry.dimension, geometry.dimension)
        # ITK's axes are those of the array in reverse.
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
    """The box of a label, and what each rater marked in it with some voxels of nothing around."""
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
    """Who draws generously, and where; function form of ReaderBiasFilter.

    Parameters
    ----------
    images : list of images
        The raters, on one grid.
    reference : image or LabelFusionFilter, optional
        The consensus, or a filter that makes it; ConsensusFilter by default.
    names : sequence of str, optional
        What each rater is called.
    label : int, optional
        The largest one that occurs by default.
    """
    return ReaderBiasFilter(Label=label).Execute(images, reference, names)
