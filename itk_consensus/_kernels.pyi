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
def distinct(
    data: NDArray[Any], limit: int, threads: int, reference: NDArray[Any] | None = None
) -> NDArray[Any] | None: ...
def row_extents(
    codes: NDArray[Any], length: int, flags: NDArray[np.uint8], threads: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...
def box_sum(volume: NDArray[Any], radii: Sequence[int], threads: int) -> None: ...
def signed_distance(
    inside: NDArray[np.uint8], sizes: Sequence[float], out: NDArray[Any], threads: int
) -> None: ...
def vote(
    raters: Sequence[RaterVotes],
    labels: int,
    mask: NDArray[np.uint8] | None,
    weights: NDArray[np.float64],
    threshold: float,
    tolerance: float,
    ties: int,
    prior: NDArray[np.float64],
    values: NDArray[Any],
    out: NDArray[Any],
    threads: int,
) -> int: ...
def vote_share(
    raters: Sequence[RaterVotes],
    labels: int,
    label: int,
    mask: NDArray[np.uint8] | None,
    weights: NDArray[np.float64],
    nobody: float,
    out: NDArray[Any],
    threads: int,
) -> None: ...
def vote_counts(
    raters: Sequence[RaterVotes],
    labels: int,
    mask: NDArray[np.uint8] | None,
    extent: int,
    threads: int,
) -> NDArray[np.int64]: ...
