"""What is done to a volume in chunks, whoever runs it: gather over all chunks, then write each.

Counts of votes add, so a fusion without a spatial term gathers its decision patterns, infers once,
and looks the answer up in every chunk. What looks some voxels around sees chunks with a halo.
Both are exact: a chunk's answer is that of the whole volume.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from numpy.typing import DTypeLike, NDArray

from itk_consensus.neighbourhood.boxes import Box

Array = NDArray[Any]

#: Voxels to each side that a pass sees beyond its chunk, per axis.
Depth = tuple[int, ...]

#: Summaries that are merged at once: a tree of so many branches.
BRANCHES = 16


class Block(NamedTuple):
    """One chunk with its halo."""

    raters: tuple[Array | None, ...]  #: The labels of each rater, None for a missing one
    images: Mapping[str, Any]  #: Masks and other images on the same grid
    core: Box  #: Where in these arrays the chunk itself lies


class Request(NamedTuple):
    """An output: a method of `FusedImages`, its arguments, and the type that was promised."""

    method: str
    arguments: tuple[Any, ...]
    dtype: DTypeLike


class ChunkedWork(Protocol):
    """Passes over a volume. Objects are sent to other processes, and hold no voxels."""

    @property
    def filter_(self) -> Any:
        """The filter, without images."""

    @property
    def depths(self) -> Sequence[Depth]:
        """The halo of each gathering pass and, last, of writing."""

    def gather(self, number: int, block: Block, context: Any) -> Any:
        """What pass `number` needs to know of a chunk; `context` is what came out before."""

    def merge(self, number: int, summaries: Sequence[Any]) -> Any:
        """The summary of several chunks together."""

    def conclude(self, number: int, summary: Any, context: Any) -> Any:
        """The context of the next pass, from the summary of all chunks."""

    def answer(self, context: Any, request: Request) -> Any:
        """What every chunk needs to know to be written."""

    def measurements(self, context: Any) -> dict[str, Any]:
        """What a filter measures, by name, and its ``Labels``."""

    def write(self, block: Block, answer: Any) -> Array:
        """The output of a chunk, without its halo."""


def merged(work: ChunkedWork, number: int, summaries: Sequence[Any]) -> Any:
    """Merge any number of summaries, some at a time."""
    level = list(summaries)
    while len(level) > 1:
        level = [
            work.merge(number, level[first : first + BRANCHES])
            for first in range(0, len(level), BRANCHES)
        ]
    return level[0]
