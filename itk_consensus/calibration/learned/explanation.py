"""What was learned of raters, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from itk_consensus.calibration.learned.label_rule import LabelRule

#: Share of the changed voxels at which votes are tied that is worth a word.
_MOSTLY = 0.5


def explain(rules: Sequence[LabelRule], names: Sequence[str], cases: int) -> str:
    """A sentence or two for each label."""
    if not rules:
        return f"Consensus answers: no label is disputed in enough of the {cases} cases."
    return " ".join(_of_label(rule, names) for rule in rules)


def _of_label(rule: LabelRule, names: Sequence[str]) -> str:
    found = ", ".join(part for part in (_believed(rule, names), _where(rule)) if part)
    gain = (
        f"cases left out gain {rule.gain.mean:+.4f} Dice over Consensus "
        f"(95 % interval {rule.gain.low:+.4f} to {rule.gain.high:+.4f}, {rule.number} cases)"
    )
    if not rule.is_adopted:
        return (
            f"Label {rule.label}: Consensus answers. The best that was found {found}; {gain}, "
            "which may be chance."
        )
    error = f"its probabilities are {rule.calibration_error:.2f} off on cases left out"
    one = ""
    if rule.explained_by_one_rater:
        one = (
            f" {names[rule.best_rater]} alone gains {rule.best_rater_gain.mean:+.4f}: "
            "was it trained on these truths, or drew them?"
        )
    return f"Label {rule.label}: {found}; {gain}; {error}.{one}"


def _believed(rule: LabelRule, names: Sequence[str]) -> str:
    kind, _, which = rule.rule.kind.partition(" ")
    if kind == "rater":
        return f"believes {names[int(which)]} alone"
    if kind == "share":
        return f"marks where the smoothed share of votes reaches {rule.rule.share_cut:.2f}"
    weights = rule.rule.weights[: len(names)]
    order = np.argsort(-weights, kind="stable").tolist()
    spread = rule.intervals()
    first, *others = order
    clear = [j for j in others if spread[j][1] < weights[first] and weights[j] < spread[first][0]]
    beyond = [names[j] for j in others if j not in clear]
    listed = ", ".join(_weight(rule, j, names) for j in order)
    if not clear:
        return f"weighs raters much alike ({listed})"
    more = " and ".join([names[first], *beyond])
    verb = "more than the others" if len(clear) > 1 else f"more than {names[clear[0]]}"
    return f"believes {more} {verb} ({listed})"


def _weight(rule: LabelRule, rater: int, names: Sequence[str]) -> str:
    return f"{names[rater]} {rule.rule.weights[rater]:+.2f} +- {rule.errors[rater]:.2f}"


def _where(rule: LabelRule) -> str:
    """Where the answer leaves Consensus."""
    return "".join(_changes(rule))


def _changes(rule: LabelRule) -> Iterator[str]:
    if rule.changed:
        yield f"changes {rule.changed:.0%} of the disputed voxels"
        if rule.changed_ties > _MOSTLY:
            yield ", mostly where votes are tied"
