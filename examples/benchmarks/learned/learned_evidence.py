"""Measure the gain of fusion learned from a few cases with a reference over classical methods.

    python -m examples.benchmarks.learned.learned_evidence --part choose
    python -m examples.benchmarks.learned.learned_evidence --part report --save

From each cohort, 5, 10 and 20 cases are drawn 200 times, and the gain in Dice over Consensus is
measured on all other cases. Compared are the filter's own rule, which is replaced by Consensus if
cross-validation shows no gain, and these rules, learned from the same cases:

- *always*: the same weights, whether or not they help,
- *single*: the rater with the best Dice,
- *STAPLE*: sensitivities and specificities counted on the references (supervised STAPLE),
- *table*: the most frequent label of each pattern of votes (behaviour-knowledge space),
- *cut*: the threshold of the share of votes with the highest Dice.

In the last three, voxels of all cases have equal weight. Controls have raters about whom nothing
can be learned. Finally, the networks' weights are learned from the first 10 and 20 prostates and
tested once on prostates on which nothing was chosen. Results are stored in learned_evidence.json.
The data are next to the repository (../shared/data); missing sets are left out.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import SimpleITK as sitk
from numpy.typing import NDArray

import itk_consensus as ic
from examples.benchmarks.learned.cohorts import (
    NETWORKS,
    Cases,
    TrueCase,
    cohorts,
    prostates,
    shuffled,
)
from examples.benchmarks.run_facts import run_facts
from itk_consensus.calibration.learned.case_tables import case_tables
from itk_consensus.calibration.learned.disputed_label import SHARE_STEPS
from itk_consensus.calibration.learned.label_rule import FEWEST_CASES, Learner, learn_label
from itk_consensus.calibration.learned.vote_tables import LabelTable, StackedTables
from itk_consensus.core.errors import ConsensusWarning

RESULTS = Path(__file__).resolve().with_suffix(".json")
SIZES = (5, 10, 20)
DRAWS = 200
#: Numbers of draws for cohorts with many raters, for which one draw takes a minute.
FEW_DRAWS = {"hippocampi": 40}
#: Minimum number of cases that a draw must leave for testing.
LEAST_OTHERS = 3
FAIR = (1, 2, 3)

#: The tables of a case, by label.
Tables = dict[int, LabelTable]
#: Type of a rule: a function that returns which rows of other cases are marked as foreground.
Marks = Callable[[Learner], NDArray[np.bool_]]


def tables_of(case: TrueCase) -> Tables:
    """Return the vote tables of a case."""
    images = [_image(rater, case.spacing) for rater in case.raters]
    result = ic.ConsensusFilter().fuse(images)
    truth = {int(label): case.truth == label for label in np.unique(case.truth) if label}
    return {table.label: table for table in case_tables(result.case, result, truth)}


def _image(array: NDArray[Any], spacing: Sequence[float]) -> sitk.Image:
    image = sitk.GetImageFromArray(np.ascontiguousarray(array))
    image.SetSpacing(spacing[::-1])
    return image


# -- rules -----------------------------------------------------------------------------------


def learned(learner: Learner, tables: Sequence[LabelTable]) -> Marks | None:
    """Return the filter's rule; None means that Consensus is used."""
    found = learn_label(1, tables, learner.stack.number_of_raters)
    if found is None or not found.is_adopted:
        return None
    return lambda other: found.rule.choose(other.rows)


def always(learner: Learner, tables: Sequence[LabelTable]) -> Marks:
    """Return the learned weights for the middle one of the candidate precisions."""
    rule = learner.learn("weights 0.3", np.ones(len(tables), bool))
    return lambda other: rule.choose(other.rows)


