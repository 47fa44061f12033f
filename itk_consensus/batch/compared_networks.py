"""Comparison of networks, pairs of networks and fusions by their Dice with the true
segmentation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats
from itk_consensus.fusing.paired_gain import Gain
from itk_consensus.images import convert
from itk_consensus.images.kept_metadata import Keep
from itk_consensus.methods.consensus.consensus_filter import ConsensusFilter
from itk_consensus.methods.pooling.probability_average_filter import ProbabilityAverageFilter
from itk_consensus.methods.voting.majority_vote_filter import MajorityVoteFilter
from itk_consensus.report.image_file import ImageFile
from itk_consensus.votes.overlap import dice

#: Maximum number of networks whose pairs are compared; the number of pairs grows quadratically.
MOST_NETWORKS = 8

Answer = Callable[[Sequence[ImageFile]], NDArray[Any]]


@dataclass(frozen=True)
class Compared:
    """A network or a fusion, with its results for all cases."""

    name: str
    dice: float
    #: Gain in Dice over the best single network, with simultaneous intervals for all comparisons.
    gain: Gain | None


def compare(cases: Iterable[tuple[Mapping[str, ImageFile | None], Any]]) -> list[Compared]:
    """Compare networks, their pairs and fusions; return them with the best first.

    Parameters
    ----------
    cases : iterable of (mapping, image)
        The networks' files by name (None for a missing file) and the true segmentation, for each
        case. Cases that lack a network are skipped, so that all results are compared on the same
        cases.
    """
    rows: list[dict[str, float]] = []
    for raters, truth in cases:
        files = [file for file in raters.values() if file is not None]
        if len(files) == len(raters):
            true = _array(truth)
            answers = _answers(list(raters), files)
            rows.append({name: _mean_dice(found, true) for name, found in answers})
    if len(rows) < 2:
        return []
    scores = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    singles = {name: values for name, values in scores.items() if name in raters}
    best = max(singles, key=lambda name: float(singles[name].mean()))
    found = [_comparison(name, scores, best) for name in scores]
    return sorted(found, key=lambda one: -one.dice)


def table_text(found: Sequence[Compared], cases: int) -> list[str]:
    """Format the comparison as lines of text."""
    width = max(len(one.name) for one in found)
    lines = [
        f"{one.name:{width}}  {one.dice:.4f}  {one.gain or 'the best single network'}"
        for one in found
    ]
    return [
        *lines,
        f"mean Dice of {cases} cases; gains over the best single network, with simultaneous "
        f"95 % intervals of all {len(found) - 1} comparisons. It was chosen on these cases, too.",
    ]


def _comparison(name: str, scores: Mapping[str, Floats], best: str) -> Compared:
    gain = None
    if name != best:
        gain = Gain.of(scores[name] - scores[best], comparisons=len(scores) - 1)
    return Compared(name, float(scores[name].mean()), gain)


def _answers(
    names: Sequence[str], files: Sequence[ImageFile]
) -> Iterator[tuple[str, NDArray[Any]]]:
    is_soft = any(isinstance(file.image, list) for file in files)
    for name, file in zip(names, files, strict=True):
        yield name, np.asarray(file.components[0])
    fuser = ProbabilityAverageFilter if is_soft else ConsensusFilter
    if len(names) <= MOST_NETWORKS:
        for one, other in combinations(range(len(names)), 2):
            pair = [files[one].image, files[other].image]
            yield f"{names[one]} + {names[other]}", _array(fuser().fuse_to_labels(pair))
    images = [file.image for file in files]
    if is_soft:
        yield (
            "probability-average of all",
            _array(ProbabilityAverageFilter().fuse_to_labels(images)),
        )
    labels = [file.components[0] for file in files]
    vote = MajorityVoteFilter(TieRule="background")
    yield "vote of all", _array(vote.fuse_to_labels(labels))
    if not is_soft:
        yield "consensus of all", _array(ConsensusFilter().fuse_to_labels(images))


def _array(image: Any) -> NDArray[Any]:
    (array,) = convert.load([image], owner="compare", keep=Keep.NOTHING).arrays
    assert array is not None
    return array


def _mean_dice(found: NDArray[Any], truth: NDArray[Any]) -> float:
    """Return the mean Dice over the labels that occur in either map."""
    labels = sorted({*np.unique(truth).tolist(), *np.unique(found).tolist()} - {0})
    return float(np.mean([dice(found == k, truth == k) for k in labels])) if labels else 1.0
