from __future__ import annotations

import itertools

import numpy as np
import pytest

from examples.simulation import LESION_SETTINGS
from itk_consensus.methods.lesions.matching import match_objects, shared_voxels
from itk_consensus.methods.lesions.objects import RaterObjects, number_objects


def matched(maps, spacing=(1.0, 1.0), distance=None):
    objects = RaterObjects.of([number_objects(np.asarray(m), "components") for m in maps])
    return objects, match_objects(objects, spacing, distance)


def boxes(*places, shape=(20, 20)):
    """Return a map with an instance label for each box (top, left, height, width)."""
    drawn = np.zeros(shape, np.uint8)
    for number, (top, left, height, width) in enumerate(places, start=1):
        drawn[top : top + height, left : left + width] = number
    return drawn


def test_shared_voxels_are_counted_as_by_brute_force():
    case = LESION_SETTINGS["touching and joined"](1)
    objects, _ = matched(case.raters)
    pairs = shared_voxels(objects)
    counted = {(a, b): n for a, b, n in zip(*(column.tolist() for column in pairs), strict=True)}
    for one in range(objects.number):
        for other in range(one + 1, objects.number):
            if objects.rater[one] == objects.rater[other]:
                continue
            masks = [objects.places[objects.rater[k]] == k + 1 for k in (one, other)]
            assert counted.get((one, other), 0) == np.count_nonzero(masks[0] & masks[1])


@pytest.mark.parametrize("readers", [4, 9])
def test_overlaps_are_those_by_brute_force_and_no_mark_is_in_a_group_twice(readers):
    """Tested on noise, with objects that are split or merged, and readers with identical marks."""
    several = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        maps = rng.random((readers, 3, 8 if readers == 4 else 2)) < 0.6
        objects, groups = matched(maps.astype(np.uint8))
        assert len(np.unique(groups.members, axis=0)) == len(groups.members)
        for group in range(groups.number):
            own = groups.members[groups.members[:, 0] == group, 1]
            drawn = {int(objects.rater[mark]): np.zeros((3, maps.shape[2]), bool) for mark in own}
            for mark in own:
                reader = int(objects.rater[mark])
                drawn[reader] |= objects.places[reader] == mark + 1
            pairs = itertools.combinations(drawn.values(), 2)
            overlaps = [2 * np.sum(a & b) / (np.sum(a) + np.sum(b)) for a, b in pairs]
            several += len(overlaps) > 1
            wanted = np.mean(overlaps) if overlaps else np.nan
            np.testing.assert_allclose(groups.overlap[group], wanted, rtol=1e-12)
    assert several > 50


def test_which_of_two_equally_large_marks_is_around_the_other_is_not_a_matter_of_order():
    maps = [np.zeros((4, 6), np.uint8) for _ in range(3)]
    maps[0][0, 1] = 1
    maps[1][0, :2] = 1
    maps[2][:2, 0], maps[2][0, 1] = 1, 2
    found = set()
    for order in itertools.permutations(range(len(maps))):
        objects, groups = matched([maps[reader] for reader in order])
        marks = np.stack([np.array(order)[objects.rater], objects.first, objects.voxels], axis=1)
        members = [groups.members[groups.members[:, 0] == g, 1] for g in range(groups.number)]
        found.add(tuple(tuple(sorted(map(tuple, marks[own].tolist()))) for own in members))
    assert len(found) == 1


def test_one_object_of_each_reader_makes_a_group():
    _, groups = matched([boxes((2, 2, 5, 5), (12, 12, 4, 4)), boxes((3, 2, 5, 5)), boxes()])
    np.testing.assert_array_equal(groups.found, [[True, True, False], [True, False, False]])
    np.testing.assert_array_equal(groups.voxels, [[25, 25, 0], [16, 0, 0]])
    np.testing.assert_allclose(groups.overlap, [2 * 20 / 50, np.nan])
    np.testing.assert_allclose(groups.middle, [[4.5, 4], [13.5, 13.5]])


def test_what_one_splits_and_most_join_is_one_object_that_says_so():
    whole, pieces = boxes((5, 2, 6, 13)), boxes((5, 2, 6, 6), (5, 9, 6, 6))
    _, groups = matched([whole, pieces, whole])
    assert groups.number == 1
    assert groups.split.tolist() == [[False, True, False]]
    assert not groups.joined.any()


def test_what_one_joins_and_most_see_apart_are_two_objects_that_say_so():
    whole, pieces = boxes((5, 2, 6, 13)), boxes((5, 2, 6, 6), (5, 9, 6, 6))
    _, groups = matched([whole, pieces, pieces])
    assert groups.number == 2
    assert groups.found.all()
    assert groups.joined.tolist() == [[True, False, False]] * 2
    assert not groups.split.any()


def test_equal_numbers_leave_two_objects():
    whole, pieces = boxes((5, 2, 6, 13)), boxes((5, 2, 6, 6), (5, 9, 6, 6))
    assert matched([whole, pieces])[1].number == 2


def test_marks_of_one_voxel_match_if_they_touch_and_not_farther():
    near, far = boxes((5, 5, 1, 1)), boxes((5, 7, 1, 1))
    assert matched([near, boxes((6, 6, 1, 1))])[1].number == 1
    assert matched([near, far])[1].number == 2
    assert matched([near, far], distance=2.0)[1].number == 1
    # With slices of 5 mm, a mark two pixels away is nearer than one in the next slice.
    assert matched([near, boxes((6, 5, 1, 1))], (5.0, 1.0), distance=2.0)[1].number == 2
    assert matched([near, far], (5.0, 1.0), distance=2.0)[1].number == 1


def test_large_marks_side_by_side_are_two_objects_however_near():
    side_by_side = [boxes((2, 2, 8, 8)), boxes((2, 10, 8, 8))]
    assert matched(side_by_side)[1].number == 2


def test_touching_objects_of_different_finders_stay_apart():
    left, right = boxes((2, 2, 8, 8)), boxes((2, 9, 8, 8))
    _, groups = matched([left, left, right, right])
    assert groups.found.tolist() == [[True, True, False, False], [False, False, True, True]]


def test_an_object_at_the_border_is_one():
    corner = boxes((0, 0, 3, 3), (17, 17, 3, 3))
    _, groups = matched([corner, corner])
    assert groups.found.all()
    assert groups.number == 2


@pytest.mark.parametrize("name", ["touching and joined", "split", "missed and false"])
def test_order_of_readers_and_numbers_of_objects_change_nothing(name):
    for seed in range(5):
        case = LESION_SETTINGS[name](seed)
        rng = np.random.default_rng(seed)
        order = rng.permutation(len(case.raters))
        names = np.append(0, 1 + rng.permutation(int(case.raters.max()))).astype(np.uint16)
        _, one = matched(case.raters, case.spacing)
        _, other = matched(names[case.raters[order]], case.spacing)
        for field in ("found", "marks", "joined", "voxels"):
            np.testing.assert_array_equal(getattr(one, field)[:, order], getattr(other, field))
        np.testing.assert_allclose(one.middle, other.middle, rtol=0, atol=1e-9)
        np.testing.assert_allclose(one.overlap, other.overlap, rtol=0, atol=1e-12)


def test_identical_maps_match_object_by_object():
    case = LESION_SETTINGS["touching"](2)
    objects, groups = matched([case.truth] * 4)
    assert groups.number == len(np.unique(case.truth)) - 1
    assert groups.found.all()
    np.testing.assert_array_equal(groups.overlap, 1)
    assert objects.number == 4 * groups.number
