"""Multi-atlas cases: properties of the true segmentation and of the atlases."""

from __future__ import annotations

import numpy as np
import pytest
import SimpleITK as sitk

from itk_consensus.core.errors import ParameterError
from itk_consensus.simulation.atlas_phantoms import atlas_case, atlas_labels

SHAPE = (24, 28, 20)


def test_every_parcel_occurs_inside_an_ellipsoid_of_background() -> None:
    truth = atlas_labels(2101, SHAPE, labels=9, atlases=1).truth
    assert sorted(set(truth.ravel().tolist())) == list(range(10))
    border = np.ones(SHAPE, bool)
    border[1:-1, 1:-1, 1:-1] = False
    assert not truth[border].any()
    ellipsoid = 4 / 3 * np.pi * 0.42**3
    assert (truth > 0).mean() == pytest.approx(ellipsoid, rel=0.05)


def test_parcels_are_the_cells_of_a_distance_map() -> None:
    """A Voronoi cell is star-shaped around its seed, hence connected."""
    truth = atlas_labels(2102, SHAPE, labels=6, atlases=0).truth
    for label in range(1, 7):
        pieces = sitk.ConnectedComponent(sitk.GetImageFromArray((truth == label).astype("u1")))
        assert sitk.GetArrayFromImage(pieces).max() == 1


def test_without_displacement_every_atlas_is_the_truth() -> None:
    truth, maps = atlas_labels(2103, SHAPE, labels=5, atlases=3, amplitude=0.0)
    for atlas in maps:
        np.testing.assert_array_equal(atlas, truth)


def test_atlases_differ_and_err_more_with_amplitude() -> None:
    errors = []
    for amplitude in (1.0, 4.0):
        truth, maps = atlas_labels(2104, SHAPE, labels=5, atlases=4, amplitude=amplitude)
        assert len({atlas.tobytes() for atlas in maps}) == 4
        errors.append(np.mean([(atlas != truth).mean() for atlas in maps]))
    assert 0 < errors[0] < errors[1] < 0.5


def test_labels_are_the_same_with_images_and_a_function_of_the_seed() -> None:
    case = atlas_case(2105, SHAPE, labels=4, atlases=2)
    plain = atlas_labels(2105, SHAPE, labels=4, atlases=2)
    np.testing.assert_array_equal(case.truth, plain.truth)
    np.testing.assert_array_equal(case.maps, plain.maps)
    assert (atlas_labels(2106, SHAPE, labels=4, atlases=0).truth != plain.truth).any()


def test_images_show_the_parcels_under_bias_and_noise() -> None:
    truth, target, images, maps = atlas_case(2107, SHAPE, 4, 2, noise=2.0, bias=0.0)
    for image, labels in [(target, truth), *zip(images, maps, strict=True)]:
        assert image.dtype == np.float32
        assert image[labels == 0].mean() < 15
        assert all(image[labels == label].mean() > 40 for label in range(1, 5))


def test_many_labels_widen_the_type_and_too_many_are_refused() -> None:
    assert atlas_labels(2108, SHAPE, labels=300, atlases=0).truth.dtype == np.uint16
    with pytest.raises(ParameterError, match="labels must be 1 to"):
        atlas_labels(2109, (6, 6), labels=100, atlases=0)
