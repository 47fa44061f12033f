"""Decisions about disputes: what each means in voxels, and a review that takes them one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.constraints import Choice, Integer, Kind, Text, optional
from itk_consensus.core.errors import InputError
from itk_consensus.review.disputes import Dispute, RatedMap
from itk_consensus.review.voxel_runs import counted, decoded, encoded
from itk_consensus.storage.record import Part

#: As the consensus has it; all of it one label, which is in and out of a structure; as one rater
#: drew it; as a person painted it.
CHOICES = ("consensus", "label", "rater", "painted")

_LONGEST_RUNS = 2**30


class Runs(Kind[str]):
    """Voxels as `voxel_runs` writes them; their content is checked when they are unpacked."""

    wanted = "voxels as a text"

    def accept(self, value: Any) -> str:
        if not isinstance(value, str) or len(value) > _LONGEST_RUNS:
            raise TypeError
        return value


def now() -> str:
    """The time, as records have it."""
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


@dataclass(frozen=True)
class Decision(Part):
    """What becomes of a dispute."""

    choice: Annotated[str, Choice(CHOICES)]
    #: What all voxels get, if the choice is a label.
    label: Annotated[int | None, optional(Integer(-(2**31), 2**53))] = None
    #: Whose drawing it is, if the choice is a rater; they are counted from 0.
    rater: Annotated[int | None, optional(Integer(0, 10_000))] = None
    #: Every voxel's label, if it was painted.
    painted: Annotated[str | None, optional(Runs())] = None
    who: Annotated[str, Text(may_be_empty=True)] = ""
    when: Annotated[str, Text(may_be_empty=True)] = ""

    def contradictions(self) -> Any:
        """What is wrong although each field alone is right."""
        wanted = self.choice if self.choice != "consensus" else None
        for name in ("label", "rater", "painted"):
            if (getattr(self, name) is not None) != (name == wanted):
                yield name, f"does not fit the choice {self.choice}"

    @property
    def meaning(self) -> tuple[Any, ...]:
        """All but who decided it, and when."""
        return self.choice, self.label, self.rater, self.painted


def labels_after(decision: Decision | None, dispute: Dispute, rated: RatedMap) -> NDArray[np.int64]:
    """The label of each of a dispute's voxels; without a decision the consensus's.

    Where a rater did not annotate, its drawing says nothing and the consensus stands.
    """
    labels = np.full(dispute.places.size, dispute.consensus, np.int64)
    if decision is None or decision.choice == "consensus":
        return labels
    if decision.choice == "label":
        labels[:] = int(decision.label or 0)
    elif decision.choice == "rater":
        if not 0 <= int(decision.rater or 0) < len(rated.maps):
            raise InputError(f"dispute {dispute.number}: there is no rater {decision.rater}")
        drawn = rated.maps[int(decision.rater or 0)].reshape(-1)[dispute.places]
        said = drawn != rated.missing
        labels[said] = drawn[said]
    else:
        places, painted = decoded(decision.painted or "", rated.consensus.size)
        if not np.array_equal(places, dispute.places):
            raise InputError(f"dispute {dispute.number}: what was painted lies elsewhere")
        labels = painted
    return labels


def adjudicated(
    rated: RatedMap,
    disputes: Sequence[Dispute],
    decisions: Mapping[int, Decision],
    correction: str = "",
) -> NDArray[Any]:
    """The consensus with every decision carried out, in any order: disputes share no voxel.

    Parameters
    ----------
    disputes : sequence of Dispute
        Those of other structures are left alone.
    decisions : mapping of number to Decision
    correction : str
        Voxels that were painted where raters agree, as `voxel_runs` writes them.
    """
    labels = rated.consensus.copy()
    flat = labels.reshape(-1)
    for dispute in disputes:
        if dispute.structure == rated.name and dispute.number in decisions:
            after = labels_after(decisions[dispute.number], dispute, rated)
            flat[dispute.places] = after.astype(flat.dtype)
    places, painted = decoded(correction, flat.size)
    flat[places] = painted.astype(flat.dtype)
    return labels


class Review:
    """Decisions as they are taken, with undo."""

    def __init__(
        self,
        rated: Sequence[RatedMap],
        disputes: Sequence[Dispute],
        decisions: Mapping[int, Decision] | None = None,
        corrections: Mapping[str, str] | None = None,
        who: str = "",
    ) -> None:
        self.rated = {one.name: one for one in rated}
        self.disputes = {one.number: one for one in disputes}
        self.who = who
        self._decided: dict[int, Decision] = dict(decisions or {})
        self._corrected: dict[str, str] = dict(corrections or {})
        self._done: list[tuple[dict[int, Decision], dict[str, str]]] = []

    @property
    def decisions(self) -> dict[int, Decision]:
        """The decision about each dispute that has one."""
        return dict(self._decided)

    @property
    def corrections(self) -> dict[str, str]:
        """What was painted where raters agree, by structure."""
        return dict(self._corrected)

    @property
    def undecided(self) -> list[int]:
        """Numbers of the disputes that nobody has decided yet."""
        return [number for number in self.disputes if number not in self._decided]

    def decide(self, number: int, choice: str, value: int | None = None) -> None:
        """Decide a dispute: "consensus", "label" with the label, or "rater" with the rater."""
        dispute = self._known(number)
        if choice not in CHOICES[:3] or (choice == "consensus") != (value is None):
            raise InputError(f"dispute {number}: {choice} with {value} is no decision")
        label = value if choice == "label" else None
        rater = value if choice == "rater" else None
        decision = Decision(choice, label, rater, who=self.who, when=now())
        labels_after(decision, dispute, self.rated[dispute.structure])  # raises if it makes none
        self._act({**self._decided, number: decision}, self._corrected)

    def clear(self, number: int) -> None:
        """Make a dispute undecided again."""
        self._known(number)
        left = {key: value for key, value in self._decided.items() if key != number}
        self._act(left, self._corrected)

    def paint(self, structure: str, painted: NDArray[Any]) -> list[int]:
        """Take over a map that was painted on; returns the disputes it decides.

        Whatever differs from the map as it was decides the disputes it lies in, and is a
        correction where no dispute is.
        """
        rated = self.rated[structure]
        before = self.adjudicated(structure).reshape(-1)
        after = painted.reshape(-1)
        changed = before != after
        if not changed.any():
            return []
        decided, touched = dict(self._decided), []
        for dispute in self.disputes.values():
            if dispute.structure == structure and changed[dispute.places].any():
                runs = encoded(dispute.places, after[dispute.places])
                decided[dispute.number] = Decision(
                    "painted", painted=runs, who=self.who, when=now()
                )
                touched.append(dispute.number)
            changed[dispute.places] &= dispute.structure != structure
        corrected = self._corrected
        if changed.any():
            places, _ = decoded(self._corrected.get(structure, ""), after.size)
            changed[places] = True
            # What was painted back is no correction any more.
            changed &= after != rated.consensus.reshape(-1)
            places = np.flatnonzero(changed)
            corrected = {**self._corrected, structure: encoded(places, after[places])}
        self._act(decided, {name: runs for name, runs in corrected.items() if runs})
        return touched

    def undo(self) -> bool:
        """Take the last action back; False if there is none."""
        if not self._done:
            return False
        self._decided, self._corrected = self._done.pop()
        return True

    def adjudicated(self, structure: str = "") -> NDArray[Any]:
        """The map of a structure as decisions leave it."""
        correction = self._corrected.get(structure, "")
        own = list(self.disputes.values())
        return adjudicated(self.rated[structure], own, self._decided, correction)

    def voxels_after(self, number: int) -> dict[int, int]:
        """How many of a dispute's voxels have which label now."""
        dispute = self.disputes[number]
        decision = self._decided.get(number)
        return counted(labels_after(decision, dispute, self.rated[dispute.structure]))

    def changes(self, structure: str) -> dict[int, int]:
        """How many voxels more, or fewer, each label of a structure has than in the consensus."""
        rated, changed = self.rated[structure], dict[int, int]()

        def count(voxels: Mapping[int, int], sign: int) -> None:
            for label, number in voxels.items():
                changed[label] = changed.get(label, 0) + sign * number

        for number in self._decided:
            dispute = self.disputes[number]
            if dispute.structure == structure:
                count({dispute.consensus: dispute.voxels}, -1)
                count(self.voxels_after(number), 1)
        places, painted = decoded(self._corrected.get(structure, ""), rated.consensus.size)
        count(counted(rated.consensus.reshape(-1)[places]), -1)
        count(counted(painted), 1)
        return changed

    def _known(self, number: int) -> Dispute:
        if number not in self.disputes:
            raise InputError(f"there is no dispute {number}; there are {len(self.disputes)}")
        return self.disputes[number]

    def _act(self, decided: dict[int, Decision], corrected: dict[str, str]) -> None:
        self._done.append((self._decided, self._corrected))
        self._decided, self._corrected = decided, corrected
