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
def merge_tables(
    tables: Sequence[tuple[NDArray[Any], NDArray[np.uint32], NDArray[np.int64]]],
) -> tuple[NDArray[Any], NDArray[np.uint32], NDArray[np.int64], list[NDArray[np.int64]]]: ...
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
def label_pieces(
    labels: NDArray[Any], shape: Sequence[int], corners: bool, places: NDArray[np.int32]
) -> NDArray[np.int64]: ...
def find_finders(
    places: NDArray[np.int32],
    bits: NDArray[np.uint8],
    finders: NDArray[np.uint8],
    shared: NDArray[np.int64],
) -> None: ...
def label_boxes(
    raters: Sequence[RaterVotes], labels: int, shape: Sequence[int], threads: int
) -> NDArray[np.int64]: ...
def spread(
    flags: NDArray[np.uint8],
    reach: Sequence[int],
    shape: Sequence[int],
    tile: Sequence[int],
    threads: int,
    out: NDArray[np.uint8],
) -> None: ...
def pack_marks(
    raters: Sequence[NDArray[Any]],
    values: Sequence[NDArray[Any]],
    shape: Sequence[int],
    low: Sequence[int],
    high: Sequence[int],
    planes: NDArray[np.uint8],
) -> None: ...
def box_sum(volume: NDArray[Any], radii: Sequence[int], threads: int) -> None: ...

class AtlasImage:
    def __init__(self, data: NDArray[Any], centre: float, scale: float) -> None: ...

class AtlasSettings:
    def __init__(
        self,
        shape: Sequence[int],
        tile: Sequence[int],
        patch: Sequence[int],
        search: Sequence[int],
        shifts: Sequence[Sequence[int]],
        normalised: bool,
        smallest_spread: float,
        joint: bool,
        beta: float,
        alpha: float,
        constrained: bool,
    ) -> None: ...

def patch_fusion(
    votes: Sequence[RaterVotes],
    target: Sequence[AtlasImage],
    atlases: Sequence[Sequence[AtlasImage]],
    own_weights: Sequence[float],
    mask: NDArray[np.uint8] | None,
    exclusions: Sequence[tuple[int, NDArray[np.uint8]]],
    labels: int,
    settings: AtlasSettings,
    tiles: tuple[int, int],
    threads: int,
    winners: NDArray[Any],
    fused: Sequence[NDArray[np.float32]],
) -> tuple[
    NDArray[np.int64],
    NDArray[np.uint16],
    NDArray[np.uint16],
    NDArray[np.float32],
    NDArray[np.float64],
]: ...
def signed_distance(
    inside: NDArray[np.uint8], sizes: Sequence[float], out: NDArray[Any], threads: int
) -> None: ...
def label_distances(
    codes: NDArray[Any],
    low: Sequence[int],
    size: Sequence[int],
    said: NDArray[Any],
    label: int,
    also: int,
    sizes: Sequence[float],
    places: NDArray[np.int64],
    weights: NDArray[np.float64] | None,
    out: NDArray[Any],
    threads_for_raters: int,
    threads_each: int,
) -> None: ...
def vote(
    raters: Sequence[RaterVotes],
    bits: NDArray[np.uint8] | None,
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
) -> None: ...
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
def vote_uncertainty(
    raters: Sequence[RaterVotes],
    labels: int,
    kind: int,
    mask: NDArray[np.uint8] | None,
    weights: NDArray[np.float64],
    nobody: float,
    out: NDArray[np.float32],
    threads: int,
) -> None: ...
def pair_counts(
    rows: NDArray[Any], voxels: NDArray[np.int64], labels: int, threads: int
) -> NDArray[np.int64]: ...
def vote_counts(
    raters: Sequence[RaterVotes],
    labels: int,
    mask: NDArray[np.uint8] | None,
    extent: int,
    threads: int,
) -> NDArray[np.int64]: ...
def expected_counts(
    digits: NDArray[Any],
    weights: NDArray[np.float64],
    log_theta: NDArray[np.float64],
    log_prior: NDArray[np.float64],
    prior_rows: NDArray[np.uint32] | None,
    mass_by_row: bool,
    negligible: float,
    threads: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]: ...
def vote_expectation(
    digits: NDArray[Any], weights: NDArray[np.float64], labels: int, kind: int, threads: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]: ...
