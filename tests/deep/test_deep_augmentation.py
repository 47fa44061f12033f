"""Augmentation of training patches: built in, by MONAI's transforms, or by the user's own."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from cohort_lists import QUICK, abort_after, image_list, label_lists, truth_list

torch = pytest.importorskip("torch")

from itk_consensus.core.errors import ParameterError  # noqa: E402
from itk_consensus.deep.augmentation import (  # noqa: E402
    BuiltInAugmentation,
    augmentation_from_transform,
    resample,
    unoriented_axes,
)
from itk_consensus.deep.cases import MISSING, Case  # noqa: E402
from itk_consensus.deep.deep_consensus_filter import DeepConsensusFilter  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::itk_consensus.core.errors.ConsensusWarning")


def patch(shape, channels=2):
    """Return image, raters and reference with the same values, so that each voxel can be
    identified.
    """
    numbers = np.arange(np.prod(shape)).reshape(shape)
    image = np.stack([numbers] * channels).astype(np.float32)
    labels = np.stack([numbers % 251] * 3).astype(np.uint8)
    return Case(image, labels, np.arange(3), (numbers % 251).astype(np.uint8))


def augmentation(dimension, mirrored=None):
    every = tuple(range(-dimension, 0))
    return BuiltInAugmentation(every if mirrored is None else mirrored, (1.0,) * dimension)


@pytest.fixture
def rigid(monkeypatch):
    """Restrict augmentation to mirroring, rotation and monotonic changes of intensity."""
    for name, value in {"_BENT_PATCHES": 0.0, "_CHANGED_CHANNELS": 0.0}.items():
        monkeypatch.setattr(f"itk_consensus.deep.augmentation.{name}", value)


@pytest.mark.parametrize("shape", [(8, 8), (4, 6), (4, 8, 8), (8, 4, 6)])
def test_what_is_drawn_stays_where_the_image_shows_it(rigid, shape):
    before = patch(shape)
    arrangements = set()
    for seed in range(60):
        after = augmentation(len(shape))(before, np.random.default_rng(seed))
        assert after.shape == shape
        assert (after.labels == after.truth).all()
        # A gain and an offset preserve the order of the intensities.
        ranks = after.image[0].ravel().argsort().argsort().reshape(shape)
        np.testing.assert_array_equal(ranks % 251, after.truth)
        arrangements.add(after.truth.tobytes())
    turns = 2 if shape[-1] == shape[-2] else 1
    assert len(arrangements) == turns * 2 ** len(shape)


def test_quarter_turns_leave_the_axis_across_slices_alone(rigid):
    numbers = np.repeat(np.arange(4), 64).reshape(4, 8, 8)
    thick = Case(patch((4, 8, 8)).image, numbers[None].astype(np.uint8), np.arange(1))
    for seed in range(20):
        labels = augmentation(3)(thick, np.random.default_rng(seed)).labels[0]
        assert (labels == labels[:, :1, :1]).all()


@pytest.mark.parametrize("shape", [(40, 40), (24, 28, 20)])
def test_bent_patches_keep_image_raters_truth_and_prior_together(shape):
    inside = np.linalg.norm(np.indices(shape).T - np.array(shape) / 2, axis=-1).T < 8
    mask = inside.astype(np.uint8)
    prior = np.stack([1.0 - inside, inside]).astype(np.float32)
    disc = Case(
        10 * inside[None].astype(np.float32), np.stack([mask] * 2), np.arange(2), mask, prior
    )
    moved = 0
    for seed in range(12):
        after = augmentation(len(shape))(disc, np.random.default_rng(seed))
        known = after.truth != MISSING
        # Interpolation changes only voxels at the border, so the other voxels agree with the truth.
        for seen in (after.image[0] > 5, after.prior[1] > 0.5):
            assert (seen[known] == (after.truth[known] == 1)).mean() > 0.97
        assert (after.labels == after.truth).all()
        moved += (after.truth != mask).any()
    assert moved > 3


def test_beyond_the_patch_nothing_is_known():
    before = patch((8, 8))
    places = np.indices((8, 8)).astype(np.float32) + np.float32(4)
    after = resample(before, places)
    np.testing.assert_array_equal(after.truth[:4, :4], before.truth[4:, 4:])
    assert (after.truth[4:] == MISSING).all()
    assert (after.labels[:, :, 4:] == MISSING).all()


def test_thick_slices_are_not_turned_into_the_plane():
    lines = np.repeat(np.arange(6), 400).reshape(6, 20, 20).astype(np.uint8)
    thick = Case(lines[None].astype(np.float32), lines[None], np.arange(1))
    bend = BuiltInAugmentation((), (50.0, 1.0, 1.0))
    for seed in range(10):
        labels = bend(thick, np.random.default_rng(seed)).labels[0]
        known = np.where(labels == MISSING, -1, labels.astype(int))
        for plane in known:
            assert len(set(plane[plane >= 0].tolist())) <= 2  # scaled and deformed, but not rotated


def leaning_cases(rng, sides):
    """Return cases whose structure is above the middle of the first axis, or on random sides."""
    for side in sides:
        labels = np.zeros((2, 20, 20), np.uint8)
        row, column = (3 if side else 13), rng.integers(3, 14)
        labels[:, row : row + 4, column : column + 4] = 1
        yield Case(rng.normal(size=(1, 20, 20)).astype(np.float32), labels, np.arange(2))


def test_an_axis_along_which_all_cases_lean_alike_is_not_mirrored():
    rng = np.random.default_rng(0)
    assert unoriented_axes(leaning_cases(rng, [True] * 20), 2) == (-1,)
    assert unoriented_axes(leaning_cases(rng, [True, False] * 10), 2) == (-2, -1)
    # A few cases are not enough to decide.
    assert unoriented_axes(leaning_cases(rng, [True] * 5), 2) == (-2, -1)


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


@pytest.mark.filterwarnings("ignore")  # MONAI emits warnings
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

    after = augmentation_from_transform(spoil, "any")(before, np.random.default_rng(0))
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
