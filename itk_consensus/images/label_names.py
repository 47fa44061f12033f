"""Names of labels, given as text or read from files of other programs."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable
from pathlib import Path

from itk_consensus.core.errors import FileError, ParameterError
from itk_consensus.storage.files import read_bytes

#: Columns that contain label values in tables of BIDS (dseg.tsv) and others.
_NUMBERS = ("index", "label", "value", "id", "number")
_NAMES = ("name", "structure", "organ", "label_name")
#: A line of ITK-SNAP's label descriptions: label, red, green, blue, opacity, two flags, "name".
_SNAP = re.compile(r'\s*(\d+)\s+\d+\s+\d+\s+\d+\s+\S+\s+\d\s+\d\s+"(.*)"\s*')
_LONGEST_NAME = 200


def label_names(text: str) -> dict[int, str]:
    """Parse names of labels from a text such as "1=liver,2=spleen", or read them from a file.

    A file may be a table (CSV, or TSV as in BIDS) with a column index or label and a column name,
    nnU-Net's dataset.json, a JSON object that maps labels to names, or ITK-SNAP's label
    descriptions.
    """
    if re.fullmatch(r"\s*\d+\s*=[^=]*(,\s*\d+\s*=[^=]*)*", text):
        parts = (part.partition("=") for part in text.split(","))
        return _consistent_names(((number, name) for number, _, name in parts), text)
    path = Path(text)
    if not path.is_file():
        raise ParameterError(f"label names must be 1=NAME,2=NAME or a file, got {text!a}")
    content = read_bytes(path).decode("utf-8-sig", errors="replace")
    try:
        return _consistent_names(_rows(content), str(path))
    except (ValueError, TypeError, AttributeError, RecursionError, csv.Error) as error:
        raise FileError(
            "holds no label names: it must have the columns index and name, or be nnU-Net's "
            "dataset.json or ITK-SNAP's label descriptions",
            path=path,
        ) from error


def _rows(content: str) -> Iterable[tuple[object, object]]:
    """Return label and name of each entry of a file, unparsed."""
    if content.lstrip().startswith("{"):
        named = json.loads(content)
        named = named.get("labels", named)
        # nnU-Net maps names to labels, since a region may consist of several labels.
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


def _consistent_names(rows: Iterable[tuple[object, object]], owner: str) -> dict[int, str]:
    """Return the non-empty names by label; raise if a label has two names."""
    names: dict[int, str] = {}
    for number, name in rows:
        text = str(name).strip()[:_LONGEST_NAME]
        if names.setdefault(int(str(number)), text) != text:
            raise ParameterError(f"{owner}: label {number} has two names")
    return {number: name for number, name in names.items() if name}
