"""Search, weights and votes of patches, compared with a voxel-by-voxel implementation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import scipy

from itk_consensus.core.errors import InputError
from itk_consensus.core.work import working
from itk_consensus.methods.atlas.patch_fusion import patch_fusion
from itk_consensus.votes.fields.patches import (
    PatchRule,
    PatchVotes,
    ScaledImage,
    nearest_first,
    patch_votes,
)
from itk_consensus.votes.label_stack import LabelStack
from itk_consensus.votes.ties import BACKGROUND, UNDECIDED

SHAPE = (5, 6, 7)
ATLASES = 4


class Case:
    """A target, its atlases by modality, and their labels."""

    def __init__(self, seed: int, shape: tuple[int, ...] = SHAPE, modalities: int = 1) -> None:
        rng = np.random.default_rng(seed)
        self.target = list(rng.normal(size=(modalities, *shape)).astype(np.float32))
        self.atlases = [
            [
                (image + rng.normal(0, 0.7, shape)).astype(np.float32) * (1 + number)
                for image in self.target
            ]
            for number in range(ATLASES)
        ]
        self.maps = list(rng.integers(0, 3, (ATLASES, *shape)).astype(np.uint8))
        agreed = rng.random(shape) < 0.3
        for labels in self.maps:
            labels[agreed] = self.maps[0][agreed]

    def votes(self, rule: PatchRule, stack: LabelStack | None = None, **more: Any) -> PatchVotes:
        target = [ScaledImage(image, 0.0, 1.0) for image in self.target]
        atlases = [[ScaledImage(image, 0.0, 1.0) for image in images] for images in self.atlases]
        return patch_votes(stack or LabelStack.multilabel(self.maps), target, atlases, rule, **more)

    def part(self, place: Any) -> Case:
        """Return the case restricted to a part of the volume."""
        part = Case.__new__(Case)
        part.target = [np.ascontiguousarray(image[place]) for image in self.target]
        part.atlases = [[np.ascontiguousarray(i[place]) for i in one] for one in self.atlases]
        part.maps = [np.ascontiguousarray(labels[place]) for labels in self.maps]
        return part


#: Weight of the means of patches relative to their normalised values.
TOLD_BY_MEANS = 2e-3


def looked_at(image: np.ndarray, place: Any, patch: np.ndarray) -> np.ndarray:
    """Return the values around a place; edge voxels are repeated beyond the border."""
    inside = np.clip(np.asarray(place) + patch, 0, np.array(image.shape) - 1)
    return image[tuple(inside.T)].astype(float)


def normal(values: np.ndarray, rule: PatchRule) -> np.ndarray:
    if not rule.normalised:
        return values
    return (values - values.mean()) / max(values.std(ddof=1), rule.smallest_spread)


def weights_of(errors: np.ndarray, rule: PatchRule, modalities: int) -> np.ndarray:
    """Return weights from (J, n) absolute errors of all modalities."""
    means = errors @ errors.T / (errors.shape[1] - modalities)
    if not rule.joint:
        return (1 + np.diag(means) / rule.alpha) ** -rule.beta
    matrix = means**rule.beta + rule.alpha * np.eye(len(means))
    if rule.constrained:
        # Minimise w' M w / 2 - sum of w, written as least squares with the root of M.
        root = np.linalg.cholesky(matrix)
        found, _ = scipy.optimize.nnls(root.T, np.linalg.solve(root, np.ones(len(means))))
    else:
        found = np.maximum(np.linalg.solve(matrix, np.ones(len(means))), 0)
    return found / found.sum()


def means(one: list[np.ndarray], other: list[np.ndarray]) -> float:
    """Return the squared differences of the patches' means, summed over modalities and weighted by
    the number of voxels.
    """
    pairs = zip(one, other, strict=True)
    return float(sum(a.size * (a.mean() - b.mean()) ** 2 for a, b in pairs))


def found_patches(case: Case, rule: PatchRule) -> Iterator[tuple[Any, np.ndarray, np.ndarray]]:
    """Yield each voxel with the shift and the weight of every atlas."""
    patch, search = nearest_first(rule.patch), nearest_first(rule.search)
    for place in np.ndindex(case.maps[0].shape):
        own = [looked_at(t, place, patch) for t in case.target]
        goal = np.concatenate([normal(values, rule) for values in own])
        shifts, errors = [], []
        for images in case.atlases:
            seen = [[looked_at(i, place + s, patch) for i in images] for s in search]
            candidates = [np.concatenate([normal(v, rule) for v in one]) for one in seen]
            apart = np.array([np.square(candidate - goal).sum() for candidate in candidates])
            if rule.normalised:
                apart += [TOLD_BY_MEANS * means(one, own) for one in seen]
            nearest = int(apart.argmin())
            shifts.append(search[nearest])
            errors.append(np.abs(candidates[nearest] - goal))
        yield place, np.array(shifts), weights_of(np.array(errors), rule, len(case.target))


def slowly(case: Case, rule: PatchRule, own: Any = 1.0) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return (3, *shape) summed weights of labels, and fused images."""
    shape = case.maps[0].shape
    sums, images = np.zeros((3, *shape)), [np.zeros(shape) for _ in case.target]
    last = np.array(shape) - 1
    for place, shifts, found in found_patches(case, rule):
        weights = found * own
        for step in nearest_first(rule.patch):
            at = np.array(place) + step
            if (at < 0).any() or (at > last).any():
                continue
            for atlas, weight in enumerate(weights):
                there = tuple(np.clip(at + shifts[atlas], 0, last))
                sums[(case.maps[atlas][there], *at)] += weight
                for image, given in zip(images, case.atlases[atlas], strict=True):
                    image[tuple(at)] += weight * given[there]
    return sums, [image / sums.sum(axis=0) for image in images]


