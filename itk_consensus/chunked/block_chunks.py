"""Chunked fusion with methods that need neighbouring voxels or objects, on the compressed votes of
all chunks.

Each chunk is encoded by the worker that holds it. The fusion runs in one process, which holds the
compressed votes of the whole volume (a few per cent of its size) and processes them in blocks. Then
every chunk is written separately. The division into blocks depends only on the volume, so results
do not depend on the chunks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from itk_consensus.chunked.passes import Array, Block, Depth, Estimated, Gathered, Request
from itk_consensus.chunked.pattern_chunks import (
    PatternCodes,
    PatternSummary,
    PatternWork,
    as_promised,
    rows_of,
)
from itk_consensus.core.errors import InputError
from itk_consensus.fusing.fused_blocks import BlockFuser
from itk_consensus.fusing.fusion_result import holds
from itk_consensus.space.blocks import Blocked, Blocks, kept
from itk_consensus.space.boxes import Box, relative_to
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.fusions import DecisionTable
from itk_consensus.votes.ties import BACKGROUND, UNDECIDED
from itk_consensus.votes.uncertainty import uncertainty

if TYPE_CHECKING:
    from itk_consensus.fusing.label_fusion import LabelFusionFilter

#: Side length, in voxels, of the separately compressed parts: small, since blocks are read with a
#: halo.
_PACKED_SIDE = 64

#: Start and end along each axis, as tuples because a record cannot store slices.
Place = tuple[tuple[int, int], ...]


class ChunkVotes(NamedTuple):
    """The votes of a chunk."""

    place: Place
    table: DecisionPatterns  #: Pattern table without the code of each voxel
    codes: PatternCodes


class BlockSummary(NamedTuple):
    """The votes of one or several chunks."""

    patterns: PatternSummary
    chunks: tuple[ChunkVotes, ...]


class BlockContext(NamedTuple):
    """The fused result of all chunks, stored in blocks."""

    labels: tuple[int, ...]
    #: Starts and ends of the blocks along each axis; then, for each block, its label indices (or
    #: its values, for outputs other than label maps), compressed or as a single number if constant.
    cuts: tuple[tuple[int, ...], ...]
    parts: tuple[Any, ...]
    estimate: Any
    #: Combinations of votes and resulting label that occur, without codes of voxels, and the label
    #: index that results for each.
    patterns: DecisionPatterns
    answers: NDArray[np.int64]


class BlockAnswer(NamedTuple):
    """The output in blocks, and the values needed to write it."""

    context: BlockContext
    dtype: np.dtype[Any]  #: Data type of the output
    #: Label values by label index; the last two are for the codes of `votes.ties`. None if the
    #: blocks contain the output's values themselves.
    values: Array | None


@dataclass(frozen=True)
class BlockWork:
    """Passes of a filter that fuses votes in blocks."""

    filter_: LabelFusionFilter  #: The filter, without images among its parameters
    shape: tuple[int, ...]  #: Shape of the volume
    spacing: tuple[float, ...]  #: Voxel size per array axis
    #: The requested output; None for label maps.
    request: Request | None = None

    reads_once: ClassVar[bool] = True
    concludes_at_length: ClassVar[bool] = True

    def for_output(self, request: Request) -> BlockWork:
        if request.method == "dice_optimal_image":
            raise InputError(
                "the Dice-optimal map needs the probabilities of all voxels at once: bring the "
                "inputs into memory first",
                owner=self.filter_.GetName(),
            )
        return self if request.method == "label_image" else replace(self, request=request)

    @property
    def depths(self) -> tuple[Depth, ...]:
        return self._votes.depths

    @property
    def _votes(self) -> PatternWork:
        return PatternWork(self.filter_, len(self.shape))

    def gather(self, number: int, block: Block, context: None) -> Gathered:
        found = self._votes.gather(number, block, None)
        place = tuple((part.start, part.stop) for part in block.box)
        votes = ChunkVotes(place, found.summary.table, found.codes)
        return Gathered(BlockSummary(found.summary, (votes,)), place)

    def merge(self, number: int, summaries: Sequence[BlockSummary]) -> BlockSummary:
        patterns = self._votes.merge(number, [summary.patterns for summary in summaries])
        return BlockSummary(patterns, tuple(one for summary in summaries for one in summary.chunks))

    def conclude(self, number: int, summary: BlockSummary, context: None) -> BlockContext:
        table = summary.patterns.table
        self.filter_.require_votes(table.number_of_voxels > 0, bool(table.present.any()))
        patterns = _with_codes(table, summary.chunks, self.shape)
        found = cast(BlockFuser, self.filter_).fuse_blocks(patterns, self.spacing)
        labels = tuple(int(label) for label in table.labels)
        decision = found.decision
        output = decision
        if self.request is not None:
            if found.write_probability is None:
                raise InputError(
                    "only the label map can be computed in chunks: load the inputs into memory "
                    "first for probabilities and uncertainties",
                    owner=self.filter_.GetName(),
                )
            make = partial(_probabilities, found.write_probability, labels, self.request)
            output = Blocked.made(decision.blocks, make)
        parts = tuple(kept(np.asarray(output.part(at))) for at in range(len(output.parts)))
        told = _answers(patterns, decision)
        return BlockContext(labels, output.blocks.cuts, parts, found.estimate, *told)

    def answer(self, context: BlockContext, request: Request) -> BlockAnswer:
        promised = np.dtype(request.dtype)
        if self.request is not None:
            return BlockAnswer(context, promised, None)
        # Voxels outside the mask are background.
        values = [*context.labels, 0, 0]
        if (context.answers == UNDECIDED).any():
            values[-1] = self.filter_.undecided_label(context.labels, promised)
        if not holds(promised, values):
            as_promised(np.array(values), promised, self.filter_.GetName())
        return BlockAnswer(context, np.dtype(np.int16), np.array(values, promised))

    def estimated(self, context: BlockContext) -> Estimated:
        rows = np.arange(len(context.answers))
        table = DecisionTable(context.patterns, rows, context.answers, None)
        return Estimated(context.labels, context.estimate, table)

    def write(self, chunk: Gathered, answer: BlockAnswer) -> Array:
        context = answer.context
        box: Box = tuple(slice(*pair) for pair in chunk.codes)
        output = Blocked(Blocks(context.cuts), answer.dtype, context.parts).read(box)
        return output if answer.values is None else np.asarray(answer.values[output])


def _probabilities(
    write: Callable[[Box, int, NDArray[Any]], None],
    labels: Sequence[int],
    request: Request,
    box: Box,
) -> NDArray[Any]:
    """Compute an output from the probabilities within a box."""
    (asked,) = request.arguments
    out = np.zeros([part.stop - part.start for part in box], request.dtype)
    if request.method == "probability_image":
        label = labels[-1] if asked is None else asked
        if label in labels:
            write(box, labels.index(label), out)
        return out
    share = np.empty_like(out)

    def written(label: int) -> NDArray[Any]:
        write(box, label, share)
        return share

    uncertainty(asked, map(written, range(len(labels))), out)
    return out


def _answers(
    patterns: DecisionPatterns, decision: Blocked
) -> tuple[DecisionPatterns, NDArray[np.int64]]:
    """Count the voxels inside the mask by votes and resulting label; return a table of both,
    without codes.
    """
    codes, span = cast(Blocked, patterns.codes), patterns.number_of_labels - BACKGROUND
    found: dict[int, int] = {}
    for at, box in enumerate(decision.boxes):
        answer = decision.part(at).astype(np.int64) - BACKGROUND
        pairs, voxels = _counted(codes.read(box).astype(np.int64) * span + answer)
        for pair, count in zip(pairs.tolist(), voxels.tolist(), strict=True):
            found[pair] = found.get(pair, 0) + count
    inside = sorted(pair for pair in found if pair < len(patterns.counts) * span)
    rows, answers = np.divmod(np.array(inside, np.int64), span)
    counts = np.array([found[pair] for pair in inside], np.int64)
    split = DecisionPatterns(patterns.patterns[rows], counts, patterns.labels)
    return split, answers + BACKGROUND


def _counted(values: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the distinct values and how often each occurs."""
    if values.max(initial=0) > values.size:
        return np.unique(values, return_counts=True)
    counts = np.bincount(values.reshape(-1))
    found = np.flatnonzero(counts)
    return found, counts[found]


