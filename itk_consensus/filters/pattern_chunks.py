"""Fusions without a spatial term, in chunks: gather decision patterns, infer once, look up."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from itk_consensus.chunked.passes import Array, Block, Depth, Gathered, ImageKey, Request
from itk_consensus.errors import InputError
from itk_consensus.filters.fused_images import FusedImages, common_type
from itk_consensus.filters.fusion_case import FusionCase
from itk_consensus.filters.parameters import Deferred
from itk_consensus.filters.process_object import holds_image
from itk_consensus.images.families.image_family import Family, LoadedImages
from itk_consensus.images.geometry import ArrayGeometry
from itk_consensus.votes.decision_patterns import DecisionPatterns, relabelled
from itk_consensus.votes.encoding import merge_tables
from itk_consensus.votes.fusions import PatternFusion
from itk_consensus.votes.label_stack import distinct_values
from itk_consensus.work import working

#: A LabelFusionFilter, whose module imports this one.
Filter = Any


class PatternSummary(NamedTuple):
    """The votes of some chunks."""

    table: DecisionPatterns  #: Without codes
    #: For each rater an array of its type: empty or, if no chunk shows a binary filter's
    #: foreground, the values that occur instead.
    values: tuple[Array | None, ...]


class PatternCodes(NamedTuple):
    """Which pattern each voxel of a chunk has, compressed."""

    packed: Any  #: A PackedArray
    slots: NDArray[np.int64]  #: This and what follows as of `DecisionPatterns`
    number_of_codes: int


class PatternAnswer(NamedTuple):
    """An output's value for every pattern."""

    table: DecisionPatterns
    column: Array


@dataclass(frozen=True)
class PatternWork:
    """A filter that needs the patterns only."""

    filter_: Filter  #: Without images
    dimension: int  #: Of the volume

    reads_once: ClassVar[bool] = True

    @property
    def depths(self) -> tuple[Depth, Depth]:
        return (0,) * self.dimension, (0,) * self.dimension

    def gather(self, number: int, block: Block, context: None) -> Gathered:
        from itk_consensus.chunked.packed_array import PackedArray  # whose codec comes with dask

        part = part_of(self.filter_, block.images, len(block.raters))
        case: FusionCase = part._case_of(list(block.raters), "patterns")
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
        _, fused = self._executed(context)
        column = getattr(fused, request.method)(*request.arguments)
        owner = self.filter_.GetName()
        return PatternAnswer(context.table, as_promised(column, request.dtype, owner))

    def measurements(self, context: PatternSummary) -> dict[str, Any]:
        filter_, fused = self._executed(context)
        known = {k: v for k, v in filter_._measured.items() if not isinstance(v, Deferred)}
        return known | {"Labels": fused.labels}

    @working(threads=1)
    def _executed(self, context: PatternSummary) -> tuple[Filter, FusedImages]:
        """Run the filter on a volume with a single voxel for each pattern, which counts for all."""
        filter_, table = part_of(self.filter_, {}, 0), context.table
        filter_._require_votes(table.number_of_voxels > 0, bool(table.present.any()))
        rows = np.arange(len(table.counts))
        patterns = replace(
            table, codes=rows.astype(np.uint32), slots=rows, number_of_codes=len(rows)
        )
        like = LoadedImages(
            context.values, ArrayGeometry.of_shape(rows.shape), Family.NUMPY, {}, ()
        )
        _, fused = fuse_patterns(filter_, patterns, like)
        return filter_, fused

    def write(self, chunk: Gathered, answer: PatternAnswer) -> Array:
        table, codes = chunk.summary.table, chunk.codes
        rows = rows_of(answer.table, table)
        voxels = {"codes": codes.packed.unpacked(), "slots": codes.slots}
        encoded: DecisionPatterns = replace(table, **voxels, number_of_codes=codes.number_of_codes)
        return encoded.expand(np.ascontiguousarray(answer.column[rows]))


def rows_of(table: DecisionPatterns, part: DecisionPatterns) -> NDArray[np.int64]:
    """(P',) the table's row of each pattern of a part of what it was made from."""
    both = [relabelled(table, table.labels), relabelled(part, table.labels)]
    *_, counts, (_, rows) = merge_tables(both)
    if len(counts) != len(table.counts):
        raise InputError("PatternWork: a chunk has votes that were not counted; it has changed")
    return rows


def fuse_patterns(
    filter_: Filter, patterns: DecisionPatterns, like: LoadedImages
) -> tuple[FusionCase, FusedImages]:
    """Run a filter on patterns whose voxels nobody holds.

    Parameters
    ----------
    patterns : DecisionPatterns
        With codes.
    like : LoadedImages
        What outputs take after; its arrays tell the raters' types, and their values should a
        binary filter's foreground be missing.
    """
    case = FusionCase(like, patterns)
    labels = filter_._label_values(case)
    dtype = common_type(like.arrays, labels)
    undecided = filter_._undecided_label(labels, dtype)
    fusion = filter_._fuse(case)
    if not isinstance(fusion, PatternFusion):
        raise InputError("its answer does not follow from votes alone", owner=filter_.GetName())
    owner = filter_.GetName()
    return case, FusedImages(like.without_inputs(), fusion, tuple(labels), dtype, undecided, owner)


def without_images(filter_: Filter) -> Filter:
    """A copy that lacks the images among the parameters, to be sent where they are not needed."""
    bare = copy.copy(filter_)
    for name in [name for name, value in bare._values.items() if holds_image(value)]:
        del bare._values[name]
    return bare


def part_of(filter_: Filter, images: Mapping[ImageKey, Any], raters: int) -> Filter:
    """The same filter for one chunk."""
    part = without_images(filter_)
    for (name, index), image in images.items():
        members = tuple(images.get((name, rater)) for rater in range(raters))
        part._values[name] = image if index is None else members
    return part


def as_promised(values: Array, dtype: DTypeLike, owner: str) -> Array:
    """Values in the type that an output was promised in, before anything was known of them."""
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