def cut(learner: Learner, _tables: Sequence[LabelTable]) -> Marks:
    """Return the threshold on the vote share with the highest mean Dice or, with ties, their
    median.
    """
    levels = np.arange(1, SHARE_STEPS)
    scores = learner.dice(learner.stack.share[:, None] >= levels).mean(axis=0)
    best = levels[scores >= scores.max() - 1e-9]
    level = best[len(best) // 2]
    return lambda other: other.stack.share >= level


def single(learner: Learner, _tables: Sequence[LabelTable]) -> Marks:
    """Return the rater with the best Dice; Consensus is used where that rater did not annotate."""

    def marks(rater: int, of: Learner) -> NDArray[np.bool_]:
        votes = of.stack.votes[:, rater]
        return np.where(votes == 0, of.stack.consensus, votes > 0)

    raters = range(learner.stack.number_of_raters)
    best = max(raters, key=lambda j: learner.stack.dice(marks(j, learner)).mean())
    return partial(marks, best)


def staple(learner: Learner, _tables: Sequence[LabelTable]) -> Marks:
    """Return each rater's sensitivity and specificity, and the prior, counted on disputed
    voxels.
    """
    stack = learner.stack
    true, false = stack.true, stack.voxels - stack.true
    odds = []
    for votes in stack.votes.T:
        counted = [[(of * (votes == said)).sum() + 1 for said in (1, -1)] for of in (true, false)]
        (hit, miss), (wrong, right) = counted
        sensitivity, specificity = hit / (hit + miss), right / (wrong + right)
        odds.append((sensitivity / (1 - specificity), (1 - sensitivity) / specificity))
    prior = np.log((true.sum() + 1) / (false.sum() + 1))

    def marks(other: Learner) -> NDArray[np.bool_]:
        total = np.full(len(other.rows), prior)
        for votes, (mark, no_mark) in zip(other.stack.votes.T, odds, strict=True):
            total += np.log(np.where(votes > 0, mark, np.where(votes < 0, no_mark, 1.0)))
        return np.asarray(total >= 0)

    return marks


def table(learner: Learner, _tables: Sequence[LabelTable]) -> Marks:
    """Return the most frequent label of each pattern; Consensus is used for new patterns."""
    known: dict[bytes, NDArray[np.float64]] = {}
    stack = learner.stack
    for votes, true, voxels in zip(stack.votes, stack.true, stack.voxels, strict=True):
        known.setdefault(votes.tobytes(), np.zeros(2))[:] += true, voxels

    def marks(other: Learner) -> NDArray[np.bool_]:
        found = [known.get(votes.tobytes()) for votes in other.stack.votes]
        pairs = zip(found, other.stack.consensus.tolist(), strict=True)
        return np.array([c if one is None else 2 * one[0] >= one[1] for one, c in pairs], bool)

    return marks


RULES: dict[str, Callable[[Learner, Sequence[LabelTable]], Marks | None]] = {
    "learned": learned,
    "always": always,
    "single": single,
    "STAPLE": staple,
    "table": table,
    "cut": cut,
}


# -- random draws ---------------------------------------------------------------------------------


def gains(
    known: Sequence[Tables], others: Sequence[Tables], names: Sequence[str]
) -> dict[str, NDArray[np.float64]]:
    """Return the gain of each rule over Consensus in each other case, averaged over labels."""
    raters = next(t.number_of_raters for case in known for t in case.values() if t.votes)
    assert raters is not None
    total = {name: np.zeros(len(others)) for name in names}
    number = np.zeros(len(others))
    for label in sorted({label for case in (*known, *others) for label in case}):
        tables = [case[label] for case in known if label in case]
        where = [index for index, case in enumerate(others) if label in case]
        number[where] += 1
        learner = Learner(StackedTables.of(tables, raters))
        if len(np.unique(learner.stack.case)) < FEWEST_CASES or not where:
            continue
        tried = Learner(StackedTables.of([others[index][label] for index in where], raters))
        for name in names:
            marks = RULES[name](learner, tables)
            if marks is not None:
                # Our rules are replaced by Consensus if their result differs too much from it.
                dice = tried.dice if name in ("learned", "always", "cut") else tried.stack.dice
                total[name][where] += dice(marks(tried)) - tried.consensus_dice
    return {name: total[name] / np.maximum(number, 1) for name in names}


def drawn(sets: Sequence[Sequence[Tables]], size: int, draws: int) -> dict[str, Any]:
    """Return a summary of the mean gain of each rule over all draws."""
    found: dict[str, list[float]] = {name: [] for name in RULES}
    for draw in range(draws):
        cases = sets[draw % len(sets)]
        if len(cases) < size + LEAST_OTHERS:
            continue
        order = np.random.default_rng([size, draw]).permutation(len(cases))
        known, others = ([cases[i] for i in part] for part in (order[:size], order[size:]))
        for name, values in gains(known, others, list(RULES)).items():
            found[name].append(float(values.mean()))
    return {
        name: {
            "mean": float(np.mean(values)),
            "worst": float(np.min(values)),
            "harmed": float(np.mean(np.array(values) < -0.005)),
            "adopted": float(np.mean(np.array(values) != 0)),
            "draws": len(values),
        }
        for name, values in found.items()
        if values
    }


def measured(name: str, listed: Sequence[Cases]) -> dict[str, Any]:
    """Return the gains of the rules in a data set, by number of cases."""
    sets = [found for cases in listed if (found := [tables_of(case) for case in cases()])]
    curve = {}
    for size in SIZES:
        draws = FEW_DRAWS.get(name, DRAWS)
        if sets and (rows := drawn(sets, size, draws)):
            curve[str(size)] = rows
    return {"cases": [len(one) for one in sets], "draws": curve}


# -- the networks, tested once --------------------------------------------------------------------


def networks() -> Iterator[dict[str, Any]]:
    """Learn weights from the first 10 and 20 prostates, and test them on prostates on which
    nothing was chosen.
    """
    settings: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
        "all four": ({}, {}),
        "fair three": ({"networks": FAIR}, {"networks": FAIR}),
        "fair three, not seen": ({"networks": FAIR}, {"networks": FAIR, "unseen": True}),
    }
    names = list(RULES)
    for name, (taught, tried) in settings.items():
        known = [tables_of(case) for case in prostates("choose", **taught)]
        others = [tables_of(case) for case in prostates("report", **tried)]
        for number in (10, 20):
            row = _row(name, number, gains(known[:number], others, names))
            yield row | {"weights": weights(known[:number], taught.get("networks", range(4)))}
    control = list(shuffled(partial(prostates, "all")))
    known, others = ([tables_of(case) for case in part] for part in (control[:20], control[20:]))
    yield _row("CONTROL shuffled", 20, gains(known, others, names))


