"""Voting, EM and merging kernels with invalid arguments, which must not corrupt memory."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

from itk_consensus import _kernels
from itk_consensus.votes.encoding import merge_tables


def rater(size: int = 4) -> Any:
    return _kernels.RaterVotes(np.zeros(size, "u1"), np.array([1], "u1"), [1], 0, None, 2)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"raters": []}, "at least one rater"),
        ({"raters": [None]}, "must be a RaterVotes"),
        ({"raters": [rater(5)]}, "equally long"),
        ({"weights": np.ones(2)}, "equally long"),
        ({"prior": np.ones(1)}, "equally long"),
        ({"values": np.zeros(3, "u1")}, "equally long"),
        ({"values": np.zeros(4, "u2")}, "differ in width"),
        ({"ties": 5}, "no such tie rule"),
        ({"mask": np.zeros(3, "u1")}, "equally long"),
    ],
)
def test_vote_refuses(changed: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {
        "raters": [rater()],
        "bits": None,
        "labels": 2,
        "mask": None,
        "weights": np.ones(1),
        "threshold": -1.0,
        "tolerance": 0.0,
        "ties": 0,
        "prior": np.zeros(2),
        "values": np.zeros(4, "u1"),
        "out": np.empty(4, "u1"),
        "threads": 1,
    }
    _kernels.vote(**arguments)
    with pytest.raises(ValueError, match=message):
        _kernels.vote(**{**arguments, **changed})


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"digits": np.zeros((3, 2), "u4")}, "uint8 or uint16"),
        ({"digits": np.zeros((3, 3), "u1")}, "equally long"),
        ({"digits": np.zeros(6, "u1")}, "per axis"),
        ({"weights": np.ones(2)}, "equally long"),
        ({"log_theta": np.zeros((2, 2, 2))}, "per axis"),
        ({"log_prior": np.zeros((1, 2, 2))}, "a prior per start"),
        ({"log_prior": np.zeros((0, 1, 2))}, "does not exist"),
        ({"prior_rows": np.array([0, 1, 0], "u4")}, "does not exist"),
        ({"prior_rows": np.array([0, 0], "u4")}, "equally long"),
    ],
)
def test_expected_counts_refuse(changed: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {
        "digits": np.array([[0, 1], [1, 2], [250, 0]], "u1"),
        "weights": np.ones(3),
        "log_theta": np.zeros((2, 2, 1, 2)),
        "log_prior": np.zeros((1, 1, 2)),
        "prior_rows": None,
        "mass_by_row": False,
        "negligible": 745.2,
        "threads": 1,
    }
    counts, _, _ = _kernels.expected_counts(**arguments)
    assert counts.sum() == 4  # digits beyond the labels are missing votes
    with pytest.raises(ValueError, match=message):
        _kernels.expected_counts(**{**arguments, **changed})


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"digits": np.zeros((3, 2), "u4")}, "uint8 or uint16"),
        ({"digits": np.full((3, 2), 3, "u1")}, "rater said does not exist"),
        ({"digits": np.zeros(6, "u1")}, "per axis"),
        ({"own": np.full((3, 1), 2)}, "own label does not exist"),
        ({"own": np.full((3, 1), -1)}, "own label does not exist"),
        ({"own": np.zeros((2, 1), np.int64)}, "equally long"),
        ({"joining": np.zeros((2, 2, 1, 2))}, "equally long"),
        ({"leaving": np.zeros((2, 2, 1, 2))}, "equally long"),
        ({"prior_joining": np.zeros((1, 1))}, "equally long"),
        ({"prior_leaving": np.zeros((2, 2))}, "equally long"),
    ],
)
def test_best_moves_refuse(changed: dict[str, Any], message: str) -> None:
    joining = np.zeros((2, 3, 1, 2))
    joining[:, 1, :, 1] = 1.0
    arguments: dict[str, Any] = {
        "digits": np.array([[0, 1], [1, 1], [2, 0]], "u1"),
        "own": np.zeros((3, 1), np.int64),
        "joining": joining,
        "prior_joining": np.zeros((1, 2)),
        "leaving": np.full((2, 3, 1, 2), 0.5),
        "prior_leaving": np.zeros((1, 2)),
        "threads": 1,
    }
    gain, target = _kernels.best_moves(**arguments)
    assert gain.ravel().tolist() == [2.0, 3.0, 1.0]
    assert target.ravel().tolist() == [1, 1, 1]
    with pytest.raises(ValueError, match=message):
        _kernels.best_moves(**{**arguments, **changed})


def test_packed_kernels_refuse_short_arrays() -> None:
    planes = np.zeros((1, 4), "u1")
    with pytest.raises(ValueError, match="equally long"):
        _kernels.packed_counts(planes, None, None, np.zeros((2, 256, 2)), 1)
    with pytest.raises(ValueError, match="equally long"):
        _kernels.packed_counts(planes, np.ones(3, "u1"), None, np.zeros((1, 256, 2)), 1)
    with pytest.raises(ValueError, match="equally long"):
        _kernels.packed_counts(planes, None, np.ones(3, "i8"), np.zeros((1, 256, 2)), 1)
    with pytest.raises(ValueError, match="equally long"):
        _kernels.packed_vote_counts(planes, None, None, np.zeros(3), 1)
    with pytest.raises(ValueError, match="equally long"):
        _kernels.packed_probability(planes, None, np.zeros((1, 256, 2)), np.empty(5), 1)


@pytest.mark.parametrize("width", ["u1", "u2"])
@pytest.mark.parametrize("raters", [1, 4, 8, 9, 30])
def test_merged_tables_are_those_of_unique(width: str, raters: int) -> None:
    rng = np.random.default_rng(raters)
    high = 3 if width == "u1" else 700
    tables = [
        (
            rng.integers(0, high, (size, raters)).astype(width) // (1 if raters < 9 else high - 1),
            rng.integers(0, 3, size).astype("u4") << 30,
            rng.integers(1, 9, size),
        )
        for size in (50, 0, 400)
    ]
    digits, strata, counts, ranks = merge_tables(tables)
    assert digits.dtype == width
    rows = np.concatenate([np.column_stack([d, s]).astype(np.int64) for d, s, _ in tables])
    expected, inverse = np.unique(rows, axis=0, return_inverse=True)
    np.testing.assert_array_equal(np.column_stack([digits, strata]), expected)
    np.testing.assert_array_equal(np.concatenate(ranks), inverse.reshape(-1))
    all_counts = np.concatenate([c for _, _, c in tables])
    np.testing.assert_array_equal(counts, np.bincount(inverse.reshape(-1), all_counts))


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ([], "at least one table"),
        ([(1, 2)], "must be .digits, strata, counts."),
        ([(np.zeros((2, 2), "u4"),) * 3], "uint8 or uint16"),
    ],
)
def test_merge_refuses(tables: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        _kernels.merge_tables(tables)


def test_merging_needs_little_more_than_the_tables() -> None:
    rng = np.random.default_rng(1)
    size, raters = 20_000, 200
    digits = rng.integers(0, 2, (size, raters)).astype("u1")
    table = (digits, np.zeros(size, "u4"), np.ones(size, np.int64))
    tracemalloc.start()
    try:
        merge_tables([table])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1.5 * digits.nbytes
