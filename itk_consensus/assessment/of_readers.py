"""How far readers agree, whatever becomes of their fusion: good, moderate or poor.

A fusion may be right though readers hardly agree, and be wrong though they do; so these findings
are apart from those about the fusion. Each label is judged by itself, and the worst is named.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from itk_consensus.assessment.agreement.surfaces import Surface, surface_dices
from itk_consensus.assessment.findings import SEVERITY_OF, Finding, Severity
from itk_consensus.assessment.reader_slices import about_slices
from itk_consensus.assessment.reader_slips import slips
from itk_consensus.assessment.readers import Readers, about_raters
from itk_consensus.core.array_types import Floats, length_unit
from itk_consensus.fusing.near_copies import MOST_RATERS
from itk_consensus.fusing.reader_limits import Agreement, graded

FEW_RATERS = 3  # section 2.4.2 of "When Does Consensus Beat Voting?"

#: Surfaces are traced in the labels with the lowest Dice, as long as the voxels of their boxes,
#: times the raters, are no more than this; in the first label in any case, of some raters.
MOST_SURFACE_VOXELS = 1 << 22

_ADVICE: dict[Agreement, str] = {
    "good": "",
    "moderate": "Look where they differ.",
    "poor": "Settle with the raters what is to be drawn before a consensus is used.",
}


def diagnose_readers(readers: Readers) -> Iterator[Finding]:
    """Apply every rule about the raters; who slipped is said before how that lowers agreement."""
    number = len(readers.annotating)
    yield few_raters(number)
    if number < 2:
        return
    if readers.patterns.number_of_raters > MOST_RATERS:
        message = f"{number} raters are too many to compare with each other."
        yield about_raters("deviating rater", None, None, message)
        return
    yield from slips(readers)
    yield from about_slices(readers)
    if len(readers.shared_labels):
        yield pairwise_dice(readers)
        if readers.patterns.codes is not None:
            yield surface_dice(readers)
        if readers.is_complete:
            yield volume_spread(readers)


def few_raters(number: int) -> Finding:
    """Fewer than three raters cannot tell who is right (section 2.4.2)."""
    if number < 2:
        message = "One rater annotated: the answer is one opinion."
        return about_raters("few raters", number, "caution", message, "Add raters.")
    severity: Severity = "note" if number < FEW_RATERS else None
    advice = "Where two raters disagree it is unknown who is right; a third rater would help."
    return about_raters("few raters", number, severity, f"{number} raters annotated.", advice)


def pairwise_dice(readers: Readers) -> Finding:
    """Overlap of every two raters; pairs who both left a label out say nothing of it."""
    limits, labels = readers.limits, readers.shared_labels
    means = np.nanmean(readers.dice[labels], axis=(1, 2))
    worst = int(means.argmin())
    pairs = readers.dice[labels[worst]]
    i, j = np.unravel_index(np.nanargmin(pairs), pairs.shape)
    grade = graded(means[worst], limits.good_dice, limits.poor_dice)
    message = f"{readers.name(labels[worst])}mean Dice {means[worst]:.2f} between raters"
    if len(readers.annotating) > 2:
        message += f", lowest {pairs[i, j]:.2f} (raters {min(i, j)} and {max(i, j)})"
    return _graded("pairwise Dice", means[worst], grade, message, _others(means, worst))


def surface_dice(readers: Readers) -> Finding:
    """How much of the contours coincides within a tolerance in mm, in the labels of lowest Dice."""
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
    grade = graded(means[worst], limits.good_surface_dice, limits.poor_surface_dice)
    if grade == "poor" and np.nanmean(readers.dice[labels[worst]]) >= limits.good_dice:
        grade = "moderate"  # Of a large structure contours may differ by mm and hardly matter.
    message = (
        f"{readers.name(labels[worst])}mean surface Dice {means[worst]:.2f} at "
        f"{limits.surface_tolerance:g} {length_unit(readers.spacing)} between raters"
    )
    return _graded("surface Dice", means[worst], grade, message)


def _surfaces(readers: Readers, label: int, budget: int | None) -> tuple[list[Surface], int]:
    """Surfaces of the raters who drew a label, and the voxels it took; with a budget, of few."""
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


def volume_spread(readers: Readers) -> Finding:
    """How far the volumes of those who drew a label differ."""
    limits, labels = readers.limits, readers.shared_labels
    sizes = readers.pairs.sizes[labels].astype(float)
    sizes[sizes == 0] = np.nan
    variation = np.nanstd(sizes, axis=1, ddof=1) / np.nanmean(sizes, axis=1)
    worst = int(variation.argmax())
    low, high = np.nanmin(sizes[worst]), np.nanmax(sizes[worst])
    grade = graded(variation[worst], limits.good_volume_variation, limits.poor_volume_variation)
    message = (
        f"{readers.name(labels[worst])}volumes of {readers.volume(low, high)}, a variation of "
        f"{variation[worst]:.0%}"
    )
    return _graded("volume spread", variation[worst], grade, message)


def _others(means: Floats, worst: int) -> str:
    """The mean over labels, where there are several."""
    return f"; {means.mean():.2f} over all {len(means)} labels" if len(means) > 1 else ""


def _graded(rule: str, value: float, grade: Agreement, message: str, more: str = "") -> Finding:
    text = f"{message[0].upper()}{message[1:]}{more}: {grade} agreement."
    return about_raters(rule, float(value), SEVERITY_OF[grade], text, _ADVICE[grade])
