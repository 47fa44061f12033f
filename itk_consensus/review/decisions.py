"""Decisions on disputes, and their effect on voxels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.constraints import Choice, Integer, Kind, Real, Text, optional
from itk_consensus.core.errors import InputError
from itk_consensus.review.disputes import Dispute, RatedMap
from itk_consensus.review.voxel_runs import decoded
from itk_consensus.storage.record import Part

#: Kinds of decision: accept the consensus; assign one label to all voxels (for a structure, include
#: or exclude them); use one rater's drawing; use what a person painted.
CHOICES = ("consensus", "label", "rater", "painted")

#: Levels of a reviewer's confidence.
CONFIDENCES = ("sure", "fairly sure", "unsure")

_LONGEST_RUNS = 2**30


class Runs(Kind[str]):
    """Voxels in the format of `voxel_runs`; their content is checked when they are decoded."""

    wanted = "voxels as a text"

    def accept(self, value: Any) -> str:
        if not isinstance(value, str) or len(value) > _LONGEST_RUNS:
            raise TypeError
        return value


def now() -> str:
    """Return the current time in the format of records."""
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


@dataclass(frozen=True)
class Decision(Part):
    """A decision on a dispute."""

    choice: Annotated[str, Choice(CHOICES)]
    #: The label assigned to all voxels, if the choice is "label".
    label: Annotated[int | None, optional(Integer(-(2**31), 2**53))] = None
    #: Index (from 0) of the rater whose drawing is used, if the choice is "rater".
    rater: Annotated[int | None, optional(Integer(0, 10_000))] = None
    #: The label of every voxel, if the choice is "painted".
    painted: Annotated[str | None, optional(Runs())] = None
    who: Annotated[str, Text(may_be_empty=True)] = ""
    when: Annotated[str, Text(may_be_empty=True)] = ""
    reason: Annotated[str, Text(may_be_empty=True)] = ""
    confidence: Annotated[str | None, optional(Choice(CONFIDENCES))] = None
    #: Time for which the dispute was viewed before the decision, in seconds.
    seconds: Annotated[float | None, optional(Real(0.0))] = None

    def contradictions(self) -> Any:
        """Yield combinations of fields that are invalid although each field alone is valid."""
        wanted = self.choice if self.choice != "consensus" else None
        for name in ("label", "rater", "painted"):
            if (getattr(self, name) is not None) != (name == wanted):
                yield name, f"does not fit the choice {self.choice}"

    @property
    def meaning(self) -> tuple[Any, ...]:
        """Return the part of a decision that affects voxels, without its author, time and
        reason.
        """
        return self.choice, self.label, self.rater, self.painted


def labels_after(decision: Decision | None, dispute: Dispute, rated: RatedMap) -> NDArray[np.int64]:
    """Return the label of each voxel of a dispute; without a decision, that of the consensus.

    At voxels that the chosen rater did not annotate, the label of the consensus is kept.
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
        labels = painted_labels(decision.painted or "", dispute, rated)
    return labels


def painted_labels(runs: str, dispute: Dispute, rated: RatedMap) -> NDArray[np.int64]:
    """Return the label of each of a dispute's voxels as painted."""
    places, painted = decoded(runs, rated.consensus.size)
    if not np.array_equal(places, dispute.places):
        raise InputError(f"dispute {dispute.number}: what was painted lies elsewhere")
    return painted


def adjudicated(
    rated: RatedMap,
    disputes: Sequence[Dispute],
    decisions: Mapping[int, Decision],
    correction: str = "",
) -> NDArray[Any]:
    """Return the consensus with all decisions applied; their order does not matter.

    Disputes share no voxel.

    Parameters
    ----------
    disputes : sequence of Dispute
        Disputes of other structures are ignored.
    decisions : mapping of number to Decision
    correction : str
        Voxels painted where raters agree, in the format of `voxel_runs`.
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
