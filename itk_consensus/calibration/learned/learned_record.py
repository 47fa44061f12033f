"""The record of a learned fusion: vote tables of its cases, from which rules are computed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, NamedTuple

from itk_consensus.calibration.learned.explanation import explain
from itk_consensus.calibration.learned.label_rule import (
    FEWEST_CASES,
    USUAL_CASES,
    LabelRule,
    learn_label,
)
from itk_consensus.calibration.learned.vote_tables import LabelTable
from itk_consensus.calibration.record import CalibrationRecord, library_versions
from itk_consensus.core.constraints import Boolean, Integer, Text
from itk_consensus.core.rater_names import default_rater_names
from itk_consensus.storage.record import Each, Members, OnePart, Part


@dataclass(frozen=True)
class LearnedCase(Part):
    """The vote tables of one case, one per label."""

    tables: Annotated[tuple[LabelTable, ...], Each(OnePart(LabelTable))]

    def contradictions(self) -> Iterator[tuple[str, str]]:
        """Yield inconsistent fields: two tables of the same label."""
        if len({table.label for table in self.tables}) < len(self.tables):
            yield "tables", "must be of different labels"


class KnownRaters(NamedTuple):
    """Number and names of the raters of a case."""

    number: int
    names: tuple[str, ...]  #: () if they have no names
    is_soft: bool  #: Whether they gave probabilities


@dataclass(frozen=True)
class LearnedRecord(CalibrationRecord):
    """Cases that were learned from; the rules are computed from them, not stored."""

    schema = "itk_consensus learned fusion"
    readable_properties = ("meaning",)

    rater_count: Annotated[int, Integer(2)]
    raters: Annotated[tuple[str, ...], Each(Text(may_be_empty=True))]  #: Names; () if not known
    #: Whether the raters gave probabilities; the vote share of a voxel is then their mean.
    is_soft: Annotated[bool, Boolean()]
    cases: Annotated[tuple[LearnedCase, ...], Each(OnePart(LearnedCase), FEWEST_CASES)]
    versions: Annotated[Mapping[str, str], Members(Text(may_be_empty=True))]

    @classmethod
    def of(cls, raters: KnownRaters, cases: Sequence[LearnedCase]) -> LearnedRecord:
        """Make a record with the current library versions."""
        return cls(*raters, tuple(cases), library_versions())

    @property
    def known_raters(self) -> KnownRaters:
        """The raters, who are common to all cases."""
        return KnownRaters(self.rater_count, self.raters, self.is_soft)

    def unlike(self, other: LearnedRecord) -> str:
        """Return why the cases of another record cannot be added; "" if they can."""
        if self.is_soft != other.is_soft:
            return "some were learned from masks, others from probabilities"
        return self.refuses(other.known_raters)

    def refuses(self, raters: KnownRaters) -> str:
        """Return why the given raters do not match those of this record; "" if they do."""
        if raters.number != self.rater_count:
            return (
                f"{self.rater_count} raters were learned from, None standing for a missing one, "
                f"got {raters.number}"
            )
        if self.raters and raters.names and raters.names != self.raters:
            wanted, got = (", ".join(names) for names in (self.raters, raters.names))
            return f"raters {wanted} were learned from, in this order, got {got}"
        # The reverse is allowed: masks are probabilities of 0 and 1.
        if raters.is_soft and not self.is_soft:
            return "masks were learned from, got probabilities"
        return ""

    def contradictions(self) -> Iterator[tuple[str, str]]:
        """Yield inconsistent fields: wrong numbers of names or votes, and duplicate cases."""
        if len(self.raters) not in (0, self.rater_count):
            yield "raters", f"must be {self.rater_count} names or none"
        for number, case in enumerate(self.cases):
            if any(t.number_of_raters not in (None, self.rater_count) for t in case.tables):
                yield f"cases[{number}]", f"must have votes of {self.rater_count} raters"
        if (twice := case_twice(self.cases)) is not None:
            yield f"cases[{twice[1]}]", f"must not be case {twice[0]} again"

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the filter that made the record; there are none."""
        return {}

    @property
    def rater_names(self) -> tuple[str, ...]:
        """Names of the raters; "rater 0" and so on if names are unknown."""
        return self.raters or default_rater_names(self.rater_count)

    @cached_property
    def rules(self) -> tuple[LabelRule, ...]:
        """The best rule for each label that is in enough cases, adopted or not."""
        by_label: dict[int, list[LabelTable]] = {}
        for case in self.cases:
            for table in case.tables:
                by_label.setdefault(table.label, []).append(table)
        found = (learn_label(k, by_label[k], self.rater_count) for k in sorted(by_label))
        return tuple(rule for rule in found if rule is not None)

    @property
    def adopted(self) -> tuple[LabelRule, ...]:
        """The rules that are used; Consensus is used for all other labels."""
        return tuple(rule for rule in self.rules if rule.is_adopted)

    @property
    def meaning(self) -> str:
        """Describe the learned rules in words."""
        return explain(self.rules, self.rater_names, len(self.cases))

    def doubts(self) -> Iterator[str]:
        """Yield reasons for caution that a user of the record should know."""
        if len(self.cases) < USUAL_CASES:
            yield f"learned from {len(self.cases)} cases; {USUAL_CASES} are recommended"
        for rule in self.rules:
            if rule.explained_by_one_rater:
                yield (
                    f"{self.rater_names[rule.best_rater]} alone gains "
                    f"{rule.best_rater_gain.mean:+.4f} of the {rule.gain.mean:+.4f} on label "
                    f"{rule.label}: was it trained on these truths, or did it draw them?"
                )


def case_twice(cases: Sequence[LearnedCase]) -> tuple[int, int] | None:
    """Find two cases with identical counts; cases without disputed voxels are ignored."""
    known: dict[LearnedCase, int] = {}
    for number, case in enumerate(cases):
        if any(table.votes for table in case.tables):
            other = known.setdefault(case, number)
            if other != number:
                return other, number
    return None