def posterior_decision(
    digits: NDArray[Any],
    log_theta: NDArray[np.float64],
    log_prior: NDArray[np.float64],
    prior_rows: NDArray[np.uint32] | None,
    tolerance: float,
    threads: int,
) -> NDArray[np.int32]: ...
def posterior_shares(
    digits: NDArray[Any],
    log_theta: NDArray[np.float64],
    log_prior: NDArray[np.float64],
    prior_rows: NDArray[np.uint32] | None,
    wanted: Sequence[int],
    threads: int,
) -> NDArray[np.float64]: ...
def best_moves(
    digits: NDArray[Any],
    own: NDArray[np.int64],
    joining: NDArray[np.float64],
    prior_joining: NDArray[np.float64],
    leaving: NDArray[np.float64],
    prior_leaving: NDArray[np.float64],
    threads: int,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]: ...
def pack_masks(
    masks: Sequence[NDArray[np.uint8]], threads: int
) -> tuple[int, int, NDArray[np.uint8]] | None: ...
def pack_bits(marks: NDArray[np.uint8], threads: int) -> NDArray[np.uint8]: ...
def unpack_bits(bits: NDArray[np.uint8]) -> NDArray[np.uint8]: ...
def pack_votes(raters: Sequence[RaterVotes], extent: int, threads: int) -> NDArray[np.uint8]: ...
def packed_counts(
    planes: NDArray[np.uint8],
    mask: NDArray[np.uint8] | None,
    counts: NDArray[np.int64] | None,
    tables: NDArray[np.float64],
    threads: int,
) -> tuple[NDArray[np.float64], float]: ...
def packed_vote_counts(
    planes: NDArray[np.uint8],
    mask: NDArray[np.uint8] | None,
    counts: NDArray[np.int64] | None,
    foreground: NDArray[np.float64],
    threads: int,
) -> tuple[NDArray[np.float64], float]: ...
def packed_probability(
    planes: NDArray[np.uint8],
    mask: NDArray[np.uint8] | None,
    tables: NDArray[np.float64],
    out: NDArray[Any],
    threads: int,
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
def smoothed_share(
    field: VoteField,
    inverse: NDArray[np.float64] | None,
    label: int,
    tile: Sequence[int],
    tiles: tuple[int, int],
    threads: int,
    out: NDArray[np.float64],
) -> None: ...
def smoothed_uncertainty(
    field: VoteField,
    inverse: NDArray[np.float64] | None,
    kind: int,
    tile: Sequence[int],
    tiles: tuple[int, int],
    threads: int,
    out: NDArray[np.float32],
) -> None: ...
def mix_votes(
    field: VoteField,
    decision: NDArray[Any],
    units: float,
    tile: Sequence[int],
    tiles: tuple[int, int],
    threads: int,
    region: tuple[Sequence[int], Sequence[int]] | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]: ...
def gaussian(
    volume: NDArray[Any],
    spare: NDArray[Any],
    weights: Sequence[Sequence[float]],
    nearest: bool,
    threads: int,
) -> None: ...
def band_means(
    masks: NDArray[Any],
    present: NDArray[np.uint8] | None,
    weights: NDArray[np.float64],
    scales: Sequence[Sequence[Sequence[float]]],
    shape: Sequence[int],
    tile: Sequence[int],
    threads: int,
    values: NDArray[np.float32],
    squares: NDArray[np.float32],
    base: NDArray[np.float32] | None,
    base_squares: NDArray[np.float32] | None,
    votes: NDArray[np.float32] | None,
    raters: NDArray[np.float32] | None,
) -> None: ...
def band_powers(
    masks: NDArray[Any],
    present: NDArray[np.uint8] | None,
    weights: NDArray[np.float64],
    scales: Sequence[Sequence[Sequence[float]]],
    shape: Sequence[int],
    steps: Sequence[int],
    tile: Sequence[int],
    made: Sequence[int],
    counted: Sequence[int],
    threads: int,
    power: NDArray[np.float32],
    shared: NDArray[np.float32],
    raters: NDArray[np.float32] | None,
) -> tuple[int, int]: ...
def keep_bands(
    masks: NDArray[Any],
    present: NDArray[np.uint8] | None,
    weights: NDArray[np.float64],
    scales: Sequence[Sequence[Sequence[float]]],
    shape: Sequence[int],
    gains: Sequence[NDArray[np.float32]],
    detail: NDArray[np.float32],
    steps: Sequence[int],
    tile: Sequence[int],
    threads: int,
    answer: NDArray[np.float32],
) -> None: ...
def cut_counts(
    masks: NDArray[Any],
    present: NDArray[np.uint8] | None,
    weights: NDArray[np.float64],
    scales: Sequence[Sequence[Sequence[float]]],
    shape: Sequence[int],
    chosen: NDArray[np.uint8],
    counted: NDArray[np.uint8],
    reach: Sequence[int],
    gains: Sequence[NDArray[np.float32]],
    detail: NDArray[np.float32],
    steps: Sequence[int],
    tile: Sequence[int],
    threads: int,
    values: NDArray[np.int64],
) -> tuple[tuple[int, int], tuple[int, int], tuple[int, int], tuple[int, int]]: ...
def cut(
    detail: NDArray[np.float32],
    shape: Sequence[int],
    steps: Sequence[int],
    outside: float,
    inside: float,
    between: float,
    tolerance: float,
    threads: int,
    answer: NDArray[np.float32],
    chosen: NDArray[np.uint8] | None,
) -> None: ...
def keep_shares(
    power: NDArray[np.float32],
    shared: NDArray[np.float32],
    detail: NDArray[np.float32] | None,
    raters: NDArray[np.float32] | None,
    number_of_raters: float,
    least_power: float,
    gain_sharpness: float,
    detail_sharpness: float,
    threads: int,
) -> None: ...
def label_mentions(
    patterns: NDArray[np.uint32], votes: NDArray[Any], labels: int
) -> tuple[NDArray[np.uint32], NDArray[np.int64]]: ...

class WindowFrame:
    def __init__(
        self,
        shape: Sequence[int],
        radii: Sequence[int],
        places: NDArray[np.uint32],
        row_begin: NDArray[np.uint32],
        patterns: NDArray[np.uint32],
        votes: NDArray[Any],
        labels: int,
        gaps: bool,
        run_places: NDArray[np.uint32],
        run_lengths: NDArray[np.uint32],
        run_patterns: NDArray[np.uint32],
        run_begin: NDArray[np.int64],
        mentions: NDArray[np.uint32],
        mention_begin: NDArray[np.int64],
    ) -> None: ...

def window_counts(
    frame: WindowFrame,
    planes: Sequence[int],
    seen: NDArray[np.float32],
    said: NDArray[np.float32],
    threads: int,
) -> None: ...
def window_joints(
    frame: WindowFrame,
    planes: Sequence[int],
    posterior: NDArray[np.float32],
    kappa: float,
    seen: NDArray[np.float32],
    said: NDArray[np.float32],
    targets: NDArray[np.float64],
    pseudo_counts: tuple[float, float],
    log_prior: NDArray[np.float64] | None,
    least: float,
    shift: int,
    joints: NDArray[np.float32],
    threads: int,
) -> None: ...
def normalise_joints(
    frame: WindowFrame,
    before: NDArray[np.float32],
    joints: NDArray[np.float32],
    least: float,
    threads: int,
) -> tuple[float, float]: ...
def patch_similarity(
    frame: WindowFrame,
    planes: Sequence[int],
    shares: NDArray[np.float64],
    shift: int,
    similarity: NDArray[np.float64],
    threads: int,
) -> None: ...
def add_votes(
    frame: WindowFrame,
    planes: Sequence[int],
    weights: NDArray[np.float64],
    votes: NDArray[np.float64],
    threads: int,
) -> None: ...

_Lists = tuple[NDArray[np.int64], NDArray[np.uint16], NDArray[Any]]

class FieldGrid:
    def __init__(
        self,
        shape: Sequence[int],
        side: Sequence[float],
        codes: NDArray[Any],
        settled_label: NDArray[np.int32],
        labels: int,
        colours: Sequence[tuple[NDArray[np.uint32], NDArray[np.int64], NDArray[np.uint32]]],
    ) -> None: ...

def field_sweep(
    grid: FieldGrid,
    colour: int,
    others: _Lists,
    candidates: _Lists,
    counted: NDArray[np.float64],
    weight: float,
    cut: float,
    threads: int,
) -> tuple[_Lists, list[float]]: ...
def field_weight_slope(
    grid: FieldGrid, colour: int, own: _Lists, others: _Lists, weight: float, threads: int
) -> tuple[float, float]: ...
def field_candidates(
    digits: NDArray[Any],
    log_theta: NDArray[np.float64],
    log_prior: NDArray[np.float64],
    prior_rows: NDArray[np.uint32] | None,
    open: NDArray[np.uint8],
    reach: float,
    least: float,
    threads: int,
) -> _Lists: ...
def field_counts(
    grid: FieldGrid,
    colour: int,
    own: _Lists,
    digits: NDArray[Any],
    counted: NDArray[np.float64],
    labels: int,
    threads: int,
) -> NDArray[np.float64]: ...
