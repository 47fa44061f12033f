"""STAPLE over a cohort: the same raters saw many cases.

One sensitivity and specificity per rater are shared by all cases, and each case has its own
prior. It is STAPLE (Warfield, Zou & Wells, 2004) on the cases' pattern tables one below the other;
small structures, each too small to judge a rater by, are enough together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats
from itk_consensus.core.errors import InputError, ParameterError
from itk_consensus.methods.staple.staple import StapleSettings, counted_voxels, one_class, run_em
from itk_consensus.methods.staple.staple_result import (
    StapleResult,
    nothing_to_estimate,
    prior_of_start,
    staple_result,
)
from itk_consensus.methods.staple.votes_without_patterns import in_pairs
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.expected_counts import mean_of_votes


@dataclass(frozen=True)
class CohortResult:
    """What a cohort's cases say together."""

    #: Each rater's performance, and the posterior of all cases' patterns one below the other.
    shared: StapleResult
    posteriors: tuple[Floats, ...]  #: Foreground probability of each case's patterns
    priors: Floats  #: (C,) each case's foreground prior at the end


def cohort_staple(
    cases: Sequence[DecisionPatterns],
    settings: StapleSettings | None = None,
    *,
    truths: Sequence[NDArray[np.int64] | None] = (),
    owner: str = "cohort_staple",
) -> CohortResult:
    """Fuse the binary patterns of many cases with one performance per rater.

    All cases have the same raters in the same order; one who is absent from a case is missing in
    all its patterns. Other arguments are as of `staple`, but a prior may be one number per case.

    Parameters
    ----------
    truths : sequence of (P,) ndarray of int64 or None, optional
        Of each case whose truth is known, how many voxels of each pattern are foreground. There the
        posterior is fixed: such a case is two, of which one is all foreground, the other all
        background.
    """
    settings = settings or StapleSettings()
    parts = _Parts.of(cases, truths)
    return parts.put_together(_shared(parts, settings, owner), cases)


class _Parts(NamedTuple):
    """Cases, of which those with a truth are two parts."""

    tables: list[DecisionPatterns]
    known: Floats  #: (parts,) the foreground prior where it is known, 0 or 1; else NaN
    case: NDArray[np.intp]  #: (parts,)
    truths: Sequence[NDArray[np.int64] | None]  #: (C,)

    @classmethod
    def of(
        cls, cases: Sequence[DecisionPatterns], truths: Sequence[NDArray[np.int64] | None]
    ) -> _Parts:
        truths = truths or [None] * len(cases)
        tables: list[DecisionPatterns] = []
        known: list[float] = []
        numbers: list[int] = []
        for number, (case, truth) in enumerate(zip(cases, truths, strict=True)):
            counts = {np.nan: case.counts}
            if truth is not None:
                counts = {0.0: case.counts - truth, 1.0: truth}
            for prior, voxels in counts.items():
                here = (voxels > 0) | (truth is None)
                if here.any():
                    rows, voxels = np.ascontiguousarray(case.patterns[here]), voxels[here]
                    tables.append(DecisionPatterns(rows, voxels, case.labels))
                    known.append(prior)
                    numbers.append(number)
        return cls(tables, np.array(known), np.array(numbers, np.intp), truths)

    def put_together(self, found: CohortResult, cases: Sequence[DecisionPatterns]) -> CohortResult:
        """Of each case with a truth what that says of its patterns."""
        posteriors, priors = [], []
        for number, (case, truth) in enumerate(zip(cases, self.truths, strict=True)):
            if truth is not None:
                posteriors.append(truth / np.maximum(case.counts, 1))
                priors.append(truth.sum() / case.counts.sum())
            else:
                (part,) = np.flatnonzero(self.case == number)
                posteriors.append(found.posteriors[part])
                priors.append(found.priors[part])
        return replace(found, posteriors=tuple(posteriors), priors=np.array(priors))


def _shared(parts: _Parts, settings: StapleSettings, owner: str) -> CohortResult:
    """What all parts say together, part by part."""
    table, groups = _one_below_the_other(parts.tables, owner)
    weights = counted_voxels(table, settings)
    if one_class(table, weights):
        shared = nothing_to_estimate(table, weights, settings)
        sizes = np.bincount(groups, table.counts)
        shares = np.bincount(groups, table.counts * shared.foreground) / sizes
        return CohortResult(shared, _by_case(shared.foreground, groups), shares)
    frequencies = _frequencies(table, weights, groups)
    priors = _case_priors(frequencies, settings, parts.case, owner)
    priors = np.where(np.isnan(parts.known), priors, parts.known)
    optima = run_em(
        table,
        weights,
        settings,
        in_pairs(frequencies),
        in_pairs(priors),
        prior_rows=groups,
    )
    shared = staple_result(table, weights, optima, settings, groups)
    final = prior_of_start(optima, shared.starts.winner)[:, 1]
    return CohortResult(shared, _by_case(shared.foreground, groups), final)


def _one_below_the_other(
    cases: Sequence[DecisionPatterns], owner: str
) -> tuple[DecisionPatterns, NDArray[np.uint32]]:
    """One table of all cases, and the case of each row."""
    if not cases:
        raise InputError("at least one case wanted, got none", owner=owner)
    raters = [case.number_of_raters for case in cases]
    odd = next((index for index, number in enumerate(raters) if number != raters[0]), None)
    if odd is not None:
        raise InputError(
            f"every case must have the same raters, None for an absent one; "
            f"case 0 has {raters[0]}, case {odd} has {raters[odd]}",
            owner=owner,
        )
    table = DecisionPatterns(
        np.concatenate([case.patterns for case in cases]),
        np.concatenate([case.counts for case in cases]),
        cases[0].labels,
    )
    sizes = [len(case.counts) for case in cases]
    return table, np.repeat(np.arange(len(cases), dtype=np.uint32), sizes)


def _frequencies(table: DecisionPatterns, weights: Floats, groups: NDArray[np.uint32]) -> Floats:
    """(C,) share of each case's counted votes that are foreground; the cohort's where none are."""
    shares = mean_of_votes(table)[:, 1]
    counted = np.where(np.isnan(shares), 0.0, weights)
    votes = np.bincount(groups, counted * np.nan_to_num(shares))
    total = np.bincount(groups, counted)
    start = np.full(len(total), votes.sum() / total.sum())
    return np.asarray(np.divide(votes, total, out=start, where=total > 0))


def _case_priors(
    frequencies: Floats, settings: StapleSettings, case: NDArray[np.intp], owner: str
) -> Floats:
    """(parts,) foreground prior that each starts with; `case` says whose part it is."""
    if settings.prior is None:
        priors = frequencies * settings.confidence_weight
        # A case in which nobody marks anything has prior 0, and rightly stays empty.
        if not ((priors >= 0) & (priors <= 1)).all():
            raise ParameterError(
                f"must keep every case's prior inside [0, 1], "
                f"got {settings.confidence_weight:g}, which makes one {priors.max():.6g}",
                owner=owner,
                parameter="ConfidenceWeight",
            )
        return priors
    given = np.atleast_1d(np.asarray(settings.prior, dtype=np.float64))
    cases = int(case.max()) + 1
    if len(given) not in (1, cases):
        raise ParameterError(
            f"must be one number, or one for each of the {cases} cases, got {len(given)}",
            owner=owner,
            parameter="Prior",
        )
    return np.broadcast_to(given, cases)[case]


def _by_case(values: Floats, groups: NDArray[np.uint32]) -> tuple[Floats, ...]:
    bounds = np.flatnonzero(np.diff(groups)) + 1
    return tuple(np.split(values, bounds))
