"""What fusion is learned from: per case and label, how often each pattern of votes was right.

A table counts disputed voxels by what each rater said, what Consensus answered and a step of the
share of votes around, and how many of them the truth marks. It holds no image, so that a site can
hand over its tables and keep its patients; tables of further cases are added to a list.
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

#: How a vote is written: the rater did not mark the label, was not asked, marked it.
LETTERS = "-0+"

_COUNT = Integer(0)


@dataclass(frozen=True)
class LabelTable(Part):
    """The disputed voxels of one label in one case, a row for each kind, and what all others are.

    The Dice of any rule on disputed voxels can be told from it.
    """

    label: Annotated[int, Integer()]
    #: Of each row what the raters said, a letter of `LETTERS` each.
    votes: Annotated[tuple[str, ...], Each(Text(may_be_empty=True))]
    consensus: Annotated[tuple[int, ...], Each(Integer(0, 1))]  #: Whether Consensus answered it
    share: Annotated[tuple[int, ...], Each(Integer(0, SHARE_STEPS - 1))]  #: Step of the share
    voxels: Annotated[tuple[int, ...], Each(Integer(1))]
    true: Annotated[tuple[int, ...], Each(_COUNT)]  #: Voxels that the truth marks
    agreed: Annotated[int, _COUNT]  #: Other voxels that Consensus marks
    agreed_true: Annotated[int, _COUNT]  #: Of which the truth marks so many
    truth: Annotated[int, _COUNT]  #: Voxels that the truth marks, everywhere

    @classmethod
    def count(cls, label: int, dispute: DisputedLabel, truth: Mask, marked: Mask) -> LabelTable:
        """Count a case's voxels.

        Parameters
        ----------
        truth : (\\*shape) ndarray of bool
            Where the truth marks the label.
        marked : (\\*shape) ndarray of bool
            Where Consensus does.
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
        """Columns of different lengths, unknown letters, and more true voxels than voxels."""
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
    def undisputed(cls, label: int, truth: Mask, marked: Mask) -> LabelTable:
        """Of a case in which nobody disputes the label."""
        sizes = (int(np.count_nonzero(one)) for one in (marked, marked & truth, truth))
        return cls(label, (), (), (), (), (), *sizes)

    @property
    def number_of_raters(self) -> int | None:
        """J; None of a table without rows."""
        return len(self.votes[0]) if self.votes else None

    def of_raters(self, order: Sequence[int]) -> LabelTable:
        """The same with the raters in another order."""
        votes = tuple("".join(said[j] for j in order) for said in self.votes)
        return LabelTable(**{**self.__dict__, "votes": votes})


class StackedTables(NamedTuple):
    """The tables of one label, case below case, as arrays."""

    votes: NDArray[np.int8]  #: (R, J) 1, 0 where a rater was not asked, or -1
    consensus: Mask  #: (R,)
    share: NDArray[np.intp]  #: (R,)
    voxels: Floats  #: (R,)
    true: Floats  #: (R,)
    case: NDArray[np.intp]  #: (R,) in increasing order
    agreed: Floats  #: (C,)
    agreed_true: Floats  #: (C,)
    truth: Floats  #: (C,)

    @classmethod
    def of(cls, tables: Sequence[LabelTable], raters: int) -> StackedTables:
        """Stack tables of cases with so many raters."""
        said = "".join(row for table in tables for row in table.votes)
        letters = np.frombuffer(said.encode(), np.uint8).reshape(-1, raters)
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
        """C."""
        return len(self.truth)

    @property
    def number_of_raters(self) -> int:
        """J."""
        return int(self.votes.shape[1])

    def by_case(self, values: Floats) -> Floats:
        """(C, ...) sums of (R, ...) values over the rows of each case."""
        sums = np.concatenate([np.zeros((1, *values.shape[1:])), values.cumsum(axis=0)])
        ends = np.searchsorted(self.case, np.arange(self.number_of_cases + 1))
        return np.asarray(sums[ends[1:]] - sums[ends[:-1]])

    def case_weights(self) -> Floats:
        """(R,) share of each row in its case's disputed voxels: a case weighs 1."""
        return self.voxels / self.by_case(self.voxels)[self.case]

    def dice(self, chosen: NDArray[np.bool_]) -> Floats:
        """(C, ...) Dice with the truth if the (R, ...) chosen rows are marked."""
        extra = (1,) * (chosen.ndim - 1)
        shaped = [one.reshape(-1, *extra) for one in (*self[3:5], *self[6:9])]
        voxels, true, agreed, agreed_true, truth = shaped
        marked = agreed + self.by_case(chosen * voxels)
        hits = agreed_true + self.by_case(chosen * true)
        total = marked + truth
        # Where both are empty they agree.
        return np.asarray(np.where(total > 0, 2 * hits / np.maximum(total, 1), 1.0))


def _letters(votes: NDArray[np.int8]) -> str:
    return "".join(LETTERS[vote + 1] for vote in votes.tolist())
