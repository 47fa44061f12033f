from __future__ import annotations

import math

from itk_consensus.report.text import (
    format_extents,
    format_value,
    pairs,
    section,
    table,
    wrap_lines,
)


def test_values_are_shown_as_people_write_them() -> None:
    assert [format_value(value) for value in (None, True, 0.25, 7, (), (0.5, 1.0), {1: 0.5})] == [
        "-",
        "yes",
        "0.25",
        "7",
        "-",
        "0.5,1",
        "1:0.5",
    ]
    assert format_value(math.pi) == "3.14159"
    assert format_extents((512, 0.5)) == "512 x 0.5"


def test_columns_of_a_table_line_up() -> None:
    assert table(["rater", "ml"], [("0", 1.5), ("1", 10.25)]) == [
        "rater     ml",
        "0        1.5",
        "1      10.25",
    ]


def test_pairs_and_sections_line_up() -> None:
    assert section("Grid", pairs({"size": "2", "origin": "0"})) == (
        "Grid\n  size    2\n  origin  0"
    )
    assert pairs({}) == []


def test_long_lines_are_wrapped_and_indented() -> None:
    lines = wrap_lines("one two three\nfour", width=9)
    assert lines == ["one two", "    three", "four"]
