from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from stacks import Drawn, encode
from whole_volume_votes import WholeVotes

from itk_consensus.core.work import working
from itk_consensus.methods.voting.corrected_vote import corrected_vote, mixing_matrix
from itk_consensus.space.tiles import four_axes, tile_groups, tile_sizes
from itk_consensus.votes.label_stack import LabelStack
from itk_consensus.votes.ties import SAME_PROBABILITY, TIE_RULES
from itk_consensus.votes.uncertainty import UNCERTAINTY_KINDS, uncertainty
from itk_consensus.votes.vote_tiles import VoteTiles

TILES = [(1, 1, 1, 1), (1, 2, 3, 4), (1, 5, 5, 7), (1, 64, 64, 64)]
#: Number of threads for each of the tile sizes.
THREADS = (1, 2, 7, 3)


def label_stack(drawn: Drawn) -> LabelStack:
    return LabelStack.multilabel(drawn.arrays, **drawn.common())


@st.composite
def cases(draw: st.DrawFn) -> dict[str, Any]:
    """Draw blobs or noise of few labels, with masks, missing raters and weights in some cases."""
    dimension = draw(st.integers(1, 4))
    most = {1: 40, 2: 14, 3: 9, 4: 5}[dimension]
    shape = tuple(draw(st.integers(1, most)) for _ in range(dimension))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    coarse = rng.integers(0, draw(st.integers(2, 5)), shape)
    error = draw(st.sampled_from([0.0, 0.1, 0.4]))
    raters = draw(st.integers(1, 5))
    # One byte, two bytes, and a type that has no table: each is read by different code.
    kind = draw(st.sampled_from([np.uint8, np.int16, np.int32]))
    arrays: list[np.ndarray | None] = []
    for _ in range(raters):
        wrong = rng.integers(0, 6, shape)
        truth = np.maximum(coarse - 1, 0) if error < 0.4 else coarse
        arrays.append(np.where(rng.random(shape) < error, wrong, truth).astype(kind))
    if draw(st.booleans()):
        arrays.insert(0, None)
    masks = None
    if draw(st.booleans()):
        masks = [None if a is None else rng.random(shape) < 0.6 for a in arrays]
    mask = rng.random(shape) < 0.7 if draw(st.booleans()) else None
    weights = rng.uniform(0.2, 2, len(arrays)) if draw(st.booleans()) else None
    drawn = Drawn(arrays, mask=mask, rater_masks=masks)
    inside = np.ones(shape, bool) if mask is None else mask
    annotated = [
        inside if masks is None or masks[k] is None else inside & masks[k]
        for k, array in enumerate(arrays)
        if array is not None
    ]
    assume(any(part.any() for part in annotated))
    spacing = tuple(draw(st.sampled_from([0.5, 1.0, 2.5])) for _ in shape)
    return {
        "drawn": drawn,
        "sigma": draw(st.sampled_from([0.0, 0.4, 1.0, 2.3])),
        "spacing": spacing,
        "weights": weights,
    }


def make(case: dict[str, Any], **more: Any) -> VoteTiles:
    return VoteTiles.make(
        label_stack(case["drawn"]), case["sigma"], case["spacing"], weights=case["weights"], **more
    )


@settings(max_examples=60)
@given(cases(), st.sampled_from(TILES), st.sampled_from([1, 2, 7]))
def test_smoothed_shares_are_those_of_the_whole_volume(case, tile, threads):
    with working(threads=threads):
        tiles, whole = make(case, tile=tile), WholeVotes(**case)
        np.testing.assert_allclose(tiles.frequencies, whole.frequencies, atol=1e-12)
        wanted = whole.smoothed()
        for label in range(len(wanted)):
            np.testing.assert_allclose(tiles.share(label), wanted[label], atol=1e-12)


@settings(max_examples=60)
@given(
    cases(), st.sampled_from(TILES), st.sampled_from(TIE_RULES), st.sampled_from([None, 0.4, 0.5])
)
def test_smoothed_decisions_are_those_of_the_whole_volume(case, tile, ties, threshold):
    tiles, whole = make(case, tile=tile), WholeVotes(**case)
    wanted = whole.decide(whole.smoothed(), ties, 1e-12, threshold)
    np.testing.assert_array_equal(tiles.decision(ties, threshold=threshold), wanted)


@settings(max_examples=60)
@given(cases(), st.sampled_from(TILES), st.sampled_from([1, 2, 7]))
def test_corrected_votes_are_those_of_the_whole_volume(case, tile, threads):
    with working(threads=threads):
        tiles, whole = make(case, tile=tile), WholeVotes(**case)
        mixing = mixing_matrix(tiles.mixed_votes(tiles.decision("prior")))
        np.testing.assert_allclose(mixing, whole.mixing("prior"), atol=1e-9)
        taken = ~np.isnan(mixing[0])
        # If labels are nearly indistinguishable, the inverse is dominated by rounding errors.
        assume(np.linalg.cond(mixing[:, taken]) < 1e4)
        wanted = whole.corrected("prior")
        result = corrected_vote(
            label_stack(case["drawn"]), case["sigma"], case["spacing"], weights=case["weights"]
        )
        for label in range(len(wanted)):
            np.testing.assert_allclose(
                result.tiles.share(label, unmixing=result.inverse), wanted[label], atol=1e-6
            )
        ordered = np.sort(np.append(wanted, np.zeros((1, *wanted.shape[1:])), axis=0), axis=0)
        clear = whole.inside & (ordered[-1] - ordered[-2] > 10 * SAME_PROBABILITY)
        np.testing.assert_array_equal(result.decision()[clear], wanted.argmax(axis=0)[clear])


