"""Compare several reviews of one case: matching decisions, and agreement between the
resulting maps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.errors import FileError
from itk_consensus.review.record import ReviewRecord
from itk_consensus.votes.overlap import dice_of


class AdjudicatorPair(NamedTuple):
    """Agreement between two reviews of one case."""

    first: str
    second: str
    both: int  #: Number of disputes decided in both reviews
    alike: int  #: Number of these for which all voxels have the same label in both reviews
    #: Chance-corrected agreement (kappa) between the labels of voxels in disputes decided in both
    #: reviews; NaN if there are none, or if all voxels have the same label in both.
    kappa: float
    dice: dict[str, float]  #: Dice over the whole maps, by structure and label


class Adjudication(NamedTuple):
    """One reviewer's decisions and the label maps that result from them."""

    name: str
    record: ReviewRecord
    maps: Mapping[str, NDArray[Any]]


def compare_adjudications(reviews: Sequence[Adjudication]) -> list[AdjudicatorPair]:
    """Compare all pairs of reviews of one case.

    Raises
    ------
    FileError
        The reviews do not have the same disputes, or the same inputs.
    """
    first = reviews[0].record
    regions = [one.where for one in first.disputes]
    for one in reviews[1:]:
        content = sorted(each.sha256 for each in one.record.inputs)
        if content != sorted(each.sha256 for each in first.inputs):
            raise FileError("is the review of other inputs", path=one.name)
        if [each.where for each in one.record.disputes] != regions:
            raise FileError(
                f"has other disputes than {reviews[0].name}: it was made with another method or "
                "version, and cannot be compared",
                path=one.name,
            )
    return [_pair(one, other) for at, one in enumerate(reviews) for other in reviews[at + 1 :]]


def _pair(one: Adjudication, other: Adjudication) -> AdjudicatorPair:
    both = sorted(one.record.decisions.keys() & other.record.decisions.keys())
    disputes = {dispute.number: dispute for dispute in one.record.disputes}
    alike, labels = 0, list[tuple[NDArray[Any], NDArray[Any]]]()
    for number in both:
        structure = disputes[number].structure
        size = one.maps[structure].size
        places = disputes[number].dispute(size).places
        mine, theirs = (each.maps[structure].reshape(-1)[places] for each in (one, other))
        alike += bool(np.array_equal(mine, theirs))
        labels.append((mine, theirs))
    dice = {
        f"{name} {label}".strip(): float(_dice(one.maps[name], other.maps[name], label))
        for name, known in ((each.name, each.labels) for each in one.record.maps)
        for label in known
        if label
    }
    return AdjudicatorPair(one.name, other.name, len(both), alike, _kappa(labels), dice)


def _dice(one: NDArray[Any], other: NDArray[Any], label: int) -> float:
    mine, theirs = one == label, other == label
    sizes = np.count_nonzero(mine) + np.count_nonzero(theirs)
    return float(dice_of(np.count_nonzero(mine & theirs), sizes))


def _kappa(pairs: Sequence[tuple[NDArray[Any], NDArray[Any]]]) -> float:
    """Return Cohen's kappa over voxels."""
    if not pairs:
        return float("nan")
    mine, theirs = (np.concatenate(side) for side in zip(*pairs, strict=True))
    labels = np.union1d(mine, theirs)
    chance = sum(float(np.mean(mine == k)) * float(np.mean(theirs == k)) for k in labels)
    return (float(np.mean(mine == theirs)) - chance) / (1 - chance) if chance < 1 else float("nan")
