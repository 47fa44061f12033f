"""Laws declared by filters with default parameters, tested on grids of any spacing.

The fast suite tests a few stacks, some of which violated a law before; the slow one tests 200.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest
import SimpleITK as sitk
from scipy.ndimage import gaussian_filter

from itk_consensus import (
    ConsensusFilter,
    IntensityRefinementFilter,
    JointLabelFusionFilter,
    LocallyWeightedVoteFilter,
)
from itk_consensus.fusing.label_fusion import LabelFusionFilter
from itk_consensus.methods.registry import FUSERS

#: Fusers, and similar filters that need images.
FILTERS = (*FUSERS, JointLabelFusionFilter, LocallyWeightedVoteFilter, IntensityRefinementFilter)
FEW = (0, 1, 6, 86)
MANY = range(200)
#: Filters that resolve ties, which are frequent in noise, by position.
TIES_BY_PLACE = ("InstanceConsensusFilter",)
#: Tolerance, larger than the effects of single precision and of stopping iterations early.
ROUNDING = 1e-5

pytestmark = pytest.mark.filterwarnings("ignore::itk_consensus.core.errors.ConsensusWarning")


class Stack(NamedTuple):
    """Three to six raters of one to three labels, and an image."""

    raters: list[np.ndarray]
    image: np.ndarray
    atlases: list[np.ndarray]
    spacing: list[float]

    def changed(self, change: Callable[[np.ndarray], np.ndarray]) -> Stack:
        """Return the stack with all arrays changed in the same way."""
        raters, atlases = ([change(one) for one in list_] for list_ in (self.raters, self.atlases))
        return self._replace(raters=raters, image=change(self.image), atlases=atlases)


def draw(seed: int, most_labels: int) -> tuple[Stack, np.random.Generator]:
    rng = np.random.default_rng([7, seed])
    dimension = int(rng.integers(2, 4))
    shape = tuple(rng.integers(5, 13 if dimension == 3 else 25, dimension))
    labels = min(int(rng.integers(1, 4)), most_labels)
    spacing = rng.choice([0.5, 1.0, 2.0, 3.3], dimension).tolist()

    def blobs(sigma: float) -> np.ndarray:
        return 3 * gaussian_filter(rng.standard_normal(shape), sigma)

    truth = [blobs(1.5) for _ in range(labels + 1)]
    raters = []
    for _ in range(int(rng.integers(3, 7))):
        skill = rng.uniform(0.1, 1.0)
        drawn = np.argmax([field + skill * blobs(1.0) for field in truth], axis=0)
        slips = rng.random(shape) < rng.choice([0, 0.05, 0.2])
        raters.append(np.where(slips, rng.integers(0, labels + 1, shape), drawn).astype(np.uint8))
    raters[0].flat[:2] = 0, 1  # so that both labels occur
    image = (raters[0] + blobs(1.0)).astype(np.float32)
    atlases = [(image + blobs(1.0)).astype(np.float32) for _ in raters]
    return Stack(raters, image, atlases, spacing), rng


@cache
def drawn(seed: int, most_labels: int) -> tuple[Stack, np.random.Generator]:
    return draw(seed, most_labels)


def stacks(fuser: type[LabelFusionFilter], seeds: Any) -> Iterator[tuple[Stack, Any]]:
    """Return suitable stacks for a filter, and a random generator for each."""
    for seed in seeds:
        stack, _ = drawn(seed, 1 if hasattr(fuser, "ForegroundValue") else 3)
        yield stack, np.random.default_rng([8, seed])


def shares(fuser: type[LabelFusionFilter], stack: Stack, labels: Any) -> np.ndarray:
    """Return the (labels, *shape) probabilities of a filter with default parameters."""

    def image(array: np.ndarray) -> sitk.Image:
        made = sitk.GetImageFromArray(np.ascontiguousarray(array))
        made.SetSpacing(stack.spacing[::-1])
        return made

    looked_at = {"Image": image(stack.image), "AtlasImages": [image(a) for a in stack.atlases]}
    needed = looked_at if fuser not in FUSERS else {}
    filter_ = fuser(**{name: value for name, value in needed.items() if hasattr(fuser, name)})
    filter_.Execute([image(array) for array in stack.raters])
    return np.stack(
        [sitk.GetArrayFromImage(filter_.GetProbabilityImage(int(label))) for label in labels]
    )


def on_stacks(law: str = "") -> Callable[[Any], Any]:
    """Run a test for every filter that declares a law: on a few stacks and, in the slow suite,
    on many.
    """
    obeying = [fuser for fuser in FILTERS if not law or law in fuser.laws]
    few, many = (
        pytest.param(seeds, marks=marks, id=str(len(seeds)))
        for seeds, marks in ((FEW, ()), (MANY, pytest.mark.slow))
    )

    def mark(test: Any) -> Any:
        test = pytest.mark.parametrize("seeds", [few, many])(test)
        return pytest.mark.parametrize("fuser", obeying, ids=lambda fuser: fuser.__name__)(test)

    return mark


@on_stacks("rater permutation")
def test_the_order_of_raters_moves_no_probability(fuser: Any, seeds: Any) -> None:
    for stack, rng in stacks(fuser, seeds):
        labels, order = np.unique(stack.raters), rng.permutation(len(stack.raters))
        raters, atlases = ([list_[k] for k in order] for list_ in (stack.raters, stack.atlases))
        other = stack._replace(raters=raters, atlases=atlases)
        np.testing.assert_allclose(
            shares(fuser, other, labels), shares(fuser, stack, labels), rtol=0, atol=ROUNDING
        )


@on_stacks("relabelling")
def test_the_names_of_labels_move_no_probability(fuser: Any, seeds: Any) -> None:
    for stack, rng in stacks(fuser, seeds):
        labels = np.unique(stack.raters)
        names = rng.permutation(np.arange(20, 20 + len(labels))).astype(np.uint8)
        renamed = stack._replace(raters=[names[np.searchsorted(labels, r)] for r in stack.raters])
        np.testing.assert_allclose(
            shares(fuser, renamed, names), shares(fuser, stack, labels), rtol=0, atol=ROUNDING
        )


@on_stacks()
def test_a_mirrored_stack_has_the_mirrored_answer(fuser: Any, seeds: Any) -> None:
    """For any filter, results do not depend on the direction of an axis."""
    if fuser.__name__ in TIES_BY_PLACE:
        pytest.skip("which of two objects with equal overlap is meant goes by place")
    for stack, rng in stacks(fuser, seeds):
        labels, axis = np.unique(stack.raters), int(rng.integers(stack.image.ndim))
        mirrored = shares(fuser, stack.changed(lambda a, axis=axis: np.flip(a, axis)), labels)
        np.testing.assert_allclose(
            np.flip(mirrored, axis + 1), shares(fuser, stack, labels), rtol=0, atol=ROUNDING
        )


@pytest.mark.parametrize("fuser", [JointLabelFusionFilter, LocallyWeightedVoteFilter])
def test_patches_that_are_one_when_normalised_are_found_alike_in_a_mirrored_stack(
    fuser: Any,
) -> None:
    """On thick slices, patches have three voxels, and at the border two of them are equal."""
    test_a_mirrored_stack_has_the_mirrored_answer(fuser, (27, 43, 113))


@on_stacks("unanimity")
def test_what_all_raters_say_everywhere_is_the_answer(fuser: Any, seeds: Any) -> None:
    for stack, _ in stacks(fuser, seeds):
        one = stack.raters[0]
        labels = np.unique(one)
        found = shares(fuser, stack._replace(raters=[one] * len(stack.raters)), labels)
        np.testing.assert_array_equal(labels[found.argmax(axis=0)], one)


def assert_padding_changes_nothing(fuser: Any, stack: Stack, rng: np.random.Generator) -> None:
    labels = np.unique(stack.raters)
    width = rng.integers(0, 7, (stack.image.ndim, 2))
    inner = tuple(
        slice(before, before + size)
        for (before, _), size in zip(width, stack.image.shape, strict=True)
    )
    padded = shares(fuser, stack.changed(lambda a: np.pad(a, width)), labels)
    np.testing.assert_allclose(
        padded[(slice(None), *inner)], shares(fuser, stack, labels), rtol=0, atol=ROUNDING
    )


@on_stacks("background padding")
def test_background_around_a_stack_moves_no_probability(fuser: Any, seeds: Any) -> None:
    for stack, rng in stacks(fuser, seeds):
        assert_padding_changes_nothing(fuser, stack, rng)


@on_stacks("clean background padding")
def test_more_background_around_a_clean_border_moves_no_probability(fuser: Any, seeds: Any) -> None:
    for stack, rng in stacks(fuser, seeds):
        assert_padding_changes_nothing(fuser, stack.changed(lambda a: np.pad(a, 1)), rng)


def test_a_tie_with_the_background_does_not_depend_on_how_much_of_it_there_is() -> None:
    """Three raters label a voxel 0, 1 and 2; with more background around it, 0 was more
    frequent.
    """
    test_more_background_around_a_clean_border_moves_no_probability(ConsensusFilter, (164,))
