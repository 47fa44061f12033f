"""Stacks for property tests, and the brute-force result that the pattern engine must equal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.label_stack import LabelStack

INTEGER_TYPES = ["uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"]
LABEL_TYPES = [*INTEGER_TYPES, "float32", "float64", "float16", "bool"]

#: Lengths around those at which the kernels change their stride.
RUN_LENGTHS = [1, 2, 3, 63, 64, 65, 127, 128, 129, 1023, 1024, 1025, 2047, 2048, 2049]


@dataclass(frozen=True)
class Drawn:
    """A stack in the form that callers pass to the package."""

    arrays: list[np.ndarray | None]
    missing_label: int | None = None
    mask: np.ndarray | None = None
    rater_masks: list[np.ndarray | None] | None = None
    strata: np.ndarray | None = None

    @property
    def present(self) -> list[np.ndarray]:
        return [array for array in self.arrays if array is not None]

    def common(self) -> dict[str, Any]:
        return {
            "missing_label": self.missing_label,
            "mask": self.mask,
            "rater_masks": self.rater_masks,
        }

    def labels(self) -> list[int]:
        values = {int(value) for array in self.present for value in np.unique(array)}
        return sorted(values - {self.missing_label})

    def digits(self, foreground: int | None = None) -> np.ndarray:
        """Return the (N, J) digit of every rater at every voxel, one voxel and rater at a time."""
        labels = [0, 1] if foreground is not None else self.labels()
        table = {label: digit for digit, label in enumerate(labels)}
        masks = self.rater_masks or [None] * len(self.arrays)
        columns = [
            _column(array, mask, table, self.missing_label, foreground, self.present[0].size)
            for array, mask in zip(self.arrays, masks, strict=True)
        ]
        return np.array(columns, dtype=np.int64).T


def _column(
    array: np.ndarray | None,
    mask: np.ndarray | None,
    table: dict[int, int],
    missing_label: int | None,
    foreground: int | None,
    size: int,
) -> list[int]:
    missing = len(table)
    if array is None:
        return [missing] * size
    annotated = [True] * size if mask is None else (mask != 0).ravel().tolist()
    column = []
    for value, here in zip(array.ravel().tolist(), annotated, strict=True):
        if not here or (missing_label is not None and int(value) == missing_label):
            column.append(missing)
        elif foreground is not None:
            column.append(int(int(value) == foreground))
        else:
            column.append(table[int(value)])
    return column


def encode(drawn: Drawn, *, foreground: int | None = None) -> DecisionPatterns:
    if foreground is None:
        stack = LabelStack.multilabel(drawn.arrays, **drawn.common())
    else:
        stack = LabelStack.binary(drawn.arrays, float(foreground), **drawn.common())
    return DecisionPatterns.from_stack(stack, strata=drawn.strata)


def assert_is_brute_force(patterns: DecisionPatterns, drawn: Drawn, foreground: int | None = None):
    """Check that patterns, counts, strata and every voxel's pattern equal those of np.unique."""
    digits = drawn.digits(foreground)
    inside = np.ones(len(digits), bool) if drawn.mask is None else (drawn.mask != 0).ravel()
    strata = np.zeros(len(digits), np.int64) if drawn.strata is None else drawn.strata.ravel()
    rows = np.column_stack([digits, strata])[inside]
    expected, counts = np.unique(rows, axis=0, return_counts=True)
    np.testing.assert_array_equal(patterns.patterns, expected[:, :-1])
    np.testing.assert_array_equal(patterns.counts, counts)
    assert patterns.counts.dtype == np.int64
    if drawn.strata is not None:
        np.testing.assert_array_equal(patterns.strata, expected[:, -1])
    if foreground is None:
        assert patterns.labels.tolist() == drawn.labels()
    shape = drawn.present[0].shape
    for rater in range(len(drawn.arrays)):
        column = patterns.patterns[:, rater].astype(np.int64)
        volume = patterns.expand(column, outside=-7)
        assert volume.shape == shape
        wanted = np.where(inside, digits[:, rater], -7).reshape(shape)
        np.testing.assert_array_equal(volume, wanted)


def shapes(most_voxels: int = 300) -> st.SearchStrategy[tuple[int, ...]]:
    return (
        st.lists(st.integers(1, 9), min_size=1, max_size=4)
        .map(tuple)
        .filter(lambda shape: np.prod(shape) <= most_voxels)
    )


@st.composite
def drawn_stacks(
    draw: st.DrawFn,
    *,
    dtype: str | None = None,
    raters: tuple[int, int] = (1, 5),
    most_labels: int = 4,
    with_strata: bool = False,
) -> Drawn:
    """Draw raters of runs and noise, some absent, some partly missing, with some voxels masked
    out.
    """
    shape = draw(shapes())
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    number = draw(st.integers(*raters))
    types = [dtype or draw(st.sampled_from(LABEL_TYPES)) for _ in range(number)]
    palette = _palette(types, draw(st.integers(1, most_labels)), rng)
    arrays: list[np.ndarray | None] = [_runs(shape, palette, rng).astype(t) for t in types]
    if number > 1 and draw(st.booleans()):
        arrays[draw(st.integers(0, number - 1))] = None
    values = {int(v) for a in arrays if a is not None for v in np.unique(a)}
    missing = None
    if len(values) > 1 and draw(st.booleans()):
        missing = draw(st.sampled_from(sorted(values)))
    if draw(st.booleans()):
        rater_masks = [
            None if rng.random() < 0.3 else (rng.random(shape) < 0.7).astype(np.uint8)
            for _ in range(number)
        ]
    else:
        rater_masks = None
    mask = (rng.random(shape) < 0.6) if draw(st.booleans()) else None
    strata = rng.integers(0, 3, shape).astype(np.uint32) * 2**31 if with_strata else None
    return Drawn(arrays, missing, mask, rater_masks, strata)


def _palette(types: list[str], size: int, rng: np.random.Generator) -> np.ndarray:
    """Return label values that all of the types represent exactly."""
    if "bool" in types:
        return np.arange(2)
    whole = [t for t in types if not t.startswith("float")]
    low = max([int(np.iinfo(t).min) for t in whole], default=-1000)
    high = min([int(np.iinfo(t).max) for t in whole], default=1000)
    if len(whole) < len(types):
        low, high = max(low, -1000), min(high, 1000)
    dtype = np.uint64 if high > np.iinfo(np.int64).max else np.int64
    others = rng.integers(low, high, max(size - 3, 0), dtype=dtype, endpoint=True)
    return np.array([low, high, 0, *others][:size], dtype=dtype)


def _runs(shape: tuple[int, ...], palette: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    size = int(np.prod(shape))
    noise = rng.choice(palette, size)
    stay = rng.random(size) < rng.choice([0.0, 0.5, 0.95])
    stay[0] = False
    return noise[np.maximum.accumulate(np.where(stay, 0, np.arange(size)))].reshape(shape)
