"""How long slow tests go on: as long as CI waits for, or as long as it takes to be sure."""

from __future__ import annotations

import os
from typing import TypeVar

Length = TypeVar("Length")

#: Set by `make test-all`.
AT_LENGTH = bool(os.environ.get("ITK_CONSENSUS_AT_LENGTH"))


def by_length(usual: Length, at_length: Length) -> Length:
    """What slow tests take as they come, or with ITK_CONSENSUS_AT_LENGTH=1."""
    return at_length if AT_LENGTH else usual
