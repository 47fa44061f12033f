"""STAPLE over a cohort: many cases segmented by the same raters.

All cases share one sensitivity and specificity per rater, and each case has its own prior. The
method is STAPLE (Warfield, Zou & Wells, 2004) applied to the concatenated pattern tables of the
cases. It can therefore estimate rater performance for structures that are too small to do so from
one case.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats
from itk_consensus.core.errors import InputError, ParameterError
from itk_consensus.methods.staple.staple import (
    StapleSettings,
    counted_voxels,
    has_one_class,
    run_em,
)
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
    """Result of STAPLE over a cohort."""

    #: Each rater's performance, and the posterior of the concatenated patterns of all cases.
    shared: StapleResult
    posteriors: tuple[Floats, ...]  #: Foreground probability of each case's patterns
    priors: Floats  #: (C,) final foreground prior of each case


def cohort_staple(
    cases: Sequence[DecisionPatterns],
    settings: StapleSettings | None = None,
    *,
    truths: Sequence[NDArray[np.int64] | None] = (),
    owner: str = "cohort_staple",
) -> CohortResult:
    """Fuse the binary patterns of many cases with one performance estimate per rater.

    All cases have the same raters in the same order; a rater who is absent from a case is missing
    in all its patterns. The other arguments are those of `staple`; a prior may have one value per
    case.

    Parameters
    ----------
    truths : sequence of (P,) ndarray of int64 or None, optional
        For each case whose true segmentation is known, the number of foreground voxels of each
        pattern. The posterior of such a case is fixed: it is split into its foreground voxels, with
        prior 1, and its background voxels, with prior 0.
    """
    settings = settings or StapleSettings()
    parts = _Parts.of(cases, truths)
    return parts.merge(_fuse_parts(parts, settings, owner), cases)


class _Parts(NamedTuple):
    """Cases to fuse; those with a known truth are split into foreground and background parts."""

    tables: list[DecisionPatterns]
    known: Floats  #: (parts,) foreground prior 0 or 1 if the truth is known, else NaN
    case: NDArray[np.intp]  #: (parts,) index of the case
    #: (C,) foreground voxels of each pattern, for cases with a known truth
    truths: Sequence[NDArray[np.int64] | None]

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

    def merge(self, found: CohortResult, cases: Sequence[DecisionPatterns]) -> CohortResult:
        """Return the posteriors and priors of the cases; for a known truth they follow from it."""
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


def _fuse_parts(parts: _Parts, settings: StapleSettings, owner: str) -> CohortResult:
    """Run EM on all parts; the result has one posterior and one prior per part."""
    table, groups = _concatenate(parts.tables, owner)
    weights = counted_voxels(table, settings)
    if has_one_class(table, weights):
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


def _concatenate(
    cases: Sequence[DecisionPatterns], owner: str
) -> tuple[DecisionPatterns, NDArray[np.uint32]]:
    """Return one pattern table for all cases, and the case index of each row."""
    if not cases:
        raise InputError("needs at least one case, got none", owner=owner)
    raters = [case.number_of_raters for case in cases]
    odd = next((index for index, number in enumerate(raters) if number != raters[0]), None)
    if odd is not None:
        raise InputError(
            f"every case must have the same number of raters, with None for an absent one; "
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
    """Return the (C,) foreground share of each case's votes; the cohort's if it has no votes."""
    shares = mean_of_votes(table)[:, 1]
    counted = np.where(np.isnan(shares), 0.0, weights)
    votes = np.bincount(groups, counted * np.nan_to_num(shares))
    total = np.bincount(groups, counted)
    start = np.full(len(total), votes.sum() / total.sum())
    return np.asarray(np.divide(votes, total, out=start, where=total > 0))


def _case_priors(
    frequencies: Floats, settings: StapleSettings, case: NDArray[np.intp], owner: str
) -> Floats:
    """Return the (parts,) initial foreground priors; `case` is the case index of each part."""
    if settings.prior is None:
        priors = frequencies * settings.confidence_weight
        # A case in which no rater marked anything has prior 0 and correctly stays empty.
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
