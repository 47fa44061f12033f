"""Vote tables, from which fusion is learned: counts of vote patterns per case and label.

A table counts disputed voxels by the raters' votes, the decision of Consensus and a bin of the
smoothed vote share, and gives the number of these voxels that truly have the label. It contains no
image, so a site can share its tables without sharing patient data.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from itk_consensus.calibration.learned.disputed_label import SHARE_STEPS, DisputedLabel
from itk_consensus.core.array_types import Floats, Mask
from itk_consensus.core.constraints import Integer, Text
from itk_consensus.storage.record import Each, Part

#: Characters for votes: the rater did not mark the label, had no vote, or marked it.
LETTERS = "-0+"

_COUNT = Integer(0)


@dataclass(frozen=True)
class LabelTable(Part):
    """Voxel counts for one label in one case: disputed voxels by kind, and all others in total.

    The Dice of any rule for disputed voxels can be computed from these counts.
    """

    label: Annotated[int, Integer()]
    #: Votes of the raters for each row, one character of `LETTERS` per rater.
    votes: Annotated[tuple[str, ...], Each(Text(may_be_empty=True))]
    #: Whether Consensus assigned the label
    consensus: Annotated[tuple[int, ...], Each(Integer(0, 1))]
    #: Bin of the smoothed vote share
    share: Annotated[tuple[int, ...], Each(Integer(0, SHARE_STEPS - 1))]
    voxels: Annotated[tuple[int, ...], Each(Integer(1))]
    true: Annotated[tuple[int, ...], Each(_COUNT)]  #: Voxels that truly have the label
    agreed: Annotated[int, _COUNT]  #: Undisputed voxels to which Consensus assigned the label
    #: Undisputed voxels to which Consensus assigned the label and that truly have it
    agreed_true: Annotated[int, _COUNT]
    truth: Annotated[int, _COUNT]  #: All voxels that truly have the label

    @classmethod
    def count(cls, label: int, dispute: DisputedLabel, truth: Mask, marked: Mask) -> LabelTable:
        """Count the voxels of a case.

        Parameters
        ----------
        truth : (\\*shape) ndarray of bool
            Voxels that truly have the label.
        marked : (\\*shape) ndarray of bool
            Voxels to which Consensus assigned the label.
        """
        kinds = dispute.kinds()
        true = truth.reshape(-1)[dispute.places]
        rows = len(kinds.votes)
        both = int(np.count_nonzero(truth & marked))
        return cls(
            label,
            tuple(map(_letters, kinds.votes)),
            tuple(kinds.chosen.astype(int).tolist()),
            tuple(kinds.share.tolist()),
            tuple(np.bincount(kinds.which, minlength=rows).tolist()),
            tuple(np.bincount(kinds.which[true], minlength=rows).tolist()),
            int(np.count_nonzero(marked) - np.count_nonzero(dispute.chosen)),
            both - int(np.count_nonzero(true & dispute.chosen)),
            int(np.count_nonzero(truth)),
        )

    def contradictions(self) -> Iterator[tuple[str, str]]:
        """Yield inconsistent fields: unequal lengths, unknown letters, or excessive counts."""
        for name in ("consensus", "share", "voxels", "true"):
            if len(getattr(self, name)) != len(self.votes):
                yield name, f"must have one entry for each of {len(self.votes)} rows"
                return
        if len({len(said) for said in self.votes}) > 1 or set("".join(self.votes)) - set(LETTERS):
            yield "votes", f"must hold as many of the letters {LETTERS} each"
        if any(hits > n for hits, n in zip(self.true, self.voxels, strict=True)):
            yield "true", "must not be more than voxels"
        if self.agreed_true > self.agreed or self.agreed_true + sum(self.true) > self.truth:
            yield "truth", "must be no less than the true voxels that are counted"

    @classmethod
    def without_disputes(cls, label: int, truth: Mask, marked: Mask) -> LabelTable:
        """Create the table of a case in which no voxel of the label is disputed."""
        sizes = (int(np.count_nonzero(one)) for one in (marked, marked & truth, truth))
        return cls(label, (), (), (), (), (), *sizes)

    @property
    def number_of_raters(self) -> int | None:
        """Number of raters, J; None for a table without rows."""
        return len(self.votes[0]) if self.votes else None

    def of_raters(self, order: Sequence[int]) -> LabelTable:
        """Return the same table with the raters in another order."""
        votes = tuple("".join(said[j] for j in order) for said in self.votes)
        return LabelTable(**{**self.__dict__, "votes": votes})


class StackedTables(NamedTuple):
    """The concatenated tables of one label, as arrays."""

    votes: NDArray[np.int8]  #: (R, J) 1, -1, or 0 for a rater without a vote
    consensus: Mask  #: (R,) whether Consensus assigned the label
    share: NDArray[np.intp]  #: (R,) bin of the smoothed vote share
    voxels: Floats  #: (R,) number of voxels
    true: Floats  #: (R,) number of voxels that truly have the label
    case: NDArray[np.intp]  #: (R,) index of the row's case, in increasing order
    agreed: Floats  #: (C,) undisputed voxels to which Consensus assigned the label
    #: (C,) undisputed voxels to which Consensus assigned the label and that truly have it
    agreed_true: Floats
    truth: Floats  #: (C,) all voxels that truly have the label

    @classmethod
    def of(cls, tables: Sequence[LabelTable], raters: int) -> StackedTables:
        """Concatenate the tables of cases that have `raters` raters."""
        text = "".join(row for table in tables for row in table.votes)
        letters = np.frombuffer(text.encode(), np.uint8).reshape(-1, raters)
        votes = np.where(letters == ord("+"), 1, np.where(letters == ord("-"), -1, 0))

        def column(name: str) -> Floats:
            return np.array([x for table in tables for x in getattr(table, name)], np.float64)

        def total(name: str) -> Floats:
            return np.array([getattr(table, name) for table in tables], np.float64)

        return cls(
            votes.astype(np.int8),
            column("consensus") > 0,
            column("share").astype(np.intp),
            column("voxels"),
            column("true"),
            np.repeat(np.arange(len(tables)), [len(table.votes) for table in tables]),
            total("agreed"),
            total("agreed_true"),
            total("truth"),
        )

    @property
    def number_of_cases(self) -> int:
        """Number of cases, C."""
        return len(self.truth)

    @property
    def number_of_raters(self) -> int:
        """Number of raters, J."""
        return int(self.votes.shape[1])

    def by_case(self, values: Floats) -> Floats:
        """Return the (C, ...) sums of (R, ...) values over the rows of each case."""
        sums = np.concatenate([np.zeros((1, *values.shape[1:])), values.cumsum(axis=0)])
        ends = np.searchsorted(self.case, np.arange(self.number_of_cases + 1))
        return np.asarray(sums[ends[1:]] - sums[ends[:-1]])

    def case_weights(self) -> Floats:
        """Return each row's (R,) fraction of the disputed voxels of its case; a case has
        total weight 1.
        """
        return self.voxels / self.by_case(self.voxels)[self.case]

    def dice(self, chosen: NDArray[np.bool_]) -> Floats:
        """Return the (C, ...) Dice with the truth if the (R, ...) chosen rows get the label."""
        extra = (1,) * (chosen.ndim - 1)
        shaped = [one.reshape(-1, *extra) for one in (*self[3:5], *self[6:9])]
        voxels, true, agreed, agreed_true, truth = shaped
        marked = agreed + self.by_case(chosen * voxels)
        hits = agreed_true + self.by_case(chosen * true)
        total = marked + truth
        # The Dice of two empty masks is 1.
        return np.asarray(np.where(total > 0, 2 * hits / np.maximum(total, 1), 1.0))


def _letters(votes: NDArray[np.int8]) -> str:
    return "".join(LETTERS[vote + 1] for vote in votes.tolist())
