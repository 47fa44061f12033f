"""Measure how often a verdict warns of bad results, and how often of good ones.

Simulated families (noise, structures, realistic readers, gross errors called slips) are fused by
Consensus, the vote and STAPLE. A result is *bad* if its Dice is more than .03 below that of the
plain vote, or if it is below .7 and another fuser of the package is better by .05. A result is
*good* if its Dice is at least .85 and not more than .005 below that of the vote. Good results are
counted for readers who agree well (mean Dice of pairs of .85 or more) or moderately (.7 to .85).
Families with slips are excluded, since a warning about a slip is correct.

Rules were chosen on seeds below 3000 (``--choose``); seeds 3000 to 3999 are for reporting. Of real
readers (`readers_evidence.py`), with simulated slips or in agreement, even-numbered cases are for
choosing and odd-numbered ones for reporting. Nothing was chosen on the families of
`FRESH_SETTINGS`, and those of `TOOL_SETTINGS` were written for a single report.

    python -m examples.benchmarks.findings.verdict_evidence [--choose] [--seeds 8] [--save]
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import SimpleITK as sitk
from numpy.typing import NDArray

import itk_consensus as ic
from examples.benchmarks.findings import readers_evidence
from examples.benchmarks.run_facts import run_facts
from examples.simulation import (
    PRACTICE_SETTINGS,
    SLIP_SETTINGS,
    STRUCTURE_SETTINGS,
    SpacedCase,
    twelve_settings,
)
from examples.simulation.contour_errors import contour_error_raters
from examples.simulation.fresh_settings import FRESH_SETTINGS, SEEN_SETTINGS
from examples.simulation.practice_settings import blob, skill_case
from examples.simulation.structure_settings import COARSE_ERRORS
from examples.simulation.tool_settings import TOOL_SETTINGS
from itk_consensus.assessment.assessment import assess
from itk_consensus.assessment.findings import Diagnostics
from itk_consensus.assessment.verdict import WORDS, Verdict
from itk_consensus.core.errors import ConsensusWarning
from itk_consensus.fusing.label_fusion import LabelFusionFilter
from itk_consensus.votes.overlap import dice

RESULTS = Path(__file__).resolve().with_suffix(".json")

Make = Callable[[], LabelFusionFilter]

#: Methods whose results are judged.
JUDGED: dict[str, Make] = {
    "Consensus": ic.ConsensusFilter,
    "vote": ic.MajorityVoteFilter,
    "STAPLE": ic.STAPLEImageFilter,
}

#: Other methods of the package, for comparison.
OTHERS: dict[str, Make] = {
    "STAPLE Advanced": lambda: ic.STAPLEImageFilter(Variant="advanced"),
    "smoothed vote": lambda: ic.MajorityVoteFilter(SmoothingSigma=1.0),
    "SIMPLE": ic.SIMPLEFilter,
    "shape": ic.ShapeBasedAveragingFilter,
}

WORSE_THAN_VOTE, LOW, BETTER = 0.03, 0.7, 0.05
GOOD, NOT_WORSE = 0.85, 0.005
AGREE, MODERATE = 0.85, 0.7

#: Required rates of warnings: a minimum for bad results, and maxima for good ones.
WANTED = {"bad": 0.9, "agree": 0.06, "moderate": 0.15}

#: Families with slips or two groups of readers, for which only bad results are counted.
SLIPPED = (
    "one inverted",
    "two empty",
    "2 of 5 empty",
    "ten networks",
    "colluding",
    "misregistration",
)
CAMPS = ("different edges", "two schools 3:3", "two schools 4:2", "over-drawing", "under-drawing")


class Row(NamedTuple):
    """A method's result for one case."""

    family: str
    method: str
    dice: float
    vote: float
    best: float  #: Highest Dice of all fusers
    agreement: float  #: Mean Dice of pairs of raters
    found: Diagnostics

    @property
    def is_bad(self) -> bool:
        low = self.dice < LOW and self.best >= self.dice + BETTER
        return low or self.dice < self.vote - WORSE_THAN_VOTE

    @property
    def is_good(self) -> bool:
        slipped = " readers, one " in self.family or self.family in (*SLIPPED, *CAMPS)
        return not slipped and self.dice >= max(GOOD, self.vote - NOT_WORSE)

    @property
    def warned(self) -> bool:
        return Verdict.of(self.found).word != "use"


def schools_case(seed: int, first: int = 3, second: int = 3) -> SpacedCase:
    """Simulate two groups of readers, the second of which draws 2.5 voxels smaller."""
    return skill_case(seed, [0.7] * (first + second), [0.3] * first + [-2.5] * second)


def missing_case(seed: int) -> SpacedCase:
    """Simulate five readers, each of whom annotated only some rows; label 2 means missing."""
    rng = np.random.default_rng(seed)
    truth = blob(seed)
    raters = contour_error_raters(truth, 5, seed, **COARSE_ERRORS).astype(np.uint8)
    for rater in raters:
        first = int(rng.integers(0, 60))
        rater[first : first + 36] = 2
    return SpacedCase(truth, raters, (1.0, 1.0))


