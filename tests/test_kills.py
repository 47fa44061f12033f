"""After a kill, the next run of the same or another plan writes its own correct result."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kills import batch_commands, check_kills, pair_commands, store_commands
from lengths import by_length

KINDS: dict[str, Callable[[Path], Any]] = {
    "batch": batch_commands,
    "mhd": lambda folder: pair_commands(folder, ".mhd"),
    "nhdr": lambda folder: pair_commands(folder, ".nhdr"),
    "hdr": lambda folder: pair_commands(folder, ".hdr"),
    "zarr": store_commands,
}
pytestmark = pytest.mark.skipif(os.name != "posix", reason="there is no SIGKILL")


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_no_kill_leads_to_a_wrong_or_mixed_answer(kind: str, tmp_path: Path) -> None:
    if kind == "zarr":
        pytest.importorskip("zarr")
        pytest.importorskip("dask")
    check_kills(*KINDS[kind](tmp_path), by_length(25, 200), seed=28)
