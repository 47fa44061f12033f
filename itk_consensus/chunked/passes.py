"""The passes over a chunked volume: gather data from all chunks, then write each chunk.

Vote counts are additive, so a fusion without a spatial term gathers decision patterns, runs
inference once, and looks up the result for every chunk. A fusion that needs neighbouring voxels
receives chunks with a halo. Both are exact: the result for a chunk equals that for the whole
volume.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from numpy.typing import DTypeLike, NDArray

from itk_consensus.core.results import Memo, Result
from itk_consensus.space.boxes import Box
from itk_consensus.votes.fusions import DecisionTable

Array = NDArray[Any]

#: Name of the parameter that the image is a value of, and its index if the parameter is a list.
ImageKey = tuple[str, int | None]

#: Width of the halo of a pass on each side of a chunk, in voxels per axis.
Depth = tuple[int, ...]


class Block(NamedTuple):
    """A chunk with its halo."""

    raters: tuple[Array | None, ...]  #: Labels of each rater; None for missing ones
    images: Mapping[ImageKey, Any]  #: Masks and other images on the same grid
    core: Box  #: Position of the chunk without its halo in these arrays
    box: Box  #: Position of the chunk without its halo in the volume


class Gathered(NamedTuple):
    """The result of a gathering pass for a chunk."""

    summary: Any  #: Summary that is merged over all chunks
    codes: Any = None  #: For work with `reads_once`: the encoded chunk, which is passed to `write`
    notes: Any = None  #: Remarks about the chunk for the caller


class Request(NamedTuple):
    """A requested output: a method of `FusionResult`, its arguments, and the declared data type."""

    method: str
    arguments: tuple[Any, ...]
    dtype: DTypeLike


@dataclass(frozen=True, eq=False)
class Estimated(Result):
    """The measurements over all chunks."""

    labels: tuple[int, ...]  #: The labels that occur, in ascending order
    estimate: Any  #: The method's own estimates; None if it has none
    #: How often each combination of votes and resulting label occurs; None if not counted.
    table: DecisionTable | None = None
    memo: Memo = field(default_factory=Memo, repr=False)


class ChunkedWork(Protocol):
    """The passes of a filter over a volume; picklable and without voxel data."""

    def for_output(self, request: Request) -> ChunkedWork:
        """Return the work that computes an output; its passes may keep additional data."""

    @property
    def reads_once(self) -> bool:
        """Whether chunks are written from the results of the first pass instead of their voxels."""

    @property
    def concludes_at_length(self) -> bool:
        """Whether `conclude` takes long enough that its result should be recorded."""

    @property
    def depths(self) -> Sequence[Depth]:
        """Halo of each gathering pass and, last, of writing."""

    def gather(self, number: int, block: Block, context: Any) -> Gathered:
        """Run pass `number` on a chunk; `context` is that of the previous pass."""

    def merge(self, number: int, summaries: Sequence[Any]) -> Any:
        """Merge the summaries of several chunks."""

    def conclude(self, number: int, summary: Any, context: Any) -> Any:
        """Compute the context of the next pass from the summary of all chunks."""

    def answer(self, context: Any, request: Request) -> Any:
        """Compute the data that is needed to write every chunk."""

    def estimated(self, context: Any) -> Estimated:
        """Return the filter's measurements, without voxel data."""

    def write(self, chunk: Any, answer: Any) -> Array:
        """Compute the output of a chunk without its halo, from a `Block` or a `Gathered`."""
