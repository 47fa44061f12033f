"""Measure where Consensus is worse than the vote, in simulated families and on real readers.

The following are measured for every family of simulated readers, and for real readers, with each
of them in turn, or an independent segmentation, as the reference:

- the mean difference in Dice from the vote (ties are background), its standard error, and the
  worst case;
- the volume of small labels among others relative to the true volume: the mean ratio and the ratio
  of the totals, for Consensus and for the vote;
- components of the vote, of two voxels or more, that Consensus deletes entirely: how many are true,
  i.e. lie mostly inside the reference; how many of the true ones are marked by most of the raters
  that Consensus uses, and are hence not due to gross errors; and how many are false;
- components that Consensus adds to the vote mostly outside the reference.

Rules are chosen on seeds below 3000 and on the even half of real cases (`--half even`); seeds 3000
to 3999 and the odd half report. `--before` compares with stored results for the same cases.

    python -m examples.benchmarks.methods.harm_evidence [--first-seed 3000] [--seeds 20]
        [--families leak cysts] [--sets LIDC crowd experts] [--half odd]
        [--before JSON] [--save harm_evidence.json]
"""

from __future__ import annotations

import argparse
import itertools
import json
from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from examples.benchmarks.methods.consensus_evidence import (
    Labels,
    all_settings,
    encoded,
    labelled,
    overlap,
    vote,
)
from examples.benchmarks.methods.real_evidence import SETS
from examples.benchmarks.run_facts import run_facts
from examples.simulation import SpacedCase
from itk_consensus.core.process_object import ProcessObject
from itk_consensus.methods.consensus.components import lost_components
from itk_consensus.methods.consensus.shared_consensus import SharedConsensus, shared_consensus
from itk_consensus.space.pieces import label_pieces

#: A label among others is small if its true region has fewer voxels.
SMALL = 900
HALVES = ("even", "odd")
#: Kinds of components that are counted.
COMPONENTS = ("true_deleted", "deleted_of_used", "false_deleted", "false_added")


class Measured(NamedTuple):
    """Differences between Consensus and the vote in one case."""

    gain: float  #: Dice of Consensus minus Dice of the vote
    #: Voxels of small labels in the reference, in Consensus and in the vote
    small: list[tuple[int, int, int]]
    true_deleted: int
    #: Number of true deleted components that were marked by most of the raters used
    deleted_of_used: int
    false_deleted: int
    false_added: int


def measured(case: SpacedCase) -> Measured:
    """Compare Consensus with the vote on a case."""
    patterns = encoded(case.raters)
    found = shared_consensus(patterns, case.spacing)
    answer = labelled(found.decision, patterns)
    voted = labelled(vote(patterns, case.spacing), patterns)
    labels = [value for value in np.unique(case.truth) if value != 0]
    small, deleted, of_used, added = [], np.zeros(2, int), 0, 0
    for index, label in enumerate(patterns.labels[1:], start=1):
        truth, ours, votes = (one == label for one in (case.truth, answer, voted))
        if len(labels) > 1 and 0 < (size := int(truth.sum())) < SMALL:
            small.append((size, int(ours.sum()), int(votes.sum())))
        lost = lost_components(votes, ours)
        deleted += _true_and_false(lost, truth)
        if lost.any():
            used = case.raters[_raters_used(found, index)] == label
            of_used += _true_and_false(lost & (2 * used.sum(axis=0) > len(used)), truth)[0]
        added += _true_and_false(lost_components(ours, votes), truth)[1]
    gain = overlap(answer, case.truth) - overlap(voted, case.truth)
    return Measured(gain, small, int(deleted[0]), of_used, int(deleted[1]), added)


def _raters_used(found: SharedConsensus, index: int) -> list[int]:
    """Return one rater from each group of raters used for a label."""
    return [found.groups[group][0] for group in found.voters[index].asked]


def _true_and_false(lost: Labels, truth: Labels) -> tuple[int, int]:
    """Return the numbers of components that lie mostly inside the reference, and of the others."""
    pieces = label_pieces(lost)
    inside = np.bincount(pieces.places[truth], minlength=pieces.number + 1)
    true = int(np.count_nonzero(2 * inside[1:] > pieces.sizes[1:]))
    return true, pieces.number - true


def row(group: str, name: str, gains: Sequence[float], cases: Sequence[Measured]) -> dict[str, Any]:
    """Return the stored results of a family; `gains` are those of independent cases."""
    small = np.array([sizes for case in cases for sizes in case.small])
    found: dict[str, Any] = {
        "group": group,
        "name": name,
        "cases": len(cases),
        "gain": float(np.mean(gains)),
        "error": float(np.std(gains, ddof=1) / np.sqrt(len(gains))),
        "worst": float(np.min(gains)),
    }
    found |= {key: sum(getattr(case, key) for case in cases) for key in COMPONENTS}
    if len(small):
        true, ours, voted = small.T
        found |= {
            "small": float((ours / true).mean()),
            "small_voted": float((voted / true).mean()),
            "small_together": float(ours.sum() / true.sum()),
            "small_voted_together": float(voted.sum() / true.sum()),
        }
    return found


