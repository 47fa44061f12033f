"""Cases of a cohort with their truths, and raters by name in one order."""

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
    """A case, what each rater of the cohort drew of it, and the truth."""

    name: str
    raters: Mapping[str, Path | None]  #: By name; None for who did not see it
    truth: Path


def find_true_cases(pattern: str, truth: str) -> list[TrueCase]:
    """Cases named by a pattern or in a BIDS folder, as of `find_cases`, which have a truth.

    Parameters
    ----------
    truth : str
        A pattern with ``{case}``, or the name of the rater whose files are the truth.
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
    """Each case with all raters of the cohort, in the order of their names.

    Raises
    ------
    FileError
        Names of raters do not recur from case to case, so that nothing could be learned of them.
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
    """The raters of a case by name, without the truth."""
    files = zip(case.rater_names, case.raters, strict=True)
    return {n: path for n, path in files if os.path.realpath(path) != os.path.realpath(truth)}


def in_order_of(names: Sequence[str], wanted: Sequence[str]) -> list[int | None] | None:
    """Where each of the wanted raters stands among others, None for who is missing.

    None altogether if the others have names of another kind, none of which is wanted.
    """
    if not set(names) & set(wanted):
        return None
    strange = [name for name in names if name not in wanted]
    if strange:
        raise FileError(
            f"rater {strange[0]!a} is none of those that were learned from: {', '.join(wanted)}"
        )
    return [names.index(name) if name in names else None for name in wanted]
