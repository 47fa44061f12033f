"""Numbers beyond the range of floats, indices or scanners are rejected as parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from itk_consensus.core.constraints import Integer, Integers, Kind, OneOf, Real, Reals
from itk_consensus.core.errors import ParameterError
from itk_consensus.core.parameters import Parameter, parameters_of
from itk_consensus.methods.registry import FUSERS, OTHER_FILTERS
from itk_consensus.methods.selection.boundary_simple.local_correlation import correlation
from itk_consensus.methods.shape.shape_based_averaging_filter import ShapeBasedAveragingFilter
from itk_consensus.methods.staple.spatial_staple_filter import SpatialSTAPLEFilter
from itk_consensus.methods.voting.majority_vote_filter import MajorityVoteFilter

ABSURD = [10**400, -(10**400), 2**64, -(2**64), 10**5000]


def numeric(kind: Kind[Any]) -> bool:
    members = kind.kinds if isinstance(kind, OneOf) else (kind,)
    return any(isinstance(member, (Integer, Integers, Real, Reals)) for member in members)


def several(kind: Kind[Any]) -> bool:
    members = kind.kinds if isinstance(kind, OneOf) else (kind,)
    return any(isinstance(member, (Integers, Reals)) for member in members)


CASES = [
    (filter_, parameter)
    for filter_ in (*FUSERS, *OTHER_FILTERS)
    for parameter in parameters_of(filter_)
    if numeric(parameter.kind)
]


@pytest.mark.parametrize(
    ("filter_", "parameter"), CASES, ids=[f"{f.__name__}-{p.name}" for f, p in CASES]
)
def test_integers_beyond_every_range_are_parameter_errors(
    filter_: type, parameter: Parameter[Any]
) -> None:
    for number in ABSURD:
        if isinstance(parameter.kind, Real) and parameter.kind.low is None and abs(number) < 1e300:
            continue  # a pixel value or a factor may be any double
        for value in (number, (number, number)):
            with pytest.raises(ParameterError, match=f"{parameter.name} must be") as caught:
                parameter.check(filter_.__name__, value)
            assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("NumberOfThreads", 2**64, "an integer >= 0 and <= 1024"),
        ("SmoothingSigma", 1e300, "a number >= 0 and <= 100000"),
        ("SmoothingSigma", 1e6, "a number >= 0 and <= 100000"),
        ("MissingLabel", 2**64, "a number from -9223372036854775808 to 18446744073709551615"),
        ("CoordinateTolerance", 1e16, r"a number from 0 to 1e\+15"),
    ],
)
def test_the_message_says_what_would_do(name: str, value: Any, wanted: str) -> None:
    with pytest.raises(ParameterError, match=f"MajorityVoteFilter: {name} must be {wanted}"):
        MajorityVoteFilter(**{name: value})


@pytest.mark.parametrize("counts", [(1e300, 0.0), (1e300, 1e300), (0.0, 1e16)])
def test_pseudo_counts_beyond_all_data_are_refused(counts: tuple[float, float]) -> None:
    with pytest.raises(ParameterError, match="PseudoCounts must be"):
        SpatialSTAPLEFilter(PseudoCounts=counts)


@pytest.mark.parametrize("counts", [(1e15, 0.0), (1e15, 1e15), (0.0, 1e15), (1e-300, 0.0)])
@pytest.mark.parametrize("target", ["global", "uniform", "diagonal"])
def test_the_largest_pseudo_counts_leave_probabilities_finite(
    counts: tuple[float, float], target: str
) -> None:
    rng = np.random.default_rng(0)
    images = [rng.integers(0, 3, (6, 7)).astype(np.uint8) for _ in range(4)]
    filter_ = SpatialSTAPLEFilter(
        PseudoCounts=counts, RegularizationTarget=target, Kappa=1e15, WindowRadius=1e5
    )
    filter_.Execute(images)
    shares = np.stack([filter_.GetProbabilityImage(label) for label in range(3)])
    np.testing.assert_allclose(shares.sum(axis=0), 1.0, atol=1e-5)


SCALES = [
    (fuser, parameter)
    for fuser, parameter in CASES
    if fuser in FUSERS
    and any(
        isinstance(kind, Real) and kind.exclusive and kind.low == 0
        for kind in getattr(parameter.kind, "kinds", (parameter.kind,))
    )
]


@pytest.mark.filterwarnings("error", "ignore::itk_consensus.core.errors.ConsensusWarning")
@pytest.mark.parametrize(
    ("fuser", "parameter"), SCALES, ids=[f"{f.__name__}-{p.name}" for f, p in SCALES]
)
def test_what_is_divided_by_is_not_so_small_that_answers_leave_the_doubles(
    fuser: Any, parameter: Parameter[Any]
) -> None:
    """A temperature of 1e-320 gave NaN."""
    with pytest.raises(ParameterError, match="must be a number from 1e-15 to"):
        fuser(**{parameter.name: 1e-320})
    rng = np.random.default_rng(0)
    raters = [(rng.random((4, 5, 6)) < 0.4).astype(np.uint8) for _ in range(4)]
    filter_ = fuser(**{parameter.name: 1e-15})
    filter_.Execute(raters)
    total = sum(filter_.GetProbabilityImage(label) for label in filter_.GetLabels())
    np.testing.assert_allclose(total, 1, atol=1e-5)


@pytest.mark.filterwarnings("error")
def test_a_rater_of_label_only_and_one_without_it_average_without_a_complaint() -> None:
    """One signed distance is minus infinity, the other infinity."""
    nothing, everything = np.zeros((4, 5), np.uint8), np.ones((4, 5), np.uint8)
    filter_ = ShapeBasedAveragingFilter(TrimFraction=0.0)
    filter_.Execute([nothing, everything, nothing])
    assert np.isfinite(filter_.GetProbabilityImage(1)).all()


@pytest.mark.filterwarnings("error")
def test_a_variance_that_rounding_left_below_zero_is_that_of_a_constant_patch() -> None:
    one = np.ones(1)
    np.testing.assert_array_equal(correlation(one, -1e-18 * one, one), [0.0])
