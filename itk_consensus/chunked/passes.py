"""What is done to a volume in chunks: gather over all chunks, then write each.

Counts of votes add, so a fusion without a spatial term gathers its decision patterns, infers once,
and looks the answer up in every chunk. What looks some voxels around sees chunks with a halo.
Both are exact: a chunk's answer is that of the whole volume.
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

#: The parameter that an image is the value of, and its place if the value is a list.
ImageKey = tuple[str, int | None]

#: Voxels to each side that a pass sees beyond its chunk, per axis.
Depth = tuple[int, ...]


class Block(NamedTuple):
    """One chunk with its halo."""

    raters: tuple[Array | None, ...]  #: The labels of each rater, None for a missing one
    images: Mapping[ImageKey, Any]  #: Masks and other images on the same grid
    core: Box  #: Where in these arrays the chunk itself lies
    box: Box  #: Where the chunk lies in the volume


class Gathered(NamedTuple):
    """What a pass finds in a chunk."""

    summary: Any  #: What is merged over the chunks
    codes: Any = None  #: Of work that `reads_once`: the chunk as `write` wants it
    notes: Any = None  #: What else whoever runs the pass wants to know of the chunk


class Request(NamedTuple):
    """An output: a method of `FusionResult`, its arguments, and the type that was promised."""

    method: str
    arguments: tuple[Any, ...]
    dtype: DTypeLike


@dataclass(frozen=True, eq=False)
class Estimated(Result):
    """What all chunks say together."""

    labels: tuple[int, ...]  #: That occur, in increasing order
    estimate: Any  #: The method's own numbers; None if it has none
    #: How often raters and answer said what together; None if nobody counted.
    table: DecisionTable | None = None
    memo: Memo = field(default_factory=Memo, repr=False)


class ChunkedWork(Protocol):
    """Passes over a volume. Objects are sent to other processes, and hold no voxels."""

    def for_output(self, request: Request) -> ChunkedWork:
        """The work that makes an output; its passes may keep more than others need."""

    @property
    def reads_once(self) -> bool:
        """Whether a chunk is written from what the first pass gathered, not from its voxels."""

    @property
    def concludes_at_length(self) -> bool:
        """Whether what a pass comes to is worth keeping in a record."""

    @property
    def depths(self) -> Sequence[Depth]:
        """The halo of each gathering pass and, last, of writing."""

    def gather(self, number: int, block: Block, context: Any) -> Gathered:
        """What pass `number` finds in a chunk; `context` is what came out before."""

    def merge(self, number: int, summaries: Sequence[Any]) -> Any:
        """The summary of several chunks together."""

    def conclude(self, number: int, summary: Any, context: Any) -> Any:
        """The context of the next pass, from the summary of all chunks."""

    def answer(self, context: Any, request: Request) -> Any:
        """What every chunk needs to know to be written."""

    def estimated(self, context: Any) -> Estimated:
        """What a filter measures; numbers, no voxels."""

    def write(self, chunk: Any, answer: Any) -> Array:
        """The output of a chunk, without its halo; of a `Block`, or of what was `Gathered`."""
