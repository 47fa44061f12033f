"""Chunked fusion without a spatial term: gather decision patterns, infer once, look up results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from itk_consensus.chunked.passes import Array, Block, Depth, Estimated, Gathered, Request
from itk_consensus.core.errors import InputError
from itk_consensus.core.work import working
from itk_consensus.fusing.fusion_case import FusionCase
from itk_consensus.fusing.fusion_result import FusionResult
from itk_consensus.images.families.image_family import Family, LoadedImages
from itk_consensus.images.geometry import ArrayGeometry
from itk_consensus.votes.decision_patterns import DecisionPatterns, relabel
from itk_consensus.votes.encoding import merge_tables
from itk_consensus.votes.fusions import PatternFusion
from itk_consensus.votes.label_stack import distinct_values

if TYPE_CHECKING:
    from itk_consensus.fusing.label_fusion import LabelFusionFilter


class PatternSummary(NamedTuple):
    """The votes of one or several chunks."""

    table: DecisionPatterns  #: Pattern table without the code of each voxel
    #: For each rater an array of its data type: empty or, if the foreground label of a binary
    #: filter occurs in no chunk, the values that occur instead.
    values: tuple[Array | None, ...]


class PatternCodes(NamedTuple):
    """The pattern of each voxel of a chunk, compressed."""

    packed: Any  #: A PackedArray
    slots: NDArray[np.int64]  #: This and the following fields are those of `DecisionPatterns`
    number_of_codes: int


class PatternAnswer(NamedTuple):
    """The value of an output for every pattern."""

    table: DecisionPatterns
    column: Array


@dataclass(frozen=True)
class PatternWork:
    """The passes of a filter that needs only the pattern table."""

    filter_: LabelFusionFilter  #: The filter, without images among its parameters
    dimension: int  #: Number of axes of the volume

    reads_once: ClassVar[bool] = True
    concludes_at_length: ClassVar[bool] = False

    def for_output(self, request: Request) -> PatternWork:
        return self

    @property
    def depths(self) -> tuple[Depth, Depth]:
        return (0,) * self.dimension, (0,) * self.dimension

    def gather(self, number: int, block: Block, context: None) -> Gathered:
        from itk_consensus.chunked.packed_array import PackedArray  # needs the dask extra

        part = self.filter_.with_images(block.images, len(block.raters))
        case = part.case_of(list(block.raters), "patterns")
        table, stack = case.patterns, case.stack
        assert stack is not None
        assert table.codes is not None
        assert table.slots is not None
        is_blank = stack.foreground is not None and not (table.patterns == 1).any()
        values = tuple(
            None if array is None else _values(array, is_blank, j)
            for j, array in enumerate(stack.arrays)
        )
        bare = DecisionPatterns(table.patterns, table.counts, table.labels, table.strata)
        codes = PatternCodes(PackedArray.of(table.codes), table.slots, table.number_of_codes)
        return Gathered(PatternSummary(bare, values), codes)

    def merge(self, number: int, summaries: Sequence[PatternSummary]) -> PatternSummary:
        first, *others = (summary.table for summary in summaries)
        of_raters = zip(*(summary.values for summary in summaries), strict=True)
        values = tuple(
            None if raters[0] is None else np.unique(np.concatenate(raters)) for raters in of_raters
        )
        return PatternSummary(first.merge(*others), values)

    def conclude(self, number: int, summary: PatternSummary, context: None) -> PatternSummary:
        return summary

    def answer(self, context: PatternSummary, request: Request) -> PatternAnswer:
        column = getattr(self._executed(context), request.method)(*request.arguments)
        owner = self.filter_.GetName()
        return PatternAnswer(context.table, as_promised(column, request.dtype, owner))

    def estimated(self, context: PatternSummary) -> Estimated:
        result = self._executed(context)
        return Estimated(result.labels, result.estimate, result.fusion.as_table(context.table))

    @working(threads=1)
    def _executed(self, context: PatternSummary) -> FusionResult[Any]:
        """Run the filter on a volume with one voxel per pattern, weighted by its count."""
        table = context.table
        self.filter_.require_votes(table.number_of_voxels > 0, bool(table.present.any()))
        rows = np.arange(len(table.counts))
        patterns = replace(
            table, codes=rows.astype(np.uint32), slots=rows, number_of_codes=len(rows)
        )
        like = LoadedImages(
            context.values, ArrayGeometry.of_shape(rows.shape), Family.NUMPY, {}, ()
        )
        return fused_patterns(self.filter_, patterns, like)

    def write(self, chunk: Gathered, answer: PatternAnswer) -> Array:
        table, codes = chunk.summary.table, chunk.codes
        rows = rows_of(answer.table, table)
        voxels = {"codes": codes.packed.unpacked(), "slots": codes.slots}
        encoded: DecisionPatterns = replace(table, **voxels, number_of_codes=codes.number_of_codes)
        return encoded.expand(np.ascontiguousarray(answer.column[rows]))


def rows_of(table: DecisionPatterns, part: DecisionPatterns) -> NDArray[np.int64]:
    """Return (P',) the row in the merged table of each pattern of one of its parts."""
    both = [relabel(table, table.labels), relabel(part, table.labels)]
    *_, counts, (_, rows) = merge_tables(both)
    if len(counts) != len(table.counts):
        raise InputError(
            "PatternWork: a chunk has changed during the computation; compute it again"
        )
    return rows


def fused_patterns(
    filter_: LabelFusionFilter, patterns: DecisionPatterns, like: LoadedImages
) -> FusionResult[Any]:
    """Run a filter on a table of votes instead of voxels.

    Parameters
    ----------
    patterns : DecisionPatterns
        Pattern table, with codes.
    like : LoadedImages
        Determines the image library and the geometry of the outputs. Its arrays have the raters'
        data types and, if a binary filter's foreground label does not occur, the values that occur.
    """
    result = filter_.result_of(FusionCase(like, patterns))
    if not isinstance(result.fusion, PatternFusion):
        raise InputError(
            "needs images, not only their votes: call Execute", owner=filter_.GetName()
        )
    return result.detach()


def as_promised(values: Array, dtype: DTypeLike, owner: str) -> Array:
    """Cast values to the declared data type of an output; raise if it cannot represent them."""
    promised = np.dtype(dtype)
    if values.dtype == promised:
        return values
    cast: NDArray[Any] = values.astype(promised)
    if not np.array_equal(cast, values):
        raise InputError(
            f"label {values.max()} does not fit the chunks' type {promised}; "
            "set {LabelForUndecidedPixels}, or cast the inputs to a wider type",
            owner=owner,
            mentions=("LabelForUndecidedPixels",),
        )
    return cast


def _values(array: Array, is_blank: bool, rater: int) -> Array:
    if not is_blank:
        return np.empty(0, array.dtype)
    return distinct_values(array, "PatternWork", rater)