def weights(known: Sequence[Tables], networks: Sequence[int]) -> dict[str, list[float]]:
    """Return the weight and interval of each network, and whether it was adopted."""
    rule = learn_label(1, [case[1] for case in known], len(networks))
    assert rule is not None
    names = [NETWORKS[j] for j in networks]
    pairs = zip(names, rule.rule.weights, rule.intervals(), strict=False)
    return {name: [float(weight), float(low), float(high)] for name, weight, (low, high) in pairs}


def _row(name: str, number: int, found: dict[str, NDArray[np.float64]]) -> dict[str, Any]:
    return {
        "networks": name,
        "learned_from": number,
        "tried_on": len(found["learned"]),
        "gain": {rule: float(values.mean()) for rule, values in found.items()},
        "error": {
            rule: float(values.std(ddof=1) / len(values) ** 0.5) for rule, values in found.items()
        },
        "worst": float(found["learned"].min()),
    }


# -- output --------------------------------------------------------------------------------------


def markdown(kept: dict[str, Any]) -> str:
    """Format tables for the documentation."""
    lines = ["| cohort | cases learned from | " + " | ".join(RULES) + " | worst draw | adopted |"]
    lines.append("|---|---|" + "---|" * (len(RULES) + 2))
    for name, rows in kept["report"].items():
        for size, rules in rows["draws"].items():
            ours = rules["learned"]
            means = " | ".join(f"{rules[rule]['mean']:+.4f}" for rule in RULES)
            lines.append(
                f"| {name} | {size} | {means} | {ours['worst']:+.4f} | {ours['adopted']:.0%} |"
            )
    lines += ["", "| networks | learned from | tried on | learned | single | STAPLE |"]
    lines.append("|---|---|---|---|---|---|")
    for row in kept["networks"]["rows"]:
        cells = " | ".join(
            f"{row['gain'][rule]:+.4f} ± {row['error'][rule]:.4f}"
            for rule in ("learned", "single", "STAPLE")
        )
        lines.append(f"| {row['networks']} | {row['learned_from']} | {row['tried_on']} | {cells} |")
    return "\n".join(lines)


def shown(name: str, rows: dict[str, Any]) -> Iterator[str]:
    """Format a line for each number of cases."""
    for size, rules in rows["draws"].items():
        ours = rules["learned"]
        others = "  ".join(f"{rule} {rules[rule]['mean']:+.4f}" for rule in RULES)
        yield (
            f"{name:30} {size:>2} cases: {others}   worst {ours['worst']:+.4f}, "
            f"harmed {ours['harmed']:.1%}, adopted {ours['adopted']:.0%} of {ours['draws']}"
        )


def main() -> None:
    """Measure, print and store the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", choices=("choose", "report"), default="choose")
    parser.add_argument("--sets", nargs="+", help="only those whose names begin so")
    parser.add_argument("--networks", action="store_true", help="only the networks' last word")
    parser.add_argument("--save", action="store_true", help=f"keep in {RESULTS.name}")
    options = parser.parse_args()
    ic.ProcessObject.SetGlobalDefaultNumberOfThreads(1)
    warnings.simplefilter("ignore", ConsensusWarning)
    kept = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    part = kept.setdefault(options.part, {})
    for name, listed in cohorts(options.part).items():
        if options.networks or (options.sets and not name.startswith(tuple(options.sets))):
            continue
        rows = measured(name, listed)
        if not rows["cases"]:
            print(f"{name}: no shared data")
            continue
        part[name] = {"run": run_facts(), **rows}
        print("\n".join(shown(name, rows)), flush=True)
        _keep(kept, options.save)
    if options.part == "report" and not options.sets:
        rows = list(networks())
        kept["networks"] = {"run": run_facts(), "rows": rows}
        for row in rows:
            rule = "  ".join(f"{r} {row['gain'][r]:+.4f} ± {row['error'][r]:.4f}" for r in RULES)
            print(f"{row['networks']:22} {row['learned_from']:>2} -> {row['tried_on']}: {rule}")
        _keep(kept, options.save)


def _keep(kept: dict[str, Any], save: bool) -> None:
    if save:
        RESULTS.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
