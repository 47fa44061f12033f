"""Number of repetitions in slow tests: limited for CI, or large for high confidence."""

from __future__ import annotations

import os
from typing import TypeVar

Length = TypeVar("Length")

#: Set by `make test-all`.
AT_LENGTH = bool(os.environ.get("ITK_CONSENSUS_AT_LENGTH"))


def by_length(usual: Length, at_length: Length) -> Length:
    """Return the usual value or, if ITK_CONSENSUS_AT_LENGTH is 1, the value for long tests."""
    return at_length if AT_LENGTH else usual
