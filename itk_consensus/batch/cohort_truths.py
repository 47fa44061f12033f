"""Cases of a cohort with their true segmentations, and with raters in the same order."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from itk_consensus.batch.cases import BatchCase, find_cases
from itk_consensus.core.errors import FileError


@dataclass(frozen=True)
class TrueCase:
    """A case with the files of all raters of the cohort and the true segmentation."""

    name: str
    raters: Mapping[str, Path | None]  #: Files by rater name; None for raters missing in this case
    truth: Path


def find_true_cases(pattern: str, truth: str) -> list[TrueCase]:
    """Find the cases that have a true segmentation, by a pattern or in a BIDS folder.

    See `find_cases` for patterns and folders.

    Parameters
    ----------
    truth : str
        A pattern with ``{case}``, or the name of the rater whose files are the true segmentations.
    """
    is_rater = "{case}" not in truth
    cases = find_cases(pattern, None if is_rater else truth)
    found = [(case, _truth_among(case, truth) if is_rater else case.image) for case in cases]
    known = [(case, path) for case, path in found if path is not None]
    if not known:
        raise FileError(
            f"{truth}: no case has such a truth; give a pattern with {{case}}, or the name of one "
            f"of the raters {', '.join(cases[0].rater_names)}"
        )
    return with_raters_in_order(known)


def _truth_among(case: BatchCase, name: str) -> Path | None:
    return dict(zip(case.rater_names, case.raters, strict=True)).get(name)


def with_raters_in_order(cases: Iterable[tuple[BatchCase, Path]]) -> list[TrueCase]:
    """Assign to each case all raters of the cohort, sorted by name.

    Raises
    ------
    FileError
        A rater occurs in only one case, so nothing can be learned about that rater.
    """
    drawn = [(case.name, _others(case, truth), truth) for case, truth in cases]
    seen = Counter(name for _, raters, _ in drawn for name in raters)
    lone = sorted(name for name, number in seen.items() if number == 1)
    if lone and len(drawn) > 1:
        raise FileError(
            f"rater {lone[0]!a} is in one case only; raters must have the same names in all cases: "
            "name them by {rater} in the pattern, or as NAME=FILE in a list"
        )
    return [
        TrueCase(case, {name: raters.get(name) for name in sorted(seen)}, truth)
        for case, raters, truth in drawn
    ]


def _others(case: BatchCase, truth: Path) -> dict[str, Path]:
    """Return the raters of a case by name, excluding the true segmentation."""
    files = zip(case.rater_names, case.raters, strict=True)
    return {n: path for n, path in files if os.path.realpath(path) != os.path.realpath(truth)}


def find_order(names: Sequence[str], known: Sequence[str]) -> list[int | None] | None:
    """Return the index in `names` of each known rater; None for missing raters.

    The result is None if none of the names is known, for example if raters are anonymous.
    """
    if not set(names) & set(known):
        return None
    unknown = [name for name in names if name not in known]
    if unknown:
        raise FileError(
            f"rater {unknown[0]!a} is not in the learned record, which has {', '.join(known)}"
        )
    return [names.index(name) if name in names else None for name in known]
