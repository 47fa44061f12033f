"""Stack of raters over the same voxels, ready for the compiled encoder.

The preconditions of the kernels are checked here: all arrays are contiguous, native-endian and of
the same length, all values are whole numbers, and all masks are uint8.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus import _kernels
from itk_consensus.core.errors import InputError
from itk_consensus.core.work import current
from itk_consensus.votes.mask_bits import pack_masks

AnyArray = NDArray[Any]

#: An array with more distinct values is considered an intensity image. The limit also ensures that
#: every digit, including that for "missing", fits into 16 bits.
MOST_LABELS = 65_535

#: Number of voxels tested at a time, so that a search can stop early.
_LOOK_AT_ONCE = 1 << 16


@dataclass(frozen=True)
class LabelStack:
    """The raters' label arrays, with a table of labels and masks."""

    #: One array per rater, all of shape `shape`, C-contiguous; None for a missing rater.
    arrays: tuple[AnyArray | None, ...]
    #: (K,) int64 or uint64, sorted. A rater's digit is the index into this table; K means missing.
    labels: NDArray[Any]
    #: In a binary stack, the value that is label 1; all other values are label 0.
    foreground: float | None = None
    missing_label: float | None = None  #: Value that means "not annotated"
    mask: NDArray[np.uint8] | None = None  #: Voxels to fuse
    #: Voxels that each rater annotated; elsewhere the rater is missing.
    rater_masks: tuple[NDArray[np.uint8] | None, ...] | None = None
    #: (J', B) the masks of the present raters as bits (`votes.mask_bits`), 1 for the second label,
    #: if they were packed when the table of labels was built. `replace` drops them, since they
    #: might no longer match the arrays.
    bits: NDArray[np.uint8] | None = field(default=None, init=False, repr=False, compare=False)

    @classmethod
    def binary(
        cls,
        arrays: Sequence[AnyArray | None],
        foreground: float,
        *,
        missing_label: float | None = None,
        mask: AnyArray | None = None,
        rater_masks: Sequence[AnyArray | None] | None = None,
        owner: str = "LabelStack",
    ) -> LabelStack:
        """Build a stack in which `foreground` is label 1 and all other values are label 0."""
        present = _prepare(arrays, owner)
        for index, array in enumerate(present):
            if array is not None and array.dtype.kind == "f":
                _whole_numbers(distinct_values(array, owner, index), owner, index)
        return cls(
            present,
            np.array([0, 1], dtype=np.int64),
            foreground,
            missing_label,
            _as_mask(mask, present, f"{owner}: MaskImage"),
            _as_masks(rater_masks, present, owner),
        )

    @classmethod
    def multilabel(
        cls,
        arrays: Sequence[AnyArray | None],
        *,
        missing_label: float | None = None,
        mask: AnyArray | None = None,
        rater_masks: Sequence[AnyArray | None] | None = None,
        owner: str = "LabelStack",
        may_be_empty: bool = False,
        packed: bool = False,
    ) -> LabelStack:
        """Build a stack whose labels are all values that occur, and 0.

        With `may_be_empty`, all voxels may be missing, as in part of a larger volume. With
        `packed`, a small number of masks is packed while their labels are read.
        """
        present = _prepare(arrays, owner)
        masks = pack_masks(present) if packed and missing_label is None else None
        labels = label_table(present, owner) if masks is None else masks.labels
        if missing_label is not None:
            labels = label_array([int(v) for v in labels if int(v) != missing_label], owner)
        if labels.size == 0 and not may_be_empty:
            raise InputError("every voxel of every input is missing", owner=owner)
        stack = cls(
            present,
            labels,
            None,
            missing_label,
            _as_mask(mask, present, f"{owner}: MaskImage"),
            _as_masks(rater_masks, present, owner),
        )
        if masks is not None:
            object.__setattr__(stack, "bits", masks.bits)
        return stack

    @property
    def number_of_raters(self) -> int:
        """Number of raters J, including missing ones."""
        return len(self.arrays)

    def to_stack(self) -> LabelStack:
        """Return the stack itself; other forms of votes decompress here."""
        return self

    def at(self, places: NDArray[np.int64]) -> LabelStack:
        """Return the stack at some voxels, given by flat indices, as one-dimensional arrays."""

        def taken(array: AnyArray | None) -> Any:
            return None if array is None else array.reshape(-1)[places]

        masks = self.rater_masks
        return replace(
            self,
            arrays=tuple(map(taken, self.arrays)),
            mask=taken(self.mask),
            rater_masks=None if masks is None else tuple(map(taken, masks)),
        )

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of each rater's array."""
        return next(array.shape for array in self.arrays if array is not None)

    @property
    def missing_digit(self) -> int:
        """Digit, one past the labels, of a rater who did not annotate a voxel."""
        return len(self.labels)

    @property
    def may_be_missing(self) -> bool:
        """Whether some voxels may lack the annotation of a present rater."""
        return self.missing_label is not None or self.rater_masks is not None

    @property
    def is_annotated(self) -> bool:
        """Whether any rater annotated any voxel to fuse; stops at the first such block."""
        masks = self.rater_masks or (None,) * len(self.arrays)
        return any(
            self._annotates(array, mask)
            for array, mask in zip(self.arrays, masks, strict=True)
            if array is not None
        )

    def _annotates(self, array: AnyArray, rater_mask: NDArray[np.uint8] | None) -> bool:
        masks = [mask.reshape(-1) for mask in (self.mask, rater_mask) if mask is not None]
        values = array.reshape(-1)
        for start in range(0, len(values), _LOOK_AT_ONCE):
            part = slice(start, start + _LOOK_AT_ONCE)
            said = np.ones(len(values[part]), bool)
            if self.missing_label is not None:
                said &= values[part] != self.missing_label
            for mask in masks:
                said &= mask[part] != 0
            if said.any():
                return True
        return False

    def votes(self) -> list[_kernels.RaterVotes]:
        """Return the votes of the present raters in the format of the kernels."""
        masks = self.rater_masks or (None,) * len(self.arrays)
        types = {array.dtype for array in self.arrays if array is not None}
        known = {dtype: self._digits(dtype) for dtype in types}
        return [
            _kernels.RaterVotes(
                array.reshape(-1),
                *known[array.dtype],
                0,
                None if mask is None else mask.reshape(-1),
                self.missing_digit,
            )
            for array, mask in zip(self.arrays, masks, strict=True)
            if array is not None
        ]

    def _digits(self, dtype: np.dtype[Any]) -> tuple[AnyArray, list[int]]:
        """Return the label values that fit a dtype, and their digits; other values have digit 0."""
        pairs: list[tuple[float, int]]
        if self.foreground is not None:
            pairs = [(self.foreground, 1)]
        else:
            # All other values have digit 0, so the first label is left out. The most common case,
            # two labels, then takes a single comparison.
            pairs = [(int(label), digit) for digit, label in enumerate(self.labels) if digit]
        if self.missing_label is not None:
            pairs = [(v, d) for v, d in pairs if v != self.missing_label]
            pairs.append((self.missing_label, self.missing_digit))
        pairs = [(value, digit) for value, digit in pairs if can_hold(value, dtype)]
        return array_of_dtype([value for value, _ in pairs], dtype), [digit for _, digit in pairs]


