# Types of the compiled module; what each kernel may assume is in wrapping/README.md.
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

class RaterVotes:
    def __init__(
        self,
        data: NDArray[Any],
        values: NDArray[Any],
        digits: Sequence[int],
        other: int,
        mask: NDArray[np.uint8] | None,
        missing: int,
    ) -> None: ...

def encode_direct(
    raters: Sequence[RaterVotes],
    radix: int,
    mask: NDArray[np.uint8] | None,
    codes: NDArray[Any],
    number_of_codes: int,
    threads: int,
) -> NDArray[np.int64]: ...
def encode_hashed(
    raters: Sequence[RaterVotes],
    radix: int,
    mask: NDArray[np.uint8] | None,
    strata: NDArray[np.uint32] | None,
    codes: NDArray[Any],
    threads: int,
) -> list[tuple[int, int, NDArray[Any], NDArray[np.uint32], NDArray[np.int64]]] | None: ...
def expand(codes: NDArray[Any], table: NDArray[Any], out: NDArray[Any], threads: int) -> None: ...
def renumber(
    codes: NDArray[Any], begin: int, end: int, table: NDArray[Any], threads: int
) -> None: ...
def distinct(data: NDArray[Any], limit: int, threads: int) -> NDArray[Any] | None: ...
def row_extents(
    codes: NDArray[Any], length: int, flags: NDArray[np.uint8], threads: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...
def box_sum(volume: NDArray[Any], radii: Sequence[int], threads: int) -> None: ...
def signed_distance(
    inside: NDArray[np.uint8], sizes: Sequence[float], out: NDArray[Any], threads: int
) -> None: ...

class VoteField:
    def __init__(
        self,
        raters: Sequence[RaterVotes],
        weights: NDArray[np.float64],
        mask: RaterVotes | None,
        labels: int,
        may_miss: bool,
        frequencies: NDArray[np.float64],
        shape: Sequence[int],
        gaussian: Sequence[NDArray[np.float64]],
    ) -> None: ...
    @property
    def number_of_raters(self) -> int: ...

def count_votes(
    raters: Sequence[RaterVotes], mask: RaterVotes | None, extent: int, digits: int, threads: int
) -> NDArray[np.int64]: ...
def count_tiles(field: VoteField, tile: Sequence[int]) -> int: ...
def decide_votes(
    field: VoteField,
    inverse: NDArray[np.float64] | None,
    tie: int,
    threshold: float,
    tolerance: float,
    tile: Sequence[int],
    tiles: tuple[int, int],
    threads: int,
    out: NDArray[Any],
) -> None: ...
def vote_share(
    field: VoteField,
    inverse: NDArray[np.float64] | None,
    label: int,
    tile: Sequence[int],
    tiles: tuple[int, int],
    threads: int,
    out: NDArray[np.float64],
) -> None: ...
def mix_votes(
    field: VoteField,
    decision: NDArray[Any],
    units: float,
    tile: Sequence[int],
    tiles: tuple[int, int],
    threads: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]: ...
def gaussian(
    volume: NDArray[Any],
    spare: NDArray[Any],
    weights: Sequence[NDArray[np.float64]],
    nearest: bool,
    threads: int,
) -> None: ...
def band_means(
    masks: NDArray[Any],
    present: NDArray[np.uint8] | None,
    weights: NDArray[np.float64],
    scales: Sequence[Sequence[NDArray[np.float64]]],
    shape: Sequence[int],
    tile: Sequence[int],
    threads: int,
    values: NDArray[np.float32],
    squares: NDArray[np.float32],
    base: NDArray[np.float32],
    votes: NDArray[np.float32],
    raters: NDArray[np.float32],
) -> None: ...
