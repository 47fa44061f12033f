"""A review: actions are applied in order, decided disputes are locked, and actions can be
undone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.errors import InputError
from itk_consensus.review.actions import Action
from itk_consensus.review.decisions import (
    CHOICES,
    Decision,
    adjudicated,
    labels_after,
    now,
    painted_labels,
)
from itk_consensus.review.disputes import Dispute, RatedMap
from itk_consensus.review.voxel_runs import Places, counted, decoded, encoded

K = TypeVar("K")
V = TypeVar("V")


class Remark(NamedTuple):
    """A reviewer's remarks on a decision."""

    reason: str = ""
    confidence: str | None = None
    seconds: float | None = None


class Stroke(NamedTuple):
    """The changes made by painting."""

    drafted: dict[int, int]  #: Number of changed voxels in each open dispute
    corrected: int  #: Number of changed voxels at which raters agree
    #: Number of painted voxels in each decided dispute, which were left unchanged
    locked: dict[int, int]


@dataclass(frozen=True)
class _Step:
    """Changes made by an action: the value of each slot before and after; None stands for
    no value.
    """

    decisions: dict[int, tuple[Decision | None, Decision | None]]
    drafts: dict[int, tuple[str | None, str | None]]
    corrections: dict[str, tuple[str | None, str | None]]

    @property
    def disputes(self) -> tuple[int, ...]:
        """Numbers of the disputes that changed."""
        return tuple(sorted({*self.decisions, *self.drafts}))