def label_table(arrays: Sequence[AnyArray | None], owner: str) -> NDArray[Any]:
    """Return the sorted distinct values of all arrays, which must be whole numbers."""
    first: dict[np.dtype[Any], AnyArray] = {}
    values: set[int] = set()
    for index, array in enumerate(arrays):
        if array is None:
            continue
        array = _contiguous(array, owner, index)
        # Most voxels are unanimous, so voxels equal to the first array with the same dtype are
        # skipped.
        reference = first.setdefault(array.dtype, array)
        found = distinct_values(array, owner, index, None if reference is array else reference)
        values.update(_whole_numbers(found, owner, index).tolist())
    return label_array(values, owner)


def label_array(values: Iterable[int], owner: str) -> NDArray[Any]:
    """Return sorted labels as int64, or uint64 if necessary; never float, which would round."""
    labels = sorted(values)
    if len(labels) > MOST_LABELS:
        raise InputError(
            f"inputs must have at most {MOST_LABELS} distinct labels, got {len(labels)}",
            owner=owner,
        )
    if labels and labels[-1] > np.iinfo(np.int64).max:
        if labels[0] < 0:
            raise InputError(
                f"no integer type holds both labels {labels[0]} and {labels[-1]}", owner=owner
            )
        return np.array(labels, dtype=np.uint64)
    return np.array(labels, dtype=np.int64)


