from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from skimage.measure import label, regionprops

from itk_consensus.methods.lesions.objects import RaterObjects, number_objects


@pytest.mark.parametrize("shape", [(40,), (23, 31), (7, 9, 11)], ids=["1D", "2D", "3D"])
@pytest.mark.parametrize("values", [2, 3, 6])
def test_pieces_of_each_label_are_those_of_scikit_image(shape, values):
    for seed in range(10):
        labels = np.random.default_rng(seed).integers(0, values, shape)
        wanted, number = label(labels, connectivity=len(shape), return_num=True)
        found = number_objects(labels, "components")
        assert found.number == number
        pairs = set(zip(found.places.ravel().tolist(), wanted.ravel().tolist(), strict=True))
        assert len(pairs) == number + len({0} & set(found.places.ravel().tolist()))


@given(st.integers(0, 1000))
def test_names_of_labels_do_not_matter(seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 5, (8, 9))
    names = np.append(0, 1 + rng.permutation(100)[:4])
    for kind in ("components", "labels"):
        one, other = (number_objects(each, kind) for each in (labels, names[labels]))
        np.testing.assert_array_equal(one.places, other.places)


def test_one_label_in_pieces_is_one_object_if_asked():
    labels = np.array([[3, 0, 3, 0, 7], [0, 0, 0, 0, 7]])
    assert number_objects(labels, "components").number == 3
    np.testing.assert_array_equal(
        number_objects(labels, "labels").places, [[1, 0, 1, 0, 2], [0, 0, 0, 0, 2]]
    )


def test_time_connects_nothing():
    labels = np.ones((3, 2, 2, 2), np.uint8)
    assert number_objects(labels, "components").number == 3
    labels[1] = 2
    assert number_objects(labels, "components").number == 3


def test_volumes_of_five_axes_share_no_object():
    labels = np.ones((2, 2, 3, 3, 3), np.uint8)
    assert number_objects(labels, "components").number == 4
    labels[..., 1] = 2
    assert number_objects(labels, "components").number == 12


def test_sizes_and_middles_are_those_of_scikit_image():
    rng = np.random.default_rng(1)
    maps = [number_objects(rng.integers(0, 3, (6, 7, 8)), "components") for _ in range(3)]
    objects = RaterObjects.of(maps)
    wanted = [region for one in maps for region in regionprops(one.places)]
    np.testing.assert_array_equal(objects.voxels, [region.area for region in wanted])
    np.testing.assert_allclose(objects.middle, [region.centroid for region in wanted])
    assert objects.rater.tolist() == [j for j, one in enumerate(maps) for _ in range(one.number)]


def test_an_empty_map_has_no_objects():
    empty = number_objects(np.zeros((4, 5), np.uint8), "components")
    assert empty.number == 0
    assert RaterObjects.of([empty, empty]).number == 0
