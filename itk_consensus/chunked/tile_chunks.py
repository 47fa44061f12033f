"""Chunked fusion of smoothed votes: chunks need a halo as wide as the reach of the Gaussian."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from itk_consensus.chunked.passes import Array, Block, Depth, Estimated, Gathered, Request
from itk_consensus.chunked.pattern_chunks import as_promised
from itk_consensus.core.errors import InputError
from itk_consensus.fusing.fusion_case import FusionCase
from itk_consensus.methods.voting.smoothed_vote import TilesOf
from itk_consensus.methods.voting.tile_votes import TileVoteFilter
from itk_consensus.space.boxes import in_space, voxel_sides
from itk_consensus.space.tiles import gaussian_weights
from itk_consensus.votes.label_stack import LabelStack, label_array
from itk_consensus.votes.vote_tiles import MixedCounts, MixedVotes, VoteTiles, label_frequencies
from itk_consensus.votes.voting import StackVote


class VoteSummary(NamedTuple):
    """Number of voxels with each label, for each rater present, in one or several chunks."""

    labels: NDArray[Any]  #: (K,)
    counts: NDArray[np.int64]  #: (J', K)
    types: tuple[Array, ...]  #: An empty array of each present rater's data type


class TileContext(NamedTuple):
    """Global values that each chunk needs: labels, their frequencies, and the combination rule."""

    summary: VoteSummary
    frequencies: NDArray[np.float64]
    mixed: MixedVotes | None = None


class TileAnswer(NamedTuple):
    """A requested output and the data that its chunks need."""

    context: TileContext
    request: Request


@dataclass(frozen=True)
class TileWork:
    """The passes of a filter that smooths votes."""

    filter_: TileVoteFilter  #: The filter, without images among its parameters
    shape: tuple[int, ...]  #: Shape of the volume
    spacing: tuple[float, ...]  #: Voxel size per array axis
    present: tuple[bool, ...]  #: Whether each rater is present

    reads_once: ClassVar[bool] = False
    concludes_at_length: ClassVar[bool] = False

    def for_output(self, request: Request) -> TileWork:
        return self

    @cached_property
    def depths(self) -> tuple[Depth, ...]:
        none = (0,) * len(self.shape)
        weights = gaussian_weights(self._sigma, self.spacing, self.shape)
        reach = [len(axis) - 1 for axis in weights]
        padded = [0] * max(len(self.shape) - 4, 0) + reach
        halo = tuple(in_space(padded[-len(self.shape) :], 0))
        if not self.filter_.mixes_votes:
            return none, halo
        # Counting requires the decisions within reach, and each decision the votes within its own
        # reach.
        return none, tuple(2 * reach for reach in halo), halo

    @property
    def _sigma(self) -> float:
        return float(self.filter_.SmoothingSigma) * min(voxel_sides(self.spacing))

    def gather(self, number: int, block: Block, context: Any) -> Gathered:
        if number == 0:
            stack = self._stack(block)
            types = tuple(np.empty(0, a.dtype) for a in stack.arrays if a is not None)
            return Gathered(VoteSummary(stack.labels, _counts(stack), types))
        stack, tiles_of = self._tiled(self._stack(block), context)
        tiles = tiles_of(stack)
        units = tiles.units(int(np.prod(self.shape)))
        return Gathered(tiles.count_mixed(tiles.decision("prior"), units, block.core))

    def merge(self, number: int, summaries: Sequence[Any]) -> VoteSummary | MixedCounts:
        return _merged_votes(summaries) if number == 0 else _merged_mixing(summaries)

    def conclude(self, number: int, summary: Any, context: Any) -> TileContext:
        if number == 0:
            # Only voxels that lie inside the mask and that the rater annotated are counted.
            self.filter_.require_votes(True, bool(summary.counts.any()))
            weights = self.filter_.weights_of(len(self.present))
            every = np.ones(len(self.present)) if weights is None else weights
            kept = every[list(self.present)]
            return TileContext(summary, label_frequencies(summary.counts, kept))
        units = VoteTiles.units_of(sum(self.present), int(np.prod(self.shape)))
        return TileContext(
            context.summary,
            context.frequencies,
            summary.mixed_votes(context.frequencies, units),
        )

    def answer(self, context: TileContext, request: Request) -> TileAnswer:
        if request.method == "dice_optimal_image":
            raise InputError(
                "the Dice-optimal map of a smoothed vote needs the "
                "probabilities of all voxels at once: bring the inputs into memory first",
                owner=self.filter_.GetName(),
            )
        return TileAnswer(context, request)

    def estimated(self, context: TileContext) -> Estimated:
        labels = tuple(int(label) for label in context.summary.labels)
        return Estimated(labels, self.filter_.estimate_of(self._sigma, context.mixed))

    def write(self, chunk: Block, answer: TileAnswer) -> Array:
        case, context, request = self._case(chunk), answer.context, answer.request
        assert case.stack is not None
        stack, tiles_of = self._tiled(case.stack, context)
        vote = self.filter_.tile_vote(stack, tiles_of, context.mixed)
        # Labels and data types are those of the whole volume.
        whole = replace(
            case, votes=stack, loaded=replace(case.loaded, arrays=context.summary.types)
        )
        result = self.filter_.result_of(whole, lambda _: vote.fusion())
        output = getattr(result, request.method)(*request.arguments)[chunk.core]
        owner = self.filter_.GetName()
        return as_promised(np.ascontiguousarray(output), request.dtype, owner)

    def _case(self, block: Block) -> FusionCase:
        part = self.filter_.with_images(block.images, len(block.raters))
        return part.case_of(list(block.raters), "votes")

    def _stack(self, block: Block) -> LabelStack:
        stack = self._case(block).stack
        assert stack is not None
        return stack

    def _tiled(self, stack: LabelStack, context: TileContext) -> tuple[LabelStack, TilesOf]:
        """Return the stack with all labels of the volume, and a function that creates its tiles."""
        tiles_of = partial(
            VoteTiles.make,
            sigma=self._sigma,
            spacing=self.spacing,
            weights=self.filter_.weights_of(len(self.present)),
            frequencies=context.frequencies,
        )
        return replace(stack, labels=context.summary.labels), tiles_of


def _counts(stack: LabelStack) -> NDArray[np.int64]:
    if not len(stack.labels):
        return np.zeros((sum(array is not None for array in stack.arrays), 0), np.int64)
    return StackVote(stack).counts


def _merged_votes(summaries: Sequence[VoteSummary]) -> VoteSummary:
    values = {int(label) for summary in summaries for label in summary.labels}
    labels = label_array(values, "TileWork")
    counts = np.zeros((len(summaries[0].counts), len(labels)), np.int64)
    for summary in summaries:
        counts[:, np.searchsorted(labels, summary.labels.astype(labels.dtype))] += summary.counts
    return VoteSummary(labels, counts, summaries[0].types)


def _merged_mixing(summaries: Sequence[MixedCounts]) -> MixedCounts:
    keys, places = np.unique(
        np.concatenate([summary.keys for summary in summaries]), return_inverse=True
    )
    sums = np.zeros((len(keys), 2), np.int64)
    np.add.at(sums, places, np.concatenate([summary.sums for summary in summaries]))
    return MixedCounts(keys, sums, np.sum([summary.voxels for summary in summaries], axis=0))