def distinct_values(
    array: AnyArray,
    owner: str,
    index: int,
    reference: AnyArray | None = None,
) -> AnyArray:
    """Return the sorted distinct values of a contiguous array.

    Values equal to `reference` may be omitted.
    """
    known = None if reference is None else reference.reshape(-1)
    found = _kernels.distinct(array.reshape(-1), MOST_LABELS, current().threads, known)
    if found is None:
        raise InputError(
            f"must be a label image, but has more than {MOST_LABELS} distinct values",
            owner=owner,
            input_index=index,
        )
    return np.unique(found)


def _whole_numbers(values: AnyArray, owner: str, index: int) -> AnyArray:
    if values.dtype.kind != "f":
        return values
    # Beyond 2^63 a float does not fit into the integer label table.
    odd = values[~(np.abs(values) < 2.0**63) | (values != np.trunc(values))]
    if odd.size:
        raise InputError(
            f"must hold whole-number labels, found {odd[0]:g}"
            f"{' and others' if odd.size > 1 else ''}; threshold a probability map first, or use "
            "ProbabilityAverageFilter",
            owner=owner,
            input_index=index,
        )
    return values.astype(np.int64)


def _prepare(arrays: Sequence[AnyArray | None], owner: str) -> tuple[AnyArray | None, ...]:
    if all(array is None for array in arrays):
        raise InputError("at least one rater must be present", owner=owner)
    prepared = tuple(
        None if array is None else _contiguous(array, owner, i) for i, array in enumerate(arrays)
    )
    shapes = {array.shape for array in prepared if array is not None}
    if len(shapes) > 1:
        raise InputError(f"all inputs must have the same shape, got {sorted(shapes)}", owner=owner)
    if 0 in next(iter(shapes)):
        raise InputError(f"inputs have no voxels, their shape is {next(iter(shapes))}", owner=owner)
    return prepared


def _contiguous(array: AnyArray, owner: str, index: int) -> AnyArray:
    if array.dtype.kind == "b":
        array = array.view(np.uint8)
    if array.dtype.kind not in "uif" or array.dtype.itemsize > 8:
        raise InputError(
            f"must have an integer or floating type, got {array.dtype}",
            owner=owner,
            input_index=index,
        )
    if array.dtype == np.float16:
        array = array.astype(np.float32)
    native = array.dtype.newbyteorder("=")
    return np.require(array, dtype=native, requirements=["C", "A"])


def _as_mask(
    mask: AnyArray | None, arrays: Sequence[AnyArray | None], where: str
) -> NDArray[np.uint8] | None:
    if mask is None:
        return None
    shape = next(array.shape for array in arrays if array is not None)
    if np.shape(mask) != shape:
        raise InputError(f"{where} must have the inputs' shape {shape}, got {np.shape(mask)}")
    mask = np.asarray(mask)
    if mask.dtype.kind == "f" and np.isnan(mask).any():
        raise InputError(f"{where} must not hold NaN")
    return np.ascontiguousarray(mask != 0).view(np.uint8)


def _as_masks(
    masks: Sequence[AnyArray | None] | None, arrays: Sequence[AnyArray | None], owner: str
) -> tuple[NDArray[np.uint8] | None, ...] | None:
    if masks is None:
        return None
    if len(masks) != len(arrays):
        raise InputError(
            f"must have {len(arrays)} entries, got {len(masks)}",
            owner=owner,
            parameter="RaterMasks",
        )
    return tuple(_as_mask(m, arrays, f"{owner}: RaterMasks[{i}]") for i, m in enumerate(masks))


def can_hold(value: float, dtype: np.dtype[Any]) -> bool:
    """Return whether an array of this dtype can represent this value exactly."""
    if dtype.kind == "f":
        return abs(value) <= np.finfo(dtype).max and float(dtype.type(value)) == value
    limits = np.iinfo(dtype)
    return value == int(value) and limits.min <= int(value) <= limits.max


def array_of_dtype(values: Sequence[float], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return the values as an array of this dtype; integers are never converted to float."""
    whole = dtype.kind != "f"
    return np.array([int(value) if whole else value for value in values], dtype=dtype)
