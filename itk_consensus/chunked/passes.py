"""The passes over a chunked volume: gather from all chunks, then write each chunk.

Counts of votes can be added, so a fusion without a spatial term gathers decision patterns, infers
once, and looks up the answer in every chunk. A fusion that needs neighbouring voxels gets chunks
with a halo. Both are exact: the result of a chunk is that of the whole volume.
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

#: Name of the parameter whose value an image is, and the index if the value is a list.
ImageKey = tuple[str, int | None]

#: Width of the halo of a pass on each side of a chunk, in voxels per axis.
Depth = tuple[int, ...]


class Block(NamedTuple):
    """A chunk with its halo."""

    raters: tuple[Array | None, ...]  #: Labels of each rater; None for missing ones
    images: Mapping[ImageKey, Any]  #: Masks and other images on the same grid
    core: Box  #: The chunk without its halo, in these arrays
    box: Box  #: The chunk without its halo, in the volume


class Gathered(NamedTuple):
    """The result of a gathering pass for a chunk."""

    summary: Any  #: Merged over all chunks
    codes: Any = None  #: For work that `reads_once`: the encoded chunk, for `write`
    notes: Any = None  #: Remarks about the chunk for the caller of the pass


class Request(NamedTuple):
    """A requested output: a method of `FusionResult`, its arguments, and the declared dtype."""

    method: str
    arguments: tuple[Any, ...]
    dtype: DTypeLike


@dataclass(frozen=True, eq=False)
class Estimated(Result):
    """The measurements over all chunks."""

    labels: tuple[int, ...]  #: The labels that occur, in ascending order
    estimate: Any  #: The method's own numbers; None if it has none
    #: How often raters and answer said what together; None if nobody counted.
    table: DecisionTable | None = None
    memo: Memo = field(default_factory=Memo, repr=False)


class ChunkedWork(Protocol):
    """The passes of a filter over a volume. Picklable, and without voxels."""

    def for_output(self, request: Request) -> ChunkedWork:
        """The work that makes an output; its passes may keep more than others need."""

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
        """Compute what every chunk needs in order to be written."""

    def estimated(self, context: Any) -> Estimated:
        """Compute the filter's measurements, which do not include voxels."""

    def write(self, chunk: Any, answer: Any) -> Array:
        """Compute the output of a chunk without its halo, from a `Block` or a `Gathered`."""
