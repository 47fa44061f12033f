"""What labels are called: given in words, or read from the files that other programs keep it in."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable
from pathlib import Path

from itk_consensus.core.errors import FileError, ParameterError
from itk_consensus.storage.files import read_bytes

#: Columns of the number of a label in tables of BIDS (dseg.tsv) and others.
_NUMBERS = ("index", "label", "value", "id", "number")
_NAMES = ("name", "structure", "organ", "label_name")
#: A line of ITK-SNAP's label descriptions: number, red, green, blue, opacity, two flags, "name".
_SNAP = re.compile(r'\s*(\d+)\s+\d+\s+\d+\s+\d+\s+\S+\s+\d\s+\d\s+"(.*)"\s*')
_LONGEST_NAME = 200


def label_names(text: str) -> dict[int, str]:
    """Names of labels from "1=liver,2=spleen" or from the file that a text names.

    Files are tables with a column index or label and a column name (CSV, or TSV as BIDS has it),
    nnU-Net's dataset.json, a JSON object of number to name, or ITK-SNAP's label descriptions.
    """
    if re.fullmatch(r"\s*\d+\s*=[^=]*(,\s*\d+\s*=[^=]*)*", text):
        parts = (part.partition("=") for part in text.split(","))
        return _checked(((number, name) for number, _, name in parts), text)
    path = Path(text)
    if not path.is_file():
        raise ParameterError(f"label names must be 1=NAME,2=NAME or a file, got {text!a}")
    content = read_bytes(path).decode("utf-8-sig", errors="replace")
    try:
        return _checked(_rows(content), str(path))
    except (ValueError, TypeError, AttributeError, RecursionError, csv.Error) as error:
        raise FileError(
            "holds no names of labels: it must have the columns index and name, or be nnU-Net's "
            "dataset.json or ITK-SNAP's label descriptions",
            path=path,
        ) from error


def _rows(content: str) -> Iterable[tuple[object, object]]:
    """Number and name of each label in a file, as they stand there."""
    if content.lstrip().startswith("{"):
        named = json.loads(content)
        named = named.get("labels", named)
        # nnU-Net has names first, since one of its names may hold several labels.
        turned = not all(str(key).isdecimal() for key in named)
        rows = [(v, k) if turned else (k, v) for k, v in named.items()]
        return [row for row in rows if not isinstance(row[0], list)]
    snapped = [found.groups() for line in content.splitlines() if (found := _SNAP.fullmatch(line))]
    if snapped:
        return [(number, name) for number, name in snapped]
    first = content.splitlines()[0] if content.strip() else ""
    table = csv.DictReader(io.StringIO(content), delimiter="\t" if "\t" in first else ",")
    columns = {(name or "").strip().lower(): name for name in table.fieldnames or ()}
    number = next((columns[name] for name in _NUMBERS if name in columns), None)
    called = next((columns[name] for name in _NAMES if name in columns), None)
    if number is None or called is None:
        raise ValueError("columns")
    return [(row[number], row[called]) for row in table]


def _checked(rows: Iterable[tuple[object, object]], owner: str) -> dict[int, str]:
    names: dict[int, str] = {}
    for number, name in rows:
        text = str(name).strip()[:_LONGEST_NAME]
        if names.setdefault(int(str(number)), text) != text:
            raise ParameterError(f"{owner}: label {number} has two names")
    return {number: name for number, name in names.items() if name}