@settings(max_examples=40)
@given(cases(), st.sampled_from(UNCERTAINTY_KINDS), st.booleans())
def test_uncertainty_is_that_of_all_shares_in_any_tile_and_thread(case, kind, unmix):
    runs = [make(case, tile=tile) for tile in TILES]
    size = len(runs[0].labels)
    unmixing = 1.2 * np.eye(size) - 0.2 / size if unmix else None
    shares = [runs[0].share(label, unmixing=unmixing) for label in range(size)]
    expected, found = np.empty((2, *runs[0].shape), np.float32)
    uncertainty(kind, shares, expected)
    for run, threads in zip(runs, THREADS, strict=True):
        with working(threads=threads):
            run.write_uncertainty(kind, found, unmixing=unmixing)
        np.testing.assert_allclose(found, expected, atol=1e-6)
    first = np.empty_like(found)
    runs[0].write_uncertainty(kind, first, unmixing=unmixing)
    np.testing.assert_array_equal(found, first)


@settings(max_examples=30)
@given(cases())
def test_neither_tiles_nor_threads_show_in_any_bit(case):
    runs = [make(case, tile=tile) for tile in TILES]
    ways = list(zip(runs, THREADS, strict=True))
    decisions = [working(threads=n)(tiles.decision)("prior") for tiles, n in ways]
    counted = [working(threads=n)(tiles.mixed_votes)(decisions[0]) for tiles, n in ways]
    unmixing = np.linalg.pinv(np.nan_to_num(mixing_matrix(counted[0])))
    for (run, threads), decision, sums in zip(ways[1:], decisions[1:], counted[1:], strict=True):
        np.testing.assert_array_equal(decision, decisions[0])
        for name in ("near", "far", "near_voxels", "far_voxels", "agreed", "agreed_far"):
            np.testing.assert_array_equal(getattr(sums, name), getattr(counted[0], name))
        for more in ({}, {"unmixing": unmixing}):
            share = working(threads=threads)(run.share)(0, **more)
            np.testing.assert_array_equal(share, runs[0].share(0, **more))
            np.testing.assert_array_equal(
                working(threads=threads)(run.decision)("prior", tolerance=1e-9, **more),
                runs[0].decision("prior", tolerance=1e-9, **more),
            )


@settings(max_examples=30)
@given(cases())
def test_patterns_and_stacks_are_the_same_votes(case):
    one = make(case)
    other = VoteTiles.make(
        encode(case["drawn"]), case["sigma"], case["spacing"], weights=case["weights"]
    )
    np.testing.assert_allclose(other.frequencies, one.frequencies, atol=1e-15)
    np.testing.assert_array_equal(other.decision("lowest"), one.decision("lowest"))
    np.testing.assert_allclose(other.share(0), one.share(0), atol=1e-15)


def test_labels_beyond_a_byte_are_told_apart():
    rng = np.random.default_rng(0)
    arrays = [rng.integers(0, 400, (12, 13)).astype(np.uint16) for _ in range(3)]
    case = {"drawn": Drawn(arrays), "sigma": 1.0, "spacing": (1.0, 1.0), "weights": None}
    tiles, whole = make(case, tile=(1, 1, 5, 6)), WholeVotes(**case)
    wanted = whole.decide(whole.smoothed(), "lowest", 1e-12)
    np.testing.assert_array_equal(tiles.decision("lowest"), wanted)


def test_a_region_of_even_votes_is_tied_to_the_last_voxel():
    one, other = np.zeros((20, 20, 20), np.uint8), np.zeros((20, 20, 20), np.uint8)
    one[3:17, 3:17, 3:17] = 1
    case = {"drawn": Drawn([one, other]), "sigma": 1.0, "spacing": (1.0,) * 3, "weights": None}
    decision = make(case).decision("undecided")
    whole = WholeVotes(**case)
    np.testing.assert_array_equal(decision, whole.decide(whole.smoothed(), "undecided", 1e-12))
    assert (decision[8:12, 8:12, 8:12] == -1).all()


@pytest.mark.parametrize(
    ("shape", "axes"),
    [((7,), (1, 1, 1, 7)), ((5, 7), (1, 1, 5, 7)), ((2, 3, 4), (1, 2, 3, 4)),
     ((9, 2, 3, 4), (9, 2, 3, 4)), ((2, 3, 4, 5, 6), (6, 4, 5, 6))],
)  # fmt: skip
def test_independent_volumes_come_first_of_four_axes(shape, axes):
    assert four_axes(shape) == axes


def test_tiles_are_wider_than_their_halo_and_within_the_volume():
    assert tile_sizes((1, 200, 200, 200), (0, 4, 4, 4)) == (1, 32, 32, 128)
    assert tile_sizes((1, 200, 200, 200), (0, 4, 4, 4), labels=100) == (1, 22, 22, 88)
    assert tile_sizes((1, 200, 200, 200), (0, 40, 4, 4))[1] == 80
    assert tile_sizes((3, 1, 20, 300), (0, 0, 4, 4)) == (1, 1, 20, 300)


def test_groups_of_tiles_cover_all_and_report_progress():
    done: list[float] = []
    with working(threads=2, on_progress=done.append):
        groups = list(tile_groups(300))
    assert [b for _, b in groups[:-1]] == [a for a, _ in groups[1:]]
    assert groups[0][0] == 0
    assert groups[-1][1] == 300
    assert done[-1] == 1.0
    assert done == sorted(done)