def places_of(votes: PatchVotes) -> np.ndarray:
    """Return the (N,) voxels that were computed."""
    return np.concatenate([part.places for part in votes.parts])


def shares_of(votes: PatchVotes, labels: int = 3) -> np.ndarray:
    """Return (labels, N) shares at the voxels that were computed."""
    parts = [np.zeros((labels, len(part.places))) for part in votes.parts]
    for shares, part in zip(parts, votes.parts, strict=True):
        rows = np.repeat(np.arange(len(part.places)), part.numbers)
        shares[part.labels, rows] = part.shares
    return np.concatenate(parts, axis=1)


def expected_shares(sums: np.ndarray, votes: PatchVotes) -> np.ndarray:
    shares = sums / np.maximum(sums.sum(axis=0), 1e-30)
    return np.asarray(shares.reshape(3, -1)[:, places_of(votes)])


AS_IT_COMES = PatchRule((1, 1, 1), (1, 1, 1))
RULES = {
    "as it comes": AS_IT_COMES,
    "unequal radii": PatchRule((0, 1, 2), (1, 0, 2), beta=1.0, alpha=0.3),
    "no search": PatchRule((1, 1, 1), (0, 0, 0), beta=1.5),
    "constrained": PatchRule((1, 1, 1), (1, 1, 0), alpha=0.01, constrained=True),
    "plain differences": PatchRule((1, 1, 1), (1, 1, 1), normalised=False),
    "flat patches": PatchRule((1, 1, 1), (1, 1, 1), smallest_spread=1.1),
    "each by itself": PatchRule((1, 1, 1), (1, 1, 1), joint=False),
    "seven wide": PatchRule((3, 0, 3), (1, 0, 0)),
}


@pytest.mark.parametrize("name", RULES)
def test_shares_are_those_of_the_slow_way(name: str) -> None:
    case, rule = Case(len(name)), RULES[name]
    votes = case.votes(rule)
    expected = expected_shares(slowly(case, rule)[0], votes)
    np.testing.assert_allclose(shares_of(votes), expected, atol=2e-4)
    second, first = np.sort(expected, axis=0)[-2:]
    clear = first - second > 1e-3
    winners = votes.decision.reshape(-1)[places_of(votes)]
    np.testing.assert_array_equal(winners[clear], expected.argmax(axis=0)[clear])
    disputed = np.any([labels != case.maps[0] for labels in case.maps], axis=0)
    np.testing.assert_array_equal(np.sort(places_of(votes)), np.flatnonzero(disputed))
    np.testing.assert_array_equal(votes.decision[~disputed], case.maps[0][~disputed])


def test_modalities_count_together_and_images_are_fused() -> None:
    case = Case(11, modalities=2)
    votes = case.votes(AS_IT_COMES, fuse_images=True)
    sums, images = slowly(case, AS_IT_COMES)
    np.testing.assert_allclose(shares_of(votes), expected_shares(sums, votes), atol=2e-4)
    for ours, theirs in zip(votes.images, images, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=2e-3)


def test_own_weights_multiply_those_of_images() -> None:
    case, rule = Case(12), PatchRule((1, 1, 1), (0, 0, 0))
    own = np.array([1.0, 0.0, 2.0, 0.5])
    votes = case.votes(rule, weights=own.tolist())
    expected = expected_shares(slowly(case, rule, own)[0], votes)
    np.testing.assert_allclose(shares_of(votes), expected, atol=2e-4)
    assert votes.weights[1] == 0


def test_an_excluded_label_is_nowhere_and_the_next_one_wins() -> None:
    case = Case(13)
    where = np.zeros(SHAPE, np.uint8)
    where[:, :3] = 1
    votes = case.votes(AS_IT_COMES, exclusions={1: where})
    assert not (votes.decision[:, :3] == 1).any()
    sums, _ = slowly(case, AS_IT_COMES)
    sums[1][where != 0] = 0
    np.testing.assert_allclose(shares_of(votes), expected_shares(sums, votes), atol=2e-4)
    agreed = np.all([labels == 1 for labels in case.maps], axis=0) & (where != 0)
    assert agreed.any()
    assert np.isin(np.flatnonzero(agreed), places_of(votes)).all()
    everywhere = {label: np.ones(SHAPE, np.uint8) for label in range(3)}
    assert (case.votes(AS_IT_COMES, exclusions=everywhere).decision == BACKGROUND).all()


