"""The record of a conformal band's calibration, and its computation from scored cases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Annotated, Any

from itk_consensus.calibration.conformal import (
    BandOptions,
    cases_needed,
    find_thresholds,
    guarantee,
)
from itk_consensus.calibration.conformal_record import (
    ConformalRecord,
    are_finite,
    check_cases,
    make_record,
)
from itk_consensus.calibration.scored_case import ScoredCase
from itk_consensus.core.errors import InputError
from itk_consensus.storage.record import OnePart


@dataclass(frozen=True)
class BandRecord(ConformalRecord):
    """The calibration of a conformal band."""

    schema = "itk_consensus conformal band"

    options: Annotated[BandOptions, OnePart(BandOptions)]

    @property
    def guarantee(self) -> str:
        """Guarantee of the band in one sentence."""
        return guarantee(self.options, self.number, self.labels, self.reference_kind)

    def contradictions(self) -> Iterator[tuple[str, str]]:
        """Yield inconsistent fields and what is wrong with them."""
        spreads = self.labels if self.options.uses_spread else 0
        if len(self.tau) != (self.labels if self.options.mondrian else 1):
            yield "tau", f"must be one, or with mondrian one per label, got {list(self.tau)}"
        if self.options.unit == "case" and self.number != len(self.cases):
            yield "n", f"must be the number of cases, {len(self.cases)}, got {self.number}"
        for i, case in enumerate(self.cases):
            if (len(case.score), len(case.spread_mm)) != (len(self.tau), spreads):
                yield f"cases[{i}]", f"must have {len(self.tau)} scores and {spreads} spreads"

    def doubts(self) -> Iterator[str]:
        """Yield reasons for caution that a user of the record should know."""
        options, n = self.options, len(self.cases)
        if options.unit == "voxel":
            yield "Unit voxel carries no guarantee for any case: voxels are not exchangeable"
        if options.risk == "fnr" and n < 2 / options.alpha:
            yield (
                f"Risk fnr with {n} cases gives a needlessly wide band; Alpha {options.alpha:g} "
                f"needs at least {ceil(2 / options.alpha)}"
            )


def band_record(
    cases: Sequence[ScoredCase],
    case_ids: Sequence[str] | None,
    options: BandOptions,
    provenance: Mapping[str, Any],
    owner: str,
) -> BandRecord:
    """Find the thresholds and make their record; takes the arguments of `make_record`."""
    facts = [case.facts for case in cases]
    needed = cases_needed(options.alpha) if options.unit == "case" else 1
    check_cases(facts, options.alpha, needed, owner)
    thresholds = find_thresholds([case.distributions for case in cases], options)
    if not are_finite(thresholds):
        raise InputError(
            f"no finite threshold covers enough cases: too many references have voxels "
            f"farther than {{RegionMargin}} {options.region_margin:g} mm from the consensus, or a "
            "label that the consensus lacks",
            owner=owner,
            mentions=("RegionMargin",),
        )
    return make_record(BandRecord, options, thresholds, facts, case_ids, provenance, owner)
