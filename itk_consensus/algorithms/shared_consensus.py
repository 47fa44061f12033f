"""The recommended consensus: what raters share, found by rules that can be read.

1. Copies of one rater count once (`near_copies`).
2. The coherence vote keeps what raters share and smooths the rest (`coherence_vote`).
3. Lesions that few raters found, but found alike, are added where these raters overlook that many
   (`missed_lesions`).
4. From five raters on, what all of them mark stays (`coherence_vote`).

``examples/benchmarks/consensus_evidence.py`` prints what each is worth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.algorithms.coherence_vote import CoherenceResult, coherence_vote
from itk_consensus.algorithms.label_answers import Indices
from itk_consensus.algorithms.missed_lesions import MissedLesions, missed_lesions
from itk_consensus.algorithms.near_copies import near_copies
from itk_consensus.algorithms.over_labels import over_labels, ticking
from itk_consensus.algorithms.rater_masks import RaterMasks
from itk_consensus.labels.decision_patterns import DecisionPatterns
from itk_consensus.labels.label_stack import LabelStack
from itk_consensus.labels.tiles import Progress


@dataclass(frozen=True)
class SharedConsensus:
    """A consensus and the facts that led to it."""

    decision: Indices  #: (*shape) label index, or `labels.ties.UNDECIDED` where nobody annotated
    coherence: CoherenceResult  #: Before lesions were added
    raters: RaterMasks  #: Everybody who annotated something, copies apart
    #: Those raters, as numbered in the patterns; those of one group are copies.
    groups: list[list[int]]
    missed: dict[int, MissedLesions]  #: By label index, where lesions were added

    def overlap(self, decision: NDArray[Any], labels: NDArray[Any]) -> float:
        """Dice of another decision's foreground to this one, equal labels being the overlap.

        Parameters
        ----------
        decision : (\\*shape) ndarray of int
            Label index, or a code of `labels.ties`.
        labels : (K,) ndarray
            The label value behind each index; 0 is background.
        """
        # Codes are Python indices from the end: background, undecided.
        ours = np.append(labels, [0, 0])[self.decision]
        theirs = np.append(labels, [0, -1])[decision]
        total = np.count_nonzero(ours) + np.count_nonzero(theirs)
        same = np.count_nonzero((ours == theirs) & (ours != 0))
        return 2 * same / total if total else 1.0

    def write_probability(self, label: int, out: NDArray[Any]) -> None:
        """Write numbers in [0, 1]; of two labels at least one half exactly where it is chosen."""
        self.coherence.write_probability(label, out)
        for added, lesions in self.missed.items():
            here = out[lesions.mask]
            out[lesions.mask] = np.maximum(here, 0.5) if added == label else np.minimum(here, 0.5)


def shared_consensus(
    patterns: DecisionPatterns,
    spacing: Sequence[float],
    stack: LabelStack | None = None,
    progress: Progress | None = None,
) -> SharedConsensus:
    """Fuse by what raters share.

    Parameters
    ----------
    patterns : DecisionPatterns
        With codes. Label index 0 is taken for the background.
    spacing : sequence of float
        Voxel sides in mm, in array order.
    stack : LabelStack, optional
        That of the patterns: reading it is faster. The result does not look at it.
    progress : callable, optional
        Called with the share of the labels that are done.
    """
    annotates = np.asarray(patterns.present.any(axis=0))
    place = np.cumsum(annotates) - 1
    groups = [[rater for rater in group if annotates[rater]] for group in near_copies(patterns)]
    groups = [group for group in groups if group]
    masks = (
        RaterMasks.from_patterns(patterns)
        if stack is None
        else RaterMasks.from_stack(stack, patterns)
    )
    merged = [place[group].tolist() for group in groups]
    result = coherence_vote(masks, spacing, groups=merged, progress=progress)
    decision = result.decision
    missed: dict[int, MissedLesions] = {}
    labels = range(1, masks.number_of_labels)
    once = masks.merged(merged)
    tick = ticking(progress, 1.0)
    found = over_labels(lambda label: missed_lesions(once, label, result.decision), labels, tick)
    for label, lesions in zip(labels, found, strict=True):
        if lesions.number == 0:
            continue
        # Another label's voxels are not taken away.
        lesions = lesions._replace(mask=lesions.mask & (decision == 0))
        if lesions.mask.any():
            decision = decision.copy() if decision is result.decision else decision
            missed[label] = lesions
            decision[lesions.mask] = label
    return SharedConsensus(decision, result, masks.without_inputs(), groups, missed)
