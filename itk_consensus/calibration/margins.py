"""Margins in mm around a consensus, with a guarantee for the next case, and their record.

The score of a case is the smallest sufficient margin: the distance by which its consensus must be
widened to cover the reference, or shrunk to lie within it. The guarantee for the next case is then
obtained as for bands (`conformal.py`); unlike a band, a margin is the same in every case.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from itk_consensus.calibration.conformal import (
    WORDS,
    Thresholds,
    cases_needed,
    conformal_threshold,
    coverage_range,
    least,
    percent,
)
from itk_consensus.calibration.conformal_record import (
    ConformalRecord,
    are_finite,
    check_cases,
    make_record,
)
from itk_consensus.calibration.probabilities import CaseFacts, ProbabilityCase, box_around
from itk_consensus.calibration.scores import ScoreDistribution, exact_decimal
from itk_consensus.core.array_types import Floats
from itk_consensus.core.constraints import Choice, Real
from itk_consensus.core.errors import InputError
from itk_consensus.space.boxes import Box
from itk_consensus.space.distance import signed_distance
from itk_consensus.storage.record import Each, OnePart, Part

DIRECTIONS = ("outward", "inward", "both")


@dataclass(frozen=True)
class MarginOptions(Part):
    """Settings on which a margin depends; filters with equal settings can share a record."""

    alpha: Annotated[float, Real(0.0, 1.0, exclusive=True)]
    direction: Annotated[str, Choice(DIRECTIONS)]
    #: Share of a reference's volume that must lie within the margin for a case to be covered.
    covered_share: Annotated[float, Real(0.0, 1.0)]
    #: Ratio of the craniocaudal margin to the transverse one.
    craniocaudal_ratio: Annotated[float, Real(0.0, 1e3, exclusive=True)]

    @property
    def grows(self) -> bool:
        """Whether the consensus is widened."""
        return self.direction != "inward"

    @property
    def shrinks(self) -> bool:
        """Whether the consensus is shrunk."""
        return self.direction != "outward"

    @property
    def tolerance(self) -> float:
        """Share of the volume that may lie outside the margin."""
        return float(1 - exact_decimal(self.covered_share))

    def spacing_of(self, case: ProbabilityCase) -> tuple[float, ...]:
        """Return the spacing for distances, divided by the craniocaudal ratio along that axis."""
        sides = list(case.spacing)
        sides[case.craniocaudal_axis] /= self.craniocaudal_ratio
        return tuple(sides)


class MarginScores(NamedTuple):
    """The smallest sufficient margin of a case in mm, for each label except the background."""

    margins: tuple[float, ...]  #: Infinite if no margin suffices
    is_consensus: bool  #: Whether the reference is the consensus itself
    facts: CaseFacts


def margin_scores(
    case: ProbabilityCase, options: MarginOptions, spreads: tuple[float, ...] = ()
) -> MarginScores:
    """Compute the margins of a calibration case; for an empty consensus, no margin covers a
    reference.
    """
    consensus, reference = case.consensus, case.reference_labels()
    marked = (consensus | reference) != 0
    box = box_around(marked, 0.0, case.spacing) if marked.any() else (slice(0, 1),) * marked.ndim
    sides = options.spacing_of(case)
    margins = tuple(
        label_margin(consensus[box] == label, reference[box] == label, sides, options)
        for label in range(1, case.labels)
    )
    same = np.array_equal(consensus[box], reference[box])
    return MarginScores(margins, same, case.facts(spreads))


def label_margin(
    consensus: NDArray[np.bool_],
    reference: NDArray[np.bool_],
    sides: Sequence[float],
    options: MarginOptions,
) -> float:
    """Return the smallest margin in mm by which a mask covers another, lies within it, or both.

    Parameters
    ----------
    consensus, reference : ndarray of bool
        Masks in a box that leaves at least one voxel around both, unless the image ends there.
    """
    distance = signed_distance(consensus, sides)
    needed = [0.0]
    if options.grows:
        outward = ScoreDistribution.of(distance[reference])
        needed.append(outward.threshold_for(options.tolerance))
    if options.shrinks:
        # A consensus voxel inside the reference is correct, however far inside it lies.
        inward = np.where(reference, 0.0, -distance)[consensus]
        needed.append(ScoreDistribution.of(inward).threshold_for(options.tolerance))
    return max(needed)


def margin_sets(
    case: ProbabilityCase, options: MarginOptions, margins: Sequence[float], box: Box
) -> NDArray[np.bool_]:
    """Return (K, \\*box) possible labels of each voxel, background first.

    Outside the consensus, a label is possible up to its margin. The background is possible unless a
    label is certain; a label is certain in the consensus shrunk by the label's margin.
    """
    consensus, sides = case.consensus[box], options.spacing_of(case)
    sets = np.empty((case.labels, *consensus.shape), bool)
    sets[0] = True
    for label, margin in enumerate(margins, start=1):
        distance: Floats = signed_distance(consensus == label, sides)
        sets[label] = distance <= (margin if options.grows else 0.0)
        sets[0] &= distance >= (-margin if options.shrinks else 0.0)
    return sets


def margin_box(case: ProbabilityCase, options: MarginOptions, margins: Sequence[float]) -> Box:
    """Return the box outside which only background is possible; requires a non-empty consensus."""
    reach = max(margins) if options.grows else 0.0
    return box_around(case.consensus != 0, reach, options.spacing_of(case))


# -- the record --------------------------------------------------------------------------------


class Widths(NamedTuple):
    """Widths in mm, over the calibration cases, of a band that scales with the raters' spread."""

    mean: float
    narrowest: float
    widest: float