def family_rows(seeds: Sequence[int], words: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Return families whose names contain one of the words; all if no words are given."""
    for group, name, drawn in all_settings(seeds):
        if not words or any(word in name for word in words):
            cases = [measured(case) for case in drawn]
            yield row(group, name, [case.gain for case in cases], cases)


def real_rows(sets: Iterable[str], half: str) -> Iterator[dict[str, Any]]:
    """Return the rows of the real data sets; the readers of one nodule, image or scan are one
    sample.
    """
    for name in sets:
        gains, cases = [], []
        groups = itertools.groupby(SETS[name](), lambda case: case.name)
        for number, (_, readings) in enumerate(groups):
            if number % 2 != HALVES.index(half):
                continue
            found = [
                measured(SpacedCase(one.truth, _masks(one.raters), one.spacing)) for one in readings
            ]
            gains.append(float(np.mean([case.gain for case in found])))
            cases += found
        if cases:
            yield row("real", name, gains, cases)
        else:
            print(f"{name}: no shared data")


def _masks(raters: Sequence[Labels]) -> Labels:
    masks = np.array(raters)
    return masks if masks.max() > 1 else masks > 0


def shown(found: dict[str, Any], before: dict[str, float]) -> str:
    """Format one line of the table."""
    change = found["gain"] - before.get(found["name"], np.nan)
    counts = " ".join(f"{found[key]:4}" for key in COMPONENTS)
    line = (
        f"{found['name']:30} {found['cases']:5} {found['gain']:+.4f} +- {found['error']:.4f} "
        f"{found['worst']:+.3f} {counts}"
    )
    if "small" in found:
        line += f"  small {found['small']:.3f}, together {found['small_together']:.3f}"
        line += f" (vote {found['small_voted']:.3f}, {found['small_voted_together']:.3f})"
    return line if np.isnan(change) else f"{line}  change {change:+.4f}"


def summary(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Format the lines below the table: the mean of each group, and deleted components per 100
    cases.
    """
    for group in dict.fromkeys(one["group"] for one in rows):
        some = [one for one in rows if one["group"] == group]
        gains = np.array([one["gain"] for one in some])
        worst = some[int(gains.argmin())]["name"]
        means = f"{gains.mean():+.4f}, worst {gains.min():+.4f}"
        yield f"{group}: mean of {len(some)} {means} ({worst})"
    families = [one for one in rows if one["group"] != "real"]
    if families:
        cases = sum(one["cases"] for one in families)
        rates = (
            f"{key.replace('_', ' ')} {100 * sum(one[key] for one in families) / cases:.2f}"
            for key in COMPONENTS
        )
        yield f"in 100 of {cases} simulated cases: {', '.join(rates)}"


#: Names of the groups in the documentation.
TITLES = {
    "real": "real readers, the odd half",
    "noise": "noise",
    "structures": "thin and odd structures",
    "slips": "slips",
    "practice": "practice",
    "harm": "leaks, spared holes, small neighbours",
}


def markdown(kept: dict[str, Any]) -> str:
    """Format tables of stored results: groups, small labels, and deleted components."""
    rows = kept["rows"]
    lines = [
        f"Kept from `{kept['run']['command']}` at commit {kept['run']['commit']}, "
        f"{kept['run']['date']}; differences of Dice to the vote.",
        "",
        "| | sets | mean | lowest |",
        "|---|---|---|---|",
    ]
    for group, title in TITLES.items():
        some = [one for one in rows if one["group"] == group]
        worst = min(some, key=itemgetter("gain"))
        mean = np.mean([one["gain"] for one in some])
        lowest = f"{_signed(worst['gain'])} ± {worst['error']:.4f}".replace("± 0.", "± .")
        lines.append(f"| {title} | {len(some)} | {_signed(mean)} | {lowest} ({worst['name']}) |")
    small = [
        f"{one['name']} {one['small']:.2f} ({one['small_voted']:.2f})"
        for one in rows
        if "small" in one and one["group"] != "real"
    ]
    simulated = [one for one in rows if one["group"] != "real"]
    cases = sum(one["cases"] for one in simulated)
    all_of_them, of_used = (
        100 * sum(one[key] for one in simulated) / cases for key in COMPONENTS[:2]
    )
    return "\n".join(
        [
            *lines,
            "",
            f"Mean volume of labels below {SMALL} voxels among others, as a share of the true one "
            f"(the vote's): {'; '.join(small)}.",
            "",
            f"True components of the vote that are lost in 100 of {cases} simulated cases: "
            f"{all_of_them:.2f}; those that most of the readers used drew: {of_used:.2f}.",
        ]
    )


def _signed(value: float) -> str:
    return f"{value:+.4f}".replace("0.", ".", 1)


def main() -> None:
    """Measure, print and store the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--first-seed", type=int, default=3000)
    parser.add_argument("--seeds", type=int, default=20, help="seeds per family")
    parser.add_argument("--families", nargs="*", default=[], help="words in the families' names")
    parser.add_argument(
        "--sets", nargs="*", choices=list(SETS), default=["LIDC", "crowd", "experts"]
    )
    parser.add_argument("--half", choices=HALVES, default="odd", help="of the real cases")
    parser.add_argument("--before", type=Path, metavar="JSON", help="a file kept of the same cases")
    parser.add_argument("--save", type=Path, metavar="JSON", help="keep the results here")
    options = parser.parse_args()
    run = run_facts()
    ProcessObject.SetGlobalDefaultNumberOfThreads(1)
    before = {}
    if options.before is not None:
        kept = json.loads(options.before.read_text(encoding="utf-8"))
        before = {one["name"]: one["gain"] for one in kept["rows"]}
    print(f"{'':30} cases  to the vote     worst  components: {', '.join(COMPONENTS)}")
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    rows = []
    found = itertools.chain(
        real_rows(options.sets, options.half), family_rows(seeds, options.families)
    )
    for one in found:
        rows.append(one)
        print(shown(one, before), flush=True)
    print(*summary(rows), sep="\n")
    if options.save is not None:
        kept = {"run": run, "rows": rows}
        options.save.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
