from __future__ import annotations

import hashlib
import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from scipy.ndimage import binary_fill_holes, label

from examples.simulation.conformal_cohort import COHORT_SHAPE, conformal_case

REFERENCE = Path(__file__).resolve().parents[2] / "../shared/spec/generators/conformal_cohort.py"
KINDS = {
    "ordinary": ({}, {}),
    "shifted": ({"shifted": True}, {"shift": True}),
    "flips": ({"independent_flips": True}, {"indep": True}),
}
# Only masks are compared, since they do not depend on the last bit of a Gaussian filter.
DIGESTS = {
    ("ordinary", 0): "6cb5f744e23db05a",
    ("ordinary", 5): "ab227612117896f9",
    ("shifted", 0): "248aadd2749f260e",
    ("flips", 0): "91975da18aa312e5",
}


@pytest.fixture(scope="module")
def reference() -> ModuleType:
    """Return the independent implementation of the calibration cohorts."""
    if not REFERENCE.exists():
        pytest.skip("the reference generator is not beside this repository")
    spec = importlib.util.spec_from_file_location("reference_conformal_cohort", REFERENCE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("kind", KINDS)
def test_arrays_are_those_of_the_reference_generator(reference, kind):
    ours, theirs = KINDS[kind]
    for seed in range(6):
        for mine, expected in zip(
            conformal_case(seed, **ours),
            reference.make_case(np.random.default_rng(seed), **theirs),
            strict=True,
        ):
            np.testing.assert_array_equal(mine, expected)


def test_one_generator_draws_the_reference_sequence(reference):
    ours, theirs = np.random.default_rng(7), np.random.default_rng(7)
    for _ in range(8):  # enough cases that some rater omits slices at one end
        case, (_, _, raters) = conformal_case(ours), reference.make_case(theirs)
        np.testing.assert_array_equal(case.raters, raters)


@pytest.mark.parametrize(("kind", "seed"), DIGESTS)
def test_draws_have_not_changed(kind, seed):
    case = conformal_case(seed, **KINDS[kind][0])
    packed = np.packbits(case.truth).tobytes() + np.packbits(case.raters).tobytes()
    assert hashlib.sha256(packed).hexdigest()[:16] == DIGESTS[kind, seed]


def test_truth_is_one_piece_without_holes():
    for seed in range(5):
        truth = conformal_case(seed).truth
        assert truth.shape == COHORT_SHAPE
        assert label(truth)[1] == 1
        np.testing.assert_array_equal(binary_fill_holes(truth), truth)


def test_shifted_raters_disagree_more():
    def disputed(case):
        votes = case.raters.sum(axis=0)
        return ((votes > 0) & (votes < len(case.raters))).mean()

    ordinary, shifted = (
        np.mean([disputed(conformal_case(seed, shifted=shift)) for seed in range(5)])
        for shift in (False, True)
    )
    assert shifted > 1.5 * ordinary
