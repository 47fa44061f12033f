"""How training patches are varied: the built-in way, and transforms of MONAI or the user's own."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from cohort_lists import QUICK, abort_after, image_list, label_lists, truth_list

torch = pytest.importorskip("torch")

from itk_consensus.deep.augmentation import augmented, by_transform  # noqa: E402
from itk_consensus.deep.cases import MISSING, Case  # noqa: E402
from itk_consensus.errors import ParameterError  # noqa: E402
from itk_consensus.filters.deep_consensus import DeepConsensusFilter  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::itk_consensus.errors.ConsensusWarning")


def patch(shape, channels=2):
    """Image, raters and truth that hold the same numbers, so that a voxel can be told again."""
    numbers = np.arange(np.prod(shape)).reshape(shape)
    image = np.stack([numbers] * channels).astype(np.float32)
    labels = np.stack([numbers % 251] * 3).astype(np.uint8)
    return Case(image, labels, np.arange(3), (numbers % 251).astype(np.uint8))


@pytest.mark.parametrize("shape", [(8, 8), (4, 6), (4, 8, 8), (8, 4, 6)])
def test_what_is_drawn_stays_where_the_image_shows_it(shape):
    before = patch(shape)
    arrangements = set()
    for seed in range(60):
        after = augmented(before, np.random.default_rng(seed))
        assert after.shape == shape
        assert (after.labels == after.truth).all()
        # A gain and an offset keep the order of the intensities.
        ranks = after.image[0].ravel().argsort().argsort().reshape(shape)
        np.testing.assert_array_equal(ranks % 251, after.truth)
        arrangements.add(after.truth.tobytes())
    turns = 2 if shape[-1] == shape[-2] else 1
    assert len(arrangements) == turns * 2 ** len(shape)


def test_quarter_turns_leave_the_axis_across_slices_alone():
    numbers = np.repeat(np.arange(4), 64).reshape(4, 8, 8)
    thick = Case(patch((4, 8, 8)).image, numbers[None].astype(np.uint8), np.arange(1))
    for seed in range(20):
        labels = augmented(thick, np.random.default_rng(seed)).labels[0]
        assert (labels == labels[:, :1, :1]).all()


def monai_transforms():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        transforms = pytest.importorskip("monai.transforms")
    keys = ("image", "labels", "truth")
    return transforms.Compose(
        [
            transforms.RandRotate90d(keys, prob=0.8, max_k=2),
            transforms.RandAffined(
                keys,
                prob=0.8,
                rotate_range=0.2,
                mode=("bilinear", "nearest", "nearest"),
                padding_mode="border",
            ),
            transforms.RandGaussianNoised("image", prob=0.5),
        ]
    )


@pytest.mark.filterwarnings("ignore")  # MONAI's own
def test_transforms_of_monai_train_and_resume_to_the_same_weights(cohort, tmp_path):
    square = [image[:, :24] for image in image_list(cohort)]
    drawn = [[one[:, :24] for one in raters] for raters in label_lists(cohort)]
    truths = [truth[:, :24] for truth in truth_list(cohort)]

    def trained(stop_after, **options):
        filter_ = DeepConsensusFilter(**QUICK)
        abort_after(filter_, stop_after)
        filter_.Fit(square, drawn, truths, **options)
        filter_.Save(tmp_path / "model")
        return (tmp_path / "model").read_bytes()

    whole = trained(1000, transform=monai_transforms())
    trained(7, transform=monai_transforms(), checkpoint=tmp_path / "state")
    resumed = trained(1000, transform=monai_transforms(), checkpoint=tmp_path / "state")
    assert resumed == whole
    assert trained(1000) != whole


def test_a_transform_that_draws_numbers_of_torch_is_seeded_too(cohort):
    def noisy(given):
        return {**given, "image": given["image"] + torch.rand(1).item()}

    found = []
    for _ in range(2):
        filter_ = DeepConsensusFilter(**{**QUICK, "NumberOfIterations": 2})
        torch.rand(3)
        filter_.Fit(image_list(cohort), label_lists(cohort), transform=noisy)
        filter_.Execute(cohort.images[0, 0], label_lists(cohort)[0])
        found.append(filter_.GetProbabilityImage(1))
    np.testing.assert_array_equal(*found)


def test_a_transform_sees_a_patch_of_its_own_and_missing_labels():
    before = patch((8, 8))
    before.labels[1] = MISSING

    def spoil(given):
        assert (given["labels"][1] == MISSING).all()
        assert given["truth"].shape == (1, 8, 8)
        given["image"] *= 0
        return given

    after = by_transform(spoil, "any")(before, np.random.default_rng(0))
    assert not after.image.any()
    assert before.image.any()
    np.testing.assert_array_equal(after.truth, before.truth)


@pytest.mark.parametrize(
    ("transform", "message"),
    [
        (5, "transform must be callable, got 5"),
        (lambda given: None, "transform must return a dict with image"),
        (lambda given: {"image": given["image"]}, "must return a dict with labels"),
        (
            lambda given: {**given, "labels": given["labels"][:, :4]},
            r"keep the shape of labels, \(5, 24, 28\), got \(5, 4, 28\)",
        ),
    ],
)
def test_a_transform_that_does_not_fit_is_refused(cohort, transform, message):
    with pytest.raises(ParameterError, match=message):
        DeepConsensusFilter(**QUICK).Fit(
            image_list(cohort), label_lists(cohort), transform=transform
        )
