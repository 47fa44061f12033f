"""Encode a stack of raters as one code per voxel and a table of distinct patterns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from itk_consensus import _kernels
from itk_consensus.core.errors import InputError
from itk_consensus.core.work import current
from itk_consensus.votes.label_stack import LabelStack

#: Up to this number of possible patterns, each has its own code and no hashing is needed.
MOST_DIRECT_CODES = 65_536

#: Maximum number of patterns with 16-bit codes, one of which may represent "outside the mask".
MOST_FEW = (1 << 16) - 1

#: Digits, strata and counts of patterns.
Table = tuple[NDArray[Any], NDArray[np.uint32], NDArray[np.int64]]


class Encoding(NamedTuple):
    """An encoded stack; the fields are those of DecisionPatterns."""

    patterns: NDArray[Any]
    counts: NDArray[np.int64]
    strata: NDArray[np.uint32] | None
    codes: NDArray[Any]
    slots: NDArray[np.int64]
    number_of_codes: int
    outside_code: int | None


def encode(stack: LabelStack, strata: NDArray[np.uint32] | None) -> Encoding:
    """Encode a stack in one compiled pass, with direct or hashed codes."""
    # Trying 16-bit codes is cheap: encoding stops at the 65,536th pattern, before memory is
    # doubled.
    for width in (np.uint16, np.uint32):
        encoded = encode_if_few(stack, strata, np.dtype(width))
        if encoded is not None:
            return encoded
    raise InputError("DecisionPatterns: more than 2^32 patterns cannot be encoded")


def encode_if_few(
    stack: LabelStack,
    strata: NDArray[np.uint32] | None,
    width: np.dtype[Any],
) -> Encoding | None:
    """Encode a stack, or return None once the patterns outnumber the codes of this width."""
    radix = len(stack.labels) + int(stack.may_be_missing)
    votes = stack.votes()
    number_of_codes = radix ** len(votes) + int(stack.mask is not None)
    if number_of_codes <= MOST_DIRECT_CODES and strata is None:
        return _encode_direct(stack, votes, radix, number_of_codes)
    return _encode_hashed(stack, votes, radix, strata, width)


def _encode_direct(
    stack: LabelStack,
    votes: list[_kernels.RaterVotes],
    radix: int,
    number_of_codes: int,
) -> Encoding:
    """Assign a separate code to every possible pattern: its rank in sorted order."""
    codes = np.empty(stack.shape, dtype=np.uint8 if number_of_codes <= 256 else np.uint16)
    counts = _kernels.encode_direct(
        votes, radix, _flat(stack.mask), codes.reshape(-1), number_of_codes, current().threads
    )
    outside = None if stack.mask is None else number_of_codes - 1
    slots = np.flatnonzero(counts if outside is None else counts[:-1])
    digits = np.empty((len(slots), len(votes)), np.min_scalar_type(len(stack.labels)))
    for place, said in enumerate(digits.T[::-1]):
        said[:] = slots // radix**place % radix
    return Encoding(
        _with_missing_raters(digits, stack),
        counts[slots],
        None,
        codes,
        slots,
        number_of_codes,
        outside,
    )


def _encode_hashed(
    stack: LabelStack,
    votes: list[_kernels.RaterVotes],
    radix: int,
    strata: NDArray[np.uint32] | None,
    width: np.dtype[Any],
) -> Encoding | None:
    """Number the patterns in order of appearance, then renumber them in sorted order.

    Returns None if the patterns outnumber the codes of this width.
    """
    first = int(stack.mask is not None)
    codes = np.empty(stack.shape, dtype=width)
    parts = _kernels.encode_hashed(
        votes, radix, _flat(stack.mask), _flat(strata), codes.reshape(-1), current().threads
    )
    if parts is None:
        return None
    digits, merged_strata, counts, ranks = merge_tables([part[2:] for part in parts])
    if len(counts) + first - 1 > np.iinfo(width).max:
        return None
    for (begin, end, *_), rank in zip(parts, ranks, strict=True):
        table = np.concatenate([np.zeros(first, dtype=np.int64), rank + first]).astype(width)
        if len(table):
            _kernels.renumber(codes.reshape(-1), begin, end, table, current().threads)
    return Encoding(
        _with_missing_raters(digits, stack),
        counts,
        None if strata is None else merged_strata,
        codes,
        np.arange(len(counts)) + first,
        len(counts) + first,
        0 if first else None,
    )


def _flat(array: NDArray[Any] | None) -> NDArray[Any] | None:
    return None if array is None else np.ascontiguousarray(array).reshape(-1)


def _with_missing_raters(digits: NDArray[Any], stack: LabelStack) -> NDArray[Any]:
    """Insert a column of the missing digit for every rater that is None."""
    width = np.promote_types(digits.dtype, np.min_scalar_type(stack.missing_digit))
    if width == digits.dtype and digits.shape[1] == len(stack.arrays):
        return digits
    full = np.full((len(digits), len(stack.arrays)), stack.missing_digit, dtype=width)
    full[:, [array is not None for array in stack.arrays]] = digits
    return full


def merge_tables(
    tables: Sequence[Table],
) -> tuple[NDArray[Any], NDArray[np.uint32], NDArray[np.int64], list[NDArray[np.int64]]]:
    """Merge tables of (digits, strata, counts); return a sorted table and each row's index in it.

    This requires 16 bytes per row, in addition to the tables and their union.
    """
    return _kernels.merge_tables(list(tables))
