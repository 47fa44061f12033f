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

from itk_consensus.algorithms.components import piece_sizes
from itk_consensus.algorithms.rater_masks import VOXELS_AT_ONCE, RaterMasks
from itk_consensus.array_types import Mask
from itk_consensus.labels.boxes import Box, moved, relative_to, slabs
from itk_consensus.labels.overlap import dice

#: Two of two say nothing about who overlooks.
LEAST_RATERS = 3

#: Voxels that two raters share: fewer may coincide by chance.
LEAST_SHARED_VOXELS = 6

#: Mean Dice between the finders from which they drew the same thing.
LEAST_AGREEMENT = 0.5


class MissedLesions(NamedTuple):
    """What few raters found and the answer lacks."""

    #: (*shape) voxels that at least half of the finders mark, in lesions found by more than
    #: `threshold`.
    mask: Mask
    number: int  #: Of such lesions
    #: Share of the lesions that two or more found which a rater finds on average; NaN if none.
    detection: float
    threshold: float  #: Number of raters by which a lesion must be found


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
    pieces = _find_pieces(masks, index, around, decision[around] == index)
    if pieces is None:
        return MissedLesions(found, 0, np.nan, np.nan)
    finders = pieces.finders[pieces.large & (pieces.finders > 1)]
    if not len(finders):
        return MissedLesions(found, 0, np.nan, np.nan)
    detection = float(finders.mean() / raters)
    least = threshold_of_finders(detection, raters)
    lacking = pieces.large & pieces.absent & (pieces.finders > max(least, 1))
    number = 0
    for lesion, box in _boxes(pieces.places, np.flatnonzero(lacking)):
        drawn = masks.marks(index, moved(box, around)) & (pieces.places[box] == lesion)
        drawn = drawn[drawn.reshape(len(drawn), -1).any(axis=1)]
        if _agreement(drawn) >= LEAST_AGREEMENT:
            found[moved(box, around)] |= drawn.mean(axis=0) >= 0.5
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


class _Pieces(NamedTuple):
    """Connected pieces of what anybody marked, by number; 0 is what nobody did."""

    places: NDArray[np.int32]  #: (*box) the number of each voxel's piece
    finders: NDArray[np.int64]  #: (P,) raters who marked something of a piece
    #: (P,) whether a piece, if lone, or what two raters share of it is too large to be chance.
    large: Mask
    absent: Mask  #: (P,) whether the answer has nothing of a piece


def _find_pieces(masks: RaterMasks, index: int, around: Box, answer: Mask) -> _Pieces | None:
    """Pieces in a box; masks are read some planes at a time. None if the answer has them all."""
    shape = tuple(part.stop - part.start for part in around)
    parts = [(part, relative_to(part, around)) for part in slabs(around, VOXELS_AT_ONCE)]
    marks = np.zeros(shape, np.uint8)
    for part, here in parts:
        # Beyond two it does not matter how many.
        marks[here] = np.minimum(masks.marks(index, part).sum(axis=0, dtype=np.uint16), 2)
    places, number = scipy.ndimage.label(marks, np.ones((3,) * len(shape)))
    absent = np.arange(number + 1) > 0
    absent[places[answer]] = False
    if not absent.any():
        return None
    found = np.zeros((masks.number_of_raters, number + 1), bool)
    for part, here in parts:
        for mask, pieces in zip(masks.marks(index, part), found, strict=True):
            pieces[places[here][mask]] = True
    finders = found.sum(axis=0)
    voxels = piece_sizes(places, number)
    shared = piece_sizes(places[marks > 1], number)
    large = np.where(finders > 1, shared, voxels) >= LEAST_SHARED_VOXELS
    large[0] = False
    return _Pieces(places, finders, large, absent)


def _boxes(places: NDArray[np.int32], lesions: NDArray[np.intp]) -> Iterator[tuple[int, Box]]:
    """The boxes around some pieces."""
    boxes = scipy.ndimage.find_objects(places) if len(lesions) else []
    return ((int(lesion), boxes[lesion - 1]) for lesion in lesions)


def _agreement(drawn: NDArray[np.bool_]) -> float:
    """Mean Dice between pairs of finders."""
    pairs = [(a, b) for a in range(len(drawn)) for b in range(a)]
    return float(np.mean([dice(drawn[a], drawn[b]) for a, b in pairs]))
