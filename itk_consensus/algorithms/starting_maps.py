"""Label maps from which direct inference starts: votes at every threshold, and where EM ends."""

from __future__ import annotations

import numpy as np

from itk_consensus.algorithms.confusion_model import ConfusionModel, label_frequencies
from itk_consensus.algorithms.expectation_maximization import (
    IterationObserver,
    Optima,
    StopRule,
    maximize,
)
from itk_consensus.algorithms.initialization import StartPlan, make_starts, mean_of_votes
from itk_consensus.algorithms.label_evidence import Labels
from itk_consensus.algorithms.majority_vote import VoteResult, majority_vote
from itk_consensus.algorithms.multilabel_staple import MULTILABEL_VARIANTS, MultiLabelSettings
from itk_consensus.algorithms.staple import VARIANTS, StapleSettings
from itk_consensus.labels.decision_patterns import DecisionPatterns

#: Most levels at which the vote is thresholded for starts.
_MOST_LEVELS = 16

#: On a handful of voxels EM can creep for many thousand iterations; its map is settled by then.
_MOST_EM_ITERATIONS = 1000


def starting_maps(
    patterns: DecisionPatterns, plan: StartPlan, observer: IterationObserver | None = None
) -> tuple[list[str], Labels]:
    """Names and (P, S) maps: the vote, the vote at every threshold, and where EM ends.

    EM runs in its Basic and its Advanced variant; a posterior that is tied gives two maps.
    """
    names, maps = ["MajorityVote"], [vote_map(patterns)]
    for level, labels in _thresholded(majority_vote(patterns)):
        names.append(f"Threshold {level:.3g}")
        maps.append(labels)
    for variant in ("Basic", "Advanced"):
        responsibilities = _em_optima(patterns, variant, plan, observer).responsibilities
        last = patterns.number_of_labels - 1
        lowest, highest = responsibilities.argmax(2), last - responsibilities[..., ::-1].argmax(2)
        for start in range(plan.number):
            names.append(f"{variant} EM {start}")
            maps.append(lowest[:, start])
            if (lowest[:, start] != highest[:, start]).any():
                names.append(f"{variant} EM {start}, ties to the highest label")
                maps.append(highest[:, start])
    return names, np.stack(maps, axis=1)


def vote_map(patterns: DecisionPatterns) -> Labels:
    """(P,) label with most votes; the most frequent one where tied, or where nobody annotated."""
    vote = majority_vote(patterns, ties="prior")
    return np.where(vote.decision < 0, vote.frequencies.argmax(), vote.decision)


def _thresholded(vote: VoteResult) -> list[tuple[float, Labels]]:
    """Maps that leave the most frequent label where another has at least a share of the votes."""
    base = int(vote.frequencies.argmax())
    shares = vote.fractions.copy()
    shares[:, base] = 0.0
    rival, share = shares.argmax(axis=1), shares.max(axis=1)
    levels = np.unique(share[share > 0])
    step = len(levels) // _MOST_LEVELS + 1
    return [(level, np.where(share >= level, rival, base)) for level in levels[::step]]


def _em_optima(
    patterns: DecisionPatterns, variant: str, plan: StartPlan, observer: IterationObserver | None
) -> Optima:
    """Where STAPLE's starts end, by its own rules for two labels or more."""
    labels = patterns.number_of_labels
    named = MULTILABEL_VARIANTS[variant]
    first = (VARIANTS if labels == 2 else MULTILABEL_VARIANTS)[variant]["Initialization"]
    tolerance = (StapleSettings() if labels == 2 else MultiLabelSettings()).stop.tolerance
    diagonal, other = named["PseudoCounts"]
    pseudo_counts = np.where(np.eye(labels, dtype=bool), diagonal, other)
    weights = patterns.counts.astype(np.float64)
    shares = mean_of_votes(patterns)
    annotated = ~np.isnan(shares[:, 0])
    frequencies = label_frequencies(weights[annotated], shares[annotated, None])[0]
    model = ConfusionModel(patterns, weights, pseudo_counts, named["EstimatePrior"])
    plan = StartPlan(first, plan.number, plan.random_seed, plan.low, plan.high)
    starts = make_starts(model, plan, frequencies, frequencies)
    stop = StopRule(tolerance, _MOST_EM_ITERATIONS)
    return maximize(model, starts, stop, observer=observer)