def pair_case(seed: int) -> SpacedCase:
    """Simulate two readers, one of whom draws larger than the other."""
    return skill_case(seed, [0.7, 0.7], [1.2, -1.2])


EXTRA: dict[str, Callable[[int], SpacedCase]] = {
    "two schools 3:3": schools_case,
    "two schools 4:2": lambda seed: schools_case(seed, 4, 2),
    "missing readers": missing_case,
    "two readers, wide and tight": pair_case,
}


def unseen(
    settings: dict[str, Callable[[int], SpacedCase]], seeds: range
) -> Iterator[tuple[str, SpacedCase]]:
    """Yield cases of families on which nothing was chosen."""
    for name, make in settings.items():
        for seed in seeds:
            case = make(seed)
            yield name, SpacedCase(case.truth, case.raters.astype(np.uint8), case.spacing)


def real(first: int) -> list[dict[str, Any]]:
    """Count the verdicts on Consensus of real readers: with simulated slips, and of readers who
    agree.
    """
    table = []
    for slip in readers_evidence.SLIPS:
        words = [_word(one.case) for one in readers_evidence.planted(slip, first)]
        table.append({"group": f"slip: {slip}", **_counted(words)})
    for title, kind in readers_evidence.AGREEING.items():
        words = [_word(case) for case in readers_evidence.agreeing(kind, first)]
        table.append({"group": title, **_counted(words)})
    return table


def _word(case: readers_evidence.Case) -> str:
    images = [sitk.GetImageFromArray(rater) for rater in case.readers]
    for image in images:
        image.SetSpacing(case.spacing[::-1])
    filter_ = ic.ConsensusFilter()
    filter_.Execute(images)
    return assess(filter_.GetResult()).verdict().word


def _counted(words: Sequence[str]) -> dict[str, int]:
    return {"cases": len(words), **{word: words.count(word) for word in WORDS}}


def cases(seeds: range) -> Iterator[tuple[str, SpacedCase]]:
    """Yield cases of all families; with several labels, the first label against the others."""
    for settings in (STRUCTURE_SETTINGS, SLIP_SETTINGS, PRACTICE_SETTINGS, SEEN_SETTINGS, EXTRA):
        for name, make in settings.items():
            for seed in seeds:
                case = make(seed)
                raters = np.asarray(case.raters, np.uint8)
                if name != "missing readers":
                    raters = (raters == 1).astype(np.uint8)
                yield name, SpacedCase(case.truth == 1, raters, case.spacing)
    for setting in twelve_settings(seeds):
        for truth, raters in setting.cases:
            masks = (raters != 0).astype(np.uint8)
            yield setting.name, SpacedCase(truth != 0, masks, (1.0,) * truth.ndim)


def rows(drawn: Iterator[tuple[str, SpacedCase]]) -> Iterator[Row]:
    """Yield the results of all judged methods in all cases."""
    for name, case in drawn:
        images = [sitk.GetImageFromArray(rater) for rater in case.raters]
        for image in images:
            image.SetSpacing(case.spacing[::-1])
        agreement = _agreement(case.raters)
        scores, found = dict[str, float](), dict[str, Diagnostics]()
        for method, make in {**JUDGED, **OTHERS}.items():
            filter_ = make()
            if case.raters.max() > 1:
                filter_.MissingLabel = 2
            filter_.Execute(images)
            result = filter_.GetResult()
            scores[method] = _dice(result.settled_labels() == 1, case.truth)
            if method in JUDGED:
                found[method] = assess(result).findings()
        best = max(scores.values())
        for method, diagnostics in found.items():
            yield Row(name, method, scores[method], scores["vote"], best, agreement, diagnostics)


def _agreement(raters: NDArray[Any]) -> float:
    """Return the mean Dice of pairs where both annotated; for two empty masks it is 1."""
    values = []
    for a, b in combinations(raters, 2):
        both = (a != 2) & (b != 2)
        values.append(dice(a[both] == 1, b[both] == 1))
    return float(np.mean(values))


def _dice(answer: NDArray[np.bool_], truth: NDArray[np.bool_]) -> float:
    """Return the Dice; for an absent structure, 1 if the result is empty, else 0."""
    return dice(answer, truth) if truth.any() else float(not answer.any())


def rates(every: Sequence[Row]) -> list[dict[str, Any]]:
    """Count, for each method, the bad and the good results, and the warnings about them."""
    table = []
    for method in (*JUDGED, "all"):
        own = [one for one in every if method in (one.method, "all")]
        bad = [one for one in own if one.is_bad]
        agree = [one for one in own if one.is_good and one.agreement >= AGREE]
        some = [one for one in own if one.is_good and MODERATE <= one.agreement < AGREE]
        poor = [one for one in own if one.is_good and one.agreement < MODERATE]
        groups = {"bad": bad, "agree": agree, "moderate": some, "poor": poor}
        row: dict[str, Any] = {"method": method}
        for title, group in groups.items():
            row[title] = len(group)
            row[f"{title}, warned"] = sum(one.warned for one in group)
        table.append(row)
    return table