def _with_codes(
    table: DecisionPatterns, chunks: Sequence[ChunkVotes], shape: tuple[int, ...]
) -> DecisionPatterns:
    """Return the pattern table of the volume with the codes of all chunks, in blocks."""
    whole = tuple(slice(0, size) for size in shape)
    cuts = []
    for axis, length in enumerate(shape):
        ends = {place for chunk in chunks for place in chunk.place[axis]}
        cuts.append(tuple(sorted(ends | set(range(0, length, _PACKED_SIDE)))))
    blocks = Blocks(tuple(cuts))
    outside = len(table.counts)
    dtype = np.min_scalar_type(outside)
    parts: list[Any] = [None] * len(blocks.boxes())
    boxes = blocks.boxes()
    for chunk in chunks:
        box = tuple(slice(*pair) for pair in chunk.place)
        rows = np.full(chunk.codes.number_of_codes, outside, dtype)
        rows[chunk.codes.slots] = rows_of(table, chunk.table)
        codes = rows[chunk.codes.packed.unpacked()]
        for number in blocks.touching(box):
            parts[number] = kept(np.ascontiguousarray(codes[relative_to(boxes[number], box)]))
    assert blocks.box == whole
    masked = table.number_of_voxels < math.prod(shape)
    return replace(
        table,
        codes=cast(NDArray[Any], Blocked(blocks, dtype, parts)),
        slots=np.arange(outside),
        number_of_codes=outside + masked,
        outside_code=outside if masked else None,
    )
