"""Reproducible random damage to files, for tests of reading records and models.

``ITK_CONSENSUS_MUTATIONS`` sets the number of mutations per test.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Iterator
from typing import Any

import numpy as np

MUTATIONS = int(os.environ.get("ITK_CONSENSUS_MUTATIONS", "200"))

_DEEP: list[Any] = []
for _ in range(100):
    _DEEP = [_DEEP]
HOSTILE = (
    None, True, False, 0, 1, -1, 2, 7, 10**400, -(2**63), 0.0, -0.0, 0.5, 1e-300, 1e308, -1e308,
    float("nan"), float("inf"), float("-inf"), "", "inf", "nan", "0.5", "\ud800", "\0",
    "x" * 20_000, [], [[]], [0.1] * 3, [None], {}, {"": 0}, {"tau": 1}, _DEEP,
)  # fmt: skip


def mutate_json(record: Any, seed: int) -> Any:
    """Return a copy of a JSON value in which one to three parts are replaced or removed."""
    rng = np.random.default_rng(seed)
    mutated = copy.deepcopy(record)
    for _ in range(rng.integers(1, 4)):
        places = list(_places(mutated))
        if not places:
            break
        holder, key = places[rng.integers(len(places))]
        donor, other = places[rng.integers(len(places))]
        change = rng.integers(6)
        if change == 0:
            del holder[key]
        elif change == 1 and isinstance(holder, list):
            holder.insert(key, copy.deepcopy(holder[key]))
        elif change == 1:
            holder[f"{key}?"] = holder.pop(key)
        elif change == 2:
            holder[key] = copy.deepcopy(donor[other])
        elif change == 3 and type(holder[key]) in (int, float):
            holder[key] *= float(rng.choice([-1, 0, 1e-3, 0.5, 1 + 1e-9, 1e3, 1e300]))
        else:
            holder[key] = copy.deepcopy(HOSTILE[rng.integers(len(HOSTILE))])
    return mutated


def mutate_bytes(data: bytes, seed: int) -> bytes:
    """Return the bytes with one to three bits, bytes or stretches changed, lost, duplicated or
    added.
    """
    rng = np.random.default_rng(seed)
    mutated = bytearray(data)
    for _ in range(rng.integers(1, 4)):
        start = int(rng.integers(len(mutated) + 1))
        end = start + int(rng.integers(1, 20))
        change = rng.integers(6)
        if change == 0:
            mutated[start : start + 1] = bytes(
                b ^ 1 << rng.integers(8) for b in mutated[start:][:1]
            )
        elif change == 1:
            del mutated[start:end]
        elif change == 2:
            mutated[start:start] = mutated[start:end]
        elif change == 3:
            mutated[start:end] = rng.bytes(end - start)
        elif change == 4:
            mutated[start:end] = bytes(b'0123456789-eN[]{}":,'[i] for i in rng.integers(0, 20, 2))
        else:
            del mutated[start:]
    return bytes(mutated)


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every container and key in a JSON value."""
    if isinstance(value, (dict, list)):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from _places(value[key])