class Review:
    """A review in progress, in which a decided dispute is locked until it is reopened.

    Painting in an open dispute is a draft until it is confirmed, and is not part of the adjudicated
    map; painting where raters agree is a correction.

    Parameters
    ----------
    actions : sequence of Action
        Earlier actions, which are applied again.
    who : str
        Name recorded for further decisions.
    """

    def __init__(
        self,
        rated: Sequence[RatedMap],
        disputes: Sequence[Dispute],
        actions: Iterable[Action] = (),
        who: str = "",
    ) -> None:
        self.rated = {one.name: one for one in rated}
        self.disputes = {one.number: one for one in disputes}
        self.who = who
        self._decisions: dict[int, Decision] = {}
        self._drafts: dict[int, str] = {}
        self._corrections: dict[str, str] = {}
        self._actions: list[Action] = []
        self._past: list[_Step] = []
        self._future: list[_Step] = []
        self._counts: dict[int, tuple[Decision | None, dict[int, int]]] = {}
        self._shown: dict[str, NDArray[Any]] = {}
        for action in actions:
            self._act(action)

    # -- state ----------------------------------------------------------------------------------

    @property
    def decisions(self) -> dict[int, Decision]:
        """The decision on each decided dispute."""
        return dict(self._decisions)

    @property
    def drafts(self) -> dict[int, str]:
        """Unconfirmed painting in open disputes, in the format of `voxel_runs`."""
        return dict(self._drafts)

    @property
    def corrections(self) -> dict[str, str]:
        """Painting where raters agree, by structure."""
        return dict(self._corrections)

    @property
    def actions(self) -> tuple[Action, ...]:
        """All actions, including undone ones."""
        return tuple(self._actions)

    @property
    def touched(self) -> set[int]:
        """Numbers of the disputes that have ever been decided, even if the decision was undone."""
        kinds = ("decide", "confirm")
        return {one for each in self._actions if each.kind in kinds for one in each.disputes}

    @property
    def undecided(self) -> list[int]:
        """Numbers of the undecided disputes."""
        return [number for number in self.disputes if number not in self._decisions]

    @property
    def can_undo(self) -> bool:
        """Whether there is an action to undo."""
        return bool(self._past)

    @property
    def can_redo(self) -> bool:
        """Whether there is an action to redo."""
        return bool(self._future)

    def decision(self, number: int) -> Decision | None:
        """Return the decision on a dispute, or None."""
        return self._decisions.get(number)

    def draft(self, number: int) -> str:
        """Return what was painted in an open dispute; an empty string if nothing was."""
        return self._drafts.get(number, "")

    def drafted_voxels(self, number: int) -> int:
        """Return the number of voxels of a dispute that painting has changed."""
        dispute, draft = self.disputes[number], self.draft(number)
        if not draft:
            return 0
        labels = painted_labels(draft, dispute, self.rated[dispute.structure])
        return int(np.count_nonzero(labels != dispute.consensus))

    # -- actions ------------------------------------------------------------------------------

    def decide(
        self,
        numbers: int | Sequence[int],
        choice: str,
        value: int | None = None,
        remark: Remark | None = None,
    ) -> None:
        """Decide open disputes: "consensus", "label" with a label, or "rater" with a rater."""
        several = (numbers,) if isinstance(numbers, int) else tuple(numbers)
        for number in several:
            self._open(number)
        if choice not in CHOICES[:3] or (choice == "consensus") != (value is None):
            said = f"dispute {several[0]}: " if len(several) == 1 else ""
            raise InputError(f"{said}{choice} with {value} is no decision")
        label = value if choice == "label" else None
        rater = value if choice == "rater" else None
        for one in {self.disputes[number].structure for number in several}:
            if choice == "label" and value not in (0, *self.rated[one].labels):
                raise InputError(f"there is no label {value} to decide for")
        self._do(Action("decide", several, choice, label, rater), remark)

    def confirm(self, number: int, remark: Remark | None = None) -> None:
        """Decide an open dispute as painted."""
        self._open(number)
        if number not in self._drafts:
            raise InputError(f"dispute {number}: nothing was painted in it")
        self._do(Action("confirm", (number,)), remark)

    def reopen(self, number: int) -> None:
        """Unlock a decided dispute; confirmed painting becomes a draft again."""
        self._known(number)
        if number not in self._decisions:
            raise InputError(f"dispute {number} is open")
        self._do(Action("reopen", (number,)))

    def discard(self, number: int) -> None:
        """Discard what was painted in an open dispute."""
        self._open(number)
        if number not in self._drafts:
            raise InputError(f"dispute {number}: nothing was painted in it")
        self._do(Action("discard", (number,)))

    def paint(self, structure: str, painted: NDArray[Any]) -> Stroke:
        """Apply a painted map; decided disputes are left unchanged."""
        places = np.flatnonzero(self.shown(structure).reshape(-1) != painted.reshape(-1))
        return self.paint_voxels(structure, places, painted.reshape(-1)[places])

    def paint_voxels(self, structure: str, places: Places, labels: NDArray[Any]) -> Stroke:
        """Apply painted voxels, given in increasing order, and their labels."""
        changed = self.shown(structure).reshape(-1)[places] != labels
        places, labels = places[changed], labels[changed]
        owner = self._owners[structure].at(places)
        numbers, voxels = np.unique(owner, return_counts=True)
        counts = dict(zip(numbers.tolist(), voxels.tolist(), strict=True))
        corrected = counts.pop(0, 0)
        locked = {n: count for n, count in counts.items() if n in self._decisions}
        stroke = Stroke({n: c for n, c in counts.items() if n not in locked}, corrected, locked)
        free = ~np.isin(owner, list(locked))
        if free.any():
            runs = encoded(places[free], labels[free])
            self._do(Action("paint", tuple(stroke.drafted), structure=structure, painted=runs))
        return stroke

    def undo(self) -> bool:
        """Undo the last action; return False if there is none."""
        if not self._past:
            return False
        self._do(Action("undo", self._past[-1].disputes))
        return True

    def redo(self) -> bool:
        """Redo the last undone action; return False if there is none."""
        if not self._future:
            return False
        self._do(Action("redo", self._future[-1].disputes))
        return True

    # -- maps and counts ------------------------------------------------------------------------

    def adjudicated(self, structure: str = "") -> NDArray[Any]:
        """Return the map of a structure with all decisions applied, without drafts."""
        correction = self._corrections.get(structure, "")
        own = list(self.disputes.values())
        return adjudicated(self.rated[structure], own, self._decisions, correction)

    def shown(self, structure: str = "") -> NDArray[Any]:
        """Return the map as displayed, including drafts; it must not be modified."""
        if structure not in self._shown:
            labels = self.adjudicated(structure)
            for number, draft in self._drafts.items():
                dispute = self.disputes[number]
                if dispute.structure == structure:
                    places, painted = decoded(draft, labels.size)
                    labels.reshape(-1)[places] = painted
            self._shown[structure] = labels
        return self._shown[structure]

    def voxels_after(self, number: int) -> dict[int, int]:
        """Count the voxels of each label that a dispute now has."""
        decision = self._decisions.get(number)
        known = self._counts.get(number)
        if known is None or known[0] is not decision:
            dispute = self.disputes[number]
            labels = labels_after(decision, dispute, self.rated[dispute.structure])
            known = self._counts[number] = (decision, counted(labels))
        return dict(known[1])

    def changes(self, structure: str) -> dict[int, int]:
        """Count the voxels that each label of a structure has gained or lost by the review."""
        rated, changed = self.rated[structure], dict[int, int]()

        def count(voxels: Mapping[int, int], sign: int) -> None:
            for label, number in voxels.items():
                changed[label] = changed.get(label, 0) + sign * number

        for number in self._decisions:
            dispute = self.disputes[number]
            if dispute.structure == structure:
                count({dispute.consensus: dispute.voxels}, -1)
                count(self.voxels_after(number), 1)
        places, painted = decoded(self._corrections.get(structure, ""), rated.consensus.size)
        count(counted(rated.consensus.reshape(-1)[places]), -1)
        count(counted(painted), 1)
        return changed

    # -- applying actions -----------------------------------------------------------------------

    def _known(self, number: int) -> Dispute:
        if number not in self.disputes:
            raise InputError(f"there is no dispute {number}; there are {len(self.disputes)}")
        return self.disputes[number]

    def _open(self, number: int) -> Dispute:
        dispute = self._known(number)
        if number in self._decisions:
            raise InputError(f"dispute {number} is decided; reopen it to change it")
        return dispute

    @cached_property
    def _owners(self) -> dict[str, _Owners]:
        return {
            name: _Owners.of([one for one in self.disputes.values() if one.structure == name])
            for name in self.rated
        }

    def _do(self, action: Action, remark: Remark | None = None) -> None:
        more = {} if remark is None else remark._asdict()
        self._act(replace(action, who=self.who, when=now(), **more))

    def _act(self, action: Action) -> None:
        """Apply and store an action; if it is invalid, raise without changing anything."""
        if action.kind in ("undo", "redo"):
            source, target = (
                (self._past, self._future) if action.kind == "undo" else (self._future, self._past)
            )
            if not source:
                raise InputError(f"there is nothing to {action.kind}")
            step = source.pop()
            target.append(step)
            self._set(step, after=action.kind == "redo")
        else:
            step = self._step(action)
            self._past.append(step)
            self._future.clear()
            self._set(step, after=True)
        self._actions.append(action)

    def _step(self, action: Action) -> _Step:
        """Return the changes that an action other than undo and redo would make."""
        if action.kind == "paint":
            return self._painted(action)
        decisions: dict[int, tuple[Decision | None, Decision | None]] = {}
        drafts: dict[int, tuple[str | None, str | None]] = {}
        for number in action.disputes:
            dispute, draft = self._known(number), self._drafts.get(number)
            before = self._decisions.get(number)
            if action.kind == "reopen":
                decisions[number] = (before, None)
                if before is not None and before.painted:
                    drafts[number] = (draft, before.painted)
                continue
            self._open(number)
            if draft is not None:
                drafts[number] = (draft, None)
            if action.kind != "discard":
                same = np.full(dispute.voxels, dispute.consensus)
                decision = action.decision(draft or encoded(dispute.places, same))
                # raises if the decision is invalid
                labels_after(decision, dispute, self.rated[dispute.structure])
                decisions[number] = (None, decision)
        return _Step(decisions, drafts, {})

    def _painted(self, action: Action) -> _Step:
        """Return the changes by painting: drafts in open disputes, and corrections elsewhere."""
        if action.structure not in self.rated:
            raise InputError(f"there is no structure {action.structure}")
        rated = self.rated[action.structure]
        consensus = rated.consensus.reshape(-1)
        places, labels = decoded(action.painted, consensus.size)
        owner = self._owners[action.structure].at(places)
        drafts: dict[int, tuple[str | None, str | None]] = {}
        for number in np.unique(owner[owner > 0]).tolist():
            if number in self._decisions:
                continue
            dispute, draft = self.disputes[number], self._drafts.get(number)
            now_labels = (
                np.full(dispute.voxels, dispute.consensus, np.int64)
                if draft is None
                else painted_labels(draft, dispute, rated)
            )
            mine = owner == number
            now_labels[np.searchsorted(dispute.places, places[mine])] = labels[mine]
            # If the original labels were painted back, the draft is removed.
            is_new = bool((now_labels != dispute.consensus).any())
            drafts[number] = (draft, encoded(dispute.places, now_labels) if is_new else None)
        corrections: dict[str, tuple[str | None, str | None]] = {}
        if (owner == 0).any():
            before = self._corrections.get(action.structure)
            old_places, old_labels = decoded(before or "", consensus.size)
            stay = ~np.isin(old_places, places)
            every = np.concatenate([old_places[stay], places[owner == 0]])
            values = np.concatenate([old_labels[stay], labels[owner == 0]])
            differ = values != consensus[every]
            order = np.argsort(every[differ])
            runs = encoded(every[differ][order], values[differ][order])
            corrections[action.structure] = (before, runs or None)
        return _Step({}, drafts, corrections)

    def _set(self, step: _Step, *, after: bool) -> None:
        """Set every slot of a step to its value after the step, or before it."""
        decoded_before = {
            name: decoded(self._corrections.get(name, ""), self.rated[name].consensus.size)[0]
            for name in step.corrections
        }
        _assign(self._decisions, step.decisions, after=after)
        _assign(self._drafts, step.drafts, after=after)
        _assign(self._corrections, step.corrections, after=after)
        self._show(step.disputes, decoded_before)

    def _show(self, numbers: Iterable[int], corrected_before: Mapping[str, Places]) -> None:
        """Update the cached maps at the voxels that changed."""
        for number in numbers:
            dispute = self.disputes[number]
            if (labels := self._shown.get(dispute.structure)) is not None:
                rated, draft = self.rated[dispute.structure], self._drafts.get(number)
                after = (
                    labels_after(self._decisions.get(number), dispute, rated)
                    if draft is None
                    else painted_labels(draft, dispute, rated)
                )
                labels.reshape(-1)[dispute.places] = after.astype(labels.dtype)
        for name, places in corrected_before.items():
            if (labels := self._shown.get(name)) is not None:
                flat = labels.reshape(-1)
                flat[places] = self.rated[name].consensus.reshape(-1)[places]
                where, painted = decoded(self._corrections.get(name, ""), flat.size)
                flat[where] = painted.astype(flat.dtype)


def _assign(
    slots: dict[K, V], changes: Mapping[K, tuple[V | None, V | None]], *, after: bool
) -> None:
    for key, pair in changes.items():
        value = pair[after]
        if value is None:
            slots.pop(key, None)
        else:
            slots[key] = value


class _Owners(NamedTuple):
    """The dispute to which each disputed voxel of a structure belongs."""

    places: Places  #: In increasing order
    numbers: NDArray[np.int64]

    @classmethod
    def of(cls, disputes: Sequence[Dispute]) -> _Owners:
        """Build the table from disputes that share no voxel."""
        if not disputes:
            return cls(np.zeros(0, np.int64), np.zeros(0, np.int64))
        places = np.concatenate([one.places for one in disputes])
        numbers = np.repeat([one.number for one in disputes], [one.voxels for one in disputes])
        order = np.argsort(places)
        return cls(places[order], numbers[order])

    def at(self, places: Places) -> NDArray[np.int64]:
        """Return the dispute of each given voxel; 0 if there is none."""
        if not self.places.size:
            return np.zeros(places.size, np.int64)
        found = np.minimum(np.searchsorted(self.places, places), self.places.size - 1)
        return np.where(self.places[found] == places, self.numbers[found], 0)