def by_family(every: Sequence[Row]) -> list[dict[str, Any]]:
    """Count missed bad results, and warnings about good ones, by family and method."""
    table = []
    for key in sorted({(one.family, one.method) for one in every}):
        own = [one for one in every if (one.family, one.method) == key]
        bad, good = [one for one in own if one.is_bad], [one for one in own if one.is_good]
        row = {"family": key[0], "method": key[1], "bad": len(bad), "good": len(good)}
        row["missed"] = sum(not one.warned for one in bad)
        row["cried"] = sum(one.warned for one in good)
        table.append(row)
    return table


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the rates, and store them if requested."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--choose", action="store_true", help="on seeds below 3000")
    parser.add_argument("--seeds", type=int, default=8, help="seeds per family")
    parser.add_argument("--first", type=int, default=3000, help="first seed of the report")
    parser.add_argument("--misses", action="store_true", help="name families that went wrong")
    parser.add_argument("--save", action="store_true", help=f"keep the rates in {RESULTS.name}")
    parser.add_argument("--part", choices=PARTS, default=list(PARTS), nargs="+", help="which rates")
    options = parser.parse_args(arguments)
    first = 1000 if options.choose else options.first
    results: dict[str, Any] = {}
    for part in options.part:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConsensusWarning)
            results[part] = PARTS[part](first, options.seeds) | {"run": run_facts()}
    print("\n\n".join(tables(results)))
    for found in results.values() if options.misses else ():
        for row in found.get("families", ()):
            if row["missed"] or row["cried"]:
                print(row)
    if options.save:
        kept = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
        RESULTS.write_text(json.dumps(kept | results, indent=1) + "\n", encoding="utf-8")


def _simulated(first: int, seeds: int) -> dict[str, Any]:
    every = list(rows(cases(range(first, first + seeds))))
    return {"rates": rates(every), "families": by_family(every)}


def _fresh(first: int, seeds: int) -> dict[str, Any]:
    every = list(rows(unseen(FRESH_SETTINGS, range(first, first + seeds))))
    return {"rates": rates(every), "families": by_family(every)}


def _tools(first: int, seeds: int) -> dict[str, Any]:
    every = list(rows(unseen(TOOL_SETTINGS, range(first, first + seeds))))
    return {"rates": rates(every), "families": by_family(every)}


def _real(first: int, seeds: int) -> dict[str, Any]:
    return {"rows": real(int(first >= 3000))}


#: The parts of the results, by name; for real readers, even-numbered cases are for choosing.
PARTS: dict[str, Callable[[int, int], dict[str, Any]]] = {
    "simulated": _simulated,
    "fresh": _fresh,
    "tools": _tools,
    "real": _real,
}


def tables(results: dict[str, Any]) -> Iterator[str]:
    """Yield all results as Markdown tables."""
    for found in results.values():
        yield real_table(found["rows"]) if "rows" in found else table(found["rates"])


def real_table(of_readers: Sequence[dict[str, Any]]) -> str:
    """Format the verdicts on real readers as Markdown."""
    lines = [f"| real readers, odd cases | cases | {' | '.join(WORDS)} |", "|---|---|---|---|---|"]
    for row in of_readers:
        lines.append(
            f"| {row['group']} | {row['cases']} | {' | '.join(str(row[w]) for w in WORDS)} |"
        )
    return "\n".join(lines)


_KINDS = {
    "bad": "bad results",
    "agree": "good ones of readers who agree",
    "moderate": "good ones of readers who agree moderately",
}


def met(of_methods: Sequence[dict[str, Any]]) -> str:
    """State in a sentence whether the rates of all methods together meet the requirements."""
    every = next(row for row in of_methods if row["method"] == "all")
    missed = []
    for title, wanted in WANTED.items():
        share = every[f"{title}, warned"] / max(every[title], 1)
        if share < wanted if title == "bad" else share > wanted:
            limit = "at least" if title == "bad" else "at most"
            missed.append(f"{_KINDS[title]} {share:.1%} ({limit} {wanted:.0%} wanted)")
    return f"Not met: {'; '.join(missed)}." if missed else "All three are met."


def table(of_methods: Sequence[dict[str, Any]]) -> str:
    """Format the rates as Markdown."""
    lines = [
        "| method | bad: warned of | good, readers agree: cried at | good, moderately: cried at | "
        "good, poorly: cried at |",
        "|---|---|---|---|---|",
    ]
    for row in of_methods:
        cells = [
            f"{row[f'{title}, warned']} of {row[title]}"
            + (f" ({row[f'{title}, warned'] / row[title]:.0%})" if row[title] else "")
            for title in ("bad", "agree", "moderate", "poor")
        ]
        lines.append(f"| {row['method']} | {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
