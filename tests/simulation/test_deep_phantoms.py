from __future__ import annotations

import hashlib
import importlib.util
from pathlib import Path

import numpy as np
import pytest

from itk_consensus.simulation.deep_phantoms import (
    KNOWN_RATERS,
    UNSEEN_RATERS,
    easy_cohort,
    hard_cohort,
)

REFERENCE = Path(__file__).resolve().parents[2] / "../shared/spec/generators/deep_phantoms.py"


@pytest.fixture(scope="module")
def recipe():
    if not REFERENCE.exists():
        pytest.skip("the reference generator is not beside this repository")
    spec = importlib.util.spec_from_file_location("reference_deep_phantoms", REFERENCE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def assert_same_arrays(ours, theirs):
    for mine, other in zip(ours, theirs, strict=True):
        assert mine.dtype == other.dtype
        np.testing.assert_array_equal(mine, other)


@pytest.mark.parametrize("seed", [0, 3])
def test_easy_cohort_is_the_recipes(recipe, seed):
    assert_same_arrays(easy_cohort(6, seed), recipe.easy(6, seed))
    assert_same_arrays(easy_cohort(2, seed, (20, 24, 22), 3), recipe.easy(2, seed, (20, 24, 22), 3))


@pytest.mark.parametrize("seed", [0, 5])
def test_hard_cohort_is_the_recipes(recipe, seed):
    assert_same_arrays(hard_cohort(6, seed), recipe.hard(6, seed))
    assert_same_arrays(hard_cohort(2, seed, (24, 28, 26), 2), recipe.hard(2, seed, (24, 28, 26), 2))
    assert_same_arrays(
        hard_cohort(3, seed, raters=UNSEEN_RATERS), recipe.hard(3, seed, raters=recipe.UNSEEN)
    )


def test_raters_are_the_recipes(recipe):
    assert [tuple(rater) for rater in KNOWN_RATERS] == recipe.RATERS
    assert [tuple(rater) for rater in UNSEEN_RATERS] == recipe.UNSEEN


@pytest.mark.parametrize(
    ("cohort", "digest"),
    [(easy_cohort(3, 1), "a0999f614ed9dfe0"), (hard_cohort(3, 1), "388632de3a36345f")],
    ids=["easy", "hard"],
)
def test_labels_have_not_changed(cohort, digest):
    drawn = cohort.labels.astype(np.uint8).tobytes() + cohort.truths.astype(np.uint8).tobytes()
    assert hashlib.sha256(drawn).hexdigest()[:16] == digest


def test_hard_images_are_standardised():
    images = hard_cohort(4, 0).images
    np.testing.assert_allclose(images.mean((1, 2, 3)), 0, atol=1e-5)
    np.testing.assert_allclose(images.std((1, 2, 3)), 1, atol=1e-5)
