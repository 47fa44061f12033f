"""Lesions that few raters found, but found alike.

Where raters overlook whole lesions, a vote drops what two of five drew to the voxel. Whether two
of five are enough depends on how often these raters find what is there: a lesion found by k of J
is taken if that is likelier with their detection rate than with the rate at which one rater's own
inventions come. It is the cut midway of the coherence vote, once more, with lesions for voxels.
Only lesions whose finders agree about their shape count, which inventions would not.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from itk_consensus.algorithms.rater_masks import Mask, RaterMasks
from itk_consensus.labels.boxes import Box
from itk_consensus.labels.overlap import dice

#: Two of two say nothing about who overlooks.
LEAST_RATERS = 3

#: Voxels that two raters share: fewer may coincide by chance.
LEAST_SHARED_VOXELS = 6

#: Mean Dice between the finders from which they drew the same thing.
LEAST_AGREEMENT = 0.5


class MissedLesions(NamedTuple):
    """What few raters found and the answer lacks.

    Attributes
    ----------
    mask : (\\*shape) ndarray of bool
        Voxels that at least half of the finders mark, in lesions found by more than `threshold`.
    number : int
        Of such lesions.
    detection : float
        Share of the lesions that two or more found which a rater finds on average; NaN if none.
    threshold : float
        Number of raters by which a lesion must be found.
    """

    mask: Mask
    number: int
    detection: float
    threshold: float


class _Lesion(NamedTuple):
    """A connected piece of what anybody marked: its box, and the masks (finders, \\*box)."""

    box: Box
    drawn: NDArray[np.bool_]


def missed_lesions(masks: RaterMasks, index: int, decision: NDArray[Any]) -> MissedLesions:
    """Lesions of a label to be added to an answer.

    Parameters
    ----------
    masks : RaterMasks
        Copies merged. With raters missing somewhere nothing is added: who did not look did not
        overlook.
    index : int
        Of the label.
    decision : (\\*shape) ndarray
        The answer: label indices.
    """
    found = np.zeros(masks.shape, bool)
    raters = masks.number_of_raters
    if raters < LEAST_RATERS or masks.present is not None or len(masks.shape) > 3:
        return MissedLesions(found, 0, np.nan, np.nan)
    around = masks.marked_box(index)
    if around is None:
        return MissedLesions(found, 0, np.nan, np.nan)
    lesions = list(_lesions(masks.marks(index, around)))
    finders = np.array([len(lesion.drawn) for lesion in lesions])
    if not (finders > 1).any():
        return MissedLesions(found, 0, np.nan, np.nan)
    detection = float(finders[finders > 1].mean() / raters)
    least = threshold_of_finders(detection, raters)
    number, chosen, added = 0, decision[around] == index, found[around]
    for box, drawn in lesions:
        lacking = not chosen[box][drawn.any(axis=0)].any()
        if lacking and len(drawn) > max(least, 1) and _agreement(drawn) >= LEAST_AGREEMENT:
            added[box] |= drawn.mean(axis=0) >= 0.5
            number += 1
    return MissedLesions(found, number, detection, least)


def threshold_of_finders(detection: float, raters: int) -> float:
    """The number k of J raters at which both explanations are equally likely.

    Binomial with the detection rate d, or with f = 1 / J, one rater's own invention:
    ``k = J log((1 - f) / (1 - d)) / log(d (1 - f) / (f (1 - d)))``.
    """
    false = 1 / raters
    d = float(np.clip(detection, false + 0.05, 1 - false / 2))
    odds = np.log(d * (1 - false) / (false * (1 - d)))
    return float(raters * np.log((1 - false) / (1 - d)) / odds)


def _lesions(stack: Mask) -> Iterator[_Lesion]:
    """Pieces of the union, large enough not to be chance; the lone ones among them too."""
    pieces, _ = scipy.ndimage.label(stack.any(axis=0), np.ones((3,) * (stack.ndim - 1)))
    voxels = np.bincount(pieces.ravel())
    for number, box in enumerate(scipy.ndimage.find_objects(pieces), start=1):
        if voxels[number] < LEAST_SHARED_VOXELS:
            continue
        drawn = stack[(slice(None), *box)] & (pieces[box] == number)
        drawn = drawn[drawn.reshape(len(drawn), -1).any(axis=1)]
        shared = drawn.sum(axis=0) >= min(2, len(drawn))
        if np.count_nonzero(shared) >= LEAST_SHARED_VOXELS:
            yield _Lesion(box, drawn)


def _agreement(drawn: NDArray[np.bool_]) -> float:
    """Mean Dice between pairs of finders."""
    pairs = [(a, b) for a in range(len(drawn)) for b in range(a)]
    return float(np.mean([dice(drawn[a], drawn[b]) for a, b in pairs]))
