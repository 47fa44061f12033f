"""Description of learned rules in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from itk_consensus.calibration.learned.label_rule import LabelRule

#: Ties are mentioned if at least this share of the voxels that the rules change had tied votes.
_MOSTLY = 0.5


def explain(rules: Sequence[LabelRule], names: Sequence[str], cases: int) -> str:
    """Describe the rule of each label in a sentence or two."""
    if not rules:
        return f"Consensus is used: no label is disputed in enough of the {cases} cases."
    return " ".join(_of_label(rule, names) for rule in rules)


def _of_label(rule: LabelRule, names: Sequence[str]) -> str:
    found = ", ".join(part for part in (_rater_description(rule, names), _changes(rule)) if part)
    gain = (
        f"cases left out gain {rule.gain.mean:+.4f} Dice over Consensus "
        f"(95 % interval {rule.gain.low:+.4f} to {rule.gain.high:+.4f}, {rule.number} cases)"
    )
    if not rule.is_adopted:
        return (
            f"Label {rule.label}: Consensus is used. The best rule {found}; {gain}, "
            "which may be chance."
        )
    error = f"its probabilities are {rule.calibration_error:.2f} off on cases left out"
    one = ""
    if rule.explained_by_one_rater:
        one = (
            f" {names[rule.best_rater]} alone gains {rule.best_rater_gain.mean:+.4f}: "
            "was it trained on these truths, or did it draw them?"
        )
    return f"Label {rule.label}: {found}; {gain}; {error}.{one}"


def _rater_description(rule: LabelRule, names: Sequence[str]) -> str:
    """Describe how the rule weights the raters' votes."""
    kind, _, which = rule.rule.kind.partition(" ")
    if kind == "rater":
        return f"follows {names[int(which)]} alone"
    weights = rule.rule.weights[: len(names)]
    order = np.argsort(-weights, kind="stable").tolist()
    spread = rule.intervals()
    first, *others = order
    clear = [j for j in others if spread[j][1] < weights[first] and weights[j] < spread[first][0]]
    beyond = [names[j] for j in others if j not in clear]
    listed = ", ".join(_weight(rule, j, names) for j in order)
    if not clear:
        return f"weighs all raters about equally ({listed})"
    more = " and ".join([names[first], *beyond])
    verb = "more than the others" if len(clear) > 1 else f"more than {names[clear[0]]}"
    return f"trusts {more} {verb} ({listed})"


def _weight(rule: LabelRule, rater: int, names: Sequence[str]) -> str:
    return f"{names[rater]} {rule.rule.weights[rater]:+.2f} +- {rule.errors[rater]:.2f}"


def _changes(rule: LabelRule) -> str:
    """Describe how much the rule changes Consensus; "" if it changes nothing."""
    if not rule.changed:
        return ""
    ties = ", mostly where votes are tied" if rule.changed_ties > _MOSTLY else ""
    return f"changes {rule.changed:.0%} of the disputed voxels{ties}"
