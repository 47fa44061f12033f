"""Disputes are regions for which a single decision makes sense; decisions have the stated
effect.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from itk_consensus.core.errors import InputError
from itk_consensus.review.decisions import Decision, adjudicated, labels_after
from itk_consensus.review.disputes import RatedMap, disputed_voxels, find_disputes
from itk_consensus.review.one_review import Remark, Review
from itk_consensus.review.voxel_runs import decoded, decoded_map, encoded, encoded_map
from itk_consensus.storage.record import RecordError

MISSING = 9
SHAPE = (3, 5, 4)
label_arrays = arrays(np.uint8, SHAPE, elements=st.integers(0, 2))
rater_arrays = arrays(np.uint8, SHAPE, elements=st.sampled_from([0, 1, 2, MISSING]))


@st.composite
def rated_maps(draw: st.DrawFn, name: str = "") -> RatedMap:
    maps = tuple(draw(rater_arrays) for _ in range(draw(st.integers(1, 4))))
    return RatedMap(name, maps, MISSING, draw(label_arrays), (0, 1, 2))


def two_lesions() -> RatedMap:
    """Return three raters of two lesions, one drawn larger by rater 1, the other seen only by
    rater 2.
    """
    maps = [np.zeros((4, 12, 12), np.uint8) for _ in range(3)]
    for one in maps:
        one[1:3, 1:5, 1:5] = 1
    maps[1][1:3, 1:5, 5:7] = 1
    maps[2][0:2, 8:10, 8:10] = 1
    return RatedMap("", tuple(maps), MISSING, maps[0].copy(), (0, 1))


def test_each_region_is_listed_by_size_with_who_marked_it_and_where() -> None:
    disputes, unlisted = find_disputes([two_lesions()])
    assert [(one.voxels, one.consensus, one.labels) for one in disputes] == [
        (16, 0, (0, 1)),
        (8, 0, (0, 1)),
    ]
    assert [one.marked_by() for one in disputes] == [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    assert disputes[0].votes == ({0: 16}, {1: 16}, {0: 16})
    for one in disputes:
        assert np.ravel_multi_index(one.index, (4, 12, 12)) in one.places
    assert unlisted == 0


def test_what_the_consensus_has_and_what_it_leaves_out_are_different_disputes() -> None:
    rated = two_lesions()
    rated.consensus[1:3, 1:5, 5] = 1  # half of the voxels that rater 1 added
    wide = [one for one in find_disputes([rated])[0] if one.marked_by()[1] == 1]
    assert sorted((one.consensus, one.voxels) for one in wide) == [(0, 8), (1, 8)]


def test_voxels_about_which_other_labels_are_claimed_are_another_dispute() -> None:
    maps = [np.zeros((1, 1, 6), np.uint8) for _ in range(3)]
    maps[1][0, 0, 1:3] = 1
    maps[2][0, 0, 2:5] = 2
    rated = RatedMap("", tuple(maps), MISSING, maps[0].copy(), (0, 1, 2))
    found = {one.labels: one.places.tolist() for one in find_disputes([rated])[0]}
    assert found == {(0, 1): [1], (0, 1, 2): [2], (0, 2): [3, 4]}


def test_volumes_of_a_series_share_no_dispute() -> None:
    maps = (np.ones((2, 1, 2, 2), np.uint8), np.zeros((2, 1, 2, 2), np.uint8))
    rated = RatedMap("", maps, MISSING, maps[1].copy(), (0, 1))
    assert [one.voxels for one in find_disputes([rated])[0]] == [4, 4]


def test_the_smallest_of_very_many_are_counted_and_not_listed() -> None:
    rng = np.random.default_rng(1)
    maps = tuple((rng.random((8, 30, 30)) < 0.05).astype(np.uint8) for _ in range(3))
    rated = RatedMap("", maps, MISSING, np.zeros((8, 30, 30), np.uint8), (0, 1))
    every, none = find_disputes([rated])
    some, rest = find_disputes([rated], most=5)
    assert none == 0
    assert len(some) == 5
    assert len(every) > 20
    assert rest == sum(one.voxels for one in every[5:])
    np.testing.assert_array_equal(some[4].places, every[4].places)


def test_the_mean_probability_of_each_label_is_the_fusers() -> None:
    rated = two_lesions()
    share = np.mean([one == 1 for one in rated.maps], axis=0)

    def probabilities(places: Mapping[int, NDArray[np.int64]]) -> dict[int, NDArray[np.float64]]:
        assert all((np.diff(where) > 0).all() for where in places.values())
        return {label: share.reshape(-1)[where] for label, where in places.items() if label == 1}

    disputes, _ = find_disputes([rated], [probabilities])
    assert [one.probability for one in disputes] == [{1: pytest.approx(1 / 3, abs=1e-6)}] * 2


@given(rated_maps())
def test_disputes_are_exactly_the_disputed_voxels_each_once(rated: RatedMap) -> None:
    disputes, _ = find_disputes([rated])
    places = np.concatenate([[], *(one.places for one in disputes)]).astype(int)
    np.testing.assert_array_equal(np.sort(places), np.flatnonzero(disputed_voxels(rated)))
    sizes = [one.voxels for one in disputes]
    assert sizes == sorted(sizes, reverse=True)
    for one in disputes:
        assert set(rated.consensus.reshape(-1)[one.places]) == {one.consensus}
        assert (np.diff(one.places) > 0).all()


@given(rated_maps())
def test_regions_are_connected_and_as_large_as_they_can_be(rated: RatedMap) -> None:
    """Brute force: touching voxels of the same kind belong to the same region, others do not."""
    disputes, _ = find_disputes([rated])
    region = {int(place): one.number for one in disputes for place in one.places}
    kind = {int(place): (one.consensus, one.labels) for one in disputes for place in one.places}
    steps = [step for step in itertools.product((-1, 0, 1), repeat=3) if any(step)]
    seen: dict[int, int] = {}
    for start in region:
        if start in seen:
            continue
        queue = [start]
        while queue:
            place = queue.pop()
            if place in seen:
                continue
            seen[place] = start
            index = np.unravel_index(place, SHAPE)
            for step in steps:
                other = np.add(index, step)
                if ((other >= 0) & (other < SHAPE)).all():
                    flat = int(np.ravel_multi_index(tuple(other), SHAPE))
                    if kind.get(flat) == kind[place]:
                        queue.append(flat)
    pairs = {(region[place], seen[place]) for place in region}
    assert len(pairs) == len(disputes) == len({b for _, b in pairs})


@given(rated_maps())
def test_everything_as_the_consensus_gives_the_consensus(rated: RatedMap) -> None:
    disputes, _ = find_disputes([rated])
    decisions = {one.number: Decision("consensus") for one in disputes}
    for decided in (decisions, {}):
        np.testing.assert_array_equal(adjudicated(rated, disputes, decided), rated.consensus)


@given(rated_maps(), st.integers(0, 3))
def test_everything_as_one_reader_gives_that_reader_within_disputes(
    rated: RatedMap, rater: int
) -> None:
    rater %= len(rated.maps)
    disputes, _ = find_disputes([rated])
    decisions = {one.number: Decision("rater", rater=rater) for one in disputes}
    result = adjudicated(rated, disputes, decisions)
    drawn = rated.maps[rater]
    annotated = drawn != MISSING
    # Outside disputes, all raters who annotated a voxel agree with the consensus.
    np.testing.assert_array_equal(result[annotated], drawn[annotated])
    np.testing.assert_array_equal(result[~annotated], rated.consensus[~annotated])


@given(rated_maps(), st.data())
def test_the_order_of_decisions_does_not_matter_nor_does_a_second_time(
    rated: RatedMap, data: st.DataObject
) -> None:
    disputes, _ = find_disputes([rated])
    choices = st.one_of(
        st.just(Decision("consensus")),
        st.integers(0, 2).map(lambda label: Decision("label", label=label)),
        st.integers(0, len(rated.maps) - 1).map(lambda j: Decision("rater", rater=j)),
    )
    decided = [(one.number, data.draw(choices)) for one in disputes]
    first = adjudicated(rated, disputes, dict(decided))
    other = adjudicated(rated, disputes, dict(data.draw(st.permutations(decided))))
    np.testing.assert_array_equal(first, other)
    reversed_ = adjudicated(rated, disputes[::-1], dict(decided))
    np.testing.assert_array_equal(first, reversed_)
    for one, (_, decision) in zip(disputes, decided, strict=True):
        np.testing.assert_array_equal(
            first.reshape(-1)[one.places], labels_after(decision, one, rated)
        )


@given(rated_maps(), label_arrays)
def test_painting_decides_nothing_until_it_is_confirmed_dispute_by_dispute(
    rated: RatedMap, painted: np.ndarray
) -> None:
    review = Review([rated], find_disputes([rated])[0], who="Ann")
    stroke = review.paint("", painted)
    np.testing.assert_array_equal(review.shown(), painted)
    assert review.decisions == {}
    changed = np.flatnonzero(painted != rated.consensus)
    disputed = np.flatnonzero(disputed_voxels(rated))
    assert stroke.corrected == len(set(changed) - set(disputed))
    assert sum(stroke.drafted.values()) == len(set(changed) & set(disputed))
    # So far, the map contains only the voxels outside disputes.
    expected = rated.consensus.copy().reshape(-1)
    outside = np.setdiff1d(changed, disputed)
    expected[outside] = painted.reshape(-1)[outside]
    np.testing.assert_array_equal(review.adjudicated().reshape(-1), expected)
    for number in stroke.drafted:
        assert review.drafted_voxels(number) == stroke.drafted[number]
        review.confirm(number)
    assert set(review.decisions) == set(stroke.drafted)
    np.testing.assert_array_equal(review.adjudicated(), painted)
    changes = review.changes("")
    for label in range(3):
        more = np.count_nonzero(painted == label) - np.count_nonzero(rated.consensus == label)
        assert changes.get(label, 0) == more
    while review.undo():
        pass
    np.testing.assert_array_equal(review.shown(), rated.consensus)
    while review.redo():
        pass
    np.testing.assert_array_equal(review.adjudicated(), painted)


@given(rated_maps(), label_arrays, label_arrays)
def test_painting_over_a_decided_dispute_leaves_it_as_it_is(
    rated: RatedMap, first: np.ndarray, second: np.ndarray
) -> None:
    review = Review([rated], find_disputes([rated])[0])
    for number in list(review.disputes)[::2]:
        review.decide(number, "label", 1)
    review.paint("", first)
    for number in list(review.drafts)[::2]:
        review.confirm(number)
    locked = {n: review.voxels_after(n) for n in review.decisions}
    before = review.adjudicated().reshape(-1)
    stroke = review.paint("", second)
    assert set(stroke.locked) <= set(locked)
    for number in locked:
        places = review.disputes[number].places
        np.testing.assert_array_equal(review.adjudicated().reshape(-1)[places], before[places])
    free = np.ones(second.size, bool)
    free[[place for n in locked for place in review.disputes[n].places]] = False
    np.testing.assert_array_equal(review.shown().reshape(-1)[free], second.reshape(-1)[free])


def test_a_decided_dispute_is_locked_until_it_is_reopened() -> None:
    rated = two_lesions()
    review = Review([rated], find_disputes([rated])[0], who="Ann")
    assert review.undecided == [1, 2]
    review.decide(1, "label", 1)
    with pytest.raises(InputError, match="dispute 1 is decided; reopen it"):
        review.decide(1, "consensus")
    review.decide(2, "rater", 2, Remark("seen on the other series", "sure", 2.5))
    assert review.undecided == []
    assert review.decisions[2].who == "Ann"
    assert review.decisions[2].reason == "seen on the other series"
    assert review.decisions[2].when.endswith("+00:00")
    review.reopen(2)
    with pytest.raises(InputError, match="dispute 2 is open"):
        review.reopen(2)
    assert review.undecided == [2]
    assert review.undo()
    assert review.undecided == []
    assert review.undo()
    assert review.undo()
    assert review.undecided == [1, 2]
    assert not review.undo()
    assert review.redo()
    assert review.decisions[1].meaning == ("label", 1, None, None)
    review.decide(2, "consensus")
    assert not review.redo()
    kinds = [action.kind for action in review.actions]
    assert kinds == ["decide", "decide", "reopen", "undo", "undo", "undo", "redo", "decide"]


def test_painting_that_was_confirmed_can_be_painted_on_when_reopened() -> None:
    rated = two_lesions()
    review = Review([rated], find_disputes([rated])[0])
    painted = rated.consensus.copy()
    painted.reshape(-1)[review.disputes[1].places[:3]] = 1
    review.paint("", painted)
    review.confirm(1)
    review.reopen(1)
    assert review.drafted_voxels(1) == 3
    review.discard(1)
    assert review.drafts == {}
    np.testing.assert_array_equal(review.shown(), rated.consensus)
    for nothing in (lambda: review.confirm(1), lambda: review.discard(1)):
        with pytest.raises(InputError, match="nothing was painted"):
            nothing()


def test_many_disputes_are_decided_in_one_action() -> None:
    rated = two_lesions()
    review = Review([rated], find_disputes([rated])[0])
    review.decide([1, 2], "consensus", remark=Remark("smaller than 1 ml"))
    assert len(review.actions) == 1
    assert {one.reason for one in review.decisions.values()} == {"smaller than 1 ml"}
    assert review.undo()
    assert review.undecided == [1, 2]


def test_structures_that_overlap_are_decided_apart() -> None:
    first, second = two_lesions(), two_lesions()
    rated = [
        RatedMap("liver", first.maps, MISSING, first.consensus, (0, 1)),
        RatedMap("tumour", second.maps, MISSING, second.consensus, (0, 1)),
    ]
    review = Review(rated, find_disputes(rated)[0])
    number = next(n for n, one in review.disputes.items() if one.structure == "tumour")
    review.decide(number, "label", 1)
    np.testing.assert_array_equal(review.adjudicated("liver"), first.consensus)
    assert np.count_nonzero(review.adjudicated("tumour")) == 32 + 16


@pytest.mark.parametrize(
    ("number", "choice", "value", "words"),
    [
        (7, "consensus", None, "no dispute 7"),
        (1, "rater", 5, "no rater 5"),
        (1, "rater", -1, "no rater -1"),
        (1, "label", None, "no decision"),
        (1, "label", 7, "no label 7"),
        (1, "consensus", 1, "no decision"),
        (1, "painted", None, "no decision"),
        (1, "better", None, "no decision"),
    ],
)
def test_what_is_no_decision_is_refused_and_changes_nothing(
    number: int, choice: str, value: int | None, words: str
) -> None:
    rated = two_lesions()
    review = Review([rated], find_disputes([rated])[0])
    with pytest.raises(InputError, match=words):
        review.decide(number, choice, value)
    assert review.decisions == {}
    assert not review.undo()


@given(arrays(np.int64, st.integers(0, 60), elements=st.integers(-2, 3)))
def test_runs_hold_every_voxel_and_label(labels: np.ndarray) -> None:
    places = np.flatnonzero(labels)
    back, values = decoded(encoded(places, labels[places]), labels.size)
    np.testing.assert_array_equal(back, places)
    np.testing.assert_array_equal(values, labels[places])
    np.testing.assert_array_equal(
        decoded_map(encoded_map(labels), labels.shape, labels.dtype), labels
    )


@pytest.mark.parametrize("text", ["?", "AAAA", encoded(np.arange(5, 9), np.ones(4))])
def test_runs_that_do_not_fit_the_volume_are_refused(text: str) -> None:
    with pytest.raises(RecordError):
        decoded(text, 8)


def test_runs_that_unpack_to_more_than_the_volume_are_not_unpacked() -> None:
    import base64
    import zlib

    bomb = base64.b64encode(zlib.compress(bytes(50_000_000), 9)).decode()
    with pytest.raises(RecordError, match="more than the volume has"):
        decoded(bomb, 100)
