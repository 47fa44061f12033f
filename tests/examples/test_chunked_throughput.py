"""The figures of docs/howto/out-of-core.md are those that were measured."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_has_the_measured_table() -> None:
    path = ROOT / "examples" / "benchmarks" / "chunked_throughput.py"
    spec = importlib.util.spec_from_file_location("chunked_throughput", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    table = module.table(json.loads(module.RESULTS.read_text(encoding="utf-8")))
    assert table in (ROOT / "docs" / "howto" / "out-of-core.md").read_text(encoding="utf-8")
