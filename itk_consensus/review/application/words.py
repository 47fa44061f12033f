"""Texts of the panel on disputes and decisions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from itk_consensus.review.decisions import Decision
from itk_consensus.review.disputes import Dispute
from itk_consensus.review.one_review import Stroke
from itk_consensus.review.rater_colors import rater_color

#: Number of readers that have a shortcut key.
_KEYS = 9

#: Common reasons to choose from; others are typed.
REASONS = (
    "edge is clear",
    "partial volume",
    "artefact",
    "another structure",
    "overlooked",
    "beyond the protocol",
)

#: trame writes only those attributes of an element that are declared.
SPOKEN = {"__properties": [("aria_label", "aria-label"), "role", "value"]}

#: Keys and mouse actions for the help sheet.
HELP = (
    ("PageDown, PageUp, n, p", "the next dispute, the one before"),
    ("c", "as the consensus has it"),
    ("i, o", "in, out; with several labels a button for each that is claimed"),
    ("1 to 9", "as this reader drew it"),
    ("b, e, Esc", "brush, eraser, neither; draw, scissors and islands are buttons"),
    ("Enter", "confirm what was painted in this dispute"),
    ("u", "reopen a decided dispute; of an open one, throw away what was painted"),
    ("z, y, s", "undo, redo, save"),
    ("d", "hide the hatching of the dispute, show it again"),
    ("arrows, wheel", "scroll the slices of the plane under the mouse"),
    ("click", "set the crosshair in all planes"),
    ("Ctrl and drag", "grey values: right is wider, down is brighter values"),
    ("double click", "one view, or all four"),
    ("?", "this sheet"),
)


def letters(place: Sequence[float]) -> str:
    """Format a position as right, anterior, superior in mm, each with the letter of its side."""
    sides = (("R", "L"), ("A", "P"), ("S", "I"))
    return (
        " ".join(
            f"{pair[0] if mm >= 0 else pair[1]} {abs(mm):.1f}"
            for pair, mm in zip(sides, place, strict=True)
        )
        + " mm"
    )


def markers(dispute: Dispute, names: Sequence[str]) -> str:
    """List the readers who marked a dispute; for partial marks, with the share that they marked."""
    return (
        ", ".join(
            name if share > 0.995 else f"{name} {100 * share:.0f} %"
            for name, share in zip(names, dispute.marked_by(), strict=True)
            if share > 0.005
        )
        or "nobody"
    )


class DecisionWords:
    """Names of readers and of a structure's labels, used in the texts of decisions."""

    def __init__(
        self,
        readers: Sequence[str],
        labels: Sequence[int],
        names: Mapping[int, str] | None = None,
        colors: Mapping[int, str] | None = None,
    ) -> None:
        self.readers, self.labels = list(readers), list(labels)
        self._names, self.colors = names or {}, dict(colors or {})

    def name(self, label: int) -> str:
        """Return the name of a label."""
        return self._names.get(label, f"label {label}")

    def label(self, label: int) -> str:
        """Return a label's name for a decision; for a single label, whether it is present."""
        if not label:
            return "out"
        return "in" if len(self.labels) == 1 else self.name(label)

    def claimed(self, dispute: Dispute) -> str:
        """Return the names of the labels that a dispute concerns."""
        return ", ".join(self.name(label) for label in dispute.labels if label)

    def probabilities(self, dispute: Dispute) -> str:
        """Format the fuser's probability of each claimed label."""
        only = len(dispute.probability) == 1
        return ", ".join(
            f"p {p:.2f}" if only else f"p {self.name(label)} {p:.2f}"
            for label, p in dispute.probability.items()
        )

    def decision(self, decision: Decision | None) -> str:
        """Describe a decision; an empty string if there is none."""
        if decision is None:
            return ""
        if decision.choice == "rater":
            return f"as {self.readers[int(decision.rater or 0)]}"
        if decision.choice == "label":
            return self.label(int(decision.label or 0))
        return "as the consensus" if decision.choice == "consensus" else decision.choice

    def choices(
        self, dispute: Dispute, decision: Decision | None, *, with_consensus: bool = True
    ) -> list[dict[str, Any]]:
        """Return the buttons for a dispute."""
        binary = len(self.labels) == 1
        rows: list[tuple[str, int | None, str, str]] = []
        if with_consensus:
            rows.append(("consensus", None, "as the consensus", "c"))
        rows += [
            ("label", label, self.label(label), "i" if binary else "")
            for label in self.labels
            if binary or label in dispute.labels
        ]
        rows.append(("label", 0, "out", "o"))
        rows += [
            ("rater", number, name, str(number + 1) if number < _KEYS else "")
            for number, name in enumerate(self.readers)
        ]
        return [
            {
                "id": f"choose-{choice}" + ("" if value is None else f"-{value}"),
                "choice": choice,
                "value": value,
                "text": text,
                "key": key,
                "color": self._color(choice, value),
                "on": _choice_of(decision) == (choice, value),
            }
            for choice, value, text, key in rows
        ]

    def _color(self, choice: str, value: int | None) -> str:
        if choice == "rater":
            return rater_color(int(value or 0))
        return self.colors.get(int(value or 0), "") if choice == "label" else ""


def _choice_of(decision: Decision | None) -> tuple[str, int | None] | None:
    """Return the kind of a decision and the label or rater that was chosen."""
    if decision is None:
        return None
    return decision.choice, decision.label if decision.choice == "label" else decision.rater


def stroke_words(stroke: Stroke, voxel_ml: float) -> str:
    """Describe what a stroke changed, and what it left unchanged."""
    said = [
        f"{voxels} voxels ({voxels * voxel_ml:.2g} ml) of dispute {number}"
        for number, voxels in sorted(stroke.drafted.items(), key=lambda pair: -pair[1])[:3]
    ]
    if len(stroke.drafted) > len(said):
        said.append(f"{len(stroke.drafted) - len(said)} more disputes")
    if stroke.corrected:
        said.append(f"{stroke.corrected} voxels where readers agree")
    words = f"Painted: {', '.join(said)}." if said else "Nothing was painted."
    if stroke.drafted:
        words += " Enter confirms the dispute that is shown."
    if stroke.locked:
        numbers = ", ".join(map(str, sorted(stroke.locked)[:5]))
        words += f" Decided and left as it is: {numbers}; u reopens."
    return words
