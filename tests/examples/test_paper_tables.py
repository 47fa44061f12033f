from __future__ import annotations

import importlib
from pathlib import Path

import pytest

PAPER = Path(__file__).resolve().parents[2] / "examples" / "paper"


@pytest.fixture
def table(request):
    return importlib.import_module(f"examples.paper.{request.param}")


@pytest.mark.parametrize("table", ["table1", "table2", "table3"], indirect=True)
def test_every_published_digit_is_reproduced(table):
    assert table.compute() == table.PUBLISHED


@pytest.mark.parametrize("table", ["table1"], indirect=True)
def test_printed_table_has_the_published_column_beside_ours(table, capsys):
    table.main()
    title, header, first, *_ = capsys.readouterr().out.splitlines()
    assert title.startswith("Table 1.")
    assert header.split()[:4] == ["J", "measure", "paper", "ours"]
    assert first.count("1.000 ± 0.000") >= 2
