from __future__ import annotations

import numpy as np
import pytest
import scipy.ndimage
from skimage.measure import label

from itk_consensus.space.pieces import label_pieces, raters_by_piece
from itk_consensus.space.rater_field import pack_bits


@pytest.mark.parametrize("corners", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_pieces_are_those_of_scipy_in_its_order(seed, corners):
    rng = np.random.default_rng(seed)
    mask = rng.random(rng.integers(1, 9, rng.integers(1, 4))) < rng.random()
    structure = scipy.ndimage.generate_binary_structure(mask.ndim, mask.ndim if corners else 1)
    places, number = scipy.ndimage.label(mask, structure)
    found = label_pieces(mask, corners=corners)
    np.testing.assert_array_equal(found.places, places)
    np.testing.assert_array_equal(found.sizes[1:], np.bincount(places.ravel())[1:])
    boxes = scipy.ndimage.find_objects(places)
    assert [found.box(piece) for piece in range(1, number + 1)] == boxes


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.uint32, np.int32, np.int64, np.uint64])
@pytest.mark.parametrize("corners", [False, True])
@pytest.mark.parametrize("seed", range(10))
def test_pieces_of_equal_labels_are_those_of_scikit_image_in_its_order(seed, corners, dtype):
    rng = np.random.default_rng(seed)
    shape = rng.integers(1, 24, rng.integers(1, 4))
    # The image contains cells of two or more voxels, so that runs of all lengths touch without
    # gaps, and noise.
    cells = np.indices(shape) // rng.integers(2, 6)
    labels = (cells * rng.integers(1, 9, (len(shape), *[1] * len(shape)))).sum(axis=0) % 4
    labels = np.where(rng.random(shape) < 0.2, rng.integers(0, 4, shape), labels)
    high = int(np.iinfo(dtype).max)
    values = np.array([0, high, high - 1, high - 55], dtype)
    wanted = label(labels, connectivity=labels.ndim if corners else 1)
    found = label_pieces(values[labels], corners=corners)
    np.testing.assert_array_equal(found.places, wanted)
    np.testing.assert_array_equal(found.sizes[1:], np.bincount(wanted.ravel())[1:])


def test_time_connects_no_pieces():
    found = label_pieces(np.ones((2, 3, 3, 3), bool))
    assert found.number == 2
    assert found.box(2) == (slice(1, 2), *(slice(0, 3),) * 3)


def test_volumes_along_axes_before_the_last_three_share_no_pieces():
    mask = np.ones((2, 3, 2, 2, 2), bool)
    for marks in (mask, mask.astype(np.uint8)):
        found = label_pieces(marks)
        assert found.number == 6
        np.testing.assert_array_equal(found.places[:, :, 0, 0, 0], [[1, 2, 3], [4, 5, 6]])


def test_nothing_has_no_pieces():
    assert label_pieces(np.zeros((4, 0), bool)).number == 0
    assert label_pieces(np.zeros((4, 5), bool)).number == 0


@pytest.mark.parametrize("raters", [1, 8, 11])
def test_finders_are_who_marked_a_piece(raters):
    rng = np.random.default_rng(raters)
    marks = rng.random((raters, 9, 8, 7)) < 0.02
    pieces = label_pieces(marks.any(axis=0))
    found, shared = raters_by_piece(pieces, pack_bits(marks), raters)
    for own, mask in zip(found, marks, strict=True):
        assert set(np.flatnonzero(own)) == set(pieces.places[mask])
    both = pieces.places[marks.sum(axis=0) > 1]
    np.testing.assert_array_equal(shared, np.bincount(both, minlength=pieces.number + 1))


def test_pieces_without_flagged_voxels():
    mask = np.array([1, 0, 1, 1, 0, 1], bool)
    pieces = label_pieces(mask)
    np.testing.assert_array_equal(pieces.without(np.arange(6) == 3), [False, True, False, True])
    np.testing.assert_array_equal(pieces.any_of(pieces.sizes > 1), [0, 0, 1, 1, 0, 0])
