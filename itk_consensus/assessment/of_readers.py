"""Rules about the agreement between readers (good, moderate or poor), independent of their fusion.

A fusion can be right although readers hardly agree, and wrong although they do; these findings are
therefore kept separate from those about the fusion. Each label is judged separately.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from itk_consensus.assessment.agreement.surfaces import Surface, surface_dices
from itk_consensus.assessment.findings import SEVERITY_OF, SWAPS, Finding
from itk_consensus.assessment.reader_slices import diagnose_slices
from itk_consensus.assessment.reader_slips import slips
from itk_consensus.assessment.readers import Readers, about_raters, or_fine
from itk_consensus.core.array_types import Floats, length_unit
from itk_consensus.fusing.agreement_limits import Agreement, grade_agreement
from itk_consensus.fusing.near_copies import MOST_RATERS
from itk_consensus.space.boxes import voxel_volume

#: Minimum number of raters for which two groups are reported. Chosen, like the next two values, by
#: `examples/benchmarks/findings/verdict_evidence.py` on seeds below 3000.
LEAST_IN_CAMPS = 4
CAMP_TIMES = 2.5  # minimum ratio of 1 - Dice between the groups to 1 - Dice within them ...
CAMP_DICE = 0.08  # ... and minimum difference between the two Dice values
FEW_RATERS = 3  # section 2.4.2 of "When Does Consensus Beat Voting?"

#: Surface Dice is computed for the labels with the lowest Dice, up to this total number of voxels
#: (of bounding boxes, times raters). The first label is always included, with fewer raters if
#: necessary.
MOST_SURFACE_VOXELS = 1 << 22


def diagnose_readers(readers: Readers, known: Sequence[Finding] = ()) -> Iterator[Finding]:
    """Apply all rules about the raters: first slips, then agreement, which slips may lower.

    Parameters
    ----------
    known : sequence of Finding
        Findings from other sources; raters who swapped structures are not checked for other slips.
    """
    number = len(readers.annotating)
    yield few_raters(readers)
    if number < 2:
        return
    if readers.patterns.number_of_raters > MOST_RATERS:
        yield about_raters("deviating rater", None, None, "many", number=number)
        return
    swapped = {who for one in known if one.rule in SWAPS for who in one.who}
    yield from slips(readers, swapped)
    yield from diagnose_slices(readers)
    if len(readers.shared_labels):
        yield from two_camps(readers)
        yield from pairwise_dice(readers)
        if readers.patterns.codes is not None:
            yield surface_dice(readers)
        if readers.is_complete:
            yield from volume_spread(readers)


def few_raters(readers: Readers) -> Finding:
    """Warn of fewer than three raters, for whom no majority exists (section 2.4.2)."""
    who, number = readers.annotating, len(readers.annotating)
    if number < 2:
        return about_raters("few raters", number, "look", "", who, number=number)
    kind, severity = ("two", "note") if number < FEW_RATERS else ("fine", None)
    return about_raters("few raters", number, severity, kind, number=number)  # type: ignore[arg-type]


def two_camps(readers: Readers) -> Iterator[Finding]:
    """Find raters who form two groups, each with good internal agreement: two interpretations."""
    found = []
    several = readers.drawers[readers.shared_labels] >= LEAST_IN_CAMPS
    for label in readers.shared_labels[several] if readers.is_complete else ():
        known = np.flatnonzero(readers.pairs.sizes[label] > 0)
        dice = readers.dice[label][np.ix_(known, known)]
        camps = _camps(dice)
        if camps is None:
            continue
        is_close = camps.within >= readers.limits.good_dice and camps.are_separate
        if is_close and camps.within - camps.between > CAMP_DICE:
            first, second = _numbers(known[camps.first]), _numbers(known[~camps.first])
            facts: dict[str, Any] = {"first": first, "second": second}
            facts |= {"within": camps.within, "between": camps.between}
            about = readers.label(label)
            found.append(about_raters("two camps", camps.between, "look", "", (), about, **facts))
    yield from or_fine(found, "two camps")


class _Camps(NamedTuple):
    """Raters split into two groups."""

    first: NDArray[np.bool_]  #: (J,) membership of the first group
    within: float  #: Mean Dice of pairs within the groups
    between: float  #: Mean Dice of pairs from different groups
    #: Whether the lowest Dice within a group exceeds the highest Dice between groups
    is_nested: bool

    @property
    def are_separate(self) -> bool:
        """Whether the groups are farther apart than the best split of similar raters would be."""
        return self.is_nested and 1 - self.between > CAMP_TIMES * (1 - self.within)


def _camps(dice: Floats) -> _Camps | None:
    """Cluster raters into two groups; None if one is a single rater, or if a Dice is undefined."""
    pairs = np.triu_indices(len(dice), 1)
    if not np.isfinite(dice[pairs]).all():
        return None
    tree = scipy.cluster.hierarchy.linkage(1 - dice[pairs], "average")
    own = np.asarray(scipy.cluster.hierarchy.fcluster(tree, 2, "maxclust") == 1)
    if min(own.sum(), (~own).sum()) < 2:
        return None
    same = (own[:, None] == own[None, :])[pairs]
    within, between = dice[pairs][same], dice[pairs][~same]
    is_nested = bool(within.min() > between.max())
    return _Camps(own, float(within.mean()), float(between.mean()), is_nested)


def _numbers(raters: NDArray[np.intp]) -> tuple[int, ...]:
    return tuple(raters.tolist())


def pairwise_dice(readers: Readers) -> Iterator[Finding]:
    """Grade the Dice of pairs of raters; pairs in which both left a label out are ignored.

    The label with the lowest Dice is reported, and every other label with less than good agreement.
    """
    limits, labels = readers.limits, readers.shared_labels
    means = np.nanmean(readers.dice[labels], axis=(1, 2))
    for place in _indices_to_report(
        means, [grade_agreement(one, limits.good_dice, limits.poor_dice) for one in means]
    ):
        label = labels[place]
        pairs = readers.dice[label]
        i, j = np.unravel_index(np.nanargmin(pairs), pairs.shape)
        grade = grade_agreement(means[place], limits.good_dice, limits.poor_dice)
        several = len(readers.annotating) > 2
        who, kind = (sorted((int(i), int(j))), "pair") if several else ((), "")
        facts = {"dice": means[place], "lowest": pairs[i, j]}
        yield _agreement_finding(
            "pairwise Dice", means[place], grade, readers.label(label), facts, kind, who
        )


def _indices_to_report(values: Floats, grades: Sequence[Agreement]) -> list[int]:
    """Return the indices of the lowest value and of all values not graded good, in
    increasing order.
    """
    order = np.argsort(values, kind="stable").tolist()
    return [place for n, place in enumerate(order) if n == 0 or grades[place] != "good"]


def surface_dice(readers: Readers) -> Finding:
    """Grade the surface Dice of pairs of raters on the labels with the lowest Dice."""
    limits = readers.limits
    order = np.nanmean(readers.dice[readers.shared_labels], axis=(1, 2)).argsort(kind="stable")
    means, labels, budget = list[float](), list[int](), MOST_SURFACE_VOXELS
    for label in readers.shared_labels[order]:
        surfaces, voxels = _surfaces(readers, int(label), budget if not labels else None)
        budget -= voxels
        if labels and budget < 0:
            break
        found = surface_dices(surfaces, readers.spacing, limits.surface_tolerance)
        means.append(_mean_of_pairs(found))
        labels.append(int(label))
    worst = int(np.argmin(means))
    grade = grade_agreement(means[worst], limits.good_surface_dice, limits.poor_surface_dice)
    if grade == "poor" and np.nanmean(readers.dice[labels[worst]]) >= limits.poor_dice:
        grade = "moderate"  # in a large structure, differences of a few millimetres hardly matter
    facts: dict[str, Any] = {"dice": means[worst], "tolerance": limits.surface_tolerance}
    facts["unit"] = length_unit(readers.spacing)
    about = readers.label(labels[worst])
    return _agreement_finding("surface Dice", means[worst], grade, about, facts)


def _surfaces(readers: Readers, label: int, budget: int | None) -> tuple[list[Surface], int]:
    """Return the surfaces of the raters who drew a label, and the number of voxels processed.

    If the number of voxels is limited, only some of the raters are used, but at least two.
    """
    patterns = readers.patterns
    said: NDArray[np.bool_] = patterns.patterns == label
    box = patterns.region(np.asarray(said.any(axis=1)), [0] * len(readers.spacing))
    voxels = int(np.prod([part.stop - part.start for part in box]))
    raters = np.flatnonzero(readers.pairs.sizes[label] > 0)
    if budget is not None:
        fitting = max(2, budget // max(voxels, 1))
        raters = raters[:: -(-len(raters) // fitting)]
    cropped = patterns.crop(box)
    masks = (cropped.expand(np.ascontiguousarray(said[:, rater])) for rater in raters)
    return [Surface.of(mask) for mask in masks], voxels * len(raters)


def _mean_of_pairs(matrix: Floats) -> float:
    return float(matrix[np.triu_indices(len(matrix), 1)].mean())


def volume_spread(readers: Readers) -> Iterator[Finding]:
    """Grade the variation of volume among the raters who drew a label."""
    limits, labels = readers.limits, readers.shared_labels
    sizes = readers.pairs.sizes[labels].astype(float)
    sizes[sizes == 0] = np.nan
    variation = np.nanstd(sizes, axis=1, ddof=1) / np.nanmean(sizes, axis=1)
    grades = [
        grade_agreement(one, limits.good_volume_variation, limits.poor_volume_variation)
        for one in variation
    ]
    for place in _indices_to_report(-variation, grades):
        low, high = np.nanmin(sizes[place]), np.nanmax(sizes[place])
        facts: dict[str, Any] = {"low": readers.volume(low), "high": readers.volume(high)}
        is_area = voxel_volume(readers.spacing)[1] == "mm^2"
        facts |= {"extent": "areas" if is_area else "volumes", "fold": high / low}
        facts["variation"] = variation[place]
        about = readers.label(labels[place])
        yield _agreement_finding("volume spread", variation[place], grades[place], about, facts)


def _agreement_finding(
    rule: str,
    value: float,
    grade: Agreement,
    label: int | None,
    facts: dict[str, Any],
    kind: str = "",
    who: Sequence[int] = (),
) -> Finding:
    severity = SEVERITY_OF[grade]
    return about_raters(rule, float(value), severity, kind, who, label, grade=grade, **facts)
