from __future__ import annotations

import numpy as np
import pytest
import SimpleITK as sitk

from itk_consensus.methods.selection.boundary_simple.edge_agreement import (
    edge_agreement,
    edge_strength,
)
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.disputed_voxels import DisputedVoxels
from itk_consensus.votes.label_stack import LabelStack


def disputed(raters, radii):
    stack = LabelStack.multilabel([np.asarray(rater, np.uint8) for rater in raters])
    patterns = DecisionPatterns.from_stack(stack)
    return DisputedVoxels(patterns, patterns.disputed_region(radii))


def stripes():
    """Return an image with a step at column 10, and raters whose masks end at, 2 and 4 columns
    after it.
    """
    image = np.zeros((12, 30))
    image[:, :10] = 5.0
    return image, [np.broadcast_to(np.arange(30) < end, image.shape) for end in (10, 12, 14)]


def test_a_contour_on_the_edge_agrees_most():
    image, raters = stripes()
    voxels = disputed(raters, (6, 6))
    agreement = edge_agreement(voxels, image, (6, 6), (1.0, 1.0), 1.0)
    assert agreement.shape == (3, len(voxels.places))
    assert (agreement[0] > agreement[1]).all()
    assert (agreement[1] >= agreement[2]).all()
    assert ((agreement >= 0) & (agreement <= 1 + 1e-12)).all()


def test_brightness_and_contrast_do_not_matter():
    image, raters = stripes()
    voxels = disputed(raters, (6, 6))
    one, other = (
        edge_agreement(voxels, picture, (6, 6), (1.0, 1.0), 1.0)
        for picture in (image, 1000.0 - 40.0 * image)
    )
    np.testing.assert_allclose(one, other, atol=1e-9)


def test_an_image_without_edges_favours_nobody():
    image, raters = stripes()
    voxels = disputed(raters, (3, 3))
    agreement = edge_agreement(voxels, np.full_like(image, 7.0), (3, 3), (1.0, 1.0), 1.0)
    np.testing.assert_array_equal(agreement, 0.0)


@pytest.mark.parametrize("spacing", [(1.0, 1.0, 1.0), (2.0, 0.7, 1.3)])
def test_edges_of_a_box_are_those_of_the_whole_image(spacing):
    image = np.random.default_rng(0).normal(size=(20, 24, 28))
    box = (slice(3, 12), slice(9, 20), slice(0, 17))
    whole = edge_strength(image, tuple(slice(0, n) for n in image.shape), spacing, 1.4)
    part = edge_strength(image, box, spacing, 1.4)
    ratio = part / whole[box]
    np.testing.assert_allclose(ratio, ratio.flat[0], rtol=1e-9)


def test_edge_strength_is_simpleitks_gradient_magnitude_up_to_scale():
    spacing = (2.0, 0.7, 1.3)
    image = np.random.default_rng(0).normal(size=(20, 24, 28))
    reference = sitk.GetImageFromArray(image)
    reference.SetSpacing(spacing[::-1])
    magnitude = sitk.GetArrayFromImage(sitk.GradientMagnitude(reference))
    everywhere = tuple(slice(0, n) for n in image.shape)
    # Values at the border are extrapolated differently, and values are divided by their standard
    # deviation.
    inner = (slice(1, -1),) * 3
    ratio = edge_strength(image, everywhere, spacing, 0.0)[inner] / magnitude[inner]
    np.testing.assert_allclose(ratio, ratio.flat[0], rtol=1e-5)


def test_volumes_of_a_4d_image_do_not_see_each_other():
    image, raters = stripes()
    flat = np.zeros_like(image)
    stack = np.stack([image, flat])[:, None]
    doubled = [np.stack([rater, rater])[:, None] for rater in raters]
    voxels = disputed(doubled, (0, 0, 6, 6))
    agreement = edge_agreement(voxels, stack, (0, 0, 6, 6), (1.0,) * 4, 1.0)
    first, second = np.split(agreement, 2, axis=1)
    alone = edge_agreement(disputed(raters, (6, 6)), image, (6, 6), (1.0, 1.0), 1.0)
    np.testing.assert_allclose(first, alone, atol=1e-9)
    np.testing.assert_array_equal(second, 0.0)