def test_neither_tiles_nor_threads_show_in_a_result() -> None:
    case = Case(14, (9, 10, 11))
    for rule in (PatchRule((1, 1, 1), (2, 2, 2)), PatchRule((2, 2, 2), (0, 0, 0))):
        whole = case.votes(rule, fuse_images=True)
        for tile, threads in (((4, 3, 5), 1), ((4, 3, 5), 2), ((4, 3, 5), 7)):
            with working(threads=threads):
                other = case.votes(rule, tile=tile, fuse_images=True)
            np.testing.assert_array_equal(other.decision, whole.decision)
            np.testing.assert_array_equal(other.images[0], whole.images[0])
            order, usual = np.argsort(places_of(other)), np.argsort(places_of(whole))
            np.testing.assert_array_equal(shares_of(other)[:, order], shares_of(whole)[:, usual])


def test_a_part_of_a_volume_gives_what_the_whole_gives_there() -> None:
    case = Case(15, (6, 30, 40))
    whole = case.votes(AS_IT_COMES)
    part = (slice(None), slice(5, 25), slice(4, 34))
    inside = (slice(None), slice(3, -3), slice(3, -3))
    alone = case.part(part).votes(AS_IT_COMES)
    np.testing.assert_array_equal(alone.decision[inside], whole.decision[part][inside])


def test_volumes_of_a_sequence_do_not_share_patches() -> None:
    case = Case(16, (2, 5, 6, 7))
    both = case.votes(PatchRule((0, 1, 1, 1), (0, 1, 1, 1)))
    for number in range(2):
        alone = case.part(number).votes(AS_IT_COMES)
        np.testing.assert_array_equal(alone.decision, both.decision[number])


def test_images_of_two_dimensions_are_one_plane() -> None:
    case, rule = Case(17, (9, 12)), PatchRule((1, 1), (2, 1))
    votes = case.votes(rule)
    expected = expected_shares(slowly(case, rule)[0], votes)
    np.testing.assert_allclose(shares_of(votes), expected, atol=2e-4)


@pytest.mark.parametrize("kind", ["u1", "i1", "u2", "i2", "u4", "i4", "i8", "f2", "f4", ">f4"])
def test_images_of_every_type_are_read_alike(kind: str) -> None:
    case = Case(18)

    def whole(image: np.ndarray, dtype: str) -> np.ndarray:
        return np.round(20 * image + 60).clip(0, 120).astype(dtype)

    given = case.target, case.atlases
    decisions = []
    for dtype in ("f8", kind):
        case.target = [whole(image, dtype) for image in given[0]]
        case.atlases = [[whole(image, dtype) for image in images] for images in given[1]]
        decisions.append(case.votes(AS_IT_COMES).decision)
    np.testing.assert_array_equal(*decisions)


def test_missing_votes_and_masks_are_left_out() -> None:
    case = Case(19)
    maps = [labels.copy() for labels in case.maps]
    for labels in maps:
        labels[:2] = 9
    maps[0][:] = 9
    mask = np.ones(SHAPE, np.uint8)
    mask[:, :, :2] = 0
    votes = case.votes(AS_IT_COMES, LabelStack.multilabel(maps, missing_label=9, mask=mask))
    assert (votes.decision[:, :, :2] == BACKGROUND).all()
    assert (votes.decision[:2, :, 2:] == UNDECIDED).all()
    assert (votes.decision[2:, :, 2:] >= 0).all()
    np.testing.assert_allclose(shares_of(votes).sum(axis=0), 1, atol=1e-5)


def test_equal_images_make_the_plain_vote() -> None:
    case = Case(20)
    case.atlases = [case.target for _ in case.atlases]
    votes = case.votes(PatchRule((0, 0, 0), (0, 0, 0)))
    counts = np.stack([np.sum([m == k for m in case.maps], axis=0) for k in range(3)])
    np.testing.assert_array_equal(votes.decision, counts.argmax(axis=0))
    np.testing.assert_allclose(votes.weights / votes.weights.sum(), 1 / ATLASES)


def test_images_without_contrast_are_met_and_atlases_without_images_refused() -> None:
    case = Case(21)
    flat = np.full(SHAPE, 7.0)
    fused = patch_fusion(LabelStack.multilabel(case.maps), [flat], [[flat]] * 4, AS_IT_COMES)
    np.testing.assert_allclose(fused.mean_weights, 1 / ATLASES)
    case.atlases.pop()
    with pytest.raises(InputError, match="every present atlas must have an image"):
        case.votes(AS_IT_COMES)
