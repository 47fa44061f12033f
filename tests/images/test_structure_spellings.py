"""A hundred and twenty ways in which people write the names of structures.

`structure_spellings.csv` was written before the matcher that it judges. Of 282 names as they stand
in public lists the 120 of the lowest SHA-256 were taken; half of each structure's chooses rules,
the other half reports.
The column `source` says where a name is from:

- tg263: the names, straight and in reverse order, of the AAPM's report 263 (worksheet of 2017)
- nikolov: labels of the head-and-neck scans of Nikolov et al., J Med Internet Res 2021
- voxtox: contours of clinical plans of the VoxTox study, as listed in the examples of scikit-rt
- mcgill: names in clinical use that McGill's TG263ComplianceTool had to convert
- totalseg: classes of TotalSegmentator; umcg: University Medical Center Groningen
- german, french, spanish, portuguese: published planning scripts and lists of such clinics
- mdacc: MD Anderson's head-and-neck cohort; clinic: what oncologists tried this package with
"""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

TABLE = Path(__file__).with_name("structure_spellings.csv")


def spellings(half: str) -> dict[str, str]:
    """The structure that each spelling of a half means."""
    with TABLE.open(encoding="utf-8", newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row["half"] == half]
    return {row["spelling"]: row["structure"] for row in rows}


def test_the_table_has_a_hundred_and_twenty_names_in_two_halves() -> None:
    choose, report = spellings("choose"), spellings("report")
    assert (len(choose), len(report)) == (61, 59)
    assert not choose.keys() & report.keys()
    pairs = [
        sum(n * (n - 1) // 2 for n in Counter(half.values()).values()) for half in (choose, report)
    ]
    assert pairs == [59, 48]
