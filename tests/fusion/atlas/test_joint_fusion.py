"""Joint fusion's weights against a brute-force reference, voxel by voxel."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from itk_consensus.errors import InputError
from itk_consensus.fusion.atlas.atlas_images import ComparableImages
from itk_consensus.fusion.atlas.joint_fusion import JointSettings, joint_weights
from itk_consensus.work import working


def images(shape: tuple[int, ...], atlases: int = 4, seed: int = 0) -> ComparableImages:
    rng = np.random.default_rng(seed)
    target, *others = rng.normal(size=(atlases + 1, *shape)).astype(np.float32)
    return ComparableImages(target, [target + 0.5 * other for other in others])


def reference(
    given: ComparableImages, place: tuple[int, ...], settings: JointSettings
) -> tuple[np.ndarray, list[tuple[int, ...]]]:
    """The formula as the paper has it; the last voxel goes on beyond the border."""
    reach = [p + s for p, s in zip(settings.patch, settings.search, strict=True)]
    pads = [(r, r) for r in reach]
    target = np.pad(given.target.astype(float), pads, "edge")
    shifts = sorted(
        product(*(range(-s, s + 1) for s in settings.search)), key=lambda s: sum(k * k for k in s)
    )

    def patch(volume: np.ndarray, shift: tuple[int, ...]) -> np.ndarray:
        return volume[
            tuple(
                slice(at + r + k - p, at + r + k + p + 1)
                for at, r, k, p in zip(place, reach, shift, settings.patch, strict=True)
            )
        ]

    here = patch(target, (0,) * len(place))
    differences, chosen = [], []
    for atlas in given.atlases:
        padded = np.pad(atlas.astype(float), pads, "edge")
        best = min(shifts, key=lambda shift: np.square(here - patch(padded, shift)).sum())
        chosen.append(best)
        differences.append(np.abs(here - patch(padded, best)).ravel())
    matrix = (np.array(differences) @ np.array(differences).T) ** settings.beta
    solved = np.linalg.solve(matrix + settings.alpha * np.eye(len(matrix)), np.ones(len(matrix)))
    return solved / solved.sum(), chosen


@pytest.mark.parametrize(
    ("shape", "patch", "search"),
    [
        ((6, 7), (1, 1), (0, 0)),
        ((5, 6, 7), (1, 2, 1), (0, 0, 0)),
        ((5, 6, 7), (2, 2, 2), (1, 1, 1)),
        ((4, 5, 6), (0, 1, 1), (2, 1, 0)),
        ((2, 4, 5, 5), (0, 1, 1, 1), (0, 1, 1, 1)),
    ],
)
@pytest.mark.parametrize(("beta", "alpha"), [(2.0, 0.1), (1.0, 0.5), (4.0, 0.01)])
def test_weights_and_shifts_are_those_of_the_formula(
    shape: tuple[int, ...],
    patch: tuple[int, ...],
    search: tuple[int, ...],
    beta: float,
    alpha: float,
) -> None:
    given, settings = images(shape), JointSettings(patch, search, beta, alpha)
    places = np.random.default_rng(1).choice(int(np.prod(shape)), 20, replace=False)
    weights, shifts = joint_weights(given, places, settings)
    for row, flat in enumerate(places):
        place = tuple(int(at) for at in np.unravel_index(flat, shape))
        expected, chosen = reference(given, place, settings)
        np.testing.assert_allclose(weights[row], expected, rtol=1e-5, atol=1e-5)
        assert [tuple(shift) for shift in shifts[row].tolist()] == chosen


def test_weights_do_not_depend_on_threads() -> None:
    given, places = images((9, 10, 11)), np.arange(990)
    settings = JointSettings((1, 1, 1), (1, 1, 1))
    one, four = (working(threads=n)(joint_weights)(given, places, settings) for n in (1, 4))
    np.testing.assert_array_equal(one.weights, four.weights)
    np.testing.assert_array_equal(one.shifts, four.shifts)


def test_copies_of_one_atlas_share_one_voice() -> None:
    target, (first, second, *_) = images((8, 8, 8))
    settings, places = JointSettings((1, 1, 1), (0, 0, 0), alpha=1e-6), np.arange(512)
    twice, once = [first, first, second], [first, second]
    weights, _ = joint_weights(ComparableImages(target, twice), places, settings)
    pair, _ = joint_weights(ComparableImages(target, once), places, settings)
    np.testing.assert_allclose(weights[:, 0] + weights[:, 1], pair[:, 0], atol=1e-3)


def test_atlases_that_equal_the_target_count_alike() -> None:
    target = images((5, 5)).target
    weights, _ = joint_weights(
        ComparableImages(target, [target] * 4), np.arange(25), JointSettings((1, 1), (0, 0))
    )
    np.testing.assert_allclose(weights, 0.25)


def test_missing_atlases_and_no_conditioning_are_refused() -> None:
    given = images((5, 5))
    for wrong, alpha in ((given._replace(atlases=[None, given.target]), 0.1), (given, 0.0)):
        with pytest.raises(InputError, match="joint_weights: every atlas must have an image"):
            joint_weights(wrong, np.arange(3), JointSettings((1, 1), (0, 0), alpha=alpha))
