"""The log of a reviewer's actions, from which a review can be reconstructed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Annotated

from itk_consensus.core.constraints import Choice, Integer, Real, Text, optional
from itk_consensus.review.decisions import CONFIDENCES, Decision, Runs
from itk_consensus.storage.record import Each, Part

#: Kinds of action: decide disputes; confirm, reopen (unlock) or discard the painting of a dispute;
#: paint; undo or redo the last action.
ACTIONS = ("decide", "confirm", "reopen", "discard", "paint", "undo", "redo")

_TEXT = Text(may_be_empty=True)


@dataclass(frozen=True)
class Action(Part):
    """One action of a reviewer."""

    kind: Annotated[str, Choice(ACTIONS)]
    #: Disputes concerned; for undo and redo, those that changed.
    disputes: Annotated[tuple[int, ...], Each(Integer(1))] = ()
    choice: Annotated[str | None, optional(Choice(("consensus", "label", "rater")))] = None
    label: Annotated[int | None, optional(Integer(-(2**31), 2**53))] = None
    rater: Annotated[int | None, optional(Integer(0, 10_000))] = None
    #: For painting: the structure, and the voxels with their new labels.
    structure: Annotated[str, _TEXT] = ""
    painted: Annotated[str, Runs()] = ""
    who: Annotated[str, _TEXT] = ""
    when: Annotated[str, _TEXT] = ""
    reason: Annotated[str, _TEXT] = ""
    confidence: Annotated[str | None, optional(Choice(CONFIDENCES))] = None
    seconds: Annotated[float | None, optional(Real(0.0))] = None

    def contradictions(self) -> Iterator[tuple[str, str]]:
        """Yield combinations of fields that are invalid although each field alone is valid."""
        if (self.choice is not None) != (self.kind == "decide"):
            yield "choice", f"does not fit the action {self.kind}"
        if (self.label is not None) != (self.choice == "label"):
            yield "label", f"does not fit the choice {self.choice}"
        if (self.rater is not None) != (self.choice == "rater"):
            yield "rater", f"does not fit the choice {self.choice}"
        if bool(self.painted) != (self.kind == "paint"):
            yield "painted", f"does not fit the action {self.kind}"
        if self.kind in ("decide", "confirm", "reopen", "discard") and not self.disputes:
            yield "disputes", f"must name one to {self.kind}"

    def decision(self, painted: str = "") -> Decision:
        """Return the decision made by deciding a dispute or by confirming its painting."""
        if self.kind == "confirm":
            known: Mapping[str, str | int | None] = {"choice": "painted", "painted": painted}
        else:
            known = {"choice": self.choice, "label": self.label, "rater": self.rater}
        return Decision(
            **known,  # type: ignore[arg-type]
            who=self.who,
            when=self.when,
            reason=self.reason,
            confidence=self.confidence,
            seconds=self.seconds,
        )


def actions_of(
    decisions: Mapping[int, Decision], structures: Mapping[int, str], corrections: Mapping[str, str]
) -> tuple[Action, ...]:
    """Return actions that lead to the given decisions, to resume a record without a log."""
    found = [Action("paint", structure=name, painted=one) for name, one in corrections.items()]
    for number, one in sorted(decisions.items(), key=lambda pair: (pair[1].when, pair[0])):
        taken = Action("decide", (number,), "consensus", who=one.who, when=one.when)
        if one.choice == "painted":
            confirmed = replace(taken, kind="confirm", choice=None)
            painting = replace(confirmed, kind="paint", structure=structures[number])
            found += [replace(painting, painted=one.painted or ""), confirmed]
        else:
            found.append(replace(taken, choice=one.choice, label=one.label, rater=one.rater))
    return tuple(found)