@dataclass(frozen=True)
class MarginRecord(ConformalRecord):
    """The calibration of a margin; `tau` has one margin per label, in mm."""

    schema = "itk_consensus conformal margin"

    tau: Annotated[tuple[float, ...], Each(Real(0.0), 1), "margin_mm"]
    options: Annotated[MarginOptions, OnePart(MarginOptions)]

    @property
    def guarantee(self) -> str:
        """Guarantee of the margin in one sentence."""
        whose, _, limit = WORDS[self.reference_kind]
        promised = " and ".join(self._clauses(whose))
        separately = " (each with this chance, separately)" if self.labels > 2 else ""
        return (
            f"In a new case drawn like the {self.number} calibration cases, the chance is at least "
            f"{percent(1 - self.options.alpha)} that {promised}{separately}; {limit}."
        )

    def _clauses(self, whose: str) -> Iterator[str]:
        margins = " or ".join(self._format_margin(margin) for margin in self.tau)
        if self.labels > 2:
            margins = f"its margin ({margins}, label by label)"
        what = f"{whose} foreground" if self.labels == 2 else f"each of {whose} labels"
        if self.options.grows:
            most = least(self.options.tolerance)
            yield f"{most} of {what} lies within {margins} of the consensus"
        if self.options.shrinks:
            but = self.options.tolerance
            except_for = f" but for at most {percent(but)} of the consensus" if but else ""
            yield f"what is deeper than {margins} in the consensus belongs to {what}{except_for}"

    def _format_margin(self, margin: float) -> str:
        ratio = self.options.craniocaudal_ratio
        along = f" ({margin * ratio:.3g} mm along the patient)" if ratio != 1 else ""
        return f"{margin:.3g} mm{along}"

    def band_widths(self, label: int = 1) -> Widths | None:
        """Return the widths of a band with the same guarantee that scales with the raters' spread.

        Returns None if spreads were not measured, or if such a band would be infinite.
        """
        if not self.cases[0].spread_mm:
            return None
        spreads = np.array([case.spread_mm[label] for case in self.cases])
        scores = np.array([case.score[label - 1] for case in self.cases])
        threshold = conformal_threshold((scores / spreads).tolist(), self.options.alpha)
        if not isfinite(threshold):
            return None
        widths = threshold * spreads
        return Widths(float(widths.mean()), float(widths.min()), float(widths.max()))

    def contradictions(self) -> Iterator[tuple[str, str]]:
        """Yield inconsistent fields and what is wrong with them."""
        if len(self.tau) != self.labels - 1:
            yield "margin_mm", f"must be one for each of {self.labels - 1} labels"
        if self.number != len(self.cases):
            yield "n", f"must be the number of cases, {len(self.cases)}, got {self.number}"
        spreads = {len(case.spread_mm) for case in self.cases}
        if spreads not in ({0}, {self.labels}):
            yield "cases", f"must all have {self.labels} spreads, or none"
        for i, case in enumerate(self.cases):
            if len(case.score) != len(self.tau):
                yield f"cases[{i}]", f"must have {len(self.tau)} scores"


def margin_record(
    cases: Sequence[MarginScores],
    case_ids: Sequence[str] | None,
    options: MarginOptions,
    provenance: Mapping[str, Any],
    owner: str,
) -> MarginRecord:
    """Determine the margins and make their record; takes the arguments of `make_record`."""
    facts = [case.facts for case in cases]
    check_cases(facts, options.alpha, cases_needed(options.alpha), owner)
    if all(case.is_consensus for case in cases):
        raise InputError(
            "every reference equals its consensus at every voxel; a circular reference "
            "cannot calibrate, so hold a rater out of the consensus",
            owner=owner,
        )
    columns = list(zip(*(case.margins for case in cases), strict=True))
    thresholds = Thresholds(
        tuple(conformal_threshold(column, options.alpha) for column in columns),
        len(cases),
        tuple(case.margins for case in cases),
        coverage_range(options.alpha, len(cases)),
    )
    if not are_finite(thresholds):
        worst = max(sum(not isfinite(score) for score in column) for column in columns)
        raise InputError(
            f"no margin covers enough cases: in {worst} of {len(cases)} the consensus lacks a "
            "label that the reference has, or fills the image; a larger {Alpha} tolerates more",
            owner=owner,
            mentions=("Alpha",),
        )
    return make_record(MarginRecord, options, thresholds, facts, case_ids, provenance, owner)
